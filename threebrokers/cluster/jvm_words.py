"""What a JVM of the course said of its end: the line of its output that names the cause."""

import re

# In the order in which they are believed. A crashed JVM writes much more, with words of all kinds in it.
CRASH = re.compile(r"^#\s+(SIG[A-Z]+|Internal Error|There is insufficient memory)\b.*", re.MULTILINE)
MEMORY = re.compile(r"^.*(?:Terminating due to )?java\.lang\.OutOfMemoryError.*", re.MULTILINE)
MACHINE = re.compile(r"^Error occurred during initialization of VM\s*\n(.*)", re.MULTILINE)
# The launcher's own; the line before "Could not create the Java Virtual Machine" says why.
REFUSED = re.compile(r"^(.*)\nError: Could not create the Java Virtual Machine\.", re.MULTILINE)
# A level of Kafka's log, or at the line's start what the JVM or one of its agents says.
ERROR = re.compile(r"^(?:.* (?:ERROR|FATAL) |ERROR: |Error: )")
# An exception with its message; never a frame of its stack, which begins with blanks and "at".
EXCEPTION = re.compile(
    r'^(?:Exception in thread "[^"]*" |Caused by: )?[a-z][\w$]*(?:\.[\w$]+)+(?:Exception|Error)\b'
)


def last_words(output: str) -> str:
    """Return what a JVM said of its end in its output since it was started; empty if it said nothing."""
    if crash := CRASH.search(output):
        return f"the JVM crashed: {crash[0].lstrip('# ')}"
    if memory := MEMORY.search(output):
        return memory[0].strip()
    if machine := MACHINE.search(output):
        return f"Error occurred during initialization of VM: {machine[1].strip()}"
    if refused := REFUSED.search(output):
        return refused[1].strip()
    return _last_error(output.splitlines())


def _last_error(lines: list[str]) -> str:
    """Return the last error, and the exception that stands under it."""
    found = ""
    for line in lines:
        if EXCEPTION.match(line):
            found = f"{found.partition(' | ')[0]} | {line.strip()}" if found else line.strip()
        elif ERROR.match(line):
            found = line.strip()
    return found.replace(" | ", ": ")
