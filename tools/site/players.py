"""Recordings that play on a page: frames of the panel as data, drawn by the panel's own renderer."""

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from threebrokers.demo.played import load
from threebrokers.demo.played import path_of as demo_path
from threebrokers.demo.script import numbers, script
from threebrokers.recorder import Recording
from tools.site.parts import Page
from tools.slides.recordings import FOLDER

MOST_FRAMES = 300


def pages(root: Path) -> Iterator[tuple[Page, str, str]]:
    """Yield a page for each recording, and the path and the content of the file that holds its frames."""
    for path in sorted((root / FOLDER.relative_to(FOLDER.parents[1])).glob("*.json.gz")):
        name = path.name.removesuffix(".json.gz")
        yield _page(name, f"Lab {name[:2]}: {name[3:]}, as in the slides", [("", Recording.load(path))])
    for number in numbers():
        if demo_path(number).exists():
            heads = {step.act: step.title for step in script(number).steps if step.act}
            acts = [
                (heads.get(act, act), Recording(one.seen)) for act, one in load(demo_path(number)).items()
            ]
            yield _page(f"demo{number}", f"Lab {number}: {script(number).title}", acts)


def data(recording: Recording) -> dict[str, Any]:
    """Return what a player needs: `times`, `marks`, and `frames`, each with what is new in it."""
    panel = recording.replay()
    step = max(1, -(-len(panel.times) // MOST_FRAMES))
    places = sorted({*range(0, len(panel.times), step), len(panel.times) - 1})
    frames, before = [], dict[str, Any]()
    for place in places:
        panel.position = place
        now = panel.frame
        frames.append({key: value for key, value in now.items() if before.get(key) != value})
        before = now
    told = {"times": [panel.times[place] for place in places], "marks": panel.marks, "frames": frames}
    panel.close()
    return told


def _page(name: str, title: str, acts: list[tuple[str, Recording]]) -> tuple[Page, str, str]:
    parts, held = [f"<h1>{escape(title)}</h1>"], {}
    for count, (heading, recording) in enumerate(acts):
        key = f"{name}-{count}"
        held[key] = data(recording)
        if heading:
            parts.append(f'<h2 id="act-{count}">{escape(heading)}</h2>')
        parts.append(f'<div class="player" data-recording="{key}"></div>')
        parts.append(
            f'<div class="wide" role="group" aria-label="Time line" tabindex="0">{_timeline(recording)}</div>'
        )
    content = f"Object.assign((globalThis.recordings ??= {{}}), {json.dumps(held, separators=(',', ':'))});\n"
    path = f"recordings/{name}.js"
    scripts = (path, "assets/model.js", "assets/panel.js", "assets/player.js")
    return Page(f"recordings/{name}.html", title, "Recordings", "\n".join(parts), scripts), path, content


def _timeline(recording: Recording) -> str:
    return recording.show()._repr_mimebundle_()["text/html"]
