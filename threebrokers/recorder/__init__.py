"""Recording the bench and the clients on one clock, to be asked, shown and played again."""

import threebrokers.watching.groups  # noqa: F401 - now: in a recording it would look like a pause
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.recording import Recording
from threebrokers.recorder.tape import Tape

__all__ = ["Gap", "Recording", "Tape"]
