"""Setting up .venv: redone when it must be, never otherwise, and each fault is one sentence."""

import ast
import collections
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from threebrokers.waiting import quiet_wait
from tools import ROOT as REPO
from tools.setup import __main__, environment, installer, kafka, packages, progress
from tools.setup.errors import SetupError, cannot_write, why

OFFLINE = """\
WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Failed to')': /x/
ERROR: Could not find a version that satisfies the requirement hatchling>=1.27 (from versions: none)
ERROR: No matching distribution found for hatchling>=1.27
"""


class Root:
    """A clone to set up, with a fake pip and venv that note what they are asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.said: list[str] = []
        self.done: list[str] = []
        for name in packages.SOURCES:
            (path / name).write_text(name)

    def ensure(self, extra: str = "") -> list[str]:
        """Set up, and return what was done for it."""
        self.done.clear()
        environment.ensure(self.path, extra, self.said.append)
        return self.done


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    root = Root(tmp_path)

    def make_venv(venv: Path) -> None:
        root.done.append("venv")
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "python").symlink_to(sys.executable)

    def install_wheels(folder: Path, extra: str, programs: object) -> None:
        root.done.append(f"install {extra}".strip())

    monkeypatch.setattr(packages, "make_venv", make_venv)
    monkeypatch.setattr(packages, "install_wheels", install_wheels)
    monkeypatch.setattr(packages, "install_sources", lambda *_: None)
    monkeypatch.setattr(kafka, "begun", lambda *_: nullcontext(lambda: None))
    return root


def test_the_first_time_says_what_it_needs_and_the_second_does_nothing(root: Root):
    assert root.ensure() == ["venv", "install"]
    assert "1.5 GB of disk" in root.said[0]
    assert "2 GB of memory" in root.said[0]
    root.said.clear()
    assert root.ensure() == []
    assert root.said == []


@pytest.mark.parametrize("name", packages.SOURCES)
def test_a_change_is_installed_into_the_same_venv(root: Root, name: str):
    root.ensure()
    (root.path / name).write_text("changed")
    assert root.ensure() == ["install"]
    assert root.ensure() == []


def test_authors_need_more_and_keep_it(root: Root):
    root.ensure()
    assert root.ensure("test") == ["install test"]
    assert root.ensure("test") == []
    assert root.ensure() == []
    (root.path / "requirements.txt").write_text("changed")
    assert root.ensure() == ["install test"]


@pytest.mark.parametrize("first", [True, False])
def test_an_interrupted_set_up_is_begun_again(root: Root, monkeypatch: pytest.MonkeyPatch, first: bool):
    if not first:
        root.ensure()
        (root.path / "requirements.txt").write_text("changed")
    install = packages.install_sources

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(packages, "install_sources", interrupted)
    with pytest.raises(KeyboardInterrupt):
        root.ensure()
    monkeypatch.setattr(packages, "install_sources", install)
    assert root.ensure() == ["venv", "install"]


def test_a_venv_whose_python_is_gone_is_made_again(root: Root):
    root.ensure()
    python = root.path / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert root.ensure() == ["venv", "install"]


def test_a_venv_of_another_python_is_made_again(root: Root):
    root.ensure()
    stamp = root.path / ".venv" / "threebrokers.json"
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"python": "3.11 /old"}))
    assert root.ensure() == ["venv", "install"]


def test_a_moved_clone_is_set_up_again(root: Root, tmp_path: Path):
    root.ensure()
    moved = tmp_path / "moved"
    shutil.copytree(tmp_path, moved, symlinks=True)
    root.path = moved
    assert root.ensure() == ["venv", "install"]


def test_two_at_once_set_up_once(root: Root, monkeypatch: pytest.MonkeyPatch):
    waiting, install = threading.Event(), packages.install_wheels

    def slow(*arguments: Any) -> None:
        assert waiting.wait(10)
        install(*arguments)

    def say(text: str) -> None:
        if "waiting for it" in text:
            waiting.set()

    monkeypatch.setattr(packages, "install_wheels", slow)
    with ThreadPoolExecutor() as pool:
        for run in [pool.submit(environment.ensure, root.path, "", say) for _ in range(2)]:
            run.result()
    assert root.done == ["venv", "install"]


def test_too_little_disk_is_said_before_anything_is_made(root: Root, monkeypatch: pytest.MonkeyPatch):
    usage = collections.namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(900_000_000))
    with pytest.raises(SetupError, match=r"^Only 900 MB are free .* needs 3500 MB .*: free some space"):
        root.ensure()
    assert not (root.path / ".venv").exists()


def test_little_memory_is_only_said(root: Root, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 250_000, "SC_PAGE_SIZE": 4000}.get)
    assert root.ensure() == ["venv", "install"]
    assert "This machine has 1000 MB of memory, less than the 2000 MB that the course needs." in root.said


def test_a_python_without_venv(root: Root, monkeypatch: pytest.MonkeyPatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find(name))
    with pytest.raises(SetupError, match="sudo apt install python3-venv"):
        root.ensure()
    assert not (root.path / ".venv").exists()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (KeyboardInterrupt(), "was interrupted: run the same command again"),
        (SetupError("No, because."), "✗ No, because."),
        (OSError(28, "No space left on device"), "is full: free some space"),
        (
            PermissionError(13, "Permission denied", "/x"),
            "/x cannot be used (Permission denied): give yourself",
        ),
    ],
)
def test_each_fault_is_one_sentence(monkeypatch: pytest.MonkeyPatch, fault: BaseException, told: str):
    def ensure(*_: object) -> None:
        raise fault

    monkeypatch.setattr(environment, "ensure", ensure)
    said = environment.main(["runtime"])
    assert told in str(said)
    assert "Traceback" not in str(said)
    assert len(str(said).strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (OFFLINE, "The package index could not be reached: look at your network or proxy, then run"),
        (
            "ERROR: Could not install: [Errno 28] No space left on device: '/x'",
            "The disk of .* is full: free",
        ),
        (
            "ERROR: No matching distribution found for pyspark>=4",
            "The package index has no pyspark>=4 for P",
        ),
        (
            "note\nERROR: Something else",
            r"install the packages \(Something else\): read .*setup\.log, then run",
        ),
        ("", r"\(no reason was given\)"),
    ],
)
def test_what_pip_says_becomes_one_sentence(output: str, told: str):
    sentence = why(output, Path("/clone/.venv"), "install the packages")
    assert re.search(told, sentence)
    assert "\n" not in sentence


LOCKED = """\
# [uv] first
uv==1 \\
    --hash=sha256:0
