"""Delays through the day: what the package's own table says of them, and a picture."""

from typing import TYPE_CHECKING

import pandas as pd

from threebrokers import theme
from threebrokers.data.flights import load_flights
from threebrokers.diagrams.chart import chart
from threebrokers.notebook import tell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Blue, orange and green are brokers; a marker says the same as a line's colour. Names at the ends of lines
# would lie on each other: the lines meet there.
LOOKS = {"EWR": (theme.INK, "o"), "JFK": (theme.GREY, "s"), "LGA": (theme.OTHER_BROKER.strong, "^")}


def sums_of_package() -> pd.DataFrame:
    """Return flights, minutes of delay, and flights that left, by airport, hour and month; without Kafka."""
    table = load_flights()
    local = table["scheduled"].dt
    groups = table.groupby(["origin", local.hour.rename("hour"), local.month.rename("month")])["dep_delay"]
    return groups.agg(flights="size", minutes="sum", left="count")


def worst_by_month(sums: pd.DataFrame, fewest: int) -> pd.DataFrame:
    """Return for each month the airport and hour with the largest mean delay (minutes), and the second.

    `sums` has the columns origin, hour, month, flights, minutes (of delay) and left (how many left); groups
    with less than `fewest` flights do not count.
    """
    enough = sums[sums["flights"] >= fewest]
    means = enough.assign(mean_delay=enough["minutes"] / enough["left"]).sort_values("mean_delay")
    by_month = means.groupby("month")
    worst, second = (by_month.nth(place).set_index("month").sort_index() for place in (-1, -2))
    next_one = second["origin"] + " at " + second["hour"].astype(str)
    columns = worst[["origin", "hour", "flights", "mean_delay"]]
    return columns.assign(second=next_one, second_delay=second["mean_delay"])


def delays_picture(by_hour: pd.DataFrame, title: str) -> None:
    """Draw mean delays (minutes): a line for each column, an airport, over the hours of the index."""
    lines = {str(airport): by_hour[airport].dropna().astype(float) for airport in by_hour}

    def draw(axes: "Axes") -> None:
        for airport, line in lines.items():
            colour, marker = LOOKS.get(airport, (theme.GREY, "x"))
            axes.plot(line.index, line, marker=marker, color=colour, label=airport)
        axes.set(
            xticks=by_hour.index,
            xlabel="scheduled hour in New York",
            ylabel="mean delay (minutes)",
        )
        axes.legend()

    tell(chart(title, "\n".join(_said(airport, line) for airport, line in lines.items()), draw))


def _said(airport: str, line: "pd.Series[float]") -> str:
    first, last = line.index[0], line.index[-1]
    return (
        f"{airport}: a mean delay (minutes) of {line[first]:.0f} at {first} h, {line[last]:.0f} at {last} h; "
        f"the largest is {line.max():.0f}, at {line.idxmax()} h."
    )
