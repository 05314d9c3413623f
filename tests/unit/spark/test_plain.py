"""A plain consumer reads a topic to its end, also where the end is a mark of a transaction."""

from types import SimpleNamespace

import pytest

from threebrokers.errors import LabError
from threebrokers.spark import plain
from threebrokers.spark.plain import to_the_end


class Reader:
    """A consumer of one partition: `offsets` are those of its records, `end` is where the log ends.

    It is behind all that it has passed, `position`, as soon as it has given its records.
    """

    def __init__(self, offsets: list[int], end: int, position: int) -> None:
        self.offsets, self.end, self.behind = offsets, end, position
        self.places: list[SimpleNamespace] = []

    def subscribe(self, topics, on_assign):
        self.topic = topics[0]
        on_assign(self, [SimpleNamespace(partition=0, offset=-1)])

    def get_watermark_offsets(self, place, timeout):
        return 0, self.end

    def assign(self, places):
        self.places = places

    def assignment(self):
        return self.places

    def consume(self, most, timeout):
        given, self.offsets = self.offsets, []
        return [SimpleNamespace(error=lambda: None, partition=lambda: 0, offset=lambda n=n: n) for n in given]

    def position(self, places):
        return [SimpleNamespace(partition=place.partition, offset=self.behind) for place in places]


class Rejoining(Reader):
    """It loses its place in the group after its first records, and gets its partition again."""

    def __init__(self) -> None:
        super().__init__([0, 1], 4, 2)
        self.begins: list[int] = []

    def subscribe(self, topics, on_assign):
        self.again = on_assign
        super().subscribe(topics, on_assign)

    def assign(self, places):
        super().assign(places)
        self.begins.append(places[0].offset)
        self.offsets = list(range(places[0].offset, places[0].offset + 2))

    def consume(self, most, timeout):
        if len(self.begins) == 1 and not self.offsets:
            self.again(self, [SimpleNamespace(partition=0, offset=-1)])
        return Reader.consume(self, most, timeout)


def test_after_a_rebalance_it_goes_on_where_it_was():
    reader = Rejoining()
    assert [message.offset() for message in to_the_end(reader, "t")] == [0, 1, 2, 3]
    assert reader.begins == [0, 2]


@pytest.mark.parametrize(
    ("offsets", "end", "position"),
    [([0, 1, 2], 3, 3), ([0, 1, 2], 4, 4), ([0, 1, 2, 3, 4], 3, 5), ([], 9, 9)],
)
def test_it_ends_at_the_end_of_the_log(offsets, end, position):
    read = [message.offset() for message in to_the_end(Reader(offsets, end, position), "t")]
    assert read == [n for n in offsets if n < end]


def test_an_end_that_is_not_reached_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plain, "ANSWER_SECONDS", 0.05)
    with pytest.raises(LabError, match="could not be read to its end"):
        list(to_the_end(Reader([0, 1], 4, 2), "t"))
