"""What lab 06's check says of programs whose threads sleep, or that close a consumer from another thread."""

import ast
from typing import Any

import pytest

from threebrokers.cells import CellRun
from threebrokers.checks.lab06 import leaving, runs, threads
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios import Departure

HEAD = """%%program member
over = threading.Event()
def until_ctrl_c():
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
"""
POLLS = "    while not over.is_set():\n        consumer.poll(0.2)\n"
END = "until_ctrl_c()\nover.set()\nthread.join()\n"
START = "thread = threading.Thread(target=work)\nthread.start()\n"


def judged(monkeypatch: pytest.MonkeyPatch, program: str, **departure: Any) -> None:
    run = CellRun("exercise-6-4", HEAD + program, 0.0)
    for module in (runs, leaving):
        monkeypatch.setattr(module, "attempt", lambda: run)
    leaving.judge_leaving(Departure(100.0, **{"joined": True, "seconds": 2.3} | departure))


def thread(last: str = "", *, each: str = "", main: str = END) -> str:
    """Return a program that polls in a thread; `each` is in its loop, `last` behind it."""
    return f"def work():\n{POLLS}        {each}\n    {last}\n    consumer.close()\n{START}{main}"


SLEEPS = (
    (thread(each="time.sleep(2)"), 2),
    (thread("time.sleep(1.5)"), 1.5),
    (thread("sleep(2)"), 2),
    (thread("threading.Event().wait(2)"), 2),
    (thread("pause.wait(timeout=2)") + "pause = Event()\n", 2),
    (thread(each="rest()") + "def rest():\n    time.sleep(3)\n", 3),
    (thread(main="until_ctrl_c()\ntime.sleep(2)\nover.set()\nthread.join()\n"), 2),
    ("try:\n    consumer.poll(0.2)\nfinally:\n    time.sleep(2)\n    consumer.close()\n", 2),
    ("try:\n    consumer.poll(0.2)\nexcept KeyboardInterrupt:\n    time.sleep(2)\nconsumer.close()\n", 2),
    ("signal.signal(SIGINT, lambda n, f: over.set())\nwhile not over.is_set():\n    time.sleep(2)\n", 2),
    ("class Worker(threading.Thread):\n    def run(self):\n        time.sleep(2)\n", 2),
    ("pool.submit(lambda: time.sleep(2))\n", 2),
)


@pytest.mark.parametrize(("program", "seconds"), SLEEPS)
def test_who_sleeps_leaves_late(monkeypatch: pytest.MonkeyPatch, program: str, seconds: float) -> None:
    with pytest.raises(NotYet, match=f"left after 2.3 s, and the program sleeps for {seconds:g} s"):
        judged(monkeypatch, program)
    with pytest.raises(NotYet, match=f"does not end soon, because it sleeps for {seconds:g} s"):
        judged(monkeypatch, program, seconds=None, ended=False)
    judged(monkeypatch, program, seconds=0.4)  # the sleep was over just then


def test_a_poll_and_a_sleep_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotYet, match=r"sleeps for 0\.9 s"):
        judged(monkeypatch, thread(each="time.sleep(0.9)"))
    judged(monkeypatch, thread(each="time.sleep(0.5)"))


WOKEN = (
    thread(),
    thread(each="over.wait(5)"),  # ends at once when it is set
    thread(each="self.over.wait(5)") + "self.over = Event()\nself.over.set()\n",
    thread(each="time.sleep(pause)"),
    thread(main="try:\n    while True:\n        time.sleep(60)\nexcept KeyboardInterrupt:\n    over.set()\n"),
    thread(main="until_ctrl_c()\nover.set()\nthread.join(5)\n"),
    "try:\n    consumer.poll(0.2)\n    time.sleep(2)\nfinally:\n    consumer.close()\n",
    "def work():\n    time.sleep(2)\nwork()\n",
    "try:\n    x()\nexcept ValueError:\n    time.sleep(2)\n",
    "def end(n, f):\n    raise SystemExit\nsignal.signal(SIGINT, end)\ntime.sleep(60)\n",
)


