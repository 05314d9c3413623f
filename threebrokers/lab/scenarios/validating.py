"""The program that a reader takes to work, run here while brokers are broken: for lab 10."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from threebrokers.errors import LabError
from threebrokers.files import write_whole
from threebrokers.lab.lab import Lab
from threebrokers.lab.scenarios.partitions import partition_of
from threebrokers.paths import HANDED_OUT, home, root
from threebrokers.text import last_line
from threebrokers.workspace import keep_beside

PROGRAM = "delivery_ledger.py"
PACKED = Path(__file__).resolve().parents[1] / "take_along" / PROGRAM
# A kernel that is killed ends nobody: then the program ends by itself. Two minutes are enough here.
LONGEST_SECONDS = 900
BEGIN_SECONDS, END_SECONDS, VERIFY_SECONDS = 30.0, 150.0, 150.0


def taken_along() -> Path:
    """Put the program beside the learner's notebooks in work/ (or into the home if nobody has one there).

    What the learner has changed in it is kept beside it.
    """
    folder = root() / HANDED_OUT.parent if (root() / HANDED_OUT).is_file() else home()
    target, content = folder / PROGRAM, PACKED.read_bytes()
    if target.exists() and target.read_bytes() != content:
        keep_beside(target)
    write_whole(target, content)
    return target


@dataclass(frozen=True)
class Verified:
    """What `verify` has printed, its numbers by the words before them, and the code with which it ended."""

    told: str
    code: int

    def __repr__(self) -> str:
        return self.told

    @property
    def counts(self) -> Mapping[str, int]:
        """How many records: "attempted", "acknowledged", "stored", "lost", "twice", "failed", …."""
        lines = [line[:23].rsplit(maxsplit=1) for line in self.told.splitlines()]
        return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}

    @property
    def is_whole(self) -> bool:
        """Whether each record that was attempted is acknowledged, and there once."""
        same = {self.counts.get(name) for name in ("attempted", "acknowledged", "stored")}
        return self.code == 0 and len(same) == 1 and not self.counts.get("failed")


class DeliveryLedger:
    """The program and its ledger, a new one, for a topic of a lab."""

    def __init__(self, lab: Lab, topic: str) -> None:
        self.lab, self.topic, self.program = lab, topic, taken_along()
        if self.program.parent.name == HANDED_OUT.parent.name:
            print(f"The program is in {self.program.parent.name}/{PROGRAM}.")
        self.file = home() / "delivery_ledger.db"
        for end in ("", "-wal", "-shm"):
            self.file.with_name(self.file.name + end).unlink(missing_ok=True)

    @contextmanager
    def sending(self, *settings: str) -> Iterator[None]:
        """Let it send until the `with` ends, with these settings of a producer, each name=value."""
        words = ["send", self.topic, str(self.file), f"bootstrap.servers={self.lab.bootstrap}", *settings]
        print("$ python", PROGRAM, *words[:2], self.file.name, *words[3:])
        command = [*self._command, *words, "--seconds", str(LONGEST_SECONDS)]
        # The client tells a lot on stderr while brokers are away: a pipe that nobody reads would fill.
        with (
            self.file.with_suffix(".log").open("w+") as log,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as sends,
        ):
            try:
                self.lab.wait_until(
                    lambda: sends.poll() is not None or partition_of(self.lab, self.topic).high_watermark,
                    what="the first record of the program",
                    within=BEGIN_SECONDS,
                )
                if sends.poll() is None:
                    yield
                sends.send_signal(signal.SIGINT)  # harmless if it has ended
                told, _ = sends.communicate(timeout=END_SECONDS)
            finally:
                sends.kill()
            log.seek(0)
            if sends.returncode:
                raise LabError(f"The program failed: {last_line(log.read())}", "run the cell again")
        print(last_line(told).replace(str(self.file), self.file.name))

    def verify(self) -> Verified:
        """Compare the topic with the ledger."""
        words = ["verify", str(self.file), f"bootstrap.servers={self.lab.bootstrap}"]
        print("$ python", PROGRAM, words[0], self.file.name, words[2])
        done = subprocess.run(
            [*self._command, *words], capture_output=True, text=True, timeout=VERIFY_SECONDS, check=False
        )
        if not done.stdout:
            raise LabError(f"The program failed: {last_line(done.stderr)}", "run the cell again")
        return Verified(done.stdout.rstrip(), done.returncode)

    @property
    def _command(self) -> list[str]:
        return [sys.executable, str(self.program)]
