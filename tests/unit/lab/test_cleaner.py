"""What a broker's log says of its cleaner, read without a broker."""

from threebrokers.kafka.log_reader import Record
from threebrokers.lab.scenarios.cleaner import runs_in
from threebrokers.lab.scenarios.last_values import HEAD, NEXT, TAIL, _replaced, keep


def cleaning(log: str, first: int, end: int, before: str, after: str) -> str:
    return (
        "22:04:40.091 INFO  \n"
        f"\tLog cleaner thread 0 cleaned log {log} (dirty section = [{first}, {end}])\n"
        "\t0.0 MB of log processed in 0.0 seconds (0.4 MB/sec).\n"
        f"\tStart size: 0.0 MB ({before} messages)\n"
        f"\tEnd size: 0.0 MB ({after} messages)\n"
        "\t52.4% size reduction (50.0% fewer messages)\n (LogCleaner$CleanerThread)\n"
    )


def test_the_cleanings_of_one_log_are_told_in_order():
    text = cleaning("shares-0", 0, 400, "1,400", "200") + cleaning("other-0", 0, 9, "9", "8")
    text += cleaning("shares-0", 400, 404, "204", "201")
    assert runs_in(text, "shares-0") == [(0, 400, 1400, 200), (400, 404, 204, 201)]
    assert runs_in(text, "shares-1") == []


def test_what_was_before_the_log_was_made_again_is_of_another_one():
    made = "22:05:00.000 INFO  Created log for partition shares-0 in /data with properties {} (LogManager)\n"
    text = cleaning("shares-0", 0, 400, "400", "200") + made + cleaning("shares-0", 0, 5, "5", "4")
    assert runs_in(text, "shares-0") == [(0, 5, 5, 4)]
    assert runs_in(made, "shares-0") == []


def last_offsets(records: dict[int, tuple[str, str]]) -> set[int]:
    last = {key: offset for offset, (key, _) in records.items()}
    return set(last.values())


def test_the_table_is_what_an_earlier_cleaning_leaves_and_what_came_since():
    first = {offset: TAIL.get(offset, _replaced(offset)) for offset in range(20)}
    assert last_offsets(first) == set(TAIL)
    assert last_offsets({**TAIL, **HEAD}) == {17, 20, 22, 25, 26, 27, 28}
    assert NEXT[29][0] == HEAD[22][0]


def test_a_table_takes_what_a_record_says():
    table: dict[str, str] = {}
    for key, value in ((b"A", b"1"), (b"A", b"2"), (b"B", b"1"), (b"B", None), (b"C", None)):
        keep(table, Record("t", 0, 0, key, value, 0, "create"))
    assert table == {"A": "2"}
