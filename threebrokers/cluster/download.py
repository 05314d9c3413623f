"""Fetching jars: in parallel, verified, and never half a file."""

import hashlib
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
from jgo.maven import MavenContext
from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from threebrokers.cluster.cache_lock import faults_told
from threebrokers.cluster.lockfile import Jar
from threebrokers.errors import LabError

THREADS = 8
TRIES = 3
TIMEOUT = 8  # seconds without a byte: three tries end within half a minute
PIECE = 256 * 1024
CERTIFICATES = "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"  # requests looks at them in this order
# A whole class behind one address may be told to ask more slowly: then as late as it is told, up to a bound.
SLOWLY, TURNS, LATER_SECONDS = 429, 4, 30.0


def fetch(jars: Sequence[Jar], folder: Path) -> None:
    """Bring jars into a folder; what has come whole stays, also when another one fails.

    They come from the public Maven repository, or from the mirror that THREEBROKERS_MAVEN names.
    The caller holds `only_one(folder)`. Raises LabError.
    """
    _check_settings()
    with faults_told(folder):
        for left in folder.glob(".part-*"):  # of a process that was killed
            shutil.rmtree(left)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder))
    stop = threading.Event()
    pool = ThreadPoolExecutor(THREADS)
    try:
        with _progress(jars) as advance, _Fetching(part, folder, stop, advance) as fetching:
            largest_first = sorted(jars, key=lambda jar: -jar.size)
            runs = [pool.submit(fetching.fetch, jar) for jar in largest_first]
            try:
                done, _ = wait(runs, return_when=FIRST_EXCEPTION)
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
            for run in done:
                run.result()
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check_settings() -> None:
    """Raise LabError for settings with which nothing can come, before anybody is asked.

    requests says of certificates that are not there only that a file is wrong, and not who has named it.
    """
    mirror = os.environ.get("THREEBROKERS_MAVEN")
    if mirror and not mirror.lower().startswith(("https://", "http://")):
        raise LabError(
            f"THREEBROKERS_MAVEN is {mirror}, and that is no address of a web server",
            "begin it with https://",
        )
    if mirror and mirror.lower().startswith("http://"):
        return
    variable = next((name for name in CERTIFICATES if os.environ.get(name)), None)
    if variable and not os.path.exists(os.environ[variable]):  # noqa: PTH110, Path's own may raise
        raise LabError(
            f"{variable} names {os.environ[variable]}, which is not there",
            "name the file of your network's certificates, or unset it",
        )


class _Fetching:
    """Connections that are used again: each new one reads all certificates, which takes longer than a jar."""

    def __init__(
        self, part: Path, folder: Path, stop: threading.Event, advance: Callable[[int], None]
    ) -> None:
        self.part, self.folder, self.stop, self.advance = part, folder, stop, advance
        mirror = os.environ.get("THREEBROKERS_MAVEN")
        self.place = f"the mirror {mirror} (THREEBROKERS_MAVEN)" if mirror else "Maven Central"
        self.maven = MavenContext(
            repo_cache=part, remote_repos={"mirror": mirror.rstrip("/")} if mirror else None
        )
        self.local = threading.local()
        self.waits = False
        self.sessions: list[requests.Session] = []

    def __enter__(self) -> "_Fetching":
        return self

    def __exit__(self, *_: object) -> None:
        for session in self.sessions:
            session.close()

    def fetch(self, jar: Jar) -> None:
        """Bring one jar into the folder, with three tries. Raises LabError."""
        for _ in range(TRIES):
            try:
                with faults_told(self.folder):
                    self._try(jar)
                return
            except requests.exceptions.SSLError:
                told = LabError(
                    f"{self.place} showed a certificate that is not trusted here",
                    "if your network opens encrypted connections, set REQUESTS_CA_BUNDLE to the file of its "
                    "certificates and try again",
                )
            except requests.HTTPError:
                told = LabError(
                    f"{jar.name} was refused by {self.place}",
                    "try again later, or set THREEBROKERS_MAVEN to another mirror of Maven Central",
                )
            except requests.RequestException:
                told = LabError(
                    f"{jar.name} could not be fetched from {self.place}",
                    "look at your network or proxy and try again; what has arrived is kept",
                )
            if self.stop.is_set():
                break
        raise told

    def _try(self, jar: Jar) -> None:
        path, digest = self.part / jar.name, hashlib.sha256()
        with self._answer(jar) as answer:
            answer.raise_for_status()
            with path.open("wb") as file:
                for piece in answer.iter_content(PIECE):
                    # With every piece, so that Ctrl-C ends all threads.
                    if self.stop.is_set():
                        raise requests.RequestException("another download failed")
                    file.write(piece)
                    digest.update(piece)
                    self.advance(len(piece))
                    if file.tell() > jar.size:  # it is not the file, and could go on until the disk is full
                        break
        if digest.hexdigest() != jar.sha256:
            raise LabError(
                f"{jar.name} from {self.place} is not the file that this course was tested with "
                "(its sha256 differs), so it was removed",
                "try again, or set THREEBROKERS_MAVEN to another mirror of Maven Central",
            )
        path.replace(self.folder / jar.name)

    def _answer(self, jar: Jar) -> requests.Response:
        """Return the answer for one jar. Raises LabError if it is to ask more slowly time after time."""
        later = 0.0
        for _ in range(TURNS):
            if self.stop.wait(later):  # Ctrl-C, too
                raise requests.RequestException("another download failed")
            answer = self._session().get(self._url(jar), stream=True, timeout=TIMEOUT)
            if answer.status_code != SLOWLY:
                return answer
            answer.close()
            later = _later(answer)
            if later and not self.waits:
                self.waits = True
                print(f"Waiting {later:.0f} s, as {self.place} asks …", flush=True)
        raise LabError(
            f"{self.place} is asked too often from your network",
            "try again in some minutes, or set THREEBROKERS_MAVEN to another mirror of Maven Central",
        )

    def _session(self) -> requests.Session:
        """Return this thread's session."""
        if not hasattr(self.local, "session"):
            self.local.session = requests.Session()
            self.sessions.append(self.local.session)
        return self.local.session  # type: ignore[no-any-return]

    def _url(self, jar: Jar) -> str:
        """Return where Maven keeps a jar, which jgo knows."""
        artifact = self.maven.create_dependency(jar.coordinates).artifact
        (repository,) = self.maven.remote_repos.values()
        return f"{repository}/{artifact.component.path_prefix.as_posix()}/{artifact.filename}"


def _later(answer: requests.Response) -> float:
    """Return how long (s) a mirror wants to be left alone, as far as that is waited for."""
    try:
        return min(Retry().get_retry_after(answer.raw) or 0.0, LATER_SECONDS)
    except (InvalidHeader, ValueError, OverflowError):  # also a date that is none
        return 0.0


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
