"""The panel as a picture that needs no kernel: for notebooks that were saved, and for pages.

It has the panel's own style sheet and names of classes, so it looks as the panel looks. The triangle of links
is told in words: a drawing would be removed from a page that is not trusted. Words that only ears
or narrow windows need are left out: a viewer that takes style sheets away would show them.
"""

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threebrokers.diagrams.picture import in_words
from threebrokers.panel.frame import Frame
from threebrokers.panel.links import is_broken
from threebrokers.theme import NO_LEADER, QUORUM_LEADER

TITLE = "The cluster, as it was when this cell ran"
STYLE = Path(__file__).with_name("widget.css")
# JupyterLab's rules for tables on a page weigh more than the panel's rules, unless these name the still, too.
PANEL, STILL = ".tb ", ".tb.tb-still.tb-still "
# All lines of a still can be seen at once: nobody scrolls in it.
OWN_STYLE = (
    f"{STILL}.tb-events {{ height: auto; }} {STILL}.tb-note {{ min-height: 0; }} "
    f"{STILL}.tb-brokers {{ margin-bottom: 8px; }} {STILL}.tb-links-told {{ margin: 0 2px 8px; }}"
)
EVENTS = 5
OFFSETS = (
    "readable: consumers may read what is before this offset (the high watermark); "
    "end: the next record gets this offset (the log end offset)"
)


@dataclass(frozen=True)
class Still:
    """What a frame shows, as HTML; `words` is the same in lines of text."""

    words: str
    drawing: str

    def __str__(self) -> str:
        return f"{TITLE}\n{self.words}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        style = f"<style>{STYLE.read_text('utf-8').replace(PANEL, STILL)}{OWN_STYLE}</style>"
        return {"text/html": f"{style}{self.drawing}{in_words(self.words)}", "text/plain": str(self)}


def still(frame: Frame) -> Still:
    """Draw a frame: brokers, what happened last, and a row for each partition that the frame holds."""
    parts = [
        _tag("div", _tag("b", _text(TITLE)), "title"),
        _tag("div", _all(map(_broker, frame["brokers"])), "brokers"),
        _tag("p", _text(frame["alarm"]), "notice tb-alarm") if frame["alarm"] else "",
        _links(frame["links"]),
        _events(frame["events"][-EVENTS:]),
        _tag("p", _text(frame["sums"]), "sums") if frame.get("sums") else "",
        *(_topic(topic, frame) for topic in frame["topics"]),
        _tag("p", _text(OFFSETS), "legend") if any(topic["rows"] for topic in frame["topics"]) else "",
        *map(_group, frame["groups"]),
    ]
    drawing = f'<div class="tb tb-still" role="group" aria-label="{TITLE}">{_all(parts)}</div>'
    return Still(frame["words"], drawing)


def _links(links: dict[str, Any]) -> str:
    told = f"{links['words'].capitalize()}."
    return _tag("p", _text(told), "links-told") if is_broken(links["sides"]) else ""


def _broker(broker: dict[str, Any]) -> str:
    head = (
        _tag("b", f"Broker {broker['id']}")
        + " "
        + _tag("b", _text(f"{broker['sign']} {broker['word']}"), "state")
    )
    notes = filter(None, [broker["busy"] or broker["note"], str(QUORUM_LEADER) if broker["quorum"] else ""])
    lines = [
        _tag("div", head, "head"),
        _tag("div", _text(f"{broker['address']} · {broker['memory']}"), "line"),
        _tag("div", _text(broker["leads"]), "line"),
        _tag("div", _text("; ".join(notes)), "note"),
    ]
    return _tag("div", _all(lines), f"broker tb-b{broker['id']} tb-{broker['look']}")


def _events(events: Iterable[dict[str, str]]) -> str:
    lines = [
        _tag(
            "li",
            f"{_tag('span', _text(event['at'] or '″'), 'at')} {_tag('span', _text(event['words']))}",
            event["kind"],
        )
        for event in events
    ]
    return _tag("div", _tag("ol", _all(lines)), "events") if lines else ""


