"""One lab, opened: its brokers, its names, its clients and its checks."""

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from confluent_kafka.admin import AdminClient

from threebrokers import clock, paths, progress, theme, waiting
from threebrokers.cluster import Cluster, topics
from threebrokers.errors import LabError
from threebrokers.kafka.access import PREFIX
from threebrokers.kafka.clients import Clients, LabConsumer, LabProducer
from threebrokers.kafka.filled_in import fill_in
from threebrokers.lab.card import Card
from threebrokers.lab.exercise import Check, Solved
from threebrokers.lab.names import Names
from threebrokers.ledger import Ledger, place
from threebrokers.ledger.journal import Book
from threebrokers.notebook import tell
from threebrokers.program import Program, Programs
from threebrokers.verdict import Box
from threebrokers.why_empty import Answer, explain

if TYPE_CHECKING:
    from threebrokers.panel import Panel, Panels
    from threebrokers.predictions import Prediction
    from threebrokers.quiz import Quiz
    from threebrokers.recorder import Recorder
    from threebrokers.report.shown import Shown

T = TypeVar("T")


class Checks:
    """The checks of one lab's exercises, each with the lab as its first argument.

    `load` returns their module. It is called when a check is: a program has a lab and checks nothing.
    """

    def __init__(self, lab: "Lab", load: Callable[[], ModuleType]) -> None:
        self._lab, self._load = lab, load

    def __getattr__(self, name: str) -> Callable[..., Solved]:
        known = {} if name.startswith("_") else self._known()
        if name not in known:
            raise AttributeError(f"lab {self._lab.number} has no check '{name}': it has {', '.join(known)}")
        # Python asks for the function first, then for the names that it is given: they may be missing.
        known[name].expect_judgeable()
        return functools.partial(known[name], self._lab)

    def __dir__(self) -> list[str]:
        return list(self._known())

    def _solved(self) -> list[tuple[str, bool]]:
        """Return the number of each exercise, and whether it is solved."""
        done = progress.solved()
        return [(check.number, check.number in done) for check in self._known().values()]

    def _known(self) -> dict[str, Check]:
        return {name: value for name, value in vars(self._load()).items() if isinstance(value, Check)}


