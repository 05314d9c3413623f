"""Exercise 15.2: the learner's database, judged by its rows and, where these are wrong, by its keys."""

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from threebrokers.lab.exercise import NotYet
from threebrokers.text import counted, listed

Place = tuple[int, int]
TABLE = "CREATE TABLE in your sink"
SAVE = "the function `save`"


def judge_book(file: Path, wanted: Mapping[Place, str], forgotten: Sequence[str] = ()) -> None:
    """Raise NotYet unless the table `trips` holds each place (partition, offset) once, with its aircraft.

    `forgotten` are the names of what the sink had kept in memory when Spark died.
    """
    if not file.exists():
        raise NotYet("nothing was written into `keyed`", "`save` should open this database", SAVE)
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            found = db.execute("SELECT part, place, tailnum FROM trips").fetchall()
            found = [(_number(part), _number(place), tailnum) for part, place, tailnum in found]
            keys, others = _unique(db), _others(db)
    except sqlite3.Error as fault:
        raise NotYet(
            f"the table `trips` cannot be read (SQLite says: {fault})",
            "it should have the columns part, place and tailnum",
            TABLE,
        ) from fault
    times = Counter((part, place) for part, place, _ in found)
    if found and not any((part, place) in wanted for part, place, _ in found):
        part, place, tailnum = found[0]
        raise NotYet(
            f"a row of `trips` has {part!r} as part, {place!r} as place and {tailnum!r} as tailnum",
            "the columns should be in the order in which `rows_of` gives their values",
            TABLE,
        )
    if missing := [place for place in wanted if place not in times]:
        raise _missing(missing, wanted, keys)
    if twice := [place for place, count in times.items() if count > 1]:
        raise _twice([times[place] for place in twice], keys, others, forgotten)
    odd = [row for row in found if wanted.get((row[0], row[1])) != row[2]]
    if odd:
        raise NotYet(f"the table `trips` holds {odd[0]!r}", "no departure looks like that", SAVE)


def _missing(missing: list[Place], wanted: Mapping[Place, str], keys: list[list[str]]) -> NotYet:
    said = f"{len(missing)} of {len(wanted)} departures are not in the table"
    if ["place"] in keys:
        return NotYet(
            f"{said}: an offset alone is your key, and most offsets stand for more than one departure",
            "each partition counts from 0",
            TABLE,
        )
    # A key of none of these columns, such as a number that SQLite gives itself, is the same for no two rows.
    own = [key for key in keys if set(key) & {"part", "place", "tailnum"}]
    if other := next((key for key in own if not {"part", "place"} <= set(key)), None):
        return NotYet(
            f"{said}: your key is ({', '.join(other)}), and several departures have the same one",
            "each departure should have a key that is its own",
            TABLE,
        )
    if _one_piece(missing, wanted):
        return NotYet(
            f"{said}, all of batch 1: it was noted as done, and Spark died before its rows were committed",
            "rows and note should be in one transaction",
            SAVE,
        )
    return NotYet(said, "each record of the topic should be in the table once", SAVE)


def _one_piece(missing: list[Place], wanted: Collection[Place]) -> bool:
    """Tell whether the places are one piece of each partition, from neither its start nor to its end."""
    by_part: dict[int, list[int]] = {}
    for part, place in missing:
        by_part.setdefault(part, []).append(place)
    return all(
        (part, min(gone) - 1) in wanted
        and (part, max(gone) + 1) in wanted
        and max(gone) - min(gone) + 1 == len(gone)
        for part, gone in by_part.items()
    )


def _twice(
    times: Sequence[int], keys: list[list[str]], others: dict[str, bool], forgotten: Sequence[str]
) -> NotYet:
    """Return what to say of departures that are there so many times: Spark gave their batch three times."""
    often = "more than once" if len(set(times)) > 1 else "twice" if times[0] == 2 else f"{times[0]} times"
    said = f"{counted(len(times), 'departure')} {'is' if len(times) == 1 else 'are'} there {often}"
    if forgotten:
        names = listed(f"`{name}`" for name in forgotten)
        return NotYet(
            f"{said}: what `save` knew was in memory ({names}), and that was gone after Spark's death",
            "what must be known after a death should be in the database",
            SAVE,
        )
    if noted_again := [name for name, again in others.items() if again]:
        return NotYet(
            f"{said}: so are rows of the table `{noted_again[0]}`, because it has no key",
            "without a key INSERT OR IGNORE ignores nothing, and nobody hears that a batch was there before",
            TABLE,
        )
    if others:
        return NotYet(
            f"{said}, and the table `{min(others)}` did not prevent that: the batch was not noted there in "
            "one transaction with its rows, or nobody asked for it before they were written",
            "Spark can die between two transactions, and a batch that is noted should be left out",
            SAVE,
        )
    if keys:
        return NotYet(
            f"{said}: the key ({', '.join(keys[0])}) is another one each time",
            "a key should be the same when the batch comes again",
            TABLE,
        )
    return NotYet(
        f"{said}: the table has no key, so the database cannot know them again",
        "each record should have a key that is its own",
        TABLE,
    )


def _unique(db: sqlite3.Connection) -> list[list[str]]:
    """Return the columns of each key and each unique index of the table."""
    indexes = [name for _, name, unique, *_ in db.execute("PRAGMA index_list(trips)") if unique]
    # A key of one whole number has no index of its own.
    own = [name for _, name, *_, key in db.execute("PRAGMA table_info(trips)") if key]
    named = [
        [row[0] for row in db.execute("SELECT name FROM pragma_index_info(?)", (index,))] for index in indexes
    ]
    return named or ([own] if own else [])


def _others(db: sqlite3.Connection) -> dict[str, bool]:
    """Return the other tables, and of each whether it has a row twice; without those that SQLite keeps."""
    named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'trips'"
    names = [name for (name,) in db.execute(f"{named} AND name NOT GLOB 'sqlite_*' ORDER BY name")]
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in names}
    asked = {name: f"SELECT * FROM {table}" for name, table in quoted.items()}  # noqa: S608 (they are its own)
    rows = {name: db.execute(question).fetchall() for name, question in asked.items()}
    return {name: len(set(held)) < len(held) for name, held in rows.items()}


def _number(told: object) -> object:
    """Return a number that a column of texts holds as a number."""
    return int(told) if isinstance(told, str) and told.isdecimal() else told
