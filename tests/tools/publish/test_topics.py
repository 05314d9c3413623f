"""The index of terms, and the rows of the inventories: what counts as met, and what is refused."""

from pathlib import Path

import pytest

from tools.publish import inventory, terms, topics

LESSON = """\
# %% [markdown] covers="A001"
# # What is a topic?
#
# **You will** see.

# %%
lab = 1

# %% [markdown] covers="A002 B001" explains="acks, high watermark"
# ## Order | and `keys`?
#
# A **high watermark**, and `acks`.

# %% [markdown] covers="A002" explains="ISR (in-sync replicas),__consumer_offsets"
# Text on the ISR without a heading belongs to the section above, with `__consumer_offsets`.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons" / "02_the_log.py").write_text(LESSON)
    folder = tmp_path / "tools" / "publish" / "coverage"
    folder.mkdir(parents=True)
    rows = ["A001\tA log\t02", 'A002\tKeys "quoted" | bars\t02', "B001\tOrder\t07", "B002\tLeaders\t03"]
    (folder / "inventory-1.tsv").write_text("\n".join(["id\titem\tlab", *rows]) + "\n")
    leave(tmp_path)
    return tmp_path


def leave(root: Path, *lines: str) -> None:
    """Write the list of rows that no lab does."""
    text = "\n".join(["id\tkind\treason", *lines]) + "\n"
    (root / "tools" / "publish" / "coverage" / "not_done.tsv").write_text(text)


def add(root: Path, row: str) -> None:
    with (root / "tools" / "publish" / "coverage" / "inventory-1.tsv").open("a") as file:
        file.write(row + "\n")


def test_the_page_leads_from_term_to_lab_and_section(root: Path) -> None:
    assert topics.main([], root) == 0
    page = (root / "docs" / "topics.md").read_text()
    link = "lab 02, [Order | and `keys`?](../labs/02_the_log.ipynb#Order-%7C-and-keys%3F)"
    assert page.split("# Index", 1)[1].splitlines()[4:] == [
        "## A",
        "",
        f"- `acks`: {link}",
        "",
        "## C",
        "",
        f"- `__consumer_offsets`: {link}",
        "",
        "## H",
        "",
        f"- high watermark: {link}",
        "",
        "## I",
        "",
        f"- ISR (in-sync replicas): {link}",
    ]
    assert "A001" not in page


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("acks, high", "acks, high", ""),
        (
            'explains="ISR',
            'explains="High watermarks, ISR',
            "'High watermarks' is explained in lessons/02_the_log.py",
        ),
        ("acks, high", "linger.ms, high", "'linger.ms' is not a word of this cell"),
        ("# ## Order", "# Order", "'': 'acks' stands under no heading"),
    ],
)
def test_a_wrong_mark_is_told(
    root: Path, old: str, new: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = root / "lessons" / "02_the_log.py"
    lesson.write_text(LESSON.replace(old, new))
    assert topics.main([], root) == bool(words)
    assert words in capsys.readouterr().err


def test_a_lesson_explains_some_terms(root: Path) -> None:
    found = terms.explained(root)
    (told,) = terms.few(found, ["02_the_log"])
    assert told.startswith("lessons/02_the_log.py names 4 terms that it explains (at least 8); name them: ")
    assert terms.few(found * 2, ["02_the_log"]) == []


def test_the_rows_of_a_lab_are_listed_with_their_sections(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(root, "A003\tZero copy\t02")
    assert topics.main(["--rows", "02"], root) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["A001  A log", "      What is a topic?"]
    assert lines[-4:] == ["B001  Order", "      Order | and `keys`?", "A003  Zero copy", "      –"]
    assert not any("Leaders" in line for line in lines)
    assert not (root / "docs").exists()


def test_a_second_run_changes_nothing_and_check_is_content(root: Path) -> None:
    topics.main([], root)
    before = (root / "docs" / "topics.md").stat().st_mtime_ns
    assert topics.main([], root) == 0
    assert topics.main(["--check"], root) == 0
    assert (root / "docs" / "topics.md").stat().st_mtime_ns == before


def test_check_sees_a_stale_page_and_writes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert topics.main(["--check"], root) == 1
    assert "make topics" in capsys.readouterr().err
    assert not (root / "docs").exists()


def test_a_row_of_a_written_lab_that_nothing_meets(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(root, "A003\tZero copy\t02")
    assert topics.main([], root) == 0
    assert "A003  lab 02: Zero copy" in capsys.readouterr().err
    assert topics.main(["--check"], root) == 1


def test_rows_of_labs_not_yet_written_are_counted_only(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(root, "A004\tLife of a request\t--")
    topics.main([], root)
    said = capsys.readouterr()
    assert said.err == ""
    assert "5 rows: 3 met, 0 text only or out of date, 0 unmet in the 1 labs" in said.out
    assert "2 wait for their labs" in said.out


def test_a_row_with_a_reason_needs_no_lab(root: Path) -> None:
    add(root, "A003\tZero copy\t02")
    leave(root, "A003\ttext only\tNothing of it can be seen from a client.")
    topics.main([], root)
    assert topics.main(["--check"], root) == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Z999\ttext only\tx", "Z999 is in no inventory"),
        ("B002\tlater\tx", "B002 is 'later'; write one of: text only, out of date."),
        ("B002\ttext only\t", "B002 has no reason"),
        ("A001\ttext only\tx", "A001 is met in lessons/02_the_log.py; keep one of the two."),
        ("B002\ttext only\tx\nB002\ttext only\tx", "B002 stands 2 times"),
    ],
)
def test_a_wrong_line_of_what_is_left_out(
    root: Path, line: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(root, line)
    assert topics.main([], root) == 1
    assert words in capsys.readouterr().err


def test_an_unknown_id_names_the_lesson_and_the_section(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = root / "lessons" / "02_the_log.py"
    lesson.write_text(LESSON.replace("B001", "B00l"))
    assert topics.main([], root) == 1
    assert "lessons/02_the_log.py, 'Order | and `keys`?': covers names B00l" in capsys.readouterr().err


def test_the_courses_own_inventories_are_whole() -> None:
    rows = inventory.inventory(topics.ROOT / "tools" / "publish" / "coverage")
    assert len(rows) == 384 + 535
    assert all(row.item and (row.lab == "--" or row.lab.isdigit()) for row in rows.values())


def test_every_row_of_the_written_labs_is_met_or_has_a_reason() -> None:
    assert topics.main(["--check"]) == 0
