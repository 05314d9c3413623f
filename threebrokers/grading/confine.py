"""Takes every privilege and sets limits, then becomes another program: `confine.py BYTES BYTES -- PROGRAM …`.

The first number is for the data of each process, the second for a file. Standard library only.
"""

import ctypes
import os
import resource
import sys
from contextlib import suppress

CAPABILITIES = 64
NET_BIND_SERVICE = 10  # lets low ports be used, which means nothing where the network is one's own
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
VERSION_3 = 0x20080522


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def drop(keep: int | None = None) -> None:
    """Give up all of Linux's capabilities for good, but for one that is named. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(CAPABILITIES):
        if number != keep:
            libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)  # one that the system does not know is no fault
    bits = 0 if keep is None else 1 << keep
    header, data = _Header(VERSION_3, 0), (_Data * 2)()
    data[0] = _Data(bits, bits, 0)
    if libc.capset(ctypes.byref(header), ctypes.byref(data)) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def main(words: list[str]) -> None:
    """Become the program after `--`."""
    data, file = int(words[0]), int(words[1])
    for name, most in (("RLIMIT_DATA", data), ("RLIMIT_FSIZE", file), ("RLIMIT_CORE", 0)):
        with suppress(ValueError, OSError):  # a lower limit is in force already
            resource.setrlimit(getattr(resource, name), (most, most))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - quick to start
        score.write("1000")  # if the machine has no memory left, this one goes first
    if sys.platform == "linux":
        with suppress(OSError):
            drop()
    os.execv(words[3], words[3:])  # the words after `--`


if __name__ == "__main__":
    main(sys.argv[1:])
