"""Run the tests of faults, and write what they tell into docs/reliability.md: `make reliability`.

With paths of tests only those are run, and the other rows stay.
"""

import re

from tools import ROOT
from tools.publish import told

HEAD = """\
<!-- Written by `make reliability` from the tests that carry the mark `fault`: do not edit. -->

# What goes wrong, and what happens then

Each row is proved by a test that makes the fault happen. Paths and times of what is said are left out.
"""
PAGE = told.Page(
    ROOT / "docs" / "reliability.md",
    "fault",
    "reliability",
    HEAD,
    ("fault", "what happens", "what is said"),
)
# What is of one run only: where its files are, how long it took, which ports and processes it met.
RUN = (
    (re.compile(r"(?<![\w/…])/(?:[^\s/'\"`,;:()]+/)+(?=[^\s/'\"`,;:()])"), "…/"),
    (re.compile(r"\b\d+(?:\.\d+)?(?= (?:s|ms|min|bytes|kB|MB|GB)\b)"), "N"),
    (re.compile(r"(?<![\w.])\d{4,}(?![\w.])|(?<=[\d.]:)\d{4,}"), "N"),
)


def general(text: str) -> str:
    """Return what was said without what is of one run only: paths, ports, processes, times."""
    for pattern, sign in RUN:
        text = pattern.sub(sign, text)
    return " ".join(text.split())


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if the page holds a row for each fault that has a test."""
    return told.main(PAGE, __doc__, arguments)
