"""docs/scaling.md: what it computes follows from what was measured."""

from tools.publish import scaling
from tools.publish.scaling import Curves

MEASURED = Curves(
    record_bytes=150,
    by_partitions={
        1: {1: [40_000.0], 2: [90_000.0, 40_000.0, 30_000.0], 4: [30_000.0], 8: [25_000.0]},
        2: {1: [40_000.0], 2: [72_000.0], 4: [70_000.0], 8: [60_000.0]},
    },
    by_least={1: [40_000.0], 2: [71_000.0, 60_000.4, 80_000.0]},
    by_wait={10: [100_000.0], 500: [60_000.0]},
    by_batch={1_000: [500.0], 64_000: [1_500.0, 1_600.0, 9_000.0]},
    state={"memory (default)": {40_000: 10_000_000, 80_000: 18_000_000}, "RocksDB": {40_000: 9_000_000}},
)


def lines() -> list[str]:
    return scaling.page(MEASURED, 3, ["Spark 1"], "2 cores, 24 GB, Linux").splitlines()


def test_each_curve_is_a_table_and_what_was_not_measured_is_a_dash() -> None:
    told = lines()
    assert "| partitions | 1 core | 2 cores |" in told
    assert "| 2 | 40,000 (30,000 to 90,000) | 72,000 |" in told
    assert "| 2 | 71,000 (60,000 to 80,000) |" in told
    assert "| 500 | 60,000 |" in told
    assert "| 64,000 | 1,600 (1,500 to 9,000) | 40,000 |" in told
    assert "| 80,000 | 18.0 | – |" in told


def test_what_a_million_records_take_is_computed_from_the_curves() -> None:
    told = " ".join(" ".join(lines()).split())
    assert "one core did 25,000 to 40,000 records per second, by the number of partitions" in told
    assert "so one million takes 25 to 40 cores" in told
    assert "with 2 cores here the rate was 1.8 times that of one" in told
    assert "with 16 cores each, 4 hosts are the least" in told
    assert "80 let twice as many cores work after a stop. One partition with one core gave 40,000" in told
    assert "150 MB per second go in, 450 MB per second are written" in told
    assert "Each of 3 brokers writes 150 MB per second" in told
    assert "up to 250 bytes for each row in the heap, so 1 GB holds about 4.0 million rows" in told


def test_the_cost_of_a_batch_is_what_is_left_of_it_without_records() -> None:
    fixed, each = scaling._line({1_000: 500.0, 64_000: 1_130.0})
    assert (round(fixed), round(each * 1_000)) == (490, 10)
    assert scaling._line({5: 7.0}) == (7.0, 0.0)
    assert scaling._wait(200, 600) == "batches would settle at 500 ms"
    assert "do not keep up" in scaling._wait(200, 1_200)


def test_the_page_says_what_was_not_measured_and_has_no_place_left_open() -> None:
    told = "\n".join(lines())
    assert "**Not measured**" in told
    assert "{" not in told


def test_no_page_holds_numbers_that_nobody_measured() -> None:
    page = scaling.PAGE
    assert not page.exists() or "are the median of" in page.read_text("utf-8")
    assert "Rates and times of batches are the median of 3 runs, with the lowest" in "\n".join(lines())
