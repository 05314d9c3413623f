"""Pages whose rows are told by tests: docs/reliability.md and docs/facts.md."""

import os
import subprocess
import sys

import pytest

from tools import ROOT
from tools.publish import facts, reliability
from tools.publish.told import Key, Row, merged, problems

PAGES = (reliability.PAGE, facts.PAGE)
PAGE = reliability.PAGE
DISK = Row(("Disks", "a disk is full", "nothing is lost", "There is a | in it, and <b>."))
CUT = Row(("Network", "a link is cut", "it heals", ""))
WAITS = Row(("Disks", "a disk is full", "it waits", ""))
TEST = """
import pytest

@pytest.mark.fact("Producer", "no record twice")
def test_that_tells_what_is_not_on_the_page(found, librdkafka):
    found("never", "always", "guessed")

@pytest.mark.fact("Producer", "no record twice")
def test_of_no_version(found):
    found("never", "always", "guessed")

@pytest.fixture
def librdkafka():
    class Asked:
        version = "librdkafka 0"
    return Asked
"""


def test_a_page_is_read_as_it_was_written():
    assert list(PAGE.read(PAGE.text([CUT, DISK]))) == [DISK, CUT]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.word)
def test_the_pages_that_stand_there_are_read_as_they_were_written(page):
    assert page.text(page.rows()) == page.path.read_text("utf-8")
    assert {len(row) for row in page.rows()} == {len(page.columns) + 1}


def test_rows_of_this_run_replace_older_ones_and_those_without_a_test_go():
    gone = Row(("Ports", "a port is taken", "another is chosen", ""))
    assert merged([DISK, CUT, gone], [WAITS], [DISK.key, CUT.key]) == [WAITS, CUT]


def test_two_tests_of_one_subject_must_not_tell_different_things():
    assert merged([], [DISK, DISK], [DISK.key]) == [DISK]
    with pytest.raises(ValueError, match="a disk is full"):
        merged([], [DISK, WAITS], [DISK.key])


def test_missing_rows_and_rows_without_a_test_are_named():
    told = problems(PAGE, [DISK], [CUT.key])
    assert any("lacks 'a link is cut'" in line for line in told)
    assert any("No test is about 'a disk is full'" in line for line in told)
    assert problems(PAGE, [DISK], [Key("Disks", "a disk is full")]) == []


@pytest.mark.programs
def test_a_fact_that_is_not_as_the_page_says_fails(tmp_path):
    path = tmp_path / "test_facts.py"
    path.write_text(TEST)
    words = (sys.executable, "-m", "pytest", "-q", "-p", "tests.facts", "-c", ROOT / "pyproject.toml", path)
    plain = {name: value for name, value in os.environ.items() if name != facts.PAGE.told}
    done = subprocess.run(words, cwd=ROOT, env=plain, capture_output=True, text=True, check=False)
    assert "2 failed" in done.stdout, done.stdout
    assert "docs/facts.md says something else" in done.stdout
    assert "the test takes none of" in done.stdout
