"""What `make bench` measures of commands, and how it shows what it measured."""

import subprocess

import pytest

from tools.bench.brokers import Measured
from tools.bench.commands import seconds


def test_a_command_is_measured_in_the_home_that_is_named(tmp_path):
    assert 0 < seconds(tmp_path / "home", "progress") < 60
    assert (tmp_path / "home").is_dir()


def test_a_command_that_fails_is_not_measured(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(subprocess.CalledProcessError):
        seconds(tmp_path / "file" / "home", "progress")


@pytest.mark.parametrize(
    ("unit", "limit", "shown"),
    [("s", 0.4, ["0.12", "0.26", "0.51"]), ("s", 4, ["0.1", "0.3", "0.5"]), ("MB", 650, ["0", "0", "1"])],
)
def test_a_limit_below_one_is_shown_with_two_digits(unit, limit, shown):
    what, *values, _unit, _limit, kept = Measured("x", unit, limit, (0.51, 0.12, 0.26)).row()
    assert (what, values, kept) == ("x", shown, "✓")
