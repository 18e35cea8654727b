"""What an import warns of: names that give a model away in what annotators will read."""

import json

import pytest
from django.core.management import call_command

from annotate import staging
from annotate.importing import import_traces
from annotate.models import ImportBatch, Trace
from annotate.traces import tally
from tests.annotate.traces.files import FIXTURES, lines, read, record
from tests.factories import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def bring_in(tmp_path):
    def bring_in(*records, into=None, **options):
        path = tmp_path / "runs.jsonl"
        path.write_bytes(lines(*records))
        return import_traces(project=into or make_project(), path=path, file_name="runs.jsonl", **options)

    return bring_in


def warnings(report, code="names_a_model"):
    return [warning for warning in report.tally.warnings if warning.code == code]


def asked(question="a", answer="b", id_="t1", **members):
    return record(id_, [{"role": "user", "text": question}, {"role": "assistant", "text": answer}], **members)


def test_a_trace_whose_visible_text_names_a_model_is_brought_in_and_warned_of(bring_in):
    report = bring_in(asked(), asked("Hello, GPT-4o!", "I am Claude, an AI.", "t2"))
    (warning,) = warnings(report)
    assert (report.is_refused, report.n_new, Trace.objects.count()) == (False, 2, 2)
    assert (warning.line, warning.warning) == (2, True)
    assert warning.params == {"id": "t2", "names": "GPT-4o, I am Claude", "places": "0, 1"}
    assert "trace “t2” it names GPT-4o, I am Claude (messages or files: 0, 1)" in warning.sentence()
    assert ImportBatch.objects.get().counts["skipped"] == {"names_a_model": 1}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (asked("a", "我是由某某公司开发的助手"), "1"),
        (asked("a", "See toolu_01A09q90qw90lq917835lq9."), "1"),
        (asked(files=[{"name": "qwen.csv", "text": "1"}]), "qwen.csv"),
        (asked(files=[{"name": "a.csv", "text": "model,DeepSeek-V3"}]), "a.csv"),
        (asked(files=[{"name": "a", "text": "1"}, {"name": "a", "text": "ChatGPT"}, {"name": "a", "text": ""}]), "a"),
        (record("t1", [{"role": "user", "text": "a", "calls": [{"name": "ask_chatgpt"}]}]), "0"),
        (record("t1", [{"role": "user", "text": "a", "calls": [{"name": "ask", "arguments": "ChatGPT"}]}]), "0"),
        (
            record(
                "t1",
                [{"role": "user", "text": "a", "calls": [{"name": "ask"}]}, {"role": "tool", "text": "ChatGPT"}],
            ),
            "1",
        ),
    ],
)
def test_texts_files_and_tools_of_the_requester_are_looked_through(bring_in, value, place):
    assert [warning.params["places"] for warning in warnings(bring_in(value))] == [place]


HIDDEN = [
    {"role": "system", "text": "You are GPT-4o."},
    {"role": "user", "text": "a"},
    {"role": "assistant", "text": "Asking ChatGPT.", "calls": [{"name": "f", "arguments": "Qwen2.5-72B"}]},
    {"role": "tool", "text": "DeepSeek-V3"},
    {"role": "assistant", "text": "b"},
]


def test_what_nobody_sees_is_not_warned_of(bring_in):
    private = record("t1", HIDDEN, meta={"model": "GPT-4o"})
    assert warnings(bring_in(private)) == []
    visible = make_project(settings={"text_beside_calls": "visible"})
    assert [warning.params["names"] for warning in warnings(bring_in(private, into=visible))] == ["ChatGPT"]


def test_names_that_only_two_messages_make_together_are_none(bring_in):
    assert warnings(bring_in(asked("Ask Google", "Gemini is a sign of the zodiac."))) == []


def test_a_warning_is_told_once_and_not_of_what_is_there_already(bring_in):
    project = make_project()
    assert len(warnings(bring_in(asked("GPT-4o"), into=project))) == 1
    again = bring_in(asked("GPT-4o"), asked("Grok 4", id_="t2"), into=project)
    assert [warning.params["id"] for warning in warnings(again)] == ["t2"]


def test_a_warning_is_bounded_and_so_is_their_number(bring_in, monkeypatch):
    monkeypatch.setattr(tally, "LISTED", 3)
    many = [{"role": "user", "text": f"GPT-{number} or Qwen-{'a' * 200}"} for number in range(1, 30)]
    report = bring_in(*(record(f"t{number}", many) for number in range(6)))
    assert len(warnings(report)) == 3
    assert report.tally.skipped == {"names_a_model": 6}
    assert max(len(warning.sentence()) for warning in warnings(report)) < 600
    assert warnings(report)[0].params["places"] == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …"


def test_the_command_says_it(capsys, tmp_path):
    make_project("wells")
    path = tmp_path / "runs.jsonl"
    path.write_bytes(lines(asked("ChatGPT")))
    call_command("import_traces", "wells", str(path), "--json")
    out, err = capsys.readouterr()
    assert [warning["code"] for warning in json.loads(out)["files"][0]["warnings"]] == ["names_a_model"]
    assert "ChatGPT" in err


def unread(report):
    return [warning.params["id"] for warning in warnings(report, "language_not_read")]


def test_a_trace_in_a_language_the_project_does_not_have_is_brought_in_and_warned_of(bring_in):
    project = make_project(languages=["en"])
    traces = [asked(id_="none"), asked(id_="english", language="en"), asked(id_="chinese", language="zh")]
    report = bring_in(*traces, into=project)
    assert (report.is_refused, report.n_new, unread(report)) == (False, 3, ["chinese"])
    (warning,) = warnings(report, "language_not_read")
    assert (warning.line, warning.warning) == (3, True)
    assert "the project (en); trace “chinese” is in “zh”, so it is planned for nobody." in warning.sentence()
    batch = ImportBatch.objects.get()
    assert batch.counts["skipped"] == {"language_not_read": 1}
    assert [kept["code"] for kept in batch.warnings] == ["language_not_read"]
    assert unread(bring_in(*traces, into=project)) == []  # it is there already
    assert unread(bring_in(*traces, into=make_project(languages=["en", "zh"]))) == []


def test_warnings_of_a_language_are_listed_up_to_a_number_and_all_counted(bring_in, monkeypatch):
    monkeypatch.setattr(tally, "LISTED", 3)
    traces = [asked(id_=f"t{number}", language="zh") for number in range(6)]
    report = bring_in(*traces, into=make_project(languages=["en"]))
    assert len(unread(report)) == 3
    assert report.tally.skipped == {"language_not_read": 6}


def test_text_is_stored_as_it_came_also_where_it_names_a_model(bring_in):
    text = "\ufeffGPT-4o\u200b \u202e"
    bring_in(asked(text))
    assert Trace.objects.get().messages.get(index=0).text == text


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_no_fixture_names_a_model(path):
    traces, _, _ = read(path.read_bytes())
    assert [staging.names_in(trace, "visible") for trace in traces] == [{}] * len(traces)
