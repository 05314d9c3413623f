"""What a terminal brings along for other programs: the course finds its packages, and says what it has to."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from threebrokers.app import surroundings
from tools import ROOT

SHADOWED = ("filelock", "msgspec", "platformdirs", "psutil", "rich")


def command(home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command as its script does, in this environment."""
    program = "import sys; from threebrokers.app.cli import app; sys.exit(app())"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    given = {"PYTHONPATH": str(ROOT), "THREEBROKERS_HOME": str(home), **environment}
    return subprocess.run(
        [sys.executable, "-c", program, *words], env=kept | given, capture_output=True, check=False
    )


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of modules that have the names of packages of the course, and end whoever imports them."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in SHADOWED:
        (folder / f"{name}.py").write_text("raise SystemExit(__name__ + ' is not the course\\'s')\n")
    return folder


@pytest.mark.fault("Environment", "PYTHONPATH has modules with the names of packages of the course")
def test_a_foreign_pythonpath(tmp_path, foreign, behaviour):
    path = os.pathsep.join((str(foreign), str(ROOT)))
    done = command(tmp_path / "home", "status", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, b"")
    environment, places = {"PYTHONPATH": path}, [str(foreign), "/other"]
    surroundings._only_own_packages(environment, places)
    assert environment == {"PYTHONPATH": str(ROOT)}, "JupyterLab, its kernels and programs get only this"
    assert places == ["/other"]
    behaviour("`make lab`, `threebrokers`, kernels and programs find the course's own packages")


@pytest.mark.fault("Environment", "another virtual environment is activated (VIRTUAL_ENV)")
@pytest.mark.parametrize("kept", [False, True], ids=["another", "the course's own"])
def test_another_virtual_environment(tmp_path, kept, behaviour):
    activated = Path(sys.prefix) if kept else tmp_path / "other"
    packages = activated / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True, exist_ok=True)
    program = """if True:
        import os, subprocess, sys
        from threebrokers.app import surroundings
        surroundings.leave_behind()
        kernel = "from IPython.core.interactiveshell import InteractiveShell; InteractiveShell(); "
        subprocess.run([sys.executable, "-c", kernel + "import sys; print(sys.path)"])
        print(os.environ.get("VIRTUAL_ENV"))
    """
    given = os.environ | {"VIRTUAL_ENV": str(activated), "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-u", "-c", program], env=given, capture_output=True, text=True, check=True
    )
    path, left = done.stdout.splitlines()
    assert (str(packages) in path, left, done.stderr) == (kept, str(activated) if kept else "None", "")
    behaviour("kernels find the course's own packages first, and nobody is told of another environment")


@pytest.mark.fault("Environment", "PYTHONPATH and PYTHONHOME are set, and `make` is called")
def test_make_hands_nothing_on(tmp_path, behaviour):
    program = "import os, sys; print([n for n in os.environ if n[:6] in ('PYTHON', 'VIRTUA')]); sys.exit(1)"
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{program}"\n')
    python.chmod(0o755)
    given = {"PYTHONPATH": "/x", "PYTHONHOME": "/nonsense", "VIRTUAL_ENV": "/x"}
    given |= dict.fromkeys(("PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE"), "1")
    words = ("make", "-C", ROOT, f"PYTHON={python}", "runtime")
    done = subprocess.run(words, env=os.environ | given, capture_output=True, text=True, check=False)
    assert "['PYTHON'" in done.stdout, done
    assert not given.keys() & set(re.findall(r"\w+", done.stdout))
    behaviour("set-up and labs run as if they were not set")


@pytest.mark.parametrize(
    ("given", "words", "signs", "says"),
    [
        ({"PYTHONIOENCODING": "ascii"}, "status", "ascii", "Home: "),
        ({"PYTHONIOENCODING": "ascii"}, "doctor", "ascii", "free in "),
        ({"PYTHONIOENCODING": "latin-1"}, "doctor", "latin-1", "free in {home}"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "restore 99", "ascii", ""),
    ],
)
@pytest.mark.fault("Environment", "the terminal knows only ASCII (PYTHONIOENCODING=ascii, LANG=C)")
def test_a_plain_terminal(tmp_path, given, words, signs, says, behaviour):
    home = tmp_path / ("café" if signs == "latin-1" else "home")  # a letter that ASCII has not
    done = command(home, *words.split(), **given)
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr
    assert (done.stdout + done.stderr).isascii() == (signs == "ascii")
    assert says.format(home=home) in done.stdout.decode(signs)
    if "restore" in words:
        assert done.stderr.startswith(b"x There is no lab 99")
    behaviour("signs that it cannot show are written in others: + for a tick, x for a cross, -> for an arrow")


@pytest.mark.parametrize(
    "given",
    [
        {"PYTHONWARNINGS": "error"},
        {"PYTHONOPTIMIZE": "2"},
        {"PYTHONSAFEPATH": "1"},
        {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "ignore"},
        {"COLUMNS": "nonsense", "TERM": "nonsense"},
        {"XDG_RUNTIME_DIR": "/nonsense", "XDG_CACHE_HOME": ""},
    ],
    ids=lambda given: next(iter(given)),
)
@pytest.mark.fault(
    "Environment", "Python or the terminal is told to work otherwise (PYTHONWARNINGS, COLUMNS, …)"
)
def test_other_settings(tmp_path, given, behaviour):
    done = command(tmp_path / "home", "status", **given)
    assert (done.returncode, done.stderr) == (0, b"")
    behaviour("commands answer as without them")


@pytest.mark.fault("Environment", "umask 077, and umask 000")
@pytest.mark.parametrize("mask", [0o077, 0o000])
def test_a_umask(tmp_path, mask, behaviour):
    program = f"""
import os
os.umask({mask})
from pathlib import Path
from threebrokers import progress
from threebrokers.cluster import log_dirs, settings, state_file
from threebrokers.paths import home
progress.record("2.1", solved=True)
state_file.save(home(), state_file.SavedState("x"))
template = home() / "template"
template.mkdir()
log_dirs.complete(home(), template, settings.BROKERS)
for path in (home(), home() / "data", home() / "progress.json", home() / "cluster.json"):
    print(oct(path.stat().st_mode & 0o777))
"""
    environment = {**os.environ, "THREEBROKERS_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["0o700", "0o700", "0o600", "0o600"], done
    behaviour("home, data and progress are readable for their owner alone")


@pytest.mark.fault("Environment", "standard output or standard error is closed")
def test_closed_streams(tmp_path, behaviour):
    script = 'exec "$@" >&- 2>&-'
    program = "import sys; from threebrokers.app.cli import app; sys.exit(app())"
    environment = {**os.environ, "THREEBROKERS_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    words = ["sh", "-c", script, "sh", sys.executable, "-c", program]
    assert subprocess.run([*words, "status"], env=environment, check=False).returncode == 0
    assert subprocess.run([*words, "restore", "99"], env=environment, check=False).returncode == 1
    behaviour("the command does its work, and its exit code tells how it ended")