# [build] next
builder==1 \\
    --hash=sha256:1
# [source] source
pyspark==4 \\
    --hash=sha256:2
# [runtime] learners
a==1 ; sys_platform == 'linux' \\
    --hash=sha256:3 \\
    --hash=sha256:4
# [test] authors
b==2 \\
    --hash=sha256:5
"""
# Notes its name, its words, and the packages of the file that it should install, in one line.
NOTE = """\
given=""
word=""
for next in "$@"; do
    [ "$word" != -r ] || given=$(grep -o "^[a-z]*=" "$next" | tr -d "=" | tr "\\n" " ")
    word=$next
done
[ "$3" = config ] || echo "${0##*/} $* : $given" >> "${0%/*}/asked"
"""
NO_UV = "[ $3 = config ] || echo 'ERROR: No matching distribution found for uv==1'; exit 1"


class Programs:
    """A clone whose .venv has a fake python (for pip) and a fake uv, which note what they are asked."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin, self.said = root, root / ".venv" / "bin", list[str]()
        self.bin.mkdir(parents=True)
        (root / packages.LOCK).write_text(LOCKED)
        self.put("python", "")
        self.put("uv", "")

    def put(self, name: str, does: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{NOTE}{does}\n")
        (self.bin / name).chmod(0o755)

    def install(self, extra: str = "") -> list[tuple[str, str]]:
        """Install all; return which program was asked for which packages, in order ("" for the course)."""
        with installer.opened(self.root, self.said.append) as opened:
            packages.install_wheels(self.root, extra, opened)
            packages.install_sources(self.root, opened)
        return [(line.split()[0], line.rpartition(" : ")[2].strip()) for line in self.asked()]

    def asked(self) -> list[str]:
        return (self.bin / "asked").read_text().splitlines()

    def fault(self) -> str:
        with pytest.raises(SetupError) as raised:
            self.install()
        return str(raised.value)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    return Programs(tmp_path)


def test_pip_brings_uv_and_uv_the_rest(programs: Programs):
    rest = [("uv", "pyspark"), ("uv", "")]
    assert programs.install() == [("python", "uv"), ("uv", "builder a"), *rest]
    (programs.bin / "asked").unlink()
    assert programs.install("test") == [("python", "uv"), ("uv", "builder a b"), *rest]
    assert programs.said == []


def without_uv(programs: Programs) -> None:
    programs.put("python", f'case "$given" in "uv ") {NO_UV} ;; esac')


@pytest.mark.parametrize("has_uv", [True, False])
def test_nothing_comes_without_its_hash_and_nothing_is_built_apart(programs: Programs, has_uv: bool):
    if not has_uv:
        without_uv(programs)
    programs.install("test")
    *locked, course = programs.asked()
    assert all("--no-deps --require-hashes -r " in line for line in locked)
    assert all(("--only-binary :all:" in line) != ("--no-build-isolation" in line) for line in locked)
    assert f"--no-deps --no-build-isolation --editable {programs.root}" in course


@pytest.mark.parametrize(
    "broken",
    [
        "exit 1",
        "echo 'error: sending request: invalid peer certificate: UnknownIssuer'; exit 2",
        "echo 'error: No solution found'; echo '  cause: Because a is not there.'; exit 1",
    ],
)
def test_where_uv_does_not_work_pip_goes_on(programs: Programs, broken: str):
    programs.put("uv", broken)
    pips = [("python", "builder a"), ("python", "pyspark"), ("python", "")]
    assert programs.install() == [("python", "uv"), ("uv", "builder a"), *pips]
    (told,) = programs.said
    assert told.startswith("uv does not work here, so pip does it, which takes longer (")


def test_where_uv_is_not_to_be_had_pip_goes_on(programs: Programs):
    without_uv(programs)
    pips = [("python", "builder a"), ("python", "pyspark"), ("python", "")]
    assert programs.install() == [("python", "uv"), *pips]
    assert "(No matching distribution found for uv==1)" in programs.said[0]


def test_a_uv_that_this_machine_cannot_run(programs: Programs):
    (programs.bin / "uv").write_bytes(b"\x7fELF of another machine")
    assert ("python", "pyspark") in programs.install()


@pytest.mark.parametrize(
    ("program", "says", "told"),
    [
        (
            "python",
            "WARNING: Retrying after connection broken by 'x'",
            "could not be reached: look at your net",
        ),
        (
            "python",
            "ssl.SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED",
            "certificate that is not trusted",
        ),
        ("python", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "its sha256 differs"),
        (
            "uv",
            "  cause: error sending request for url (https://x/)",
            "could not be reached: look at your net",
        ),
        ("uv", "error: Hash mismatch for `a==1`", "its sha256 differs"),
        ("uv", "  cause: No space left on device (os error 28)", "is full: free some space"),
    ],
)
def test_what_another_program_would_not_mend_is_told_at_once(
    programs: Programs, program: str, says: str, told: str
):
    programs.put(program, f'echo "{says}"; exit 1')
    assert told in programs.fault()
    assert programs.said == []
    assert programs.asked()[-1].startswith(program)


def test_the_words_of_a_failing_program_are_kept(programs: Programs):
    without_uv(programs)
    programs.put("python", 'echo "ERROR: Something else"; exit 1')
    assert "(Something else): read " in programs.fault()
    assert "Something else" in (programs.root / ".venv" / "setup.log").read_text()


def test_temporary_files_and_what_was_fetched_go_when_all_is_installed(programs: Programs):
    programs.put("uv", 'mkdir -p "$UV_CACHE_DIR"; echo "$TMPDIR $UV_CACHE_DIR" > "${0%/*}/folders"')
    programs.install()
    temporary, fetched = map(Path, (programs.bin / "folders").read_text().split())
    assert temporary.is_relative_to(programs.root / ".venv")
    assert fetched.is_relative_to(programs.root / "build")
    assert not temporary.exists()
    assert not fetched.exists()


def test_what_was_fetched_stays_for_the_next_try(programs: Programs):
    programs.put("uv", 'mkdir -p "$UV_CACHE_DIR/x"; echo "error sending request"; exit 1')
    assert "could not be reached" in programs.fault()
    assert (programs.root / "build" / "uv" / "x").is_dir()
    assert not (programs.root / ".venv" / "tmp").exists()


def test_a_cache_of_ones_own_is_used_and_stays(
    programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "mine"))
    programs.put("uv", 'mkdir -p "$UV_CACHE_DIR"')
    programs.install()
    assert (tmp_path / "mine").is_dir()


