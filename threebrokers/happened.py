"""A demonstration says itself whether it showed what it promised."""

from threebrokers.errors import BenchError


def happened(what: str, truth: object) -> None:
    """Print `what`, a sentence in the past tense, if `truth` is true.

    Raises BenchError if not: then the cell shows it in one sentence, and `make repeat` counts it.
    """
    sentence = what.strip().rstrip(".")
    if not truth:
        raise BenchError(f"This time it did not happen: {sentence}; run the cell again.")
    print(f"✓ {sentence}.")
