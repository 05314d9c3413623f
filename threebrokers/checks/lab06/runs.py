"""What lab 06's checks say of a worker that was killed twice: by its ledger, and by its database."""

import ast

from threebrokers.checks.lab06.loops import begins_by_database, calls, ends_by_count, ends_when_empty, reads
from threebrokers.checks.lab06.threads import given_to_threads
from threebrokers.lab.attempt import attempt, has_changed_since
from threebrokers.lab.exercise import NotAttempted, NotYet
from threebrokers.lab.scenarios import Ending, Invoices, Killed
from threebrokers.lab.scenarios.lives import ALL_COMMITTED
from threebrokers.ledger.entries import Entry
from threebrokers.ledger.table import ranges
from threebrokers.text import counted

COUNT = 40
KILLS = 2
CRASHED = 13  # the order that was done and not committed at the second kill
PROGRAM = "the cell with `%%program`"
LEAVING = "6.4"  # the exercise whose program is asked to end
GO_ON = "it should go on until it is killed"
BY_DATABASE = "it should begin where `positions` says"
ON_ASSIGN = "`subscribe(…, on_assign=…)`, and `next_offset`"
DEAF = "asked for no topic"  # what the last run's `why` says then


def expect_run(number: str, ending: Ending, call: str) -> None:
    """Raise an Outcome if the runs are of another program or an earlier try, or if there was no worker."""
    run = attempt()
    own = run.program if run else ""
    if own and ending.program not in ("", own):
        raise NotYet(
            f"these runs are those of the program {ending.program!r}",
            f"your program {own!r} should run",
            f"the cell with `{call}`",
        )
    if has_changed_since(ending.at):
        raise NotYet(
            "the program has changed since it was killed",
            "the new one should be killed as well",
            f"the cell with `{call}`: run it again",
        )
    if ending.fault:
        raise NotYet(
            f"the program ended in an error: {ending.fault.rstrip('.')}",
            "it should work until it is killed",
            f"its output, under {PROGRAM}",
        )
    if ending.idle:
        source = program()
        if source is not None and reads(source):
            raise NotYet(
                "the program ended by itself before it was a member of its group",
                "it should go on until it is asked to end" if number == LEAVING else GO_ON,
                "`until_ctrl_c()`, which waits" if number == LEAVING else "its loop: `while True`",
            )
        raise NotAttempted(
            f"Exercise {number} is not attempted yet: write the rest of the program, and run both cells."
        )


def judge_runs(runs: Killed) -> None:
    """Raise an Outcome unless every order was processed, and only the one in work at the kill twice."""
    if "_NO_OFFSET" in runs.fault:
        raise NotYet(
            "commit() without a message commits the position: the position is after the whole batch, and so "
            "the second commit() finds nothing new, and raises _NO_OFFSET",
            "the offset should be that of the order which is done",
            "`commit(message=…)`",
        )
    expect_run("6.1", runs, "killed_twice")
    balance = runs.balance
    if not balance.delivered and not balance.processed:
        raise NotYet(
            "the worker has not got one order", "it should be told which topic it reads", "`subscribe([…])`"
        )
    missing, twice = _orders(balance.unprocessed), _orders(balance.processed_again)
    _expect_the_last(runs, missing)
    _expect_not_ahead(runs.committed)
    if not balance.processed:
        raise NotYet(
            "the worker got orders, and has written no invoice",
            "each order should have one",
            "`orders.work(message)`, and what your program does with errors",
        )
    if missing:
        _expect_reached(runs, missing, runs.committed or 0)
        raise _missing(missing)
    _judge_again(twice, runs.committed)
    _expect_no_end()
    if runs.hurried:
        raise NotYet(
            "the program takes the next order while a commit is under way, and this time each arrived early "
            "enough",
            "a commit should be known to be done before the next order",
            f"`asynchronous=False` of `consumer.commit(…)` in {PROGRAM}",
        )


def _expect_reached(ending: Ending, missing: list[int], offset: int) -> None:
    """Raise NotYet if the program had not come to the last orders when nobody waited for it any more.

    `offset` is what it has written down as the next one: what is before that it had come to.
    """
    last = missing == list(range(missing[0], COUNT))
    if last and offset <= missing[0] and not ending.over and ending.why != ALL_COMMITTED:
        why = f" ({ending.why})" if ending.why else ""
        raise NotYet(
            f"the program had not come to {ranges('order', missing)} when nobody waited any more{why}",
            "it should take each order soon after it has come",
            "how long `consume(…)` waits for a full number, and what else the loop waits for",
        )


def _expect_not_ahead(committed: int | None) -> None:
    """Raise NotYet if the group has committed an offset behind the next order."""
    if committed is not None and committed > COUNT:
        ahead = committed - COUNT
        raise NotYet(
            f"the last order has offset {COUNT - 1}, and the group has committed {committed}: "
            f"{'one' if ahead == 1 else ahead} too large, so that a start may pass over an order",
            "the committed offset should be the next one",
            "the offset that you commit; `commit(message=…)` adds the 1 itself",
        )


