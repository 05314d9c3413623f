"""The checks of lab 06."""

from typing import Annotated, Any

from threebrokers.checks.expect import TopicName
from threebrokers.checks.expect_clients import expect_consumer
from threebrokers.checks.lab06.commits import judge_commits
from threebrokers.checks.lab06.dead_letters import judge_dead_letters
from threebrokers.checks.lab06.heard import judge_heard
from threebrokers.checks.lab06.leaving import judge_leaving
from threebrokers.checks.lab06.replay import judge_replay
from threebrokers.checks.lab06.runs import judge_invoices, judge_runs
from threebrokers.lab.exercise import exercise
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import Departure, Invoices, Killed

Runs = Annotated[Killed, "what killed_twice(…) returns"]
Books = Annotated[Invoices, "what killed_between_statements(…) returns"]
Left = Annotated[Departure, "what ended_by_ctrl_c(…) returns"]
COMMITS = {
    "Commit failed: Local: Timed out": (
        "60 commits or fewer should do: of many that are on their way at once the last one waits long",
        "the line that commits in the loop: how often does it run?",
    )
}


@exercise("6.1", "Lose no order")
def no_order_lost(lab: Lab, runs: Runs) -> str:
    """Solved if each order was processed, and at most the one in work at the second kill was so twice."""
    judge_runs(runs)
    return (
        "every order has an invoice, and only the one in work when the program died has two: what is "
        "committed is never ahead of the work, so what was not committed comes again."
    )


@exercise("6.2", "Nothing lost and nothing twice")
def nothing_twice(lab: Lab, books: Books) -> str:
    """Solved if each order has one invoice in the database, and the next offset stands beside them."""
    judge_invoices(books)
    return (
        "each of the 40 orders has one invoice, although the program died between two statements, twice: "
        "invoice and offset were written together or not at all."
    )


@exercise("6.3", "Set the bad ones aside")
def set_aside(lab: Lab, dead: TopicName, cashiers: dict[Any, Any], postman: object) -> str:
    """Solved if all that can be booked is booked once, the others are dead letters, and all is committed."""
    judge_dead_letters(lab, dead, cashiers, postman)
    return (
        "22 payments are booked, and the other two wait in the dead-letter topic as they came, with the "
        "reason and the place: nothing is lost, and nothing stands still."
    )


@exercise("6.4", "Leave at once")
def left_at_once(lab: Lab, departure: Left) -> str:
    """Solved if the group was empty a second after Ctrl-C, and the program had ended."""
    judge_leaving(departure)
    return (
        "the thread that owns the consumer closed it, so the group knew at once; nobody had to wait until "
        "the session was over."
    )


@exercise("6.5", "Fast and safe", errors=COMMITS)
def few_commits(lab: Lab, group: str, visits: TopicName, visitor: object) -> str:
    """Solved if the group has committed all, in 60 commits or fewer, never more than 500 records apart."""
    judge_commits(lab, group, visits, expect_consumer("visitor", visitor))
    return "the commits are few, a crash costs at most 500 records again, and the last one was waited for."


@exercise("6.6", "Replay the last ten minutes")
def replayed_since(lab: Lab, webclicks: TopicName, since: int, replayed: list[Any]) -> str:
    """Solved if the list holds every record that is as young as `since`, each once, and no other."""
    judge_replay(lab, webclicks, since, replayed)
    return (
        "these are the records since then, of every partition; the log still has them, so a wrong result is "
        "never final."
    )


@exercise("6.7", "Three that get nothing")
def heard_again(lab: Lab, headlines: TopicName, silent: dict[str, Any], got: dict[str, Any]) -> str:
    """Solved if each of the three groups has read the five records, and committed that."""
    judge_heard(lab, headlines, silent, got)
    return (
        "a pattern that was a name, an offset that is not there any more, a member that nobody polls: three "
        "causes, and in all three the only sign was silence."
    )
