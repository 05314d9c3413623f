"""What a notebook and its programs agree on."""

import signal

# Ends the program's text in the pipe, which then stays open.
END_OF_TEXT = b"\0"
# The exit code of a program that ended on request, as a shell counts: 128 + SIGTERM.
STOPPED = 128 + signal.SIGTERM
# Stands in the last line of a program that kills itself where its lab wants it to die.
KILLED_HERE = "is killed here"
