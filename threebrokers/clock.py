"""The system's time, for moments: brokers and other programs write down the same.

How long something takes is told by `time.monotonic()`: that runs evenly, also when the system's time is set,
and stands still while a laptop sleeps. So a moment is never made of it.
"""

import time


def now() -> float:
    """Return the time in s since 1970."""
    return time.time()


def now_ms() -> int:
    """Return the time in ms since 1970, as records are stamped."""
    return int(now() * 1000)
