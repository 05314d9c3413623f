"""Pictures of topics and logs: plain values in, a Picture out. No cluster, no widgets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from threebrokers.diagrams.grid import arrow, box, boxes, cell, head, row_head, table
from threebrokers.diagrams.picture import Picture
from threebrokers.kafka.log_reader import Log, Record
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.text import numbered, spans
from threebrokers.theme import NO_LEADER, REPLICAS

EXAMPLE = TopicState(
    "orders", tuple(PartitionState("orders", p, p + 1, 0, (1, 2, 3), (1, 2, 3)) for p in range(3))
)


def topic_picture(topic: TopicState, brokers: Sequence[int] = (1, 2, 3)) -> Picture:
    """Draw where a topic's replicas are: a row for each partition, a column for each broker."""
    columns = sorted({*brokers, *(b for p in topic.partitions for b in p.replicas)})
    rows = [[_name(p), *_replicas(p, columns)] for p in topic.partitions]
    heads = [cell(""), *(head(f"broker {b}", broker=b) for b in columns)]
    title = f"Where the replicas of '{topic.name}' are"
    return Picture(title, "\n".join(map(_words, topic.partitions)), table(rows, heads=heads))


def message_path(
    topic: TopicState = EXAMPLE,
    *,
    producers: Sequence[str] = ("producer",),
    consumers: Sequence[str] = ("consumer",),
) -> Picture:
    """Draw the way of records: from producers to the leader of each partition, from there to consumers."""
    columns = sorted({b for p in topic.partitions for b in p.replicas})
    heads = [
        cell(""),
        head("write to the leader", kind="note"),
        *(head(f"broker {b}", broker=b) for b in columns),
        head("read from the leader", kind="note"),
        cell(""),
    ]
    rows = []
    for p in topic.partitions:
        ways = arrow(f"partition {p.id}"), arrow()
        if p.leader is None:
            ways = box(f"partition {p.id}: {NO_LEADER}", kind="quiet"), ""
        rows.append([cell(ways[0]), *_replicas(p, columns), cell(ways[1])])
    before, behind = (
        cell(" ".join(box(name, kind="name") for name in clients), rowspan=len(rows))
        for clients in (producers, consumers)
    )
    rows[:1] = [[before, *row, behind] for row in rows[:1]]
    words = [
        *(f"{name}: writes each record to the leader of one partition." for name in producers),
        *(_words(p) for p in topic.partitions),
        *(f"{name}: reads every partition from its leader." for name in consumers),
    ]
    return Picture(f"The way of a record through '{topic.name}'", "\n".join(words), table(rows, heads=heads))


def log_picture(
    logs: Iterable[Record] | Mapping[int, Iterable[int]],
    *,
    text: Callable[[Record], str] | None = None,
    reads_next: Mapping[int, int] | None = None,
    partitions: Iterable[int] = (),
    most: int = 12,
) -> Picture:
    """Draw the log of each partition as a row of boxes, one for each offset, oldest at the left.

    `logs` is records, or offsets by partition. `text(record)` stands under its offset; `reads_next`
    (offset by partition) marks a reader's position. `partitions` are drawn even if they are empty, and
    at most about `most` boxes of each. Other empty partitions that `read_log` has read are told together.
    """
    rows, words = [], []
    every: dict[int, dict[int, str]] = {p: {} for p in partitions} | _held(logs, text)
    for partition, held in sorted(every.items()):
        at = (reads_next or {}).get(partition)
        parts = _shortened(list(_with_gaps(list(held), at)), at, most)
        rows.append([row_head(f"partition {partition}"), cell(boxes(_box(part, held, at) for part in parts))])
        next_one = "" if at is None else f"; read next: offset {at}"
        words.append(f"Partition {partition}: {_told(list(held))}{next_one}.")
        words += [
            f"Partition {partition}, offset {o}: {held[o]}"
            for o in parts
            if isinstance(o, int) and held.get(o)
        ]
    if empty := sorted(set(logs.partitions) - every.keys()) if isinstance(logs, Log) else []:
        name = numbered("partition", spans(empty))
        rows.append([row_head(name), cell(boxes([_box("empty", {}, None)]))])
        words.append(f"{name.capitalize()}: no record.")
    return Picture("The log of each partition", "\n".join(words), table(rows))


def _name(p: PartitionState) -> str:
    if p.leader is not None:
        return row_head(f"partition {p.id}", kind="plain")
    return row_head(f"partition {p.id}: {NO_LEADER}", kind="alone")


def _replicas(p: PartitionState, brokers: Sequence[int]) -> list[str]:
    """Return a cell for each broker: what it is to this partition."""
    kinds = ((b, "none" if b not in p.replicas else _kind(p, b)) for b in brokers)
    return [cell(box(str(REPLICAS[kind]).strip(), kind=kind, broker=b)) for b, kind in kinds]


def _kind(p: PartitionState, broker: int) -> str:
    return "leader" if broker == p.leader else "sync" if broker in p.isr else "late"


def _words(p: PartitionState) -> str:
    leader = f"the leader is broker {p.leader}" if p.leader is not None else "there is no leader"
    behind = [str(b) for b in p.replicas if b not in p.isr]
    late = f"; not in sync: {', '.join(behind)}" if behind else ""
    return (
        f"Partition {p.id}: {leader}; replicas on brokers {', '.join(map(str, sorted(p.replicas)))}; "
        f"in sync: {', '.join(map(str, p.isr)) or 'none'}{late}."
    )


def _held(
    logs: Iterable[Record] | Mapping[int, Iterable[int]], text: Callable[[Record], str] | None
) -> dict[int, dict[int, str]]:
    if isinstance(logs, Mapping):
        return {partition: dict.fromkeys(sorted(offsets), "") for partition, offsets in logs.items()}
    held: dict[int, dict[int, str]] = {}
    for record in sorted(logs, key=lambda r: (r.partition, r.offset)):
        held.setdefault(record.partition, {})[record.offset] = text(record) if text else ""
    return held


def _told(offsets: list[int]) -> str:
    if len(offsets) < 2:
        return f"1 record, offset {offsets[0]}" if offsets else "no record"
    return f"{len(offsets)} records, offsets {offsets[0]} to {offsets[-1]}"


def _with_gaps(offsets: list[int], at: int | None) -> Iterator[int | str]:
    if not offsets and at is None:
        yield "empty"
    yield from offsets[:1]
    for before, offset in pairwise(offsets):
        if offset > before + 1:
            yield f"no {before + 1}" if offset == before + 2 else f"no {before + 1}–{offset - 1}"
        yield offset
    if at is not None and at not in offsets:
        yield at


def _shortened(parts: list[int | str], at: int | None, most: int) -> list[int | str]:
    if len(parts) <= most:
        return parts
    half = max(1, most // 2)
    middle = [part for part in parts[half:-half] if isinstance(part, int)]
    here = f", {at} is next" if at in middle else ""
    return [*parts[:half], f"… {len(middle)} more{here} …", *parts[-half:]]


def _box(part: int | str, held: Mapping[int, str], at: int | None) -> str:
    if isinstance(part, str):
        return box(part, kind="quiet" if part.startswith("…") else "quiet gap")
    lines = [str(part), *filter(None, [held.get(part)])]
    return box("▶ next", *lines, kind="next") if part == at else box(*lines)
