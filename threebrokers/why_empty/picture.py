"""The answer as a picture: the reason, what to do, and a bar for each partition that matters."""

import html
from collections.abc import Iterator, Sequence
from pathlib import Path

from threebrokers.text import as_html, counted, listed, spans
from threebrokers.why_empty.bar import LETTER, NARROWEST, Bar, Label, Stretch, bar
from threebrokers.why_empty.facts import Facts, Place

STYLE = Path(__file__).with_name("answer.css")
SHOWN = 3  # more bars than these are a list, and no picture
HEAD = (
    "partition",
    "leader",
    "log start offset",
    "committed offset",
    "position",
    "last stable offset",
    "high watermark",
    "log end offset",
    "lag",
    "held by",
)


def drawn(text: str, facts: Facts, about: Sequence[int]) -> str:
    """Return the answer as HTML; `about` are the partitions that the reason is about, which come first."""
    reason, dot, advice = text.partition(". ")
    bars, rest = _chosen(facts, about)
    parts = [
        f"<style>{STYLE.read_text('utf-8')}</style>",
        f'<p class="tb-reason"><strong>{as_html(reason + dot.strip())}</strong></p>',
        f"<p>{as_html(advice)}</p>" if advice else "",
        *(_log(facts, place) for place in bars),
        _table(facts, rest) if facts.places else "",
    ]
    return f'<div class="tb-why">{"".join(parts)}</div>'


def _chosen(facts: Facts, about: Sequence[int]) -> tuple[list[Place], list[Place]]:
    """Return the partitions that get a bar, and the others; both in order."""
    mine = {place.id for place in facts.mine}
    by_weight = sorted(facts.places, key=lambda p: (p.id not in about, p.id not in mine, p.id))
    first = {place.id for place in by_weight[:SHOWN]}
    return [p for p in by_weight if p.id in first], [p for p in facts.places if p.id not in first]


def _log(facts: Facts, place: Place) -> str:
    found = bar(facts, place)
    who = f"held by {facts.holder(place)}"
    leads = "no leader" if place.leader is None else f"leader: broker {place.leader}"
    about = f"<b>Partition {place.id}</b> {leads} · {html.escape(who)}"
    if place.committed is None:
        about += " · no committed offset"
    if found is None:
        return f'<div class="tb-log"><p>{about}</p><p class="tb-lost">Nobody tells its offsets.</p></div>'
    keys = "".join(
        f'<span class="tb-key"><i class="tb-{s.kind}"></i>{s.words}</span>' for s in found.stretches
    )
    keys = keys or "no record from its start to its end"
    if not found.to_scale:
        keys += "<span>not drawn to scale</span>"
    return (
        f'<div class="tb-log"><p>{about}</p><p class="tb-keys">{keys}</p>'
        f'<div class="tb-scale" role="img" aria-label="{html.escape(words(place, found))}">'
        f"{_labels(found, reader=True)}{_line(found)}{_labels(found, reader=False)}</div></div>"
    )


def words(place: Place, found: Bar) -> str:
    """Return what a bar shows, in words."""
    marks = ", ".join(mark.words for mark in found.marks)
    said = ", ".join(stretch.words for stretch in found.stretches)
    return f"Partition {place.id}: {marks}{'; ' if said else ''}{said}"


def _labels(found: Bar, *, reader: bool) -> str:
    labels = found.labels(reader=reader)
    rows = max((label.row + 1 for label in labels), default=0)
    side = "reader" if reader else "own"
    shown = "".join(_label(label, found.at(label.mark.offset)) for label in labels)
    return f'<div class="tb-marks tb-{side}" style="--rows:{rows}">{shown}</div>' if labels else ""


def _label(label: Label, x: float) -> str:
    place = f"--x:{x:.2f}%;--row:{label.row};--shift:{-100 * label.shift:.1f}%"
    named = html.escape(" = ".join(label.mark.names))
    return (
        f'<div class="tb-mark" style="{place}"><i></i><span><b>{label.mark.offset:,}</b> {named}</span></div>'
    )


def _line(found: Bar) -> str:
    shown = "".join(_stretch(found, stretch) for stretch in found.stretches)
    return f'<div class="tb-line">{shown}</div>'


def _stretch(found: Bar, stretch: Stretch) -> str:
    """Return a stretch, with its length and its kind inside if there is room for them in any width."""
    left, right = found.at(stretch.start), found.at(stretch.end)
    fits = (len(stretch.words) + 2) * LETTER <= (right - left) / 100 * NARROWEST
    inside = html.escape(stretch.words) if fits else ""
    return (
        f'<span class="tb-{stretch.kind}" style="left:{left:.2f}%;width:{right - left:.2f}%">{inside}</span>'
    )


def _table(facts: Facts, rest: Sequence[Place]) -> str:
    """Return all numbers, folded: the line says which partitions have no bar."""
    more = ""
    if rest:
        ids = listed(spans(place.id for place in rest))
        left = sum(map(facts.waiting, rest))
        more = f"{counted(len(rest), 'more partition')} ({ids}), {left:,} to read there. "
    body = "".join(f"<tr>{''.join(_cells(facts, place))}</tr>" for place in facts.places)
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    return (
        f"<details><summary>{more}All numbers in a table</summary>"
        '<div class="tb-wide" role="group" aria-label="All numbers" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _cells(facts: Facts, place: Place) -> Iterator[str]:
    yield f'<th scope="row">{place.id}</th>'
    numbers = place.leader, place.start, place.committed, place.position, place.stable, place.readable
    for number in (*numbers, place.end, facts.lag(place)):
        yield f"<td>{'–' if number is None else f'{number:,}'}</td>"
    yield f"<td>{html.escape(facts.holder(place))}</td>"
