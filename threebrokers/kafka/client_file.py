"""The file that says how to get into a cluster: client properties, as librdkafka or Java has them."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from threebrokers.errors import LabError
from threebrokers.paths import expanded
from threebrokers.text import listed

# Who asks for a cluster's brokers checks only these ways in: the course's own poller speaks them too.
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PREFIX = "threebrokers.prefix"
FILES = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")
KNOWN = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.username",
    "sasl.password",
    *FILES,
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    PREFIX,
)
# Java's or an older name, and the one under which it is kept.
SAME = {"sasl.mechanisms": "sasl.mechanism", "ssl.truststore.location": "ssl.ca.location"}
JAVA_ONLY = ("sasl.jaas.config", "ssl.truststore.type")
JAAS = re.compile(r'(username|password)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))')


def read(path: Path) -> dict[str, str]:
    """Return the settings of a file, by librdkafka's names. A path in it is as seen from its folder.

    Raises LabError with the number of the line that is wrong; no value is repeated in it.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as fault:
        raise LabError(
            f"The file {path} of THREEBROKERS_CLIENT cannot be read ({fault.strerror})",
            "name the file of client properties that you were given",
        ) from fault
    except UnicodeError as fault:
        raise LabError(
            f"The file {path} of THREEBROKERS_CLIENT is no text in UTF-8", "name a file of client properties"
        ) from fault
    found: dict[str, str] = {}
    for number, name, value in _lines(path, text):
        if name == "sasl.jaas.config":
            found |= _from_jaas(path, number, value)
        elif name == "ssl.truststore.type":
            if value.upper() != "PEM":
                raise _wrong(path, number, "only certificates in PEM files are read, not Java's own stores")
        else:
            found[SAME.get(name, name)] = _checked(path, number, SAME.get(name, name), value)
    _expect_whole(path, found)
    return found


def _lines(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield number, name and value of each setting; a line may go on after a backslash."""
    whole, began = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        part = line.strip()
        began = began if whole else number
        if not whole and (not part or part[0] in "#!"):
            continue
        if part.endswith("\\") and not part.endswith("\\\\"):
            whole += part[:-1]
            continue
        name, sign, value = (whole + part).partition("=")
        whole, name = "", name.strip()
        if not sign or not name:
            raise _wrong(path, began, "a setting is written as name=value")
        if name == "bootstrap.servers":
            raise _wrong(path, began, "the addresses belong into THREEBROKERS_BOOTSTRAP")
        if name not in (*KNOWN, *SAME, *JAVA_ONLY):
            raise _wrong(path, began, f"'{name}' is not among what is read here: {listed(KNOWN)}")
        yield began, name, value.strip()
    if whole:
        raise _wrong(path, began, "it ends with a backslash, and nothing follows")


def _checked(path: Path, number: int, name: str, value: str) -> str:
    choices = {
        "security.protocol": PROTOCOLS,
        "sasl.mechanism": MECHANISMS,
        "ssl.endpoint.identification.algorithm": ("https", "none", ""),
    }.get(name)
    if choices is not None:
        fitting = [choice for choice in choices if choice.lower() == value.lower()]
        if not fitting:
            words = listed([choice for choice in choices if choice])
            raise _wrong(path, number, f"'{name}' is one of {words} in this course")
        return fitting[0] or "none"  # Java says with an empty value what librdkafka calls "none"
    if not value:
        raise _wrong(path, number, f"'{name}' has no value")
    if name in FILES:
        place = path.parent / expanded(value)
        if not place.is_file():
            raise _wrong(path, number, f"the file that '{name}' names is not there")
        return str(place.absolute())
    return value


def _from_jaas(path: Path, number: int, value: str) -> dict[str, str]:
    """Return user and password of a line for Java's login module."""
    told = {
        match[1]: re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else match[3]
        for match in JAAS.finditer(value)
    }
    if set(told) != {"username", "password"}:
        raise _wrong(path, number, '\'sasl.jaas.config\' should hold username="…" and password="…"')
    return {f"sasl.{name}": word for name, word in told.items()}


def _expect_whole(path: Path, found: Mapping[str, str]) -> None:
    """Raise LabError for settings that do not fit together."""
    protocol = found.get("security.protocol", "PLAINTEXT")
    needed = ["sasl.mechanism", "sasl.username", "sasl.password"] if protocol.startswith("SASL") else []
    if missing := [name for name in needed if name not in found]:
        raise LabError(
            f"The file {path} lacks {listed(missing)}, which {protocol} needs",
            "add it, or ask who gave you the file",
        )
    for kind, wanted in (("sasl.", "SASL_PLAINTEXT or SASL_SSL"), ("ssl.", "SSL or SASL_SSL")):
        given = [name for name in found if name.startswith(kind)]
        if given and kind[:-1].upper() not in protocol:
            raise LabError(
                f"The file {path} has {given[0]}, which {protocol} does not use",
                f"set security.protocol to {wanted}",
            )
    if ("ssl.key.location" in found) != ("ssl.certificate.location" in found):
        raise LabError(
            f"The file {path} has only one of ssl.certificate.location and ssl.key.location", "give both"
        )


def _wrong(path: Path, number: int, why: str) -> LabError:
    return LabError(f"Line {number} of {path} cannot be used ({why})", "mend that line")
