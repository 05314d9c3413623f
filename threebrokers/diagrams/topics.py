"""Pictures of topics and logs: plain values in, a Picture out. No cluster, no widgets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from threebrokers.diagrams.dot import cell, graph, lone_table, table
from threebrokers.diagrams.picture import Picture
from threebrokers.kafka.log_reader import Log, Record
from threebrokers.kafka.state import PartitionState, TopicState
from threebrokers.text import numbered, spans
from threebrokers.theme import NO_LEADER, PAPER, REPLICAS, SKY_TINT, SOFT, broker_colour

EXAMPLE = TopicState(
    "orders", tuple(PartitionState("orders", p, p + 1, 0, (1, 2, 3), (1, 2, 3)) for p in range(3))
)


def topic_picture(topic: TopicState, brokers: Sequence[int] = (1, 2, 3)) -> Picture:
    """Draw where a topic's replicas are: a row for each partition, a column for each broker."""
    columns = sorted({*brokers, *(b for p in topic.partitions for b in p.replicas)})
    rows = [[cell(""), *(cell(f"broker {b}", bold=True) for b in columns)]]
    for p in topic.partitions:
        name = f"partition {p.id}" if p.leader else f"partition {p.id}: {NO_LEADER}"
        rows.append([cell(name, align="left"), *(_copy(p, b) for b in columns)])
    words = "\n".join(_words(p) for p in topic.partitions)
    return Picture(f"Where the replicas of '{topic.name}' are", words, lone_table(rows))


def message_path(
    topic: TopicState = EXAMPLE,
    *,
    producers: Sequence[str] = ("producer",),
    consumers: Sequence[str] = ("consumer",),
) -> Picture:
    """Draw the way of records: from producers to the leader of each partition, from there to consumers."""
    whole = graph(rankdir="LR", ranksep="1.1", nodesep="0.3")
    for name in (*producers, *consumers):
        # A colon in the id of a node would mean a port of it.
        whole.node(_id(name), name, shape="box", style="rounded,filled", fillcolor=PAPER, margin="0.25,0.15")
    for b in sorted({b for p in topic.partitions for b in p.replicas}):
        copies = [[_copy(p, b, f"partition {p.id}")] for p in topic.partitions if b in p.replicas]
        label = table([[cell(f"broker {b}", bold=True)], *copies], frame=broker_colour(b).strong)
        whole.node(f"broker {b}", label=label)
    for p in topic.partitions:
        if p.leader:
            whole.edges([(_id(name), f"broker {p.leader}:p{p.id}:w") for name in producers])
            whole.edges([(f"broker {p.leader}:p{p.id}:e", _id(name)) for name in consumers])
    words = [
        *(f"{name}: writes each record to the leader of one partition." for name in producers),
        *(_words(p) for p in topic.partitions),
        *(f"{name}: reads every partition from its leader." for name in consumers),
    ]
    return Picture(f"The way of a record through '{topic.name}'", "\n".join(words), str(whole.source))


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
    every: dict[int, dict[int, str]] = {p: {} for p in partitions} | _boxes(logs, text)
    for partition, boxes in sorted(every.items()):
        at = (reads_next or {}).get(partition)
        parts = _shortened(list(_with_gaps(list(boxes), at)), at, most)
        cells = [_box(part, boxes, at) for part in parts]
        rows.append([cell(f"partition {partition}", align="left", bold=True), *cells])
        next_one = "" if at is None else f"; read next: offset {at}"
        words.append(f"Partition {partition}: {_held(list(boxes))}{next_one}.")
        words += [
            f"Partition {partition}, offset {o}: {boxes[o]}"
            for o in parts
            if isinstance(o, int) and boxes.get(o)
        ]
    if empty := sorted(set(logs.partitions) - every.keys()) if isinstance(logs, Log) else []:
        name = numbered("partition", spans(empty))
        rows.append([cell(name, align="left", bold=True), _box("empty", {}, None)])
        words.append(f"{name.capitalize()}: no record.")
    return Picture("The log of each partition", "\n".join(words), lone_table(rows))


def _copy(p: PartitionState, broker: int, name: str = "") -> str:
    strong, light, _ = broker_colour(broker)
    before = f"{name}: " if name else ""
    if broker not in p.replicas:
        return cell(REPLICAS["none"].sign, text=SOFT)
    if broker == p.leader:
        words = f"{before}{REPLICAS['leader']}"
        return cell(words, bold=True, border=3, color=strong, fill=light, port=f"p{p.id}")
    if broker in p.isr:
        return cell(f"{before}replica, in sync", border=1, color=strong, port=f"p{p.id}")
    words = f"{before}{REPLICAS['late'].sign} replica, not in sync"
    return cell(words, border=1, color=strong, style="dashed", port=f"p{p.id}")


def _words(p: PartitionState) -> str:
    leader = f"the leader is broker {p.leader}" if p.leader else "there is no leader"
    behind = [str(b) for b in p.replicas if b not in p.isr]
    late = f"; not in sync: {', '.join(behind)}" if behind else ""
    return (
        f"Partition {p.id}: {leader}; replicas on brokers {', '.join(map(str, sorted(p.replicas)))}; "
        f"in sync: {', '.join(map(str, p.isr)) or 'none'}{late}."
    )


def _boxes(
    logs: Iterable[Record] | Mapping[int, Iterable[int]], text: Callable[[Record], str] | None
) -> dict[int, dict[int, str]]:
    if isinstance(logs, Mapping):
        return {partition: dict.fromkeys(sorted(offsets), "") for partition, offsets in logs.items()}
    boxes: dict[int, dict[int, str]] = {}
    for record in sorted(logs, key=lambda r: (r.partition, r.offset)):
        boxes.setdefault(record.partition, {})[record.offset] = text(record) if text else ""
    return boxes


def _held(offsets: list[int]) -> str:
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


def _box(part: int | str, boxes: Mapping[int, str], at: int | None) -> str:
    if isinstance(part, str):
        return cell(part, text=SOFT, border=int(not part.startswith("…")), color=SOFT, style="dashed")
    lines = [str(part), *filter(None, [boxes.get(part)])]
    if part == at:
        return cell("▶ next", *lines, bold=True, border=3, fill=SKY_TINT, width=44)
    return cell(*lines, border=1, color=SOFT, width=44)


def _id(name: str) -> str:
    return name.replace(":", " ")
