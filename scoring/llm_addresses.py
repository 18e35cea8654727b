"""Which addresses a model may be asked at: public ones over https, others only where the operator named host and port.

Pure. What a name resolves to is looked at when connecting (`llm_network.py`), so that a name that means another machine
by then opens nothing; and a number that is another number written oddly is what it resolves to, however it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from annotate.traces.base import Problem, gettext_noop

LONGEST_ADDRESS = 300
PORTS = {"http": 80, "https": 443}
NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
NUMBERED = re.compile(r"[0-9]+|0x[0-9a-f]*")
PLAIN = re.compile(r"[!-~]+")
TRANSLATED = IPv6Network("64:ff9b::/96")
"""IPv4 addresses behind a translator: as public or private as the address inside."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address in parts; `host` in lower case and without brackets."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        """Host and port, as the setting LLM_ALLOWED_HOSTS names them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.place}{self.path}"


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the operator opened beside public addresses."""

    places: frozenset[str] = frozenset()
    loopback: bool = False


def read_address(text: str) -> Address | Problem:
    """The address in parts, or what is wrong with it."""
    try:
        parts = urlsplit(text.strip())
        port, host = parts.port, (parts.hostname or "").lower()
    except ValueError:
        return BAD_ADDRESS
    is_plain = is_host(host) and len(text) <= LONGEST_ADDRESS and PLAIN.fullmatch(text.strip())
    has_more = parts.username is not None or parts.password is not None or "?" in text or "#" in text
    if parts.scheme not in PORTS or not is_plain or has_more or port == 0:
        return BAD_ADDRESS
    return Address(parts.scheme, host, port or PORTS[parts.scheme], parts.path.rstrip("/"))


def is_host(text: str) -> bool:
    """A name, or a number written as numbers are: other ways to write one are only known from tricks."""
    if NAME.fullmatch(text) and not NUMBERED.fullmatch(text.rsplit(".", 1)[-1]):
        return True
    try:
        return bool(ip_address(text)) and "%" not in text
    except ValueError:
        return False


def refused_scheme(address: Address, allowed: Allowed) -> Problem | None:
    """What can be said before connecting: plain http goes to no public place, so to none that nobody named."""
    if address.scheme == "https" or address.place in allowed.places:
        return None
    if allowed.loopback and names_loopback(address.host):
        return None
    return not_allowed(address)


def names_loopback(host: str) -> bool:
    """Whether this is a usual name of the same machine; what it resolves to is looked at all the same."""
    if host == "localhost":
        return True
    try:
        return inner(ip_address(host)).is_loopback
    except ValueError:
        return False


def may_connect(address: Address, resolved: str, allowed: Allowed) -> bool:
    """Whether the address may be asked at what its host resolved to."""
    found = inner(ip_address(resolved.split("%", 1)[0]))
    if found.is_global and not found.is_multicast:
        return address.scheme == "https"
    return address.place in allowed.places or (allowed.loopback and found.is_loopback)


def inner(found: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, where it is one of those."""
    if isinstance(found, IPv4Address):
        return found
    if found in TRANSLATED:
        return IPv4Address(int(found) & 0xFFFFFFFF)
    return found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else found)


BAD_ADDRESS = Problem(
    code="bad_address",
    field="address",
    expected=gettext_noop("The address of a server, such as https://host.example/v1, of at most %(most)s characters."),
    remedy=gettext_noop(
        "Write it without a name, password, query or fragment; a host with other letters in its xn-- form."
    ),
    params={"most": LONGEST_ADDRESS},
)


def not_allowed(address: Address) -> Problem:
    return Problem(
        code="address_not_allowed",
        field="address",
        expected=gettext_noop("A public server over https, or a host and port that this server's operator opened."),
        remedy=gettext_noop("Use https, or have the operator add %(place)s to LLM_ALLOWED_HOSTS and start again."),
        params={"place": address.place},
    )
