"""Three Brokers: an interactive Kafka course on a real cluster."""

from threebrokers.cluster import Cluster
from threebrokers.errors import BenchError
from threebrokers.lab import Lab
from threebrokers.opening import open_lab

__all__ = ["BenchError", "Cluster", "Lab", "open_lab"]
