"""What authors and CI run: `python -m tools <word> …`; `--help` after a word says more."""

import signal
import sys
from importlib import import_module
from types import FrameType

WORDS = {
    "build": ("lessons.build", "build labs/ and solutions/ from lessons/"),
    "rules": ("rules", "say which rules the lessons break"),
    "run": ("lessons.run", "run the solutions whose sources changed, and keep their outputs"),
    "test": ("proof.test", "run the tests, parts and labs side by side"),
    "lint": ("proof.lint", "check style, types, who imports whom, and what is declared"),
    "repeat-tests": ("proof.repeat_tests", "run the tests that touch brokers many times"),
    "nbval": ("proof.nbval", "run the solutions again and compare with what they hold"),
    "repeat": ("proof.repeat", "run a solution many times and count what came true"),
    "bench": ("bench.brokers", "measure the brokers on this machine"),
    "bench-engines": ("bench.engines", "measure processes and containers beside each other"),
    "minutes": ("lessons.minutes", "count how long each lab takes, section by section"),
    "guide": ("guide.write", "write the teacher's guide, HTML and PDF, to build/guide/"),
    "topics": ("publish.topics", "build the index, docs/topics.md, and list what no lab meets yet"),
    "reliability": ("publish.reliability", "run the tests of faults, write docs/reliability.md"),
    "facts": ("publish.facts", "run the tests of facts about clients, write docs/facts.md"),
    "guarantees": ("publish.guarantees", "run faults and kill workers, write docs/guarantees.md"),
    "scaling": ("publish.scaling", "measure how Spark's reading grows, write docs/scaling.md"),
    "machines": ("publish.machines", "measure what labs and rooms need, write docs/machines.md"),
    "walk": ("walk.walk", "work a lab in the browser, mistakes included, with pictures of each step"),
    "pictures": ("publish.pictures", "take the README's pictures anew, light and dark"),
    "site": ("site.build", "write the course as static pages, with a search, to build/site/"),
    "slides": ("slides.build", "build the decks of slides/, as pages and PDFs; --check looks at them"),
    "record-slides": ("slides.record", "record anew, on brokers, what a deck plays"),
    "record-demos": ("publish.demos", "record the demos anew, on brokers"),
    "compose": ("publish.compose_file", "write the settings of the brokers into docker-compose.yml"),
    "lock": ("publish.jars_lock", "resolve Kafka's and Spark's jars anew"),
    "lock-python": ("publish.requirements", "resolve the Python packages anew, with their hashes"),
    "wheel": ("publish.wheel", "build the wheel and the sdist into dist/, and look at what they hold"),
    "clean": ("publish.clean", "stop the brokers and delete all that was set up"),
}


def main() -> object:
    """Run the tool of the first word; return what it returns."""
    word = sys.argv[1] if sys.argv[1:] else "--help"
    if word not in WORDS:
        known = "\n".join(f"  {name:14}{what}" for name, (_, what) in WORDS.items())
        print(f"{__doc__}\n\n{known}")
        return 0 if word in ("-h", "--help") else 2
    sys.argv[:2] = [f"python -m tools {word}"]
    signal.signal(signal.SIGTERM, end)
    return import_module(f"tools.{WORDS[word][0]}").main()


def end(number: int, _frame: FrameType | None) -> None:
    """End the program through the blocks that end brokers and processes."""
    # `timeout` and make tell it twice. (What it starts would inherit SIG_IGN.)
    signal.signal(signal.SIGTERM, lambda *_: None)
    sys.exit(128 + number)


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)  # type: ignore[arg-type]
