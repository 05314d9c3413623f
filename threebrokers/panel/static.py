"""The panel as a picture that needs no kernel: for notebooks that were saved, and for pages."""

from typing import Any

from threebrokers.diagrams.dot import PAPER, QUIET, cell, colours, lone_table
from threebrokers.diagrams.picture import Picture
from threebrokers.panel.frame import Frame

TITLE = "The cluster, as it was when this cell ran"


def still(frame: Frame) -> Picture:
    """Draw a frame: brokers with their states, and a row for each partition that the frame holds."""
    brokers = frame["brokers"]
    rows = [[cell(""), *(_broker(broker) for broker in brokers)]]
    for topic in frame["topics"]:
        names = ("in sync", "readable", "end")
        rows.append(
            [cell(topic["name"], bold=True, align="left", colspan=str(1 + len(brokers))), *map(cell, names)]
        )
        rows += [_partition(row, [broker["id"] for broker in brokers]) for row in topic["rows"]]
        if not topic["rows"]:
            summary = cell(topic["summary"], align="left", text=QUIET, colspan=str(4 + len(brokers)))
            rows.append([summary])
    return Picture(TITLE, frame["words"], lone_table(rows))


def _broker(broker: dict[str, Any]) -> str:
    lines = [f"broker {broker['id']}", f"{broker['sign']} {broker['state']}"]
    if broker["quorum"]:
        lines.append("♛ active controller")
    return cell(*lines, bold=True, border=2, color=colours(broker["id"])[0])


def _partition(row: dict[str, Any], brokers: list[int]) -> list[str]:
    copies = [_copy(copy, broker) for copy, broker in zip(row["copies"], brokers, strict=True)]
    numbers = [f"{row['isr'][0]} of {row['isr'][1]}", row["numbers"]["readable"], row["numbers"]["end"]]
    return [cell(f"partition {row['id']}", align="left"), *copies, *(cell(n, align="right") for n in numbers)]


def _copy(copy: dict[str, Any], broker: int) -> str:
    strong, light = colours(broker)
    leads = copy["kind"] == "leader"
    behind = f" −{copy['behind']}" if copy["behind"] else ""
    fine = leads or copy["kind"] == "sync"
    return cell(
        f"{copy['sign']} {copy['word']}{behind}",
        bold=leads,
        border=0 if copy["kind"] == "none" else 3 if leads else 1,
        color=strong if fine else QUIET,
        fill=light if leads else PAPER,
        style="rounded" if fine else "dashed",
    )
