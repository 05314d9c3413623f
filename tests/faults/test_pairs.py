"""Two `make lab` at the same moment, again and again: each opens a page of its own."""

import signal
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.faults.make_labs import starting, told

PAIRS = 20


def answer(page: str, token: str) -> int:
    """Return the HTTP status of the server of a page when it is asked with a token."""
    address = f"http://{urlsplit(page).netloc}/api/contents?token={token}"
    try:
        with build_opener(ProxyHandler({})).open(address, timeout=30) as told:
            return int(told.status)
    except HTTPError as fault:
        return fault.code


@pytest.mark.slow_fault
@pytest.mark.programs
@pytest.mark.timeout(2400)
@pytest.mark.fault("JupyterLab", "20 times two `make lab` begin at once, in one home and in two")
def test_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour) -> None:
    monkeypatch.setenv("THREEBROKERS_HOME", str(tmp_path / "home"))
    with starting(tmp_path) as start:
        for pair in range(PAIRS):
            both = [start("home"), start("home" if pair % 2 else "other")]
            pages = [told(one)[-1].strip() for one in both]
            tokens = [page.partition("token=")[2] for page in pages]
            assert len({urlsplit(page).port for page in pages}) == 2, pages
            statuses = [[answer(page, token) for token in tokens] for page in pages]
            assert statuses == [[200, 403], [403, 200]], (pair, pages)
            for one in both:
                one.send_signal(signal.SIGINT)
            assert [(one.wait(60), one.stdout.read().count("Traceback")) for one in both] == [(0, 0)] * 2
    behaviour("each opens a page of its own, which only its own address opens")
