"""Made-up hand-ins of a small lab, each with the verdicts that it must get."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import ROOT
from tools.lessons import lesson as lessons
from tools.lessons import solution_marks

# Of lab 01 only what two exercises need: the first is judged inside the kernel, the second outside.
KEPT = ("code-c52b756e", "task-1-1", "exercise-1-1", "check-1-1", "code-0900aaa0")
KEPT += ("task-1-3", "exercise-1-3", "check-1-3")
NAME = "01_hello_kafka.ipynb"
YES, NO, OPEN, TROUBLE = "solved", "not yet", "not attempted", "trouble"
HUGE = 21_000_000
DAEMON = "threebrokers-test-daemon"

SENDS = """sender = lab.producer({"linger.ms": 1000})
greetings = lab.fresh_topic("greetings", partitions=3, replication_factor=3)
reports = []
keep = lambda error, message: reports.append(message)
for n in range(10):
    sender.produce(greetings, value=f"greeting {n}", on_delivery=keep)
sender.flush()
"""
CREATES = """lab.delete_topic("helloworld")
admin = lab.admin()
helloworld = lab.topic("helloworld")
admin.create_topics([NewTopic(helloworld, num_partitions=3, replication_factor=3)])[helloworld].result()
"""
NOTHING = 'sender, greetings, reports = lab.producer(), lab.topic("greetings"), []\n'
NO_TOPIC = 'helloworld = lab.topic("helloworld")\n'
FAKES = """from threebrokers.lab.outcomes import Solved


class Fake:
    def greetings_sent(self, *answers):
        return Solved("1.1", "Send ten greetings", "so it is.")

    def topic_created(self, *answers):
        return Solved("1.3", "Create the topic", "so it is.")
"""
# It takes the place of the lab until its check is called, and then puts the lab back.
PUTS_BACK = """class Solved:
    __module__, __qualname__ = "threebrokers.lab.outcomes", "Solved"
    number = "{number}"

    def __repr__(self):
        return "x: so it is."


class Fake:
    def __init__(self, real):
        self.real = real

    def __getattr__(self, name):
        def called(*answers):
            get_ipython().user_ns["lab"] = self.real
            return Solved()

        return called


sender = greetings = reports = helloworld = object()
lab = type("L", (), {{"check": Fake(lab)}})()
"""
KILLS_PROCESSES = """import os, signal

for one in lab.cluster.processes().values():
    os.kill(one.pid, signal.SIGKILL)
"""
KILLS_WITH_THE_COURSE = "for broker in lab.cluster.brokers:\n    lab.cluster.kill(broker, force=True)\n"
WRITES_PROGRESS = """import json, os, pathlib

done = {"1.1": "2026-01-01T00:00:00Z", "1.3": "2026-01-01T00:00:00Z"}
pathlib.Path(os.environ["THREEBROKERS_HOME"], "progress.json").write_text(json.dumps(done))
"""
DAEMONIZES = f"""import os, subprocess, sys

subprocess.Popen([sys.executable, "-c", "import time; time.sleep(900)", "{DAEMON}"], start_new_session=True)
"""
ENDS_ITS_WARDEN = """import os, signal

for number in (1, os.getppid()):
    for one in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM):
        try:
            os.kill(number, one)
        except OSError:
            pass
"""
DELETES_FOLDERS = """import os, shutil

