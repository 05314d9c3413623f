"""The brokers' folders on disk: laid out from a template that Kafka's own tool has formatted."""

import base64
import shutil
import uuid
from pathlib import Path

from threebrokers.cluster import settings
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError


def folder(home: Path, node: int) -> Path:
    """Return the data folder of one broker."""
    return home / "data" / f"broker-{node}"


def is_laid_out(home: Path, saved: SavedState) -> bool:
    """Tell whether all three brokers have a formatted folder of this home's cluster."""
    return bool(saved.cluster_id) and laid_out(home) == saved.cluster_id


def laid_out(home: Path) -> str:
    """Return the id of the cluster for which all three folders are formatted; empty if they are not."""
    found = {_cluster_of(home, n) for n in settings.BROKERS}
    return found.pop() if len(found) == 1 else ""


def lay_out(home: Path, template: Path) -> str:
    """Make three empty, formatted folders and return the new cluster's id.

    Formatting is the same for every node but for three ids, so the template is copied and only
    `meta.properties` is written anew. Raises LabError if the disk is full or not writable.
    """
    cluster_id = kafka_id()
    try:
        remove(home)
        for node in settings.BROKERS:
            shutil.copytree(template, folder(home, node))
            meta = {
                "version": "1",
                "cluster.id": cluster_id,
                "node.id": str(node),
                "directory.id": kafka_id(),
            }
            (folder(home, node) / "meta.properties").write_text(settings.as_text(meta))
    except OSError as fault:
        shutil.rmtree(home / "data", ignore_errors=True)
        raise LabError(
            f"The brokers' folders cannot be made in {home} ({fault.strerror})",
            "free some disk space, or set THREEBROKERS_HOME to another folder",
        ) from fault
    return cluster_id


def is_saved(home: Path, node: int) -> bool:
    """Tell whether a broker has closed its logs cleanly since it was started; then it has no more to lose."""
    return (folder(home, node) / ".kafka_cleanshutdown").exists()


def remove(home: Path) -> None:
    """Delete all data and logs of the brokers of this home."""
    for name in ("data", "conf", "logs"):
        if (home / name).exists():
            shutil.rmtree(home / name)


def configure(home: Path, saved: SavedState) -> None:
    """Write each broker's configuration file."""
    (home / "conf").mkdir(parents=True, exist_ok=True)
    for node in settings.BROKERS:
        values = settings.properties(
            node, saved.addresses(), str(folder(home, node)), saved.listening()[node]
        )
        configuration(home, node).write_text(settings.as_text(values))


def configuration(home: Path, node: int) -> Path:
    """Return the path of one broker's configuration file."""
    return home / "conf" / f"broker-{node}.properties"


def kafka_id() -> str:
    """Return a fresh id as Kafka writes them: 16 random bytes in URL-safe base 64, not starting with '-'."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def _cluster_of(home: Path, node: int) -> str:
    try:
        lines = (folder(home, node) / "meta.properties").read_text().splitlines()
    except OSError:
        return ""
    return next((line.split("=", 1)[1] for line in lines if line.startswith("cluster.id=")), "")
