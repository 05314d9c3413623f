"""Which topics and groups belong to each lab."""

from pathlib import Path

import msgspec

from threebrokers.store import own_file

# Apart from the checks: so a lab opens before they are loaded, which takes longer than all the rest.
FILE = Path(__file__).with_name("names.toml")


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The topics of a lab, and the words with which its groups begin."""

    topics: list[str]
    groups: list[str]


def all_names() -> dict[str, Names]:
    """Return the names of every lab, by its number. Raises LabError if the file is missing or damaged."""
    return own_file("The names of the labs' topics", FILE, dict[str, Names])
