"""Write the teacher's guide to build/guide/, as HTML and as PDF: `make guide`."""

import argparse
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from threebrokers.files import write_whole
from tools import ROOT
from tools.guide import page
from tools.guide.chapters import Chapter, chapters

FOLDER = "build/guide"


def written(chapters: Iterable[Chapter], teaching: str, folder: Path) -> list[Path]:
    """Write every page of the guide as HTML, and return the files; `teaching` is the hand-written text."""
    all_pages = page.pages(teaching, chapters)
    names = [(each.name, _short(each)) for each in all_pages]
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for each in all_pages:
        files.append(folder / f"{each.name}.html")
        write_whole(files[-1], page.whole(each, names).encode())
    return files


def printed(files: Iterable[Path], browser: Browser) -> list[Path]:
    """Print each page to a PDF beside it, and return the files."""
    sheet = browser.new_page()
    made = []
    for file in files:
        sheet.goto(file.resolve().as_uri())
        made.append(file.with_suffix(".pdf"))
        sheet.pdf(path=made[-1], prefer_css_page_size=True, tagged=True, outline=True)
    sheet.close()
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if the whole guide was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--html", action="store_true", help="write no PDF")
    chosen = parser.parse_args(arguments)
    teaching = (ROOT / "docs" / "teaching.md").read_text("utf-8")
    files = written(chapters(ROOT), teaching, ROOT / FOLDER)
    print(f"{FOLDER}/index.html: open it in a browser; {len(files)} pages.")
    if chosen.html:
        return 0
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if program is None:
        print("There is no Chromium here, so no PDF: install it, then run this again.", file=sys.stderr)
        return 1
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses root otherwise
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        made = printed(files, browser)
        browser.close()
    print(f"{FOLDER}/*.pdf: {len(made)} files.")
    return 0


def _short(each: page.Page) -> str:
    return {"index": "How to teach", "check-list": "Check-list"}.get(each.name, f"Lab {each.name[:2]}")
