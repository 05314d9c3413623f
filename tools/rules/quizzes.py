"""The rules of a quiz: its cells stand where readers look, its questions off the page, each explained."""

from collections.abc import Iterator
from pathlib import Path

from threebrokers.errors import LabError
from threebrokers.quiz import question
from threebrokers.quiz.question import Question
from tools.lessons import asides
from tools.lessons.lesson import Cell, Lesson, lessons

Fault = tuple[str, str, str]
HEADING = "## Quiz"
FEWEST, MOST = 3, 5
ANSWERS = (3, 4)
LONGER = (
    1.6,
    12,
)  # times as long as the longest wrong one, and letters more: who sees only that would choose it


def where(root: Path, lab: str) -> Path:
    """Return the file of a lab's quiz."""
    return asides.folder(root) / question.file_name(lab)


def faults(lesson: Lesson, root: Path) -> Iterator[Fault]:
    """Yield every broken rule of the lesson's quiz, and of the questions that it begins with."""
    file = where(root, lesson.number)
    shown = str(file.relative_to(root))
    yield from _cells(lesson, root, shown)
    if not file.exists():
        mend = f"write {FEWEST} to {MOST} questions there, as CONTRIBUTING.md shows"
        yield "the quiz", f"there is no {shown}", mend
        return
    try:
        questions = question.read(lesson.number, file.parent)
    except LabError as fault:
        yield shown, f"it cannot be read ({fault.what})", "write it as CONTRIBUTING.md shows"
        return
    if not FEWEST <= len(questions) <= MOST:
        yield shown, f"it has {len(questions)} questions", f"write {FEWEST} to {MOST}"
    for name, one in questions.items():
        if question.lab_of(name) != lesson.number:
            wrong = f"the name '{name}' is not understood"
            yield shown, wrong, f'call it like "{int(lesson.number)}.q1"'
        yield from ((shown, f"'{name}' {wrong}", mend) for wrong, mend in _one(one))
    yield from _places(questions, shown)


def _cells(lesson: Lesson, root: Path, file: str) -> Iterator[Fault]:
    quizzes = [place for place, cell in enumerate(lesson.cells) if _is(cell, asides.QUIZ)]
    headed = [place for place in quizzes if _heading(lesson, place) == HEADING]
    if len(quizzes) != 1 or quizzes != headed:
        mend = f"write its questions to {file}, and one cell `{asides.QUIZ}` right under '{HEADING}'"
        yield "the quiz", f"one cell `{asides.QUIZ}` under '{HEADING}' is missing", mend
    first = lessons(root)[:1] == [lesson.path]
    reviews = [place for place, cell in enumerate(lesson.cells) if _is(cell, asides.REVIEW)]
    codes = [place for place, cell in enumerate(lesson.cells) if cell.kind == "code"]
    if reviews != ([] if first else codes[1:2]):
        wrong = "questions of earlier labs " + (
            "come in the first lab" if first else "are not the second code cell"
        )
        mend = "leave them out" if first else f"write a cell `{asides.REVIEW}` after the set-up"
        yield "the beginning", wrong, mend
    for cell in lesson.cells:
        calls = [call for call in asides.CALLS if call in cell.source and not _is(cell, call)]
        if cell.kind == "code" and calls:
            yield (
                f"the cell with {calls[0]}",
                "it holds more than this call",
                "give the call a cell of its own",
            )


def _one(asked: Question) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one question, and how to mend it."""
    answers, texts = list(asked.why), [asked.question, *asked.why.keys(), *asked.why.values()]
    if len(asked.answers) not in ANSWERS or len(answers) < len(asked.answers):
        yield f"has {len(answers)} different answers", "write three or four"
    if sum(answer.right for answer in asked.answers) != 1:
        yield "has not exactly one right answer", "give one of them `right = true`"
    if not all(text.strip() for text in texts):
        yield "has an empty text", "write the question, each answer, and why"
    if any(text.count("`") % 2 for text in texts):
        yield "has a backtick without a partner", "close the code with another one"
    right = [len(answer.answer) for answer in asked.answers if answer.right]
    wrong = [len(answer.answer) for answer in asked.answers if not answer.right]
    if right and wrong and right[0] > max(LONGER[0] * max(wrong), max(wrong) + LONGER[1]):
        yield "has a right answer that is known by its length", "write answers of like length"


def _places(questions: dict[str, Question], file: str) -> Iterator[Fault]:
    places = {place for one in questions.values() for place, answer in enumerate(one.answers) if answer.right}
    if len(questions) > 1 and len(places) == 1:
        yield file, "the right answer stands in the same place each time", "let its place vary"


def _is(cell: Cell, call: str) -> bool:
    return cell.kind == "code" and cell.source.strip() == call


def _heading(lesson: Lesson, place: int) -> str:
    """Return the last heading before a cell."""
    for cell in reversed(lesson.cells[:place]):
        heads = [line.strip() for line in cell.source.splitlines() if line.startswith("#")]
        if cell.kind == "markdown" and heads:
            return heads[-1]
    return ""
