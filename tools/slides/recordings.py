"""A recording of a lab, small enough to play inside a slide: brokers, what happened, what clients felt."""

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from threebrokers.errors import LabError
from threebrokers.recorder import Recording
from tools import ROOT
from tools.slides.deck import Block, DeckError
from tools.slides.shown import Shown

FOLDER = ROOT / "slides" / "recordings"
ROWS = {"leader": "a leader", "acknowledged": "acknowledged", "delivered": "delivered"}
EVENTS = 3


def path_of(name: str) -> Path:
    """Return the place of the recording of this name."""
    return FOLDER / f"{name}.json.gz"


def player(block: Block) -> Shown:
    """Return a player of a recording. Raises DeckError if it is not there, or holds nothing to play."""
    name = block.names[0] if block.names else ""
    try:
        recording = Recording.load(path_of(name))
        told = recording.show()
        frames = list(_steps(recording))
    except LabError as fault:
        raise DeckError(str(fault)) from fault
    length = recording.data.ended - recording.data.began
    # A script element ends at "</"; nothing else in JSON needs care there.
    data = json.dumps({"length": round(length, 2), "steps": frames}).replace("</", "<\\/")
    strip = "".join(_row(kind, words, recording, length) for kind, words in ROWS.items())
    title = escape(f"A recording of {length:.0f} seconds")
    html = (
        f'<div class="player" role="group" aria-label="{title}">'
        f'<script type="application/json">{data}</script>'
        f'<div class="brokers"></div><ol class="events" aria-label="What happened"></ol>'
        f'<div class="strip">{strip}<i class="now"></i></div>'
        '<div class="keys"><button type="button">▶ play</button>'
        f'<input type="range" min="0" max="{length:.2f}" step="0.05" value="0" '
        'aria-label="Moment, in seconds">'
        "<output>0.0 s</output></div></div>"
    )
    return Shown(html, "\n".join([told.title, *told.said]))


def _steps(recording: Recording) -> Iterator[dict[str, Any]]:
    """Yield what each look shows, where it shows something new; `at` is in seconds from the begin."""
    panel = recording.replay()
    before: dict[str, Any] = {}
    began = recording.data.began
    for position, state in enumerate(sorted(recording.states, key=lambda s: s.at)):
        panel.position = position
        frame = panel.frame
        brokers = [{key: b[key] for key in ("id", "sign", "word", "look", "leads")} for b in frame["brokers"]]
        events = [f"{event['at']} {event['words']}".strip() for event in frame["events"][-EVENTS:]]
        now = {"brokers": brokers, "events": events}
        if now != before:
            yield {"at": round(max(0.0, state.at - began), 2), **now}
        before = now
    panel.close()


def _row(kind: str, words: str, recording: Recording, length: float) -> str:
    """Return a row of the strip: where something came, and the gaps, with their length in words."""
    gaps = [gap for gap in recording.gaps() if gap.kind == kind]
    began = recording.data.began
    boxes = "".join(
        f'<span class="gap" style="left:{100 * (gap.start - began) / length:.2f}%;'
        f'width:{100 * gap.seconds / length:.2f}%">{gap.seconds:.1f} s</span>'
        for gap in gaps[:3]
    )
    return f'<div class="row"><b>{words}</b><span class="track">{boxes}</span></div>'
