"""Running and breaking brokers: processes or containers, their settings, links, Java and jars."""

from threebrokers.cluster.cluster import Cluster

__all__ = ["Cluster"]
