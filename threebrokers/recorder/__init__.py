"""Recording the bench and the clients on one clock, to be asked, shown and played again."""

from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.recorder import Recording
from threebrokers.recorder.recording import Tape

__all__ = ["Gap", "Recording", "Tape"]
