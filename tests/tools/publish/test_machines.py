"""docs/machines.md: each row is of what was measured, and rows of other runs stay."""

from pathlib import Path

from tools.bench.room import Room
from tools.publish import machines
from tools.publish.machines import LABS, ROOM, Need

SMALL = Need("01_hello_kafka", 700_000_000, 0, ())
POOR = Need("13_spark_streaming", 3_900_000_000, 2, ("run 1, cell 'x': RuntimeError: the kernel died",))
TOLD = {"acknowledged": 12_000, "kills": 10, "lost": 0, "twice": 0, "slowest": 3.24}


def room_of(learners: int) -> Room:
    return Room(learners, 600.0, learners * 800_000_000, 0.12, 0.71, (9.0,) * learners, (TOLD,) * learners)


def test_a_lab_that_lacked_memory_does_not_run_there() -> None:
    assert SMALL.row() == "| 01_hello_kafka | 700 | 0 | ✓ yes |"
    assert POOR.row() == "| 13_spark_streaming | 3,900 | 2 | ✗ no |"


def test_a_room_is_a_row_with_the_sums_of_all_learners() -> None:
    row = machines.room_part(room_of(8), "").splitlines()[-1]
    assert row == "| 8 | 6.4 | 800 | 12% | 71% | 9 (9) | 10 | 96,000 | 80 | 0 | 0 | 3.2 |"


def test_parts_are_written_side_by_side_and_rows_of_other_runs_stay(tmp_path: Path) -> None:
    page = tmp_path / "machines.md"
    machines.rewrite(page, ROOM, lambda kept: machines.room_part(room_of(8), kept))
    machines.rewrite(page, LABS, lambda kept: machines.labs_part([POOR, SMALL], 4, kept))
    machines.rewrite(page, ROOM, lambda kept: machines.room_part(room_of(20), kept))
    machines.rewrite(page, LABS, lambda kept: machines.labs_part([POOR], 4, kept))
    text = page.read_text("utf-8")
    assert text.startswith(machines.HEAD)
    assert [line.split(" |")[0] for line in text.splitlines() if machines.ROW.match(line)] == [
        "| 01_hello_kafka", "| 13_spark_streaming", "| 8", "| 20",
    ]  # fmt: skip
    assert text.index(LABS) < text.index(ROOM)
