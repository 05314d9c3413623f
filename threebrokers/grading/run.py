"""The pass over one hand-in: its cells in order, a mark for each exercise, and what happened."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from threebrokers import clock
from threebrokers.cells import CellRun
from threebrokers.cluster import state_file
from threebrokers.errors import LabError
from threebrokers.grading import seal
from threebrokers.grading.kernel import Kernel, Reply
from threebrokers.grading.orders import (
    NOT_ATTEMPTED,
    NOT_YET,
    SOLVED,
    TROUBLE,
    Mark,
    Question,
    Step,
    Told,
    Verdict,
)
from threebrokers.grading.sights import Sight, look, news
from threebrokers.grading.watch import Watch
from threebrokers.lab.outage import UnansweredError
from threebrokers.paths import home

if TYPE_CHECKING:
    from threebrokers.grading.warden import Warden

OUTSIDE, INSIDE = "check outside", "check inside"
SETTLE_SECONDS, JUDGE_SECONDS, OPEN_SECONDS = 15.0, 150.0, 120.0
AGAIN = 2  # so often a check is asked again that could not tell
LONGEST = 600  # letters of a sentence
MOST_NAMED = 3
NO_ANSWER = (LabError.__name__, UnansweredError.__name__)  # of a check that cannot tell
SEAL = Path(seal.__file__).read_text("utf-8")


class _OverError(Exception):
    """The notebook has ended before its end; the text says why, in a sentence."""


class Run:
    """One pass. `warden` tells the grader and starts brokers, `watch` says if a limit was reached."""

    def __init__(self, warden: "Warden", watch: Watch, base: Path) -> None:
        self.warden, self.watch, self.base = warden, watch, base
        self.steps = warden.order.steps
        self._ports = state_file.load(home()).ports
        self._passed = {step.check: frozenset(step.passed) for step in self.steps if step.check}
        self._first: dict[str, Any] = {}
        self._tries: dict[str, tuple[Step, float, float]] = {}
        self._faults: dict[str, str] = {}
        self._sights: dict[str, Sight] = {}
        self._seconds: dict[str, float] = {}

    def go(self) -> None:
        """Run all steps and tell a mark for each check among them."""
        cwd = self.base / "work"
        environment = {"THREEBROKERS_GRADING": self.warden.order.mark} | dict(os.environ)
        kernel = Kernel(cwd, self.warden.confining(), environment, quiet=True)
        self.watch.start()
        done: set[str] = set()
        try:
            for step in self.steps:
                self._take(kernel, step)
                done |= {step.check}
        except _OverError as over:
            where = self._where(done)
            self.warden.tell(Told(note=f"It was ended{where}: {over}."))
            for step in self.steps:
                if step.check and step.check not in done:
                    told = f"The notebook was ended before this could be judged, by {over}."
                    mark = Mark(step.check, TROUBLE, told, self._seconds.get(step.check, 0))
                    self.warden.tell(Told(mark=mark))
        finally:
            kernel.client.stop_channels()

    def _where(self, done: set[str]) -> str:
        tried = [number for number in self._tries if number not in done]
        return f" in exercise {tried[-1]}" if tried else ""

    def _take(self, kernel: Kernel, step: Step) -> None:
        if step.exercise and step.exercise not in self._tries:
            self._sights[step.exercise] = look()
        began = clock.now()
        if is_try := bool(step.exercise) and (step.exercise not in self._tries or self._is_try(step)):
            self._tries[step.exercise] = (step, began, began)
        if step.check:
            mark = self._judged(kernel, step)
            self._after(kernel, step, mark)
            self.warden.tell(Told(mark=mark))
            return
        reply = self._send(kernel, step)
        if is_try:
            self._tries[step.exercise] = (step, began, clock.now())
        if step.exercise:
            self._seconds[step.exercise] = self._seconds.get(step.exercise, 0) + clock.now() - began
            if reply is None:
                limit = f"{self.warden.order.limits.cell_seconds:.0f} s"
                self._faults[step.exercise] = f"its cell did not end within {limit}, and was interrupted"
        elif not step.own and not self._first:
            self._note_prints(kernel)

    def _is_try(self, step: Step) -> bool:
        """Tell whether a check would judge this cell, as `attempt.find` does; to look is no try."""
        if step.id == f"exercise-{step.exercise.replace('.', '-')}":
            return True
        try:
            assigned = CellRun(step.id, step.text, 0).assigned
        except (RecursionError, MemoryError):  # of brackets without end
            return False
        return bool(assigned & self._passed.get(step.exercise, frozenset()))

    def _send(self, kernel: Kernel, step: Step, expressions: dict[str, str] | None = None) -> Reply | None:
        """Run a cell; None if it took too long and was interrupted. Raises _OverError if the kernel ended."""
        within = min(self.warden.order.limits.cell_seconds, self.watch.left() + 1)
        try:
            return kernel.run(step.text, step.id, within, expressions)
        except TimeoutError:
            self.warden.tell(Told(note=f"The cell {step.id} was interrupted after {within:.0f} s."))
        except RuntimeError as fault:
            raise self._over() from fault
        try:
            kernel.run("", "", SETTLE_SECONDS)
        except (TimeoutError, RuntimeError) as fault:
            self.watch.reason = self.watch.reason or "a cell that could not be interrupted"
            raise self._over() from fault
        return None

    def _over(self) -> _OverError:
        return _OverError(self.watch.reason or "its own kernel, which ended by itself")

    def _note_prints(self, kernel: Kernel) -> None:
        """Note what the course's own code looks like, before the hand-in has run any cell of its own."""
        asked = {"seal": seal.question(SEAL, f"opened({self.warden.order.lab!r})")}
        told = kernel.run("", "", OPEN_SECONDS, asked).told.get("seal", "")
        if not told:
            raise LabError(f"Lab {self.warden.order.lab} could not be opened")
        self._first = seal.heard(told)

    def _judged(self, kernel: Kernel, step: Step) -> Mark:
        began = clock.now()
        before = "" if step.plain else self._seen(kernel, step)
        asked = {"seal": seal.question(SEAL, f"result({step.passed!r})")}
        reply = self._send(kernel, step, asked)
        for _ in range(AGAIN):
            if reply and reply.error in NO_ANSWER and look().all_up:
                reply = self._send(kernel, step, asked)
        verdict, sentence, by = self._verdict(step, reply, before)
        if step.check in self._faults and verdict != SOLVED:
            verdict, sentence = NOT_YET, f"{self._faults[step.check]}; {sentence}"
        seconds = self._seconds.get(step.check, 0) + clock.now() - began
        return Mark(step.check, verdict, _short(sentence), round(seconds, 1), by)

    def _seen(self, kernel: Kernel, step: Step) -> str:
        """Return what the course's own code looks like before a check; meanwhile it could be put back."""
        reply = self._send(kernel, Step(f"before {step.id}", ""), {"seal": seal.question(SEAL, "seen()")})
        return reply.told.get("seal", "") if reply else ""

    def _verdict(self, step: Step, reply: Reply | None, before: str) -> tuple[Verdict, str, str]:
        if reply is None:
            return TROUBLE, "Its check did not end in time, and was interrupted.", INSIDE
        if reply.error:
            return *_refused(step, reply), INSIDE
        try:
            told = seal.heard(reply.told["seal"])
            seen = [told] if step.plain else [seal.heard(before), told]
            found = {name for one in seen for name in seal.changed(self._first["prints"], one["prints"])}
            answers, replaced = str(told["answers"]), sorted(found)
            genuine = told["genuine"] is True and told["number"] == step.check
        except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError, MemoryError):
            return TROUBLE, "What its check says cannot be believed: the kernel gives no proof of it.", ""
        if replaced:
            more = f" and {len(replaced) - MOST_NAMED} more" if len(replaced) > MOST_NAMED else ""
            named = f"{', '.join(replaced[:MOST_NAMED])}{more}"
            self.warden.tell(Told(note=f"The course's own code was changed in the notebook: {named}."))
        if answers:
            return *self._ask_judge(step, answers), OUTSIDE
        if step.plain:
            sentence = (
                "It is said to be solved, but its answers are not the plain values that its check takes."
            )
            return TROUBLE, sentence, ""
        if replaced:
            sentence = "It is said to be solved by code of the course that the notebook has changed."
            return TROUBLE, sentence, ""
        if not genuine:
            return TROUBLE, "It is said to be solved by something that is no check of the course.", ""
        return SOLVED, _reason(str(told.get("text"))), INSIDE

    def _ask_judge(self, step: Step, answers: str) -> tuple[Verdict, str]:
        """Return what the judge says; brokers of a busy machine answer late, so trouble is asked again."""
        said = self._ask_once(step, answers)
        for _ in range(AGAIN):
            if said[0] == TROUBLE:
                said = self._ask_once(step, answers)
        return said

    def _ask_once(self, step: Step, answers: str) -> tuple[Verdict, str]:
        if state_file.load(home()).ports != self._ports:
            return TROUBLE, "The file that says where the brokers are was changed."
        attempt, began, ended = self._tries.get(step.check, (step, clock.now(), clock.now()))
        opened, at = str(self._first["opened"]), float(str(self._first["opened_at"]))
        question = Question(
            *(self.warden.order.lab, opened, at, step.function, answers),
            *(attempt.id, attempt.text, began, ended),
        )
        words = [sys.executable, "-I", "-m", "threebrokers.grading.judge"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asked:
            self.watch.theirs.spare(asked.pid)
            try:
                said, _ = asked.communicate(msgspec.json.encode(question), JUDGE_SECONDS)
                verdict, sentence = msgspec.json.decode(said.splitlines()[-1], type=tuple[Verdict, str])
            except (subprocess.TimeoutExpired, msgspec.MsgspecError, IndexError):
                asked.kill()
                return TROUBLE, "The check was disturbed and gave no answer."
        return verdict, sentence

    def _after(self, kernel: Kernel, step: Step, mark: Mark) -> None:
        """Tell what became of topics and brokers; unless it is solved, put right what the next ones need."""
        if step.check not in self._sights:
            return
        now, solved = look(), mark.verdict == SOLVED
        _, began, _ = self._tries[step.check]
        for told in news(self._sights[step.check], now, step, None if solved else began):
            self.warden.tell(Told(note=told))
        if solved:
            return
        if not now.all_up:
            try:
                self.warden.start_brokers()
            except (LabError, subprocess.SubprocessError) as fault:
                self.warden.tell(Told(note=f"The brokers could not be started again: {fault}"))
        if step.blank:  # later cells may need names that this one should have given
            self._send(kernel, Step(f"exercise-{step.check.replace('.', '-')}", step.blank))


def _refused(step: Step, reply: Reply) -> tuple[Verdict, str]:
    sentence = reply.message.strip()
    match reply.error:
        case "NotAttempted":
            return NOT_ATTEMPTED, _said(sentence, step.check)
        case "NotYet":
            return NOT_YET, _said(sentence, step.check)
        case error if error in NO_ANSWER:
            return TROUBLE, _said(sentence, step.check)
    return NOT_YET, f"Its check could not be called ({reply.error}: {sentence})."


def _said(sentence: str, number: str) -> str:
    """Return a check's sentence without its sign and number."""
    first, gap, rest = sentence.partition(f"{number}  ")
    return rest if gap and len(first) <= 2 else sentence


def _reason(text: str) -> str:
    return text.partition(": ")[2] or text


def _short(sentence: str) -> str:
    plain = " ".join(sentence.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"
