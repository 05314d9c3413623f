"""Faults that the course foresees."""


class LabError(Exception):
    """A foreseeable fault, told in one sentence that names the next step."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines in place of a traceback; Jupyter, nbclient and nbval follow it.
        return [f"✗ {self}"]
