"""How to get into a cluster that is not the learner's: addresses, the client's settings, the own prefix."""

import getpass
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from threebrokers.errors import LabError
from threebrokers.kafka import client_file
from threebrokers.paths import expanded

BOOTSTRAP, CLIENT, PREFIX = "THREEBROKERS_BOOTSTRAP", "THREEBROKERS_CLIENT", "THREEBROKERS_PREFIX"
# On images for many people everybody has one of these names.
ANYBODY = {"codespace", "gitpod", "jovyan", "root", "runner", "student", "ubuntu", "user", "vscode"}
ADDRESS = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:]+\]):([0-9]{1,5})")
LONGEST = 39
OWN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,38}[._-]")


@dataclass(frozen=True)
class Access:
    """The addresses of a cluster, what a client needs beside them, and how the learner's names begin.

    `settings` are those of librdkafka. They hold the password, so nothing prints them.
    """

    bootstrap: str
    prefix: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def protocol(self) -> str:
        """SSL, SASL_SSL, SASL_PLAINTEXT or PLAINTEXT."""
        return self.settings.get("security.protocol", "PLAINTEXT")

    def java(self) -> dict[str, str]:
        """Return the settings as Java's clients have them: Kafka's tools, and Spark."""
        found = dict(self.settings)
        told: dict[str, str] = {}
        for name in ("security.protocol", "sasl.mechanism"):
            if name in found:
                told[name] = found[name]
        if "sasl.username" in found:
            kind = "plain.Plain" if found["sasl.mechanism"] == "PLAIN" else "scram.Scram"
            user, password = _quoted(found["sasl.username"]), _quoted(found["sasl.password"])
            login = f"org.apache.kafka.common.security.{kind}LoginModule required"
            told["sasl.jaas.config"] = f"{login} username={user} password={password};"
        if "ssl.ca.location" in found:
            told |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": found["ssl.ca.location"]}
        if "ssl.key.location" in found:
            told |= {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.key": _pem(found["ssl.key.location"]),
                "ssl.keystore.certificate.chain": _pem(found["ssl.certificate.location"]),
            }
        if "ssl.key.password" in found:
            told["ssl.key.password"] = found["ssl.key.password"]
        if found.get("ssl.endpoint.identification.algorithm") == "none":
            told["ssl.endpoint.identification.algorithm"] = ""
        return told


def chosen() -> Access | None:
    """Return the cluster that THREEBROKERS_BOOTSTRAP names; None if brokers of one's own are meant.

    Raises LabError, in one sentence, for an address, a file or a prefix that cannot be used.
    """
    addresses = os.environ.get(BOOTSTRAP, "").strip()
    if not addresses:
        return None
    file = os.environ.get(CLIENT, "")
    path = expanded(file).absolute() if file else None
    return _read(addresses, path, _changed(path), os.environ.get(PREFIX, ""))


def settings_for(bootstrap: str) -> Mapping[str, str]:
    """Return what a client of these addresses needs beside them; nothing for brokers of one's own."""
    access = chosen()
    return access.settings if access and reaches(access, bootstrap) else {}


def reaches(access: Access, bootstrap: str) -> bool:
    """Tell whether these addresses are those of the cluster, or some of them."""
    return set(bootstrap.replace(" ", "").split(",")) <= set(access.bootstrap.split(","))


def prefixed(name: str) -> str:
    """Return a name of the course's own for a group: on a shared cluster it begins as all others do."""
    access = chosen()
    return f"{access.prefix}{name}" if access else name


@lru_cache(maxsize=4)
def _read(addresses: str, path: Path | None, changed: object, prefix: str) -> Access:
    bootstrap = ",".join(_address(one.strip()) for one in addresses.split(",") if one.strip())
    found = client_file.read(path) if path else {}
    of_file = found.pop(client_file.PREFIX, "")
    return Access(bootstrap, _prefix(prefix or of_file, found.get("sasl.username", "")), found)


def _address(told: str) -> str:
    match = ADDRESS.fullmatch(told)
    if not match or not 0 < int(match[1]) < 65536:
        raise LabError(
            f"{BOOTSTRAP} holds {told[:60]!r}, which is no address",
            "give host:port, several with commas between them",
        )
    return told


def _prefix(given: str, user: str) -> str:
    """Return how the learner's names begin: as is told, else with the cluster's or the machine's user."""
    cure = f"set {PREFIX} to one such as anna-, which is yours alone"
    if given:
        if not OWN.fullmatch(given):
            raise LabError(
                f"The prefix {given[:60]!r} cannot be used: it has up to 40 letters, digits, '.', '_' and "
                "'-', and ends with one of these three signs",
                cure,
            )
        return given
    name = (user or machine_user()).lower()
    if re.search(r"[^a-z0-9]", name):
        # anna- would begin anna-maria-, and without the signs two users could have one prefix.
        raise LabError(
            f"The user's name {name[:60]!r} has other signs than letters and digits, so it makes no prefix",
            cure,
        )
    if not name or name in ANYBODY or len(name) > LONGEST:
        raise LabError("Nobody says how your names begin on this cluster, which others use too", cure)
    return f"{name}-"


def machine_user() -> str:
    """Return the name that the machine has for who works here; nothing if it knows none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may know no name
        return ""


def _changed(path: Path | None) -> object:
    try:
        return path and path.stat().st_mtime_ns
    except OSError:
        return None


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _pem(path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeError) as fault:
        raise LabError(f"The file {path} cannot be read", "look at its rights and its content") from fault
