"""Guidelines: Markdown by leads, and nothing that runs, loads or leaves the page by itself."""

import pytest

from annotate.markdown import guideline_html


def test_structure_becomes_html():
    html = guideline_html("# Read\n\n1. *once*\n2. **whole**\n\n| Key | Label |\n| --- | --- |\n| `1` | ~~no~~ |\n")
    for piece in ("<h1>Read</h1>", "<ol>", "<em>once</em>", "<strong>whole</strong>", "<code>1</code></td>", "<s>no"):
        assert piece in html


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("<script>alert(1)</script>", "<script"),
        ("<img src=x onerror=alert(1)>", "<img"),
        ("![picture](https://elsewhere.example/beacon.png)", "<img"),
        ("![picture](https://elsewhere.example/beacon.png)", "beacon"),
        ("[click](javascript:alert(1))", "href"),
        ("[click](data:text/html;base64,PHNjcmlwdD4=)", "href="),
        ("<a href='https://x.example' onclick='alert(1)'>x</a>", "<a"),
        ("<style>body{display:none}</style>", "<style"),
        ("<iframe src='https://x.example'></iframe>", "<iframe"),
        ("<div style='position:fixed'>x</div>", "<div"),
        ("<form action='https://x.example'><input name=p></form>", "<form"),
    ],
)
def test_what_could_run_or_load_does_not_get_through(text, never):
    assert never not in guideline_html(text)
    assert guideline_html("fine") == "<p>fine</p>\n"


def test_links_stay_and_tell_the_other_side_nothing():
    html = guideline_html("[rules](https://rules.example/a?b=1&c=2)")
    assert 'href="https://rules.example/a?b=1&amp;c=2"' in html
    assert 'rel="noopener noreferrer"' in html


def test_html_in_a_guideline_is_shown_as_it_was_written():
    assert "&lt;b&gt;bold&lt;/b&gt;" in guideline_html("<b>bold</b>")


def test_an_empty_guideline_is_empty():
    assert guideline_html("") == ""
