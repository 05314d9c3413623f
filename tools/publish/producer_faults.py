"""Faults that hit producers of five set-ups at once, while they send: for docs/guarantees.md."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Trials, killed_leader, lost_answers
from threebrokers.lab.scenarios.guarantees import COPIED_SECONDS, Round
from tools.publish.verdicts import SET_UPS, Repeated, Say, Verdict, by_name, repeat, section, table

SetUps = Mapping[str, Mapping[str, Any]]
# An answer is on its way for so long, each way: the followers are asked meanwhile whether they have all.
HELD_MS = 4000
PATIENT = {"message.timeout.ms": 60_000}  # longer than that and an election together
FLUSH_SECONDS = 60.0


def killed_before_its_answers(lab: Lab, set_ups: SetUps) -> Trials:
    """Kill the leader when all replicas have the last 100 records of each set-up, before its answers arrive.

    The links of clients are so slow that an answer needs 4 s. The followers have the records by then. Raises
    LabError if an answer came all the same.
    """
    tried = Round(lab, "heirs", {of: {**PATIENT, **settings} for of, settings in set_ups.items()}, {})
    lab.cluster.slow(tried.leader, HELD_MS, "clients")
    try:
        tried.send()
        lab.wait_until(
            tried.copied, what="three replicas of the last records", within=HELD_MS / 1000 + COPIED_SECONDS
        )
        lab.cluster.cut(tried.leader, "clients")  # what is on its way does not arrive any more
        lab.cluster.kill(tried.leader)
    finally:
        lab.cluster.heal()
    early = [of for of, producer in tried.producers.items() if set_ups[of]["acks"] != 0 and not len(producer)]
    if early:
        raise LabError(f"answers came before the kill ({', '.join(early)})")
    tried.flush(FLUSH_SECONDS)
    return tried.trials()


class Fault(NamedTuple):
    """What is done, and what to see in what came of it, in the words of the page."""

    run: Callable[[Lab, SetUps], Trials]
    text: str
    see: str


FAULTS: dict[str, Fault] = {
    "The leader dies, and it alone has the records": Fault(
        killed_leader,
        """
All three replicas have the first 100 records of each producer. Then the leader is cut off from the other
brokers, gets the last 100, acknowledges what it may, and is killed.
""",
        """
Who hears "acknowledged" before a second broker has the record can lose it. `acks=all` waits, and sends again
to the next leader; without retries the program is told that it failed.
""",
    ),
    "The answer gets lost": Fault(
        lost_answers,
        """
The leader stores the last 100 records of each producer, and the connections break before its answers arrive.
No broker fails.
""",
        """
Whoever sends again stores the records twice; only the idempotent producer does not. Without retries all are
stored, and the program is told that 100 failed: sent again by the program they would be there twice, too.
""",
    ),
    "The leader dies when the followers have the records, and its answers get lost": Fault(
        killed_before_its_answers,
        """
All three replicas have the last 100 records of each producer, too. The connections to the leader break before
its answers arrive, and the leader is killed. So who sends again sends to a broker that has just become the
leader, and got these records from the one before it.
""",
        """
Nothing is lost, and the idempotent producer doubles nothing. A follower has the producer's id and its
sequence numbers in its replica: it knows them when it becomes the leader.
""",
    ),
}
HEADINGS = tuple(FAULTS)
Verdicts = Mapping[str, Verdict]


def measured(lab: Lab, runs: int, say: Say) -> dict[str, Repeated[Verdicts]]:
    """Run each fault so many times; return for each what every set-up's ledger said, run by run."""
    return {
        name: repeat(lab, runs, name, partial(_once, lab, fault), told, say) for name, fault in FAULTS.items()
    }


def written(found: Mapping[str, Repeated[Verdicts]]) -> list[str]:
    """Return the sections of the page."""
    return [
        section(
            name,
            FAULTS[name].text,
            of_fault.told,
            table("set-up", Verdict._fields, {f"`{of}`": v for of, v in by_name(of_fault.runs).items()}),
            see=FAULTS[name].see,
        )
        for name, of_fault in found.items()
    ]


def sections(lab: Lab, runs: int, say: Say) -> list[str]:
    """Measure, and return the sections of the page."""
    return written(measured(lab, runs, say))


def told(run: Verdicts) -> str:
    """Return in a line what was lost and came twice."""
    return ", ".join(f"{of}: {v.lost} lost, {v.twice} twice" for of, v in run.items())


def _once(lab: Lab, fault: Fault) -> Verdicts:
    return {of: Verdict.of(balance) for of, balance in fault.run(lab, SET_UPS).balances.items()}
