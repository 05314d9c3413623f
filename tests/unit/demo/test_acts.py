"""What the acts make of what they have measured; nothing here needs a broker."""

import pytest

from threebrokers.demo.acts import lab04

GROWS = "0.5 s · 2 s · 4 s · until the network is mended"
ALIKE = "2 s after each of the four"


@pytest.mark.parametrize(
    ("seconds", "answer"),
    [
        ((0.5, 2.0, 4.0, 6.0), GROWS),
        ((2.0, 2.4, 2.6, 2.9), GROWS),  # less than a second apart, and yet as the lab finds it
        ((2.1, 1.9, 2.0, 2.2), ALIKE),
        ((6.1, 6.0, 6.0, 6.2), ""),  # alike, but nowhere near 2 s
        ((2.0, 0.5, 4.0, 1.0), ""),
    ],
)
def test_the_answer_that_four_silences_are(seconds, answer):
    silent = dict(zip(("stop", "kill", "pause", "cut"), seconds, strict=True))
    told = lab04._answer(silent)
    assert (told.kind, told.words, told.value) == ("truth", "4.a", answer)
