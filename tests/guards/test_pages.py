"""Pages run no script but files of ours, load nothing from elsewhere, and show hostile text as text. That every answer
says so in its headers is seen by the crawl (`crawl.wrong_headers`)."""

import re
from html.parser import HTMLParser

import pytest
from django.http import HttpResponse
from django.urls import reverse

from tests import factories
from tests.guards.arrows import ROOT
from tests.guards.crawl import ALWAYS, wrong_headers

TEMPLATES = sorted(path for folder in ("templates", "annotate", "scoring") for path in (ROOT / folder).rglob("*.html"))
STATIC = sorted(
    path
    for folder in (ROOT / "static", *(ROOT / "annotate" / "kinds").glob("*/static"))
    for path in folder.rglob("*")
    if path.is_file()
)
REFUSED = {
    "an inline handler": re.compile(r"<[^>]*\son[a-z]+\s*=", re.I),
    "an inline style": re.compile(r"<[^>]*\sstyle\s*=|<style\b", re.I),
    "an inline script": re.compile(r"<script\b(?![^>]*\ssrc=)", re.I),
    "a script address": re.compile(r"javascript:", re.I),
    "text that is not escaped": re.compile(r"\|\s*safe(seq)?\b|autoescape\s+off|\|\s*json_script\b|\{%-?\s*debug"),
    "a comment that is sent": re.compile(r"<!--"),
    "another host": re.compile(r"\b(?:https?|wss?):|[\"'(=]\s*//[a-z0-9]", re.I),
}
NAMES_OF_XML = re.compile(r"http://www\.w3\.org/(2000/svg|1999/xlink|1999/xhtml|XML/1998/namespace)")
MARK_SAFE = re.compile(r"\bmark_safe\b|\bSafeString\b|\bformat_html\b|\bis_safe\b")
MAY_MARK_SAFE = {"annotate/markdown.py"}
"""Guidelines, which leads write, through an allow-list."""


STANDALONE = {ROOT / "templates" / "scoring" / "method_report.html"}
"""Files that people save and pass on, not pages of the site: they carry their styles with them."""


def refused_in(text):
    text = NAMES_OF_XML.sub("", text)
    return [words for words, pattern in REFUSED.items() if pattern.search(text)]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_template_has_no_inline_code_and_escapes_everything(path):
    allowed = ["an inline style"] if path in STANDALONE else []
    assert refused_in(path.read_text("utf-8")) == allowed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<a href="/" onclick="go()">', "an inline handler"),
        ("<p\n  style='color: red'>", "an inline style"),
        ("<style>p {}</style>", "an inline style"),
        ("<script>go()</script>", "an inline script"),
        ('<a href="javascript:go()">', "a script address"),
        ("{{ text|safe }}", "text that is not escaped"),
        ("{% autoescape off %}", "text that is not escaped"),
        ('{{ data|json_script:"data" }}', "text that is not escaped"),
        ("<!-- old -->", "a comment that is sent"),
        ('<script src="https://cdn.example/htmx.js"></script>', "another host"),
        ('<img src="//cdn.example/dot.png">', "another host"),
    ],
)
def test_what_a_template_must_not_have_is_found(text, words):
    assert words in refused_in(text)


def test_what_a_template_may_have_is_left_alone():
    text = '<script type="module" src="{% static \'a.js\' %}"></script><p class="on style">{# note #} style= one=</p>'
    assert refused_in(text) == []


