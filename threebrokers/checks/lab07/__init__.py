"""The checks of lab 07."""

from collections.abc import Callable
from typing import Annotated, Any

from threebrokers.checks.lab07.handover import judge_handover
from threebrokers.checks.lab07.joining import judge_joining
from threebrokers.checks.lab07.lag import judge_function, judge_lags, judge_worse
from threebrokers.checks.lab07.moved import judge_moved
from threebrokers.checks.lab07.restart import judge_restart
from threebrokers.checks.lab07.share import judge_share
from threebrokers.checks.lab07.slow import judge_slow
from threebrokers.checks.lab07.teams import judge_teams
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Clinic
from threebrokers.recorder import Recording

# A time, which is no whole number, has a message of its own.
Offsets = Annotated[dict[int, float], "a dictionary: a number for each partition"]
Names = Annotated[list[str], "a set or a list of names"]

NO_OFFSETS = {
    "No offset stored": (
        "your function should commit what the member has done: the list that it gets names partitions, and "
        "has no offsets in it",
        "`consumer.commit(…)` in your function: which offsets does it commit?",
    ),
    "positional argument": (
        "your function should take two values: the consumer, and the partitions",
        "`def on_revoke(consumer, partitions):`",
    ),
}
NO_NAMES = {
    "has no attribute 'items'": ("`teams` should be a dictionary: the group of each program", "`teams = …`")
}


@exercise("7.1", "Three workers share the load")
def load_shared(lab: Lab, workers: list[Any]) -> str:
    """Solved if three members of one group did each job once, evenly, and each customer's in order."""
    judge_share(lab, workers)
    return (
        "each of the 300 jobs was done once, each of the three workers had its share, and no customer's jobs "
        "were divided: one group shares out the partitions, and the key says which records must be together."
    )


@exercise("7.2", "Where is the group behind?")
def lag_known(
    lab: Lab,
    lag_of: Callable[..., Any],
    before: Offsets,
    after: Offsets,
    worse: Annotated[list[int], "a list"],
) -> str:
    """Solved if lags and partitions are right, and the function also knows the lags of another group."""
    judge_lags(lab, before, after)
    judge_worse(worse)
    judge_function(lab, lag_of)
    return (
        "the sum of the lags fell, and two partitions got worse all the same; an alarm on the sum, or on the "
        "largest lag, would have missed both."
    )


@exercise("7.3", "A member joins and nobody else stops")
def nobody_stopped(lab: Lab, joined: Recording) -> str:
    """Solved if A and B always held partitions, and D worked while C was still busy."""
    judge_joining(lab, joined)
    return (
        "A and B never stopped, and D began while C was still busy: the coordinator tells each member by "
        "itself what to give up, so nobody waits for all."
    )


@exercise("7.4", "The worker that is thrown out")
def never_thrown_out(lab: Lab, worker: object, clinic: Clinic) -> str:
    """Solved if each scan was examined once and committed, and the worker stayed a member."""
    judge_slow(lab, worker, clinic)
    return (
        "each scan was examined once, and the worker stayed in its group: between two polls it did less work "
        "than max.poll.interval.ms allows. That number is a promise about your code, not about the network."
    )


@exercise("7.5", "Hand over without doing work twice", errors=NO_OFFSETS)
def nothing_twice(lab: Lab, on_revoke: Callable[..., Any]) -> str:
    """Solved if two members did each record once, although partitions changed hands between commits."""
    judge_handover(lab, on_revoke)
    return (
        "each of the 200 records was done once: whoever had to give partitions up committed first, so the "
        "next owner began just behind; and who had nothing to commit went on. "
        "(A member that crashes commits nothing; lab 06 is about that one.)"
    )


@exercise("7.6", "A restart that nobody notices")
def restart_unnoticed(lab: Lab, restarted: Recording) -> str:
    """Solved if A kept its partitions, and no others, while B was away, and B worked again afterwards."""
    judge_restart(lab, restarted)
    return (
        "B came back to its old partitions and A noticed nothing: the group kept B's place for a session. "
        "That is the price, too: if B had died for good, its partitions would have waited as long."
    )


@exercise("7.7", "Who is in which group?", errors=NO_NAMES)
def everybody_sees(lab: Lab, teams: dict[str, str]) -> str:
    """Solved if the two copies of one program shared a group, and each other program had its own."""
    judge_teams(lab, teams)
    return (
        "each application has read every record once: copies of one program share a group, and who needs all "
        "the data has a group of its own. For the topic it makes no difference how many groups there are."
    )


@exercise("7.8", "Which keys move?")
def moved_known(lab: Lab, moved: Names) -> str:
    """Solved if the names are those whose two records lie in different partitions."""
    count = judge_moved(lab, moved)
    return (
        f"{count} of 100 customers went on in another partition, and their old records stayed where they "
        "were: from now on two members may hold records of the same customer. So plan the number of "
        "partitions for some years; each costs files, and time when a leader changes."
    )
