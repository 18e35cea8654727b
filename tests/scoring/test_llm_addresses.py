"""Models are asked at public servers over https, elsewhere only where the operator says so, and nowhere by a trick."""

import datetime
import socket
import ssl
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from annotate.traces.base import Problem
from scoring import llm, llm_network
from scoring.llm import ProviderError, Request
from scoring.llm_addresses import Address, Allowed, may_connect, read_address, refused_scheme
from scoring.models import Endpoint
from tests import judge_server as judge
from tests.judge_server import JudgeServer

QUESTION = Request(messages=({"role": "user", "content": "Ready?"},), model="small")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://api.example/v1", Address("https", "api.example", 443, "/v1")),
        (" https://API.Example:8443/v1/ ", Address("https", "api.example", 8443, "/v1")),
        ("http://127.0.0.1:8080", Address("http", "127.0.0.1", 8080, "")),
        ("http://[::1]:8080/v1", Address("http", "::1", 8080, "/v1")),
    ],
)
def test_an_address_is_read(text, expected):
    assert read_address(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "api.example/v1", "ftp://api.example", "file:///etc/passwd", "https://", "https://name:word@api.example"),
        *("https://api.example/v1?key=1", "https://api.example/#x", "https://api.example:99999", "https://[::1"),
        *("https://api.example:0/v1", "https://bücher.example", "https://a b.example", f"https://{'a' * 300}.example"),
        *("https://api.example/v1?", "https://@api.example/", "https://api.example/\nHost: x", "https://api.example:x"),
    ],
)
def test_what_is_no_address_is_refused(text):
    found = read_address(text)
    assert isinstance(found, Problem)
    assert (found.code, found.field) == ("bad_address", "address")


LOOPBACK = Allowed(loopback=True)
NAMED = Allowed(frozenset({"model.lab:8080", "10.0.0.5:80", "[::1]:9"}))


@pytest.mark.parametrize(
    ("text", "allowed", "may"),
    [
        ("https://api.example", Allowed(), True),
        ("http://api.example", Allowed(), False),
        ("http://127.0.0.1:8080", Allowed(), False),
        ("http://127.0.0.1:8080", LOOPBACK, True),
        ("http://localhost:8080", LOOPBACK, True),
        ("http://[::1]:8080", LOOPBACK, True),
        ("http://10.0.0.5", LOOPBACK, False),
        ("http://10.0.0.5", NAMED, True),
        ("http://10.0.0.5:81", NAMED, False),
        ("http://model.lab:8080", NAMED, True),
        ("http://[::1]:9", NAMED, True),
    ],
)
def test_plain_http_only_goes_where_it_was_opened(text, allowed, may):
    assert (refused_scheme(read_address(text), allowed) is None) is may


PRIVATE = (
    *("10.0.0.5", "172.16.0.1", "192.168.1.1", "127.0.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1"),
    *("255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.5"),
    *("64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "192.0.2.1"),
)


@pytest.mark.parametrize("number", PRIVATE)
def test_a_name_that_resolves_to_no_public_address_is_not_connected_to(number):
    address = Address("https", "api.example", 443, "/v1")
    assert not may_connect(address, number, Allowed())
    assert may_connect(address, number, Allowed(frozenset({"api.example:443"})))
    assert not may_connect(address, number, Allowed(frozenset({"api.example:444", "api.example", "10.0.0.5:443"})))


@pytest.mark.parametrize("number", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
def test_a_public_address_is_connected_to_over_https_alone(number):
    assert may_connect(Address("https", "api.example", 443, ""), number, Allowed())
    assert not may_connect(Address("http", "api.example", 80, ""), number, Allowed(frozenset({"api.example:80"})))


def test_loopback_at_a_desk_is_loopback_and_no_more():
    address = Address("http", "localhost", 8080, "")
    assert may_connect(address, "127.0.0.1", LOOPBACK)
    assert may_connect(address, "::1", LOOPBACK)
    assert not may_connect(address, "192.168.1.1", LOOPBACK)


# When connecting


def names(monkeypatch, **numbers):
    """A name service that gives a name these numbers in turn, one list each time it is asked."""
    asked = {name: iter(lists) for name, lists in numbers.items()}

    def look_up(host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port)) for number in next(asked[host])]

    monkeypatch.setattr(llm_network.socket, "getaddrinfo", look_up)


