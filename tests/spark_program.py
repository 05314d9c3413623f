"""A Python program of its own, as a learner's or one of Spark's, for tests: run to its end."""

import subprocess
import sys

# A busy machine may need minutes for one of Spark's: three were within 20 s of 200 s at load 11.
PROGRAM_SECONDS = 600


def run_program(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program and return what it printed and its exit code; PROGRAM_SECONDS is its bound."""
    command = [sys.executable, "-c", text, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False)
