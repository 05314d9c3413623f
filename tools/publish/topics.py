"""The course's index of terms, its glossary, and which rows of the inventories no lab meets yet."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from threebrokers.files import write_whole
from tools import ROOT
from tools.lessons import lesson as lessons
from tools.publish import glossary, terms
from tools.publish.inventory import Place, Row, Undone, inventory, met, undone
from tools.publish.topics_page import page

KINDS = ("text only", "out of date")


def problems(
    rows: Mapping[str, Row], places: Sequence[tuple[str, Place]], left: Sequence[Undone]
) -> list[str]:
    """Return what is wrong with the marks themselves, one sentence each."""
    told = [
        f"lessons/{place.stem}.py, '{place.section}': covers names {name}, in no inventory; mend the id."
        for name, place in places
        if name not in rows
    ]
    where = {name: place.stem for name, place in places}
    times = Counter(u.id for u in left)
    for u in left:
        if u.id not in rows:
            told.append(f"not_done.tsv: {u.id} is in no inventory; mend the id.")
        if u.kind not in KINDS:
            told.append(f"not_done.tsv: {u.id} is '{u.kind}'; write one of: {', '.join(KINDS)}.")
        if not u.reason.strip():
            told.append(f"not_done.tsv: {u.id} has no reason; write one.")
        if times[u.id] > 1:
            told.append(f"not_done.tsv: {u.id} stands {times[u.id]} times; keep one.")
        if u.id in where:
            told.append(f"not_done.tsv: {u.id} is met in lessons/{where[u.id]}.py; keep one of the two.")
    return told


def unmet(rows: Mapping[str, Row], done: set[str], written: set[str]) -> list[Row]:
    """Return the rows of written labs that nothing meets."""
    return [row for row in rows.values() if row.lab in written and row.id not in done]


def listed(rows: Mapping[str, Row], places: Sequence[tuple[str, Place]], lab: str) -> Iterator[str]:
    """Yield a line for each row that a lab should meet or meets, and the sections that say they do."""
    for row in rows.values():
        here = [place for name, place in places if name == row.id and place.stem[:2] == lab]
        if here or row.lab == lab:
            sections = " / ".join(dict.fromkeys(place.section for place in here)) or "–"
            yield f"{row.id}  {row.item}\n      {sections}"


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return 0 if nothing is left to mend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a row is unmet or the page is stale"
    )
    parser.add_argument(
        "--rows", metavar="02", help="only list the rows of this lab, and where it meets each"
    )
    asked = parser.parse_args(arguments)
    folder = root / "tools" / "publish" / "coverage"
    rows, places, left = inventory(folder), met(root), undone(folder)
    if asked.rows:
        print(*listed(rows, places, asked.rows), sep="\n")
        return 0
    explained = terms.explained(root)
    sentences = glossary.sentences(root)
    marks = [*problems(rows, places, left), *terms.problems(explained)]
    if told := [*marks, *glossary.problems(explained, sentences)]:
        print(*told, sep="\n", file=sys.stderr)
        return 1
    texts = {"topics": page(explained), "glossary": glossary.page(explained, sentences)}
    written = [
        _written(text, root / "docs" / f"{name}.md", check=asked.check) for name, text in texts.items()
    ]
    unmet_rows = _told(rows, places, left, root)
    return int(asked.check and (any(written) or unmet_rows))


def _written(text: str, target: Path, *, check: bool) -> bool:
    """Write the page if it is stale, or with `check` only say so; return whether it was."""
    stale = not target.exists() or target.read_text("utf-8") != text
    if stale and not check:
        write_whole(target, text.encode())
        print(f"docs/{target.name}: written")
    elif stale:
        print(f"docs/{target.name} is not what the lessons say; run `make topics`.", file=sys.stderr)
    return stale


def _told(
    rows: Mapping[str, Row], places: Sequence[tuple[str, Place]], left: Sequence[Undone], root: Path
) -> bool:
    """Print how many rows are met, and each that should be and is not; return whether there is one."""
    done = {name for name, _ in places}
    written = {path.stem[:2] for path in lessons.lessons(root)}
    missing = unmet(rows, done | {u.id for u in left}, written)
    for row in missing:
        print(f"{row.id}  lab {row.lab}: {row.item}", file=sys.stderr)
    waiting = sum(row.id not in done and row.lab not in written for row in rows.values())
    print(
        f"{len(rows)} rows: {len(done)} met, {len(left)} text only or out of date, "
        f"{len(missing)} unmet in the {len(written)} labs that are written, {waiting} wait for their labs."
    )
    return bool(missing)