def _judge_again(twice: list[int], committed: int | None) -> None:
    """Raise NotYet unless only the order in work at the kill came twice; nothing is missing."""
    again = [number for number in twice if number != CRASHED]
    if COUNT - 1 in twice:
        raise NotYet(
            f"{ranges('order', sorted(set(twice)))} have two invoices, also those that no kill came near",
            "each start should work once on an order",
            "`orders.work(message)`: how often does the loop call it?",
        )
    if committed is None and again:
        raise NotYet(
            "the group has committed nothing, so each start began at order 0",
            "what is done should be committed",
            "`consumer.commit(…)`",
        )
    if committed == COUNT - 1:
        raise NotYet(
            f"the last order has offset {COUNT - 1}, and the group has committed {committed}: one too small, "
            "so each start does one order again",
            "the committed offset should be the next one",
            "the offset that you commit; `commit(message=…)` adds the 1 itself",
        )
    if committed not in (None, COUNT):  # without a commit it may keep its place elsewhere, and do so well
        raise NotYet(
            f"the group has committed offset {committed} in the end",
            f"it should be {COUNT}: all is done",
            "the place of `commit()` in the loop",
        )
    if again:
        raise NotYet(
            f"{counted(len(set(again)), 'order')} ({ranges('order', again)}) {_was(again)} done, and not "
            "committed yet when the program died",
            "only the order in work should come again",
            _between_commits(),
        )


def _between_commits() -> str:
    source = program()
    if source is not None and not calls(source, "commit"):
        return "who commits: the client does so in the background, now and then, and `commit(…)` at once"
    return "how much work lies between two commits, and `asynchronous=False`, with which commit waits"


def _expect_the_last(ending: Ending, missing: list[int]) -> None:
    """Raise NotYet if the program did not come to the last order, because it ended by itself."""
    if ending.over and COUNT - 1 in missing:
        raise NotYet(
            f"the program ended by itself, and {ranges('order', missing)} {_have(missing)} no invoice",
            "it should go on until it is killed, also when nothing has come for a while",
            "its loop: `while True`",
        )


def _expect_no_end() -> None:
    """Raise NotYet if the program would end when no order has come for a moment, or after so many reads."""
    source = program()
    if source is not None and ends_when_empty(source):
        raise NotYet(
            "the program ends as soon as nothing has come for a moment",
            "it should go on: the next order may come at any time",
            "its loop, which should have no end",
        )
    if source is not None and ends_by_count(source):
        raise NotYet(
            "the program reads as often as its `range(…)` says, and then it ends",
            "it should go on: the next order may come at any time",
            "its loop: `while True`",
        )


def judge_invoices(books: Invoices) -> None:
    """Raise an Outcome unless each order has one invoice, and the database knows the next offset."""
    expect_run("6.2", books, "killed_between_statements")
    source = program()
    if not books.counts and (DEAF in books.why or (source and not calls(source, "subscribe", "assign"))):
        raise NotYet(
            "the worker has not got one order: its consumer has asked for no topic",
            "it should be told which topic it reads",
            "`subscribe([orders.topic], on_assign=…)`",
        )
    missing = [number for number in range(COUNT) if not books.counts.get(number)]
    twice = [number for number in range(COUNT) if books.counts.get(number, 0) > 1]
    if not books.counts:
        raise NotYet(
            "nothing stands in the table `invoices`",
            "each invoice should be written, and its transaction committed",
            "`with database: …` around both statements; and the offset at which your program begins",
        )
    if not books.positions:
        raise NotYet(
            "the table `positions` is empty, so the offset is known to the brokers at best, and whoever dies "
            "between invoice and commit writes an invoice twice",
            "invoice and offset should be in one transaction of the database",
            "`INSERT OR REPLACE INTO positions`",
        )
    if len(books.positions) > 1:
        raise NotYet(
            f"`positions` has {len(books.positions)} rows, and the topic has one partition",
            "its one row should be partition 0 and the next offset, and be replaced each time",
            "the order of the two values in `INSERT OR REPLACE INTO positions`",
        )
    _expect_the_last(books, missing)
    if missing:
        _expect_reached(books, missing, sum(books.positions.values()))
    if missing and _begins_by_brokers(source):
        raise NotYet(
            f"{ranges('order', missing)} {_have(missing)} no invoice: the program begins where the brokers "
            "say, and they were told before the invoice was written",
            BY_DATABASE,
            ON_ASSIGN,
        )
    if missing:
        raise NotYet(
            f"{ranges('order', missing)} {_have(missing)} no invoice: the next offset was written before its "
            "invoice was",
            "both should be written together",
            "one `with database:` around both statements",
        )
    if books.killed < KILLS:
        raise NotYet(
            f"the program was killed {counted(books.killed, 'time')}: that happens while it writes the rows "
            "of orders.invoice(message) through orders.database()",
            f"{KILLS} kills should show whether invoice and offset stay together",
            "the row for `invoices`",
        )
    end = sum(books.positions.values())
    _judge_twice(twice, end)
    if end != COUNT:
        raise NotYet(
            f"`positions` says {dict(books.positions)}",
            f"the next offset of the one partition should be {COUNT} when all is done",
            "`message.offset() + 1`",
        )
    _expect_no_end()


