"""A picture of readers in one partition: where each reads next, and how far that is from the end."""

from collections.abc import Mapping

from threebrokers.diagrams.dot import cell, lone_table
from threebrokers.diagrams.picture import Picture
from threebrokers.theme import SKY_TINT, SOFT


def readers_picture(end: int, reads_next: Mapping[str, int]) -> Picture:
    """Draw the offsets of a partition up to `end`, where the producer writes next, and a row for each reader.

    `reads_next` is the offset that each reader reads next, by its name.
    """
    head = [cell("offset", bold=True, align="left")]
    head += [cell(str(offset), border=1, color=SOFT, width=28) for offset in range(end)]
    head += [cell(str(end), border=1, color=SOFT, style="dashed", width=28), cell("producer writes here")]
    rows, words = [head], [f"The partition holds {end} records; the next one gets offset {end}."]
    for name, at in reads_next.items():
        behind = end - at
        row = [cell(name, bold=True, align="left")]
        for offset in range(end + 1):
            here = offset == at
            row.append(cell("▶" if here else "✓" if offset < at else "·", fill=SKY_TINT if here else "white"))
        rows.append([*row, cell(f"lag {behind}", bold=True)])
        words.append(f"{name} has read {at} and reads offset {at} next; its lag is {behind}.")
    return Picture("Where each reader is", "\n".join(words), lone_table(rows))
