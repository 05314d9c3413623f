"""What authors and CI need; `python -m tools` lists it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
