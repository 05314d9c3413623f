"""Which topics and groups belong to each lab."""

from pathlib import Path

import msgspec

from threebrokers.errors import LabError

# Apart from the checks: so a lab opens before they are loaded, which takes longer than all the rest.
FILE = Path(__file__).with_name("names.toml")


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The topics of a lab, and the words with which its groups begin."""

    topics: list[str]
    groups: list[str]


def all_names() -> dict[str, Names]:
    """Return the names of every lab, by its number. Raises LabError if the file is missing or damaged."""
    try:
        return msgspec.toml.decode(FILE.read_bytes(), type=dict[str, Names])
    except (OSError, ValueError) as fault:
        told = fault.strerror if isinstance(fault, OSError) else fault
        raise LabError(
            f"The names of the labs' topics cannot be read ({FILE}: {told})",
            "bring this file back, with `git restore` or by installing the course again",
        ) from fault
