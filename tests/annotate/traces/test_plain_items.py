import json

import pytest

from annotate.rules.requester_view import replies
from annotate.traces import plain_items
from annotate.traces.base import Place
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, line, lines, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = (FIXTURES / "plain_items.jsonl").read_bytes()


def said(trace):
    return [(message.role, message.text) for message in trace.messages]


def row(**cells):
    """As a table hands over its rows."""
    return list(plain_items.read([Document(cells, Place("x.csv", line=2))]))


def test_a_text_answers_its_prompt():
    traces, problems, _ = read(FIXTURE)
    assert problems == []
    first = traces[0]
    assert said(first) == [
        ("user", "How do I keep a lentil soup from burning?"),
        ("assistant", "Stir it often and keep the heat low. 🍲"),
    ]
    assert (first.source_id, first.language, first.area, first.cluster) == ("soup-1", "en", "cooking", "soup")
    assert first.metadata == {"model": "invented-1", "score": 0.5}
    assert [replies(trace.messages) for trace in traces] == [(1,)] * 3


def test_an_instruction_and_its_input_are_one_message():
    trace = read(FIXTURE)[0][1]
    assert said(trace) == [("user", "翻译成中文。\n\nThe kettle is on."), ("assistant", "水壶正在烧水。\r\n")]
    assert (trace.language, trace.metadata) == ("zh", {"metadata": {"batch": 3}})


def test_where_nothing_was_asked_a_dash_stands_and_is_counted():
    traces, _, warnings = read(FIXTURE)
    assert said(traces[2])[0] == ("user", "—")
    assert [(warning.code, warning.line) for warning in warnings] == [("no_prompt", 3)]
    _, trace = row(text="a", prompt=" ")
    assert (trace.messages[0].text, trace.metadata) == ("—", {"prompt": " "})


@pytest.mark.parametrize("name", plain_items.TEXTS)
@pytest.mark.parametrize("asked", plain_items.PROMPTS)
def test_the_columns_have_several_names(name, asked):
    (trace,), problems, warnings = read(line({name.title(): "b", asked.upper(): "a"}))
    assert (said(trace), problems, warnings) == ([("user", "a"), ("assistant", "b")], [], [])
    assert trace.metadata == {}


def test_of_two_texts_the_first_named_counts_and_the_other_is_private():
    (trace,), _, _ = read(line({"question": "a", "answer": "gold", "response": "b"}))
    assert (said(trace), trace.metadata) == ([("user", "a"), ("assistant", "b")], {"answer": "gold"})


def test_a_system_column_comes_first():
    (trace,), _, _ = read(line({"system": "s", "prompt": "a", "reply": "b"}))
    assert said(trace) == [("system", "s"), ("user", "a"), ("assistant", "b")]


def test_rows_of_a_table_are_texts_only():
    (trace,) = row(id="7", prompt="a", text="b", language="", area="", cluster="", stars="3")
    assert (trace.source_id, trace.language, trace.cluster, trace.place.line) == ("7", "", "", 2)
    assert trace.metadata == {"language": "", "stars": "3"}


def test_an_unknown_language_stays_private():
    (trace,) = row(prompt="a", text="b", language="fr")
    assert (trace.language, trace.metadata) == ("", {"language": "fr"})


def test_a_column_of_a_second_spelling_is_kept():
    (trace,), _, _ = read(line({"text": "b", "Text": "c", "prompt": "a"}))
    assert (said(trace)[1], trace.metadata) == (("assistant", "b"), {"Text": "c"})


def test_equal_texts_are_two_traces_with_ids_of_their_own():
    record = {"prompt": "a", "text": "b"}
    traces, problems, _ = read(lines(record, record, {**record, "id": 0}))
    assert problems == []
    assert traces[1].source_id == f"{traces[0].source_id} line 2"
    assert traces[2].source_id == "0"


def test_a_record_without_a_text_is_passed_over_and_counted():
    traces, problems, warnings = read(lines({"text": "a", "prompt": "b"}, {"note": "c"}, [], 7))
    assert (len(traces), problems, [warning.code for warning in warnings]) == (1, [], ["unknown_record"] * 3)


def test_an_empty_text_is_no_reply_but_kept():
    (trace,) = row(prompt="a", text="")
    assert (said(trace), replies(trace.messages)) == ([("user", "a"), ("assistant", "")], ())


def test_records_are_recognised_by_themselves_and_by_nobody_else():
    for record in map(json.loads, FIXTURE.splitlines()):
        assert [name for name, reader in readers().items() if not reader.sniff(record).missing] == ["plain_items"]


@pytest.mark.parametrize(
    "other",
    [
        {"type": "text", "text": "a"},
        {"role": "user", "text": "a"},
        {"session_id": "1", "ts": 1, "text": "a"},
        {"id": "1", "text": "a", "children": [1]},
        {"history": "a", "response": "b"},
        {"answer": "b"},
        {"id": "1", "messages": []},
        {"prompt": "a", "text": 7},
        *JUNK,
    ],
)
def test_records_of_other_files_are_not_taken_for_texts(other):
    assert plain_items.sniff(other).missing


def test_no_fixture_of_another_format_is_taken_for_texts():
    for path in FIXTURES.iterdir():
        if path.is_file() and not path.name.startswith("plain_items") and path.suffix in (".json", ".jsonl"):
            for value in first_values(path.read_text()):
                assert plain_items.sniff(value).missing, path.name


def first_values(text):
    try:
        whole = json.loads(text)
    except ValueError:
        return [json.loads(one) for one in text.splitlines() if one.strip()]
    return [whole, *(whole if isinstance(whole, list) else [])]


def test_any_json_is_taken_without_failing():
    for record in map(json.loads, FIXTURE.splitlines()):
        for changed in mutations({**record, "system": "s"}):
            plain_items.sniff(changed)
            list(plain_items.read([Document(changed, Place("x.json"))]))
