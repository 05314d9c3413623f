"""The buttons of a question, as its page hears of them."""

from typing import Any

import pytest

from threebrokers.choices import Buttons


def test_a_page_that_has_lost_the_news_hears_it_at_the_next_press(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(answer: str) -> None:
        if buttons.truth is None:  # later answers do not count, and change nothing
            buttons.show(answer, "two", "It is two.")

    buttons = Buttons("How many?", ["one", "two"], press, ["both", "right", "wrong"], "")
    buttons._handle_custom_msg({"answer": "one"}, [])
    sent = list[dict[str, Any]]()
    monkeypatch.setattr(buttons, "_send", lambda message, buffers=None: sent.append(message["state"]))
    buttons._handle_custom_msg({"answer": "two"}, [])
    assert sent[-1]["chosen"] == "one"
    assert sent[-1]["truth"] == "two"
    assert "It is two." in sent[-1]["note_html"]
