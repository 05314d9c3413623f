"""Each fault of a broker and its return: what is seen, what clients get, what is refused."""

import threading
import time

import pytest

from tests.contract.basis import (
    EVERYBODY,
    Basis,
    in_sync,
    leaders,
    producer,
    send,
    soon,
    whole,
)  # fmt: skip
from threebrokers.cluster import Cluster
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import end_offsets, read_log, start_offsets
from threebrokers.kafka.state import ClusterState

HUNDRED = [str(n) for n in range(100)]


class Faults(Basis):
    @pytest.mark.parametrize(
        ("fault", "mend", "broken"),
        [("kill", "start", "down"), ("stop", "start", "down"), ("pause", "resume", "paused")],
    )
    def test_a_fault_moves_leadership_and_its_return_restores_the_copies(
        self, healthy, topic, notes, fault, mend, broken
    ):
        client = producer(healthy.bootstrap)
        assert send(client, *HUNDRED) == ["ok"]
        broker = soon(healthy, whole).quorum_leader  # the worst case: the quorum must choose, too
        others = EVERYBODY - {broker}
        begun = time.monotonic()
        getattr(healthy, fault)(broker)
        assert healthy.processes()[broker].state == broken

        def taken_over(state: ClusterState) -> None:
            assert leaders(state) <= others

        def noticed(state: ClusterState) -> None:
            told = {seen.id: (seen.state, seen.registered) for seen in state.brokers}
            assert told == {broker: (broken, False)} | dict.fromkeys(others, ("up", True))
            assert leaders(state) <= others
            assert in_sync(state) == {tuple(sorted(others))}
            assert state.quorum_leader in others

        soon(healthy, taken_over)
        led = time.monotonic() - begun
        soon(healthy, noticed)
        assert send(client, *HUNDRED) == ["ok"], "two of three copies are enough for acks=all"
        begun = time.monotonic()
        getattr(healthy, mend)(broker)
        soon(healthy, whole)
        returned = time.monotonic() - begun
        assert healthy.processes()[broker].state == "up"
        records = read_log(healthy.bootstrap, topic)
        assert sorted(r.value.decode() for r in records) == sorted(HUNDRED * 2)
        assert sum(end_offsets(healthy.bootstrap, topic).values()) == 200
        assert set(start_offsets(healthy.bootstrap, topic).values()) == {0}
        notes.append(f"{healthy.engine}: {fault} → all led {led:.1f} s, {mend} → full ISR {returned:.1f} s")

    def test_asking_for_what_cannot_be_done_is_one_sentence(self, healthy):
        with pytest.raises(LabError, match="There is no broker 4"):
            healthy.kill(4)
        births = self.births(healthy)
        healthy.start(3)
        healthy.resume(3)
        assert self.births(healthy) == births, "it was up, and that changes nothing"
        healthy.pause(3)
        healthy.pause(3)
        assert healthy.processes()[3].state == "paused"
        healthy.kill(3)
        assert healthy.processes()[3].state == "down"
        for again in (healthy.kill, healthy.stop):
            with pytest.raises(LabError, match=r"already down: start it with `start\(3\)`"):
                again(3)
        with pytest.raises(LabError, match="not running, so it cannot be paused"):
            healthy.pause(3)
        with pytest.raises(LabError, match="not running, so it cannot be resumed"):
            healthy.resume(3)

    def test_the_quorum_is_guarded_and_three_starts_at_once_end_in_one_cluster(self, healthy, topic, home):
        assert send(producer(healthy.bootstrap), "kept") == ["ok"]
        running = len(self.remains(home))
        healthy.kill(1)
        for verb in ("stop", "kill", "pause"):
            sentence = rf"takes the quorum away: of 3 voters only broker 3.*say {verb}\(2, force=True\)"
            with pytest.raises(LabError, match=sentence):
                getattr(healthy, verb)(2)
        healthy.kill(2, force=True)

        def without_quorum(state: ClusterState) -> None:
            assert state.quorum_leader is None
            assert [broker.state for broker in state.brokers] == ["down", "down", "up"]

        soon(healthy, without_quorum)
        healthy.kill(3)
        state = healthy.state([topic])
        assert [broker.state for broker in state.brokers] == ["down"] * 3
        assert state.last_response_at is None
        faults: list[BaseException] = []

        def start() -> None:
            try:
                Cluster().up()
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=start) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert self.births(healthy).keys() == EVERYBODY
        assert len(self.remains(home)) == running
        soon(healthy, whole)
        assert [r.value for r in read_log(healthy.bootstrap, topic)] == [b"kept"]
