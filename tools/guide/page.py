"""The pages of the guide: HTML that opens from a file, without a network and without scripts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from threebrokers import theme
from threebrokers.quiz.question import Question
from threebrokers.text import as_html
from tools.guide import markdown
from tools.guide.chapters import Chapter, Prediction, Task, WrongAnswer
from tools.lessons import minutes

STYLE = Path(__file__).with_name("style.css")
COURSE = "Three Brokers"
LINK, DARK_LINK = "#0550ae", "#79b8ff"  # as on the pages of the site
LISTED = "## Check-list"


@dataclass(frozen=True)
class Page:
    """One page: the name of its file without ending, its title, and what stands in it."""

    name: str
    title: str
    body: str


def pages(teaching: str, chapters: Iterable[Chapter]) -> list[Page]:
    """Return all pages: how to teach, the check-list, and one page for each lab."""
    before, found, rest = teaching.partition(f"{LISTED}\n")
    listed, more, after = rest.partition("\n## ")
    heading, _, text = f"{before}{more.lstrip()}{after}".partition("\n")
    title = heading.removeprefix("# ")
    known = list(chapters)
    index = f"<h1>{escape(title)}</h1>\n{_contents(known)}{markdown.html(text, 'docs/')}"
    told = [Page("index", title, index)]
    if found:
        list_title = LISTED.removeprefix("## ")
        body = f'<h1>{list_title}</h1>\n<div class="list">{markdown.html(listed, "docs/")}</div>'
        told.append(Page("check-list", list_title, body))
    return told + [Page(each.stem, f"Lab {each.number}: {each.title}", _lab(each)) for each in known]


def whole(page: Page, names: Iterable[tuple[str, str]]) -> str:
    """Return the file of a page, with links to the others; `names` are files, and what they are called."""
    links = " · ".join(_link(name, told, page.name) for name, told in names)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(page.title)} – {COURSE}, teacher's guide</title>\n"
        f"<style>{_colours()}\n{STYLE.read_text('utf-8')}</style>\n</head>\n<body>\n"
        f'<nav aria-label="Pages of the guide">{links}</nav>\n'
        f"<main>\n{page.body}\n</main>\n</body>\n</html>\n"
    )


def _colours() -> str:
    """Return the colours as custom properties: dark on a dark screen, and always light on paper."""
    names = {
        "ink": theme.INK, "paper": theme.PAPER, "soft": theme.SOFT, "rule": theme.RULE,
        "light": theme.LIGHTEST, "good": theme.GOOD.colour, "bad": theme.BAD.colour,
    }  # fmt: skip
    light = "".join(f"--{name}:{colour};" for name, colour in names.items())
    dark = "".join(f"--{name}:{theme.DARK[colour]};" for name, colour in names.items())
    dark += f"--link:{DARK_LINK};color-scheme:dark"
    return f":root{{{light}--link:{LINK}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _link(name: str, told: str, here: str) -> str:
    current = ' aria-current="page"' if name == here else ""
    return f'<a href="{escape(name)}.html"{current}>{escape(told)}</a>'


def _contents(chapters: list[Chapter]) -> str:
    rows = "".join(
        f'<tr><td><a href="{each.stem}.html">{each.number}</a></td><td>{escape(each.title)}</td>'
        f"<td>{minutes.rounded(each.minutes.core)}</td><td>{minutes.rounded(each.minutes.further)}</td>"
        f"<td>{len(each.predictions)}</td><td>{len(each.tasks)}</td>"
        f"<td>{sum(len(task.wrong) for task in each.tasks)}</td></tr>\n"
        for each in chapters
    )
    head = ("lab", "question", "minutes", "going further", "predictions", "exercises", "wrong answers")
    cells = "".join(f'<th scope="col">{name}</th>' for name in head)
    return (
        f'<div class="wide"><table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n'
    )


def _lab(chapter: Chapter) -> str:
    core, further = minutes.rounded(chapter.minutes.core), minutes.rounded(chapter.minutes.further)
    parts = [
        f"<h1>Lab {chapter.number}: {escape(chapter.title)}</h1>",
        f"<p><b>{core} minutes</b>, and {further} more if you go further.</p>",
        "<h2>Where the minutes go</h2>",
        *_sections(chapter),
        "<h2>Predictions</h2>" if chapter.predictions else "",
        *(_prediction(each) for each in chapter.predictions),
        "<h2>Exercises</h2>" if chapter.tasks else "",
        *(_task(each) for each in chapter.tasks),
        "<h2>What they should remember</h2>",
        markdown.html(chapter.remember, "labs/"),
        "<h2>Quiz</h2>" if chapter.quiz else "",
        *map(_quiz, chapter.quiz),
    ]
    return "\n".join(part for part in parts if part)


def _sections(chapter: Chapter) -> Iterator[str]:
    yield '<div class="wide"><table>\n<thead><tr><th scope="col">section</th><th scope="col">minutes</th>'
    yield '<th scope="col">of these waits</th><th scope="col">exercises</th></tr></thead>\n<tbody>'
    for section in chapter.minutes.sections:
        more = " (going further)" if section.further else ""
        name = markdown.line(section.title) or "(head)"
        load = section.load
        yield f"<tr><td>{name}{more}</td><td>{load.minutes:.1f}</td>"
        yield f"<td>{load.waits / 60:.1f}</td><td>{load.exercises or '–'}</td></tr>"
    yield "</tbody></table></div>"


def _prediction(prediction: Prediction) -> str:
    answers = "\n".join(
        f"<li>{_sign(each.answer in prediction.truths)} <b>{markdown.line(each.answer)}</b>: "
        f"{markdown.line(each.why)}</li>"
        for each in prediction.answers
    )
    asked = f"<h3>{prediction.name} {markdown.line(prediction.question)}</h3>"
    return f'<section class="prediction">\n{asked}\n<ul>\n{answers}\n</ul>\n</section>'


def _quiz(asked: Question) -> str:
    answers = "\n".join(
        f"<li>{_sign(each.right, 'right:')} <b>{markdown.line(each.answer)}</b>: "
        f"{markdown.line(each.why)}</li>"
        for each in asked.answers
    )
    heading = f"<h3>{markdown.line(asked.question)}</h3>"
    return f'<section class="prediction">\n{heading}\n<ul>\n{answers}\n</ul>\n</section>'


def _sign(true: bool, told: str = "so it was:") -> str:
    return f'<span class="good">✓ {told}</span>' if true else '<span class="bad">✗</span>'


def _task(task: Task) -> str:
    by_hand = (
        f"<p>It is done with {escape(task.by_hand)}; the code does the same.</p>" if task.by_hand else ""
    )
    reason = f"<p><b>When it is solved, the check says:</b> {markdown.line(task.reason)}</p>"
    hints = "".join(f"<li>{markdown.html(hint, 'labs/')}</li>" for hint in task.hints)
    right = "; ".join(escape(name) for name in task.right)
    return "\n".join(
        [
            f'<section class="task">\n<h3>Exercise {task.number}: {markdown.line(task.title)}</h3>',
            markdown.html(task.goal, "labs/"),
            f"{by_hand}<h4>Answer</h4>\n{_code(task.answer)}",
            reason if task.reason else "",
            f"<p><b>Also right:</b> {right}.</p>" if right else "",
            f"<h4>Hints</h4>\n<ol>{hints}</ol>",
            f"<h4>Wrong answers ({len(task.wrong)})</h4>",
            *(_wrong(each) for each in task.wrong),
            "</section>",
        ]
    )


def _wrong(wrong: WrongAnswer) -> str:
    said = f"The check says “… {as_html(wrong.message)} …”"
    return (
        f'<div class="wrong"><p><b>✗ {markdown.line(wrong.idea)}</b><br>{said}</p>\n{_code(wrong.code)}</div>'
    )


def _code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>" if text else ""
