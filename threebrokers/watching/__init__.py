"""Watching the bench: each broker is asked by itself, so that one that is gone hides nothing."""

from threebrokers.watching.look import Looker
from threebrokers.watching.observer import Observer, in_words

__all__ = ["Looker", "Observer", "in_words"]
