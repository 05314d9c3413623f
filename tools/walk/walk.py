"""Work a lab in JupyterLab by hand, unsolved, with two wrong answers an exercise, and take pictures of it.

They are in build/walk/NN/, in both themes, with a page that lists them: index.html.
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page

from threebrokers.cluster import Cluster
from tools import ROOT
from tools.browser import jupyter
from tools.browser.chromium import NoBrowserError, chromium
from tools.lessons import lesson as lessons
from tools.lessons.lesson import Lesson
from tools.proof import environment
from tools.walk import outputs, plan, shots
from tools.walk.notebook import Notebook
from tools.walk.plan import Act
from tools.walk.shots import THEMES, Shot

QUIZ = "lab.quiz()"


class Walk:
    """One way through a lab: its acts in order, a picture after each that shows something."""

    def __init__(self, notebook: Notebook, folder: Path) -> None:
        self.notebook, self.folder = notebook, folder
        self.shots: list[Shot] = []

    def take_all(self, lesson: Lesson, wrongs: int) -> None:
        """Run the lab in the light theme; then show the same in the dark one, without a rerun."""
        sources = [cell.source for cell in lesson.cells if not cell.is_tried]
        for act in plan.acts(lesson, wrongs):
            self._take(act, sources[act.place])
        self._end(len(sources) - 1)
        self.notebook.dress(THEMES["dark"])
        runs = Counter(shot.place for shot in self.shots)
        latest = {shot.place: shot for shot in self.shots}
        for shot in self.shots:
            if runs[shot.place] > 1:  # what it said at each moment is put back
                said = shot.outputs if latest[shot.place] is shot else outputs.without_views(shot.outputs)
                self.notebook.put(shot.place, shot.typed or None, said)
            self.notebook.take(shot.place, self.folder / shot.file("dark"))

    def _take(self, act: Act, source: str) -> None:
        print(f"{act.exercise:5} {act.name}  {act.answer}", flush=True)
        if act.typed:
            self.notebook.type(act.place, act.typed)
        said = self.notebook.run(act.place)
        self.notebook.press(act.place, 1 if source == QUIZ else 0)
        if not said and not act.judges:
            return
        shot = Shot(
            number=len(self.shots),
            place=act.place,
            cell=act.name,
            typed=act.typed,
            exercise=act.exercise,
            answer=act.answer,
            judges=act.judges,
            wanted=act.wanted,
            verdict=outputs.verdict(said) if act.judges else "",
            traceback="" if act.fails else outputs.traceback(said),
            wider=self.notebook.wider(act.place),
            outputs=said,
        )
        self._keep(shot)

    def _end(self, place: int) -> None:
        self._keep(Shot(len(self.shots), place, "end"))

    def _keep(self, shot: Shot) -> None:
        self.notebook.take(shot.place, self.folder / shot.file("light"))
        self.shots.append(shot)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if each verdict is as wanted and nothing ended in a traceback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", required=True, metavar="06", help="which lab")
    parser.add_argument(
        "--wrongs", type=int, default=plan.WRONGS, metavar="2", help="wrong answers an exercise"
    )
    asked = parser.parse_args(arguments)
    path = next((path for path in lessons.lessons(ROOT) if path.name.startswith(f"{asked.lab}_")), None)
    if path is None:
        print(f"There is no lesson {asked.lab}: lessons/ has them, for example --lab 06.", file=sys.stderr)
        return 2
    try:
        with chromium() as browser:
            return _walk(browser, lessons.read(path), asked.wrongs)
    except NoBrowserError as fault:
        print(fault, file=sys.stderr)
        return 1


def _walk(browser: Browser, lesson: Lesson, wrongs: int) -> int:
    folder = ROOT / "build" / "walk" / lesson.number
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    console: list[str] = []
    with environment.bench(), tempfile.TemporaryDirectory() as work:
        Cluster().up()
        notebook = _hand_out(lesson, Path(work))
        with jupyter.running(Path(work), notebook) as server:
            page = browser.new_page(viewport={"width": 1280, "height": 1400}, reduced_motion="reduce")
            _listen(page, console)
            walk = Walk(Notebook(page), folder)
            try:
                page.goto(server.address)
                jupyter.idle(page)
                walk.take_all(lesson, wrongs)
            finally:
                page.close()
                told = shots.page(f"Lab {lesson.number}", walk.shots, console)
                (folder / "index.html").write_text(told, "utf-8")
                print(shots.table(walk.shots, console))
    print(f"Pictures: {(folder / 'index.html').relative_to(ROOT)}")
    return int(any(shot.odd for shot in walk.shots) or bool(console))


def _hand_out(lesson: Lesson, work: Path) -> Path:
    """Copy the lab to where a learner has it, and where the course has it, which signs it."""
    for name in ("labs", "work"):
        (work / name).mkdir()
        shutil.copy(ROOT / "labs" / f"{lesson.stem}.ipynb", work / name)
    return work / "work" / f"{lesson.stem}.ipynb"


def _listen(page: Page, console: list[str]) -> None:
    def hear(line: ConsoleMessage) -> None:
        if line.type == "error":
            console.append(line.text)

    page.on("console", hear)
    page.on("pageerror", lambda fault: console.append(str(fault)))
