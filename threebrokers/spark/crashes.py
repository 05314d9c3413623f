"""Spark killed in the worst moment: a batch is written, and the checkpoint does not know it yet."""

import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.errors import LabError
from threebrokers.lab.lab import Lab
from threebrokers.spark import connect, gateway
from threebrokers.spark.books import Book
from threebrokers.spark.memory import Memory
from threebrokers.spark.queries import NEXT, ended_within, expect_no_fault, java_there, reason
from threebrokers.spark.spark_session import folder, folder_of, fresh_folder, session
from threebrokers.text import listed
from threebrokers.waiting import quiet_wait, shown

Sink = Callable[[DataFrame, int], object]
Start = Callable[[Sink, str], StreamingQuery]
SECONDS = 150.0
# In the copy of the checkpoint: names of what was in memory, and a mark of a death at a commit in the book.
FORGOTTEN, AT_COMMIT = "forgotten", "at-commit"


class SparkKilledError(Exception):
    """Spark was killed here: what stands behind this line in the sink does not happen."""


class Crash:
    """A sink that writes as the learner's does, and whose Spark is killed as soon as it has written a batch.

    With a `book`, that is the first commit in it; otherwise, the end of the sink.
    """

    def __init__(self, sink: Sink, batch: int, book: Book | None) -> None:
        self._sink, self._batch, self._book = sink, batch, book
        self._waits, self._dead = Event(), Event()
        self.at_commit = False  # whether a commit in the book is what Spark dies at

    @property
    def is_due(self) -> bool:
        """Whether the batch is written, and the sink waits for Spark's death."""
        return self._waits.is_set()

    def kill(self) -> None:
        """Kill Spark, and let the sink end."""
        gateway.kill()
        self.let_go()

    def let_go(self) -> None:
        """Let the sink end if it waits for Spark's death."""
        self._dead.set()

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Write a batch as the sink does; in the chosen one, Spark does not live on."""
        if number != self._batch:
            self._sink(batch, number)
            return
        if self._book is not None:
            self._book.on_commit = self._die_at_commit
        try:
            self._sink(batch, number)
            self._die()
        except SparkKilledError:
            return
        finally:
            if self._book is not None:
                self._book.on_commit = None

    def _die_at_commit(self) -> None:
        self.at_commit = True
        self._die()

    def _die(self) -> None:
        # Whoever started the query kills: py4j prints a traceback if another thread asks Java just then.
        self._waits.set()
        self._dead.wait(SECONDS)
        raise SparkKilledError


class Again:
    """The sink of a second run: it gets the batch of the death once more than Spark gives it.

    That is what a death behind the last commit of the second try would do; Spark does not die for it.
    """

    def __init__(self, first: Sink, second: Sink, batch: int) -> None:
        self._first, self._second, self._batch = first, second, batch
        self.came = False  # whether the batch came once more

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Write a batch with `second`; the chosen one with `first` before, whose memory is gone then."""
        if number == self._batch:
            self._first(batch, number)
            self.came = True
        self._second(batch, number)


def killed(start: Start, sink: Sink, checkpoint: str, *, batch: int, book: Book | None = None) -> Path:
    """Start a query afresh, and kill Spark when this batch is written and not committed; Spark stays dead.

    `start(sink, folder)` starts the query, which gives its batches to `sink`; its checkpoint is the folder
    `checkpoint`. Returns a copy of that, as Spark's death has left it, which no later run changes.
    Raises LabError if the query ends otherwise, and with Spark Connect, whose driver others use too.
    """
    if (far := connect.not_here("Killing Spark")) is not None:
        raise far
    session()
    crash = Crash(sink, batch, book)
    query = start(crash, fresh_folder(checkpoint))
    try:
        with shown(f"batch {batch} to be written, and Spark to be killed", SECONDS):
            ended = quiet_wait(lambda: crash.is_due or not query.isActive, SECONDS)
    except KeyboardInterrupt:
        # Spark cannot stop a query whose sink waits, and the next session() would wait for that.
        crash.let_go()
        query.stop()
        raise
    if crash.is_due:
        crash.kill()
        print(f"Spark was killed: batch {batch} is written, and the checkpoint does not say so.")
        kept = at_death(checkpoint)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder(checkpoint), kept)
        if crash.at_commit:
            (kept / AT_COMMIT).touch()
        return kept
    crash.let_go()
    query.stop()
    fault = query.exception()
    why = reason(fault) if fault is not None else f"it made no batch {batch}" if ended else "it took too long"
    raise LabError(f"The query ended before Spark could be killed ({why.rstrip('.')})", NEXT)


def at_death(checkpoint: str, lab: Lab | None = None) -> Path:
    """Return the folder that holds a checkpoint as Spark's death has left it; `lab` is this notebook's."""
    name = f"{checkpoint}-at-death"
    return folder(name) if lab is None else folder_of(lab, name)


def started_again(start: Start, sink: Sink, checkpoint: str) -> StreamingQuery:
    """Start Spark again, and the query with the checkpoint that is there; return it when it has ended.

    Raises LabError if it fails.
    """
    session()
    query = start(sink, str(folder(checkpoint)))
    with java_there(), shown("the query to end", SECONDS):
        try:
            ended = ended_within(query, SECONDS)
        finally:  # also when the cell is interrupted
            query.stop()
        if not ended:
            raise LabError(f"The query did not read to the end within {SECONDS:g} s, and was stopped", NEXT)
        expect_no_fault(query, "The query failed after Spark's return")
        made = [step["batchId"] for step in query.recentProgress]
    print(f"Spark is back: it went on with batch {min(made, default='none')}, and read to the end.")
    return query


def until_done(
    start: Start, sink: Sink, checkpoint: str, *, kill_in: int, book: Book | None = None
) -> StreamingQuery:
    """Run a query to its end, through one death of Spark in the batch `kill_in`; return its second run.

    The driver dies too: in the second run the sink has in memory what it had before the first one. The names
    of what is gone with it are `forgotten(checkpoint)`.

    With a `book`, Spark dies at the first commit in it. A sink with several commits can be killed between any
    two of them and behind the last one: so the second run gives it this batch twice, as another death, behind
    the last commit, would. It gets the batch three times in all.
    """
    memory = Memory(sink)
    kept = killed(start, sink, checkpoint, batch=kill_in, book=book)
    if gone := memory.changed():
        (kept / FORGOTTEN).write_text("\n".join(gone), encoding="utf-8")
        print(f"What Python had in memory is gone, too: {listed(gone)}.")
    if book is None:
        return started_again(start, memory.again(), checkpoint)
    again = Again(memory.again(), memory.again(), kill_in)
    query = started_again(start, again, checkpoint)
    if again.came:
        print(f"Batch {kill_in} came once more, as after a death behind its last commit.")
    return query


def forgotten(checkpoint: str, lab: Lab | None = None) -> list[str]:
    """Return the names of what a sink had kept in memory when Spark, and the driver with it, died."""
    file = at_death(checkpoint, lab) / FORGOTTEN
    return file.read_text(encoding="utf-8").split() if file.exists() else []


def died_at_commit(checkpoint: str, lab: Lab | None = None) -> bool:
    """Tell whether Spark died at a commit in a book, and not behind the end of the sink."""
    return (at_death(checkpoint, lab) / AT_COMMIT).exists()
