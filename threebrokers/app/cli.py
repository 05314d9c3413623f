"""The command line: `threebrokers up`, `lab 02`, `status`, … Every foreseeable fault is one sentence.

Each command imports what it needs itself: so every one answers as soon as it can.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import threebrokers
from threebrokers.app import endings, surroundings
from threebrokers.errors import FULL, LabError


def app(words: Sequence[str] | None = None) -> int:
    """Run the command that these words ask for (those of the command line unless told).

    Return its exit code: 1 after a foreseeable fault, which is told in a sentence, or a finding of the
    doctor. Raises SystemExit (2) if there is no such command.
    """
    if words is None:
        surroundings.leave_behind()
    parser = _parser()
    asked = vars(parser.parse_args(words))
    run: Callable[..., int | None] | None = asked.pop("run")
    if run is None:
        parser.print_help()
        return 2
    try:
        with endings.one_interrupt():
            return run(**asked) or 0
    except KeyboardInterrupt:
        fault = f"Interrupted: {_after_interrupt(run)}."
    except Exception as unknown:
        told = _sentence(unknown)
        if told is None:
            raise
        fault = told
    print(f"✗ {fault}", file=sys.stderr)
    return 1


def _after_interrupt(run: Callable[..., int | None]) -> str:
    if run is grade:
        return "what was graded is kept, and the same command, without `--again`, goes on from there"
    return f"`threebrokers {'spark status' if run is spark else 'status'}` shows what runs"


def say(text: str) -> None:
    """Print a line; a terminal that was closed meanwhile must not stop the command."""
    try:
        print(text, flush=True)
    except BrokenPipeError:  # as in `threebrokers doctor | head -1`: Python would try again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        return


def lab(number: str, port: str) -> None:
    """Start the brokers and open JupyterLab at a lab; Ctrl-C ends both (BROWSER=none opens no browser)."""
    from threebrokers.app.make_lab import sit

    if port and not re.fullmatch("[0-9]{1,5}", port):
        raise LabError(f"PORT={port[:9]} cannot be used: choose a number from 1024 to 65535, such as 8890.")
    sit(number or None, int(port) if port else None, say)


def demo(number: str, recorded: bool) -> None:
    """Play a lab's experiment for an audience, on a page; Ctrl-C ends it (BROWSER=none opens no browser)."""
    from threebrokers.app import show_demo

    if number:
        show_demo.show(number, recorded, say)
    else:
        show_demo.listing(say)


def up(engine: str) -> None:
    """Start the brokers that are not running; later commands and notebooks use the same engine."""
    cluster = threebrokers.Cluster(engine_name=engine)
    started = cluster.up(say)
    say(f"Three brokers are up: {cluster.bootstrap}" if started else "All three brokers were up already.")


def down() -> None:
    """Stop all brokers, and the Spark cluster if there is one; the brokers' data stays."""
    from threebrokers.cluster import sessions
    from threebrokers.paths import home

    threebrokers.Cluster().expect_own("no broker of it is stopped here")
    if sessions.orphans(home()):
        from threebrokers.app.make_lab import end_orphans

        end_orphans(say)
    _end_spark(home())
    stopped = ", ".join(map(str, threebrokers.Cluster().down()))
    say(f"Stopped broker {stopped}; the data stays." if stopped else "No broker was running.")


def status() -> None:
    """Show each broker: its state, process, address, memory and how many partitions it leads."""
    from threebrokers import progress
    from threebrokers.app import tables

    tables.show(tables.status(threebrokers.Cluster()))
    for told in progress.lost():
        say(told)


def spark(do: str) -> None:
    """Start, end or show a Spark cluster on this machine: a master, two workers, and Spark Connect."""
    from threebrokers.app import tables
    from threebrokers.cluster import spark_cluster
    from threebrokers.paths import home

    if do == "up":
        say(f"Spark's master and two workers are up: {spark_cluster.up(home(), say)}")
        say(f"Spark Connect is up: {spark_cluster.connect_address(home())}")
    elif do == "down":
        if not _end_spark(home()):
            say("No Spark cluster was running.")
    else:
        addresses = spark_cluster.address(home()), spark_cluster.connect_address(home())
        tables.show(tables.spark(addresses, spark_cluster.nodes(home())))


