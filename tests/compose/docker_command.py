"""Docker's own command, which knows nothing of the course."""

import subprocess


def docker(*arguments: str) -> str:
    """Return what `docker` prints; CalledProcessError if it fails."""
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True).stdout
