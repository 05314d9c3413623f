"""Set up .venv for learners (`python3 -m tools.setup runtime`) or authors (`… authors`); `make` calls it.

With the word `conda` it only looks whether the conda environment that runs it has everything.

Any Python 3 must be able to read this file, so that an old one can say what is missing.
"""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NEWER = ("python3.14", "python3.13", "python3.12", "python3.11")


# No annotations: before Python 3.9 they would not even be read.
def main():  # type: ignore[no-untyped-def]
    """Go on with a Python that is new enough, or say that there is none."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a sign gets another one
            stream.reconfigure(errors="replace")
    in_conda = "conda" in sys.argv[1:]
    if sys.version_info < OLDEST:
        mine = ".".join(map(str, sys.version_info[:2]))
        if in_conda:
            return (
                f"✗ The conda environment has Python {mine}, and the course needs 3.11 or newer: "
                "run `conda env update -f environment.yml --prune`, then the same command again."
            )
        there = filter(None, map(shutil.which, NEWER))
        found = next(filter(_runs, there), None)
        if found is None:
            return (
                f"✗ This is Python {mine}, and the course needs 3.11 or newer: install one, "
                "or name it with `make lab PYTHON=…`."
            )
        os.execv(found, [found, "-m", "tools.setup", *sys.argv[1:]])
    from tools.setup import conda, environment

    return (conda if in_conda else environment).main(sys.argv[1:])


def _runs(path):  # type: ignore[no-untyped-def]
    """Tell whether this program runs: pyenv puts one on the PATH for each Python, also those not in use."""
    try:
        return not subprocess.call([path, "-c", ""], stderr=subprocess.DEVNULL)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())  # type: ignore[no-untyped-call]
