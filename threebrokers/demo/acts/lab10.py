"""Four producers write to a leader that alone has their last records, and it is killed."""

from collections.abc import Iterator

from threebrokers.demo.lines import Line, doing, fact, truth
from threebrokers.demo.stage import Stage
from threebrokers.lab.scenarios import partition_of, wait_for_new_leaders
from threebrokers.lab.scenarios.guarantees import KILLED, Round, SetUps

SET_UPS: SetUps = {
    "acks=0": {"acks": 0},
    "acks=1": {"acks": 1},
    "acks=all": {"acks": "all"},
    "idempotent": {"acks": "all", "enable.idempotence": True},
}


def begin(stage: Stage) -> Iterator[Line]:
    """Send the first 100 records of each producer, until three replicas have them."""
    yield doing("Each producer sends 100 records. Waiting until three replicas have them (10 s at most).")
    with stage.record("begin", stage.topics):
        tried = stage.kept["round"] = Round(stage.lab, KILLED, SET_UPS, {})
        yield fact("leader", f"broker {tried.leader}")
        yield fact("records on three replicas", tried.end)


def kill(stage: Stage) -> Iterator[Line]:
    """Give the leader 100 more of each, which it has alone, and kill it; then count."""
    tried: Round = stage.kept["round"]
    with stage.record("kill", stage.topics):
        epoch = partition_of(stage.lab, tried.topic).leader_epoch
        yield doing(
            f"Broker {tried.leader} is cut off from the others, gets 100 records of each, and is killed."
        )
        tried.kill_leader()
        wait_for_new_leaders(stage.lab, tried.leader, tried.topic)
        after = partition_of(stage.lab, tried.topic)
        yield fact("the leader moved", f"broker {tried.leader} → {after.leader}")
        yield fact("elections", after.leader_epoch - epoch)
        yield doing("Waiting for the producers' reports (25 s at most each), and for all brokers to be back.")
        found = tried.trials()
    for name, balance in found.balances.items():
        yield fact(f"{name}: acknowledged, and lost", f"{len(balance.lost)} of 200")
    losers = [name for name, balance in found.balances.items() if balance.lost]
    yield truth("10.a", " and ".join(losers) or "none of them")
