"""What checks say is plain text: only backticks are set otherwise where it is shown."""

import ast
import re

import pytest

from tools import ROOT

STRESSED = re.compile(r"(?<![\w*])\*{1,2}\w[\w ]*\*{1,2}(?![\w*])")
CODE = re.compile(r"`[^`]*`")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "threebrokers/checks").rglob("*.py")), ids=lambda path: path.stem
)
def test_no_word_of_a_check_is_stressed_with_stars(path):
    tree = ast.parse(path.read_text("utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    said = [CODE.sub("", text) for text in texts if isinstance(text, str) and " " in text]
    assert not [text for text in said if STRESSED.search(text)]
