"""What lab 06's check says of programs that do not look at the delivery reports of their dead letters."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Producer

from threebrokers.checks.lab06 import delivery_reports
from threebrokers.kafka.clients import LabProducer
from threebrokers.lab.exercise import NotYet

LAB: Any = SimpleNamespace(topic=lambda name: f"six-{name}")
PLAIN = Producer({"bootstrap.servers": "127.0.0.1:1", "log_level": 0})


def postman(*, listens: bool, given: int = 2, **config: Any) -> LabProducer:
    made = LabProducer.__new__(LabProducer)
    made.config, made.has_listener = config, listens
    made.given = lambda topic: given  # type: ignore[method-assign]
    return made


def heard(monkeypatch: pytest.MonkeyPatch, source: str | None, producer: Producer) -> None:
    run = None if source is None else SimpleNamespace(source=source)
    monkeypatch.setattr(delivery_reports, "attempt", lambda: run)
    delivery_reports.expect_heard(producer)


RAISES = "\nif any(seen):\n    raise ValueError"
KEPT = 'postman = lab.producer({"on_delivery": lambda error, letter: seen.append(error)})'
BOX = "class Box:\n    def report(self, error, letter):\n        self.last = error\n"
READ = "for m in c.consume(24):\n"
NONE_ENDS = "none of its lines ends it with an error"
LISTENS = (
    f"{KEPT}{RAISES}",
    f"{KEPT}{RAISES}\nc.commit(m)",
    f"{KEPT}\nassert not any(seen), seen",
    f"{KEPT}\nexpect_stored(seen)",
    "def told(fault, letter):\n    if fault:\n        raise ValueError\n"
    "postman.produce(d, v, k, on_delivery=told)",
    "def told(fault, letter):\n    stop(fault)\npostman.produce(d, v, k, on_delivery=told)",
    f"postman.produce(d, v, k, 0, lambda e, m: seen.append((e, m))){RAISES}",
    f"postman.produce(d, v, k, callback=lambda *all: seen.append(all)){RAISES}",
    "postman.produce(d, v, k, on_delivery=elsewhere.report)",
    f"{BOX}postman.produce(d, v, on_delivery=box.report)\nif box.last:\n    raise ValueError",
    "def told(e, m):\n    f.set_exception(X(e)) if e else f.set_result(m)\n    done.append(f)\n"
    "postman.produce(d, v, on_delivery=told)\ndone[0].result()",
    "def told(e, m):\n    if e:\n        fault = X(e)\n        f.set_exception(fault)\n"
    "p.produce(d, v, on_delivery=told)\nif f.exception():\n    raise f.exception()",
    f"{KEPT}\ndef safe():\n    if any(seen):\n        raise ValueError\nc.commit(m)\nsafe()",
    f"{KEPT}\ntry:\n    book(m)\nexcept ValueError:\n    p.flush()\n    if any(seen):\n        raise",
    f"{KEPT}\ntry:\n    book(m)\nexcept ValueError:\n    if p.flush():\n        raise\n    print(seen)",
    f"{KEPT}\ntry:\n    book(m)\nexcept ValueError:\n    if not any(seen):\n        go()\n"
    "    else:\n        raise",
    "p = lab.producer({'on_delivery': lambda error, letter: seen.append(letter)})\n"
    "if seen[-1].error():\n    raise ValueError(seen[-1].error())",
    "def told(_, letter):\n    if letter.error():\n        raise ValueError\np.produce(d, on_delivery=told)",
    "p = lab.producer({'on_delivery': lambda error, letter: seen.append(letter)})\n"
    "for m in c.consume(24):\n    book(m)\nfor m in seen:\n    if m.error():\n        raise ValueError",
    f"{KEPT}\n{READ}def judge(m):\n    if m.error():\n        raise ValueError\njudge(seen)",
    f"{KEPT}\n{READ}    if m.error() or any(seen):\n        raise ValueError",
    f"{KEPT}\n{READ}    letter = aside(m)\n    if letter.error():\n        raise ValueError(seen)",
    "p.produce(d, on_delivery=lambda e, m: done.set_exception(KafkaException(e)))",
    f"{KEPT}\nraise_all(KafkaException(seen[0]))",
)
GOES_ON = (
    (KEPT, "keeps the delivery reports in `seen`, and nothing looks at them"),
    (f"{KEPT}\nc.commit(m)", "keeps the delivery reports in `seen`, and nothing looks at them"),
    ("p.produce(d, v, on_delivery=lambda e, m: print(e))", "nowhere, and raises nothing"),
    (f"{KEPT}\nif any(seen):\n    print('refused')", "none of its lines ends it with an error"),
    (f"{KEPT}\nwhile x:\n    if any(seen):\n        break", "none of its lines ends it with an error"),
    (
        f"{KEPT}\ntry:\n    book(m)\nexcept ValueError:\n    if odd:\n        raise\n    print(seen)",
        "none of its lines ends it with an error",
    ),
    (
        f"{KEPT}\nif any(seen):\n    try:\n        note(m)\n    except OSError:\n"
        "        if odd:\n            raise",
        "none of its lines ends it with an error",
    ),
    (f"{KEPT}\n{READ}    if m.error():\n        raise ValueError\n    print(seen)", NONE_ENDS),
    (f"{KEPT}\n{READ}    assert not m.error(), m\n    if any(seen):\n        print('refused')", NONE_ENDS),
    (
        f"{KEPT}\nm = None\nwhile x:\n    m = c.poll(1)\n    if m is None:\n        continue\n"
        "    if m.error():\n        raise KafkaException(m.error())\n    print(seen)",
        NONE_ENDS,
    ),
    (
        f"{KEPT}\nms = [m for m in c.consume(24) if m]\nfor n, m in enumerate(ms):\n"
        "    if ms[n].error():\n        raise ValueError\n    print(seen)",
        NONE_ENDS,
    ),
    (f"{KEPT}\nif any(seen):\n    display(seen)", NONE_ENDS),
    (
        "def told(error, letter):\n    if error:\n        seen.append(KafkaException(error))\n"
        "p.produce(d, on_delivery=told)",
        "keeps the delivery reports in `seen`, and nothing looks at them",
    ),
    (
        "def told(error, letter):\n    if error:\n        KafkaException(error)\n"
        "p.produce(d, on_delivery=told)",
        "nowhere, and raises nothing",
    ),
    (
        'postman = lab.producer({"on_delivery": lambda error, letter: seen.append(letter)})',
        "keeps the delivery reports in `seen`, and nothing looks at them",
    ),
    (f"{KEPT}\np.flush()\nc.commit(m){RAISES}", "commits first, and looks at the delivery reports only then"),
)


@pytest.mark.parametrize("source", LISTENS)
def test_whoever_looks_at_the_error_of_a_report_is_believed(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    heard(monkeypatch, source, postman(listens=True))
    heard(monkeypatch, source, PLAIN)


@pytest.mark.parametrize(("source", "words"), GOES_ON)
def test_an_error_in_a_report_ends_the_program(
    monkeypatch: pytest.MonkeyPatch, source: str, words: str
) -> None:
    for producer in (postman(listens=True), PLAIN):
        with pytest.raises(NotYet, match=words):
            heard(monkeypatch, source, producer)


@pytest.mark.parametrize(
    ("source", "listens", "learns"),
    [
        ("p.flush()", False, True),
        (f"{KEPT}\np.flush()", True, True),
        (f"{KEPT}\nwhile not seen:\n    p.poll(0.1)", True, False),
        ("p.produce(d, on_delivery=lambda e, m: e or c.commit(m))\np.flush()", True, False),
        (
            "def told(e, m):\n    save()\ndef save():\n    c.commit()\n"
            "p.produce(d, on_delivery=told)\np.flush()",
            True,
            False,
        ),
        ("p.produce(d, on_delivery=elsewhere)\np.flush()", True, False),
    ],
)
def test_when_a_program_can_know_that_a_letter_is_stored(
    monkeypatch: pytest.MonkeyPatch, source: str, listens: bool, learns: bool
) -> None:
    monkeypatch.setattr(delivery_reports, "attempt", lambda: SimpleNamespace(source=source))
    assert delivery_reports.learns_by_flush(postman(listens=listens)) == learns
    monkeypatch.setattr(delivery_reports, "attempt", lambda: None)
    assert delivery_reports.learns_by_flush(postman(listens=listens)) == (not listens)


def test_whoever_takes_no_report_would_not_notice_a_lost_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = "postman.produce(dead, message.value())\npostman.flush()"
    for producer in (postman(listens=False), PLAIN):
        with pytest.raises(NotYet, match="would not have noticed"):
            heard(monkeypatch, silent, producer)
    heard(monkeypatch, silent, postman(listens=False, **{"transactional.id": "t"}))
    with pytest.raises(NotYet, match="would not have noticed"):
        heard(monkeypatch, None, postman(listens=False))
    heard(monkeypatch, None, PLAIN)  # nobody can tell
    heard(monkeypatch, "%matplotlib inline", PLAIN)


@pytest.mark.parametrize(
    "source",
    [
        'postman = lab.producer({"on_delivery": lambda error, letter: done.set()})',
        "def told(error, letter):\n    print(n)\npostman.produce(d, v, callback=told)",
        "def told(self, error, letter):\n    self.n += 1\npostman.produce(d, v, callback=box.told)",
    ],
)
def test_a_report_whose_error_nobody_reads_is_no_report(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    with pytest.raises(NotYet, match="does not look at the error"):
        heard(monkeypatch, source, postman(listens=True))


def test_a_letter_that_was_sent_and_is_not_stored_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(offset: int | None) -> None:
        monkeypatch.setattr(
            delivery_reports, "committed", lambda lab, group, topic: {} if offset is None else {0: offset}
        )

    at(24)
    with pytest.raises(NotYet, match="payment 9 was sent and is not stored, and the group has committed 24"):
        delivery_reports.expect_stored(LAB, postman(listens=False), "g", "dead", 1, 9)
    for offset in (None, 9):  # 9 is the bad record itself
        at(offset)
        with pytest.raises(NotYet, match="committed nothing behind it"):
            delivery_reports.expect_stored(LAB, postman(listens=True), "g", "dead", 1, 9)
    delivery_reports.expect_stored(LAB, postman(listens=True), "g", "dead", 2, 9)  # another program's fault
    delivery_reports.expect_stored(LAB, PLAIN, "g", "dead", 0, 9)


FLUSHES = (
    "for m in c.consume(24):\n    try:\n        book(m)\n    except ValueError:\n        p.produce(d)\n"
    "        p.flush()\n    c.commit(m)",
    "for m in c.consume(24):\n    p.produce(d)\np.flush()\nc.commit()",
    "for m in c.consume(24):\n    p.produce(d)\nif p.flush():\n    raise X\nc.commit()",
    "confirm = p.flush\ndef aside():\n    p.produce(d)\naside()\nconfirm()\nc.commit()",
    "class Letter:\n    def send(self):\n        p.produce(d)\n"
    "    def __enter__(self):\n        return self\n    def __exit__(self, *fault):\n"
    "        p.flush()\nwith Letter() as one:\n    one.send()\nc.commit()",
    "p.produce(d)\nwhile not told:\n    p.poll(0.1)\nc.commit()",
    "p.begin_transaction()\np.produce(d)\np.commit_transaction()\nc.commit()",
    "p.produce(d)\np.close()\nc.commit()",
    "with lab.producer({}) as p:\n    for m in ms:\n        p.produce(d)\nc.commit()",
    "with closing(Producer({})) as p:\n    p.produce(d)\nc.commit()",
    "p = lab.producer()\nwith p:\n    p.produce(d)\nc.commit()",
    "p: Producer = Producer({})\nwith p:\n    p.produce(d)\nc.commit()",
    "p, seen = lab.producer(), []\nwith p:\n    p.produce(d)\nc.commit()",
    "send, confirm = p.produce, p.flush\np.produce(d)\nconfirm()\nc.commit()",
    "confirm: Callable = p.flush\np.produce(d)\nconfirm()\nc.commit()",
    "def stored():\n    if p.flush() or any(seen):\n        raise X\ndef aside(m):\n    p.produce(d)\n"
    "    stored()\nfor m in ms:\n    try:\n        book(m)\n    except ValueError:\n        aside(m)\n"
    "    c.commit(m)",
    "class Desk:\n    def aside(self, m):\n        self.p.produce(d)\n        self.look()\n"
    "    def look(self):\n        self.p.flush()\nfor m in ms:\n    desk.aside(m)\n    c.commit(m)",
    "for m in ms:\n    if good(m):\n        c.commit(m)\n        continue\n    p.produce(m)\n    p.flush()\n"
    "    c.commit(m)",
    "while x:\n    c.commit(message=last)\n    p.produce(m)\n    p.flush()\n    last = m",
    "p.produce(m)\np.flush()\nc.commit(m)\nm = c.poll()\np.produce(m)\np.flush()",
    "def told(e, m):\n    e or c.commit(m)\np.produce(d, on_delivery=told)\np.produce(d, on_delivery=told)",
    "%matplotlib inline",
)
HURRIES = (
    "for m in ms:\n    try:\n        book(m)\n    except ValueError:\n        p.produce(d)\n    c.commit(m)",
    "try:\n    book(m)\nexcept ValueError:\n    p.produce(d)\n    c.commit(m)\n    p.flush()\n    look()",
    "def aside(m):\n    p.produce(d)\nfor m in ms:\n    aside(m)\n    c.commit(m)",
    "with lock:\n    p.produce(d)\nc.commit()",
    "for m in ms:\n    c.commit(message=m)\n    try:\n        book(m)\n    except ValueError:\n"
    "        p.produce(d, m.value())\n        p.flush()",
    "def aside(one):\n    p.produce(d, one.value())\n    p.flush()\nfor m in ms:\n"
    "    c.commit(m)\n    aside(m)",
    "with lab.producer() as p:\n    for m in ms:\n        p.produce(d)\n        c.commit(m)",
)


def test_nothing_is_committed_between_a_letter_and_its_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(source: str) -> None:
        monkeypatch.setattr(delivery_reports, "attempt", lambda: SimpleNamespace(source=source))
        delivery_reports.expect_flush_first()

    for source in FLUSHES:
        judged(source)
    for source in HURRIES:
        with pytest.raises(NotYet, match="commits before the dead letter is acknowledged"):
            judged(source)
    monkeypatch.setattr(delivery_reports, "attempt", lambda: None)
    delivery_reports.expect_flush_first()
