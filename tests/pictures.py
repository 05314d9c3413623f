"""What a picture draws, read from its HTML."""

import xml.etree.ElementTree as ET
from collections import defaultdict

from threebrokers.diagrams.picture import Picture


def drawn(picture: Picture) -> list[str]:
    """Return the texts that the drawing shows, in the order in which they stand there."""
    return [text.strip() for text in ET.fromstring(picture.drawing).itertext() if text.strip()]


def classes(picture: Picture) -> dict[str, list[str]]:
    """Return the classes of each element with a text of its own, by that text."""
    found: dict[str, list[str]] = defaultdict(list)
    for element in ET.fromstring(picture.drawing).iter():
        if text := (element.text or "").strip():
            found[text].append(element.get("class", ""))
    return dict(found)
