"""What can be done to brokers on purpose: guarded if it costs the quorum, and told to whoever listens."""

from collections.abc import Callable

from threebrokers.cluster import action_log, link_faults
from threebrokers.cluster.engine import Engine
from threebrokers.cluster.link_faults import Fault, Peer
from threebrokers.cluster.settings import BROKERS
from threebrokers.errors import BenchError
from threebrokers.kafka.state import Act

QUORUM = len(BROKERS) // 2 + 1


class Acts:
    """The faults of one cluster: those of its brokers, and those of the links between them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._hearers: list[Callable[[Act], None]] = []

    @property
    def links(self) -> bool:
        """Whether the brokers have links that can be cut, stalled and slowed."""
        return self._engine.has_links()

    def stop(self, broker: int, *, anyway: bool = False) -> None:
        """Shut one broker down cleanly: it hands its leaderships over first."""
        self._act("stop", broker, anyway, self._engine.stop)

    def kill(self, broker: int, *, anyway: bool = False) -> None:
        """Kill one broker (SIGKILL): it has no time to say anything to anybody."""
        self._act("kill", broker, anyway, self._engine.kill)

    def pause(self, broker: int, *, anyway: bool = False) -> None:
        """Freeze one broker (SIGSTOP): it is there and answers nobody."""
        self._act("pause", broker, anyway, self._engine.pause)

    def resume(self, broker: int) -> None:
        """Let a paused broker go on."""
        self._known(broker)
        self._do("resume", broker, self._engine.resume)

    def cut(self, broker: int, from_: Peer | list[Peer] | None = None, *, anyway: bool = False) -> None:
        """Break the links of a broker, both ways: new connections fail.

        What is connected ends at once (local engine) or falls silent, as when a cable is pulled (compose).
        `from_` is "clients", "brokers" (the copying of records), "quorum" (metadata and heartbeats), the
        number of another broker, or a list of these; unless told the broker loses the others and the
        quorum, and clients still reach it. Raises BenchError if the brokers have no links.
        """
        self._hinder(Fault("cut", broker, link_faults.chosen(broker, from_)), anyway)

    def stall(self, broker: int, from_: Peer | list[Peer] | None = None, *, anyway: bool = False) -> None:
        """Let nothing pass on the links of a broker, as `cut` does, but let the connections stand."""
        self._hinder(Fault("stall", broker, link_faults.chosen(broker, from_)), anyway)

    def slow(self, broker: int, ms: float, from_: Peer | list[Peer] | None = None) -> None:
        """Delay what passes on the links of a broker by so many ms, each way; `from_` as `cut` has it."""
        self._hinder(link_faults.slowness(broker, link_faults.chosen(broker, from_), ms), anyway=True)

    def heal(self, broker: int | None = None) -> None:
        """Mend the links of a broker, or of all; what a stalled link held back arrives now."""
        if broker is not None:
            self._known(broker)
        were = self.faults()
        at = self._engine.change_links(lambda faults: link_faults.healed(faults, broker))
        mended = sorted({fault.broker for fault in were} - {fault.broker for fault in self.faults()})
        self._report(*(Act(at, "heal", n) for n in mended))

    def faults(self) -> list[Fault]:
        """Return what is wrong with the links now. Raises BenchError if their process has died."""
        return self._engine.faults()

    def cost(self, broker: int) -> str:
        """Say what it would cost to stop, kill or pause this broker now; empty if two others stay up."""
        up = set(self._answering())
        rest = sorted(up - {broker})
        if broker not in up or len(up) < QUORUM or len(rest) >= QUORUM:
            return ""
        return (
            f"This takes the quorum away: only broker {rest[0]} of {len(BROKERS)} voters would be left, "
            "so nothing can be elected until one returns"
        )

    def on_act(self, hear: Callable[[Act], None]) -> Callable[[], None]:
        """Call `hear` for everything that is done to a broker through this object; return how to end that."""
        self._hearers.append(hear)
        return lambda: self._hearers.remove(hear) if hear in self._hearers else None

    def _act(self, verb: str, broker: int, anyway: bool, act: Callable[[int], float]) -> None:
        self._known(broker)
        if not anyway and (cost := self.cost(broker)):
            raise BenchError(f"{cost}; if you want to see that, say {verb}({broker}, anyway=True).")
        self._do(verb, broker, act)

    def _do(self, verb: str, broker: int, act: Callable[[int], float]) -> None:
        self._report(Act(act(broker), verb, broker))

    def _report(self, *acts: Act) -> None:
        for act in acts:
            action_log.write(self._engine.home, act)
            for hear in list(self._hearers):
                hear(act)

    def _hinder(self, fault: Fault, anyway: bool) -> None:
        self._known(fault.broker)
        if not anyway and "quorum" in fault.peers and self.links and (cost := self.cost(fault.broker)):
            raise BenchError(
                f"{cost}; if you want to see that, say {fault.effect}({fault.broker}, anyway=True)."
            )
        at = self._engine.change_links(lambda faults: [*faults, fault])
        self._report(Act(at, fault.effect, fault.broker, fault.words))

    def _answering(self) -> list[int]:
        """Return the brokers that are up and reach another voter: others may take a question for ever."""
        try:
            apart = link_faults.alone(self.faults())
        except BenchError:  # who carries the links is gone: no broker reaches another
            apart = set(BROKERS)
        return [n for n, p in self._engine.processes().items() if p.state == "up" and n not in apart]

    def _known(self, broker: int) -> None:
        if broker not in BROKERS or isinstance(broker, bool):
            raise BenchError(f"There is no broker {broker!r} here: the brokers are 1, 2 and 3.")
