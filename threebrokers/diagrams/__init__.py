"""Still pictures of topics, logs and what Spark reads, each with its text."""

from threebrokers.diagrams.readers import readers_picture
from threebrokers.diagrams.segments import segments_picture
from threebrokers.diagrams.spark import reading_picture
from threebrokers.diagrams.topics import log_picture, message_path, topic_picture
from threebrokers.diagrams.watermark import watermark_picture

__all__ = [
    "log_picture",
    "message_path",
    "readers_picture",
    "reading_picture",
    "segments_picture",
    "topic_picture",
    "watermark_picture",
]
