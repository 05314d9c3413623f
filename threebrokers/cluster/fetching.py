"""Fetching jars: in parallel, verified, and never half a file."""

import hashlib
import logging
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import requests
from jgo.maven import Artifact, MavenContext, PythonResolver

from threebrokers.cluster.lockfile import Jar
from threebrokers.cluster.shared import faults_told
from threebrokers.errors import BenchError

THREADS = 16
TRIES = 3
TIMEOUT = 20  # seconds without a byte


def fetch(jars: Sequence[Jar], folder: Path) -> None:
    """Bring jars into a folder; what has come whole stays, also when another one fails.

    They come from the public Maven repository, or from the mirror that THREEBROKERS_MAVEN names.
    The caller holds `only_one(folder)`. Raises BenchError.
    """
    with faults_told(folder):
        for left in folder.glob(".part-*"):  # of a process that was killed
            shutil.rmtree(left)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder))
    stop = threading.Event()
    pool = ThreadPoolExecutor(THREADS)
    try:
        with _progress(jars) as advance:
            # Each thread looks at `stop` with every piece that arrives, so that Ctrl-C ends all of them.
            context = _context(part, stop, advance)
            largest_first = sorted(jars, key=lambda jar: -jar.size)
            runs = [pool.submit(_fetch_one, jar, context, folder, stop) for jar in largest_first]
            done, _ = wait(runs, return_when=FIRST_EXCEPTION)
            for run in done:
                run.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
        shutil.rmtree(part, ignore_errors=True)


def _fetch_one(jar: Jar, context: MavenContext, folder: Path, stop: threading.Event) -> None:
    artifact: Artifact = context.create_dependency(jar.coordinates).artifact
    place = _place()
    for _ in range(TRIES):
        try:
            with faults_told(folder):
                _keep_if_right(artifact.resolve(), jar, folder, place)
            return
        except requests.exceptions.SSLError:
            told = (
                f"{place} showed a certificate that is not trusted here: if your network opens encrypted "
                "connections, set REQUESTS_CA_BUNDLE to the file of its certificates and try again."
            )
        except requests.RequestException:
            told = (
                f"{jar.name} could not be fetched from {place}: look at your network or proxy "
                "and try again; what has arrived is kept."
            )
        except RuntimeError:  # jgo's word for every answer but 200
            told = (
                f"{jar.name} was refused by {place}: try again later, "
                "or set THREEBROKERS_MAVEN to another mirror of Maven Central."
            )
        Path(artifact.cached_path or "").unlink(missing_ok=True)  # jgo would take a part for whole
        if stop.is_set():
            break
    raise BenchError(told)  # out here nothing keeps jgo's open connection alive


def _keep_if_right(arrived: Path, jar: Jar, folder: Path, place: str) -> None:
    with arrived.open("rb") as file:
        right = hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256
    if not right:
        arrived.unlink()
        raise BenchError(
            f"{jar.name} from {place} is not the file that this course was tested with "
            "(its sha256 differs), so it was removed: try again, "
            "or set THREEBROKERS_MAVEN to another mirror of Maven Central."
        )
    arrived.replace(folder / jar.name)


def _context(part: Path, stop: threading.Event, advance: Callable[[int], None]) -> MavenContext:
    logging.getLogger("jgo").addHandler(logging.NullHandler())  # one sentence of ours is enough

    @contextmanager
    def counted(_name: str, _size: int) -> Iterator[Callable[[int], None]]:
        def count(length: int) -> None:
            if stop.is_set():
                raise requests.RequestException("another download failed")
            advance(length)

        yield count

    mirror = os.environ.get("THREEBROKERS_MAVEN")
    return MavenContext(
        resolver=PythonResolver(progress_callback=counted),
        repo_cache=part,
        remote_repos={"mirror": mirror.rstrip("/")} if mirror else None,
        timeout=TIMEOUT,
    )


def _place() -> str:
    mirror = os.environ.get("THREEBROKERS_MAVEN")
    return f"the mirror {mirror} (THREEBROKERS_MAVEN)" if mirror else "Maven Central"


@contextmanager
def _progress(jars: Sequence[Jar]) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    terminal = sys.stderr.isatty()
    if not terminal:
        print(f"Fetching {len(jars)} jars, {sum(jar.size for jar in jars) / 1e6:.0f} MB …", flush=True)
    with Progress(*columns, console=Console(stderr=True), disable=not terminal) as bar:
        task = bar.add_task(f"Fetching {len(jars)} jars", total=sum(jar.size for jar in jars))
        yield lambda length: bar.advance(task, length)
