"""Stop this clone's brokers and delete what they keep: `make clean`. Progress and work/ stay."""

import shutil
import sys
from pathlib import Path

from threebrokers import progress
from threebrokers.cluster import Cluster, engine
from threebrokers.paths import cache, home


def main() -> None:
    """Stop, delete, and say what stays."""
    for name in engine.NAMES:  # also what an engine keeps elsewhere: containers and volumes
        Cluster(engine_name=name).erase()
    folder = home()
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif not path.name.startswith(progress.FILES):
            path.unlink()
    print(f"Deleted the brokers' data in {folder}. Your progress and work/ stay.")
    print(f"Kafka's jars stay in {cache()}, for other clones: delete that folder by hand if there are none.")
    if (Path(sys.prefix) / "conda-meta").is_dir():
        print(
            "The conda environment stays: `conda deactivate`, `conda env remove -n threebrokers` delete it."
        )
