"""What an act tells while it goes on."""

import msgspec


class Line(msgspec.Struct, frozen=True):
    """One line: a sentence ("doing"), something measured ("fact"), or the answer that was measured ("truth").

    Of a fact `words` say what `value` is; of a truth `words` name the question, and `value` is its answer.
    """

    kind: str
    words: str
    value: str = ""


def doing(words: str) -> Line:
    """Say what is done, or waited for."""
    return Line("doing", words)


def fact(words: str, value: object) -> Line:
    """Say what was measured; a float is told in seconds."""
    return Line("fact", words, f"{value:.1f} s" if isinstance(value, float) else str(value))


def truth(question: str, answer: str) -> Line:
    """Say which answer to a question was measured."""
    return Line("truth", question, answer)
