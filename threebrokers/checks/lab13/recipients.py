"""Exercise 13.3: what three readers of a stream's results get in the output modes that were chosen."""

from collections.abc import Mapping

from threebrokers.lab.exercise import NotYet
from threebrokers.lab.values import told as shown
from threebrokers.spark.delivering import Delivered

LOOK_AT = "the word for it in `modes`"
NAMES = ("invoices", "board", "ranking")


def judge_invoices(delivered: Mapping[str, Delivered]) -> None:
    """Raise NotYet unless the invoice office got each hour of an airport once."""
    got = _got(delivered, "invoices")
    times = got.rows.groupby(["origin", "hour"]).size()
    if times.max() > 1:
        origin, hour = times.idxmax()
        raise NotYet(
            f"the invoice office got {origin}, {hour:%d %b %H:%M}, {times.max()} times, each time "
            "with another number",
            "it sends each invoice once and cannot take it back",
            LOOK_AT,
        )
    if got.sent > len(got.rows):
        raise NotYet(
            f"the invoice office got {got.sent:,} rows for {len(got.rows)} hours: "
            "all of them again in each batch",
            "it sends each invoice once",
            LOOK_AT,
        )


def judge_board(delivered: Mapping[str, Delivered]) -> None:
    """Raise NotYet unless the board got the changed rows, and these soon."""
    got = _got(delivered, "board")
    hours = len(got.rows.drop_duplicates(["origin", "hour"]))
    if got.sent > len(got.rows):
        raise NotYet(
            f"the board got {got.sent:,} rows: in each batch also the hours in which nothing had changed",
            "its line is slow: it wants what has changed and nothing else",
            LOOK_AT,
        )
    if len(got.rows) == hours:
        raise NotYet(
            f"the newest hour on the board is {got.rows['hour'].max():%d %b %H:%M}, and flights of "
            "later hours have been read",
            "passengers want each number as it grows, and not when it is final",
            LOOK_AT,
        )


def judge_ranking(delivered: Mapping[str, Delivered]) -> None:
    """Raise NotYet unless the ranking was there, whole and in order."""
    rows = _got(delivered, "ranking").rows
    if rows.empty:
        raise NotYet("the ranking has no rows", "it should have one for each airport", LOOK_AT)
    times = rows["origin"].value_counts()
    if times.max() > 1:
        raise NotYet(
            f"the newspaper got {times.idxmax()} {times.max()} times, each time with another number",
            "it prints the list as it is, so all airports should be there once, in order",
            f"`ranking` as the cell makes it, and {LOOK_AT}",
        )
    if not rows["count"].is_monotonic_decreasing:
        listed = ", ".join(f"{row.origin} {row.count:,}" for row in rows.itertuples(index=False))
        raise NotYet(
            f"the newspaper's list is not in order ({listed})", "it prints the list as it is", "`ranking`"
        )


def _got(delivered: Mapping[str, Delivered], name: str) -> Delivered:
    if missing := [name for name in NAMES if name not in delivered]:
        raise NotYet(
            f"`delivered` has nothing for `{missing[0]}`", "deliver(tables, modes) makes all of it", LOOK_AT
        )
    got = delivered[name]
    if not isinstance(got, Delivered):
        raise NotYet(
            f"`delivered` has {shown(got)} for `{name}`",
            "it should be what its reader got, as deliver(tables, modes) returns it",
            "`delivered = …` in the cell of the exercise",
        )
    if not got.refused:
        return got
    raise NotYet(
        f"Spark refuses {got.mode!r} for `{name}`: {got.refused.rstrip('.')}",
        "its reader should get something",
        LOOK_AT,
    )
