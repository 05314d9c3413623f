"""A box of memory: a control group of this machine, with a limit for all processes in it together."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

ROOT = Path("/sys/fs/cgroup")
LOOK_SECONDS = 0.25
NO_BOX = "No control group for memory can be made here: that takes root, and a writable /sys/fs/cgroup."
# Lines of memory.stat that are a process's own memory; what is read from files can be given back.
OWN = ("anon", "total_rss")


@dataclass
class Box:
    """A control group; `most` is the largest own memory of its processes so far (bytes).

    The words `before` a command put it into the box, on two processors.
    """

    folder: Path
    most: int = 0

    @property
    def before(self) -> list[str]:
        """The words."""
        enter = f'echo $$ > {self.folder}/cgroup.procs && exec "$@"'
        return ["taskset", "-c", "0,1", "sh", "-c", enter, "sh"]

    @property
    def killed(self) -> int:
        """How many processes the system has ended for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            if (path := self.folder / name).exists():
                return _numbers(path.read_text()).get("oom_kill", 0)
        return 0


@contextmanager
def memory_box(limit: int) -> Iterator[Box]:
    """Make a box of so many bytes. Raises SystemExit, with a sentence, where none can be made."""
    unified = (ROOT / "cgroup.controllers").exists()
    folder = (ROOT if unified else ROOT / "memory") / f"threebrokers-{uuid4().hex[:8]}"
    try:
        if unified:
            (ROOT / "cgroup.subtree_control").write_text("+memory")
        folder.mkdir()
        (folder / ("memory.max" if unified else "memory.limit_in_bytes")).write_text(str(limit))
    except OSError as fault:
        raise SystemExit(f"✗ {NO_BOX} ({fault.strerror})") from None
    box, ended = Box(folder), threading.Event()
    watcher = threading.Thread(target=_look, args=(box, ended), daemon=True)
    watcher.start()
    try:
        yield box
    finally:
        ended.set()
        watcher.join()
        folder.rmdir()  # its processes must have ended


def _look(box: Box, ended: threading.Event) -> None:
    """Take the memory of now, again and again until the box is not used any more."""
    while not ended.wait(LOOK_SECONDS):
        found = _numbers((box.folder / "memory.stat").read_text())
        box.most = max(box.most, next((found[name] for name in OWN if name in found), 0))


def _numbers(text: str) -> dict[str, int]:
    lines = (line.split() for line in text.splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}
