"""A process of a Spark cluster, alone in a container: `python -m threebrokers.cluster.spark_node master`."""

import os
import sys
from typing import NoReturn

from threebrokers.cluster import spark_cluster
from threebrokers.errors import LabError
from threebrokers.paths import home


def main() -> NoReturn:
    """Become what the command line names. Raises SystemExit with a sentence if that is not possible."""
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in spark_cluster.NAMES:
        raise SystemExit(f"✗ Name one of {', '.join(spark_cluster.NAMES)}.")
    try:
        command, environment = spark_cluster.alone(home(), name)
    except LabError as fault:
        raise SystemExit(f"✗ {fault}") from None
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    main()
