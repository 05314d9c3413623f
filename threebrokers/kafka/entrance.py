"""Into a cluster that asks who comes: a connection with TLS and SASL, and in words why there is none."""

import socket
import ssl
import struct
import time
from collections.abc import Callable
from typing import Any

from kafka.net.sasl import get_sasl_mechanism
from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from threebrokers.errors import LabError
from threebrokers.kafka.access import Access

CLIENT_ID = "threebrokers-watch"
ENTER_SECONDS = 8.0
MOST_BYTES = 1 << 20  # of an answer; what another protocol says would be taken for a very long one
# What OpenSSL calls a certificate that was made for another host name, or another address.
OTHER_NAME = (62, 64)
OWNER = "ask who gave you the file"


class NoEntranceError(LabError):
    """A broker of a cluster that is not the learner's was not reached, or did not let the client in."""


def connected(address: str, access: Access, within: float) -> socket.socket:
    """Return a connection to one broker on which it may be asked. Takes at most so many seconds.

    Raises NoEntranceError, with the cause and the next step in one sentence.
    """
    end = time.monotonic() + within
    try:
        made = _reached(address, within)
    except (OSError, UnicodeError) as fault:
        raise NoEntranceError(
            f"Nobody answers at {address} ({_words(fault)})",
            "look at THREEBROKERS_BOOTSTRAP and at your network, or ask who runs that cluster",
        ) from fault
    try:
        if access.protocol.endswith("SSL"):
            made = _encrypted(made, address, access)
        if access.protocol.startswith("SASL"):
            _log_in(made, address, access, end)
    except BaseException:
        made.close()
        raise
    made.setblocking(False)
    return made


def _reached(address: str, within: float) -> socket.socket:
    host, _, port = address.rpartition(":")
    made = socket.create_connection((host.strip("[]"), int(port)), timeout=within)
    made.settimeout(within)
    return made


def _encrypted(plain: socket.socket, address: str, access: Access) -> ssl.SSLSocket:
    host = address.rpartition(":")[0].strip("[]")
    try:
        return _context(access).wrap_socket(plain, server_hostname=host)
    except ssl.SSLCertVerificationError as fault:
        place = "ssl.ca.location in the file of THREEBROKERS_CLIENT"
        if fault.verify_code in OTHER_NAME:
            place = "the names in THREEBROKERS_BOOTSTRAP"
        raise NoEntranceError(
            f"The certificate of {address} is not accepted ({fault.verify_message.rstrip('.')})",
            f"look at {place}, or {OWNER}",
        ) from fault
    except (OSError, ValueError) as fault:
        raise NoEntranceError(
            f"{address} does not speak TLS with you ({_words(fault)})",
            f"look at security.protocol and at the certificates of the file, or {OWNER}",
        ) from fault


def _context(access: Access) -> ssl.SSLContext:
    found = access.settings
    context = ssl.create_default_context(cafile=found.get("ssl.ca.location"))
    # Certificates of one's own authority often lack what Python asks for since 3.13, and librdkafka does not.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    context.check_hostname = found.get("ssl.endpoint.identification.algorithm") != "none"
    if key := found.get("ssl.key.location"):
        # Without a password of its own OpenSSL would ask for one at the terminal.
        password = found.get("ssl.key.password", "")
        context.load_cert_chain(found["ssl.certificate.location"], key, password)
    return context


def _log_in(made: socket.socket, address: str, access: Access, end: float) -> None:
    found = access.settings
    name, user = found["sasl.mechanism"], found["sasl.username"]
    if name != "PLAIN":
        user = user.replace("=", "=3D").replace(",", "=2C")  # RFC 5802
    mechanism = get_sasl_mechanism(name)(
        sasl_plain_username=user, sasl_plain_password=found["sasl.password"], sasl_mechanism=name
    )
    try:
        offered = _asked(made, SaslHandshakeRequest(mechanism=name), SaslHandshakeResponse, 1, end)
        if offered.error_code:
            raise NoEntranceError(
                f"{address} does not offer sasl.mechanism={name}: it has {', '.join(offered.mechanisms)}",
                f"mend that setting in the file of THREEBROKERS_CLIENT, or {OWNER}",
            )
        while not mechanism.is_done():
            message = SaslAuthenticateRequest(auth_bytes=mechanism.auth_bytes())
            told = _asked(made, message, SaslAuthenticateResponse, 1, end)
            if told.error_code:
                raise _refused(address)
            mechanism.receive(bytes(told.auth_bytes))
        if not mechanism.is_authenticated():
            raise _refused(address)
    except (OSError, EOFError) as fault:
        raise NoEntranceError(
            f"{address} ended the talk before you were logged in ({_words(fault)})",
            f"look at security.protocol ({access.protocol}) in the file of THREEBROKERS_CLIENT, or {OWNER}",
        ) from fault
    except (
        ValueError,
        KeyError,
        IndexError,
    ) as fault:  # it does not know the password either, or speaks otherwise
        raise _refused(address) from fault


def _refused(address: str) -> NoEntranceError:
    return NoEntranceError(
        f"{address} does not accept this user and password",
        f"look at sasl.username and sasl.password in the file of THREEBROKERS_CLIENT, or {OWNER}",
    )


def _asked(made: socket.socket, message: Any, response: Any, version: int, end: float) -> Any:
    """Return a broker's answer. Raises OSError or EOFError if there is none in time."""
    message.API_VERSION = version
    message.with_header(correlation_id=0, client_id=CLIENT_ID)
    made.sendall(bytes(message.encode(version=version, header=True, framed=True)))
    (size,) = struct.unpack(">i", _received(made, 4, end))
    if not 0 < size < MOST_BYTES:
        raise EOFError("its answer is not Kafka's")
    return response.decode(_received(made, size, end), version=version, header=True)


def _received(made: socket.socket, count: int, end: float) -> bytes:
    found = bytearray()
    while len(found) < count:
        made.settimeout(max(0.01, end - time.monotonic()))
        part = made.recv(count - len(found))
        if not part:
            raise EOFError("it closed the connection")
        found += part
    return bytes(found)


def _words(fault: BaseException) -> str:
    told = getattr(fault, "reason", None) or getattr(fault, "strerror", None) or str(fault)
    return str(told).rstrip(".") or type(fault).__name__


def connector(access: Access) -> Callable[[str], socket.socket]:
    """Return what connects to an address of this cluster, in at most 8 s."""
    return lambda address: connected(address, access, ENTER_SECONDS)
