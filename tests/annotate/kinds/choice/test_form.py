"""The fields of a page as a label, and a label in words."""

import json

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from annotate.kinds.base import LabelError
from annotate.kinds.choice.examples import CALM, FULL, GTR, RUN, SCHEMA, TEXT, made, part, title
from annotate.kinds.choice.kind import KIND
from annotate.kinds.choice.question import FIRST

HOSTILE = '"><script>alert(1)</script>{{ 7|add:1 }}%(x)s'
WHEN = {"part": "tone", "label": "yes"}
POST = {
    "one.tone": "angry",
    "one.topic": "b",
    "several.faults.long": "on",
    "several.faults.vague": "on",
    "scale.clarity": "2",
    "one.why": "loud",
    "note.more": "中文\r\nnote",
    "spans": json.dumps([GTR, RUN]),
}


def form(schema=SCHEMA, values=None):
    return render_to_string(KIND.form_template, {"schema": schema, "values": values, "spans_json": "[]"})


def summary(values, schema=SCHEMA):
    return render_to_string(KIND.summary_template, {"schema": schema, "values": values, "beside": True})


def test_every_field_becomes_its_part():
    data = KIND.read_form(POST, SCHEMA)
    assert data == FULL
    assert KIND.dump(KIND.parse(data, SCHEMA, TEXT)) == FULL


def test_a_part_that_is_not_asked_is_left_out_with_its_marks():
    schema = {**SCHEMA, "parts": [*SCHEMA["parts"]]}
    schema["parts"][5] = {**schema["parts"][5], "when": {"part": "tone", "label": "angry"}}
    data = KIND.read_form({**POST, "one.tone": "calm"}, schema)
    assert "why" not in data["answers"]
    assert data["spans"] == []
    KIND.parse(data, schema, TEXT)


@pytest.mark.parametrize("text", ["x", "1.5", "٣", "999999999", "1e1", "--1"])
def test_what_is_no_number_is_refused_and_not_taken_for_one(text):
    with pytest.raises(LabelError) as refusal:
        KIND.parse(KIND.read_form({**POST, "scale.clarity": text}, SCHEMA), SCHEMA, TEXT)
    assert {problem.field for problem in refusal.value.problems} == {"clarity"}


@pytest.mark.parametrize("spans", ["[{", "[" * 100_000])
def test_spans_that_are_no_json_are_refused(spans):
    with pytest.raises(LabelError):
        KIND.read_form({**POST, "spans": spans}, SCHEMA)


@pytest.mark.parametrize("spans", ["{}", "1", '"x"', "[1]", '[{"type": ["term"]}]'])
def test_spans_that_are_something_else_are_refused_by_parsing(spans):
    with pytest.raises(LabelError):
        KIND.parse(KIND.read_form({**POST, "spans": spans}, SCHEMA), SCHEMA, TEXT)


def test_the_form_holds_what_was_chosen_with_keys_and_conditions():
    page = form(values=FULL)
    assert 'name="one.tone" value="angry" data-label="angry" data-key="3" checked' in page
    assert page.count(" checked") == 6
    assert 'data-when="tone/angry"' in page
    assert "where “Tone” is “angry”" in page
    assert 'data-mark="term" data-key="t"' in page
    assert "中文\nnote" in page


def test_titles_are_in_the_language_of_the_page_and_the_other_one_where_there_is_none():
    with translation.override("zh-hans"):
        page = form()
        assert "平静" in page
        assert "angry" in page
        assert ">calm<" not in page
        measures = KIND.measures(SCHEMA)
        assert str(measures[0].category_titles[0]) == "平静"
    assert str(measures[0].category_titles[0]) == "calm"
    assert translation.gettext(measures[0].category_titles[0]) == "calm"


def test_hostile_titles_are_text_everywhere():
    labels = [made("yes", HOSTILE, HOSTILE, "1"), made("no", "no", key="2")]
    schema = {
        "judged": "replies",
        "parts": [
            part("tone", "one", HOSTILE, labels=labels, ordered=False),
            part("gaps", "marks", HOSTILE, labels=[made("term", HOSTILE, key="t")], when=WHEN),
            part("s", "scale", HOSTILE, lowest=1, highest=3, ends=[title(HOSTILE), title(HOSTILE)], digits=False),
            part("n", "note", HOSTILE, key="n"),
        ],
        "removed": [{"id": "old", "title": title(HOSTILE)}],
    }  # fmt: skip
    schema["parts"][0]["help"] = title(HOSTILE)
    answers = {"tone": "yes", "s": 2, "x": HOSTILE}
    values = {"answers": answers, "notes": {"n": HOSTILE}, "spans": [{**GTR, "quote": HOSTILE}]}
    editor = KIND.edit_schema(None, schema)
    pages = [
        form(schema, values),
        summary(values, schema),
        render_to_string(KIND.describe_schema, {"schema": schema}),
        render_to_string(KIND.schema_template, {"editor": editor}),
        *(render_to_string(KIND.keys_template, {"schema": schema, "of": of}) for of in ("answer", "marks")),
    ]
    for page in pages:
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        assert "{{ 7|add:1 }}" in page


def test_a_summary_says_answers_notes_and_marks_and_what_was_removed_by_its_old_name():
    said = summary(FULL)
    for words in ("angry", "too long, vague", "loud", "中文", "GTR", "term"):
        assert words in said
    gone = {"answers": {"tone": "old", "style": "plain"}, "notes": {}, "spans": [{**GTR, "type": "gone"}]}
    said = summary(gone)
    assert "an old one" in said
    assert "style" in said
    assert "gone" in said
    assert "old" in summary(CALM | {"answers": {"tone": "old"}}, FIRST)


@pytest.mark.parametrize("values", [None, {}, {"answers": {}}, {"answers": {"tone": 3, "faults": "x"}, "spans": None}])
def test_a_form_that_was_not_filled_in_yet_is_shown(values):
    assert 'data-part="tone"' in form(values=values)
    summary(values)
