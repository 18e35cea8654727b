"""The net finds a token however it is dressed, and nothing where there is none."""

import base64
import gzip
import hashlib
import html
import io
import json
import zipfile
import zlib
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from tests.guards import canary
from tests.guards.net import Net

SECRET = canary.Token("qwzjxkvbnmplgfds", "S1", "Trace.source_id", SimpleNamespace(pk=1), canary.nobody)
OTHER = canary.Token("yhtbvgfrcdxeszaq", "S1", "Trace.source_id", SimpleNamespace(pk=2), canary.nobody)
NET = Net([SECRET, OTHER])
TEXT = SECRET.text


def in_base64(before, text=TEXT):
    return base64.b64encode(f"{before}{text} and more".encode()).decode()


DRESSED = {
    "as it is": TEXT,
    "other case": TEXT.upper(),
    "reversed": TEXT[::-1],
    "eight letters of it": f"model-{TEXT[5:13]}-4",
    "in a longer word": f"the{TEXT}model",
    "percent": "".join(f"%{ord(letter):02x}" for letter in TEXT),
    "percent twice": quote("".join(f"%{ord(letter):02X}" for letter in TEXT)),
    "HTML entities": "".join(f"&#{ord(letter)};" for letter in TEXT),
    "HTML entities in hex": "".join(f"&#x{ord(letter):x};" for letter in TEXT),
    "JSON escapes": json.dumps("".join(f"\\u{ord(letter):04x}" for letter in TEXT)),
    "script escapes": "".join(f"\\x{ord(letter):02x}" for letter in TEXT),
    **{f"base64 after {n}": in_base64("x" * n) for n in range(4)},
    "base64 for addresses": base64.urlsafe_b64encode(f"??>>{TEXT}".encode()).decode().rstrip("="),
    "base64 in base64": base64.b64encode(in_base64("").encode()).decode(),
    "base64 of eight letters": base64.b64encode(f"a{TEXT[2:10]}b".encode()).decode(),
    "base64 with its padding escaped": quote(html.escape(base64.b64encode(TEXT.encode()).decode())),
    "hex": TEXT.encode().hex(),
    "eight letters in hex": TEXT[3:11].encode().hex(),
    "reversed in base64": base64.b64encode(TEXT[::-1].encode()).decode(),
    "reversed in capitals": TEXT[::-1].upper(),
    "capitals in base64": base64.b64encode(TEXT.upper().encode()).decode(),
    "percent in base64": base64.b64encode("".join(f"%{ord(letter):02x}" for letter in TEXT).encode()).decode(),
    "base64 in hex": base64.b64encode(TEXT.encode()).hex(),
    **{f"base64 of eight letters after {n}": base64.b64encode(b"x" * n + TEXT[3:11].encode()).decode() for n in (1, 2)},
    "a digest in capitals": hashlib.sha256(TEXT.encode()).hexdigest().upper(),
    "hex off by one": f"a{TEXT.encode().hex().upper()}",
    **{f"{name} in hex": hashlib.new(name, TEXT.encode()).hexdigest() for name in ("md5", "sha1", "sha256")},
    **{
        f"{name} in base64": base64.urlsafe_b64encode(hashlib.new(name, TEXT.encode()).digest()).decode()
        for name in ("md5", "sha1", "sha256")
    },
    "beginning of a digest": hashlib.sha256(TEXT.encode()).hexdigest()[:16],
    "crc32 in hex": f'ETag: W/"{zlib.crc32(TEXT.encode()):08x}"',
    "crc32 in base64": base64.b64encode(zlib.crc32(TEXT.encode()).to_bytes(4, "big")).decode(),
}


@pytest.mark.parametrize("dress", DRESSED)
def test_a_token_is_found_in_every_dress(dress):
    body = (
        f'<p data-x="{DRESSED[dress]}">twelve harmless words, a_key=Zm9vYmFyYmF6cXV4 and 0123456789abcdef</p>'.encode()
    )
    for packed in (body, gzip.compress(body), zlib.compress(body), zipped("x.csv", body)):
        assert {catch.token for catch in NET.catch(packed)} == {SECRET}


def zipped(name, body):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packing:
        packing.writestr(name, body)
    return file.getvalue()


def test_a_token_in_the_name_of_a_packed_file_is_found():
    assert {catch.token for catch in NET.catch(zipped(f"{TEXT}.csv", b"a,b"))} == {SECRET}


def test_what_only_looks_packed_is_searched_as_it_is():
    for beginning in (b"\x1f\x8b", b"PK\x03\x04", b"\x78"):
        assert {catch.token for catch in NET.catch(beginning + TEXT.encode())} == {SECRET}


def test_a_body_without_tokens_is_clean():
    body = f"<p>Seven letters of it: {TEXT[:7]}. {in_base64('', 'something else')} {'0' * 64} &amp; %41 \\u0041</p>"
    assert NET.catch(body.encode()) == []


def test_every_field_is_classified():
    assert canary.unclassified() == [], "say in tests/guards/canary.py who may see these fields (PLANTS)"


def test_a_new_field_has_to_be_classified(monkeypatch):
    monkeypatch.delitem(canary.PLANTS, "Trace.area")
    monkeypatch.setitem(canary.PLANTS, "Trace.gone", canary.PLANTS["Trace.cluster"])
    assert canary.unclassified() == ["Trace.area", "Trace.gone"]
