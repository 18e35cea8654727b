"""The import cases of `fixtures/reference/bad-input.jsonl` through the page that leads use: what is refused leaves
nothing behind but its report, what is accepted is stored letter for letter. Files whose size matters are small here and
met by caps that are smaller still; the readers' own tests have them as they are."""

import gzip
import html
import json

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotate import tasks, waking, work
from annotate.models import File, ImportBatch, Item, Message, Trace, Work
from annotate.work import drain
from tests.annotate.traces.files import line, lines, record
from tests.annotate.traces.test_bad_input_cases import CASES, ELSEWHERE, PAYLOAD, contents, in_our_names
from tests.factories import make_cast

assert tasks.HANDLERS_OF  # they are registered as in a worker
pytestmark = pytest.mark.django_db
FORMULAS = [f"{first}1+1" for first in ("=", "+", "-", "@", "\t", "\r")]
CONTENT = {"IN-18": gzip.compress(b" " * 20_000_000 + line(record())), "IN-20": line(record("t1", note="a" * 200_000))}
LARGE = {"IN-18": ("too_large", ["IMPORT_MAX_RATIO"]), "IN-20": ("line_too_long", ["line 1", "IMPORT_MAX_LINE_BYTES"])}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "UPLOADS_FOLDER", tmp_path / "uploads")
    monkeypatch.setattr(waking, "wake", lambda: None)
    return settings.UPLOADS_FOLDER


@pytest.fixture
def bring_in(client, folder):
    """Upload a file, do what is to be done, and give the page that the lead sees, its words, and the batch."""
    cast = make_cast()
    client.force_login(cast.lea.person)

    def bring_in(content, name="x.jsonl", **fields):
        file = SimpleUploadedFile(name, content, content_type="application/json")
        form = {"phase": "main", "format": "auto", **fields, "file": file}
        response = client.post(reverse("annotate:upload_traces", args=[cast.project.slug]), form)
        drain()
        work.tidy()
        assert list(folder.iterdir()) == []
        page = client.get(response["Location"]) if response.status_code == 302 else response
        return page, html.unescape(page.content.decode()), ImportBatch.objects.order_by("-pk").first()

    return bring_in


def rows():
    return [model.objects.count() for model in (Trace, Message, File, Item)]


@pytest.mark.parametrize("name", sorted(CASES.keys() - ELSEWHERE))
def test_case(name, bring_in):
    expected = CASES[name]["expect"]
    for content in contents(CASES[name]):
        before = rows()
        page, words, batch = bring_in(content, name=CASES[name]["input"].get("filename", "x.jsonl"))
        if 422 not in expected["status"]:
            assert batch.state == "visible"
            assert "Imported:" in words
            for trace in Trace.objects.filter(batch=batch):
                assert "\r" not in trace.source_id
            continue
        assert rows() == before
        if batch is None:  # refused before any job was written
            assert (page.status_code, expected["code"], Work.objects.count()) == (422, "empty_file", 0)
            continue
        assert batch.state == "refused"
        assert batch.problems[0]["code"] == expected.get("code", batch.problems[0]["code"])
        for named in (expected.get("code", ""), *map(in_our_names, expected.get("names", []))):
            assert named in words


@pytest.mark.parametrize("name", LARGE)
def test_case_of_a_large_file(name, bring_in, monkeypatch):
    monkeypatch.setattr(settings, "IMPORT_MAX_LINE_BYTES", 50_000)
    code, names = LARGE[name]
    _, words, batch = bring_in(CONTENT[name])
    assert (rows(), batch.problems[0]["code"]) == ([0, 0, 0, 0], code)
    for named in (code, *names):
        assert named in words


def test_in_35_the_same_file_again_adds_nothing_and_says_how_many_were_there(bring_in):
    content = lines(*(record(f"t{number}") for number in range(10)))
    bring_in(content)
    before = rows()
    _, words, batch = bring_in(content)
    assert rows() == before
    assert "10 were there already." in words
    assert batch.counts["present"] == 10


@pytest.mark.parametrize("where", ["id", "role", "tool name", "metadata key", "file name"])
def test_in_51_a_payload_is_text_wherever_it_stands(where, bring_in):
    called = [{"role": "assistant", "text": "", "calls": [{"name": PAYLOAD}]}, {"role": "tool", "text": "1"}]
    content = {
        "id": record(PAYLOAD),
        "role": record("t1", [{"role": PAYLOAD, "text": "a"}]),
        "tool name": record("t1", called),
        "metadata key": record("t1", meta={PAYLOAD: 1}),
        "file name": record(),
    }[where]
    page, words, batch = bring_in(line(content), name=f"{PAYLOAD}.jsonl" if where == "file name" else "x.jsonl")
    assert b"<img" not in page.content
    assert batch.state == ("refused" if where == "role" else "visible")
    if where in ("role", "file name"):
        assert PAYLOAD in words


def test_in_56_cells_that_begin_like_formulas_are_stored_letter_for_letter(bring_in):
    _, _, batch = bring_in(lines(*(record(text, [{"role": "user", "text": text}]) for text in FORMULAS)))
    assert batch.state == "visible"
    assert sorted(Trace.objects.values_list("source_id", flat=True)) == sorted(FORMULAS)
    assert sorted(Message.objects.values_list("text", flat=True)) == sorted(FORMULAS)


@pytest.mark.parametrize("name", ["IN-50", "IN-52", "IN-54", "IN-55"])
def test_hostile_text_is_stored_letter_for_letter(name, bring_in):
    (content,) = contents(CASES[name])
    bring_in(content)
    assert Message.objects.get().text == json.loads(content)["messages"][0]["text"]


def test_every_import_case_is_met_here():
    assert set(ELSEWHERE) == {*LARGE, "IN-35", "IN-51", "IN-56"}