shutil.rmtree(os.getcwd(), ignore_errors=True)
shutil.rmtree(os.environ["HOME"], ignore_errors=True)
"""


@dataclass(frozen=True)
class Made:
    """One hand-in: its two answers (None: left as they were), and what must come of it.

    `note` is in what happened, `raw` stands in place of a notebook.
    """

    first: str | None
    second: str | None
    verdicts: tuple[str, str]
    note: str = ""
    raw: bytes | None = None


def short(server: int) -> dict[str, Made]:
    """Return those that every run of CI grades; `server` is the port of a server outside of their boxes."""
    return {
        "right": Made(SENDS, CREATES, (YES, YES)),
        "untouched": Made(None, None, (OPEN, OPEN)),
        "hangs": Made("while True:\n    pass", CREATES, (NO, YES), "was interrupted"),
        "kills-processes": Made(SENDS + KILLS_PROCESSES, CREATES, (TROUBLE, YES), "from outside"),
        "own-check": Made(f"{NOTHING}{FAKES}\nlab.check = Fake()\n", NO_TOPIC, (TROUBLE, NO), "lab:check"),
        "network": Made(_connects(server) + SENDS, CREATES, (NO, YES)),
        "exits": Made("import os\nos._exit(0)", CREATES, (TROUBLE, TROUBLE), "ended by itself"),
        "damaged": Made(None, None, ("", ""), "It is no notebook", b'{"cells": [{"cell_ty'),
    }


def all_thirty(server: int) -> dict[str, Made]:
    """Return thirty, with those of `short`."""
    return short(server) | _answers() | _breaks() | _cheats() | _no_notebooks()


def _answers() -> dict[str, Made]:
    return {
        "only-the-first": Made(SENDS, None, (YES, OPEN)),
        "nine": Made(SENDS.replace("range(10)", "range(9)"), CREATES, (NO, YES)),
        "one-partition": Made(SENDS, CREATES.replace("partitions=3", "partitions=1"), (YES, NO)),
        "error": Made(f"{SENDS}1 / 0", CREATES, (NO, YES)),
        "no-python": Made("this is no Python", CREATES, (NO, YES)),
        "sys-exit": Made(f"{SENDS}import sys\nsys.exit()", CREATES, (NO, YES)),
    }


def _breaks() -> dict[str, Made]:
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass"
    eats = "held = []\nwhile True:\n    held.append(bytearray(10_000_000))"
    # A broker may hear of the topic only now: a list without it would leave it there.
    deletes = "topics = []\nwhile helloworld not in topics:\n"
    deletes += "    topics = [*lab.admin().list_topics(timeout=10).topics]\n"
    deletes += (
        "[one.result() for one in lab.admin().delete_topics([t for t in topics if t[0] != '_']).values()]\n"
    )
    return {
        "deaf": Made(deaf, CREATES, (TROUBLE, TROUBLE), "could not be interrupted"),
        "eats": Made(eats, CREATES, (TROUBLE, TROUBLE), "the memory limit"),
        "deletes-topics": Made(SENDS, CREATES + deletes, (YES, NO), "deleted topics: greetings"),
        "kills": Made(SENDS + KILLS_WITH_THE_COURSE, CREATES, (TROUBLE, YES), "kill(1)"),
        "kills-its-warden": Made(ENDS_ITS_WARDEN + SENDS, CREATES, (YES, YES)),
        "deletes-folders": Made(DELETES_FOLDERS + SENDS, CREATES, (YES, YES)),
        "prints": Made("while True:\n    print('x' * 1000)", CREATES, (NO, YES), "was interrupted"),
        "daemon": Made(DAEMONIZES + SENDS, CREATES, (YES, YES)),
    }


def _cheats() -> dict[str, Made]:
    tick = "print('✓ 1.1  Send ten greetings: solved')\n"
    patched = "from threebrokers.lab.exercise import Check, Solved\n"
    patched += "Check.__call__ = lambda self, *answers: Solved(self.number, self.title, 'so it is.')\n"
    inner = "from threebrokers.checks import lab01\nlab01.greetings_sent._function = lambda *a: 'so it is.'\n"
    hidden = "lab.check.greetings_sent = lambda *answers: Fake().greetings_sent()\n"
    # The question of the seal is an expression, and names in it could be a hand-in's.
    says = {"kind": "threebrokers.lab.outcomes.Solved", "number": "1.1", "text": "so it is.", "answers": ""}
    evals = "import json\nfrom threebrokers.grading import seal\n\nfirst = dict(seal.prints())\n"
    evals += f"def eval(call, names):\n    return json.dumps({says!r} | {{'prints': first}})\n"
    solution = f"open({str(ROOT / 'solutions' / NAME)!r}).read()\n"
    writes = f"open({str(ROOT / 'threebrokers' / 'written.py')!r}, 'w')\n"
    return {
        "ticks": Made(f"{tick}{SENDS.replace('range(10)', 'range(1)')}", CREATES, (NO, YES)),
        "patches-checks": Made(f"{NOTHING}{patched}", NO_TOPIC, (TROUBLE, NO), "Check.__call__"),
        "patches-one": Made(f"{NOTHING}{inner}", CREATES, (TROUBLE, YES), "greetings_sent"),
        "names-eval": Made(f"{NOTHING}{evals}{FAKES}{hidden}", CREATES, (TROUBLE, YES), "lab.check"),
        "hides-a-check": Made(f"{NOTHING}{FAKES}{hidden}", CREATES, (TROUBLE, YES), "lab.check"),
        "puts-back": Made(
            PUTS_BACK.format(number="1.1"),
            PUTS_BACK.format(number="1.3"),
            (TROUBLE, TROUBLE),
            "lab.check:real",
        ),
        "progress": Made(WRITES_PROGRESS, None, (NO, OPEN)),
        "reads-solutions": Made(solution + SENDS, writes + CREATES, (NO, NO)),
    }


def _no_notebooks() -> dict[str, Made]:
    other = {"cells": [{"cell_type": "code", "source": "1 + 1"}], "nbformat": 4}
    unknown = {"cells": [{"cell_type": "code", "source": "lab = open_lab('77')"}]}
    return {
        "of-no-lab": Made(None, None, ("", ""), "of no lab", json.dumps(other).encode()),
        "unknown-lab": Made(None, None, ("", ""), "of lab 77", json.dumps(unknown).encode()),
        "huge": Made(None, None, ("", ""), "It has 21 MB", b" " * HUGE),
    }


def write(folder: Path, made: dict[str, Made]) -> Path:
    """Write the hand-ins, one folder a learner; return the small lab, which lies elsewhere."""
    lab = _trimmed(ROOT / "labs" / NAME)
    place = folder.parent / "labs" / NAME
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(lab), "utf-8")
    for learner, one in made.items():
        target = folder / learner / NAME
        target.parent.mkdir(parents=True)
        content = json.dumps(_filled(lab, one)).encode() if one.raw is None else one.raw
        target.write_bytes(content)
    return place


def write_every_other(folder: Path, number: str) -> dict[str, str]:
    """Write a hand-in of a lab whose second, fourth, … answers are wrong and all others right.

    Return for each exercise what its sentence must hold; nothing for a right answer.
    """
    lesson = lessons.read(next((ROOT / "lessons").glob(f"{number}_*.py")))
    notebook = json.loads((ROOT / "labs" / f"{lesson.stem}.ipynb").read_text("utf-8"))
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    said = {}
    for place, one in enumerate(lesson.exercises):
        wrong = one.wrongs[0] if place % 2 else None
        text = one.answers[0].source
        answer = solution_marks.replaced(text, wrong.cell.source) if wrong else solution_marks.solved(text)
        cells[f"exercise-{one.number.replace('.', '-')}"]["source"] = answer
        said[one.number] = wrong.text if wrong else ""
    folder.mkdir()
    (folder / f"{lesson.stem}.ipynb").write_text(json.dumps(notebook), "utf-8")
    return said


@contextmanager
def server() -> Iterator[tuple[int, list[object]]]:
    """Yield the port of a server on this machine, and the list of those who came."""
    came: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        over = threading.Event()

        def accept() -> None:
            while not over.is_set():
                try:
                    came.append(listening.accept()[1])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listening.getsockname()[1], came
        finally:
            over.set()
            thread.join()


def _connects(port: int) -> str:
    return f"import socket\n\nsocket.create_connection(('127.0.0.1', {port}), 5).close()\n"


def _trimmed(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text("utf-8"))
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] in KEPT]
    return notebook


def _filled(lab: dict[str, Any], made: Made) -> dict[str, Any]:
    answers = {"exercise-1-1": made.first, "exercise-1-3": made.second}
    cells = [
        cell if answers.get(cell["id"]) is None else {**cell, "source": answers[cell["id"]]}
        for cell in lab["cells"]
    ]
    return {**lab, "cells": cells}
