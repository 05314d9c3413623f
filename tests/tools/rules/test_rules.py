"""Every rule of a lesson: broken once, and named with file, place and the way to mend it."""

import nbformat
import pytest

from tools import rules
from tools.lessons import lesson, notebooks
from tools.lessons.build import build

LESSON = "lessons/03_replication.py"
CHECKS = "threebrokers/checks/lab03.py"
BEGIN, END = "# BEGIN SOLUTION\n", "# END SOLUTION\n"
CHECKED = '# %% tags=["nbval-check-output"]\n'
NEXT = "#\n\n# %%\n{}\n\n# %% [markdown]\n# ## What to remember"
WRONG = '# %% tags=["wrong"]\n# two copies | keeps 2 copies\n'

# what stands there, what it becomes, and words of the message
BROKEN = {
    "no begin": (BEGIN, "", "'# END SOLUTION' comes before"),
    "no end": (END, "", "is not closed"),
    "no marks": (f"{BEGIN}copies = 3\n", "copies = 3\n", "comes before"),
    "nested": ("copies = 3\n", f"copies = 3\n{BEGIN}", "do not nest marks"),
    "double": (END, f"{END}{BEGIN}x = 1\n{END}", "more than one pair"),
    "misspelt mark": (BEGIN, "# begin solution\n", "the mark '# begin solution' is not understood"),
    "indented mark": (BEGIN, f"    {BEGIN}", "not indented"),
    "nothing assigned": (
        'topic = lab.fresh_topic("failsafe", replication_factor=copies)',
        "other = 1",
        "assigns nothing that the check receives",
    ),
    "no TODO": ("# TODO: make the topic: how many copies?\n", "", "0 TODO lines"),
    "two TODOs": ("# TODO: make", "# TODO: once\n# TODO: make", "2 TODO lines"),
    "misspelt TODO": ("# TODO: make", "#todo make", "misspelt"),
    "TODO inside": ("copies = 3\n", "# TODO: more\ncopies = 3\n", "2 TODO lines"),
    "TODO between marks": (
        f"# TODO: make the topic: how many copies?\n{BEGIN}",
        f"{BEGIN}# TODO: make the topic: how many copies?\n",
        "the TODO stands between the marks",
    ),
    "one hint": ("<details><summary>Another hint</summary>\n#\n# `repl", "`repl", "1 hint(s)"),
    "long hint": ("How many copies are left", "many words " * 40, "hint 1 has 85 words"),
    "hint with answer": (
        "`replication_factor` is fixed",
        'topic = lab.fresh_topic("failsafe", replication_factor=copies) is fixed',
        "hint 2 holds a line of the answer",
    ),
    "no check": (f"{CHECKED}lab.check.survives_one_broker(topic)", "", "0 check cells"),
    "untagged check": (' tags=["nbval-check-output"]', "", "the check cell is not tagged"),
    "check with more": ("broker(topic)", "broker(topic)\nprint(1)", "more than a call with plain names"),
    "check with text": ("broker(topic)", 'broker("failsafe")', "more than a call with plain names"),
    "unknown check": ("survives_one_broker(topic)", "survive(topic)", "'survive' is no check of"),
    "orphan check": ("survives_one_broker(topic)", "survive(topic)", "no exercise calls 'survives"),
    "few wrong": ('fewer="there is only one way to miscount"', "", "1 wrong answer(s)"),
    "nameless wrong": ("# one copy | keeps 1 copy\n", "", "a wrong answer begins with 'topic = "),
    "no text": ("# one copy | keeps 1 copy", "# one copy |", "a wrong answer begins with '# one copy |'"),
    "text in text": ("keeps 2 copies", "now keeps 1 copy", "the text of 'one copy' is also part of"),
    "text in an earlier text": ("keeps 1 copy", "keeps 2 copies or 1", "the text of 'two copies' is also"),
    "same text": ("keeps 2 copies", "keeps 1 copy", "the text of 'one copy' is also part of"),
    "same name": ("# two copies |", "# one copy |", "two wrong answers are called 'one copy'"),
    "wrong forgets": (f"{WRONG}topic =", f"{WRONG}other =", "'two copies' does not assign topic"),
    "number": ("Exercise 3.2:", "Exercise 3.3:", "this is exercise 2 of lab 3"),
    "other lab's number": ("Exercise 3.1:", "Exercise 4.1:", "this is exercise 1 of lab 3"),
    "odd heading": ("### Exercise 3.2: ", "### Exercise 3.2 ", "the heading is not understood"),
    "another title": ("3.1: survive one broker", "3.1: survive", "calls it 'Survive one broker'"),
    "used later": (
        "# ## What to remember",
        NEXT.format("print(topic)"),
        "the cell 'print(topic)' uses 'topic'",
    ),
    "helper used later": (
        "# ## What to remember",
        NEXT.format("print(copies)"),
        "uses 'copies', which is not there until 3.1 is solved",
    ),
    "used by another check": ("counts_twice(first, second)", "counts_twice(first, topic)", "uses 'topic'"),
    "used by another answer": ("second = 2", "second = len(topic)", "uses 'topic'"),
    "prediction for no check": (
        f"{BEGIN}second = 2\nfirst = 1\n{END}",
        f"{BEGIN}guess_3a.choose(1)\n{END}",
        "0 cells have marks",
    ),
    "program of no name": ('shown = "shown"', "# %%program 7", "its name is not understood"),
    "program twice": (
        'shown = "shown"',
        "# %%program w\nx = 1\n\n# %%\n# %%program w\nx = 1",
        "another program has this name",
    ),
    "program with a name of the notebook": (
        "print(shown)",
        '\n# %%\n# %%program w\nlab.producer({}).produce("a", shown)',
        "it uses 'shown', and a program has nothing but `lab`",
    ),
    "program that is not Python": ('shown = "shown"', "# %%program w\nfor", "Python cannot read it"),
    "no question": ("protect you from?", "protect you from", "the title is not a question"),
    "header": ("# %% [markdown] covers", "# ---\n# x\n# ---\n# %% [markdown] covers", "it is a raw cell"),
    "no verbs": ("**You will**", "You will", "'**You will** …' is missing"),
    "no minutes": ("*{minutes} minutes.*", "*A while.*", "the time is missing"),
    "minutes by hand": ("*{minutes} minutes.*", "*40 minutes.*", "the time is missing"),
    "further, and not said": (
        "# ## What to",
        "# ## Going further\n#\n# ## What to",
        "does not say what going further",
    ),
    "said, and not further": ("minutes.*", "minutes, and {further}.*", "does not say what going further"),
    "further twice": (
        "# ## What to",
        "# ## Going further\n#\n# ## Going further\n#\n# ## What to",
        "'## Going further' stands there 2 times",
    ),
    "a section behind it": (
        "# ## What to",
        "# ## Going further\n#\n# ## More\n#\n# ## What to",
        "the section '## More': it stands behind *Going further*",
    ),
    "the end behind it": (
        "# ## What to",
        "# ## Going further\n#\n# ## What to",
        "the section '## What to remember': it stands behind *Going further*",
    ),
    "set-up": ('lab = open_lab("03")', 'lab = open_lab("02")', "the first code cell is not the set-up"),
    "remember two": ("# - Others follow.\n", "", "'## What to remember' has 2 lines"),
    "no solution link": ("(../solutions/03_replication.ipynb)", "(x)", "the link to the solution is missing"),
    "dead link": ("- One copy leads", "- See [this](09_compaction.ipynb)", "no lesson builds it"),
    "odd metadata": ('# %% tags=["wrong"]', '# %% tag=["wrong"]', "'tag' is not understood"),
    "odd tag": ('# %% tags=["wrong"]', '# %% tags=["wrogn"]', "'wrogn' is not understood"),
    "cell title": ("# %%\nshown", "# %% wrong\nshown", "'title' is not understood"),
    "stray mark": ('shown = "shown"\n', f'{BEGIN}shown = "shown"\n{END}', "it belongs to no exercise"),
    "not Python": ('shown = "shown"', "shown = ", "Python cannot read it"),
    "magic": ('shown = "shown"', "# %matplotlib inline", "Python cannot read it"),
    "long cell": ('shown = "shown"\n', 'shown = "shown"\n' * 20, "it has 21 lines of code (at most 20)"),
    "long cell of an exercise": ("# A comment that stays.\n", "x = 1\n" * 21, "it has 21 lines of code"),
    "inner module": (
        'shown = "shown"',
        "import threebrokers.waiting\n\nshown = 1",
        "it imports threebrokers.waiting, which is not public",
    ),
    "inner module of a face": (
        'shown = "shown"',
        "from threebrokers.diagrams.topics import log_picture as shown",
        "it imports threebrokers.diagrams.topics, which is not public",
    ),
    "a face's own module": (
        'shown = "shown"',
        "from threebrokers.spark import gateway as shown",
        "threebrokers.spark does not offer 'gateway'",
    ),
    "a name that is imported there": (
        'shown = "shown"',
        "from threebrokers.lab.scenarios import Cluster as shown",
        "threebrokers.lab.scenarios does not offer 'Cluster'",
    ),
    "all names": ('shown = "shown"', "from threebrokers import *", "threebrokers does not offer '*'"),
    "inner module in a program": (
        "print(shown)",
        "\n# %%\n# %%program w\nfrom threebrokers import paths",
        "threebrokers does not offer 'paths'",
    ),
    "inner module in a wrong answer": (
        WRONG,
        f"{WRONG}import threebrokers.paths\n",
        "it imports threebrokers.paths, which is not public",
    ),
    "too long": ("copies = 3\n", "copies = 3\n" * 12, "the learner writes 13 lines"),
}  # fmt: skip


