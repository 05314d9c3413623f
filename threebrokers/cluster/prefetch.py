"""What the first start needs, made while `make` still sets up: `python -m threebrokers.cluster.prefetch`.

Afterwards no lab needs the network. With a folder of jars behind it they are taken from there. `--for-all`
is for a server: every user may read the cache.
"""

import signal
import sys
from pathlib import Path
from types import FrameType

from threebrokers.cluster import engine, jars, prepare
from threebrokers.cluster.cache_lock import faults_told
from threebrokers.errors import LabError
from threebrokers.paths import cache, home

FOR_ALL = "--for-all"
SHARED = ("jars", "java-homes", "prepared")


def main() -> int | str:
    """Fetch jars and prepare quick starts; return 0, or the sentence that says what went wrong.

    Brokers in containers need no jars of Kafka: the image has them. Spark runs beside the notebooks always.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        for folder in (word for word in sys.argv[1:] if word != FOR_ALL):
            jars.take(Path(folder))
        if engine.chosen(home()).name == engine.LOCAL:
            jars.kafka_jars()
            prepare.prepare(lambda text: print(text, flush=True))
        jars.spark_jars()
        if FOR_ALL in sys.argv:
            with faults_told(cache()):
                _let_all_read()
    except LabError as fault:
        return f"✗ {fault}"
    except KeyboardInterrupt:
        return 130
    return 0


def _let_all_read() -> None:
    """Let every user read what all share, and write nothing; homes that lie in the cache stay private."""
    folders = [cache() / name for name in SHARED]
    for path in [cache(), *folders, *(path for folder in folders for path in folder.rglob("*"))]:
        if path.exists() and not path.is_symlink():
            mode = path.stat().st_mode
            wanted = mode | 0o044 | (mode & 0o100 and 0o011)
            if wanted != mode:  # what another administrator has opened is good as it is
                _open(path, wanted)


def _open(path: Path, mode: int) -> None:
    """Give a file or folder its rights. Raises LabError, with who may do that, if this user may not."""
    try:
        path.chmod(mode)
    except PermissionError as fault:
        owner = _owner(path)
        raise LabError(
            f"{path} belongs to {owner} (the cache: to {_owner(cache())}), and not every user may read it",
            f"run this command as {owner}, or with sudo",
        ) from fault


def _owner(path: Path) -> str:
    try:
        return path.owner()
    except KeyError:  # a user of another machine, or one that was deleted
        return f"user {path.stat().st_uid}"


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
