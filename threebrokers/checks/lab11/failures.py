"""What lab 11's check says of a function that meets four kinds of failure."""

from threebrokers.lab.attempt import is_earlier
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.scenarios.failing import CASES, Case, Tried

CALM, LATE, REFUSED, REPLACED, LARGE = CASES
LOOP = "where your loop begins: only the commit should be called again"
ERROR = "what the error says of itself: fault.args[0]"


def judge_failures(book: object, tried: Tried) -> None:
    """Raise NotYet unless `book` was tried, and did what is right in each of the five cases."""
    if is_earlier(tried.at, "tried"):
        raise NotYet(
            "`tried` is of an earlier try", "it should be of this function", "tried_in_five_cases(lab, book)"
        )
    if tried.function not in (None, book):
        raise NotYet(
            f"`tried` tells of the function `{getattr(tried.function, '__name__', tried.function)}`",
            "it should be what became of `book` as it stands now",
            "tried_in_five_cases(lab, book)",
        )
    cases = tried.cases
    if not cases:
        raise NotYet(
            "`tried` holds nothing", "it should be what your function did", "tried_in_five_cases(lab, book)"
        )
    _judge_calm(cases[CALM])
    _judge_replaced(cases[REPLACED])
    _judge_refused(cases[REFUSED])
    _judge_late(cases[LATE])
    _judge_large(cases[LARGE])


def _judge_calm(case: Case) -> None:
    if case.raised is not None or case.again:
        raise NotYet(
            f"when {CALM}, your function {case!r}", 'it should return "booked"', "begin, produce, commit"
        )
    if case.seen != 2 or not case.goes_on:
        raise NotYet(
            f"when {CALM}, readers get {case.seen} of the 2 records",
            "both should be committed when the function returns",
            "commit_transaction()",
        )
    _expect_returned(case, CALM, "booked")


def _judge_replaced(case: Case) -> None:
    if case.again:
        raise NotYet(
            f"when {REPLACED}, your function tries again for ever: this error never goes away",
            "the error should reach the caller, and the program end",
            ERROR,
        )
    if case.raised is None:
        raise NotYet(
            f"when {REPLACED}, your function returns {case.returned!r} as if it could go on",
            "the error should reach the caller: `raise` without anything hands it on",
            ERROR,
        )
    if case.seen:
        raise NotYet(
            f"when {REPLACED}, readers get {case.seen} of its 2 records",
            "none should be seen: the other one does this work now",
            "who may use this transactional.id",
        )


def _judge_refused(case: Case) -> None:
    if case.again:
        raise NotYet(
            f"when {REFUSED}, your function tries again for ever: the brokers will refuse it each time",
            'it should give this transaction up, and return "aborted"',
            ERROR,
        )
    if case.raised is not None:
        raise NotYet(
            f"when {REFUSED}, your function raises {case.error or type(case.raised).__name__}, and the "
            "program ends",
            'only this transaction is lost: it should be taken back, and "aborted" returned',
            ERROR,
        )
    if not case.goes_on:
        raise NotYet(
            f"when {REFUSED}, your function returns {case.returned!r} and its producer cannot begin another "
            "transaction",
            "the one that failed should be taken back",
            "abort_transaction()",
        )
    if case.seen:
        raise NotYet(
            f"when {REFUSED}, readers get {case.seen} of the 2 records",
            "they should see none of them",
            "abort_transaction()",
        )
    _expect_returned(case, REFUSED, "aborted")


def _judge_late(case: Case) -> None:
    if case.again:
        raise NotYet(f"when {LATE}, your function tries again for ever", "one more commit is enough", LOOP)
    if case.seen > 2:
        raise NotYet(
            f"when {LATE}, readers get {case.seen} records of 2: they were produced again",
            "the same commit should be called again, and nothing produced",
            LOOP,
        )
    if case.raised is not None:
        raise NotYet(
            f"when {LATE}, your function raises {case.error or type(case.raised).__name__}: nothing is wrong "
            "yet, only its time was over",
            "the same commit should be called again",
            ERROR,
        )
    if case.seen < 2:
        raise NotYet(
            f"when {LATE}, your function returns {case.returned!r}, and readers get {case.seen} of the 2 "
            "records",
            "the same commit should be called again: its records are all there",
            ERROR,
        )
    _expect_returned(case, LATE, "booked")


def _judge_large(case: Case) -> None:
    if case.again:
        raise NotYet(
            f"when {LARGE}, your function tries again for ever: the client will refuse it each time",
            'it should give this transaction up, and return "aborted"',
            "what produce() raises",
        )
    if not case.goes_on:
        raise NotYet(
            f"when {LARGE}, produce() raises an error, and the transaction that was begun is still open",
            "it should be taken back before your function ends",
            "begin_with(), or which of your lines stand in `try`",
        )
    if case.seen:
        raise NotYet(
            f"when {LARGE}, readers get {case.seen} of the 2 records",
            "they should see none of them",
            "abort_transaction()",
        )
    if case.raised is None:
        _expect_returned(case, LARGE, "aborted")


def _expect_returned(case: Case, name: str, wanted: str) -> None:
    if case.returned != wanted:
        raise NotYet(
            f"when {name}, your function returns {case.returned!r}", f"it should be {wanted!r}", "its return"
        )
