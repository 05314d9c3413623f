"""Record the cluster and the clients on one clock, to be asked, shown and played again."""

from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.recorder import Recorder
from threebrokers.recorder.recording import Recording

__all__ = ["Gap", "Recorder", "Recording"]
