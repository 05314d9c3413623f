"""Write the settings of threebrokers/cluster/settings.py into docker-compose.yml: `make compose`."""

import argparse
import json
import sys
import textwrap
from pathlib import Path

from threebrokers.cluster.settings import TABLE, Setting
from threebrokers.files import write_whole
from tools import ROOT

FILE = "docker-compose.yml"
BEGIN, END = "# BEGIN settings.py", "# END settings.py"
NOTE = (
    "What follows is the course's table of settings, as in threebrokers/cluster/settings.py, which writes it "
    "here (`make compose`): do not edit. In brackets is Kafka's own value, where it is another one."
)
INDENT, WIDTH = "  ", 110


def variable(name: str) -> str:
    """Return the variable of which the image makes this setting of a broker."""
    return "KAFKA_" + name.upper().replace(".", "_")


def written(text: str) -> str:
    """Return the text of a compose file with the settings between its two marks.

    Raises ValueError if the marks are not there, once each and in this order.
    """
    lines = text.splitlines()
    marks = [[i for i, line in enumerate(lines) if line.strip() == mark] for mark in (BEGIN, END)]
    if [len(found) for found in marks] != [1, 1] or marks[0] > marks[1]:
        raise ValueError(f"{FILE} needs the lines '{BEGIN}' and '{END}', once each and in this order.")
    (begin,), (end,) = marks
    block = _comment(NOTE) + [line for setting in TABLE for line in _lines(setting)]
    return "\n".join([*lines[: begin + 1], *block, *lines[end:]]) + "\n"


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return 0 if nothing is left to mend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if the settings are stale")
    check = parser.parse_args(arguments).check
    file = root / FILE
    text = file.read_text("utf-8")
    try:
        whole = written(text)
    except ValueError as fault:
        print(fault, file=sys.stderr)
        return 1
    if text != whole and check:
        print(
            f"{FILE} does not have the settings of threebrokers/cluster/settings.py; run `make compose`.",
            file=sys.stderr,
        )
        return 1
    if text != whole:
        write_whole(file, whole.encode())
        print(f"{FILE}: written")
    else:
        print(f"{FILE} has the settings of threebrokers/cluster/settings.py.")
    return 0


def _lines(setting: Setting) -> list[str]:
    kafkas = "" if setting.here == setting.default else f" [{setting.default}]"
    # In quotes: a reader of YAML would make numbers and truth values of some.
    value = json.dumps(setting.here)
    return [*_comment(setting.why + kafkas), f"{INDENT}{variable(setting.name)}: {value}"]


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{INDENT}# ",
        subsequent_indent=f"{INDENT}# ",
        break_on_hyphens=False,
        break_long_words=False,
    )
