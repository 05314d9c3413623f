"""What a terminal brings along that was meant for other programs: it must not reach the course.

Standard library only.
"""

import codecs
import os
import sys
import warnings
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import TextIO

# Found without the module that knows it, which imports a package: until here nothing foreign may be loaded.
COURSE = Path(__file__).parents[2]
# Variables of Python that change what a program finds, says or refuses; set for another one, they break this.
# (Without bytecode each kernel and command compiles its packages anew: it takes two to three times as long.)
FOREIGN = (
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONIOENCODING",
    "PYTHONOPTIMIZE",
    "PYTHONSAFEPATH",
    "PYTHONSTARTUP",
    "PYTHONWARNINGS",
)
# Variables that name a folder or a file of the learner's.
PLACES = ("THREEBROKERS_HOME", "THREEBROKERS_CACHE", "THREEBROKERS_JAVA", "THREEBROKERS_CLIENT")
SIGNS = str.maketrans(
    {"✓": "+", "✗": "x", "○": "o", "⚠": "!", "→": "->", "…": "...", "–": "-", "·": ".", "“": '"', "”": '"'}
)
PLAIN = "threebrokers-plain"


def leave_behind() -> None:
    """Let this program, and all that it starts, find its own packages and say what it has to say."""
    _only_own_packages(os.environ, sys.path)
    _only_own_virtual_environment(os.environ)
    _whole_paths(os.environ)
    codecs.register_error(PLAIN, _plainly)
    for stream in (sys.stdout, sys.stderr):
        _make_bearable(stream)
    if sys.warnoptions:
        warnings.simplefilter("ignore")
    for name in FOREIGN:
        os.environ.pop(name, None)
    sys.dont_write_bytecode = False


def _only_own_packages(environment: MutableMapping[str, str], path: list[str]) -> None:
    """Forget the folders of PYTHONPATH: a module of theirs may have the name of one that the course needs."""
    given = environment.pop("PYTHONPATH", "").split(os.pathsep)
    own = [folder for folder in given if folder and _is_course(folder)]
    if own:  # authors, who work on a second clone with one set of packages
        environment["PYTHONPATH"] = os.pathsep.join(own)
    foreign = {_absolute(folder) for folder in given if folder and folder not in own}
    path[:] = [folder for folder in path if folder not in foreign]


def _only_own_virtual_environment(environment: MutableMapping[str, str]) -> None:
    """Forget another environment that is activated: IPython puts its packages before a kernel's own."""
    activated = environment.get("VIRTUAL_ENV")
    if activated is not None and (not activated or Path(activated).resolve() != Path(sys.prefix).resolve()):
        del environment["VIRTUAL_ENV"]


def _whole_paths(environment: MutableMapping[str, str]) -> None:
    """Make the paths in variables whole ones: from a notebook's folder they would lead elsewhere."""
    for name in PLACES:
        if environment.get(name):
            with suppress(OSError, RuntimeError):  # whoever needs it says that it is not known where it is
                environment[name] = str(Path(environment[name]).expanduser().absolute())


def _absolute(folder: str) -> str:
    try:
        return os.path.abspath(folder)  # noqa: PTH100 – as Python does for its own path, without `..`
    except OSError:  # the folder in which the shell is was deleted
        return folder


def _is_course(folder: str) -> bool:
    try:
        return Path(folder).samefile(COURSE)
    except OSError:
        return False


def _make_bearable(stream: TextIO) -> None:
    if hasattr(stream, "reconfigure"):  # a test's has no encoding
        stream.reconfigure(errors=PLAIN)


def _plainly(fault: UnicodeError) -> tuple[str, int]:
    """Write in other signs what a terminal cannot show: ✓ as +, → as ->, any other one as ?."""
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    text = fault.object[fault.start : fault.end].translate(SIGNS)
    return "".join(sign if sign.isascii() else "?" for sign in text), fault.end
