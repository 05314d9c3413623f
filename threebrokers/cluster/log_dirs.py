"""The brokers' folders on disk: laid out from a template that Kafka's own tool has formatted."""

import base64
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from threebrokers.cluster import settings
from threebrokers.cluster.state_file import SavedState
from threebrokers.errors import LabError
from threebrokers.files import copy_tree, faults_told, free_name, write_whole
from threebrokers.text import listed, numbered

NO_MAJORITY = "one disk is no majority"
BEGIN_ANEW = "put them back if you can; `threebrokers reset` begins anew with three empty disks"


def folder(home: Path, node: int) -> Path:
    """Return the data folder of one broker."""
    return home / "data" / f"broker-{node}"


def is_laid_out(home: Path) -> bool:
    """Tell whether there is any broker's folder in this home."""
    return any(folder(home, n).exists() for n in settings.BROKERS)


def clusters(home: Path) -> dict[int, str]:
    """Return the id of the cluster to which each broker's folder belongs; empty for one that is lost."""
    return {n: _cluster_of(home, n) for n in settings.BROKERS}


def complete(home: Path, template: Path, down: Collection[int], tell: Callable[[str], None] = print) -> str:
    """Make the folders that are missing, all three or one that was lost, and return the cluster's id.

    `down` are the brokers that do not run: only their folders are touched. A broker with a new, empty one
    copies from the others what it had, and `tell` hears of it; what is left of its old one is kept beside
    it. Raises LabError if two are lost, and changes nothing then; and if the disk is full or not writable.
    """
    if len(down) == len(settings.BROKERS) and not is_laid_out(home):
        return _lay_out(home, template)
    cluster_id, lost = majority(clusters(home))
    empty = replaced(home) | (set(lost) & set(down))  # one was renewed before, and has copied nothing yet
    if not cluster_id or len(empty) > 1:
        lost = lost if not cluster_id else sorted(empty)
        names = listed([str(folder(home, n)) for n in lost])
        raise LabError(
            f"The disks of {numbered('broker', lost)} are lost or damaged ({names}), and {NO_MAJORITY}",
            BEGIN_ANEW,
        )
    for node in set(lost) & set(down):
        kept = _set_aside(home, node)
        told = f" ({kept} keeps what was left)" if kept else ""
        tell(f"The disk of broker {node} was lost{told}: it gets an empty one and copies back what it had …")
        with faults_told(home):
            _renewed(home, node).touch(mode=0o600)
            _format(home / "data", template, node, cluster_id)
    return cluster_id


def majority(found: Mapping[int, str]) -> tuple[str, list[int]]:
    """Return the cluster of most of these disks, and the brokers whose disk is lost or of another one.

    Without a majority the cluster is empty, and those are named that differ from the most frequent one.
    """
    most = Counter(filter(None, found.values())).most_common(1)
    cluster_id, count = most[0] if most else ("", 0)
    lost = [n for n, of in sorted(found.items()) if of != cluster_id]
    return (cluster_id if count * 2 > len(found) else "", lost)


def replaced(home: Path) -> set[int]:
    """Return the brokers whose lost disk was renewed, and which have not started with the new one yet.

    One that has only never come so far as to start, as in a first start that broke off, is none of them.
    """
    new = {n for n in settings.BROKERS if not _metadata(home, n).exists()}
    return {n for n in new if _renewed(home, n).exists()} if len(new) < len(settings.BROKERS) else set()


def _renewed(home: Path, node: int) -> Path:
    """Return the file that says that a broker's disk was lost once, and was made anew."""
    return home / "data" / f"renewed-{node}"


def _metadata(home: Path, node: int) -> Path:
    return folder(home, node) / "__cluster_metadata-0"


def _lay_out(home: Path, template: Path) -> str:
    """Make three empty, formatted folders, all or none, and return the new cluster's id."""
    cluster_id, new = kafka_id(), home / "data.new"
    with faults_told(home):
        try:
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700, parents=True)
            for node in settings.BROKERS:
                _format(new, template, node, cluster_id)
            if (home / "data").exists():  # with no broker's folder, but perhaps with what was kept of one
                (home / "data").rename(free_name(home / "data", "lost"))
            new.rename(home / "data")
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return cluster_id


def _format(data: Path, template: Path, node: int, cluster_id: str) -> None:
    """Make one formatted folder: formatting is the same for every node but for three ids."""
    made, done = data / f".broker-{node}", data / f"broker-{node}"
    shutil.rmtree(made, ignore_errors=True)
    copy_tree(template, made)
    meta = {"version": "1", "cluster.id": cluster_id, "node.id": str(node), "directory.id": kafka_id()}
    (made / "meta.properties").write_text(settings.as_text(meta))
    made.rename(done)


def _set_aside(home: Path, node: int) -> Path | None:
    """Give a damaged folder another name; return it, or None if there was nothing left."""
    lost = folder(home, node)
    if not lost.exists():
        return None
    kept = free_name(lost, "lost")
    lost.rename(kept)
    return kept


def is_saved(home: Path, node: int) -> bool:
    """Tell whether a broker has closed its logs cleanly since it was started; then it has no more to lose."""
    return (folder(home, node) / ".kafka_cleanshutdown").exists()


def scratch(home: Path, node: int) -> Path:
    """Return an empty folder for one broker's temporary files; a broker that is killed leaves its own there.

    Raises LabError if the disk is full or not writable.
    """
    made = home / "tmp" / f"broker-{node}"
    with faults_told(home):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    return made


def remove(home: Path) -> None:
    """Delete all data, logs and temporary files of the brokers of this home."""
    for path in [home / "conf", home / "logs", home / "tmp", *home.glob("data*")]:
        if path.exists():
            shutil.rmtree(path)


def configure(home: Path, saved: SavedState) -> None:
    """Write each broker's configuration file. Raises LabError if the disk is full or not writable."""
    with faults_told(home):
        for node in settings.BROKERS:
            data, listening = str(folder(home, node)), saved.listening()[node]
            values = settings.properties(node, saved.addresses(), data, listening)
            write_whole(configuration(home, node), settings.as_text(values).encode(), 0o600)


def configuration(home: Path, node: int) -> Path:
    """Return the path of one broker's configuration file."""
    return home / "conf" / f"broker-{node}.properties"


def kafka_id() -> str:
    """Return a fresh id as Kafka writes them: 16 random bytes in URL-safe base 64, not starting with '-'."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def cluster_named(meta: str) -> str:
    """Return the cluster's id in the text of a meta.properties; empty if there is none."""
    lines = (line.partition("=") for line in meta.splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == "cluster.id"), "")


def _cluster_of(home: Path, node: int) -> str:
    try:
        return cluster_named((folder(home, node) / "meta.properties").read_text("ascii", "replace"))
    except OSError:
        return ""
