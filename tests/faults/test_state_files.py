"""Whatever stands in a file that the course remembers by: no command ends in a traceback."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.stand_ins import Clone, clone
from threebrokers import progress
from threebrokers.cluster import engine, jars, ports, programs, state_file

__all__ = ["clone"]

PID = {"pid": 7, "start": "12 ticks after boot x", "mark": "-Dthreebrokers.home=/x"}
PORTS = {n: {"CLIENT": 1000 * n, "REPL": 1000 * n + 1, "CONTROLLER": 1000 * n + 2} for n in (1, 2, 3)}
GUESS = {"answer": "two", "truth": "3"}
ACTION = {"at": 1.5, "kind": "kill", "broker": 2, "more": ""}
# Each file, under the clone's folder, and what a healthy one holds.
FILES: dict[str, Any] = {
    "home/cluster.json": {"cluster_id": "abc", "ports": PORTS, "brokers": {"1": PID}, "links": PID},
    "home/labs.json": [{"command": PID, "jupyter": PID}],
    "home/programs/7.json": {"identity": PID, "name": "worker"},
    "home/progress.json": {"2.1": "2026-01-02T03:04:05Z", "2.2": None},
    "home/predictions.json": {"3.a": GUESS},
    "home/quizzes.json": {"4.q1": {"answer": "two", "right": True, "at": "2026-01-02T03:04:05Z"}},
    "home/told.json": ["progress.damaged.json"],
    "home/actions.jsonl": ACTION,
    "home/engine": "local",
    "tmp/threebrokers-0/ports.json": {"/x": 3},
    "cache/jars/verified.json": {"a-1.jar": "3 4 5"},
    "work/.handed_out.json": {"02_the_log.ipynb": "0" * 64},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
NUMBERS = st.sampled_from([-5, -1, 0, 1, 99, 65536, 2**31, 2**64, 10**30, -0.5, 1e308])
RAW = [
    b"",
    b"\n",
    b"\xff\x00",
    b"\xef\xbb\xbf{}",
    b"[" * 100_000,
    b"1e999",
    b'{"1": 1e999}',
    b"null",
    b"\x00" * 9,
]


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each value inside a value, and to itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(way for key, one in inner for way in places(one, (*here, key)))]


def replaced(value: Any, way: tuple[Any, ...], by: Any) -> Any:
    if not way:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = replaced(copy[way[0]], way[1:], by)
    return copy


def contents(healthy: Any) -> st.SearchStrategy[bytes]:
    """Draw bytes: any, any JSON, and a healthy content with one value that is another one."""
    changed = st.builds(replaced, st.just(healthy), st.sampled_from(places(healthy)), NUMBERS | JSON)
    return (
        st.sampled_from(RAW) | st.binary(max_size=40) | (changed | JSON).map(lambda v: json.dumps(v).encode())
    )


def put(path: Path, content: bytes | None) -> None:
    """Put a file in its place; None is a folder that is not empty."""
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if content is None:
        (path / "inside").mkdir(parents=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def fresh(clone: Clone) -> None:
    for folder in ("home", "work"):
        shutil.rmtree(clone.root / folder, ignore_errors=True)
    (clone.root / "tmp" / "threebrokers-0").mkdir(mode=0o700, exist_ok=True)


def attacked(clone: Clone, name: str, content: bytes | None) -> None:
    """Run every command over such a file; `up` mends what there is to mend."""
    fresh(clone)
    for command in ("status", "progress", "doctor", "down", "reset", "lab", "restore 02", "up"):
        put(clone.root / name, content)
        clone.run(*command.split())
    assert [clone.run(command).exit_code for command in ("up", "status", "progress")] == [0, 0, 0]


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: 0)  # as the folder's name says


def rows() -> list[Any]:
    def row(name: str, happens: str, says: Callable[[Clone], object] = lambda clone: None) -> Any:
        mark = pytest.mark.fault("State files", f"{Path(name).name} holds anything, or is a folder")
        return pytest.param(name, happens, says, marks=mark, id=Path(name).name)

    def lost(clone: Clone) -> object:
        return next(iter(progress.lost()))

    return [
        row("home/cluster.json", "`threebrokers up` starts the brokers again; their data stays"),
        row("home/labs.json", "no `make lab` counts as open, and nothing is ended"),
        row("home/programs/7.json", "it is deleted; no process is signalled"),
        row("home/progress.json", "it is kept beside, and exercises are counted anew", lost),
        row("home/predictions.json", "it is kept beside, and predictions are counted anew", lost),
        row("home/quizzes.json", "it is kept beside, and answers are counted anew", lost),
        row("home/told.json", "what was lost is told again"),
        row("home/actions.jsonl", "lines that tell of no action are left out"),
        row("home/engine", "the local engine is taken"),
        row("tmp/threebrokers-0/ports.json", "ports are chosen anew"),
        row("cache/jars/verified.json", "every jar is read and compared again"),
        row("work/.handed_out.json", "every changed notebook counts as the learner's own, and stays"),
    ]


@pytest.mark.parametrize(("name", "happens", "says"), rows())
def test_a_file_that_holds_anything(clone, name, happens, says, behaviour):
    @settings(
        max_examples=4,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    @given(content=st.none() | contents(FILES[name]))
    def attack(content):
        attacked(clone, name, content)

    attack()
    attacked(clone, name, None)
    fresh(clone)
    put(clone.root / name, b"\xff\x00")
    behaviour(happens, says=says(clone))


@pytest.mark.fault("State files", "any file holds the content of another one, with wrong values")
def test_every_reader_takes_every_content(clone, behaviour):
    for healthy in FILES.values():

        @settings(
            max_examples=40,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(content=contents(healthy))
        def attack(content):
            _read(clone.root, content)

        attack()
    behaviour("it counts as damaged: no number in it is signalled, bound or believed")


def _read(folder: Path, content: bytes) -> None:
    for name in FILES:
        put(folder / name, content)
    home = folder / "home"
    state = state_file.load(home)
    assert all(0 < port < 65536 for of in state.listening_ports().values() for port in of.values())
    assert all(identity.pid > 0 for identity in state.brokers.values())
    for identity in state.brokers.values():
        identity.process()
    programs.running(home)
    engine.chosen(home)
    jars._stamp().read()
    ports.claim(home)
