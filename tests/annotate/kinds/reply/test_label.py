"""The label of a reply: what it must be, and where its spans count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.base import LabelError, Span
from annotate.kinds.reply.examples import FAMILY, NEEDS, PARSED
from annotate.kinds.reply.label import LABELS, MAX_SPANS, SCHEMA, SPAN_TYPES, ReplyLabel, dump, parse
from annotate.traces.base import MOST_PROBLEMS

TEXTS = st.text(min_size=1, max_size=60)


@st.composite
def labels_with_text(draw):
    text = draw(TEXTS)
    spans = []
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        spans.append({"start": start, "end": end, "type": draw(st.sampled_from(SPAN_TYPES)), "quote": text[start:end]})
    name = "needs_information" if spans else draw(st.sampled_from(["readable", "unrepairable_or_no_answer"]))
    no_result = name != "readable" and draw(st.booleans())
    return {"label": name, "states_no_result": no_result, "spans": spans, "comment": draw(st.text(max_size=20))}, text


@given(labels_with_text())
def test_parsing_a_dump_gives_the_label_back(given_label):
    data, text = given_label
    label = parse(data, SCHEMA, text)
    assert parse(dump(label), SCHEMA, text) == label
    assert {(span.start, span.end, span.type) for span in label.spans} == {
        (span["start"], span["end"], span["type"]) for span in data["spans"]
    }
    places = [(span.start, span.end, SPAN_TYPES.index(span.type)) for span in label.spans]
    assert places == sorted(places)
    for span in label.spans:
        assert text[span.start : span.end] == span.quote


@given(labels_with_text(), st.integers(-3, 3), st.integers(-3, 3))
def test_a_span_that_was_moved_is_refused_unless_the_words_there_are_the_same(given_label, by_start, by_end):
    data, text = given_label
    if not data["spans"]:
        return
    moved = data["spans"][0] = {**data["spans"][0]}
    moved["start"] += by_start
    moved["end"] += by_end
    fits = 0 <= moved["start"] < moved["end"] <= len(text)
    if fits and text[moved["start"] : moved["end"]] == moved["quote"]:
        parse(data, SCHEMA, text)
    else:
        with pytest.raises(LabelError):
            parse(data, SCHEMA, text)


def span(start, end, quote, type="reference"):
    return {"start": start, "end": end, "type": type, "quote": quote}


def codes(data, text):
    with pytest.raises(LabelError) as refusal:
        parse(data, SCHEMA, text)
    return [(problem.code, problem.field, problem.pointer) for problem in refusal.value.problems]


def needs(*spans, **fields):
    return {**NEEDS, "spans": list(spans), **fields}


def test_offsets_inside_an_emoji_are_code_points_and_have_to_quote_what_stands_there():
    assert len(FAMILY) == 5
    assert len(FAMILY.encode("utf-16-le")) // 2 == 8
    for start, end in ((0, 2), (1, 4), (0, 5)):
        label = parse(needs(span(start, end, FAMILY[start:end])), SCHEMA, FAMILY)
        assert label.spans == (Span(start, end, "reference", FAMILY[start:end]),)
        assert dump(label)["spans"] == [span(start, end, FAMILY[start:end])]
    # What a page that counts UTF-16 units would send for the second woman.
    assert codes(needs(span(3, 5, "\N{WOMAN}")), FAMILY) == [("quote_mismatch", "quote", "/spans/0/quote")]
    assert codes(needs(span(0, 8, FAMILY)), FAMILY) == [("span_out_of_range", "end", "/spans/0/end")]


def test_a_negative_start_is_not_read_as_counting_from_the_end():
    text = "0123456789"
    assert text[-1:10] == "9"
    assert codes(needs(span(-1, 10, "9")), text) == [("span_out_of_range", "start", "/spans/0/start")]


def test_an_end_beyond_the_text_is_not_clipped_and_the_limit_is_named():
    text = "x" * 100
    with pytest.raises(LabelError) as refusal:
        parse(needs(span(90, 101, "x" * 10)), SCHEMA, text)
    problem = refusal.value.problems[0]
    assert (problem.code, problem.field) == ("span_out_of_range", "end")
    assert "the limit here is 100" in problem.as_dict()["expected"]


def test_too_many_spans_are_refused_at_once_with_the_limit():
    with pytest.raises(LabelError) as refusal:
        parse(needs(*[span(0, 1, "x")] * 100_000), SCHEMA, "x")
    assert [problem.code for problem in refusal.value.problems] == ["too_many"]
    assert refusal.value.problems[0].as_dict()["expected"] == f"At most {MAX_SPANS}."
    assert len(parse(needs(*[span(0, 1, "x")] * MAX_SPANS), SCHEMA, "x").spans) == 1


def test_every_wrong_field_is_named_at_once():
    data = {"label": "x", "states_no_result": 1, "spans": "x", "comment": 1}
    assert {(code, field) for code, field, _ in codes(data, "x")} == {
        ("unknown_label", "label"),
        ("wrong_type", "states_no_result"),
        ("wrong_type", "spans"),
        ("wrong_type", "comment"),
    }


def test_every_wrong_span_is_named_with_its_place():
    data = needs(span(0, 1, "x"), span(1, 1, ""), span(0, 1, "y"))
    assert [(code, pointer) for code, _, pointer in codes(data, "xx")] == [
        ("invalid_span", "/spans/1/end"),
        ("quote_mismatch", "/spans/2/quote"),
    ]


def test_of_many_wrong_spans_and_fields_the_first_are_named_and_that_there_are_more():
    for data in (needs(*[span(1, 1, "")] * MAX_SPANS), {f"name-{n}": 1 for n in range(1000)}):
        found = [code for code, _, _ in codes(data, "x") if code != "missing_field"]
        assert len(found) == MOST_PROBLEMS + 1
        assert found[-1] == "more_problems"


def test_a_field_that_a_span_does_not_have_is_named_with_its_place():
    wrong = {**span(0, 1, "x"), "note/1": "?", "zeta": 1}
    assert codes(needs(span(0, 1, "x"), wrong), "x") == [("unknown_field", "note/1", "/spans/1/note~11")]


@pytest.mark.parametrize("given", [span for span, _ in PARSED], ids=str)
def test_a_stored_label_is_read_as_it_is(given):
    assert dump(parse(given, SCHEMA, None)) == given


def test_without_the_text_stored_spans_are_trusted_but_their_form_is_not():
    assert parse(needs(span(3, 9, "anything")), SCHEMA, None).spans
    assert codes(needs(span(9, 3, "anything")), None) == [("invalid_span", "end", "/spans/0/end")]


def test_absent_fields_have_their_plain_values():
    assert parse({"label": "readable"}, SCHEMA, None) == ReplyLabel("readable")
    assert dump(ReplyLabel("readable")) == {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}


@pytest.mark.parametrize("name", LABELS)
def test_two_of_the_three_labels_are_failures(name):
    assert ReplyLabel(name).fails == (name != "readable")
