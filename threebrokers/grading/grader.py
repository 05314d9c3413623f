"""Grades a folder of hand-ins: each in a box of its own, with a warden that says what came of it."""

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from threebrokers.cluster import jars, prepare
from threebrokers.errors import LabError
from threebrokers.grading import brokers, course, handins, namespaces
from threebrokers.grading.course import Course, Task
from threebrokers.grading.grades import Grade, Grades
from threebrokers.grading.handins import HandIn
from threebrokers.grading.orders import NOT_ATTEMPTED, TROUBLE, Limits, Mark, Order, Step, Told, inside, shown
from threebrokers.grading.watch import Theirs, end_all
from threebrokers.paths import cache
from threebrokers.text import last_line

END_SECONDS = 30.0  # for a warden without a box to end what it has started
MORE_SECONDS = 600.0  # for the start of the brokers and the end, beside what a hand-in may take
PARTS = ("rw/home", "rw/cluster", "rw/work", "rw/tmp", "root")
LONGEST = 600  # letters of a note
BY_HAND = "It is done with buttons, which no notebook keeps: let the learner show it."


@dataclass(frozen=True)
class Wish:
    """What the teacher asks for. `only` is one lab, `jobs` how many hand-ins are graded side by side."""

    folder: Path
    limits: Limits
    only: str = ""
    again: bool = False
    apart: bool = True
    jobs: int = 1


