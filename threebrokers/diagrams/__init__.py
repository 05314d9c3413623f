"""Still pictures of topics, logs and what Spark reads, each with its text."""

from threebrokers.diagrams.spark import reading_picture
from threebrokers.diagrams.topics import log_picture, message_path, topic_picture

__all__ = ["log_picture", "message_path", "reading_picture", "topic_picture"]
