"""The learner's own copies of the labs, in work/: handed out once, never overwritten."""

import hashlib
from contextlib import AbstractContextManager
from pathlib import Path

from threebrokers.errors import LabError
from threebrokers.files import free_name, write_whole
from threebrokers.paths import course, is_clone, root
from threebrokers.store import JsonFile

LOCK_SECONDS = 10
LENT = ("labs", "solutions", "docs", "slides")  # of an installed course: links beside work/
# The register was lost: an older version looks then as a file does that the learner has changed.
UNKNOWN = (
    "It is not known any more which of your notebooks you have changed, so all of them stay as they are: "
    "`threebrokers restore 02` brings a new lab 02 and keeps yours."
)


def labs() -> dict[str, Path]:
    """Return the untouched notebook of each lab by number ("02"), in order. Raises LabError if none."""
    found = {path.name.split("_")[0]: path for path in sorted((course() / "labs").glob("[0-9][0-9]_*.ipynb"))}
    if not found:
        cure = "run `make build`, it makes them of lessons/" if is_clone() else "install threebrokers again"
        raise LabError(f"{course() / 'labs'} holds no notebook: {cure}.")
    return found


def lab(number: str) -> Path:
    """Return the untouched notebook of one lab ("2" is "02"). Raises LabError if there is none."""
    known = labs()
    if number.zfill(2) not in known:
        raise LabError(f"There is no lab {number}: the labs are {', '.join(known)}.")
    return known[number.zfill(2)]


def mine(untouched: Path) -> Path:
    """Return where the learner's copy of a file of labs/ lies."""
    return root() / "work" / untouched.relative_to(course() / "labs")


def hand_out() -> list[str]:
    """Copy every file of labs/ that is new to the learner into work/; return what to tell, in sentences.

    A file that the learner has changed stays as it is: its newer version lands beside it.
    """
    labs()
    if not is_clone():
        _lend()
    told = []
    with _handed_out() as given:
        for source in sorted((course() / "labs").rglob("*")):
            if source.is_file() and not any(part.startswith(".") for part in source.parts[-2:]):
                told += _hand_out(source, given)
    return list(dict.fromkeys(told))


def is_lent(folder: Path) -> bool:
    """Tell whether this is a link to a folder of an installed course."""
    return folder.is_symlink() and folder.readlink().parts[-3:] == ("threebrokers", "course", folder.name)


def _lend() -> None:
    """Show the course's own folders beside work/, as links: lessons name solutions and pages there.

    Whatever the learner has under such a name stays.
    """
    for name in LENT:
        link = root() / name
        if is_lent(link):  # perhaps of an older installation
            link.unlink()
        if not (link.exists() or link.is_symlink()):
            link.symlink_to(course() / name)


def restore(number: str) -> str:
    """Put the untouched lab back and return what was done, in a sentence. The old file is kept beside it."""
    source = lab(number)
    target, content = mine(source), source.read_bytes()
    with _handed_out() as given:
        before = target.read_bytes() if target.exists() else content
        given[target.name] = _hash(content)
        kept = keep_beside(target) if before != content else None
        write_whole(target, content)
    again = f" What you had is in {kept.name}." if kept else ""
    return f"work/{target.name} is as it was handed out.{again}"


def keep_beside(target: Path) -> Path:
    """Copy a learner's file to a free name beside it (`02_the_log.old.ipynb`) and return that."""
    kept = free_name(target, "old")
    write_whole(kept, target.read_bytes(), target.stat().st_mode & 0o777)
    return kept


def _hand_out(source: Path, given: dict[str, str]) -> list[str]:
    target, content = mine(source), source.read_bytes()
    name, new = target.relative_to(root() / "work").as_posix(), _hash(content)
    last, given[name] = given.get(name), new
    if not target.exists():
        write_whole(target, content)
        return []
    now = _hash(target.read_bytes())
    if new in (last, now):
        return []
    if last is None:
        return [UNKNOWN]
    if now == last:  # nothing of the learner's is in it
        write_whole(target, content)
        return [f"work/{name} is updated; you had not changed it."]
    beside = free_name(target, "new")
    write_whole(beside, content)
    return [f"Lab {name} has a newer version: it lies beside yours as work/{beside.name}."]


def _handed_out() -> AbstractContextManager[dict[str, str]]:
    """Yield the hash of each file as it was last handed out, and keep what the caller changes in it.

    It tells a lab that the course has updated from one that the learner has edited.
    """
    # If it is damaged, every file that differs is taken for the learner's own.
    file = JsonFile[dict[str, str]](root() / "work" / ".handed_out.json", dict[str, str])
    return file.changed(dict, LOCK_SECONDS)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
