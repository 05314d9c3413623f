"""Stop this clone's brokers and delete what they keep: `make clean`. Progress and work/ stay."""

import shutil

from threebrokers.cluster import Cluster
from threebrokers.home import cache, home


def main() -> None:
    """Stop, delete, and say what stays."""
    Cluster().down()
    folder = home()
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif not path.name.startswith("progress"):
            path.unlink()
    print(f"Deleted the brokers' data in {folder}. Your progress and work/ stay.")
    print(f"Kafka's jars stay in {cache()}, for other clones: delete that folder by hand if there are none.")


if __name__ == "__main__":
    main()
