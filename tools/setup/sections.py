"""Print sections of requirements.txt, for whoever has only pip: `python -m tools.setup.sections runtime`.

Standard library only: it runs before anything is installed.
"""

import sys

from tools import ROOT
from tools.setup import packages
from tools.setup.errors import SetupError


def main() -> str | None:
    """Print the sections that the command line names; return what went wrong, in a sentence."""
    try:
        print(packages.section(ROOT, *sys.argv[1:]))
    except SetupError as fault:
        return f"✗ {fault}"
    return None


if __name__ == "__main__":
    sys.exit(main())
