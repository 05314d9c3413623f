"""What a check says: solved, not yet, not attempted or skipped; each is one sentence, shown in a box."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from confluent_kafka import KafkaException

from threebrokers import theme
from threebrokers.errors import LabError, NotYoursError
from threebrokers.kafka import rights
from threebrokers.notebook import kernel_shell, tell
from threebrokers.verdict import Box


class Outcome(Exception):  # noqa: N818 - not an error
    """What a check says when an exercise is not solved; `label` and `title` are the exercise's."""

    look = theme.BAD
    label = title = ""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]

    def __str__(self) -> str:
        number = f"{self.label}  " if self.label else ""
        return f"{self.look.sign} {number}{self.args[0]}"

    @property
    def box(self) -> Box:
        """The box that shows it."""
        return Box(self.look, str(self), str(self.args[0]), number=self.label, title=self.title)


class NotAttempted(Outcome):
    """The exercise still has its blanks."""

    look = theme.OPEN


class Skipped(Outcome):
    """The exercise needs what the cluster does not allow: neither right nor wrong."""

    look = theme.OPEN


class NotYet(Outcome):
    """The answer is not right: what was found, what was expected, where to look."""

    def __init__(self, found: str, expected: str, look_at: str) -> None:
        super().__init__(f"{found}; {expected}. Look at: {look_at}")
        self.found, self.expected, self.look_at = found, expected, look_at

    @property
    def box(self) -> Box:
        """The box that shows it, its three parts in three ranks."""
        soft = f"Look at: {self.look_at}"
        return replace(super().box, strong=self.found, plain=f"; {self.expected}.", soft=soft)


@dataclass(frozen=True)
class Solved:
    """The answer is right: what is now true, and why it matters."""

    number: str
    title: str
    reason: str

    def __repr__(self) -> str:
        return f"{theme.GOOD.sign} {self.number}  {self.title}: {self.reason}"

    def _repr_html_(self) -> str:
        return self.box._repr_html_()

    @property
    def box(self) -> Box:
        """The box that shows it."""
        return Box(theme.GOOD, repr(self), self.reason, number=self.number, title=self.title)


def trouble(fault: LabError) -> Box:
    """Return the box of a fault that is not the learner's answer: what has happened, and the next step."""
    strong, plain = (fault.what, f": {fault.next_step}.") if fault.next_step else ("", fault.what)
    [twin] = fault._render_traceback_()
    return Box(theme.WARNING, twin, plain, strong, number=fault.label, title=fault.title)


def show_in_boxes(instead: Callable[[NotYoursError], None] = lambda fault: None) -> None:
    """From now on show an Outcome or a LabError that ends a cell of this notebook in its box.

    The cell fails as before: its error, with the same sentence, follows the box. What a cluster does not
    allow is said in a box too; `instead` shows something in place of what needs power over brokers.
    """
    here = kernel_shell()
    if here is None:
        return

    def show(
        self: Any, kind: type[Exception], fault: Exception, trace: TracebackType, tb_offset: int | None = None
    ) -> None:
        said = rights.of_fault(fault) if isinstance(fault, KafkaException) else fault
        if isinstance(said, Outcome | LabError):
            box = said.box if isinstance(said, Outcome) else trouble(said)
            tell(replace(box, raised=said is fault))
        if isinstance(said, NotYoursError):
            instead(said)
        self.showtraceback((kind, fault, trace), tb_offset=tb_offset)

    here.set_custom_exc((Outcome, LabError, KafkaException), show)


def show_in_words(kinds: tuple[type[Exception], ...], words: Callable[[Exception], LabError | None]) -> None:
    """From now on show errors of these kinds that end a cell as what `words` says; None: as they are.

    It is asked for again after `show_in_boxes`, and does nothing where that did nothing.
    """
    here = kernel_shell()
    if here is None or here.custom_exceptions[-len(kinds) :] == kinds:
        return
    known, before = tuple(here.custom_exceptions), here.CustomTB

    def show(
        self: Any, kind: type[Exception], fault: Exception, trace: TracebackType, tb_offset: int | None = None
    ) -> None:
        said = words(fault) if isinstance(fault, kinds) else None
        if said is not None:
            before(type(said), said, trace, tb_offset)
        elif isinstance(fault, known):
            before(kind, fault, trace, tb_offset)
        else:
            self.showtraceback((kind, fault, trace), tb_offset=tb_offset)

    here.set_custom_exc((*known, *kinds), show)
