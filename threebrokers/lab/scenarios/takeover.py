"""One member of a group follows another, for lab 06: how long the partition waits."""

import time

from threebrokers.lab.lab import Lab

JOIN_SECONDS = 20.0
SESSION_MS = 3000


def takeover_seconds(lab: Lab, *, closes: bool) -> float:
    """Return how long the next member of a group waits for its first record when the one before has gone.

    The first is closed, or dies without a word: its program is killed. Its session.timeout.ms is 3000.
    """
    topic = lab.fresh_topic("shifts")
    producer = lab.producer()
    producer.produce(topic, "early")
    producer.flush()
    group = lab.group(f"shifts-{time.time_ns()}")
    settings = {"group.id": group, "session.timeout.ms": SESSION_MS, "auto.offset.reset": "earliest"}
    settings["heartbeat.interval.ms"] = SESSION_MS // 5
    text = (
        f"consumer = lab.consumer({settings!r})\n"
        f"consumer.subscribe([{topic!r}])\n"
        "print(consumer.poll(20).value())\n"
        "while not consumer.poll(0.05):\n    pass\n"
    )
    first = lab.programs.run("early_shift", text)
    first.wait_for("early", within=JOIN_SECONDS)
    (first.stop if closes else first.kill)()
    began = time.monotonic()
    producer.produce(topic, "late")
    producer.flush()
    second = lab.consumer(settings)
    second.subscribe([topic])
    lab.wait_until(lambda: second.poll(0.1), what="the next member to get a record", within=JOIN_SECONDS)
    waited = time.monotonic() - began
    second.close()
    return waited
