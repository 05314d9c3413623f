"""Where a demo is, and what a key does: next, back, rest. It knows no cluster and no page."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from threebrokers.demo.lines import Line
from threebrokers.demo.script import Script, Step
from threebrokers.errors import LabError
from threebrokers.predictions.question import question_of
from threebrokers.recorder import Recording

Scene = dict[str, Any]
ENDING = "The demo ends."
KEYS = ("next", "back", "rest")
AGAIN = "press B, and begin again"
THE_CELL = re.compile(r"[:;,] (then )?run the cell.*")  # a lab's next step: no demo has cells


class Performer(Protocol):
    """Who does the acts: the brokers, or a recording of them."""

    @property
    def recorded(self) -> bool:
        """Whether it only plays what was recorded."""

    def perform(self, act: str, ended: Callable[[], bool]) -> Iterator[Line]:
        """Do an act, and yield what it tells."""

    def recording(self, act: str) -> Recording | None:
        """Return the recording of an act that was done."""

    def rest(self) -> None:
        """Be as before the first act."""


@dataclass
class _Done:
    """What came of a step: `state` is "ready", "running", "done" or "failed"."""

    state: str = "ready"
    lines: list[Line] = field(default_factory=list)
    timeline: str = ""


class Performance:
    """One demo that is played. At rest the position is -1, and the page shows the demo's title."""

    def __init__(self, number: str, script: Script, performer: Performer) -> None:
        self.number, self.script, self._performer = number, script, performer
        self._hear: Callable[[Scene], None] = lambda scene: None
        self._lock, self._telling = threading.RLock(), threading.Lock()
        self._work: threading.Thread | None = None
        self._position, self._reached, self._busy = -1, -1, ""
        self._done = [_Done() for _ in script.steps]
        self._truths: dict[str, str] = {}

    def listen(self, hear: Callable[[Scene], None]) -> None:
        """Call `hear` with the scene now and after each change, from any thread, and with the newest last."""
        self._hear = hear
        self._changed()

    def press(self, key: str) -> None:
        """Do what a key asks for, if it can be done now: see KEYS."""
        with self._lock:
            if self._busy or key not in KEYS:
                return
            running = self._running
            if key == "rest":
                self._busy = (
                    "This act ends, then all brokers come back." if running else "All brokers come back."
                )
                self._start(self._rest)
            elif key == "back":
                self._position = max(-1, self._position - 1)
            elif not running or self._position < self._reached:
                self._next()
        self._changed()

    def end(self) -> None:
        """End what is being done, and do nothing more."""
        with self._lock:
            self._busy = ENDING
        self._changed()
        self.wait()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until nothing is being done."""
        work = self._work
        if work is not None:
            work.join(seconds)

    def scene(self) -> Scene:
        """Return what the page shows, as plain values."""
        with self._lock:
            at_rest = self._position < 0
            shown = (
                {} if at_rest else self._step(self.script.steps[self._position], self._done[self._position])
            )
            return {
                "number": self.number,
                "title": self.script.title,
                "recorded": self._performer.recorded,
                "position": self._position + 1,
                "steps": len(self.script.steps),
                "busy": self._busy,
                "next": self._told_next(),
                "again": self._failed and not self._busy and self._position == self._reached,
                **shown,
            }

    def _changed(self) -> None:
        # One after the other: else a thread that has waited since it took its scene would tell it too late.
        with self._telling:
            self._hear(self.scene())

    @property
    def _running(self) -> bool:
        return any(done.state == "running" for done in self._done)

    @property
    def _failed(self) -> bool:
        return any(done.state == "failed" for done in self._done)

    def _begin_again(self) -> None:
        self._position, self._reached, self._busy = -1, -1, ""
        self._done = [_Done() for _ in self.script.steps]
        self._truths = {}

    def _next(self) -> None:
        if self._position >= 0:
            step, done = self.script.steps[self._position], self._done[self._position]
            if step.act and done.state == "ready":
                done.state = "running"
                self._start(lambda: self._perform(step, done))
                return
        if self._position + 1 < len(self.script.steps):
            self._position += 1
            self._reached = max(self._reached, self._position)
            step, done = self.script.steps[self._position], self._done[self._position]
            if step.act and done.state == "ready" and self._failed:  # what it begins with is not there
                done.state = "failed"
                done.lines.append(Line("failed", f"An earlier act failed: {AGAIN}."))
            self._draw_timeline()

    def _start(self, work: Callable[[], None]) -> None:
        before = self._work

        def after() -> None:
            if before is not None:
                before.join()
            work()

        self._work = threading.Thread(target=after, daemon=True, name="demo")
        self._work.start()

    def _perform(self, step: Step, done: _Done) -> None:
        state = "done"
        try:
            for line in self._performer.perform(step.act, lambda: bool(self._busy)):
                with self._lock:
                    if line.kind == "truth":
                        self._truths[line.words] = line.value
                    else:
                        done.lines.append(line)
                self._changed()
        except Exception as fault:  # nobody stands above a pressed key to show it
            state = "failed"
            done.lines.append(Line("failed", _said(fault)))
        with self._lock:
            done.state = state
        self._changed()

    def _rest(self) -> None:
        said = ""
        try:
            self._performer.rest()
        except Exception as fault:
            said = f"Not all brokers came back: {fault}"
        with self._lock:
            over = self._busy == ENDING
            self._begin_again()
            self._busy = ENDING if over else ""
            if said:
                self._done[0].lines.append(Line("failed", said))
        self._changed()

    def _draw_timeline(self) -> None:
        step, done = self.script.steps[self._position], self._done[self._position]
        recording = self._performer.recording(step.timeline) if step.timeline else None
        if recording is not None and not done.timeline:
            drawn = recording.members() if step.members else recording.show()
            done.timeline = drawn._repr_mimebundle_()["text/html"]

    def _step(self, step: Step, done: _Done) -> Scene:
        return {
            "heading": step.title,
            "says": step.says,
            "note": step.note,
            "state": done.state if step.act else "",
            "lines": [{"kind": one.kind, "words": one.words, "value": one.value} for one in done.lines],
            "question": self._question(step),
            "timeline": done.timeline,
            "missing": bool(step.timeline and not done.timeline),
        }

    def _question(self, step: Step) -> Scene | None:
        name = step.vote or step.reveal
        if not name:
            return None
        asked, true = question_of(name), self._truths.get(name, "") if step.reveal else ""
        return {
            "asked": asked.question,
            "answers": [{"words": a.answer, "true": a.answer == true} for a in asked.answers],
            "revealed": bool(step.reveal),
            "truth": true,
            "why": asked.why.get(true, ""),
        }

    def _told_next(self) -> str:
        """Say what the next press of the key does; empty if it does nothing now."""
        steps, at = self.script.steps, self._position
        if self._busy or (at == self._reached and (self._running or self._failed)):
            return ""
        if at >= 0 and steps[at].act and self._done[at].state == "ready":
            return steps[at].press
        return "" if at + 1 == len(steps) else "begin" if at < 0 else "next step"


def _said(fault: Exception) -> str:
    """Say what has ended an act, and what can be done in a demo, whatever the next step is in a lab."""
    if not isinstance(fault, LabError):
        return f"An error that no act foresees ({type(fault).__name__}: {fault}): {AGAIN}."
    what = THE_CELL.sub("", fault.what).removesuffix(".")
    return f"{what}: {AGAIN}." if fault.next_step else f"{what}. {AGAIN[0].upper()}{AGAIN[1:]}."