def reset() -> None:
    """Delete all topics, records and groups and start a fresh cluster; notebooks and progress stay."""
    from threebrokers.app import tables

    cluster = threebrokers.Cluster()
    cluster.expect_own("nothing of it is deleted here")
    say(tables.doomed(cluster))
    cluster.reset(say)
    say("Three brokers are up, with nothing in them.")


def restore(number: str, exercise: str) -> None:
    """Bring back an untouched lab, or one exercise of it; what you had is kept beside it."""
    from threebrokers import workspace
    from threebrokers.restore import restore_exercise

    say(restore_exercise(number, exercise) if exercise else workspace.restore(number))


def progress(number: str, page: bool, export: str, forget: bool, yes: bool) -> None:
    """Show which exercises are solved, in all labs or in one; or write, export or delete your progress."""
    if page or export or forget:
        from threebrokers.app import own_progress

        if page:
            own_progress.show(number, say)
        if export:
            own_progress.export(Path(export), say)
        if forget:
            own_progress.forget(number, say, sure=yes)
        return
    from threebrokers import workspace
    from threebrokers.app import tables
    from threebrokers.progress import guesses, lost, solved, tried
    from threebrokers.restore import outline

    for told in lost():
        say(told)
    if number:
        tables.show(tables.progress_of(outline(workspace.lab(number)), solved(), tried()))
        return
    labs = {number: outline(path) for number, path in workspace.labs().items()}
    tables.show(tables.progress(labs, solved(), tried(), guesses()))


def bundle(file: str) -> None:
    """Write all that a set-up needs into one file, for machines without a network (make lab BUNDLE=FILE)."""
    from threebrokers.app.bundle import write

    write(Path(file), say)


def why_empty(group: str, topic: str) -> None:
    """Say why a consumer of a group gets nothing from a topic (lab.why_empty knows more)."""
    from threebrokers.why_empty import explain

    say(repr(explain(threebrokers.Cluster(), group, topic)))


def doctor(json: bool) -> int:
    """Look for known troubles and name cause and cure of each."""
    from threebrokers.app import tables
    from threebrokers.doctor import examine, report

    findings = examine()
    if json:
        say(report(findings))
    else:
        tables.show(tables.findings(findings))
    return 0 if all(finding.ok for finding in findings) else 1


def grade(
    folder: str,
    number: str,
    seconds: float,
    cell_seconds: float,
    memory: int,
    jobs: int,
    again: bool,
    without_isolation: bool,
) -> None:
    """Grade the notebooks of a folder: each in a box of its own, on fresh brokers, without trusting it."""
    from threebrokers import workspace
    from threebrokers.grading import report
    from threebrokers.grading.grader import Grader, Wish
    from threebrokers.grading.orders import Limits

    if min(seconds, cell_seconds, memory, jobs) <= 0:
        raise LabError("Seconds, memory and jobs are numbers greater than 0")
    limits = Limits(seconds=seconds, cell_seconds=cell_seconds, memory=memory)
    only = number and workspace.lab(number).name[:2]
    wish = Wish(Path(folder).absolute(), limits, only, again, not without_isolation, jobs)
    grader = Grader(wish, workspace.labs(), say)
    grades = grader.grade()
    report.write(wish.folder, grades, grader.titles)
    report.show(grades)


def _end_spark(home: Path) -> bool:
    """End the Spark cluster of this home, and say who ran; tell whether anybody did."""
    from threebrokers.cluster import spark_cluster

    ended = spark_cluster.down(home)
    if ended:
        say(f"Ended Spark's {', '.join(ended)}.")
    return bool(ended)


