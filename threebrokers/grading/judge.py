"""Judges one exercise in a process of its own, which the hand-in has never touched.

It is given the check's name and plain values on standard input, and says on standard output, as one line of
JSON, what the check says. It asks the brokers itself. What a hand-in can still do is to answer wrongly.
"""

import json
import sys
from contextlib import redirect_stdout

import msgspec

from threebrokers.cells import CellRun
from threebrokers.errors import LabError
from threebrokers.grading import course, seal
from threebrokers.grading.orders import NOT_ATTEMPTED, NOT_YET, SOLVED, TROUBLE, Question
from threebrokers.lab.attempt import judged
from threebrokers.lab.opening import join_lab
from threebrokers.lab.outcomes import NotAttempted, Outcome


def judge(asked: Question) -> tuple[str, str]:
    """Return the verdict and its sentence."""
    lab = join_lab(asked.lab, asked.opened)
    lab.opened_at = asked.opened_at
    try:
        answers = [seal.decoded(one) for one in json.loads(asked.answers)]
    except (ValueError, KeyError, TypeError) as fault:
        return TROUBLE, f"Its answers cannot be read ({fault})."
    run = CellRun(asked.cell, asked.source, asked.began, asked.ended)
    try:
        with judged(run):
            solved = course.checks(asked.lab)[asked.function](lab, *answers)
    except NotAttempted as said:
        return NOT_ATTEMPTED, str(said.args[0])
    except Outcome as said:
        return NOT_YET, str(said.args[0])
    except LabError as said:
        return TROUBLE, str(said)
    finally:
        lab.close()
    return SOLVED, solved.reason


def main() -> None:
    """Read the question, and print the answer as the last line."""
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=Question)
    with redirect_stdout(sys.stderr):
        answer = judge(asked)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
