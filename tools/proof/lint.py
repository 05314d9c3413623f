"""What holds the house without running it: style, types, imports, rows of faults and facts, dependencies."""

import subprocess
import sys
from pathlib import Path

from tools import ROOT

# Begun as a program: it has no `python -m`.
IMPORTS = str(Path(sys.executable).with_name("lint-imports"))
DEPENDENCIES = (sys.executable, "-m", "deptry", "--no-ansi")
COMMANDS = {
    "style": (sys.executable, "-m", "ruff", "check"),
    "format": (sys.executable, "-m", "ruff", "format", "--check"),
    "types": (sys.executable, "-m", "mypy"),
    "imports": (IMPORTS, "--no-cache", "--no-logo"),
    "faults": (sys.executable, "-m", "tools", "reliability", "--check"),
    "facts": (sys.executable, "-m", "tools", "facts", "--check"),
    "dependencies of the course": (*DEPENDENCIES, "threebrokers", "lessons"),
    "dependencies of tools and tests": (*DEPENDENCIES, "tools", "tests", "--ignore", "DEP002,DEP004"),
}


def main() -> int:
    """Run every command, print what it says, and return 0 if nothing is wrong."""
    wrong = []
    for name, command in COMMANDS.items():
        print(f"── {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            wrong.append(name)
    print(f"✗ Mend first: {', '.join(wrong)}." if wrong else "✓ Nothing is wrong.")
    return int(bool(wrong))
