"""Exercise 14.1: departures joined with the register of aircraft, against the package's own tables."""

import pandas as pd

from threebrokers.data.registers import DELETED_SEATS, deleted_planes, load_planes
from threebrokers.data.replay import late_departures
from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted

COLUMNS = {
    "carrier": "carrier",
    "flight": "flight",
    "tailnum": "tailnum",
    "scheduled": "scheduled",
    "origin": "origin",
    "dest": "dest",
    "dep_delay": "dep_delay",
    "arr_delay": "arr_delay",
    "distance": "distance",
    "left": "left AS left_at",
    "seats": "CAST(seats AS INT) AS seats",
}
JOIN, REGISTER = "the kind of join, and a `where` behind it", "how `register` is made"


def right_seats() -> pd.DataFrame:
    """Return the late day's departures with the seats of their aircraft, empty if it is unknown."""
    seats = load_planes().set_index("tailnum")["seats"]
    flights = late_departures()[["carrier", "flight", "tailnum"]]
    return flights.assign(seats=flights["tailnum"].map(seats).astype("Int64"))


def judge_seats(rows: pd.DataFrame) -> None:
    """Raise NotYet unless each departure is there once, with its aircraft's seats.

    Of COLUMNS, `rows` needs `carrier`, `flight`, `tailnum` and `seats`.
    """
    right = right_seats()
    flight = ["carrier", "flight"]
    times = rows.groupby(flight).size()
    if twice := int((times > 1).sum()):
        raise NotYet(
            f"{counted(twice, 'departure')} {'is' if twice == 1 else 'are'} in the table more than once: "
            "the register has several records of some aircraft",
            "a table has one row for each key, the last record",
            REGISTER,
        )
    found = rows[[*flight, "tailnum", "seats"]].rename(
        columns={"tailnum": "tailnum_found", "seats": "seats_found"}
    )
    both = right.merge(found, on=flight, how="left", indicator=True)
    if (gone := both[both["_merge"] == "left_only"]).shape[0]:
        first = gone.iloc[0]
        raise NotYet(
            f"{len(gone)} departures are gone, such as {first['carrier']} {first['flight']}: "
            f"their aircraft ({first['tailnum']}) are not in the register",
            f"all {len(right)} should be there, with empty seats if the register does not know the aircraft",
            JOIN,
        )
    other = both[both["tailnum_found"] != both["tailnum"]]
    if not other.empty:
        first = other.iloc[0]
        held = "nothing" if pd.isna(first["tailnum_found"]) else repr(first["tailnum_found"])
        raise NotYet(
            f"{counted(len(other), 'departure')} such as {first['carrier']} {first['flight']} "
            f"{'has' if len(other) == 1 else 'have'} {held} as `tailnum`, not the number of the "
            f"aircraft that left ({first['tailnum']})",
            "a departure keeps its own columns, also if the register does not know its aircraft",
            "the columns that the join gives, and which of them you drop",
        )
    _expect_same(both)


def _expect_same(both: pd.DataFrame) -> None:
    found, right = both["seats_found"].astype("Int64"), both["seats"]
    deleted = both["tailnum"].isin(deleted_planes())
    odd = both[(found.fillna(-1) != right.fillna(-1)) & ~deleted]
    if odd.empty:
        _expect_deleted(both[deleted & found.notna()])
        return
    first = odd.iloc[0]
    if pd.isna(first["seats"]):
        raise NotYet(
            f"{first['tailnum']} has {int(first['seats_found'])} seats, and the register does not know it",
            "nobody knows how many seats it has: that is null, and not a number",
            REGISTER,
        )
    if pd.isna(first["seats_found"]):
        raise NotYet(
            f"{first['tailnum']} has no seats, and the register knows it: {int(first['seats'])} seats",
            "each aircraft should have its own last record",
            REGISTER,
        )
    raise NotYet(
        f"{first['tailnum']} has {int(first['seats_found'])} seats, and so are "
        f"{counted(len(odd), 'departure')} wrong",
        "the register has corrected that: the record with the largest offset counts",
        REGISTER,
    )


def _expect_deleted(back: pd.DataFrame) -> None:
    if not back.empty:
        raise NotYet(
            f"{back.iloc[0]['tailnum']} has {DELETED_SEATS} seats: it was deleted, and its record before "
            "that is back",
            "a tombstone can be a key's last record, so it must be there when that is chosen",
            REGISTER,
        )
