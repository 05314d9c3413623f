"""Delays through the day: what the package's own table says of them, and a picture."""

import pandas as pd

from threebrokers import theme
from threebrokers.data.flights import load_flights

# Blue, orange and green are brokers; a marker and a name at the line say the same as its colour.
LOOKS = {"EWR": (theme.INK, "o"), "JFK": (theme.GREY, "s"), "LGA": (theme.OTHER_BROKER.strong, "^")}


def sums_of_package() -> pd.DataFrame:
    """Return flights, minutes of delay, and flights that left, by airport, hour and month; without Kafka."""
    table = load_flights()
    local = table["scheduled"].dt
    groups = table.groupby(["origin", local.hour.rename("hour"), local.month.rename("month")])["dep_delay"]
    return groups.agg(flights="size", minutes="sum", left="count")


def worst_by_month(sums: pd.DataFrame, fewest: int) -> pd.DataFrame:
    """Return for each month the airport and hour with the largest mean delay (minutes).

    `sums` has the columns origin, hour, month, flights, minutes (of delay) and left (how many left); groups
    with less than `fewest` flights do not count.
    """
    enough = sums[sums["flights"] >= fewest]
    means = enough.assign(mean_delay=enough["minutes"] / enough["left"]).sort_values("mean_delay")
    worst = means.groupby("month").tail(1).set_index("month").sort_index()
    return worst[["origin", "hour", "flights", "mean_delay"]]


def delays_picture(by_hour: pd.DataFrame, title: str) -> None:
    """Draw mean delays (minutes): a line for each column, an airport, over the hours of the index."""
    import matplotlib.pyplot as plt  # half a second, which most cells with Spark need not pay

    figure, axes = plt.subplots(figsize=(7, 3.5))
    for airport in by_hour:
        colour, marker = LOOKS.get(str(airport), (theme.GREY, "x"))
        line = by_hour[airport].dropna().astype(float)
        axes.plot(line.index, line, marker=marker, color=colour, label=airport)
        axes.annotate(
            str(airport),
            (line.index[-1], line.iloc[-1]),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=theme.INK,
        )
    axes.set(
        xticks=by_hour.index,
        xlim=(by_hour.index.min() - 0.5, by_hour.index.max() + 1.5),
        xlabel="scheduled hour in New York",
        ylabel="mean delay (minutes)",
        title=title,
    )
    axes.legend()
    plt.show()
    plt.close(figure)