def _topic(topic: dict[str, Any], frame: Frame) -> str:
    sign = f" {NO_LEADER.sign}" if topic["trouble"] else ""
    summary = _tag("span", _text(f"{sign} {topic['summary']}"), "soft")
    line = _tag("div", f"{_tag('b', _text(topic['name']))}{summary}", "fold tb-trouble" if sign else "fold")
    if not topic["rows"]:
        return _tag("div", line, "topic")
    heads = ["partition", *(f"broker {broker['id']}" for broker in frame["brokers"]), "in sync"]
    low, high = topic["scale"]
    axis = " ".join(_tag("span", _text(words)) for words in (low, "log", high))
    log = _tag("th", _tag("span", axis, "axis") + _tag("i", "", "ticks"), "log", scope="col")
    marks = [("number tb-readable", "readable"), ("number tb-end", "end")]
    if frame["groups"]:
        marks += [("number tb-committed", "read"), ("number", "lag"), ("reader", "by")]
    head = [*map(_column, heads), log, *(_column(words, name) for name, words in marks)]
    rows = (_tag("tr", _all(_partition(row, frame))) for row in topic["rows"])
    whole = _tag("thead", _tag("tr", _all(head))) + _tag("tbody", _all(rows))
    return _tag("div", line + _tag("table", whole), "topic")


def _column(words: str, name: str = "") -> str:
    return _tag("th", _text(words), name, scope="col")


def _partition(row: dict[str, Any], frame: Frame) -> Iterator[str]:
    sign = f" {NO_LEADER.sign}" if row["leaderless"] else ""
    yield _tag("th", f"{row['id']}{sign}", scope="row")
    for copy, broker in zip(row["copies"], frame["brokers"], strict=True):
        yield _tag("td", _copy(copy, broker["id"]), f"b{broker['id']}")
    yield _tag("td", f"{row['isr'][0]} of {row['isr'][1]}", "short" if row["short"] else "")
    yield _tag("td", _bar(row["marks"]), "log")
    yield _tag("td", row["numbers"]["readable"], "number")
    yield _tag("td", row["numbers"]["end"], "number tb-end")
    if frame["groups"]:
        yield _tag("td", row["numbers"]["committed"], "number tb-committed")
        yield _tag("td", row["lag"], "number")
        yield _tag("td", _text(row["reader"] or "–"), "reader")


def _copy(copy: dict[str, Any], broker: int) -> str:
    behind = f" −{copy['behind']}" if copy["behind"] else ""
    # A number says more than the word beside the sign, and both have no room.
    word = "" if behind and copy["kind"] == "late" else f" {copy['word']}"
    title = f"Broker {broker} {copy['sentence']}"
    return _tag("span", _text(f"{copy['sign']}{word}{behind}"), f"copy tb-{copy['kind']}", title=title)


def _bar(marks: dict[str, float | None]) -> str:
    start, committed, readable = marks["start"], marks["committed"], marks["readable"]
    last = readable if marks["end"] is None else marks["end"]
    pieces = [
        _piece(name, begin, end)
        for name, begin, end in (
            ("kept", start, last),
            ("done", start, committed),
            ("unread", readable, last),
        )
        if begin is not None and end is not None and end > begin
    ]
    tick = "" if readable is None else _tag("span", "", "tick", style=f"left:{readable}%")
    return _tag("span", _all(pieces) + tick, "bar")


def _piece(name: str, begin: float, end: float) -> str:
    return _tag("span", "", name, style=f"left:{begin}%;width:{end - begin:.1f}%")


def _group(group: dict[str, Any]) -> str:
    line = _tag(
        "p", f"group {_tag('b', _text(group['name']))} {_tag('span', _text(group['summary']), 'soft')}"
    )
    if not group["members"]:
        return _tag("div", line, "group")
    return _tag("div", line + _tag("ul", _all(map(_member, group["members"]))), "group")


def _member(member: dict[str, str]) -> str:
    reads = "reads nothing" if member["share"] == "nothing" else member["share"]
    lag = "" if member["lag"] == "–" else _tag("span", f" lag {member['lag']}", "soft")
    return _tag("li", f"{_tag('b', _text(member['name']))} {_text(reads)}{lag}")


def _tag(name: str, inside: str, kind: str = "", **more: str) -> str:
    """Return an element around HTML; `kind` is the class without the prefix of the course's."""
    given = ({"class": f"tb-{kind}"} if kind else {}) | more
    told = "".join(f' {key}="{html.escape(value)}"' for key, value in given.items())
    return f"<{name}{told}>{inside}</{name}>"


def _text(words: str) -> str:
    return html.escape(words)


def _all(parts: Iterable[str]) -> str:
    return "".join(parts)