class _Version(argparse.Action):
    """Print the version and end. (argparse's own would look it up for every command, which takes a while.)"""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        say(f"threebrokers {metadata.version('threebrokers')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    about = "Three real Kafka brokers on this machine, and the labs that use them."
    parser = argparse.ArgumentParser(prog="threebrokers", description=about, allow_abbrev=False)
    parser.add_argument("--version", action=_Version, help="print the version and end")
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def command(run: Callable[..., int | None]) -> argparse.ArgumentParser:
        name, does = run.__name__.replace("_", "-"), run.__doc__
        one = commands.add_parser(name, help=does, description=does, allow_abbrev=False)
        one.set_defaults(run=run)
        return one

    opens = command(lab)
    wanted, port = (os.environ.get(name, "") for name in ("LAB", "PORT"))
    opens.add_argument("number", nargs="?", metavar="NN", default=wanted, help="the lab to open (LAB)")
    opens.add_argument("--port", default=port, help="JupyterLab's port; a free one unless told (PORT)")
    plays = command(demo)
    plays.add_argument(
        "number", nargs="?", metavar="NN", default="", help="the lab; without it: what there is"
    )
    plays.add_argument("--recorded", action="store_true", help="play a recording; no broker is started")
    starts = command(up)
    starts.add_argument("--engine", metavar="NAME", default="", help="what runs them: local or compose")
    command(down)
    command(status)
    clusters = command(spark)
    clusters.add_argument("do", choices=["up", "down", "status"], help="start it, end it, or show who runs")
    command(reset)
    brings_back = command(restore)
    brings_back.add_argument("number", metavar="NN", help="a lab's number, for example 02")
    brings_back.add_argument("--exercise", metavar="K", default="", help="only this exercise of the lab")
    shows = command(progress)
    shows.add_argument(
        "number", nargs="?", metavar="NN", default="", help="only this lab, its exercises named"
    )
    shows.add_argument("--page", action="store_true", help="write it as a page, with what to repeat")
    shows.add_argument("--export", metavar="FILE", default="", help="write all of it to a file of JSON")
    shows.add_argument("--forget", action="store_true", help="delete it, of all labs or of NN; asks first")
    shows.add_argument("--yes", action="store_true", help="do not ask")
    packs = command(bundle)
    packs.add_argument("file", metavar="FILE", help="the file to write: about 800 MB")
    explains = command(why_empty)
    explains.add_argument("group", metavar="GROUP", help="the full name of the consumer's group")
    explains.add_argument("topic", metavar="TOPIC", help="the topic that it should read")
    _offer_grade(command(grade))
    looks = command(doctor)
    looks.add_argument("--json", action="store_true", help="print one JSON object, without your name")
    return parser


def _offer_grade(grades: argparse.ArgumentParser) -> None:
    grades.add_argument(
        "folder", metavar="FOLDER", help="where the hand-ins lie, one folder a learner or none"
    )
    grades.add_argument("--lab", dest="number", metavar="NN", default="", help="only hand-ins of this lab")
    for name, kind, usual, what in (
        ("seconds", float, 900, "for a whole hand-in"),
        ("cell-seconds", float, 180, "for one of its cells"),
        ("memory", int, 3000, "MB for its programs together; the brokers are not counted"),
        ("jobs", int, 1, "hand-ins that are graded side by side"),
    ):
        grades.add_argument(
            f"--{name}", type=kind, metavar="N", default=usual, help=f"{what} ({usual} unless told)"
        )
    grades.add_argument("--again", action="store_true", help="grade anew what is graded already")
    grades.add_argument(
        "--without-isolation",
        action="store_true",
        help="where the system allows no box: only for code you trust",
    )


def _sentence(fault: Exception) -> str | None:
    """Say a foreseeable fault in one sentence; None if it is another one."""
    from confluent_kafka import KafkaException
    from filelock import Timeout

    from threebrokers.kafka import rights

    match fault:
        case LabError():
            return str(fault)
        case KafkaException() if refused := rights.of_fault(fault):
            return str(refused)
        case KafkaException():
            return f"The brokers did not answer ({fault.args[0]}): `threebrokers doctor` looks for the cause."
        case Timeout():
            return f"Another command holds {fault.lock_file}: wait until it has ended, then try again."
        case OSError(errno=number) if number in FULL:
            return (
                f"The disk is full ({fault.filename or fault.strerror}): free some space, or set "
                "THREEBROKERS_HOME and THREEBROKERS_CACHE to folders on another disk."
            )
        case OSError():
            what = fault.filename or "A file"
            return f"{what} cannot be used ({fault.strerror or fault}): see `threebrokers doctor`."
        case _:
            return None
