"""Killing a worker that books transfers in ten places, for lab 11: what the notebook does."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from threebrokers import clock
from threebrokers.errors import LabError
from threebrokers.kafka.log_reader import Record, read_log
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.lives import committed_offset, end
from threebrokers.lab.scenarios.transactions import open_at
from threebrokers.lab.transfers import COUNT, TransfersJob, job_file, journal, new_job
from threebrokers.ledger.table import ranges
from threebrokers.program import Program
from threebrokers.text import counted, last_line
from threebrokers.waiting import POLL_SECONDS, quiet_wait

if TYPE_CHECKING:
    import pandas as pd

ACCOUNTS = ("Ann", "Bob", "Cem", "Dana", "Eva")
RUN_SECONDS = 60.0
# Who has done nothing for so long will do no more. Who comes with another transactional.id at each start may
# stand still until the transaction of a dead one is given up, and nobody waits for that.
IDLE_SECONDS, OTHER_NAMES_SECONDS, START_SECONDS = 10.0, 2.0, 20.0
LAST_SECONDS = 3.0  # longer than a poll of a program that gathers transfers waits
MARK_SECONDS = 3.0  # a mark may come later than the next life begins


@dataclass(frozen=True)
class Booked:
    """What a worker has left that was killed in ten places; its first life began `at` (s since 1970).

    `kills` are the places, each with the last transfer that this life had read. `counts` tell for each
    transfer how many debits and credits a reader of committed records sees, `odd` how many entries he cannot
    understand; `stored` is how many entries of all kinds the log holds. `held` are the partitions in which
    an open transaction holds readers back, each with the offset. `committed` is the group's offset. `names`
    are the transactional.ids of the lives, `mails` how many mails each transfer has caused. `automatic` says
    that its client committed by itself, `outside` that it called commit() of its consumer. `fault` is the
    last line of a program that failed; `idle` says that it ended by itself, `deaf` that it had asked for no
    topic. `due` is how many transfers should be there: fewer than all if the program was ended because the
    books were wrong, and what its last life had in work does not count.
    """

    at: float
    kills: tuple[tuple[str, int | None], ...] = ()
    counts: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    odd: int = 0
    stored: int = 0
    held: Mapping[int, int] = field(default_factory=dict)
    committed: int | None = None
    names: tuple[str | None, ...] = ()
    mails: Mapping[int, int] = field(default_factory=dict)
    automatic: bool = False
    outside: bool = False
    fault: str = ""
    idle: bool = False
    deaf: bool = False
    due: int = COUNT

    @property
    def missing(self) -> list[int]:
        """The transfers of which no entry is to be seen."""
        return [number for number in range(self.due) if not any(self.counts.get(number, (0, 0)))]

    @property
    def twice(self) -> list[int]:
        """The transfers with an entry that is there more than once."""
        return sorted(number for number, both in self.counts.items() if max(both) > 1)

    @property
    def uneven(self) -> list[int]:
        """The transfers with more debits than credits, or fewer: money that came from nowhere, or is gone."""
        return sorted(n for n, (out, into) in self.counts.items() if out != into and n < self.due)

    @property
    def euros(self) -> int:
        """The sum of all entries; it is 0 if each transfer only moves money."""
        return sum(amount(number) * (into - out) for number, (out, into) in self.counts.items())

    def __repr__(self) -> str:
        seen = sum(map(sum, self.counts.values()))
        early = ", then ended: the books were wrong" if self.due < COUNT else ""
        return "\n".join(
            [
                f"killed {len(self.kills)} times{early}",
                f"of {counted(self.due, 'transfer')}: "
                f"{_some(self.missing)} missing, {_some(self.twice)} twice, {_some(self.uneven)} with an "
                "entry too many or too few",
                f"sum of all accounts: {self.euros} euros",
                f"entries in the log: {self.stored}; a reader of committed records gets {seen}",
                f"committed offset: {self.committed}"
                + "".join(f"; readers of partition {p} wait at {o}" for p, o in self.held.items()),
            ]
        )


def killed_in_ten_places(
    lab: Lab, program: str, *, way: str = "", until_wrong: bool = False, within: float = RUN_SECONDS
) -> Booked:
    """Let a program book 18 transfers, kill it in ten places, start it again; return what is left.

    Each life of the program does a transfer or two, and is killed at the next place. `way` is a word by
    which the program may choose what it does. With `until_wrong` the program is ended as soon as a transfer
    is missing, or booked twice or in part. After `within` seconds it is ended in any case.
    """
    job = new_job(lab, way)
    _fill(lab, job)
    at = clock.now()
    with _offered(lab, program, job):
        running = lab.program(program, restart=True)
        due = _until_its_end(lab, running, job, until_wrong=until_wrong, within=within)
        code, said = running.exit_code, running.output
        with suppress(LabError):  # it has ended by itself
            running.stop()
        notes = _notes(lab, program)
    left = _left(lab, job, at, notes, last_line(said) if code == 1 else "", idle=code == 0)
    return replace(left, due=due)


def compared_books(runs: Mapping[str, Booked]) -> "pd.DataFrame":
    """Return what several workers have left, a row each."""
    import pandas as pd  # only where a table is shown

    rows = {
        way: {
            "kills": len(left.kills),
            "missing": len(left.missing),
            "twice": len(left.twice),
            "an entry too many or too few": len(left.uneven),
            "sum of all accounts (euros)": left.euros,
            "mails": sum(left.mails.values()),
        }
        for way, left in runs.items()
    }
    return pd.DataFrame(rows).T.rename_axis("the worker's way")


def amount(number: int) -> int:
    """Return the euros of a transfer."""
    return 10 + number


def _fill(lab: Lab, job: TransfersJob) -> None:
    """Make both topics afresh, and write the transfers."""
    lab.fresh_topic("bank-transfers", replication_factor=3)
    lab.fresh_topic("bank-entries", partitions=2, replication_factor=3)
    producer = lab.producer({"enable.idempotence": True})
    for number in range(COUNT):
        payer, payee = ACCOUNTS[number % 5], ACCOUNTS[(number + 1 + number // 5) % 5]
        if payer == payee:
            payee = ACCOUNTS[(number + 2) % 5]
        transfer = {"transfer": number, "from": payer, "to": payee, "euros": amount(number)}
        producer.produce(job.transfers, json.dumps(transfer), key=payer)
    producer.flush()


@contextmanager
def _offered(lab: Lab, program: str, job: TransfersJob) -> Iterator[None]:
    """Let the program find the job, and an empty journal, while the block runs.

    An earlier run of it, which may only just be starting, is ended first: it would take the first life.
    """
    end(lab.program(program))
    kept = job_file(lab, program)
    kept.write(job)
    journal(lab, program).write_text("", "utf-8")
    try:
        yield
    finally:
        kept.path.unlink(missing_ok=True)


def _notes(lab: Lab, program: str) -> list[dict[str, Any]]:
    """Return what the worker has noted so far."""
    lines = journal(lab, program).read_text("utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _until_its_end(lab: Lab, program: Program, job: TransfersJob, *, until_wrong: bool, within: float) -> int:
    """Wait until the program has ended, has done all that there is, or will do nothing more.

    Return how many transfers should be there: all, or those before the life in which the books were wrong.
    """
    end = time.monotonic() + within
    # On a busy machine a program needs seconds before it does anything.
    seen, since, lives = (0, 0), time.monotonic() + START_SECONDS - IDLE_SECONDS, 1
    while time.monotonic() < end and program.exit_code is None:
        notes = _notes(lab, program.name)
        if any(note["kind"] == "done" for note in notes):
            # It has read the last one; who gathers several books them only when no more have come.
            quiet_wait(lambda: program.exit_code is not None or _is_booked(lab, job), LAST_SECONDS)
            lab.cluster.wait_for_markers()
            break
        if (now := (len(notes), len(program.output))) != seen:
            seen, since = now, time.monotonic()
        begun = [note["transfer"] for note in notes if note["kind"] == "begins"]
        if until_wrong and len(begun) > lives:
            lives = len(begun)
            if _is_wrong(lab, job, begun[-1]):
                return int(begun[-1])
        names = {note["id"] for note in notes if note["kind"] == "start"}
        if time.monotonic() - since > (OTHER_NAMES_SECONDS if len(names) > 1 else IDLE_SECONDS):
            break
        time.sleep(POLL_SECONDS)
    return COUNT


def _is_booked(lab: Lab, job: TransfersJob) -> bool:
    """Tell whether the group has committed all transfers."""
    return (committed_offset(lab, job.group, job.transfers) or 0) >= COUNT


def _is_wrong(lab: Lab, job: TransfersJob, first: int) -> bool:
    """Tell whether earlier lives have left wrong books for good; the present one began with `first`."""
    end = time.monotonic() + MARK_SECONDS
    while True:
        counts, _ = _counted(read_log(lab.bootstrap, job.entries))
        if any(max(both) > 1 for both in counts.values()):
            return True
        if all(counts.get(number) == (1, 1) for number in range(first)):
            return False
        if time.monotonic() > end:  # what is missing may only wait for its mark
            return True
        time.sleep(POLL_SECONDS)


def _left(
    lab: Lab, job: TransfersJob, at: float, notes: list[dict[str, Any]], fault: str, *, idle: bool
) -> Booked:
    """Read what stands in the topics now, and put it beside what the worker has noted."""
    counts, odd = _counted(read_log(lab.bootstrap, job.entries))
    stored = len(read_log(lab.bootstrap, job.entries, isolation="read_uncommitted"))
    kinds = {note["kind"] for note in notes}
    return Booked(
        at=at,
        kills=tuple((note["place"], note["transfer"]) for note in notes if note["kind"] == "kill"),
        counts=counts,
        odd=odd,
        stored=stored,
        held=open_at(lab, job.entries),
        committed=committed_offset(lab, job.group, job.transfers),
        names=tuple(note["id"] for note in notes if note["kind"] == "start"),
        mails=Counter(note["transfer"] for note in notes if note["kind"] == "mail"),
        automatic=any(note["kind"] == "consumer" and note["automatic"] for note in notes),
        outside="outside" in kinds,
        fault=fault,
        idle=idle and "deaf" not in kinds,
        deaf="deaf" in kinds,
    )


def _counted(records: list[Record]) -> tuple[dict[int, tuple[int, int]], int]:
    """Return the debits and credits of each transfer, and how many records are no entry."""
    counts: dict[int, tuple[int, int]] = {}
    odd = 0
    for record in records:
        try:
            entry = json.loads(record.value or b"")
            number, euros = int(entry["transfer"]), int(entry["euros"])
        except (ValueError, KeyError, TypeError):
            odd += 1
            continue
        out, into = counts.get(number, (0, 0))
        counts[number] = (out + (euros < 0), into + (euros > 0))
    return counts, odd


def _some(numbers: list[int]) -> str:
    return f"{len(numbers)} ({ranges('transfer', numbers)})" if numbers else "0"
