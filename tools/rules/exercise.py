"""The rules of one exercise: marks, hints, wrong answers, check."""

from collections.abc import Iterator

from tools.lessons import code_names, solution_marks
from tools.lessons.lesson import Cell, Exercise, Wrong
from tools.lessons.solution_marks import BEGIN, END, TODO
from tools.rules.checks import Check, where

HINT_WORDS = 60
ANSWER_LINES = 12  # "at most about ten"
WRONGS = 3
TAG = "nbval-check-output"

Fault = tuple[str, str, str]


def faults(exercise: Exercise, checks: list[Check]) -> Iterator[Fault]:
    """Yield every broken rule of an exercise: the place, what is wrong, what to do."""
    parts = (_answer(exercise), _hints(exercise), _wrongs(exercise), _check(exercise, checks))
    for part in parts:
        for wrong, mend in part:
            yield f"exercise {exercise.number}", wrong, mend


def _answer(exercise: Exercise) -> Iterator[tuple[str, str]]:
    if len(exercise.answers) != 1:
        wrong = f"{len(exercise.answers)} cells have marks or a TODO"
        yield (
            wrong,
            f"write one cell with '{TODO}…', '{BEGIN}' and '{END}'",
        )
        return
    text = exercise.answers[0].source
    found = list(solution_marks.faults(text))
    yield from found
    if found or not code_names.parses(text):
        return
    # What a program assigns is in another process: its check reads what it has done.
    known = exercise.blanks or exercise.answers[0].chooses or exercise.by_hand or code_names.program(text)
    if not known:
        yield "the region assigns nothing that the check receives", "assign a name and pass it to the check"
    lines = [line for line in solution_marks.split(text).region.splitlines() if code_names.is_code(line)]
    if len(lines) > ANSWER_LINES:
        wrong = f"the learner writes {len(lines)} lines (at most {ANSWER_LINES})"
        yield wrong, "move the rest above the marks or into threebrokers"
    tried = [*exercise.wrongs, *exercise.rights]
    for answer in [one for one in tried if _forgets(one.cell, exercise.blanks)]:
        wrong = f"the answer '{answer.name}' does not assign {', '.join(exercise.blanks)}"
        yield wrong, "an answer that is tried assigns every name that the lab sets to `...`"


def _forgets(cell: Cell, blanks: list[str]) -> bool:
    return code_names.parses(cell.source) and not set(blanks) <= code_names.assigned(cell.source)


def _hints(exercise: Exercise) -> Iterator[tuple[str, str]]:
    if len(exercise.hints) < 2:
        mend = "write two: <details><summary>Hint</summary> and <details><summary>Another hint</summary>"
        yield f"{len(exercise.hints)} hint(s)", f"{mend}, each closed by </details>"
    for count, hint in enumerate(exercise.hints, 1):
        words = len(hint.split())
        if words > HINT_WORDS:
            yield f"hint {count} has {words} words", f"shorten it to {HINT_WORDS} (about 40 is best)"
        if any(line in hint for line in _answer_lines(exercise)):
            yield f"hint {count} holds a line of the answer", "ask a question or name the setting instead"


def _answer_lines(exercise: Exercise) -> list[str]:
    if len(exercise.answers) != 1 or any(solution_marks.faults(exercise.answers[0].source)):
        return []
    lines = solution_marks.split(exercise.answers[0].source).region.splitlines()
    return [line.strip() for line in lines if code_names.is_code(line) and len(line.strip()) > 20]


def _wrongs(exercise: Exercise) -> Iterator[tuple[str, str]]:
    wrongs = exercise.wrongs
    if len(wrongs) < WRONGS and not exercise.few:
        mend = f'write {WRONGS}, or give the reason as fewer="…" in the metadata of the exercise\'s text'
        yield f"{len(wrongs)} wrong answer(s)", mend
    for wrong in wrongs:
        if not wrong.name or not wrong.text:
            first = wrong.cell.source.partition("\n")[0]
            yield f"a wrong answer begins with '{first}'", "begin it with '# name | text of its message'"
    for right in exercise.rights:
        if not right.name:
            yield "a right answer has no name", "begin it with '# name'"
    yield from _alike([wrong for wrong in wrongs if wrong.name and wrong.text])


def _alike(wrongs: list[Wrong]) -> Iterator[tuple[str, str]]:
    for i, one in enumerate(wrongs):
        for j, other in enumerate(wrongs):
            if i < j and one.name == other.name:
                yield f"two wrong answers are called '{one.name}'", "name each for its own mistake"
            if i != j and one.text in other.text and (i < j or one.text != other.text):
                wrong = f"the text of '{one.name}' is also part of the text of '{other.name}'"
                yield wrong, "give each wrong answer a message of its own"


def _check(exercise: Exercise, checks: list[Check]) -> Iterator[tuple[str, str]]:
    if len(exercise.checks) != 1:
        yield f"{len(exercise.checks)} check cells", "write one cell with lab.check.<name>(…)"
        return
    cell = exercise.checks[0]
    if TAG not in cell.tags:
        yield "the check cell is not tagged", f'write its line as # %% tags=["{TAG}"]'
    found = code_names.check_call(cell.source)
    if found is None or len(exercise.passed) != len(found[1].args) + len(found[1].keywords):
        yield "the check cell is more than a call with plain names", "write lab.check.<name>(a, b) alone"
        return
    place = where(f"{int(exercise.number.split('.')[0]):02}")
    known = [check for check in checks if check.name == found[0]]
    if not known:
        yield (
            f"'{found[0]}' is no check of {place}",
            f'write it there, under @exercise("{exercise.number}", …)',
        )
    for check in known:
        if check.number != exercise.number:
            yield f"'{check.name}' is registered as {check.number} in {place}", "give both the same number"
        if check.title.casefold() != exercise.title.replace("`", "").casefold():
            yield f"{place} calls it '{check.title}', the lesson '{exercise.title}'", "use one title"
        if len(check.takes) != len(exercise.passed):
            wrong = f"'{check.name}' takes {len(check.takes)} values and gets {len(exercise.passed)}"
            yield wrong, f"pass {', '.join(check.takes)}"
