"""The answer as a picture: the reason first, then bars and numbers, and the same in words."""

import re
from dataclasses import replace

from tests.unit.why_empty.test_explain import FACTS, MINE, PLACE, answered, with_place
from threebrokers.why_empty import Answer
from threebrokers.why_empty.facts import Facts
from threebrokers.why_empty.picture import HEAD, SHOWN, STYLE

LONE = {"end": 9, "readable": 9, "stable": 9}


def picture(facts: Facts) -> str:
    return answered(facts)._repr_html_()


def bars(page: str) -> list[int]:
    return [int(number) for number in re.findall(r"<b>Partition (\d+)</b>", page)]


def test_the_reason_is_one_bold_sentence_and_then_what_to_do() -> None:
    page = picture(with_place(committed=4))
    [reason] = re.findall("<strong>(.*?)</strong>", page)
    assert reason == (
        "There is something to read: 5 records wait in partition 0, and the consumer has only to fetch them."
    )
    assert "</strong></p><p>Call <code>poll()</code> again and again" in page


def test_each_bar_has_its_words() -> None:
    assert (
        'role="img" aria-label="Partition 0: 0 log start offset, 4 committed offset, 9 log end offset; '
        '4 read, 5 to read"'
    ) in picture(with_place(committed=4))


def test_the_partitions_with_the_reason_come_first_and_the_rest_is_a_line() -> None:
    places = [replace(PLACE, id=number, **LONE) for number in range(9)]
    places[7] = replace(places[7], committed=4)
    mine = replace(MINE, assigned=frozenset(range(9)))
    found = answered(replace(FACTS, places=tuple(places), client=mine))
    assert found.about == (7,)
    page = found._repr_html_()
    assert bars(page) == [7, 0, 1][:SHOWN]
    assert "<summary>6 more partitions (2–6 and 8), 0 to read there. All numbers in a table</summary>" in page
    assert page.count('<th scope="row">') == 9


def test_few_partitions_have_a_bar_each() -> None:
    page = picture(replace(FACTS, places=(PLACE, replace(PLACE, id=1))))
    assert bars(page) == [0, 1]
    assert "more partition" not in page


def test_the_table_has_kafkas_words_and_all_numbers() -> None:
    page = picture(with_place(committed=4, position=None))
    assert re.findall('<th scope="col">(.*?)</th>', page) == list(HEAD)
    assert re.findall("<td>(.*?)</td>", page) == ["1", "0", "4", "–", "9", "9", "9", "5", "this consumer"]


def test_a_partition_that_nobody_tells_of() -> None:
    page = picture(with_place(leader=None, start=None))
    assert "no leader · held by this consumer" in page
    assert "Nobody tells its offsets." in page
    assert 'role="img"' not in page


def test_without_partitions_there_is_the_reason_alone() -> None:
    page = picture(replace(FACTS, exists=False, places=()))
    assert "There is no topic &#x27;orders&#x27;" in page
    assert "<table>" not in page


def test_what_others_have_named_is_text() -> None:
    facts = replace(FACTS, places=(replace(PLACE, holder="<b>x"),), client=None)
    page = Answer("x", "<i>Why", facts)._repr_html_()
    assert "&lt;b&gt;x" in page
    assert "<i>Why" not in page


def test_type_is_never_small() -> None:
    sizes = re.findall(r"font(?:-size)?: ([^;}]+)", STYLE.read_text("utf-8"))
    assert sizes
    assert [size for size in sizes if "px" in size and not size.startswith("max(12px")] == []
