"""Where the names of acts and marks stand above a time line, so that none covers another."""

from collections.abc import Callable
from dataclasses import dataclass

from threebrokers.recorder.data import TapeData
from threebrokers.recorder.ink import LETTER

ROWS, ROW_PX, LONGEST = 4, 16, 40
HARM = ("stop", "kill", "pause", "cut", "stall", "slow")


@dataclass(frozen=True)
class Note:
    """The words of one act or mark (`own`): its line is at `x`, they begin at `left` (px).

    `harm` if it takes something away.
    """

    x: float
    left: float
    y: float
    words: str
    harm: bool
    own: bool


def placed(tape: TapeData, place: Callable[[float], float], width: float) -> tuple[list[Note], int]:
    """Return the notes from left to right, and how many rows they need."""
    acts = [(a.at, f"{a.verb}({a.broker})", a.verb in HARM, False) for a in tape.acts]
    own = [(m.at, f"✎ {m.words}"[:LONGEST], False, True) for m in tape.marks]
    ends, notes = [0.0] * ROWS, list[Note]()
    for at, words, harm, mine in sorted(acts + own):
        x, length = place(at), len(words) * LETTER + 10
        left = min(x + 4, width - length)  # at the right edge words begin to the left of their line
        emptiest = min(range(ROWS), key=ends.__getitem__)
        row = next((row for row, end in enumerate(ends) if end <= left), emptiest)
        ends[row] = left + length
        notes.append(Note(x, left, 18 + row * ROW_PX, words, harm, mine))
    used = max((row + 1 for row, end in enumerate(ends) if end), default=0)
    return notes, used
