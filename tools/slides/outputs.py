"""What the executed solution of a lab holds: pictures, tables, text, and what came of a prediction."""

import re
from html import escape, unescape
from pathlib import Path
from typing import Any

from threebrokers.predictions.prediction import VERDICT
from threebrokers.predictions.question import Question, question_of
from tools import ROOT
from tools.lessons import notebooks
from tools.slides.deck import Block, DeckError
from tools.slides.pictures import drawn, numbers
from tools.slides.shown import Shown, inline, table

DRAWING = re.compile(r'<div class="tb-wide"[^>]*>(.*)</div></figure>', re.DOTALL)
ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL)
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL)


def solution(lab: str, root: Path = ROOT) -> Any:
    """Return the executed solution of a lab ("02"). Raises DeckError if there is none."""
    paths = sorted((root / "solutions").glob(f"{lab}_*.ipynb"))
    read = notebooks.read(paths[0]) if paths else None
    if read is None:
        raise DeckError(f"There is no solution of lab {lab} in solutions/.")
    return read


def output(block: Block) -> Shown:
    """Return what a cell gave. Raises DeckError unless one executed cell alone holds the words."""
    if len(block.names) < 2:
        raise DeckError("An output is named by its lab and by words of its cell: `output 02 'words'`.")
    lab, words = block.names[0], " ".join(block.names[1:])
    cells = [c for c in notebooks.codes(solution(lab)) if words in c.source and c.outputs]
    if len(cells) != 1:
        raise DeckError(f"{len(cells)} executed cells of solution {lab} hold {words!r}; one is needed.")
    rich = [o.data for o in cells[0].outputs if "data" in o and "text/html" in o.data]
    for data in rich:
        if shown := _picture(data) or _table(data, block.settings):
            return shown
    return _text(cells[0].outputs, block.settings.get("lines", ""))


def truth(name: str) -> str:
    """Return the true answer to a prediction, as the executed solution says it. Raises DeckError."""
    asked = _question(name)
    word = f"guess_{name.replace('.', '')}.compare"
    known = {answer.answer for answer in asked.answers}
    number = name.split(".")[0]
    for found in notebooks.codes(solution(f"{int(number):02}")):
        if word in found.source:
            said = [o.data[VERDICT] for o in found.outputs if "data" in o and VERDICT in o.data]
            fitting = [verdict["truth"] for verdict in said if verdict["chosen"] in known]
            if fitting:
                return str(fitting[0])
    raise DeckError(f"The executed solution does not say what came of prediction {name}.")


def vote(block: Block) -> Shown:
    """Return a question's answers, each with a letter to vote for. Raises DeckError if there is none."""
    answers = _question(_name(block)).answers
    return Shown(f'<ul class="answers">{"".join(_answer(n, a.answer) for n, a in enumerate(answers))}</ul>')


def question(block: Block) -> str:
    """Return the question of a vote."""
    return _question(_name(block)).question


def reveal(block: Block) -> Shown:
    """Return the answers again, the true one marked, and why it is true. Raises DeckError."""
    asked, true = _question(_name(block)), truth(_name(block))
    items = [_answer(n, a.answer, a.answer == true) for n, a in enumerate(asked.answers)]
    why = f'<p class="why">{inline(asked.why[true])}</p>' if true in asked.why else ""
    if true not in asked.why:
        raise DeckError(f"The solution says {true!r} to prediction {_name(block)}, which is no answer of it.")
    return Shown(f'<ul class="answers">{"".join(items)}</ul>{why}')


def _answer(number: int, text: str, true: bool | None = None) -> str:
    """Return one answer; the letter that was voted for stays on the reveal, so hands can be compared."""
    kind = {None: "", True: ' class="true"', False: ' class="false"'}[true]
    sign = {None: "", True: '<i class="sign">✓</i> ', False: '<i class="sign">✗</i> '}[true]
    words = {None: "", True: " (so it was)", False: ""}[true]
    letter = f'<b class="letter">{"ABCDEFGH"[number]}</b>'
    return f"<li{kind}>{sign}{letter} <span>{inline(text)}{words}</span></li>"


def _name(block: Block) -> str:
    return block.names[0] if block.names else ""


def _question(name: str) -> Question:
    try:
        return question_of(name)
    except Exception as fault:
        raise DeckError(str(fault)) from fault


def _picture(data: Any) -> Shown | None:
    found = DRAWING.search(data["text/html"])
    if not found:
        return None
    title, _, words = data["text/plain"].partition("\n")
    return drawn(title, found[1], words)


def _table(data: Any, settings: dict[str, str]) -> Shown | None:
    if "<table" not in data["text/html"]:
        return None
    lines = [[_plain(c) for c in CELL.findall(row)] for row in ROW.findall(data["text/html"])]
    heads, body = lines[0], lines[1:]
    if body and not any(body[0][1:]):  # pandas gives the name of the rows a line of its own
        heads = [body[0][0], *heads[1:]]
        body = body[1:]
    wide = max(map(len, lines))
    columns = [n - 1 for n in numbers(settings.get("columns", f"1-{wide}"))]
    rows = [n - 1 for n in numbers(settings.get("lines", f"1-{len(body)}"))]
    try:
        return Shown(table([heads[c] for c in columns], [[body[r][c] for c in columns] for r in rows]))
    except IndexError as fault:
        raise DeckError(
            f"This table has {len(body)} rows and {wide} columns; others were asked for."
        ) from fault


def _plain(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html)).strip()


def _text(outputs: Any, lines: str) -> Shown:
    said = "".join(o.text for o in outputs if o.output_type == "stream")
    said = said or "\n".join(o.data.get("text/plain", "") for o in outputs if "data" in o)
    kept = [line for line in said.splitlines() if line.strip()]
    if lines:
        kept = [line for number, line in enumerate(kept, 1) if number in numbers(lines)]
    if not kept:
        raise DeckError("This cell gave no text, no picture and no table that a slide can show.")
    text = "\n".join(kept)
    return Shown(f"<pre><code>{escape(text)}</code></pre>")
