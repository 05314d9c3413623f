"""A disk that is full from a certain write on: what would be made or changed under a folder fails."""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

MAKES = os.O_CREAT | os.O_WRONLY | os.O_RDWR


class FullDisk:
    """Counts what is written under a folder; from the write with this number on there is no room.

    Every write of Python goes through one of these functions: opening a file to write, making a folder or a
    link, renaming, and putting bytes through to the disk.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self.writes, self.room = str(folder), 0, -1
        self.hit = False  # whether the last block wrote more than there was room for
        for module, name in ((builtins, "open"), (io, "open")):
            monkeypatch.setattr(module, name, self._opened(getattr(module, name)))
        monkeypatch.setattr(os, "open", self._opened_low(os.open))
        for name in ("mkdir", "replace", "rename", "symlink"):
            monkeypatch.setattr(os, name, self._changed(getattr(os, name)))
        for name in ("write", "fsync"):
            monkeypatch.setattr(os, name, self._put(getattr(os, name)))

    @contextmanager
    def full_after(self, writes: int) -> Iterator[None]:
        """Let so many writes pass in the block, and no other one."""
        self.writes, self.room, self.hit = 0, writes, False
        try:
            yield
        finally:
            self.room = -1

    def _count(self, path: Any) -> None:
        if self.room < 0 or (path is not None and not self._is_under(path)):
            return
        self.writes += 1
        if self.writes > self.room:
            self.hit = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *([str(path)] if path else []))

    def _is_under(self, path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self._folder)

    def _opened(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
            if set(mode) & set("wax+"):
                self._count(file if not isinstance(file, int) else "")
            return real(file, mode, *more, **named)

        return opened

    def _opened_low(self, real: Callable[..., int]) -> Callable[..., int]:
        def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if flags & MAKES:
                self._count(path)
            return real(path, flags, *more, **named)

        return opened

    def _changed(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def changed(path: Any, *more: Any, **named: Any) -> Any:
            self._count(more[0] if more and isinstance(more[0], str | os.PathLike) else path)
            return real(path, *more, **named)

        return changed

    def _put(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def put(handle: int, *more: Any) -> Any:
            if self.room >= 0 and self._is_under(f"{_path(handle)}"):
                self._count(None)
            return real(handle, *more)

        return put


def _path(handle: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{handle}").readlink())
    except OSError:
        return ""
