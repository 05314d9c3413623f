"""What a JVM said of its end, as it was written by real ones."""

import pytest

from threebrokers.cluster.jvm_words import last_words

TRACE = (
    "\tat java.base/sun.nio.fs.UnixException.rethrowAsIOException(Unknown Source)\n\tat kafka.Kafka.main\n"
)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("", ""),
        ("12:00:01.000 INFO  all is well (Kafka)\n", ""),
        (
            "12:00:01.000 ERROR Exiting Kafka due to fatal exception (Kafka$)\n"
            f"java.nio.file.NoSuchFileException: /h/conf/broker-1.properties\n{TRACE}",
            "12:00:01.000 ERROR Exiting Kafka due to fatal exception (Kafka$): "
            "java.nio.file.NoSuchFileException: /h/conf/broker-1.properties",
        ),
        (f'Exception in thread "main" java.lang.IllegalStateException: no\n{TRACE}', None),
        (f"java.lang.RuntimeException: outer\n{TRACE}Caused by: java.io.IOException: inner\n{TRACE}", None),
        (
            "Error occurred during initialization of VM\nMultiple garbage collectors selected\n",
            "Error occurred during initialization of VM: Multiple garbage collectors selected",
        ),
        (
            "Unrecognized VM option 'UseNothing'\nError: Could not create the Java Virtual Machine.\n"
            "Error: A fatal exception has occurred. Program will exit.\n",
            "Unrecognized VM option 'UseNothing'",
        ),
        ("Error: Could not find or load main class kafka.Kafka\n", None),
        ("ERROR: transport error 202: bind failed: Address already in use\nmore\n", None),
        (
            "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
            "#  SIGSEGV (0xb) at pc=0x00007f, pid=5, tid=6\n#\n# Problematic frame:\n"
            "Event: 0.5 Exception <a 'java/lang/NoSuchMethodError'> ERROR thrown\n",
            "the JVM crashed: SIGSEGV (0xb) at pc=0x00007f, pid=5, tid=6",
        ),
        (
            "#  SIGBUS (0x7) at pc=0x1, pid=2\n",
            "the JVM crashed: SIGBUS (0x7) at pc=0x1, pid=2",
        ),
        (
            "# There is insufficient memory for the Java Runtime Environment to continue.\n",
            "the JVM crashed: There is insufficient memory for the Java Runtime Environment to continue.",
        ),
        ("Terminating due to java.lang.OutOfMemoryError: Java heap space\n", None),
    ],
)
def test_the_line_that_names_the_cause(output: str, words: str | None) -> None:
    told = last_words(output)
    if words is not None:
        assert told == words
    assert "at java.base" not in told
    if output and "INFO" not in output:
        assert told


def test_the_exception_nearest_to_the_end_is_told() -> None:
    output = f"10 ERROR first (A)\njava.lang.E: x\n{TRACE}11 ERROR second (B)\n{TRACE}11 INFO ends\n"
    assert last_words(output) == "11 ERROR second (B)"
    nested = f"x.y.OuterException: a\n{TRACE}Caused by: x.y.InnerException: inner\n{TRACE}"
    assert last_words(nested).endswith("Caused by: x.y.InnerException: inner")
