"""Asking for groups, in both of Kafka's group protocols, and reading the answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka.protocol.admin.groups import DescribeGroupsRequest, DescribeGroupsResponse
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer.group import OffsetFetchRequest, OffsetFetchResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from threebrokers.kafka.connection import Request
from threebrokers.kafka.state import GroupState, MemberState

NO_ERROR = 0
MESSAGES = "threebrokers.kafka.messages"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=MESSAGES):  # type: ignore[misc, call-arg]
    """Ask for groups of the new protocol (KIP-848)."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=MESSAGES):  # type: ignore[misc, call-arg]
    """The groups of the new protocol that the broker coordinates."""


def ask(names: Sequence[str]) -> list[Request]:
    """Ask for members and committed offsets of groups. Only a group's coordinator knows them."""
    if not names:
        return []
    classic = DescribeGroupsRequest(groups=list(names), include_authorized_operations=False)
    new = ConsumerGroupDescribeRequest(group_ids=list(names), include_authorized_operations=False)
    group = OffsetFetchRequest.OffsetFetchRequestGroup
    of_all = [group(group_id=name, topics=None) for name in names]  # None: every topic
    offsets = OffsetFetchRequest(groups=of_all, require_stable=False)
    return [
        Request(classic, DescribeGroupsResponse, 5),
        Request(new, ConsumerGroupDescribeResponse, 1),
        Request(offsets, OffsetFetchResponse, 8),
    ]


def read(names: Sequence[str], told: Mapping[int, Sequence[Any]]) -> dict[str, GroupState]:
    """Return each group as its coordinator tells it; one whose coordinator did not answer is left out.

    `told` holds each broker's answers to `ask(names)`.
    """
    found: dict[str, GroupState] = {}
    for number, answers in sorted(told.items()) if names else ():
        # A broker answers for several groups in an order of its own.
        by_name = [{group.group_id: group for group in answer.groups} for answer in answers]
        for name in names:
            old_way, new_way, committed = (groups[name] for groups in by_name)
            if committed.error_code != NO_ERROR:
                continue  # one that has just taken over reads the group's offsets first
            # A group of the new protocol is "Dead" to the old request.
            if new_way.error_code == NO_ERROR:
                state, members = new_way.group_state, _new_members(new_way)
            elif old_way.error_code == NO_ERROR:
                state, members = old_way.group_state, _classic_members(old_way)
            else:
                continue
            found[name] = GroupState(name, state, number, members, _committed(committed))
    return found


def _classic_members(group: Any) -> tuple[MemberState, ...]:
    members = []
    for m in group.members:
        told = bytes(m.member_assignment)
        assigned = ConsumerProtocolAssignment.decode(told).assigned_partitions if told else []
        places = sorted((t.topic, p) for t in assigned for p in t.partitions)
        members.append(MemberState(m.member_id, m.client_id, tuple(places)))
    return tuple(sorted(members, key=lambda member: member.id))


def _new_members(group: Any) -> tuple[MemberState, ...]:
    members = [
        MemberState(
            m.member_id,
            m.client_id,
            tuple(sorted((t.topic_name, p) for t in m.assignment.topic_partitions for p in t.partitions)),
        )
        for m in group.members
    ]
    return tuple(sorted(members, key=lambda member: member.id))


def _committed(answer: Any) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        sorted(
            (topic.name, p.partition_index, p.committed_offset)
            for topic in answer.topics
            for p in topic.partitions
            if p.error_code == NO_ERROR and p.committed_offset >= 0
        )
    )
