"""What checks read from the log of actions: what was done to the brokers in this try, and what was not."""

from threebrokers.cluster.actions import Action, action_kind
from threebrokers.lab.attempt import attempt
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab


def actions_of_attempt(lab: Lab) -> list[Action]:
    """Return what was done to the brokers since the exercise's cell began, by any program; oldest first.

    Outside a notebook, where no cell began, all that is known was done.
    """
    run = attempt()
    return lab.cluster.actions(run.began if run else 0.0)


def expect_action(lab: Lab, kind: str, look_at: str, broker: int | None = None) -> Action:
    """Return the first action of this kind ("kill") in this try; NotYet says what was done instead.

    Give a `broker` if it must be that one. It looks at what was done, not at how the brokers are now: a
    learner who starts the broker again before the check is right.
    """
    done = [action for action in actions_of_attempt(lab) if action_kind(action.kind).harm]
    same = [action for action in done if action.kind == kind]
    right = [action for action in same if broker in (None, action.broker)]
    if right:
        return right[0]
    past, named = action_kind(kind).past, "a broker" if broker is None else f"broker {broker}"
    if same:
        raise NotYet(f"broker {same[0].broker} was {past}", f"it should be {named}", look_at)
    others = [action for action in done if broker in (None, action.broker)] or done
    if others:
        other = action_kind(others[0].kind).past
        raise NotYet(
            f"broker {others[0].broker} was {other}{_cost(others[0].kind)}",
            f"{named} should be {past}",
            look_at,
        )
    raise NotYet(f"no broker was {past} by this try", f"{named} should be", look_at)


def _cost(kind: str) -> str:
    return {
        "stop": ", and so it could hand over its work before it went",
        "pause": ", and its process is the same as before",
        "cut": ", and its process goes on",
    }.get(kind, "")
