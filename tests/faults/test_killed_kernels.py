"""A kernel is killed (-9) in the middle of anything: nothing goes on without it, and the lab opens again."""

import random
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from threebrokers.cluster import Cluster
from threebrokers.grading.kernel import Kernel
from threebrokers.waiting import quiet_wait
from tools.proof.environment import processes_of

SEED = 12
LONGEST = 4.0  # s from the beginning of a cell to the kill
OPEN = "from threebrokers import open_lab\nlab = open_lab('04')\nc = lab.cluster"
TOPIC = "topic = lab.fresh_topic('transfers', partitions=3, replication_factor=3)"
PROGRAM = """%%program sender
producer = lab.producer({"acks": "all"})
while True:
    producer.produce(lab.topic("transfers"), b"x")
    producer.poll(0.05)
"""
# What a learner does, each in a cell that goes on for longer than the kernel lives.
DOING = {
    "a recording": "with lab.record(topic):\n    while True:\n        c.stop(2)\n        c.start(2)",
    "a wait": "lab.wait_until(lambda: False, what='nothing', within=60)",
    "a broker's death": "while True:\n    c.kill(2)\n    c.start(2)",
    "a pause": "c.pause(3)\nlab.wait_until(lambda: False, what='nothing', within=60)",
    "a cut": "c.cut(1, 2)\nlab.wait_until(lambda: False, what='nothing', within=60)",
    "a panel": "panels = [lab.watch() for _ in range(5)]\nlab.wait_until(lambda: False, what='x', within=60)",
    "open_lab": "while True:\n    lab = open_lab('04')",
    "fresh_topic": "while True:\n    lab.fresh_topic('transfers', partitions=3, replication_factor=3)",
    "consume": (
        "reader = lab.consumer({'group.id': lab.group('reader')})\nreader.subscribe([topic])\n"
        "while True:\n    reader.poll(1)"
    ),
    "a check": (
        "while True:\n    try:\n        lab.check.nothing_lost(lab.producer())\n"
        "    except Exception as told:\n        print(told)"
    ),
}


def killed(folder: Path, doing: str, after: float) -> None:
    """Begin something in a new kernel, beside a program, and kill the kernel so many seconds later."""
    kernel = Kernel(folder)
    try:
        for place, text in enumerate((OPEN, TOPIC, PROGRAM)):
            reply = kernel.run(text, f"cell-{place}")
            assert not reply.error, (doing, reply)
        request = kernel.client.session.msg("execute_request", {"code": DOING[doing], "silent": False})
        kernel.client.shell_channel.send(request)
        time.sleep(after)  # the moment is what the test is about
        kernel.manager.signal_kernel(9)
        assert quiet_wait(lambda: not kernel.manager.is_alive(), 10)
    finally:
        kernel.close()


def others(home: Path, before: set[int]) -> list[str]:
    """Return what runs for this home now, beside its brokers and the links' process, and did not before."""
    found = []
    for one in processes_of(home):
        words = ""
        with suppress(psutil.Error):  # it has ended
            words = " ".join(one.cmdline())
        if one.pid not in before and words and "threebrokers.home=" not in words and "links" not in words:
            found.append(f"{one.pid} {words[:160]}")
    return found


def heals(home: Path, folder: Path, doing: str, after: float) -> float:
    """Kill a kernel so, see that nothing is left, open the lab again; return how long that took (s)."""
    before = {one.pid for one in processes_of(home)}
    killed(folder, doing, after)
    assert quiet_wait(lambda: not others(home, before), 15), (doing, after, others(home, before))
    began = time.monotonic()
    with Kernel(folder) as kernel:
        opened = kernel.run(OPEN, "cell-0")
        took = time.monotonic() - began
        assert not opened.error, (doing, after, opened)
    states = {node: one.state for node, one in Cluster().processes().items()}
    assert set(states.values()) == {"up"}, (doing, after, states)
    assert not Cluster().faults(), (doing, after)
    return took


HAPPENS = "its programs end by themselves, no broker stays paused or cut off, and the lab opens again"


@pytest.mark.slow_fault
@pytest.mark.timeout(1800)
@pytest.mark.fault("Kernels", "20 kernels are killed (kill -9) at random moments, two in each of ten things")
def test_kernels_are_killed_at_any_moment(
    cluster: Cluster, home: Path, tmp_path: Path, notes, behaviour
) -> None:
    moments = random.Random(SEED)  # noqa: S311
    for doing in [*DOING, *DOING]:
        after = moments.uniform(0, LONGEST)
        took = heals(home, tmp_path, doing, after)
        notes.append(
            f"kernel killed {after:.1f} s after the beginning of {doing}: open again after {took:.1f} s"
        )
    behaviour(HAPPENS)
