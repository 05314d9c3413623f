"""What stays and what goes: data, ports, processes; whatever happens outside of the course."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.contract.basis import EVERYBODY, Basis, producer, send, soon, whole
from threebrokers.cluster import Cluster, engine, ports
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import read_log
from threebrokers.kafka.state import ClusterState
from threebrokers.waiting import quiet_wait

FIFTY = [str(n) for n in range(50)]


def is_fresh(cluster: Cluster, topic: str) -> bool:
    """Tell whether all brokers are there and answer that there is no such topic; silence says nothing."""
    state = cluster.state()
    return state.last_response_at is not None and state.topic(topic) is None and state.registered == EVERYBODY


class Keeping(Basis):
    def test_a_broker_taken_away_from_outside_is_noticed_and_mended(self, healthy, topic):
        assert send(producer(healthy.bootstrap), *FIFTY) == ["ok"]
        self.take_away(healthy, 2)
        assert quiet_wait(lambda: healthy.processes()[2].state == "down", 10)

        def noticed(state: ClusterState) -> None:
            assert (state.broker(2).state, state.broker(2).registered) == ("down", False)

        soon(healthy, noticed)
        with pytest.raises(LabError, match="already down"):
            healthy.stop(2)
        assert Cluster().up() == [2]
        soon(healthy, whole)
        assert len(read_log(healthy.bootstrap, topic)) == 50

    def test_a_broker_sends_clients_elsewhere_until_it_is_started_again(self, healthy, topic):
        def told(address: str) -> Callable[[ClusterState], None]:
            def judge(state: ClusterState) -> None:
                whole(state)
                assert state.broker(3).address == address

            return judge

        elsewhere = f"{ports.HOST}:1"
        healthy.stop(3)
        healthy.start(3, advertised=elsewhere)
        soon(healthy, told(elsewhere))
        assert Cluster().up() == [3]
        soon(healthy, told(healthy.address(3)))
        assert Cluster().up() == []

    def test_a_port_that_somebody_took_is_named(self, healthy, home):
        port = int(engine.chosen(home).listening()[3]["CLIENT"].split(":")[1])
        healthy.stop(3)
        assert quiet_wait(lambda: ports.is_free(port), 5)
        with socket.socket() as stranger:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stranger.bind((ports.HOST, port))
            stranger.listen()
            with pytest.raises(LabError, match=f"Port {port} .*is used by another program"):
                healthy.start(3)
        assert healthy.processes()[3].state == "down"

    def test_brokers_outlive_a_killed_kernel_that_started_one(self, healthy):
        healthy.kill(3)
        program = "from threebrokers import Cluster; Cluster().start(3); print('up', flush=True); input()"
        words, pipe = [sys.executable, "-c", program], subprocess.PIPE
        # A signal to a kernel goes to all processes of its group.
        kernel = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, process_group=0)
        with kernel:
            assert kernel.stdout is not None
            assert kernel.stdout.readline() == "up\n"
            os.killpg(kernel.pid, signal.SIGKILL)
        found = Cluster()
        assert found.bootstrap == healthy.bootstrap
        assert {told.state for told in found.processes().values()} == {"up"}
        assert found.up() == []

    def test_data_stay_through_down_and_up_and_go_with_a_reset(self, healthy, topic, home):
        assert send(producer(healthy.bootstrap), *FIFTY) == ["ok"]
        address = healthy.bootstrap
        healthy.pause(2)
        assert healthy.down() == list(BROKERS), "a frozen one, too"
        assert self.remains(home) == []
        assert healthy.down() == []
        assert healthy.up() == list(BROKERS)
        assert healthy.bootstrap == address
        assert len(read_log(healthy.bootstrap, topic)) == 50
        healthy.reset()
        assert quiet_wait(lambda: is_fresh(healthy, topic), 20)

    def test_a_damaged_state_file_costs_no_data_and_leaves_nobody_behind(self, healthy, topic, home):
        assert send(producer(healthy.bootstrap), "kept") == ["ok"]
        births, running = self.births(healthy), len(self.remains(home))
        self.state_file(home).write_text('{"ports": ')
        healthy.up()
        assert len(self.remains(home)) == running
        now = self.births(healthy)
        assert now.keys() == EVERYBODY
        assert all(now[n] != births[n] for n in BROKERS), "at what ports they listened was not known"
        soon(healthy, whole)
        assert [r.value for r in read_log(healthy.bootstrap, topic)] == [b"kept"]

    def test_two_clones_side_by_side_do_not_meet(self, healthy, topic, home, tmp_path):
        births = self.births(healthy)
        elsewhere = tmp_path / "clone"
        elsewhere.mkdir()
        clone = Cluster(elsewhere)
        assert clone.engine == healthy.engine
        try:
            assert clone.up() == list(BROKERS)
            assert not set(clone.bootstrap.split(",")) & set(healthy.bootstrap.split(","))
            assert quiet_wait(lambda: is_fresh(clone, topic), 20)
            clone.kill(1)
            assert healthy.processes()[1].state == "up"
            self.state_file(elsewhere).unlink()
            clone.down()
            assert self.remains(elsewhere) == [], "whose state file is lost is found all the same"
            assert len(self.disks(elsewhere)) == 3
        finally:
            clone.erase()
        assert self.disks(elsewhere) == []
        assert self.births(healthy) == births
        assert len(self.disks(home)) == 3
        soon(healthy, whole)

    def test_brokers_of_another_engine_are_refused_while_these_run(self, healthy, home):
        before = self.remains(home)
        sentence = f"run on the engine '{healthy.engine}': end them with .*threebrokers down.*'{self.other}'"
        with pytest.raises(LabError, match=sentence):
            Cluster(engine_name=self.other).up()
        assert self.remains(home) == before
