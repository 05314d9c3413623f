"""What lab 11's check says of counts of what stands in a log."""

from threebrokers.checks.expect import expect_topic, log_of
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.packing import stored_batches

DUMP = "in_the_log(lab, gapped_topic)"


def judge_gaps(lab: Lab, topic: str, counts: dict[str, int]) -> None:
    """Raise NotYet unless the counts are those of the log's own files and readers."""
    expect_topic(lab, topic, "gapped")
    seen = len(log_of(lab, topic))
    stored = len(read_log(lab.bootstrap, topic, isolation="read_uncommitted"))
    control = [batch for batch in stored_batches(lab, topic) if batch.is_control]
    marks, commits = len(control), sum(batch.mark == "COMMIT" for batch in control)
    wanted = {"records": seen, "aborted": stored - seen, "marks": marks}
    if missing := [name for name in wanted if name not in counts]:
        raise NotYet(
            f"`counts` says nothing of '{missing[0]}'",
            f"it should have {', '.join(wanted)}",
            "the task, above",
        )
    given = {name: counts[name] for name in wanted}
    if given == wanted:
        return
    end = stored + marks
    if given["records"] == end:
        raise NotYet(
            f"`records` is {end}, the end of the log",
            "it should be how many records a reader of committed records gets",
            "read_log, which reads so",
        )
    if given["records"] == stored:
        raise NotYet(
            f"`records` is {stored}: that is everything that a producer has sent, also what it took back",
            "it should be what a reader of committed records gets",
            'the isolation level, "read_committed"',
        )
    if given["records"] != seen:
        raise NotYet(
            f"`records` is {given['records']}",
            "it should be how many records a reader of committed records gets",
            "read_log, which reads so",
        )
    if (given["marks"], given["aborted"]) == (wanted["aborted"], marks):
        raise NotYet(
            f"`aborted` is {marks} and `marks` is {given['marks']}: they stand in each other's place",
            "a mark ends a transaction, and is no record",
            DUMP,
        )
    if given["marks"] == commits != marks:
        raise NotYet(
            f"`marks` is {commits}: these are the marks of commits alone",
            "a transaction that is aborted ends with a mark, too",
            DUMP,
        )
    if given["marks"] == end - seen:
        raise NotYet(
            f"`marks` is {end - seen}, the whole difference between the end of the log and the records",
            "records that were aborted still stand there, and they are no marks",
            DUMP,
        )
    if given["marks"] != marks:
        raise NotYet(
            f"`marks` is {given['marks']}",
            "it should be one for each transaction that has ended, committed or aborted",
            DUMP,
        )
    aborts = marks - commits
    what = ": that is how many transactions were aborted" if given["aborted"] == aborts else ""
    raise NotYet(
        f"`aborted` is {given['aborted']}{what}",
        "it should be how many records stand in the log and are hidden",
        "a reader of each isolation level",
    )
