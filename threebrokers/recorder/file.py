"""A recording as a file: its values as JSON, packed with gzip because one look is much like the next."""

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from threebrokers.recorder.data import RecordingData
from threebrokers.recorder.gaps import Gap


@dataclass(frozen=True)
class File:
    """What a file holds: what was seen, and what follows from it (computed again when it is loaded)."""

    format: Literal["threebrokers recording 2"]
    seen: RecordingData
    concluded: Sequence[Gap]


def dumps(recording: RecordingData, concluded: Sequence[Gap]) -> bytes:
    """Return the content of a recording's file, with the gaps that were concluded from it apart."""
    whole = File("threebrokers recording 2", recording, concluded)
    return gzip.compress(msgspec.json.encode(whole))


def loads(content: bytes) -> RecordingData:
    """Return the recording. Raises ValueError if the content is not one."""
    try:
        return msgspec.json.decode(gzip.decompress(content), type=File).seen
    except (gzip.BadGzipFile, EOFError, zlib.error, msgspec.MsgspecError) as fault:
        raise ValueError(str(fault)) from fault
