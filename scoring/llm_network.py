"""How a model's server is reached: straight, at an address that is looked at when connecting, without following it
elsewhere, within a deadline for all of it and up to a number of bytes.

Only what is needed is sent: the headers are those of a list, so that nothing of this machine or its environment goes
along. Nothing is read from the environment, a proxy neither: an address has to be reached directly to be looked at.
"""

import atexit
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

import httpcore2
import httpx2

from scoring.llm_addresses import Address, Allowed, may_connect

SENT = {"host", "accept", "content-type", "content-length", "authorization", "user-agent"}
KEPT_ALIVE_SECONDS = 30
LONGEST_CONNECT = 10.0
MOST_TRANSPORTS = 64

Why = Literal["not_allowed", "unknown_host", "no_connection", "tls", "timeout", "broken_off", "too_large", "encoded"]


class Unreached(Exception):
    """There is no whole answer; `why` says what of."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why: Why = why


class Call(threading.local):
    """The call that this thread makes: all of it happens in one thread."""

    deadline = 0.0
    most_bytes = 0


CALL = Call()


def begin(seconds: float, most_bytes: int) -> None:
    """From now on this thread's call has so long, and its answer so many bytes."""
    CALL.deadline, CALL.most_bytes = time.monotonic() + seconds, most_bytes


def left(timeout: float | None = None) -> float:
    """How long the next step may take."""
    rest = CALL.deadline - time.monotonic()
    if rest <= 0:
        raise Unreached("timeout")
    return rest if timeout is None else min(rest, timeout)


class Stream(httpcore2.NetworkStream):
    """A connection whose every step ends with the call."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self.inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.inner.read(max_bytes, left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.inner.write(buffer, left())

    def close(self) -> None:
        self.inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            return Stream(self.inner.start_tls(ssl_context, server_hostname, left()))
        except httpcore2.ConnectError as error:
            raise Unreached("tls") from error

    def get_extra_info(self, info: str) -> Any:
        return self.inner.get_extra_info(info)


class Connecting(httpcore2.NetworkBackend):
    """Connects to what the host of the address resolves to, if that may be; a number is connected to, never a name."""

    def __init__(self, address: Address, allowed: Allowed) -> None:
        self.address, self.allowed = address, allowed
        self.tcp = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        found = resolved(self.address.host, self.address.port)
        numbers = [number for number in found if may_connect(self.address, number, self.allowed)]
        if not numbers:
            raise Unreached("not_allowed" if found else "unknown_host")
        for number in numbers:
            try:
                stream = self.tcp.connect_tcp(number, self.address.port, left(LONGEST_CONNECT))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
            return Stream(stream)
        raise Unreached("no_connection")


def resolved(host: str, port: int) -> list[str]:
    """Every number a host has, in the order in which the system would try them."""
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


class Transport(httpx2.BaseTransport):
    """Sends a request and reads the whole answer, in the bounds of the call."""

    def __init__(self, address: Address, allowed: Allowed) -> None:
        self.pool = httpcore2.ConnectionPool(
            ssl_context=tls(),
            max_connections=None,
            keepalive_expiry=KEPT_ALIVE_SECONDS,
            network_backend=Connecting(address, allowed),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = [(name, value) for name, value in request.headers.raw if name.decode().lower() in SENT]
        headers.append((b"Accept-Encoding", b"identity"))
        try:
            sent = self.pool.stream(request.method, str(request.url), headers=headers, content=request.read())
            with sent as response:
                body = whole_body(response)
        except httpcore2.TimeoutException as error:
            raise Unreached("timeout") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise Unreached("broken_off") from error
        return httpx2.Response(response.status, headers=response.headers, content=body, request=request)

    def close(self) -> None:
        self.pool.close()


def whole_body(response: httpcore2.Response) -> bytes:
    """The body, which nobody packed: what unpacks to more than was allowed is not unpacked."""
    encodings = {value.lower() for name, value in response.headers if name.lower() == b"content-encoding"}
    if encodings - {b"identity", b""}:
        raise Unreached("encoded")
    pieces, size = [], 0
    for piece in response.iter_stream():
        size += len(piece)
        if size > CALL.most_bytes:
            raise Unreached("too_large")
        pieces.append(piece)
    return b"".join(pieces)


@lru_cache(maxsize=1)
def tls() -> ssl.SSLContext:
    """The certificates that this system trusts."""
    return ssl.create_default_context()


TRANSPORTS: dict[tuple[Address, Allowed], Transport] = {}
MAKING = threading.Lock()


def client(address: Address, allowed: Allowed) -> httpx2.Client:
    """A client over connections that all threads of this process share and use again."""
    with MAKING:
        if (address, allowed) not in TRANSPORTS:
            if len(TRANSPORTS) >= MOST_TRANSPORTS:
                forget_idle()
            TRANSPORTS[address, allowed] = Transport(address, allowed)
        return httpx2.Client(transport=TRANSPORTS[address, allowed], follow_redirects=False, trust_env=False)


def forget_idle() -> None:
    """Let go of addresses that nobody asks at this moment; who does later connects anew."""
    for known, transport in list(TRANSPORTS.items()):
        if all(connection.is_idle() for connection in transport.pool.connections):
            TRANSPORTS.pop(known).close()


@atexit.register
def hang_up() -> None:
    for transport in TRANSPORTS.values():
        transport.close()
