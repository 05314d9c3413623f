"""The secret of a home's Spark cluster, without which no program, worker or session of others is let in.

On a machine with several users the ports are everybody's, and whoever submits a program to Spark runs it as
the user who started Spark.
"""

import re
import secrets
import socket
import struct
from contextlib import suppress
from pathlib import Path

import psutil

from threebrokers.cluster.process import Identity, environment_of
from threebrokers.files import faults_told, write_whole

FILE = "spark.secret"
# Spark reads it from the environment, which other users cannot see as they can a command line.
SECRET, TOKEN = "_SPARK_AUTH_SECRET", "SPARK_CONNECT_AUTHENTICATE_TOKEN"
SETTINGS = {
    "spark.authenticate": "true",
    # A driver insists on one; what stands in the environment goes before it. So no list of settings that a
    # program prints, and no page of Spark, has the secret.
    "spark.authenticate.secret": "in-the-environment",
}
FLAGS = [f"-D{name}={value}" for name, value in SETTINGS.items()]
ANSWER_SECONDS = 3.0
# A call of Spark's (length, kind 3, number, length of the body) with nothing in it that could be read.
EMPTY_CALL = struct.pack(">qbqi", 22, 3, 1, 1) + b"\0"


def kept(home: Path) -> str | None:
    """Return the secret of this home; None if it has none, or the file is damaged."""
    with suppress(OSError):
        found = re.fullmatch(rb"[0-9a-f]{64}", (home / FILE).read_bytes())
        return found[0].decode() if found else None
    return None


def made(home: Path) -> str:
    """Return the secret of this home; make it if there is none. Raises LabError."""
    if (known := kept(home)) is not None:
        return known
    new = secrets.token_hex()
    with faults_told(home):
        write_whole(home / FILE, new.encode(), 0o600)
    return new


def variables(secret: str) -> dict[str, str]:
    """Return what a process of Spark reads it from; drivers and executors need the first one only."""
    return {SECRET: secret, TOKEN: secret}


def is_known_to(identity: Identity, secret: str) -> bool:
    """Tell whether a process of this user was started with this secret."""
    running = identity.process()
    with suppress(psutil.Error):
        return running is not None and environment_of(running).get(SECRET) == secret
    return False


def is_asked(address: str) -> bool:
    """Tell whether the Spark at `host:port` lets in only who knows a secret.

    Spark itself would ask it for a minute, and name no reason.
    """
    host, _, port = address.rpartition(":")
    said = b""
    with (
        suppress(OSError, ValueError, OverflowError),
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS) as line,
    ):
        line.sendall(EMPTY_CALL)
        said = line.recv(1_000)
    return b"sasl" in said.lower()
