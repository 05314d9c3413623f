"""Faults that the course foresees."""

import errno

from threebrokers import theme

FULL = (errno.ENOSPC, errno.EDQUOT)


class LabError(Exception):
    """A foreseeable fault: `what` has happened, and the `next_step` of whoever reads it.

    Shown as one sentence, "what: next step."; without a next step `what` is a whole sentence itself.
    `label` and `title` are those of the exercise whose check it has ended, if it has.
    """

    label = title = ""

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what, next_step)
        self.what, self.next_step = what, next_step.removesuffix(".")

    def __str__(self) -> str:
        return f"{self.what}: {self.next_step}." if self.next_step else self.what

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines in place of a traceback; Jupyter, nbclient and nbval follow it.
        return [f"{theme.WARNING.sign} {f'{self.label}  ' if self.label else ''}{self}"]


class NotYoursError(LabError):
    """What was asked for needs power over brokers, and the cluster is not the learner's.

    `kind` is what was to be done to a broker ("kill"); empty if it was something else.
    """

    def __init__(self, what: str, next_step: str = "", kind: str = "") -> None:
        super().__init__(what, next_step)
        self.kind = kind


def cannot_write(fault: OSError, place: object, variable: str) -> LabError:
    """Return what the system refuses, with the file that it names or the place, which `variable` moves."""
    if fault.errno in (errno.ENOENT, errno.ENOEXEC):  # a program, or a folder that somebody has deleted
        return LabError(
            f"{fault.filename or place} cannot be used ({fault.strerror})", "see `threebrokers doctor`"
        )
    if fault.errno in FULL:
        why, cure = "the disk is full", "free some space"
    else:
        why, cure = fault.strerror or str(fault), "give yourself the right to write there"
    return LabError(
        f"Cannot write to {fault.filename or place} ({why})", f"{cure}, or set {variable} to another folder"
    )