class Grader:
    """Grades what a wish asks for; `labs` are the course's, `say` tells how far it is."""

    def __init__(self, wish: Wish, labs: Mapping[str, Path], say: Callable[[str], None]) -> None:
        self.wish, self.say = wish, say
        self.labs = {number: course.read(path) for number, path in labs.items()}
        self.titles = {task.number: task.title for one in self.labs.values() for task in one.tasks}
        self._digests = {number: _digest(path) for number, path in labs.items()}
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = threading.Event()

    def grade(self) -> list[Grade]:
        """Grade all that is new, and return all grades. Raises LabError if nothing can be graded."""
        wish = self.wish
        if not wish.folder.is_dir():
            raise LabError(f"{wish.folder} is no folder", "name the folder that holds the hand-ins")
        handed = list(handins.find(wish.folder, self.labs))
        found = [one for one in handed if not wish.only or one.lab in ("", wish.only)]
        if not found:
            what = f"No notebook of lab {wish.only}" if handed else "No notebook"
            raise LabError(f"{what} lies in {wish.folder}", "hand-ins are files that end in .ipynb")
        files = [self._file(one) for one in found]
        grades = Grades(wish.folder, anew=wish.again)
        todo = [one for one in found if wish.again or not self._known(one, grades)]
        if any(not one.fault for one in todo):
            self._prepare()
        if wish.again:  # not before it is known that there can be new ones
            grades.forget(files)
        self._all(todo, grades, len(found))
        grades.only([self._file(one) for one in handed])
        return grades.of(files)

    def _all(self, todo: list[HandIn], grades: Grades, count: int) -> None:
        if len(todo) < count:
            self.say(f"{count - len(todo)} of {count} are graded already (--again grades anew).")
        with ThreadPoolExecutor(max(1, self.wish.jobs)) as pool:
            try:
                for done in as_completed([pool.submit(self._kept, one, grades) for one in todo]):
                    grade = done.result()
                    if grade.fault:
                        self.say(f"{grade.file}: {grade.fault}")
                    else:
                        points = f"{grade.solved} of {len(grade.marks)} solved"
                        self.say(f"{grade.file}: {points}, {grade.seconds:.0f} s")
            except BaseException:
                self._stopped.set()
                self._halt([*self._running])
                pool.shutdown(cancel_futures=True)
                raise

    def _halt(self, wardens: list[subprocess.Popen[bytes]]) -> None:
        """End wardens: with each ends its box; one without a box ends first what it has started."""
        if not self.wish.apart:
            for process in wardens:
                process.terminate()
            over = time.monotonic() + END_SECONDS
            for process in wardens:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0, over - time.monotonic()))
        for process in wardens:
            process.kill()

    def _prepare(self) -> None:
        """Fetch and make what all boxes share, and see whether there can be boxes. Raises LabError."""
        jars.kafka_jars()
        jars.spark_jars()  # a box has no network, and may only read the cache
        prepare.prepare(self.say)
        if not self.wish.apart:
            return
        try:
            with self._box() as box, self._warden(self._order("", box, "", only_try=True)) as told:
                said = [*told]
        except (OSError, LabError) as fault:
            said = [Told(fault=str(fault))]
        if not any(one.at == "ready" for one in said):
            why = next((one.fault for one in said if one.fault), "the system does not say why")
            raise LabError(
                f"Hand-ins cannot be kept apart on this system ({last_line(why).rstrip('.')})",
                "grade on a machine where namespaces may be made (Linux; not every container allows it, and "
                "Ubuntu only after `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`), or "
                "give --without-isolation for hand-ins that you trust",
            )

    def _kept(self, one: HandIn, grades: Grades) -> Grade:
        """Grade one and keep its grade at once, unless its box was stopped. Raises OSError."""
        grade = Grade(self._file(one), _name(one.learner), one.lab, one.digest, self._of(one), one.fault)
        if not one.fault and not self._stopped.is_set():
            try:
                grade = self._one(one, grade)
            except Exception as fault:  # one hand-in never ends the others
                first = next(iter(str(fault).splitlines()), "")
                told = _told(f"It could not be graded ({type(fault).__name__}: {first}).")
                grade = replace(grade, digest="", fault=told)
        if not self._stopped.is_set():
            grades.add(grade)
        return grade

    def _one(self, one: HandIn, grade: Grade) -> Grade:
        mine = self.labs[one.lab]
        plan = handins.plan(mine, one.cells)
        marks: dict[str, Mark] = {n: Mark(n, NOT_ATTEMPTED) for n in plan.untouched}
        by_hand = [task.number for task in mine.tasks if task.by_hand]
        marks |= {number: Mark(number, NOT_ATTEMPTED, BY_HAND) for number in by_hand}
        began = time.monotonic()
        notes: list[str] = []
        if plan.parts:
            heard = self._run(one.lab, _steps(mine, plan.parts))
            notes = [_told(told.note) for told in heard if told.note]
            faults = [told.fault for told in heard if told.fault]
            marks = {told.mark.number: told.mark for told in heard if told.mark} | marks
            if not any(told.at == "end" for told in heard):
                why = faults[0] if faults else "Its box ended before its end."
                notes.append(_told(why))
                grade = replace(grade, digest="")  # so the next grading tries it again
            for task in mine.tasks:
                marks.setdefault(task.number, Mark(task.number, TROUBLE, "It could not be judged."))
        found = [marks[task.number] for task in mine.tasks]
        ordered = [replace(mark, sentence=shown(mark.sentence)) for mark in found]
        seconds = round(time.monotonic() - began, 1)
        return replace(grade, marks=ordered, notes=notes, seconds=seconds, apart=self.wish.apart)

    def _run(self, lab: str, steps: list[Step]) -> list[Told]:
        mark = secrets.token_hex(16)
        with self._box() as box, self._warden(replace(self._order(lab, box, mark), steps=steps)) as told:
            heard = [*told]
        if not self.wish.apart:  # what is left has the mark of this hand-in alone
            end_all(Theirs(False, box / "rw" / "cluster", Path("/"), mark))
        return heard

    def _order(self, lab: str, box: Path, mark: str, only_try: bool = False) -> Order:
        return Order(
            lab=lab,
            box=str(box),
            apart=self.wish.apart,
            limits=self.wish.limits,
            visible=namespaces.visible() if self.wish.apart else [],
            hidden=namespaces.hidden() if self.wish.apart else [],
            cache=str(cache()),
            mark=mark,
            only_try=only_try,
        )

    @contextmanager
    def _box(self) -> Iterator[Path]:
        box = Path(tempfile.mkdtemp(prefix="threebrokers-grade-")).resolve()
        try:
            for part in PARTS:
                (box / part).mkdir(mode=0o700, parents=True)
            yield box
        finally:
            _remove(box)

    @contextmanager
    def _warden(self, order: Order) -> Iterator[Iterator[Told]]:
        """Start a warden and yield what it tells, as it comes; at the end nothing of it runs any more."""
        words = [*(namespaces.command() if order.apart else []), sys.executable, "-I", "-m"]
        log = Path(order.box) / "warden.log"
        with (
            log.open("wb") as errors,
            subprocess.Popen(
                [*words, "threebrokers.grading.warden"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            ) as process,
        ):
            self._running.add(process)
            if self._stopped.is_set():  # who stops may have looked before for those that run
                process.kill()
            over = threading.Timer(order.limits.seconds + MORE_SECONDS, process.kill)
            over.start()
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                with suppress(BrokenPipeError):
                    process.stdin.write(msgspec.json.encode(order) + b"\n")
                    process.stdin.flush()
                yield _heard(process, log)
            finally:
                over.cancel()
                self._running.discard(process)
                _end(process, order)

    def _file(self, one: HandIn) -> str:
        return _name(one.path.relative_to(self.wish.folder).as_posix())

    def _known(self, one: HandIn, grades: Grades) -> bool:
        return grades.known(self._file(one), one.digest, self._of(one)) is not None

    def _of(self, one: HandIn) -> str:
        limits = self.wish.limits
        return f"{self._digests.get(one.lab, '')} {self.wish.apart} {limits}"


def _name(name: str) -> str:
    """Return the name of a file or a learner, also one that is no UTF-8, as it may be written and printed."""
    return shown(os.fsencode(name).decode("utf-8", "backslashreplace"))


def _told(text: str) -> str:
    plain = shown(" ".join(text.split()))
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def _heard(process: subprocess.Popen[bytes], log: Path) -> Iterator[Told]:
    assert process.stdout is not None
    told = None
    for line in process.stdout:
        try:
            told = msgspec.json.decode(line, type=Told)
        except msgspec.MsgspecError:
            continue
        yield told
    if told is None:
        said = log.read_text("utf-8", "replace").strip()
        yield Told(fault=said.splitlines()[-1] if said else "its first process ended and said nothing")


def _end(process: subprocess.Popen[bytes], order: Order) -> None:
    """End a warden. In a box nothing outlives it; without one its brokers are ended here."""
    if not order.apart:
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        brokers.end(inside(order.box, order.apart) / "cluster")
    process.kill()
    process.wait()
    with suppress(BrokenPipeError):  # it ended before it had read its order
        assert process.stdin is not None
        process.stdin.close()


def _remove(box: Path) -> None:
    """Delete a box, also what a hand-in has made unreadable in it."""
    for _ in range(3):
        shutil.rmtree(box, onerror=lambda *_: None)
        if not box.exists():
            return
        for path in [box, *box.rglob("*")]:
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.chmod(0o700)


def _steps(mine: Course, parts: list[handins.Part]) -> list[Step]:
    by_check: dict[str, Task] = {task.check.id: task for task in mine.tasks}
    by_number = {task.number: task for task in mine.tasks}
    steps = []
    for part in parts:
        task = by_check.get(part.id) if not part.own else None
        if task is None:
            steps.append(Step(part.id, part.text, part.own, part.exercise))
        elif not task.by_hand:
            step = Step(part.id, part.text, check=task.number, function=task.function, passed=task.names)
            plain = course.is_plain(course.checks(mine.lab)[task.function])
            steps.append(replace(step, blank=by_number[task.number].answer.text, plain=plain))
    return steps


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
