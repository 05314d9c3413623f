"""Build the decks of slides/: a page for each that opens from a file, and a PDF."""

import argparse
import sys
from pathlib import Path

from threebrokers.files import write_whole
from tools import ROOT
from tools.slides import deck, page, rules


def decks(root: Path, only: list[str] | None = None) -> list[Path]:
    """Return the files of the decks, in the order of their labs; `only` holds numbers ("02")."""
    return [path for path in sorted((root / "slides").glob("*.md")) if not only or path.stem[:2] in only]


def build(root: Path, folder: Path, only: list[str] | None = None) -> tuple[list[Path], list[str]]:
    """Write a page for each deck that keeps the rules. Returns the pages, and what is left to mend."""
    left = [f"There is no deck {n} in slides/." for n in only or [] if not decks(root, [n])]
    pages = []
    for path in decks(root, only):
        try:
            read = deck.read(path)
            broken = rules.problems(read, root)
            left += broken
            text = "" if broken else page.page(read)
        except deck.DeckError as fault:
            left.append(f"slides/{path.name}: {fault}")
            continue
        if broken:
            continue
        write_whole(folder / f"{path.stem}.html", text.encode())
        pages.append(folder / f"{path.stem}.html")
        print(f"{path.name}: {len(read.slides)} slides, {read.minutes} minutes")
    page.copy_files(folder)
    return pages, left


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if nothing is left to mend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("deck", nargs="*", metavar="02", help="only these (default: all)")
    parser.add_argument("--no-pdf", action="store_true", help="make no PDF, which needs Chromium")
    parser.add_argument("--check", action="store_true", help="look at every slide in Chromium, in two sizes")
    chosen = parser.parse_args(arguments)
    folder = ROOT / "build" / "slides"
    folder.mkdir(parents=True, exist_ok=True)
    pages, left = build(ROOT, folder, chosen.deck)
    if pages and (chosen.check or not chosen.no_pdf):
        from tools.slides import look  # Playwright only where a browser is needed

        left += look.check(pages) if chosen.check else look.print_pdf(pages)
    for sentence in left:
        print(sentence, file=sys.stderr)
    print(f"{len(pages)} decks are in {folder.relative_to(ROOT)}." if pages else "No deck was built.")
    return 1 if left else 0
