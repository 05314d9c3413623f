"""One learner of a room: three brokers, a JupyterLab, records with a ledger, and a broker killed each minute.

Speaks one line of JSON when all is up, waits for a line, works until its time is over, and speaks another.
"""

import json
import random
import sys
import time
from collections import Counter
from typing import Any

from threebrokers import workspace
from threebrokers.app import jupyterlab
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.lab import Lab
from threebrokers.lab.opening import open_lab

LAB, TOPIC = "01", "room"
RECORDS, ROUND_SECONDS, KILL_SECONDS = 20, 1.0, 60.0  # so many records each second
FLUSH_SECONDS = 60.0


def main() -> None:
    """Be one learner for the seconds of the first word."""
    began = time.monotonic()
    lab = open_lab(LAB)
    server = jupyterlab.start(next(iter(workspace.labs().values())))
    try:
        _say(up=round(time.monotonic() - began, 1))
        if not sys.stdin.readline():
            return  # the room was closed before its work began
        _say(**_work(lab, float(sys.argv[1])))
        sys.stdin.readline()
    finally:
        jupyterlab.end(server.identity)
        lab.close()
        lab.cluster.down()


def _work(lab: Lab, seconds: float) -> dict[str, Any]:
    topic = lab.fresh_topic(TOPIC, partitions=3, replication_factor=3, config={"min.insync.replicas": "2"})
    producer = lab.producer({"enable.idempotence": True})
    acknowledged: set[int] = set()
    slowest, kills, number = 0.0, 0, 0
    began = time.monotonic()
    end, next_kill = began + seconds, began + random.uniform(0, KILL_SECONDS)  # noqa: S311

    def told(count: int, sent: float) -> Any:
        def on_delivery(error: object, _message: object) -> None:
            nonlocal slowest
            slowest = max(slowest, time.monotonic() - sent)
            if error is None:
                acknowledged.add(count)

        return on_delivery

    while (now := time.monotonic()) < end:
        for _ in range(RECORDS):
            producer.produce(topic, str(number), on_delivery=told(number, now))
            number += 1
        if now > next_kill:
            victim = random.choice(list(lab.cluster.brokers))  # noqa: S311
            lab.cluster.kill(victim)
            lab.cluster.start(victim)
            kills, next_kill = kills + 1, now + KILL_SECONDS
        while (left_of_round := now + ROUND_SECONDS - time.monotonic()) > 0:
            producer.poll(left_of_round)  # it returns at each report
    left = producer.flush(FLUSH_SECONDS)
    stored = Counter(int(record.value or b"-1") for record in read_log(lab.bootstrap, topic))
    return {
        "acknowledged": len(acknowledged), "unreported": left,
        "lost": len(acknowledged - stored.keys()), "twice": sum(n > 1 for n in stored.values()),
        "kills": kills, "slowest": round(slowest, 1),
    }  # fmt: skip


def _say(**told: Any) -> None:
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
