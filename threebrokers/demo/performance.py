"""Where a demo is, and what a key does: next, back, rest. It knows no cluster and no page."""

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
        self._changed: Callable[[], None] = lambda: None
        self._lock = threading.RLock()
        self._work: threading.Thread | None = None
        self._position, self._reached, self._busy = -1, -1, ""
        self._done = [_Done() for _ in script.steps]
        self._truths: dict[str, str] = {}

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` now and after each change, from any thread."""
        self._changed = changed
        changed()

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
                **shown,
            }

    @property
    def _running(self) -> bool:
        return any(done.state == "running" for done in self._done)

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
            said = str(fault) if isinstance(fault, LabError) else f"{type(fault).__name__}: {fault}"
            done.lines.append(Line("failed", said))
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
        if self._busy or (at == self._reached and self._running):
            return ""
        if at >= 0 and steps[at].act and self._done[at].state == "ready":
            return steps[at].press
        return "" if at + 1 == len(steps) else "begin" if at < 0 else "next step"