def test_the_sample_keeps_every_rule(course):
    assert course.problems() == []


@pytest.mark.parametrize(("old", "new", "words"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_named(course, old, new, words):
    course.edit(old, new)
    told = [sentence for sentence in course.problems() if words in sentence]
    assert told, course.problems()
    assert all(sentence.startswith(f"{LESSON}, ") for sentence in told)
    assert all(sentence.endswith(".") and "; " in sentence for sentence in told)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('@exercise("3.1"', '@exercise("3.9"', "'survives_one_broker' is registered as 3.9"),
        ("lab: object, topic: str", "lab: object", "takes 0 values and gets 1"),
        ("return", "retrun x", "Python cannot read line"),
    ],
)
def test_a_fault_in_the_checks_is_named(course, old, new, words):
    course.edit(old, new, CHECKS)
    assert any(words in sentence for sentence in course.problems()), course.problems()


def test_a_fault_names_its_exercise(course):
    course.edit(f"{BEGIN}second = 2\nfirst = 1\n{END}", "second = 2\nfirst = 1\n")
    assert course.problems() == [
        f"{LESSON}, exercise 3.2: there are no marks; "
        "put '# BEGIN SOLUTION' and '# END SOLUTION' around the answer."
    ]


def test_all_faults_are_told_at_once(course):
    course.edit("protect you from?", "protect you from")
    course.edit(END, "")
    course.edit("Begin with one.", "word " * 61)
    assert len(course.problems()) == 3


