"""Departures as their airports report them: some reports are repeated, up to six hours later."""

from datetime import timedelta
from typing import TYPE_CHECKING

from threebrokers.data.flights import flight_values
from threebrokers.data.replay import empty_replay, late_departures
from threebrokers.data.topics import send
from threebrokers.lab.lab import Lab

if TYPE_CHECKING:
    import pandas as pd

REPORT_FIELDS = ("sent", "carrier", "flight", "scheduled", "tailnum", "origin")
# One report in four is repeated, after so many minutes.
REPEATED_EACH = 4
REPEATED_AFTER = (5, 60, 200, 355)
PROMISED = timedelta(hours=6)


def repeated_reports() -> "pd.DataFrame":
    """Return the reports of `late_departures()` by `sent`: when a flight left, or later once more.

    The columns are `sent` and `scheduled` (times), `carrier`, `flight`, `tailnum` and `origin`. A repeated
    report differs in `sent` only.
    """
    import pandas as pd  # only where flights are read: a lab is opened without it

    table = late_departures()
    first = table.assign(sent=table["left"])
    again = first.iloc[::REPEATED_EACH].reset_index(drop=True)
    later = [REPEATED_AFTER[number % len(REPEATED_AFTER)] for number in range(len(again))]
    again = again.assign(sent=again["sent"] + pd.to_timedelta(later, unit="min"))
    both = pd.concat([first, again]).sort_values("sent", kind="stable", ignore_index=True)
    return both[list(REPORT_FIELDS)]


def reports_topic(lab: Lab, name: str) -> str:
    """Return the full name of a fresh topic of one partition with `repeated_reports()`, keyed by aircraft."""
    topic = empty_replay(lab, name, partitions=1)
    table = repeated_reports()
    table = table.assign(scheduled=table["scheduled"].map(lambda time: time.isoformat()))
    keys = [tailnum.encode() for tailnum in table["tailnum"]]
    send(lab, topic, zip(keys, flight_values(table, REPORT_FIELDS, "sent"), strict=True))
    return topic