def _judge_twice(twice: list[int], end: int) -> None:
    """Raise NotYet if orders have two invoices; `end` is the offset that comes next by the database."""
    if twice and end < COUNT:
        raise NotYet(
            f"{ranges('order', twice)} {_have(twice)} two invoices, and `positions` "
            f"says {end} when {COUNT} orders are done",
            "it should be the next one, after the order that is done",
            "`message.offset() + 1`",
        )
    source = program()
    if 0 in twice and source is not None and _begins_nowhere(source):
        raise NotYet(
            f"{ranges('order', twice)} have two invoices: the function for on_assign gives its offsets to "
            "nobody, so the client begins where the brokers say, at offset 0",
            "it should begin where `positions` says",
            "`consumer.assign(partitions)`, the last line of that function",
        )
    if 0 in twice:
        raise NotYet(
            f"{ranges('order', twice)} have two invoices: after a kill the program began again at offset 0",
            BY_DATABASE,
            ON_ASSIGN,
        )
    if twice and _begins_by_brokers(source):
        raise NotYet(
            f"{ranges('order', twice)} {_have(twice)} two invoices: the program begins where the brokers "
            "say, and died before it had told them",
            BY_DATABASE,
            ON_ASSIGN,
        )
    if twice:
        raise NotYet(
            f"{ranges('order', twice)} {_have(twice)} two invoices: invoice and offset stand in two "
            "transactions, and the program died between them",
            "one transaction should hold both",
            "one `with database:` around both statements",
        )


def _have(numbers: list[int]) -> str:
    return "has" if len(numbers) == 1 else "have"


def _was(numbers: list[int]) -> str:
    return "was" if len(set(numbers)) == 1 else "were"


def _orders(entries: list[Entry]) -> list[int]:
    return [entry.number.sequence for entry in entries]


def _missing(missing: list[int]) -> NotYet:
    """Return what to say of orders without an invoice; why that is so, the program tells."""
    lost = f"{ranges('order', missing)} {_have(missing)} no invoice"
    source = program()
    look = f"the place of `commit()` in {PROGRAM}"
    if source is not None and calls(source, "store_offsets"):
        return NotYet(
            f"{lost}: it stores their offsets before the work is done, and what is stored is committed",
            "the work should come first",
            f"the place of `store_offsets()` in {PROGRAM}",
        )
    if source is not None and given_to_threads(source) and not calls(source, "result"):
        return NotYet(
            f"{lost}: the work is handed to a thread, and what is committed is what was handed over",
            "only what the thread has done should be committed",
            f"who does the work in {PROGRAM}, and how the reader learns that it is done",
        )
    if source is not None and not calls(source, "commit"):
        return NotYet(
            f"{lost}: the client commits by itself, in the background, what it has handed over and you have "
            "not done",
            "your program should commit what is done",
            "`enable.auto.commit`, and `consumer.commit(…)` after the work",
        )
    if source is not None and any(not _names(call) for call in calls(source, "commit")):
        return NotYet(
            f"{lost}: commit() without a message commits the position, and the position is after the whole "
            "batch",
            "the offset should be that of the order which is done",
            "`commit(message=…)`",
        )
    return NotYet(f"{lost}: it commits before the work is done", "the work should come first", look)


def program() -> ast.Module | None:
    """Return the program that this try has written; None if nobody can tell."""
    run = attempt()
    try:
        return ast.parse(run.program_text) if run and run.program else None
    except SyntaxError:
        return None


def _begins_by_brokers(source: ast.Module | None) -> bool:
    """Tell whether a program commits at the brokers, and does not begin where its database says."""
    if source is None or begins_by_database(source):
        return False
    databases = {"database"} | {
        ast.unparse(target)
        for node in ast.walk(source)
        if isinstance(node, ast.Assign) and calls(node, "database", "connect")
        for target in node.targets
    }
    commits = [call.func for call in calls(source, "commit")]
    receivers = [ast.unparse(function.value) for function in commits if isinstance(function, ast.Attribute)]
    return any(receiver not in databases for receiver in receivers)


def _begins_nowhere(source: ast.Module) -> bool:
    """Tell whether a program is called when it gets partitions, and says nowhere where it begins in them."""
    told = [word.arg for node in ast.walk(source) if isinstance(node, ast.Call) for word in node.keywords]
    methods = ("assign", "incremental_assign", "seek")
    return "on_assign" in told and not calls(source, *methods)


def _names(call: ast.Call) -> bool:
    return bool(call.args) or any(word.arg in ("message", "offsets") for word in call.keywords)
