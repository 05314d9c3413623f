"""A view is the word of the broker that was asked, also while brokers disagree."""

from threebrokers.cluster import BROKERS, Cluster, asking


def test_each_view_comes_from_the_broker_that_was_asked(cluster: Cluster, monkeypatch):
    real, asked = asking.admin, {cluster.address(n): [] for n in BROKERS}

    class Spy:
        def __init__(self, address):
            self.address, self.admin = address, real(address)

        def list_topics(self, timeout):
            told = self.admin.list_topics(timeout=timeout)
            asked[self.address].append(told.orig_broker_name.partition("/")[0])
            return told

    monkeypatch.setattr("threebrokers.cluster.asking.admin", Spy)
    believed = 0
    for _ in range(20):
        for n in cluster.views([]):
            # Whoever answered before: the view that is believed is the word of this broker.
            assert asked[cluster.address(n)][-1] == cluster.address(n)
            believed += 1
    assert believed >= 50