def test_sources_are_packed_without_pressing_jars_together_again(programs: Programs):
    programs.put("uv", 'cp "$DIST_EXTRA_CONFIG" "${0%/*}/cfg"')
    programs.install()
    assert (programs.bin / "cfg").read_text() == "[bdist_wheel]\ncompression=stored\n"


def test_an_interrupt_ends_the_program(programs: Programs, monkeypatch: pytest.MonkeyPatch):
    programs.put("python", '[ "$3" = config ] || exec sleep 60')
    started: list[subprocess.Popen[bytes]] = []

    def interrupted(program: subprocess.Popen[bytes], *_: object) -> None:
        started.append(program)
        raise KeyboardInterrupt

    monkeypatch.setattr(progress, "watch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        programs.install()
    assert started[0].returncode is not None


PIP_SETTINGS = """\
:env:.cert='/env.pem'
global.cert='/etc/ca.pem'
global.extra-index-url='\\nhttps://a/simple\\nhttps://b/simple'
global.index-url='https://old/simple'
global.timeout='60'
install.find-links='/one /two'
install.index-url='https://mirror/simple'
list.format='columns'
"""


def test_what_pip_knows_of_the_index_is_told_to_uv():
    told = installer.uv_environment(PIP_SETTINGS, {})
    assert told.items() >= {
        ("UV_DEFAULT_INDEX", "https://mirror/simple"),
        ("UV_INDEX", "https://a/simple https://b/simple"),
        ("UV_FIND_LINKS", "/one,/two"),
        ("SSL_CERT_FILE", "/env.pem"),
    }
    assert installer.uv_environment("", {"REQUESTS_CA_BUNDLE": "/x"})["SSL_CERT_FILE"] == "/x"


def test_settings_made_for_uv_come_first():
    mine = {"UV_DEFAULT_INDEX": "https://mine/simple", "SSL_CERT_FILE": "/mine.pem"}
    assert not installer.uv_environment(PIP_SETTINGS, mine).keys() & mine.keys()


def test_uv_is_told(programs: Programs):
    programs.put("python", "[ $3 != config ] || echo \"global.index-url='https://mirror/simple'\"")
    programs.put("uv", 'echo "$UV_DEFAULT_INDEX" > "${0%/*}/index"')
    programs.install()
    assert (programs.bin / "index").read_text() == "https://mirror/simple\n"


class Terminal(io.StringIO):
    """Somebody looks."""

    def isatty(self) -> bool:
        return True


def test_in_a_terminal_a_line_moves_until_the_program_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    with subprocess.Popen(["sh", "-c", "read line; exit 3"], stdin=subprocess.PIPE) as program:

        def look() -> float:
            assert program.stdin is not None
            if not program.stdin.closed:
                program.stdin.close()
            return 0.5

        assert progress.watch(program, tmp_path, look) == 3
    drawn = terminal.getvalue().split("\r\x1b[K")
    assert "███████████████░░░░░░░░░░░░░░░  50%" in drawn[1]
    assert drawn[-1] == ""


@pytest.mark.parametrize(
    ("part", "megabytes", "line"),
    [
        (None, 0, "  7 s"),
        (None, 120, "  120 MB  7 s"),
        (0.1, 5, f"  ███{'░' * 27}  10%  5 MB  7 s"),
        (1.2, 0, f"  {'█' * 30} 100%  7 s"),
    ],
)
def test_the_line_that_moves(part: float | None, megabytes: int, line: str):
    assert progress.bar(part, megabytes, 7.4) == line


def fake_kafka(root: Path, does: str) -> None:
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\n[ "$*" = "-m threebrokers.cluster.prefetch" ] || exit 9\n{does}\n')
    python.chmod(0o755)


def test_what_is_done_for_the_first_start_is_told_when_it_is_waited_for(tmp_path: Path):
    fake_kafka(tmp_path, "echo jars; echo starts")
    said: list[str] = []
    with kafka.begun(tmp_path, said.append) as wait:
        assert said == []
        wait()
    assert said == ["jars", "starts"]


def test_what_goes_wrong_for_the_first_start_is_one_sentence(tmp_path: Path):
    fake_kafka(tmp_path, "echo jars; echo '✗ No jar: try again.' >&2; exit 1")
    with kafka.begun(tmp_path, lambda text: None) as wait, pytest.raises(SetupError, match=r"^No jar: try"):
        wait()


def test_when_packages_fail_the_first_start_is_not_prepared_any_longer(tmp_path: Path):
    note = tmp_path / "pid"
    fake_kafka(tmp_path, f"echo $$ > {note}.part; mv {note}.part {note}; exec sleep 60")
    with kafka.begun(tmp_path, lambda text: None):
        assert quiet_wait(note.exists, 10)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_only_learners_have_their_first_start_prepared(root: Root, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kafka, "begun", lambda *_: nullcontext(lambda: root.done.append("kafka")))
    assert root.ensure("test") == ["venv", "install test"]
    (root.path / packages.LOCK).write_text("changed")
    assert root.ensure() == ["install test", "kafka"]


def test_packages_that_are_installed_stay_when_only_kafka_fails(root: Root, monkeypatch: pytest.MonkeyPatch):
    def fail() -> None:
        raise SetupError("No jar: try again.")

    monkeypatch.setattr(kafka, "begun", lambda *_: nullcontext(fail))
    with pytest.raises(SetupError, match="No jar"):
        root.ensure()
    assert root.ensure() == []


def test_a_failing_venv_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho 'Error: [Errno 28] No space left on device'\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(SetupError, match=r"The disk of .* is full"):
        packages.make_venv(tmp_path / ".venv")


def test_an_old_python_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert __main__.main().startswith(
        "✗ This is Python 3.9, and the course needs 3.11 or newer: install one, or"
    )


def test_a_newer_python_that_runs_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ran: list[Any] = []
    found = {"python3.14": str(tmp_path / "none")}
    for name, code in (("python3.13", 127), ("python3.12", 0), ("python3.11", 0)):  # pyenv's, and two others
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\nexit {code}\n")
        path.chmod(0o755)
        found[name] = str(path)
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(sys, "argv", ["setup", "runtime"])
    monkeypatch.setattr(shutil, "which", found.get)
    monkeypatch.setattr(os, "execv", lambda *words: ran.append(words) or sys.exit())
    with pytest.raises(SystemExit):
        __main__.main()
    newer = found["python3.12"]
    assert ran == [(newer, [newer, "-m", "tools.setup", "runtime"])]


def test_a_folder_of_somebody_else():
    told = cannot_write(Path("/clone/.venv"), PermissionError(13, "Permission denied", "/clone/.venv"))
    assert told.startswith("/clone/.venv cannot be used (Permission denied): give yourself the right")


@pytest.mark.parametrize("path", sorted((REPO / "tools" / "setup").glob("*.py")), ids=lambda path: path.stem)
def test_the_set_up_needs_nothing_that_has_to_be_installed(path: Path):
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module))
    assert {name.partition(".")[0] for name in imported} <= {*sys.stdlib_module_names, "tools"}