def test_no_checks_at_all(course):
    (course.root / CHECKS).unlink()
    assert sum("is no check of threebrokers/checks/lab03.py" in text for text in course.problems()) == 2


def test_the_next_lab_must_be_linked(course):
    (course.root / "lessons" / "04_failover.py").write_text("", "utf-8")
    assert course.problems() == [
        f"{LESSON}, last cell: the link to the next lab is missing; link 04_failover.ipynb."
    ]


def test_two_lessons_of_one_number(course):
    (course.root / "lessons" / "03_copies.py").write_text("", "utf-8")
    assert any("03_copies.py has the same number" in text for text in course.problems())


def test_a_name_bound_again_may_be_used(course):
    course.edit("# ## What to remember", NEXT.format('topic = "x"\n\n# %%\nprint(topic)'))
    assert course.problems() == []


def test_programs_keep_the_rules(course):
    program = (
        "# %%program w\nimport time\n\n\ndef f(topic):\n    return time, topic, print, lab\n\n\n"
        "topic = 1\nf(topic)\n\n# %%\ntopic = shown = 1"
    )
    course.edit('shown = "shown"\nprint(shown)', program)
    assert course.problems() == []


def test_what_is_no_code_or_is_not_seen_does_not_make_a_cell_long(course):
    course.edit('shown = "shown"\n', "# a comment\n\n" * 30 + 'shown = "shown"\n' * 19)
    course.edit(WRONG, WRONG + "x = 1\n" * 30)
    course.edit("copies = 3\n", "copies = 3\n" * 10)
    assert course.problems() == []


