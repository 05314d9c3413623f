"""What lab 07 says of a member that is restarted while its group works on."""

from typing import Any

from threebrokers.lab.attempt import is_earlier
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.shifts import AWAY_SECONDS, deployed_with
from threebrokers.recorder import Recording

CALL = "`restarted = deploy(lab, settings_of)`"
LOOK = "`restarted.members()`: the row of A"
INSTANCE, SESSION = "group.instance.id", "session.timeout.ms"


def judge_restart(lab: Lab, restarted: Recording) -> None:
    """Raise NotYet unless in this try A's partitions did not change, and B works again."""
    used = deployed_with(restarted)
    if used is None:
        raise NotYet("`restarted` is no recording of deploy(…)", "it should be what this returns", CALL)
    if is_earlier(restarted.data.began, "restarted"):
        raise NotYet("`restarted` is an earlier recording", "it should be the one of this try", CALL)
    stops, starts = (mark.at for mark in restarted.data.marks)
    changes = [h for h in restarted.data.holdings if h.client == "A" and h.at >= stops and h.places]
    if changes:
        raise NotYet(
            f"A's partitions changed {changes[0].at - stops:.1f} s after B stopped: {_why(used['B'])}",
            "A should keep what it has, and nothing more, until B is back",
            LOOK,
        )
    flows = [f for f in restarted.data.flows if (f.kind, f.client) == ("delivered", "B")]
    if not any(burst.last > starts for flow in flows for burst in flow.bursts):
        raise NotYet("B got no record after its start", "it should work again", "`restarted.members()`")


def _why(used: list[dict[str, Any]]) -> str:
    ids = [str(settings[INSTANCE]) for settings in used if settings.get(INSTANCE)]
    if not ids:
        return "a member without a name leaves its group when it closes, and is a new one when it comes back"
    if len(set(ids)) > 1:
        return f"B came back under another name ({ids[0]}, then {ids[-1]}), so it was a new member"
    session = next((s[SESSION] for s in reversed(used) if SESSION in s), 6000)
    away = round(AWAY_SECONDS * 1000)
    kept = f"the group keeps B's place for a session, which is {session} ms, and B was away for {away} ms"
    if float(session) <= away:
        return kept
    return f"{kept}, but on this busy machine the group heard from it too late; a longer session leaves room"