@pytest.mark.parametrize("program", WOKEN)
def test_on_a_busy_machine_who_is_woken_by_ctrl_c_passes(
    monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    judged(monkeypatch, program)


WAKES = "consumer.poll(10)\nconsumer.close()\n"


@pytest.mark.parametrize(
    "program",
    [
        "try:\n    while True:\n        consumer.poll(10)\nfinally:\n    consumer.close()\n",
        "try:\n    while True:\n        consumer.poll()\nexcept KeyboardInterrupt:\n    consumer.close()\n",
        f"def end(n, f):\n    raise SystemExit\nsignal.signal(SIGINT, end)\n{WAKES}",
    ],
)
def test_a_poll_of_the_main_thread_is_woken_by_ctrl_c(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    judged(monkeypatch, program, seconds=1.3)


@pytest.mark.parametrize(
    "program",
    [
        f"signal.signal(SIGINT, lambda n, f: over.set())\n{WAKES}",
        f"until_ctrl_c()\n{WAKES}",
        f"def work():\n    {WAKES.replace(chr(10), chr(10) + '    ')}\n{START}{END}",
        f"consumer.consume(5, timeout=10)\n{WAKES}",
        "try:\n    x()\nfinally:\n    consumer.poll(10)\n",
    ],
)
def test_what_ctrl_c_does_not_wake_is_told(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    with pytest.raises(NotYet, match=r"the member left after 1\.3 s; it should leave within 1 s"):
        judged(monkeypatch, program, seconds=1.3)


OTHER = f"def work():\n{POLLS}{START}until_ctrl_c()\n"


def test_a_consumer_that_another_thread_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    for departure in ({"seconds": 0.2}, {"seconds": None, "ended": False}):
        for end in ("consumer.close()\n", "over.set()\nconsumer.close()\nthread.join()\n"):
            with pytest.raises(NotYet, match="another thread closes the consumer"):
                judged(monkeypatch, OTHER + end, **departure)


def test_a_consumer_may_be_closed_when_its_thread_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    for end in ("over.set()\nthread.join()\n", "over.set()\ndone.wait()\n", "future.result()\n"):
        judged(monkeypatch, f"{OTHER}{end}consumer.close()\n", seconds=0.4)
    for end in ("while thread.is_alive():\n    time.sleep(0.1)\n", "ended.get()\n", "free.acquire()\n"):
        judged(monkeypatch, f"{OTHER}over.set()\n{end}consumer.close()\n", seconds=0.4)
    judged(monkeypatch, f"{OTHER}with lock:\n    consumer.close()\n", seconds=0.4)
    pool = "with ThreadPoolExecutor() as pool:\n    pool.submit(work)\n    until_ctrl_c()\n    over.set()\n"
    judged(monkeypatch, f"def work():\n{POLLS}{pool}consumer.close()\n", seconds=0.4)
    judged(monkeypatch, "while True:\n    consumer.poll(0.2)\nconsumer.close()\n", seconds=0.4)
    leave = "def leave():\n    consumer.close()\n"
    judged(monkeypatch, f"{leave}{OTHER}over.set()\nthread.join()\nleave()\n", seconds=0.4)
    stop = "def stop():\n    thread.join()\n"
    main = f"def main():\n    stop()\n    consumer.close()\n{stop}"
    judged(monkeypatch, f"{main}{OTHER}over.set()\nmain()\n", seconds=0.4)
    both = "def main():\n    consumer.close()\n    thread.join()\n"
    for wrong in (f"{leave}{OTHER}leave()\nthread.join()\n", f"{both}{OTHER}over.set()\nmain()\n"):
        with pytest.raises(NotYet, match="another thread closes the consumer"):
            judged(monkeypatch, wrong, seconds=0.4)


def test_functions_that_call_each_other_are_read_once() -> None:
    program = ast.parse("def a():\n    b()\ndef b():\n    a()\nThread(None, a)\nThread(target=unknown)\n")
    names = {node.name for node in threads.in_threads(program) if isinstance(node, ast.FunctionDef)}
    assert names == {"a", "b"}
