"""The README's pictures: each in light and dark, sharp, small, and described."""

import re
import struct

import pytest

from tools import ROOT

README = (ROOT / "README.md").read_text("utf-8")
PICTURES = re.findall(
    r'<picture>\n  <source media="\(prefers-color-scheme: dark\)" srcset="(docs/images/(\w+)-dark\.png)">\n'
    r'  <img src="(docs/images/\2-light\.png)" alt="([^"]+)">\n</picture>',
    README,
)


def test_the_readme_shows_a_question_the_panel_and_a_time_line_in_both_themes():
    assert [name for _, name, _, _ in PICTURES] == ["lab", "panel", "timeline"]
    assert README.count("docs/images/") == 2 * len(PICTURES)
    shown = {path for dark, _, light, _ in PICTURES for path in (dark, light)}
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "images").iterdir()} == shown
    assert all(len(words) > 80 for *_, words in PICTURES)


@pytest.mark.parametrize("path", [path for dark, _, light, _ in PICTURES for path in (dark, light)])
def test_a_picture_is_sharp_and_small(path):
    content = (ROOT / path).read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert width >= 1600, "about twice as many pixels as a page of GitHub is wide"
    assert height < 2400
    assert len(content) < 400_000
