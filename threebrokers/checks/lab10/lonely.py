"""What lab 10's check says of records that were written to a leader without followers in sync."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from confluent_kafka import KafkaError

from threebrokers.lab.attempt import attempt, is_earlier
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.guarantees import Alone, is_alone, who_has

ACKNOWLEDGED, COPIES = "acknowledged", "copies"
REPORTS = "the delivery reports: error is None for an acknowledged record"
ANEW = "then run the cell again"
ENDS = "partition_of(lab, topic).log_end_offsets"


def judge_alone(lab: Lab, alone: Alone, acknowledged: Mapping[Any, Any], copies: Mapping[Any, Any]) -> None:
    """Raise NotYet unless both topics were written to, and the answers are what they show."""
    _expect_still_alone(lab, alone)
    loose, strict = who_has(lab, alone.loose), who_has(lab, alone.strict)
    if strict:
        raise NotYet(
            f"the record in {alone.strict!r} is stored, by broker {strict[0]} alone: acks=all would have "
            "been refused there",
            "both topics should be written to with acks=all",
            f"acks in the settings of your producer; {ANEW}, which makes new topics",
        )
    if not loose:
        raise NotYet(
            f"no record of yours stands in {alone.loose!r}, so these answers come from no experiment",
            "a record should be written to each topic, and its report be waited for",
            "produce(…) and flush()",
        )
    _expect_reports(lab, alone, acknowledged)
    for name, given in ((ACKNOWLEDGED, acknowledged), (COPIES, copies)):
        if missing := [topic for topic in (alone.loose, alone.strict) if topic not in given]:
            raise NotYet(
                f"`{name}` says nothing of {missing[0]!r}",
                "it should have both topics as keys",
                "alone.loose and alone.strict",
            )
    _judge_reports(alone, acknowledged)
    _judge_copies(alone, copies, counted=copies[alone.loose] == copies[alone.strict] == 1)


def _expect_still_alone(lab: Lab, alone: Alone) -> None:
    if is_earlier(alone.at, "alone"):
        raise NotYet(
            "this state is that of an earlier try",
            "each try should begin with its own",
            "leader_alone(lab): the first line of the cell",
        )
    if not all(is_alone(lab, topic, alone.leader) for topic in (alone.loose, alone.strict)):
        raise NotYet(
            "the followers are in sync again",
            "they should be away while you write, and while this cell looks",
            f"what mends links: recover() and heal(); {ANEW}",
        )


def _expect_reports(lab: Lab, alone: Alone, acknowledged: Mapping[Any, Any]) -> None:
    """Raise NotYet for a topic without an answer whose delivery report the program did not wait for."""
    run = attempt()
    used = [one for one in lab.producers() if run is None or one.sent_at >= run.began]
    for topic in (alone.loose, alone.strict):
        if topic not in acknowledged and any(one.unreported(topic) for one in used):
            raise NotYet(
                f"no report has come yet for {topic!r}: its record is refused, and tried again and again",
                "each report should be waited for, and come within seconds",
                "message.timeout.ms in the settings of your producer, and flush()",
            )


def _judge_reports(alone: Alone, acknowledged: Mapping[Any, Any]) -> None:
    for topic in (alone.loose, alone.strict):
        if acknowledged[topic] is None or isinstance(acknowledged[topic], KafkaError):
            raise NotYet(
                f"`acknowledged` says {acknowledged[topic]!r:.60} for {topic!r}, which is the error of its "
                "report: None is an acknowledged record",
                "it should be True or False",
                REPORTS,
            )
    if not acknowledged[alone.loose]:
        raise NotYet(
            f"`acknowledged` says that the record in {alone.loose!r} was not acknowledged, and it was: "
            "acks=all asks those that are in sync, and that is the leader",
            "it should be True",
            REPORTS,
        )
    if acknowledged[alone.strict]:
        raise NotYet(
            f"`acknowledged` says that the record in {alone.strict!r} was acknowledged, and nobody has it: "
            "one replica in sync is fewer than two",
            "it should be False",
            REPORTS,
        )


def _judge_copies(alone: Alone, copies: Mapping[Any, Any], counted: bool) -> None:
    """Raise NotYet unless the numbers are right; in those of `counted` the leader's older record may be."""
    for topic in (alone.loose, alone.strict):
        if not isinstance(copies[topic], Integral):
            raise NotYet(
                f"`copies` says {copies[topic]!r:.60} for {topic!r}",
                "it should be a number: on how many brokers the record stands now",
                ENDS,
            )
    older = "; what it has is at offset 0, a record of an earlier producer" if counted else ""
    if copies[alone.loose] != 1:
        raise NotYet(
            f"`copies` says {copies[alone.loose]!r} for {alone.loose!r}, and broker {alone.leader} has the "
            "only one: an acknowledgement with acks=all is no promise of three",
            "it should be the number of brokers that have the record now",
            ENDS,
        )
    if copies[alone.strict] != 0:
        raise NotYet(
            f"`copies` says {copies[alone.strict]!r} for {alone.strict!r}: this leader refuses a record "
            f"before it stores it{older}",
            "it should be the number of brokers that have the record now",
            ENDS,
        )
