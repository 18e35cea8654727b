"""A net that finds tokens in what was sent, whole or by any eight letters, however they are dressed."""

import base64
import binascii
import contextlib
import gzip
import hashlib
import html
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from tests.guards.canary import Token

PIECE = 8
DIGEST = 16  # so much of a digest is enough; of crc32 there are only eight hex digits
WORDS = re.compile(r"[a-z]{8,}")
HEX = re.compile(r"[0-9A-Fa-f]{8,}")
BASE64 = re.compile(r"[A-Za-z0-9+/_-]{11,}={0,2}")
CRC_IN_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6}==")
ESCAPE = re.compile(r"\\+(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,6})\})")


@dataclass(frozen=True)
class Catch:
    token: Token
    how: str


class Net:
    def __init__(self, tokens):
        self.pieces: dict[str, Catch] = {}
        self.digests: dict[str, Catch] = {}
        self.words: dict[str, list[Catch]] = {}
        self.known: dict[bytes, list[Catch]] = {}
        for token in tokens:
            for text, how in ((token.text, "as it is"), (token.text[::-1], "reversed")):
                for place in range(len(text) - PIECE + 1):
                    self.pieces[text[place : place + PIECE]] = Catch(token, how)
            for digest, how in digests_of(token.text.encode()):
                self.digests[digest] = Catch(token, how)

    def catch(self, body: bytes) -> list[Catch]:
        if body not in self.known:
            found = {catch: None for text in undressed(unpacked(body)) for catch in self.in_text(text)}
            self.known[body] = list(found)
        return self.known[body]

    def in_text(self, text: str) -> Iterator[Catch]:
        for word in set(WORDS.findall(text.lower())):
            if word not in self.words:
                self.words[word] = list(windows(word, PIECE, self.pieces))
            yield from self.words[word]
        for run in HEX.findall(text):
            yield from windows(run.lower(), DIGEST, self.digests)
            yield from windows(run.lower(), 8, self.digests)
        for run in BASE64.findall(text):
            yield from windows(run.replace("-", "+").replace("_", "/"), DIGEST, self.digests)
        for run in CRC_IN_BASE64.findall(text):
            yield from windows(run.replace("-", "+").replace("_", "/"), 8, self.digests)


def windows(run, length, known):
    places = range(len(run) - length + 1)
    return (known[run[place : place + length]] for place in places if run[place : place + length] in known)


def digests_of(data: bytes) -> Iterator[tuple[str, str]]:
    """The beginning of each digest, in hex and in base64; a hash of a secret with few values is the secret."""
    for name in ("md5", "sha1", "sha256"):
        digest = hashlib.new(name, data).digest()
        yield digest.hex()[:DIGEST], name
        yield base64.b64encode(digest).decode()[:DIGEST], f"{name} in base64"
    for order in ("big", "little"):
        digest = zlib.crc32(data).to_bytes(4, order)
        yield digest.hex(), "crc32"
        yield base64.b64encode(digest).decode(), "crc32 in base64"


def unpacked(body: bytes) -> str:
    """As text, from whatever it is packed in; of a zip the names and all that is in it. Brotli needs no undoing: an
    answer that says it is encoded is an alarm of its own."""
    with contextlib.suppress(OSError, EOFError, zlib.error, zipfile.BadZipFile):
        if body.startswith(b"\x1f\x8b"):
            body = gzip.decompress(body)
        elif body.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(body)) as file:
                body = b"\n".join(part for name in file.namelist() for part in (name.encode(), file.read(name)))
        elif body.startswith(b"\x78"):
            body = zlib.decompress(body)
    return body.decode("utf-8", "replace")


def undressed(text: str, depth: int = 2) -> Iterator[str]:
    """A text, and what it is without percent, HTML and JSON escapes, and the texts hidden in it as base64 or hex at any
    alignment; these again, as deep as one would go for fun."""
    plain = without_escapes(text)
    yield text
    if plain != text:
        yield plain
    if depth:
        for hidden in {*decoded(text), *decoded(plain)}:
            yield from undressed(hidden, depth - 1)


def without_escapes(text: str) -> str:
    for _ in range(2):
        text = unquote(text) if "%" in text else text
        text = html.unescape(text) if "&" in text else text
        text = ESCAPE.sub(lambda match: chr(min(int(match[1] or match[2] or match[3], 16), 0x10FFFF)), text)
    return text


def decoded(text: str) -> Iterator[str]:
    for run in BASE64.findall(text):
        letters = run.rstrip("=").replace("-", "+").replace("_", "/")
        for start in range(4):
            piece = letters[start:]
            whole = piece[: len(piece) - (len(piece) % 4 == 1)]
            yield binascii.a2b_base64(whole + "=" * (-len(whole) % 4)).decode("latin-1")
    for run in HEX.findall(text):
        if len(run) >= 2 * PIECE:
            for start in (0, 1):
                yield bytes.fromhex(run[start : len(run) - (len(run) - start) % 2]).decode("latin-1")
