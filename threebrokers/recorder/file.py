"""A recording as JSON: only what changed from one sight to the next, times in whole ms."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from threebrokers.kafka.state import Act
from threebrokers.recorder.data import Burst, Flow, Mark, Missed, TapeData
from threebrokers.recorder.gaps import Gap
from threebrokers.recorder.rows import changes, rows, sight_of

FORMAT = "threebrokers tape 1"
ABOUT = {
    "times": "whole ms since `began`, which is in s since 1970",
    "seen": "what was told by brokers, clients and the learner",
    "concluded": "what follows from it; computed again when the tape is loaded",
    "sights": "[ms since the sight before, {what changed: its new value, null if it went away}]",
    "missed": "[ms, ms, words]: from when to when nobody looked at the brokers, and why",
    "flows": "[client, kind, topic, partition, bursts]; for each burst: ms since the one before, ms, records",
}


def dumps(tape: TapeData, concluded: Sequence[Gap]) -> str:
    """Return the recording as JSON, with the gaps that were concluded from it apart."""

    def ms(at: float) -> int:
        return round((at - tape.began) * 1000)

    sights: list[Any] = []
    before: dict[str, Any] = {}
    at = 0
    for sight in tape.sights:
        now = rows(sight, tape.began)
        sights.append([ms(sight.at) - at, changes(before, now)])
        before, at = now, ms(sight.at)
    seen = {
        "sights": sights,
        "acts": [[ms(act.at), act.verb, act.broker, act.more] for act in tape.acts],
        "marks": [[ms(mark.at), mark.words] for mark in tape.marks],
        "missed": [[ms(missed.start), ms(missed.end), missed.words] for missed in tape.missed],
        "flows": [[f.client, f.kind, f.topic, f.partition, _bursts(f, tape.began)] for f in tape.flows],
    }
    gaps = [
        asdict(gap) | {"start": ms(gap.start), "after": ms(gap.after.at) if gap.after else None}
        for gap in concluded
    ]
    whole = {"format": FORMAT, "about": ABOUT, "began": tape.began, "ended": ms(tape.ended)}
    return json.dumps(whole | {"seen": seen, "concluded": {"gaps": gaps}}, separators=(",", ":"))


def loads(text: str) -> TapeData:
    """Return the recording. Raises ValueError, KeyError or TypeError if the text is not one."""
    whole = json.loads(text)
    if whole["format"] != FORMAT:
        raise ValueError(f"its format is {whole['format']!r}, and '{FORMAT}' was expected")
    began, seen = whole["began"], whole["seen"]

    def moment(ms: int) -> float:
        return round(float(began) + ms / 1000, 3)

    known: dict[str, Any] = {}
    sights, at = [], 0
    for since, changed in seen["sights"]:
        known = {name: row for name, row in {**known, **changed}.items() if row is not None}
        at += since
        sights.append(sight_of(known, moment(at), began))
    return TapeData(
        began=began,
        ended=moment(whole["ended"]),
        sights=tuple(sights),
        acts=tuple(Act(moment(ms), *rest) for ms, *rest in seen["acts"]),
        marks=tuple(Mark(moment(ms), words) for ms, words in seen["marks"]),
        flows=tuple(Flow(c, k, t, p, _read_bursts(bursts, began)) for c, k, t, p, bursts in seen["flows"]),
        # Earlier versions kept silent about it.
        missed=tuple(Missed(moment(a), moment(b), words) for a, b, words in seen.get("missed", ())),
    )


def _bursts(flow: Flow, began: float) -> list[int]:
    told, at = [], 0
    for first, last, count in flow.bursts:
        start, end = round((first - began) * 1000), round((last - began) * 1000)
        told += [start - at, end - start, count]
        at = end
    return told


def _read_bursts(told: list[int], began: float) -> tuple[Burst, ...]:
    found, at = [], 0
    for since, length, count in zip(told[::3], told[1::3], told[2::3], strict=True):
        start, end = at + since, at + since + length
        found.append(Burst(round(began + start / 1000, 3), round(began + end / 1000, 3), count))
        at = end
    return tuple(found)
