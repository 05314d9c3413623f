"""Record anew what decks play: a leader is killed while a sensor writes and a monitor reads (lab 04)."""

from threebrokers import open_lab
from threebrokers.cluster import Cluster
from threebrokers.lab.scenarios import Sensor, wait_for_new_leaders
from threebrokers.recorder import Recording
from tools import ROOT
from tools.proof import environment
from tools.slides.recordings import path_of

NAME = "04_kill"


def main() -> int:
    """Record on brokers in a home of their own, and keep the recording beside the decks."""
    with environment.bench():
        cluster = Cluster()
        cluster.up()
        recording = kill_a_leader()
        cluster.down()
    path = path_of(NAME)
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"{recording.save(path).relative_to(ROOT)}: {path.stat().st_size // 1024} kB")
    print(recording.show())
    return 0


def kill_a_leader() -> Recording:
    """Return a recording of one kill and one start, with a second of calm before each."""
    lab = open_lab("04")
    lab.cluster.recover()
    sensor = Sensor(lab, 2.5)
    with sensor, lab.record(sensor.topic) as recording:
        sensor.wait()
        lab.cluster.kill(sensor.leader)
        wait_for_new_leaders(lab, sensor.leader, sensor.topic)
        sensor.wait()
        lab.cluster.start(sensor.leader)
        lab.cluster.wait_in_sync()
        sensor.wait()
    return recording
