"""Where a home keeps its files."""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

from threebrokers.errors import LabError, cannot_write

SEPARATORS = ",:"  # lists of folders (log.dirs, class paths) are separated by these, and know no escape
NAMES = 9  # of runtime folders in the machine's temporary one, before it is said that all are taken


PACKAGE = Path(__file__).resolve().parent
IN_WHEEL = PACKAGE / "course"  # what a wheel brings along; a clone has it beside the package
ROOT = "THREEBROKERS_ROOT"  # what `threebrokers lab` tells all that it starts
HANDED_OUT = Path("work", ".handed_out.json")


def is_clone() -> bool:
    """Tell whether the course runs from a clone, and not from an installed wheel."""
    return not IN_WHEEL.is_dir()


def course() -> Path:
    """Return the folder of labs/, solutions/, slides/, docs/ and docker-compose.yml, to be read only."""
    return PACKAGE.parent if is_clone() else IN_WHEEL


def root() -> Path:
    """Return the folder that holds, or gets, the learner's work/: this clone, or else the current folder.

    Without a clone it is the one in which `threebrokers lab` was run, also from a folder inside it. A work/
    of another user, which they could have put there for others, is never taken.
    Raises LabError if the current folder was deleted, or holds such a work/.
    """
    if is_clone():
        return PACKAGE.parent
    told = Path(os.environ.get(ROOT) or ".")
    if told.is_absolute():
        return told
    try:
        here = Path.cwd()
    except OSError as fault:
        raise LabError("The current folder was deleted", "go to another one with cd") from fault
    found = next((folder for folder in (here, *here.parents) if _is_own(folder / HANDED_OUT)), None)
    if found is None and _is_planted(here / HANDED_OUT.parent, here):
        raise LabError(
            f"{here / HANDED_OUT.parent} belongs to another user, so its notebooks are not taken for yours",
            "go to a folder of your own with cd",
        )
    return found or here


def _is_own(register: Path) -> bool:
    """Tell whether this file is there, and it and its folder are this user's, and no links.

    Rights say nothing where a file system has none, as on a disk of Windows.
    """
    try:
        kinds = (stat.S_ISREG, register.lstat()), (stat.S_ISDIR, register.parent.lstat())
    except OSError:
        return False
    return all(is_kind(found.st_mode) and found.st_uid == os.getuid() for is_kind, found in kinds)


def _is_planted(folder: Path, above: Path) -> bool:
    """Tell whether a folder is neither this user's nor that of who owns the one above it, as in /tmp."""
    try:
        return folder.lstat().st_uid not in (os.getuid(), above.stat().st_uid)
    except OSError:
        return False


def lab_command(number: str = "", port: str = "") -> str:
    """Return the command that starts the labs here, for a sentence: without a clone it is not make."""
    if is_clone():
        return "make lab" + (f" LAB={number}" if number else "") + (f" PORT={port}" if port else "")
    return "threebrokers lab" + (f" {number}" if number else "") + (f" --port {port}" if port else "")


def cache() -> Path:
    """Return the folder that all clones share: Kafka's jars and what was prepared from them.

    `THREEBROKERS_CACHE` moves it. Raises LabError if it cannot be made.
    """
    return _folder(
        os.environ.get("THREEBROKERS_CACHE") or platformdirs.user_cache_path("threebrokers"),
        "THREEBROKERS_CACHE",
    )


def home() -> Path:
    """Return the folder of this home: its state, data, logs and progress. Made for its owner's eyes alone.

    `THREEBROKERS_HOME` moves it; the default belongs to the folder of work/ alone, so two clones never meet.
    Raises LabError if it cannot be made.
    """
    given = os.environ.get("THREEBROKERS_HOME")
    if given:
        return _folder(given, "THREEBROKERS_HOME")
    own = root()
    clone = hashlib.sha256(os.fsencode(own)).hexdigest()[:8]
    folder = _folder(cache() / "benches" / f"{own.name}-{clone}", "THREEBROKERS_HOME")
    if folder.stat().st_mode & 0o077:  # made by an earlier version, or with other rights
        with suppress(OSError):
            folder.chmod(0o700)
    return folder


def _folder(path: str | Path, variable: str) -> Path:
    try:
        folder = Path(path).expanduser().absolute()
    except (OSError, RuntimeError) as fault:  # no home folder, or the shell's own was deleted
        raise LabError(
            f"It is not known where {path} is ({fault})", f"set {variable} to the whole path of a folder"
        ) from fault
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise cannot_write(fault, folder, variable) from fault
    return _without(SEPARATORS, folder)


def expanded(path: str | Path) -> Path:
    """Return a path from its user's home folder on; as it is, if `~name` is nobody's, as a shell does.

    Then there is no such file, which whoever asks for it says.
    """
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def runtime() -> Path:
    """Return the folder that all homes of this user on this machine share, made if it is missing.

    It is that of the login session, if there is one; a link in it, or a file of another user, is never used.
    """
    session = Path(os.environ.get("XDG_RUNTIME_DIR") or ".")
    if session.is_absolute() and _is_private(session):
        folder = session / "threebrokers"
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if _is_private(folder):
                return folder
    return _temporary()


def _temporary() -> Path:
    """Return a folder of this user's own in the machine's temporary one.

    Everybody may make a folder of this name there, so one that another user made or may write to is passed
    over. Raises LabError if all are.
    """
    names = [f"threebrokers-{os.getuid()}{f'-{n}' if n > 1 else ''}" for n in range(1, NAMES + 1)]
    for folder in (Path(tempfile.gettempdir()) / name for name in names):
        try:
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700)
            if _is_private(folder):
                return folder
        except OSError as fault:
            raise cannot_write(fault, folder, "TMPDIR") from fault
    raise LabError(
        f"{Path(tempfile.gettempdir()) / names[0]} is not a folder that you alone may write to, "
        "so it is not used",
        "have it deleted, or set TMPDIR to a folder of your own",
    )


def _is_private(folder: Path) -> bool:
    """Tell whether this is a folder, and no link, to which this user alone may write."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _without(letters: str, folder: Path) -> Path:
    """Return the folder, or another name for it that has none of these letters.

    A login session's folder would not do: it goes when the session ends, and brokers may outlive that.
    """
    if not set(letters) & set(str(folder)):
        return folder
    name = _temporary() / hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    if name.is_symlink() and name.readlink() != folder:
        name.unlink()
    with suppress(FileExistsError):
        name.symlink_to(folder)
    return name
