"""Unclean elections in a recording."""

from dataclasses import replace

from threebrokers.cluster.link_faults import apart_since
from threebrokers.kafka.elections import Elections, UncleanElection
from threebrokers.recorder.data import RecordingData


def unclean_elections(recording: RecordingData) -> list[UncleanElection]:
    """Return every unclean election that the states of a recording prove, oldest first."""
    elections = Elections()
    found: list[UncleanElection] = []
    for state in recording.states:
        for one in elections.see(state, apart_since(recording.actions, state.at)):
            if one.again:
                place = (one.topic, one.partition)
                earlier = max(n for n, e in enumerate(found) if (e.topic, e.partition) == place)
                found[earlier] = replace(
                    found[earlier],
                    readable_before=one.readable_before,
                    readable_after=one.readable_after,
                )
            else:
                found.append(one)
    return found