def test_a_cell_that_is_there_to_be_read_may_be_long(course):
    course.edit("# %%\nshown", "# %%\n" + "x = 1\n" * 30 + "shown")
    assert len(course.problems()) == 1
    course.edit("# %%\nx = 1", '# %% reading="each line is explained"\nx = 1')
    assert course.problems() == []


def test_a_lesson_may_import_what_is_public(course):
    faces = "from threebrokers.data import load_flights\nfrom threebrokers.kafka.log_reader import read_log\n"
    course.edit(
        'shown = "shown"\n', f'{faces}from threebrokers.cluster.settings import TABLE\n\nshown = "shown"\n'
    )
    assert course.problems() == []


def test_a_prediction_can_be_the_answer_of_an_exercise(course):
    region = f"{BEGIN}second = 2\nfirst = 1\n{END}"
    course.edit(f"# TODO: count\n{region}", f"first = second = 1\n# TODO: x\n{BEGIN}first.choose(1)\n{END}")
    assert course.problems() == []


def test_an_exercise_may_be_done_by_hand(course):
    course.edit(
        f"{BEGIN}second = 2\nfirst = 1\n{END}done = True", f"{BEGIN}lab.close()\n{END}first = second = 1"
    )
    assert any("the region assigns nothing" in text for text in course.problems())
    course.edit('[markdown] fewer="', '[markdown] by_hand="press the button" fewer="')
    assert course.problems() == []


def test_an_exercise_may_be_a_program(course):
    region = f"{BEGIN}second = 2\nfirst = 1\n{END}done = True"
    course.edit(f"# TODO: count\n{region}", f"# %%program counter\n# TODO: count\n{region}")
    course.edit("# %%program counter", "# %%program counter\nlab.close()")
    assert [text for text in course.problems() if "the region assigns nothing" in text] == []


def test_an_empty_lesson_breaks_rules_but_not_the_tool(course):
    course.path.write_text("", "utf-8")
    assert any("the title is not a question" in text for text in course.problems())


def test_no_bare_number_stands_under_a_cell_of_a_solution(course):
    build(course.root, check=False)
    path = course.notebook("solutions")
    solution = notebooks.read(path)
    cell = notebooks.codes(solution)[-1]
    shown = nbformat.v4.new_output("execute_result", {"text/plain": "0"})
    for text, faults in (("0", 1), ("10", 0), ("'0'", 0)):
        shown.data["text/plain"], cell.outputs = text, [shown]
        path.write_text(notebooks.text(solution), "utf-8")
        told = rules.gates(lesson.read(course.path), course.root)
        assert sum("a bare 0 stands under it" in sentence for sentence in told) == faults, text


def test_no_red_text_stands_under_a_cell_of_a_solution(course):
    build(course.root, check=False)
    path = course.notebook("solutions")
    solution = notebooks.read(path)
    cell = notebooks.codes(solution)[-1]
    for name, faults in (("stderr", 1), ("stdout", 0)):
        cell.outputs = [nbformat.v4.new_output("stream", name=name, text="ERROR:root:Traceback")]
        path.write_text(notebooks.text(solution), "utf-8")
        told = rules.gates(lesson.read(course.path), course.root)
        assert sum("red text stands under it ('ERROR:root:" in sentence for sentence in told) == faults, name