def test_requirements_txt_has_a_hash_for_everything_and_no_address():
    text = (REPO / packages.LOCK).read_text()
    assert "://" not in text
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    blocks = packages.blocks(text)
    assert sum(len(block.splitlines()) for block in blocks) == len(lines)
    head, hashed = r"[a-z0-9-]+==[\w.]+( ; [^\\]+)? \\\n", r"(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+"
    assert all(re.fullmatch(head + hashed, block) for block in blocks)
    assert "".join(
        map(packages.section, [REPO] * 5, ["uv", "build", "source", "runtime", "test"])
    ).split() == [word for line in lines for word in line.split()]


def test_what_comes_as_source_is_known():
    found = re.findall("^([a-z0-9-]+)==", packages.section(REPO, "source"), re.MULTILINE)
    assert tuple(found) == packages.SOURCE_ONLY


def test_make_alone_lists_every_target_in_a_line():
    done = subprocess.run(
        ["make", "-C", REPO, "--no-print-directory"], capture_output=True, text=True, check=True
    )
    first, rest = done.stdout.split("To write labs (CONTRIBUTING.md):\n")
    heading, *learners = first.splitlines()
    listed, own = (
        [line.removeprefix("  make ").split()[0] for line in lines]
        for lines in ([*learners, *rest.splitlines()], learners)
    )
    phony = re.search(r"^\.PHONY: (.*)$", (REPO / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert sorted(listed) == sorted(set(phony[1].split()) - {"help", "runtime", "authors"})
    assert (heading, own) == ("To learn:", ["lab", "test", "down", "clean"])


def test_a_system_that_does_not_tell_its_memory_is_set_up(root: Root, monkeypatch: pytest.MonkeyPatch):
    def unknown(name: str) -> int:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "sysconf", unknown)
    assert root.ensure() == ["venv", "install"]
    assert not any("of memory, less than" in said for said in root.said)
