"""The file into which this kernel's clients write what would be a red block in some later cell."""

import logging
from contextlib import suppress
from pathlib import Path

from threebrokers.files import set_aside


class _QuietFile(logging.FileHandler):
    """A log whose own faults are told nowhere: on a full disk each message would be a traceback in a cell."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message if that is possible."""
        with suppress(OSError):  # the file cannot be opened
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Say nothing of what cannot be written."""

    def close(self) -> None:
        """Close the file, also if its last words cannot be written."""
        with suppress(OSError):
            super().close()


def client_log(folder: Path) -> logging.Logger:
    """Return what librdkafka writes to: by itself it takes stderr, which a notebook shows in red."""
    logger = logging.getLogger("threebrokers.kafka.clients")
    logger.propagate = False
    path = folder / "clients.log"
    if not any(getattr(h, "baseFilename", None) == str(path) for h in logger.handlers):
        folder.mkdir(parents=True, exist_ok=True)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
            handler.close()
        set_aside(path)
        handler = _QuietFile(path, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(handler)
    return logger
