"""Topics whose records are as old as they say, and what brokers delete of them, for lab 08."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, Message
from confluent_kafka.admin import ResourceType

from threebrokers import clock, theme
from threebrokers.diagrams.chart import chart
from threebrokers.kafka.admin import change_config
from threebrokers.kafka.batches import batches_in
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import config_of, topic_of
from threebrokers.notebook import tell

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HOUR_MS, DAY_HOURS = 3_600_000, 24
DAYS, EVERY_HOURS = 20, 6
PARTITIONS, FRAMES, FRAME_BYTES, CAMERA_BROKER = 4, 100, 50_000, 1
LOOK_SECONDS = 20.0  # brokers look every 2 s
# A batch is never divided between segments, so each record has one of its own.
ONE_BY_ONE = {"enable.idempotence": True, "batch.num.messages": 1}


def ages(days: int) -> list[int]:
    """Return the ages, in hours, of a record for every sixth hour of the last days, the oldest first."""
    return [EVERY_HOURS * number + 1 for number in reversed(range(days * DAY_HOURS // EVERY_HOURS))]


def send_days(lab: Lab, topic: str, days: int = DAYS) -> int:
    """Send a record for every sixth hour of the last days, each with its own time; return how many."""
    now = clock.now_ms()
    return send_at(lab, topic, 0, [now - hours * HOUR_MS for hours in ages(days)])


def send_at(lab: Lab, topic: str, partition: int, times: Iterable[int]) -> int:
    """Send a record for each of these times (ms) in turn; return how many were acknowledged."""
    acknowledged: list[Message] = []

    def report(error: KafkaError | None, message: Message) -> None:
        acknowledged.extend([] if error else [message])

    producer = lab.producer({**ONE_BY_ONE, "on_delivery": report})
    for number, moment in enumerate(times):
        producer.produce(topic, f"door {number % 7}", str(number), partition=partition, timestamp=moment)
    producer.flush()
    return len(acknowledged)


def segment_ages(lab: Lab, topic: str, partition: int = 0) -> "pd.DataFrame":
    """Return the leader's segments that hold records: how many, and the age of the oldest and the newest."""
    import pandas as pd  # only where a table is shown

    now, rows = clock.now() * 1000, dict[int, list[Any]]()
    for path in lab.cluster.segments(topic, partition):
        if batches := list(batches_in(path.read_bytes(), partition)):
            times = [time for batch in batches for time in (batch.first_timestamp, batch.max_timestamp)]
            days = [(now - time) / HOUR_MS / DAY_HOURS for time in (min(times), max(times))]
            rows[int(path.stem)] = [sum(batch.records for batch in batches), *days]
    columns = ["records", "oldest (days)", "newest (days)"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.rename_axis("first offset")


def segment_chart(table: "pd.DataFrame", keep: float) -> None:
    """Draw each segment of a table of ages from its oldest to its newest record, and the limit in days.

    The column "now" says whether the segment is "kept" or "deleted".
    """
    names = [f"from offset {offset}" for offset in table.index]
    rows = list(zip(table["oldest (days)"], table["newest (days)"], map(str, table["now"]), strict=True))

    def draw(axes: "Axes") -> None:
        for row, (oldest, newest, now) in enumerate(rows):
            colour, hatch = (theme.LIGHT, "") if now == "kept" else (theme.PAPER, "///")
            axes.barh(row, oldest - newest, left=newest, edgecolor=theme.INK, color=colour, hatch=hatch)
            axes.text((oldest + newest) / 2, row, now, ha="center", va="center", backgroundcolor=colour)
        axes.set_yticks(range(len(rows)), names)
        axes.axvline(keep, color=theme.INK, linestyle="--")
        top = ("data", "axes fraction")
        axes.annotate(f"{keep:g} days", (keep, 1), xycoords=top, ha="center", va="bottom")
        axes.set(xlabel="days ago")
        axes.invert_xaxis()
        axes.invert_yaxis()

    words = "\n".join(
        f"{name}: {oldest:.1f} to {newest:.1f} days old, {now}."
        for name, (oldest, newest, now) in zip(names, rows, strict=True)
    )
    title = "Each segment, from its oldest record to its newest"
    tell(chart(title, f"The limit is {keep:g} days.\n{words}", draw, 0.9 + 0.5 * len(rows)))


def wait_for_retention(lab: Lab) -> None:
    """Wait until every broker has looked for old segments once more, and has deleted what it found.

    A new topic has a record of 1970 on each broker. A look that deletes it has begun after this call, for
    it knows the topic; it may still have other topics to see. The next look, which deletes a second such
    record, begins only when the first is over.
    """
    brokers = lab.cluster.brokers
    where = [[broker] for broker in brokers]
    topic = lab.fresh_topic("canary", partitions=len(brokers), brokers=where)
    producer = lab.producer()

    def gone(count: int) -> bool:
        return all(partition.log_start_offset == count for partition in topic_of(lab, topic).partitions)

    for look in (1, 2):
        for partition in range(len(brokers)):
            producer.produce(topic, b"of 1970", partition=partition, timestamp=1)
        producer.flush()
        lab.wait_until(partial(gone, look), what="each broker to look for old segments", within=LOOK_SECONDS)


def twenty_days(lab: Lab, settings: Mapping[str, Any]) -> str:
    """Return a new topic with these settings and a record for every sixth hour of the last 20 days.

    Nothing is deleted before all are sent; then every broker looks for old segments.
    """
    topic = lab.fresh_topic("badges", config=config_of(settings))
    change_config(lab.admin(), ResourceType.TOPIC, topic, {"retention.ms": "-1"})
    send_days(lab, topic)
    own = {"retention.ms": config_of(settings).get("retention.ms")}
    change_config(lab.admin(), ResourceType.TOPIC, topic, own)
    wait_for_retention(lab)
    return topic


def film(lab: Lab, settings: Mapping[str, Any]) -> str:
    """Return a new topic with these settings and 5 MB of frames in each of its four partitions.

    All four are on broker 1, which has looked for what to delete when this returns.
    """
    topic = lab.fresh_topic(
        "frames", partitions=PARTITIONS, brokers=[CAMERA_BROKER], config=config_of(settings)
    )
    producer = lab.producer(ONE_BY_ONE)
    for _ in range(FRAMES):
        for partition in range(PARTITIONS):
            producer.produce(topic, bytes(FRAME_BYTES), partition=partition)
        producer.poll(0)
    producer.flush()
    wait_for_retention(lab)
    return topic


def bytes_on_disk(lab: Lab, topic: str, partitions: Sequence[int]) -> list[int]:
    """Return the bytes of the segments of each of these partitions, on its leader."""
    return [sum(path.stat().st_size for path in lab.cluster.segments(topic, p)) for p in partitions]
