"""The command line: `threebrokers up`, `lab 02`, `status`, … Every foreseeable fault is one sentence."""

from typing import Annotated, Any

import typer
from confluent_kafka import KafkaException
from filelock import Timeout
from rich.console import Console
from typer.core import TyperGroup

from threebrokers import notebooks, open_labs, progress, tables, work
from threebrokers.cluster import Cluster
from threebrokers.doctor import examine, report
from threebrokers.errors import BenchError
from threebrokers.jupyter import end
from threebrokers.sitting import sit

console = Console(highlight=False, markup=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a line; a terminal that was closed meanwhile must not stop the command."""
    try:
        console.print(text)
    except OSError:
        return


class OneSentence(TyperGroup):
    """The commands; a foreseeable fault in one of them ends it with a sentence and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except BenchError as fault:
            sentence = str(fault)
        except KafkaException as fault:
            sentence = (
                f"The brokers did not answer ({fault.args[0]}): `threebrokers doctor` looks for the cause."
            )
        except Timeout as fault:
            sentence = f"Another command holds {fault.lock_file}: wait until it has ended, then try again."
        except OSError as fault:
            sentence = (
                f"{fault.filename or 'A file'} cannot be used ({fault.strerror}): see `threebrokers doctor`."
            )
        Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(f"✗ {sentence}")
        raise typer.Exit(1)


app = typer.Typer(
    cls=OneSentence,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Three real Kafka brokers on this machine, and the labs that use them.",
)

Number = Annotated[str, typer.Argument(metavar="NN", help="A lab's number, for example 02.")]


@app.command()
def lab(
    number: Annotated[str, typer.Argument(metavar="[NN]", envvar="LAB", help="The lab to open.")] = "",
    port: Annotated[str, typer.Option(envvar="PORT", help="JupyterLab's port; a free one unless told.")] = "",
) -> None:
    """Start the brokers and open JupyterLab at a lab; Ctrl-C ends both (BROWSER=none opens no browser)."""
    if port and not port.isdigit():
        raise BenchError(f"PORT={port} is not a port: choose a number from 1024 to 65535, such as 8890.")
    sit(number or None, int(port) if port else None, say)


@app.command()
def up(
    engine: Annotated[str, typer.Option(metavar="NAME", help="What runs them: local or compose.")] = "",
) -> None:
    """Start the brokers that are not running; later commands and notebooks use the same engine."""
    cluster = Cluster(engine_name=engine)
    started = cluster.up(say)
    say(f"Three brokers are up: {cluster.bootstrap}" if started else "All three brokers were up already.")


@app.command()
def down() -> None:
    """Stop all brokers; their data stays."""
    for server in open_labs.orphans():
        end(server)
        say("Ended a JupyterLab whose `make lab` was killed.")
    stopped = ", ".join(map(str, Cluster().down()))
    say(f"Stopped broker {stopped}; the data stays." if stopped else "No broker was running.")


@app.command()
def status() -> None:
    """Show each broker: its state, process, address, memory and how many partitions it leads."""
    console.print(tables.status(Cluster()))


@app.command()
def reset() -> None:
    """Delete all topics, records and groups and start a fresh cluster; notebooks and progress stay."""
    cluster = Cluster()
    say(tables.doomed(cluster))
    cluster.reset(say)
    say("Three brokers are up, with nothing in them.")


@app.command()
def restore(
    number: Number,
    exercise: Annotated[str, typer.Option(metavar="K", help="Only this exercise of the lab.")] = "",
) -> None:
    """Bring back an untouched lab, or one exercise of it; what you had is kept beside it."""
    say(notebooks.restore_exercise(number, exercise) if exercise else work.restore(number))


@app.command(name="progress")
def show_progress() -> None:
    """Show which exercises are solved."""
    titles = {number: notebooks.exercises(path) for number, path in work.labs().items()}
    console.print(tables.progress(titles, progress.solved(), progress.tried(), progress.guesses()))


@app.command()
def why_empty(
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The full name of the consumer's group.")],
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic that it should read.")],
) -> None:
    """Say why a consumer of a group gets nothing from a topic (lab.why_empty knows more)."""
    from threebrokers.why_empty import explain

    say(repr(explain(Cluster(), group, topic)))


@app.command()
def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object, without your name.")] = False,
) -> None:
    """Look for known troubles and name cause and cure of each."""
    findings = examine()
    say(report(findings) if json else tables.findings(findings))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)
