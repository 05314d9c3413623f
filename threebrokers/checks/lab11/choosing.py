"""What lab 11's check says of four programs, and of what each needs to do its work once."""

from threebrokers.checks.expect import expect_choice
from threebrokers.lab.exercise import NotYet

RIGHT = {"A": "transaction", "B": "database", "C": "number", "D": "nothing"}
WRONG: dict[str, dict[str, tuple[str, str]]] = {
    "A": {
        "database": ("it has no database, and needs none", "input, output and offset are all in Kafka"),
        "number": (
            "with a number each reader of both topics would have to look for what came twice",
            "input, output and offset are all in Kafka, so they fit into one thing",
        ),
        "nothing": ("after a crash both topics get the same order twice", "goods should go out once"),
    },
    "B": {
        "transaction": (
            "a transaction of Kafka takes back its own records, and no row of PostgreSQL",
            "rows and offset should be where both can be taken back",
        ),
        "number": (
            "it would work with a table that gets a row for each payment, for ever",
            "one offset for each partition, in the same transaction as the sum, costs less",
        ),
        "nothing": ("after a crash some payments are in the sum twice", "the sum should be right"),
    },
    "C": {
        "transaction": (
            "the second request begins a transaction of its own, and it is committed as well",
            "the program must notice that it has had this order before",
        ),
        "database": (
            "there is no offset to keep: nothing is read from Kafka here",
            "the program must notice that it has had this order before",
        ),
        "nothing": ("the customer gets two parcels", "one order should be one order"),
    },
    "D": {
        "transaction": (
            "each temperature would be seen later, and nobody would see a difference",
            "a value that comes twice should cost nothing",
        ),
        "database": ("the next second writes the value anew", "a value that comes twice should cost nothing"),
        "number": ("the next second writes the value anew", "a value that comes twice should cost nothing"),
    },
}


def judge_choices(choices: dict[str, str]) -> None:
    """Raise NotYet unless each program has the word that fits."""
    choices = {program.strip().upper(): word for program, word in choices.items()}
    if missing := [program for program in RIGHT if program not in choices]:
        raise NotYet(
            f"`choices` says nothing of program {missing[0]}",
            "it should have A, B, C and D",
            "the task, above",
        )
    for program, right in RIGHT.items():
        wrong = {
            word: (
                f"program {program} with “{word}”: {found}",
                expected,
                f"what program {program} writes, and where",
            )
            for word, (found, expected) in WRONG[program].items()
        }
        expect_choice(f'choices["{program}"]', choices[program], right, wrong)
