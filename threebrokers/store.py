"""Small files of JSON in the bench's home, which several notebooks may read and write at once."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from filelock import FileLock

from threebrokers.files import free_name, write_whole
from threebrokers.paths import home

LOCK_SECONDS = 5


@contextmanager
def opened(name: str, look: Callable[[dict[str, Any]], object]) -> Iterator[dict[str, Any]]:
    """Yield what is kept under a name; if the block changes it, it is written whole.

    `look` goes through the content and raises ValueError, TypeError, KeyError or AttributeError if it is
    not what it should be: then the file is kept under another name and the content is empty.
    Raises OSError, or filelock's Timeout after 5 s.
    """
    path = home() / f"{name}.json"
    with FileLock(path.with_suffix(".lock"), timeout=LOCK_SECONDS):
        before = _read(path, look)
        content = deepcopy(before)
        yield content
        if content != before:
            write_whole(path, json.dumps(content, indent=1, sort_keys=True).encode())


def _read(path: Path, look: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
        if not isinstance(content, dict):
            raise ValueError("not an object")
        look(content)
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError):
        path.replace(free_name(path, "damaged"))
        return {}
    return content
