"""Keys of endpoints: encrypted where they are stored, and read for the one call that needs them.

A stored key is sealed by the server's secret key with a salt of its own. A key of the environment belongs to the
operator, who may say to which hosts it is sent: NAME_HOSTS beside NAME.
"""

import base64
import os
import secrets

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from scoring.models import Endpoint

PURPOSE = b"sightline endpoint key"
LONGEST_KEY = 2000
SHORTEST_MASKED = 6
MASK = "•••"


class KeyMissing(Exception):
    """The key that an endpoint is set to use is not there, or may not be sent there; `why` says which."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def seal(key: str) -> str:
    salt = secrets.token_bytes(16)
    return f"{base64.urlsafe_b64encode(salt).decode()}.{lock(salt).encrypt(key.encode()).decode()}"


def unseal(sealed: str) -> str:
    """KeyMissing where it was sealed by another secret key, or is damaged."""
    try:
        salt, token = sealed.split(".", 1)
        return lock(base64.urlsafe_b64decode(salt)).decrypt(token.encode()).decode()
    except (ValueError, InvalidToken) as error:
        raise KeyMissing("unreadable") from error


def lock(salt: bytes) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=salt, info=PURPOSE).derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(derived))


def key_of(endpoint: Endpoint, host: str) -> str:
    """The key to send to this host; empty where the endpoint has none."""
    if endpoint.key_source == Endpoint.KeySource.STORED:
        return unseal(endpoint.key_sealed)
    if endpoint.key_source == Endpoint.KeySource.ENVIRONMENT:
        return key_of_environment(endpoint.key_variable, host)
    return ""


def key_of_environment(variable: str, host: str) -> str:
    key = os.environ.get(variable, "").strip()
    hosts = {word.strip().lower() for word in os.environ.get(f"{variable}_HOSTS", "").split(",") if word.strip()}
    if not key:
        raise KeyMissing("not_set")
    if not is_fit(key):
        raise KeyMissing("unfit")
    if hosts and host not in hosts:
        raise KeyMissing("other_host")
    return key


def is_fit(key: str) -> bool:
    """Whether it can be sent: visible ASCII, of a length that keys have."""
    return 0 < len(key) <= LONGEST_KEY and all("!" <= letter <= "~" for letter in key)


def is_set(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())


def masked(text: str, key: str) -> str:
    """A text of a server without the key, nor any piece of it: servers like to quote what they were sent."""
    said, place = [], 0
    while place < len(text):
        length = longest_piece(text, place, key)
        said.append(MASK if length else text[place])
        place += length or 1
    return "".join(said)


def longest_piece(text: str, place: int, key: str) -> int:
    """How much of the text from here on is a piece of the key; 0 for less than SHORTEST_MASKED."""
    length = SHORTEST_MASKED
    if text[place : place + length] not in key or place + length > len(text):
        return 0
    while place + length < len(text) and text[place : place + length + 1] in key:
        length += 1
    return length