@pytest.mark.parametrize("path", STATIC, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_static_file_names_no_other_host_and_no_source_map(path):
    text = NAMES_OF_XML.sub("", path.read_text("utf-8"))
    assert not REFUSED["another host"].search(text)
    assert "sourceMappingURL" not in text
    assert path.suffix != ".map"
    if path.suffix == ".js":
        assert not re.search(r"\bconsole\.|\beval\(|\bnew Function\b|\.innerHTML\b|\bdocument\.write\b", text)


def test_agent_text_is_never_marked_safe():
    marking = {
        path.relative_to(ROOT).as_posix()
        for folder in ("annotate", "scoring", "config")
        for path in (ROOT / folder).rglob("*.py")
        if MARK_SAFE.search(path.read_text("utf-8"))
    }
    assert marking <= MAY_MARK_SAFE


# Real pages


class Code(HTMLParser):
    """Whatever in a page would need a looser policy, or asks another host."""

    def __init__(self):
        super().__init__()
        self.found, self.tags = [], set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        named = dict(attributes)
        self.found += [
            f"{tag} {name}" for name in named if name.startswith("on") or name == "style" or name == "srcdoc"
        ]
        self.found += [tag] if tag in ("style", "iframe", "object", "embed", "base") else []
        self.found += ["script"] if tag == "script" and "src" not in named else []
        addresses = [named[name] or "" for name in ("src", "href", "action", "hx-get", "hx-post") if name in named]
        self.found += [address for address in addresses if not address.startswith(("/", "#", "?")) or "//" in address]

    def handle_comment(self, data):
        self.found.append(f"<!--{data}-->")


def code_in(html):
    parser = Code()
    parser.feed(html)
    return parser.found


HOSTILE = (
    '<script>go()</script><img src="//other.example/dot.png" onerror="go()"><!-- --> {{ 7|add:7 }} javascript:go()'
)


@pytest.fixture
def reader(client):
    """ana, with a hostile trace: one reply submitted, one open."""
    cast = factories.make_cast(title_en=HOSTILE)
    messages = [
        *(factories.base.Message(0, "user", HOSTILE), factories.base.Message(1, "assistant", HOSTILE)),
        *(factories.base.Message(2, "user", HOSTILE), factories.base.Message(3, "assistant", HOSTILE)),
    ]
    trace = factories.make_trace(cast.project, messages, files=[factories.base.File(HOSTILE, HOSTILE)])
    done = factories.make_assignment(cast.ana, factories.make_item(trace=trace, reply=1), "submitted")
    factories.make_annotation(done, {"label": "readable", "states_no_result": False, "spans": [], "comment": HOSTILE})
    open_ = factories.make_assignment(cast.ana, factories.make_item(trace=trace, reply=3))
    client.force_login(cast.ana.person)
    client.paths = {
        "home": reverse("annotate:home"),
        "open item": reverse("annotate:label_item", args=[open_.public_id]),
        "submitted item": reverse("annotate:label_item", args=[done.public_id]),
        "correction": reverse("annotate:correct_item", args=[done.public_id]),
        "own answers": reverse("annotate:own_annotations", args=[cast.project.slug]),
        "guideline": reverse("annotate:guideline", args=[cast.project.slug]),
        "missing": "/never-was/",
    }
    return client


@pytest.mark.django_db
@pytest.mark.parametrize("htmx", [{}, {"HX-Request": "true"}], ids=["page", "piece"])
def test_pages_with_hostile_text_hold_no_code_of_it(reader, htmx):
    for name, path in reader.paths.items():
        response = reader.get(path, headers=htmx)
        html = response.content.decode()
        assert code_in(html) == [], name
        assert HOSTILE not in html, name
        assert list(wrong_headers(response)) == [], name
    assert b"&lt;script&gt;go()&lt;/script&gt;" in reader.get(reader.paths["open item"]).content


def test_code_in_a_page_is_found():
    assert code_in('<p onclick="x" style="y"><script>z</script><img src="//a"><base href="/"><!-- c -->') == [
        *("p onclick", "p style", "script", "//a", "base", "<!-- c -->")
    ]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Cache-Control", "max-age=60"),
        ("Content-Security-Policy", "default-src 'none'; script-src 'self' 'unsafe-inline'"),
        ("Content-Security-Policy", "script-src 'self'"),
        ("ETag", '"1"'),
        ("Last-Modified", "Mon, 06 May 2024 07:08:09 GMT"),
        ("X-Content-Type-Options", "sniff"),
        ("X-Frame-Options", "SAMEORIGIN"),
        ("Referrer-Policy", "unsafe-url"),
        ("Cross-Origin-Opener-Policy", "unsafe-none"),
        ("Content-Encoding", "gzip"),
        ("SourceMap", "label.js.map"),
    ],
)
def test_a_wrong_header_is_found(header, value):
    right = HttpResponse(headers={**ALWAYS, "Content-Security-Policy": "default-src 'none'"})
    assert list(wrong_headers(right)) == []
    right[header] = value
    (words,) = wrong_headers(right)
    assert words == f"{header}: {value}"
