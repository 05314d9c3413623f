"""What the text of lab 06's programs tells of their loops and of their last commits."""

import ast

import pytest

from threebrokers.checks.lab06 import last_commit, loops
from threebrokers.lab.exercise import NotYet

WAITS = "c.commit(m, asynchronous=False)"


@pytest.mark.parametrize(
    "code",
    [
        f"while x:\n    {WAITS}\nc.close()",
        f"while x:\n    if messages:\n        {WAITS}\nc.close()",
        f"while x:\n    if m is not None and not m.error():\n        {WAITS}",
        f"try:\n    while x:\n        c.commit(m)\nfinally:\n    {WAITS}",
        "try:\n    while x:\n        c.commit(m)\nfinally:\n    c.commit(m, None, False)",
        "try:\n    while x:\n        c.commit(m)\nfinally:\n    c.commit(**settings)",
        f"def end():\n    {WAITS}\ntry:\n    while x:\n        c.commit(m)\nfinally:\n    end()",
        f"try:\n    while x:\n        c.commit(m)\nexcept KeyboardInterrupt:\n    pass\n{WAITS}",
        f"with suppress(KeyboardInterrupt):\n    while x:\n        c.commit(m)\n{WAITS}",
        "with ExitStack() as stack:\n    stack.callback(c.commit)\n    while x:\n        c.poll()",
        f"signal.signal(signal.SIGINT, stop)\nwhile not over:\n    c.commit(m)\n{WAITS}",
        "c = C({'on_commit': told})\ntry:\n    while x:\n        c.commit(m)\nfinally:\n    c.commit()",
        f"while x:\n    c.poll()\n{WAITS}",
        "while x:\n    c.poll()",
        f"while x:\n    if messages:\n        {WAITS}\n{WAITS}\nc.close()",
        "c.subscribe([t], on_revoke=lambda c, p: c.commit(asynchronous=False))\ntry:\n"
        "    while x:\n        c.commit(m)\nfinally:\n    c.close()",
        f"def end(c, p):\n    {WAITS}\nc.subscribe([t], begin, end)\nwith lab.consumer() as c:\n"
        "    while x:\n        c.commit(m)",
        f"with lab.consumer() as c, suppress(KeyboardInterrupt):\n    while x:\n        c.commit(m)\n{WAITS}",
        f"try:\n    while x:\n        c.commit(m)\nexcept BaseException:\n    {WAITS}\n    raise\n{WAITS}",
        f"class Reader:\n    def leave(self):\n        self.c.close()\ndef end(c, p):\n    {WAITS}\n"
        "c.subscribe([t], begin, end)\ntry:\n    while x:\n        c.commit(m)\nfinally:\n    r.leave()",
    ],
)
def test_a_last_commit_runs_after_an_interruption_too_and_is_waited_for(code: str) -> None:
    last_commit.expect_last_commit(ast.parse(code))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            f"while x:\n    if n % 400 == 0:\n        c.commit(m)\n{WAITS}\nc.close()",
            "stands behind the loop",
        ),
        (
            f"try:\n    while x:\n        c.commit(m)\nexcept KafkaException:\n    pass\n{WAITS}",
            "stands behind the loop",
        ),
        (
            f"with lab.consumer() as c:\n    while x:\n        c.commit(m)\n    {WAITS}",
            "stands behind the loop",
        ),
        (
            f"c, n = Consumer(), 0\nwith c:\n    while x:\n        c.commit(m)\n    {WAITS}",
            "stands behind the loop",
        ),
        (f"with closing(c):\n    while x:\n        c.commit(m)\n    {WAITS}", "stands behind the loop"),
        (
            f"try:\n    while x:\n        c.commit(m)\nexcept KeyboardInterrupt:\n    raise\n{WAITS}",
            "stands behind the loop",
        ),
        (
            f"def end(c, p):\n    {WAITS}\nc.subscribe([t], begin, end)\nwhile x:\n    c.commit(m)\n"
            "c.close()",
            "`close\\(\\)` is never called",
        ),
        (f"EVERY: int = 9\nwhile x:\n    if n > EVERY:\n        {WAITS}", "the loop commits now and then"),
        (
            "c.subscribe([t], on_revoke=lambda c, p: c.commit())\ntry:\n    while x:\n        c.commit(m)\n"
            "finally:\n    c.close()",
            "does not wait for its answer",
        ),
        (
            "try:\n    while x:\n        if n % 250 == 0:\n            c.commit(m)\nfinally:\n    c.close()",
            "the loop commits now and then",
        ),
        (f"while x:\n    if n - at >= 400:\n        {WAITS}\nc.close()", "the loop commits now and then"),
        (f"EVERY = 9\nwhile x:\n    if n > EVERY:\n        {WAITS}", "the loop commits now and then"),
        (
            f"def save():\n    {WAITS}\nwhile x:\n    if n % 100 == 0:\n        save()\nc.close()",
            "the loop commits now and then",
        ),
        (
            "try:\n    while x:\n        c.commit(m)\nfinally:\n    c.commit(message=m)\n    c.close()",
            "does not wait for its answer",
        ),
        ("while x:\n    c.commit(m)\nc.close()", "does not wait for its answer"),
        ("try:\n    while x:\n        c.commit(m)\nfinally:\n    c.close()", "does not wait for its answer"),
        (
            f"try:\n    while x:\n        {WAITS}\nfinally:\n    c.commit(m, asynchronous=True)",
            "does not wait",
        ),
    ],
)
def test_a_last_commit_that_is_passed_over_or_not_waited_for(code: str, words: str) -> None:
    with pytest.raises(NotYet, match=words):
        last_commit.expect_last_commit(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    m = c.poll(1)\n    if m is None:\n        break",
        "while True:\n    ms = c.consume(5, 1)\n    if not ms:\n        break\n    work(ms)",
        "while True:\n    ms = c.consume(5, 1)\n    if len(ms) == 0:\n        break",
        "while True:\n    ms = c.consume(5, 1)\n    if ms == []:\n        break",
        "while True:\n    ms = c.consume(5, 1)\n    if ms:\n        work(ms)\n    else:\n        break",
        "while True:\n    if not (m := c.poll(1)):\n        break",
        "while ms := c.consume(5, 1):\n    work(ms)",
        "def f():\n    while True:\n        m = c.poll(1)\n        if m is None:\n            return\nf()",
        "for m in iter(lambda: c.poll(5), None):\n    work(m)",
        "for ms in iter(lambda: c.consume(5, 1), []):\n    work(ms)",
        "ms = c.consume(5, timeout=1)\nwhile len(ms) > 0:\n    work(ms)\n    ms = c.consume(5, timeout=1)",
        "m: Message = c.poll(1)\nwhile m is not None:\n    m = c.poll(1)",
        "n = 0\nwhile True:\n    m = c.poll(0.2)\n    if m is None:\n        n += 1\n        if n > 50:\n"
        "            break\n        continue\n    work(m)",
        "def read():\n    while True:\n        m = c.poll(1)\n        if m is None:\n            return\n"
        "        yield m\nfor m in read():\n    work(m)",
        "while not c.assignment():\n    c.poll(0.1)\nwhile True:\n    m = c.poll(1)\n    if m is None:\n"
        "        break\n    work(m)",
    ],
)
def test_a_loop_that_ends_when_nothing_comes(code: str) -> None:
    assert loops.ends_when_empty(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    m = c.poll(1)\n    if m is None:\n        continue\n    work(m)",
        "while True:\n    for m in c.consume(5, 1):\n        if m.error():\n            break",
        "while True:\n    while m := c.poll(0):\n        work(m)",
        "while True:\n    while True:\n        m = c.poll(0)\n        if m is None:\n            break",
        "def f():\n    m = c.poll(1)\n    if m is None:\n        return\n    work(m)\nwhile True:\n    f()",
        "def some():\n    while m := c.poll(0):\n        work(m)\nwhile True:\n    some()",
        "while True:\n    m = c.poll(1)\n    if m is None and over:\n        break",
        "while True:\n    if (m := c.poll(1)) is None:\n        if over:\n            break\n    work(m)",
        "for m in iter(lambda: c.poll(), None):\n    work(m)",
        "for m in iter(lambda: c.poll(1), end):\n    work(m)",
        "m = c.poll()\nwhile m is not None:\n    m = c.poll()",
        "while ms := c.consume(num_messages=10, timeout=-1):\n    work(ms)",
        "while m := c.poll(-1):\n    work(m)",
        "while m := c.poll(0.1):\n    work(m)\nwhile True:\n    work(c.poll(1))",
        "while running:\n    work(c.poll(1))\nwhile m := c.poll(0.5):\n    work(m)",
    ],
)
def test_a_loop_that_goes_on(code: str) -> None:
    assert not loops.ends_when_empty(ast.parse(code))


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("for _ in range(1000):\n    m = c.poll(0.2)\n    if m:\n        work(m)", True),
        ("for _ in range(100):\n    for m in c.consume(10, timeout=1):\n        work(m)", True),
        ("for _ in range(10):\n    c.poll(0.2)\nwhile not over:\n    work(c.poll(0.2))", False),
        ("for start in range(5):\n    c.poll(0)\n    while True:\n        work(c.poll(1))", False),
        ("def run():\n    while True:\n        work(c.poll(1))\nfor start in range(5):\n    run()", False),
        (
            "def some():\n    for _ in range(10):\n        work(c.poll(0.2))\nstep = some\n"
            "while True:\n    step()",
            False,
        ),
        (
            "def connect():\n    while True:\n        return sqlite3.connect(file)\n"
            "for _ in range(1000):\n    work(c.poll(0.2))",
            True,
        ),
        (
            "for _ in range(50):\n    c.poll(0.1)\nread = c.poll\nwhile True:\n    work(read(0.2))",
            False,
        ),
        ("for n in itertools.count():\n    c.poll(1)", False),
        ("while True:\n    for _ in range(10):\n        c.poll(1)", False),
    ],
)
def test_a_loop_that_reads_a_number_of_times(code: str, ends: bool) -> None:
    program = ast.parse(code)
    assert (loops.ends_by_count(program), loops.ends_when_empty(program)) == (ends, False)


ASKS = "def begin(c, places):\n    places[0].offset = next_offset(0)\n"


CLERK = "class Clerk:\n    def begin(self, c, places):\n        next_offset(0)\n        c.assign(places)\n"


@pytest.mark.parametrize(
    ("code", "right"),
    [
        (f"{ASKS}    c.assign(places)\nc.subscribe([t], on_assign=begin)", True),
        ("c.assign([TopicPartition(t, 0, next_offset(0))])", True),
        ("at = db.execute('SELECT * FROM positions')\nc.assign(places(at))", True),
        ("c.commit(offsets=[TopicPartition(t, 0, next_offset(0))])\nc.subscribe([t])", True),
        (f"{CLERK}run(Clerk().begin)", True),
        ("c.subscribe([t])", False),
        (f"{ASKS}    c.assign(places)\nc.subscribe([t])", False),
        (f"{ASKS}c.subscribe([t], on_assign=begin)", False),
        (
            f"{ASKS}c.subscribe([t], on_assign=begin)\nwhile True:\n    c.commit(offsets=[at(0, 5)])",
            False,
        ),
    ],
)
def test_where_a_program_begins(code: str, right: bool) -> None:
    assert loops.begins_by_database(ast.parse(code)) == right
