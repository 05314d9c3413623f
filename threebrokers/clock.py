"""One clock for everything that is measured: it runs evenly, also when the system's time is set."""

import time

# Read once, so that all times of a process fit together; another process of this machine differs by < 1 ms.
_START = time.time() - time.monotonic()


def now() -> float:
    """Return the time in s since 1970."""
    return _START + time.monotonic()
