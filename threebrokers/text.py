"""Small texts that many sentences need: lists, counts, durations, the line that says what went wrong."""

import html
import re
from collections.abc import Iterable, Sequence


def listed(things: Iterable[object]) -> str:
    """Return "1", "1 and 2", "1, 2 and 3"; "none" for nothing."""
    words = [str(thing) for thing in things]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"


def quoted(names: Iterable[str]) -> str:
    """Return "'a', 'b'"."""
    return ", ".join(f"'{name}'" for name in names)


def shortened(names: Sequence[str], most: int = 3) -> str:
    """Return the first of these names, and a sign if there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return for example "1 record" or "20 records"; `plural` is said if it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def numbered(noun: str, numbers: Sequence[object]) -> str:
    """Return for example "broker 1", "brokers 1 and 2", "partitions 4–9"."""
    one = len(numbers) == 1 and isinstance(numbers[0], int)
    return f"{noun if one else f'{noun}s'} {listed(numbers)}"


def spans(numbers: Iterable[int]) -> list[int | str]:
    """Return these numbers, which are in order, with three or more in a row as for example "4–9"."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return [found for row in rows for found in (row if len(row) < 3 else [f"{row[0]}–{row[-1]}"])]


def have(things: Sequence[object]) -> str:
    """Return "has" for one thing, else "have"."""
    return "has" if len(things) == 1 else "have"


def duration(seconds: float) -> str:
    """Return "4.1 s", "42 s", or "3 min 10 s"."""
    if seconds < 10:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"


# What nobody writes but in code: flush(), F.window(…), acks=all, retention.ms. "record(s)" is none, nor is
# "e.g.".
CODE = re.compile(
    r"`([^`\n]+)`"
    r"|(\b(?:[A-Z]\.)?[A-Za-z_]\w+(?:\.\w+)*\((?!s\))(?:[^()`\n]|\([^()`\n]*\))*\)"
    r"|\b[a-z]{2,}(?:[._][a-z]+)*=(?:[\w-]+|…)"
    r"|(?<![/.])\b[a-z]{2,}(?:\.[a-z]+)+\b)"
)


def as_html(text: str) -> str:
    """Return a plain text as HTML: what stands between backticks, calls and settings are set as code."""
    return CODE.sub(lambda found: f"<code>{found[1] or found[2]}</code>", html.escape(text))


def last_line(text: str) -> str:
    """Return the last line that says anything, or nothing."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
