"""Faults that the course foresees."""


class LabError(Exception):
    """A foreseeable fault: `what` has happened, and the `next_step` of whoever reads it.

    Shown as one sentence, "what: next step."; without a next step `what` is a whole sentence itself.
    """

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what, next_step)
        self.what, self.next_step = what, next_step.removesuffix(".")

    def __str__(self) -> str:
        return f"{self.what}: {self.next_step}." if self.next_step else self.what

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines in place of a traceback; Jupyter, nbclient and nbval follow it.
        return [f"✗ {self}"]
