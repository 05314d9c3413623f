"""A question and its answers as buttons: what a prediction and a quiz have in common."""

from threebrokers.choices.buttons import Buttons

__all__ = ["Buttons"]
