"""What the first start needs, made while `make` still sets up: `python -m threebrokers.cluster.prefetch`.

With a folder of jars behind it they are taken from there.
"""

import signal
import sys
from pathlib import Path
from types import FrameType

from threebrokers.cluster import engine, jars, prepare
from threebrokers.errors import LabError
from threebrokers.paths import home


def main() -> int | str:
    """Fetch Kafka's jars and prepare quick starts; return 0, or the sentence that says what went wrong.

    For brokers in containers there is nothing to do: the image has it all.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        for folder in sys.argv[1:]:
            jars.take(Path(folder))
        if engine.chosen(home()).name == engine.LOCAL:
            jars.kafka_jars()
            prepare.prepare(lambda text: print(text, flush=True))
    except LabError as fault:
        return f"✗ {fault}"
    except KeyboardInterrupt:
        return 130
    return 0


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
