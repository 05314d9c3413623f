"""docs/topics.md: the page that `make topics` builds."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from tools.publish.inventory import Place, Row, Undone

HEAD = """\
<!-- Built by `make topics` from the lessons and tools/publish/coverage/: do not edit. -->

# Topics

Where the course treats what: find a topic, open the lab, go to the section.
"""


def page(rows: Mapping[str, Row], places: Sequence[tuple[str, Place]], left: Sequence[Undone]) -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for (stem, title), of_lab in groupby(places, lambda found: (found[1].stem, found[1].title)):
        head = [f"## Lab {stem[:2]}: [{title}](../labs/{stem}.ipynb)", "", "| topic | section |", "|---|---|"]
        seen = dict.fromkeys(of_lab)
        body = [f"| {_cell(rows[name].item)} | {_cell(place.section)} |" for name, place in seen]
        parts.append("\n".join([*head, *body, ""]))
    if left:
        told = "What the labs that are written do not do with the brokers, and why."
        head = ["## Text only, or out of date", "", told, "", "| topic | | reason |", "|---|---|---|"]
        body = [f"| {_cell(rows[u.id].item)} | {u.kind} | {_cell(u.reason)} |" for u in left]
        parts.append("\n".join([*head, *body, ""]))
    return "\n".join(parts)


def _cell(text: str) -> str:
    return text.replace("[heading only]", "").replace("|", "\\|").strip()
