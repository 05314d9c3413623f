"""Small files: those of JSON that several notebooks and commands may read and write, and the course's own.

What stands in such a file may be anything: whoever reads it here gets a value of the right type or nothing.
Files with one line, and the log of actions, are read where they are written.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from threebrokers.errors import LabError
from threebrokers.files import free_name, write_whole

T = TypeVar("T")
DAMAGED = "damaged"


def own_file(what: str, path: Path, kind: type[T]) -> T:
    """Return the content of a TOML file of the course's own. Raises LabError if it is missing or damaged."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except (OSError, ValueError) as fault:
        told = fault.strerror if isinstance(fault, OSError) else fault
        raise LabError(
            f"{what} cannot be read ({path}: {told})",
            "bring this file back, with `git restore` or by installing the course again",
        ) from fault


@dataclass(frozen=True)
class JsonFile(Generic[T]):
    """A file whose content is JSON of one type: dataclasses, dictionaries and lists of plain values."""

    path: Path
    type: Any  # type[T] has no place for dict[str, int]
    mode: int = 0o600  # what a learner does is nobody else's business

    def read(self) -> T | None:
        """Return the content; None if there is no file, or it holds something else. Nobody is waited for."""
        try:
            return self._decoded(self.path.read_bytes())
        except (OSError, ValueError):
            return None

    def write(self, content: T) -> None:
        """Write the file whole: a reader sees the old content or the new. Raises OSError.

        A folder that stands in its place is kept beside.
        """
        if self.path.is_dir():
            self._set_aside()
        text = msgspec.json.format(msgspec.json.encode(content), indent=1)
        write_whole(self.path, text + b"\n", self.mode)

    @contextmanager
    def locked(self, within: float) -> Iterator[None]:
        """Let one process at a time into the block. Raises filelock's Timeout after `within` seconds."""
        from filelock import FileLock  # who only looks locks nothing

        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock"), timeout=within):
            yield

    @contextmanager
    def changed(self, empty: Callable[[], T], within: float) -> Iterator[T]:
        """Yield the content under the lock, or an empty one; if the block changes it, it is written.

        A file that holds something else is kept beside, as `progress.damaged.json`: see `kept`. Raises
        OSError, or filelock's Timeout after `within` seconds.
        """
        with self.locked(within):
            before = self._content(empty)
            content = deepcopy(before)
            yield content
            if content != before:
                self.write(content)

    def kept(self) -> list[Path]:
        """Return the damaged files that were kept beside this one."""
        return sorted(self.path.parent.glob(f"{self.path.stem}.{DAMAGED}*{self.path.suffix}"))

    def _content(self, empty: Callable[[], T]) -> T:
        try:
            return self._decoded(self.path.read_bytes())
        except FileNotFoundError:
            return empty()
        except (ValueError, IsADirectoryError):
            self._set_aside()
            return empty()

    def _set_aside(self) -> None:
        self.path.replace(free_name(self.path, DAMAGED))

    def _decoded(self, text: bytes) -> T:
        try:
            content: T = msgspec.json.decode(text, type=self.type)
        except (msgspec.MsgspecError, RecursionError) as fault:  # the latter of brackets without end
            raise ValueError(f"{self.path} is damaged ({fault})") from fault
        return content
