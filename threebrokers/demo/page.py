"""The page of a demo: one HTML file, and the files that it loads from its own server."""

from html import escape
from pathlib import Path

from threebrokers import panel, theme

WEB, PANEL = Path(__file__).parent / "web", Path(panel.__file__).parent
FILES = {
    "/demo.css": WEB / "demo.css",
    "/demo.js": WEB / "demo.js",
    "/model.js": WEB / "model.js",
    "/widget.css": PANEL / "widget.css",
    "/widget.js": PANEL / "widget.js",
}
KINDS = {".css": "text/css", ".js": "text/javascript"}
KEYS = (
    ("Space", "next"),
    ("←", "look back"),
    ("S", "notes"),
    ("T", "light, dark"),
    ("P", "panel alone"),
    ("B", "rest"),
)


def kind_of(path: str) -> str:
    """Return what a file is, for a browser."""
    return KINDS[Path(path).suffix]


def colours() -> str:
    """Return the course's colours as custom properties, light and dark, for a page of its own."""
    names = {
        "ink": theme.INK, "paper": theme.PAPER, "soft": theme.SOFT, "rule": theme.RULE,
        "lightest": theme.LIGHTEST, "sky": theme.SKY, "sky-tint": theme.SKY_TINT, "good": theme.GOOD.colour,
        "bad": theme.BAD.colour, "warning": theme.WARNING.colour,
    }  # fmt: skip
    light = "".join(f"--c-{name}:{colour};" for name, colour in names.items())
    dark = {name: theme.DARK.get(colour, colour) for name, colour in names.items()}
    there = "".join(f"--c-{name}:{colour};" for name, colour in dark.items())
    # The names with "jp" are those by which a panel follows JupyterLab's theme.
    inks = "--jp-layout-color0:var(--c-paper);"
    inks += "".join(f"--jp-{kind}-font-color1:var(--c-ink);" for kind in ("ui", "content"))
    return f':root{{{light}{inks}color-scheme:light}}:root[data-theme="dark"]{{{there}color-scheme:dark}}'


def html(title: str) -> str:
    """Return the page of a demo with this title."""
    keys = "".join(f"<span><kbd>{key}</kbd> {what}</span>" for key, what in KEYS)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}: Three Brokers, demo</title>
<link rel="icon" href="data:,">
<style>{colours()}</style>
<link rel="stylesheet" href="widget.css">
<link rel="stylesheet" href="demo.css">
</head>
<body>
<header><h1></h1><p id="place"></p></header>
<main>
<div id="panel"></div>
<section id="step" aria-label="Step" aria-live="polite"></section>
</main>
<aside id="notes" aria-label="Notes for the speaker" hidden></aside>
<footer><button type="button" id="next"></button><p id="keys">{keys}</p></footer>
<script src="model.js"></script>
<script type="module" src="demo.js"></script>
</body>
</html>
"""
