"""Pictures that a deck names: the course's diagrams, ways between boxes, bars, tables, code."""

import re
from collections.abc import Callable, Iterator
from html import escape

from threebrokers import diagrams
from threebrokers.diagrams.grid import arrow, box, cell
from threebrokers.diagrams.grid import table as grid
from threebrokers.diagrams.picture import Picture
from threebrokers.kafka.state import PartitionState, TopicState
from tools.slides.deck import Block, DeckError
from tools.slides.shown import Shown, inline, table

WAY = re.compile(r"\s*-(?:\((?P<words>[^)]*)\)-)?>\s*|\s+(?P<beside>\+)\s+")
OWN = re.compile(r"\[(?P<broker>\d)\]\s*")


def figure(picture: Picture) -> Shown:
    """Return one of the course's pictures for a slide."""
    return drawn(picture.title, picture.drawing, picture.words)


def drawn(title: str, drawing: str, words: str) -> Shown:
    """Return HTML in the dress of the course's pictures, and its words."""
    label = escape(title)
    html = f'<div class="tb-picture" role="group" aria-label="{label}">{drawing}</div>'
    return Shown(html, f"{title}\n{words}")


def picture(block: Block) -> Shown:
    """Return a diagram of the course. Raises DeckError if none has this name, or its settings are others."""
    name, *_ = [*block.names, ""]
    if name not in DIAGRAMS:
        raise DeckError(f"There is no picture {name!r}; there are {', '.join(DIAGRAMS)}.")
    try:
        return figure(DIAGRAMS[name](block.settings))
    except (KeyError, ValueError, TypeError) as fault:
        raise DeckError(f"The picture {name!r} cannot be drawn with these settings: {fault}.") from fault


def flow(block: Block) -> Shown:
    """Return rows of boxes with arrows between them. Raises DeckError without a line `words:`."""
    lines, words = _with_words(block)
    if not words:
        raise DeckError("A flow needs a last line `words: …`, which says the same as the picture.")
    rows = [list(_way(line)) for line in lines]
    widest = max(len(row) for row in rows)
    filled = [row + [cell("")] * (widest - len(row)) for row in rows]
    return drawn(words.split(". ")[0].rstrip("."), grid(filled), words)


def bars(block: Block) -> Shown:
    """Return numbers as bars, one for each line `name: number`. Raises DeckError for other lines."""
    lines, words = _with_words(block)
    unit = block.settings.get("unit", "")
    found = [re.fullmatch(r"(.+): *([\d.,]+)", line) for line in lines]
    if not all(found) or not found:
        raise DeckError("A line of bars is `name: number`, and another one was found.")
    values = [(m[1], m[2], float(m[2].replace(",", ""))) for m in found if m]
    most = max(value for *_, value in values) or 1
    rows = "".join(
        f'<tr><th scope="row">{inline(name)}</th><td><span style="width:{78 * value / most:.1f}%"></span> '
        f"{shown} {escape(unit)}</td></tr>"
        for name, shown, value in values
    )
    told = words or "; ".join(f"{name}: {shown} {unit}".strip() for name, shown, _ in values) + "."
    return Shown(f'<table class="bars"><tbody>{rows}</tbody></table>', told.replace("`", ""))


def rows(block: Block) -> Shown:
    """Return a table. Raises DeckError if a row has another number of cells than the heads."""
    lines = [
        [part.strip() for part in line.strip().strip("|").split("|")]
        for line in block.body.splitlines()
        if line.strip() and not re.fullmatch(r"[|\s:-]+", line)
    ]
    if len(lines) < 2 or any(len(line) != len(lines[0]) for line in lines):
        raise DeckError("A table has heads and rows `| a | b |` with as many cells as heads.")
    return Shown(table(lines[0], lines[1:]))


def code(block: Block) -> Shown:
    """Return text as it stands."""
    return Shown(f"<pre><code>{escape(block.body)}</code></pre>")


def _with_words(block: Block) -> tuple[list[str], str]:
    lines = [line for line in block.body.splitlines() if line.strip()]
    if lines and lines[-1].startswith("words:"):
        return lines[:-1], lines[-1].removeprefix("words:").strip()
    return lines, ""


def _way(line: str) -> Iterator[str]:
    at = 0
    for found in WAY.finditer(line):
        before = line[at : found.start()].strip()
        yield cell(_stop(before))
        # An arrow stands only behind a box: in an empty place it would come from nowhere.
        yield cell(arrow(found["words"] or "") if before and not found["beside"] else "")
        at = found.end()
    yield cell(_stop(line[at:].strip()))


def _stop(text: str) -> str:
    if not text:
        return ""
    own = OWN.match(text)
    broker = int(own["broker"]) if own else None
    words = text[own.end() :] if own else text
    if words.startswith("!"):
        return box(*words[1:].split(" / "), kind="next", broker=broker)
    return box(*words.split(" / "), kind="sync card" if own else "card", broker=broker)


def numbers(text: str) -> list[int]:
    """Return the numbers of a text like "1,3-5"."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _topic(settings: dict[str, str]) -> TopicState:
    """Return a topic whose leaders are spread; brokers in `without` lead nothing and are not in sync."""
    brokers = numbers(settings.get("brokers", "1,2,3"))
    away = numbers(settings.get("without", ""))
    name, replicas = settings.get("name", "orders"), int(settings.get("replicas", str(len(brokers))))
    partitions = []
    for number in range(int(settings.get("partitions", "3"))):
        own = tuple(brokers[(number + step) % len(brokers)] for step in range(replicas))
        alive = tuple(broker for broker in own if broker not in away)
        leader = alive[0] if alive else None
        partitions.append(
            PartitionState(name, number, leader, len(away), own, tuple(sorted(alive)) or own[:1])
        )
    return TopicState(name, tuple(partitions))


def _path(settings: dict[str, str]) -> Picture:
    return diagrams.message_path(
        _topic(settings),
        producers=settings.get("producers", "producer").split(","),
        consumers=settings.get("consumers", "consumer").split(","),
    )


def _log(settings: dict[str, str]) -> Picture:
    logs = {int(name): numbers(offsets) for name, offsets in settings.items() if name.isdigit()}
    marks = [part.split(":") for part in settings.get("next", "").split(",") if part]
    reads_next = {int(partition): int(offset) for partition, offset in marks}
    return diagrams.log_picture(logs, reads_next=reads_next or None)


def _readers(settings: dict[str, str]) -> Picture:
    readers = {name: int(offset) for name, offset in settings.items() if name != "end"}
    return diagrams.readers_picture(int(settings["end"]), readers)


DIAGRAMS: dict[str, Callable[[dict[str, str]], Picture]] = {
    "topic": lambda settings: diagrams.topic_picture(
        _topic(settings), numbers(settings.get("brokers", "1,2,3"))
    ),
    "path": _path,
    "log": _log,
    "readers": _readers,
    "reading": lambda settings: diagrams.reading_picture(settings["topic"], int(settings["partitions"])),
}
