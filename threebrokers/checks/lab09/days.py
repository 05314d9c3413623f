"""What lab 09 says of a topic whose old prices should be gone soon."""

from collections import Counter
from collections.abc import Sequence

from threebrokers.checks.expect import Setting, expect_topic, settings_of
from threebrokers.kafka.segments import Segment, closed
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios import segments_of
from threebrokers.lab.scenarios.last_values import ALL_SHARES, share
from threebrokers.text import counted

SOON_MS = 3000
POLICY, SEGMENT, RATIO = "cleanup.policy", "segment.ms", "min.cleanable.dirty.ratio"
LEAST_LAG, MOST_LAG, NULLS = "min.compaction.lag.ms", "max.compaction.lag.ms", "delete.retention.ms"
CALL = "shares = trading_day(lab, settings)"


class Settings(dict[str, Setting]):
    """The settings of a topic, as the brokers have them, by name."""

    def number(self, name: str) -> float:
        """Return the value of a setting that is a number."""
        return float(self[name].value)


def judge_day(lab: Lab, topic: str) -> None:
    """Raise NotYet unless each share has its last price in the topic, and no older one."""
    expect_topic(lab, topic, "shares")
    settings = Settings(settings_of(lab, topic))
    _judge_policy(settings)
    segments = segments_of(lab, topic)
    keys = Counter((r.key or b"").decode() for segment in segments for r in segment.records)
    if missing := [n for n in range(ALL_SHARES) if share(n) not in keys]:
        raise NotYet(
            f"{counted(len(missing), 'share')} of {ALL_SHARES} have no price in '{topic}'",
            "the last price of each should stay",
            CALL,
        )
    judge_segments(segments, settings)
    judge_bounds(segments, settings)


def _judge_policy(settings: Settings) -> None:
    policy = settings[POLICY].value
    policies = {part.strip() for part in policy.split(",")}
    if policies == {"compact"} or ("compact" in policies and _nothing_ages(settings)):
        return
    if "compact" in policies:
        raise NotYet(
            f"{POLICY} is {policy!r}: what is older than retention.ms (seven days, unless told otherwise) is "
            "deleted, also the last price of a share",
            "the last price of each should stay for ever",
            POLICY,
        )
    if settings["retention.ms"].own:
        raise NotYet(
            f"{POLICY} is {policy!r} and retention.ms is set: prices go by their age, the last ones too",
            "a price should go because a newer one of the same share has come",
            POLICY,
        )
    raise NotYet(
        f"{POLICY} is {policy!r}, so no price goes because a newer one has come",
        "an old price should",
        POLICY,
    )


def _nothing_ages(settings: Settings) -> bool:
    return settings.number("retention.ms") == settings.number("retention.bytes") == -1


def judge_segments(segments: Sequence[Segment], settings: Settings) -> None:
    """Raise NotYet, with the setting that explains it, if a share has two prices in these segments."""
    if len(segments) == 1:
        raise _one_file(len(segments[0].records), settings)
    twice = [key for key, count in Counter(r.key for r in closed(segments)).items() if count > 1]
    if twice:
        raise _not_cleaned(len(twice), settings)
    newest = {record.key for record in segments[-1].records}
    if waiting := newest & {record.key for record in closed(segments)}:
        raise NotYet(
            f"{counted(len(waiting), 'share has', 'shares have')} an old price in a closed segment, and its "
            f"successor is still in the active one, which is closed after {_closed_after(settings):,.0f} ms",
            f"an old price should be gone {SOON_MS // 1000} s after the next one has come",
            f"{SEGMENT}, {MOST_LAG}",
        )


def judge_bounds(segments: Sequence[Segment], settings: Settings) -> None:
    """Raise NotYet if these settings would leave another day's old prices there for longer.

    What is left of one day tells when the cleaner came once, and it may have come for several prices.
    """
    soon = f"an old price should be gone {SOON_MS // 1000} s after the next one has come"
    if settings.number(LEAST_LAG) > SOON_MS:
        seconds = settings.number(LEAST_LAG) / 1000
        raise NotYet(f"{LEAST_LAG} keeps the cleaner off for {seconds:g} s", soon, LEAST_LAG)
    if _closed_after(settings) > SOON_MS:
        raise NotYet(
            f"the next price lies in the active segment for {_closed_after(settings):,.0f} ms, and the "
            "cleaner does not read it there",
            soon,
            f"{SEGMENT}, {MOST_LAG}",
        )
    if settings.number(MOST_LAG) > SOON_MS and settings.number(RATIO) >= one_price(segments):
        share, otherwise = one_price(segments), settings[MOST_LAG]
        later = f", or after {float(otherwise.value) / 1000:g} s" if otherwise.own else ""
        raise NotYet(
            f"one new price makes {share:.1%} of this log dirty, and the cleaner comes only for more than "
            f"{settings.number(RATIO):.0%} ({RATIO}){later}",
            "it should come for a single price, too",
            f"{RATIO}, {MOST_LAG}",
        )


def one_price(segments: Sequence[Segment]) -> float:
    """Return the dirty share of a log that is clean but for one price, such as the active segment has."""
    return segments[-1].size / sum(segment.size for segment in segments)


def _closed_after(settings: Settings) -> float:
    return min(settings.number(SEGMENT), settings.number(MOST_LAG))


def _one_file(records: int, settings: Settings) -> NotYet:
    place = f"all {records} records are in the active segment"
    if settings[SEGMENT].own or settings[MOST_LAG].own:
        after = f"{_closed_after(settings):,.0f} ms"
        found = f"{place}: by the times of these prices no segment was closed in {after}"
    elif settings[RATIO].own:
        found = f"{RATIO} is about closed segments, and {place}"
    elif settings["retention.ms"].own:
        found = f"retention.ms counts only for the policy delete, and {place}"
    elif settings["segment.bytes"].own:
        found = f"{place}, which are fewer than {settings.number('segment.bytes'):,.0f} bytes"
    elif settings[NULLS].own:
        found = f"{NULLS} is about records without a value, and {place}"
    else:
        found = f"{place}, and that one is closed after seven days or at 1 GB"
    return NotYet(
        found,
        "the cleaner works on closed segments only",
        "segments_of(lab, shares), and what closes a segment",
    )


def _not_cleaned(keys: int, settings: Settings) -> NotYet:
    twice = f"{counted(keys, 'share has', 'shares have')} more than one price in the closed segments"
    look = "cleaner_runs(lab, shares)"
    if settings.number(LEAST_LAG) > SOON_MS:
        return NotYet(
            f"{twice}: {LEAST_LAG} keeps the cleaner off for {settings.number(LEAST_LAG) / 1000:g} s",
            f"old prices should be gone within {SOON_MS // 1000} s",
            LEAST_LAG,
        )
    if settings.number(RATIO) >= 1:
        return NotYet(
            f"{twice}: the dirty share of a log can never be more than {RATIO}, which is 1",
            "it should be exceeded",
            RATIO,
        )
    return NotYet(
        f"{twice}: the cleaner came in the morning, when all was dirty, and not in the evening, when no more "
        f"than {settings.number(RATIO):.0%} was ({RATIO})",
        "it should come for a single price, too",
        look,
    )
