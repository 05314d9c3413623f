"""A box for one hand-in: namespaces of Linux, and a file system of only what it needs, read-only.

`command()` starts a process as the first of new namespaces (user, network, processes, mounts); `enter()`,
called in it, mounts what may be seen and makes that the root. Nothing of it needs rights of an administrator.
"""

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

from threebrokers.errors import LabError
from threebrokers.grading import confine
from threebrokers.grading.orders import Order
from threebrokers.paths import IN_WHEEL, cache, home

UNSHARE = "--user --map-root-user --net --pid --mount --ipc --uts --fork --kill-child=SIGKILL"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = (
    *("passwd", "group", "hosts", "nsswitch.conf", "ld.so.cache", "localtime", "timezone", "fonts"),
    *("alternatives", "ssl", "mime.types", "services", "protocols"),
)
DEVICES = ("null", "zero", "full", "random", "urandom")
# Of an administrator's own namespaces these would change the whole machine.
READ_ONLY_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs")
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 4, 8, 32, 4096, 16384
MS_NOATIME, MS_NODIRATIME, MS_PRIVATE, MS_RELATIME = 1024, 2048, 1 << 18, 1 << 21
KEPT = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME  # the same bits as statvfs tells
ST_RELATIME = 4096
SIOCSIFFLAGS, IFF_UP_RUNNING = 0x8914, 0x41
PR_SET_PDEATHSIG, SIGKILL = 1, 9
ROOM = "size=268435456,mode=755"  # of the few files of the root itself


def command() -> list[str]:
    """Return the words that start a program as the first process of its namespaces. Raises LabError."""
    program = shutil.which("unshare")
    if sys.platform != "linux" or program is None:
        raise LabError("This system has no `unshare`, so hand-ins cannot be kept apart")
    return [program, *UNSHARE.split()]


def visible() -> list[str]:
    """Return what a hand-in may read: the system's programs, this Python and its packages, the course's code.

    Neither solutions/ nor lessons/ is among it, nor anybody's home.
    """
    packages = [*map(Path, sys.path), Path(sys.prefix), Path(sys.base_prefix)]
    packages += [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "scripts")]
    wanted = [Path(__file__).parents[1], *(path for path in packages if _is_of_python(path))]
    wanted = [one for path in wanted if path.is_dir() for one in (path, path.resolve())]
    return sorted({*map(str, wanted), *(name for name in SYSTEM if Path(name).exists()), str(cache())})


def hidden() -> list[str]:
    """Return what lies in these folders and is not shown: all homes with their keys, and solutions.

    A wheel has these inside of the package, which may be shown under several names.
    """
    shown = [(Path(name), Path(name).resolve()) for name in visible()]
    # What holds something that must be shown cannot be hidden.
    secret = [one for one in (IN_WHEEL, home().resolve()) if not any(r.is_relative_to(one) for _, r in shown)]
    found = {
        str(place / one.relative_to(real))
        for place, real in shown
        for one in secret
        if one.is_relative_to(real)
    }
    return [str(cache() / "benches"), *sorted(found)]


def enter(order: Order) -> None:
    """Make the box the whole world of this process and of all that it starts. Raises OSError.

    What is left of its privileges is one that means nothing, and that a hand-in has not: so Linux lets no
    hand-in look into this process.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    _loopback_up()
    root = Path(order.box) / "root"
    _mount(None, Path("/"), None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, ROOM)
    own = Path(order.box) / "rw"
    _bind(own, root / "box")
    _bind(own / "tmp", root / "tmp")
    for name in order.visible:
        _show(Path(name), root)
    for name in SETTINGS:
        _show(Path("/etc") / name, root)
    for path in order.hidden:
        if Path(path).is_dir() and (root / path[1:]).is_dir():
            _mount("tmpfs", root / path[1:], "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV)
    _devices(root)
    _proc(root)
    _mount(None, root, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chroot(root)
    os.chdir("/box/work")
    confine.drop(keep=confine.NET_BIND_SERVICE)


def _is_of_python(path: Path) -> bool:
    """Leave out what holds no packages: the course as a whole, or what a teacher has put on the path."""
    known = (Path(sys.prefix), Path(sys.base_prefix))
    of_packages = {"site-packages", "dist-packages"} & {*path.parts}
    return path.is_absolute() and bool(of_packages or any(path.is_relative_to(one) for one in known))


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP_RUNNING))


def _show(path: Path, root: Path) -> None:
    """Let a file or a folder be read at its own place, if it is there."""
    target = root / str(path)[1:]
    if path.is_symlink() and not target.exists() and len(path.parts) == 2:  # /bin is a link to usr/bin
        target.symlink_to(path.readlink())
    elif path.exists() and not path.is_symlink():
        _bind(path, target)
        _make_read_only(target)
    elif path.exists() and not target.exists():  # a link: what it names is shown under its name
        _bind(path.resolve(), target)
        _make_read_only(target)


def _bind(path: Path, target: Path) -> None:
    if path.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(str(path), target, None, MS_BIND | MS_REC)


def _make_read_only(target: Path) -> None:
    """Forbid writing to a mounted tree, with all that is mounted below."""
    mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    paths = [one.encode().decode("unicode_escape") for one in mounted]
    for path in [one for one in paths if one == str(target) or one.startswith(f"{target}/")]:
        found = os.statvfs(path).f_flag
        # What was set before may not be taken away here, so it is said again.
        flags = found & KEPT | (MS_RELATIME if found & ST_RELATIME else 0)
        _mount(None, Path(path), None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | flags)


def _devices(root: Path) -> None:
    folder = root / "dev"
    folder.mkdir()
    for name in DEVICES:
        _bind(Path("/dev") / name, folder / name)
    for name, goal in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (folder / name).symlink_to(f"/proc/self/fd{goal}")
    (folder / "shm").mkdir()
    _mount("tmpfs", folder / "shm", "tmpfs", MS_NOSUID | MS_NODEV, "size=268435456,mode=1777")


def _proc(root: Path) -> None:
    folder = root / "proc"
    folder.mkdir()
    _mount("proc", folder, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in READ_ONLY_PROC:
        if (folder / name).exists():
            with suppress(FileNotFoundError):
                _mount(str(folder / name), folder / name, None, MS_BIND)
                _make_read_only(folder / name)


def _mount(source: str | None, target: Path, kind: str | None, flags: int, data: str | None = None) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [word.encode() if word is not None else None for word in (source, str(target), kind)]
    if libc.mount(*words, ctypes.c_ulong(flags), data.encode() if data else None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))
