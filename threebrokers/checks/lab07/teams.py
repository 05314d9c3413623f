"""What lab 07 says of programs and their groups."""

from collections.abc import Mapping

from threebrokers.checks.expect import committed, existing_topic
from threebrokers.lab.exercise import NotYet
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.sharing import HIRED, staff_group
from threebrokers.text import listed
from threebrokers.why_empty.probe import groups

SAME = ("state 1", "state 2")
PROGRAMS = (*SAME, "budget", "audit")
CALL = "`got = staff(lab, teams)`"


def judge_teams(lab: Lab, teams: Mapping[str, str]) -> None:
    """Raise NotYet unless the groups are right, and each of them has read all that the topic holds."""
    if missing := [name for name in PROGRAMS if name not in teams]:
        raise NotYet(
            f"`teams` says nothing of '{missing[0]}'", "each program needs a group", "the table above"
        )
    one, two = (teams[name] for name in SAME)
    if one != two:
        alone = not {one, two} & {teams[name] for name in PROGRAMS[2:]}
        raise NotYet(
            f"'state 1' is in '{one}' and 'state 2' in '{two}', so "
            + ("each of them counts every hire" if alone else "they do not share the work"),
            "they are copies of one program, and should share the work",
            "which of the programs do the same?",
        )
    for name in PROGRAMS[2:]:
        if others := [other for other in PROGRAMS if other != name and teams[other] == teams[name]]:
            raise NotYet(
                f"'{name}' shares the group '{teams[name]}' with {listed(map(repr, others))}, so it gets "
                "only a part of the records",
                "it needs all of them",
                "what each program must see",
            )
    _expect_read(lab, teams)


def _expect_read(lab: Lab, teams: Mapping[str, str]) -> None:
    topic = lab.topic("hired")
    existing_topic(lab, topic)
    run = _last_run(lab)
    for team in sorted(set(teams.values())):
        count = sum(committed(lab, staff_group(lab, run, team), topic).values()) if run else 0
        if count != HIRED:
            raise NotYet(
                f"the group '{team}' has read {count} of {HIRED} records",
                "the programs should have run with these groups",
                CALL,
            )


def _last_run(lab: Lab) -> str:
    """Return what tells the last call of `staff` from others; empty if there was none."""
    begin = staff_group(lab, "", "").removesuffix("-")
    names = [name for name in groups(lab.admin()) if name.startswith(begin)]
    runs = [name.removeprefix(begin).partition("-")[0] for name in names]
    return max(runs, default="")