def error_at(address, **fields) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        llm.ask(Endpoint(address=address, **fields), QUESTION)
    return raised.value


def test_a_name_that_leads_inside_is_met_when_connecting(monkeypatch, settings):
    with JudgeServer() as server:
        port = server.http.server_address[1]
        names(monkeypatch, inside=[["127.0.0.1"], ["127.0.0.1", "10.0.0.5"]])
        for _ in range(2):
            error = error_at(f"https://inside:{port}/v1")
            assert (error.kind, error.sentence.code) == ("bad_address", "address_not_allowed")
        assert f"inside:{port}" in error.sentence.sentence()
    assert not server.n_connections


def test_what_a_name_was_the_first_time_opens_nothing_the_second(monkeypatch, settings):
    """A name service of the attacker's gives a harmless number to whoever looks, and another to whoever connects: we
    look at the one that we connect to."""
    with JudgeServer() as server:
        port = server.http.server_address[1]
        names(monkeypatch, turning=[["127.0.0.1"], ["192.0.2.1"]])
        error = error_at(f"https://turning:{port}/v1")
        assert error.sentence.code == "address_not_allowed"
    assert not server.n_connections


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.0x1", "[::1%25lo]"])
def test_loopback_written_oddly_is_no_address(host):
    with JudgeServer() as server:
        error = error_at(f"https://{host}:{server.http.server_address[1]}/v1")
    assert (error.kind, error.sentence.code) == ("bad_address", "bad_address")
    assert not server.n_connections


def test_a_redirect_is_not_followed(settings):
    with JudgeServer() as inside, JudgeServer(judge.redirect(f"{inside.url}/chat/completions")) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place, inside.place]
        error = error_at(server.url)
    assert (error.kind, error.sentence.code) == ("bad_address", "redirected")
    assert not inside.asked


def test_a_place_that_was_named_is_reached_and_its_neighbour_is_not(settings):
    with JudgeServer() as server, JudgeServer() as other:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        assert llm.ask(Endpoint(address=server.url), QUESTION).text
        assert error_at(other.url).kind == "bad_address"
        settings.LLM_ALLOWED_HOSTS = []
        assert error_at(server.url).kind == "bad_address"
        settings.LLM_ALLOW_LOOPBACK = True
        assert llm.ask(Endpoint(address=other.url), QUESTION).text


def test_nothing_that_listens_and_no_such_name_are_told_apart(settings, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    settings.LLM_ALLOWED_HOSTS = [place]
    error = error_at(f"http://{place}")
    assert (error.kind, error.sentence.code) == ("down", "no_connection")
    names(monkeypatch, **{"nowhere.example": [[]]})
    error = error_at("https://nowhere.example")
    assert (error.kind, error.sentence.code) == ("down", "unknown_host")


def test_the_environment_sends_nothing_through_a_proxy(settings, monkeypatch):
    with JudgeServer() as proxy, JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://{proxy.place}")
        assert llm.ask(Endpoint(address=server.url), QUESTION).text
    assert not proxy.n_connections


def test_a_certificate_that_nobody_trusts_ends_the_call(settings, tmp_path):
    with JudgeServer(tls=self_signed(tmp_path)) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        error = error_at(server.url)
    assert (error.kind, error.sentence.code) == ("down", "tls_failed")
    assert not server.asked


def test_a_certificate_that_the_system_trusts_is_enough(settings, tmp_path, monkeypatch):
    server_side = self_signed(tmp_path)
    monkeypatch.setattr(llm_network, "tls", lambda: ssl.create_default_context(cafile=str(tmp_path / "both.pem")))
    with JudgeServer(tls=server_side) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        assert llm.ask(Endpoint(address=server.url), QUESTION).text


def self_signed(folder):
    """The server's side of TLS with a certificate of its own for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    itself = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(itself, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    both = folder / "both.pem"
    both.write_bytes(pem + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    return context