class Lab:
    """What a notebook of the course works with.

    `checks` returns the module of its checks; `opened` tells this opening of the lab from every other;
    `program_name` is that of the program which works with it, "" in a notebook.
    """

    def __init__(
        self,
        number: str,
        cluster: Cluster,
        checks: Callable[[], ModuleType],
        opened: str,
        program_name: str = "",
    ) -> None:
        self.number, self.program_name = number, program_name
        self.cluster = cluster
        self.check = Checks(self, checks)
        self.opened, self.opened_at = opened, clock.now()
        if cluster.access:
            fill_in()
        self._prefix = cluster.access.prefix if cluster.access else os.environ.get(PREFIX, "")
        self._admins: list[AdminClient] = []
        self._clients = Clients(cluster.bootstrap, paths.home())
        self._panels: Panels | None = None
        self._predictions: dict[str, Prediction] = {}
        self.programs = Programs(paths.home(), number, opened)

    def __repr__(self) -> str:
        return str(self._card())

    def _repr_html_(self) -> str:
        return self._card().as_html()

    def _card(self) -> Card:
        try:
            brokers = {number: process.state for number, process in self.cluster.processes().items()}
        except LabError:  # Docker does not answer: whoever looks at the lab is shown the rest
            brokers = {}
        return Card(self.number, brokers, self.check._solved())

    @property
    def bootstrap(self) -> str:
        """The addresses of all three brokers, separated by commas."""
        return self.cluster.bootstrap

    def admin(self) -> AdminClient:
        """A fresh AdminClient: one that has lived through a broker's death can hold old news."""
        # The one before is kept a little longer: a client that is let go takes its open calls with it.
        self._admins = [*self._admins[-1:], self.cluster.admin()]
        return self._admins[-1]

    def topic(self, name: str) -> str:
        """Return the full name of a topic: on a cluster that is shared, your prefix comes first."""
        return f"{self._prefix}{name}"

    def group(self, name: str) -> str:
        """Return the full name of a consumer group: a new group each time the lab is opened."""
        return f"{self._prefix}{name}-{self.opened}"

    def fresh_topic(
        self,
        name: str,
        *,
        partitions: int = 1,
        replication_factor: int = 1,
        config: Mapping[str, str] | None = None,
        brokers: Sequence[int | Sequence[int]] = (),
    ) -> str:
        """Create a topic, after deleting the one of this name if there is one; return its full name.

        `brokers` are those that keep each partition, the first one leading, or such a list for each
        partition; unless told the controller chooses. Waits until every broker knows the leaders of all its
        partitions. Raises LabError with the brokers' own words if they refuse.
        """
        full = self.topic(name)
        topics.delete(self.cluster, [full])
        topics.create(self.cluster, full, partitions, replication_factor, config or {}, brokers)
        return full

    def delete_topic(self, name: str) -> None:
        """Delete the topic of this name if there is one, and wait until every broker has forgotten it."""
        topics.delete(self.cluster, [self.topic(name)])

    def producer(self, config: Mapping[str, Any] | None = None) -> LabProducer:
        """Make a confluent-kafka Producer that knows the brokers; `config` is added to that.

        A producer that the same cell made in an earlier run is thrown away first.
        """
        return self._clients.producer(config)

    def consumer(self, config: Mapping[str, Any]) -> LabConsumer:
        """Make a confluent-kafka Consumer that knows the brokers; `config` is added to that.

        A consumer that the same cell made in an earlier run leaves its group first.
        """
        return self._clients.consumer(config)

    def consumers(self) -> list[LabConsumer]:
        """Return the consumers that this notebook has made and not replaced, oldest first."""
        return self._clients.made(LabConsumer)

    def producers(self) -> list[LabProducer]:
        """Return the producers that this notebook has made and not replaced, oldest first."""
        return self._clients.made(LabProducer)

    def ledger(self, name: str) -> Ledger:
        """Begin a ledger: its clients number every record, and its balance tells what became of each.

        Each call begins afresh. A program of another process goes on with it by `join_ledger`.
        """
        book = Book.fresh(place(paths.home(), self.number, self.topic(name)))
        return Ledger(book, self._clients, self.cluster)

    def join_ledger(self, name: str) -> Ledger:
        """Go on with a ledger that another process has begun. Raises LabError if there is none."""
        book = Book.joined(place(paths.home(), self.number, self.topic(name)))
        return Ledger(book, self._clients, self.cluster)

    def watch(self, *topics: str, group: str | Sequence[str] = (), big: bool = False) -> "Panel":
        """Return a live panel of these topics (all but Kafka's own if none is named) and groups.

        It shows brokers, leaders, replicas, logs and groups twice a second, and has buttons to break them.
        `big` letters can be read across a room. A panel that the same cell made in an earlier run is closed
        first.
        """
        from threebrokers.panel import Panels  # widgets only where one is shown

        self._panels = self._panels or Panels()
        groups = (group,) if isinstance(group, str) else tuple(group)
        return self._panels.watch(self.cluster, topics or None, groups, big)

    def record(self, *topics: str, groups: Sequence[str] = ()) -> "Recorder":
        """Return a recording, for `with lab.record() as recording:`, of these topics and groups (full names).

        Without names: the topics that the lab's clients use meanwhile, and the groups of its consumers.
        """
        from threebrokers.recorder import Recorder  # programs have a lab too, and record nothing

        return Recorder(self.cluster, self._clients, topics, groups)

    def why_empty(self, group: str | LabConsumer, topic: str) -> Answer:
        """Say why a consumer gets nothing from a topic, and what to do; give it a full name of its group.

        Better, give the consumer itself, one of `lab.consumer`: only it knows where it begins to read.
        """
        return explain(self.cluster, group, topic)

    def wait_until(self, look: Callable[[], T | None], *, what: str, within: float = 10) -> T:
        """Return the first true value of `look()`, which is asked again and again for `within` seconds."""
        return waiting.wait_until(
            look, what=what, within=within, otherwise="run the cell again, or see with `threebrokers status`."
        )

    def predict(self, name: str) -> "Prediction":
        """Ask the question of this name ("4.a") and show a button for each of its answers.

        What is behind the chosen answer is shown by `compare()`. Asked again before that, the question keeps
        the chosen answer; after it, the question starts afresh. Raises LabError if there is no such question.
        """
        from threebrokers.predictions import Prediction, question_of  # widgets only where one is shown

        asked = question_of(name)
        earlier = self._predictions.get(name)
        if earlier is None or earlier.truth is not None:
            if earlier:
                earlier.close()
            self._predictions[name] = Prediction(name, asked)
        self._predictions[name].ask()
        return self._predictions[name]

    def quiz(self) -> "Quiz":
        """Return this lab's quiz, with the answers that you gave before; shown, it has buttons."""
        from threebrokers.quiz import Quiz, question  # widgets only where one is shown

        return Quiz(question.read(self.number), kept=True)

    def review(self) -> "Quiz":
        """Return three questions out of the quizzes of earlier labs: those not known, then the oldest."""
        from threebrokers.quiz import Quiz, review  # widgets only where one is shown

        return Quiz(review(self.number, progress.answers()))

    def progress(self) -> "Shown":
        """Return what you have done in all labs, what to repeat, and a button that puts an exercise back."""
        from threebrokers.report import collect, shown  # widgets only where one is shown

        return shown.Shown(collect(), self.number)

    def observed(self, what: str, truth: object, instead: str = "") -> None:
        """Show `what`, a sentence in the past tense, if `truth` is true.

        Raises LabError if not: then the cell shows it in one sentence, and `make repeat` counts it. `instead`
        says what happened, so that somebody can find out why.
        """
        sentence = what.strip().rstrip(".")
        if not truth:
            more = f" ({instead})" if instead else ""
            raise LabError(f"This time it did not happen: {sentence}{more}; run the cell again.")
        tell(Box(theme.GOOD, f"{theme.GOOD.sign} {sentence}.", f"{sentence}."))

    def program(self, name: str, *, restart: bool = False) -> Program:
        """Return the program that a cell `%%program name` has started; `restart` starts it again first.

        Raises LabError if there was no such cell.
        """
        return self.programs.restart(name) if restart else self.programs[name]

    def close(self) -> None:
        """End the programs, close the clients that this lab made, and stop its panels."""
        self.programs.close()
        if self._panels:
            self._panels.end()
        self._clients.close()

    def clear(self, names: Names) -> None:
        """Delete the topics and groups that belong to the lab. Raises KafkaException."""
        topics.delete(self.cluster, [self.topic(name) for name in names.topics])
        topics.delete_groups(self.cluster, tuple(f"{self._prefix}{name}-" for name in names.groups))
