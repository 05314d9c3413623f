"""Run the tests of facts about clients, and write what they tell into docs/facts.md: `make facts`.

With paths of tests only those are run, and the other rows stay.
"""

from tools import ROOT
from tools.publish import told

HEAD = """\
<!-- Written by `make facts` from the tests that carry the mark `fact`: do not edit. -->

# Facts about clients

*This client* is confluent-kafka, which is made of the C library librdkafka; *Java* is Kafka's own client.
A test asserts each row and fails when the fact changes; the versions are those that it asked. Settings stand
here with the values that the programs themselves name. Lessons quote what stands here.
"""
PAGE = told.Page(
    ROOT / "docs" / "facts.md",
    "fact",
    "facts",
    HEAD,
    ("fact", "this client", "Java's client, or the brokers", "versions", "how it was found out"),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 if the page holds a row for each fact that has a test."""
    return told.main(PAGE, __doc__, arguments)
