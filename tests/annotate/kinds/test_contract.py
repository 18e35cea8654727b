"""Every kind keeps every promise of the contract, on the examples it gives itself (`kinds/*/examples.py`)."""

import json
from importlib import import_module
from itertools import product

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import get_template

from annotate.kinds.base import Blocks, FileBlock, LabelError, MessageBlock, TaskKind
from annotate.kinds.registry import all_kinds, kind_of
from annotate.rules.requester_view import seen_by_requester

KINDS = all_kinds()
EXAMPLES = {name: import_module(f"annotate.kinds.{name}.examples") for name in KINDS}


def each(table):
    """Every entry of a table of examples, of every kind, under its name or place."""
    found = []
    for kind, examples in EXAMPLES.items():
        entries = getattr(examples, table)
        named = entries.items() if isinstance(entries, dict) else enumerate(entries)
        found += [pytest.param(KINDS[kind], *entry, id=f"{kind}-{name}") for name, entry in named]
    assert found, table
    return found


def schema_of(kind):
    """That of the examples, where the kind's schema is made by leads."""
    return getattr(EXAMPLES[kind.name], "SCHEMA", kind.schema)


def parse(kind, data, text=None):
    return kind.parse(data, schema_of(kind), text)


def labels_of(kind):
    return [parse(kind, data, text) for data, text in EXAMPLES[kind.name].PARSED]


every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def test_there_is_a_kind_for_every_folder_and_it_is_found_by_name():
    assert "reply" in KINDS
    assert all(isinstance(kind, TaskKind) and kind.name == name for name, kind in KINDS.items())
    assert kind_of("reply") is KINDS["reply"]
    with pytest.raises(ValueError, match=r"There is no task kind 'Reply'. There are: .*reply"):
        kind_of("Reply")


@pytest.mark.parametrize(("kind", "data", "text"), each("PARSED"))
def test_what_is_parsed_and_dumped_comes_back_as_it_was(kind, data, text):
    label = parse(kind, data, text)
    assert kind.dump(label) == data
    assert parse(kind, kind.dump(label), text) == label
    assert parse(kind, kind.dump(label)) == label
    assert hash(label) == hash(parse(kind, data, text))


@pytest.mark.parametrize(("kind", "data", "text"), each("PARSED"))
def test_what_was_stored_is_read_without_being_checked_and_measures_need_no_more_than_they_say(kind, data, text):
    label = parse(kind, data, text)
    assert kind.load(kind.dump(label), schema_of(kind)) == label
    part = kind.load({name: value for name, value in data.items() if name not in kind.unmeasured}, schema_of(kind))
    for measure in (*kind.measures(schema_of(kind)), *kind.sets(schema_of(kind))):
        assert measure.rate(part) == measure.rate(label)


@pytest.mark.parametrize(("kind", "data", "text", "code", "field"), each("REFUSED"))
def test_what_cannot_be_a_label_is_refused_with_its_code_and_field(kind, data, text, code, field):
    with pytest.raises(LabelError) as refusal:
        parse(kind, data, text)
    assert (code, field) in [(problem.code, problem.field) for problem in refusal.value.problems]
    for problem in refusal.value.problems:
        said = problem.as_dict()
        assert said["expected"]
        assert said["remedy"]
        assert "%(" not in said["expected"] + said["remedy"]


@pytest.mark.parametrize(("kind", "first", "second"), each("SAME"))
def test_same_labels_are_at_no_distance(kind, first, second):
    first, second = parse(kind, first), parse(kind, second)
    assert kind.same(first, second)
    assert kind.distance(first, second) == kind.distance(second, first) == 0


def backwards(data):
    """The same values under keys in the other order; lists stay as they are."""
    if isinstance(data, dict):
        return {key: backwards(value) for key, value in reversed(data.items())}
    return [backwards(one) for one in data] if isinstance(data, list) else data


@every_kind
def test_labels_are_compared_by_their_values_whatever_the_order_of_their_keys(kind):
    for data, _ in EXAMPLES[kind.name].PARSED:
        label, turned = parse(kind, data), parse(kind, backwards(data))
        assert kind.same(label, turned)
        assert kind.distance(label, turned) == 0
        for measure in kind.measures(schema_of(kind)):
            assert measure.rate(label) == measure.rate(turned)


@pytest.mark.parametrize(("kind", "first", "second"), each("DIFFERENT"))
def test_different_labels_are_apart(kind, first, second):
    first, second = parse(kind, first), parse(kind, second)
    assert not kind.same(first, second)
    assert kind.distance(first, second) > 0


@pytest.mark.parametrize(("kind", "one", "near", "far"), each("NEARER"))
def test_what_differs_less_is_nearer(kind, one, near, far):
    one, near, far = (parse(kind, data) for data in (one, near, far))
    assert kind.distance(one, near) < kind.distance(one, far)


@every_kind
def test_sameness_and_distance_are_symmetric_and_agree_with_each_other(kind):
    for first, second in product(labels_of(kind), repeat=2):
        assert kind.same(first, second) == kind.same(second, first) == (kind.distance(first, second) == 0)
        assert kind.distance(first, second) == kind.distance(second, first)
        assert 0 <= kind.distance(first, second) <= 1
        if first == second:
            assert kind.same(first, second)


@every_kind
def test_every_measure_rates_every_label_into_its_categories(kind):
    measures = kind.measures(schema_of(kind))
    names = [measure.name for measure in measures]
    assert names
    assert len(set(names)) == len(names)
    for measure in measures:
        assert len(set(measure.categories)) == len(measure.categories) == len(measure.category_titles) > 1
        assert measure.title
        assert measure.tie == "exclude" or (measure.tie[0] == "toward" and measure.tie[1] in measure.categories)
        assert measure.min_others >= 1
        assert measure.weight > 0
        for label in labels_of(kind):
            rating = measure.rate(label)
            assert rating is None or rating in measure.categories


@pytest.mark.parametrize(("kind", "data", "ratings"), each("RATED"))
def test_measures_see_what_they_should(kind, data, ratings):
    label = parse(kind, data)
    assert {measure.name: measure.rate(label) for measure in kind.measures(schema_of(kind))} == ratings


@pytest.mark.parametrize(("kind", "data", "expected", "how", "is_tie"), each("SETTLED"))
def test_labels_settle_as_the_method_says(kind, data, expected, how, is_tie):
    settled = kind.settle([parse(kind, one) for one in data], schema_of(kind))
    assert (settled.how, settled.is_tie) == (how, is_tie)
    assert (settled.label and kind.dump(settled.label)) == expected


@every_kind
def test_settling_does_not_depend_on_the_order_of_labels(kind):
    for data, *_ in EXAMPLES[kind.name].SETTLED.values():
        labels = [parse(kind, one) for one in data]
        assert kind.settle(labels, schema_of(kind)) == kind.settle(labels[::-1], schema_of(kind))


@pytest.mark.parametrize(("kind", "data", "known", "is_right", "parts"), each("GRADED"))
def test_a_label_is_graded_part_by_part(kind, data, known, is_right, parts):
    grade = kind.grade(parse(kind, data), parse(kind, known))
    assert (grade.is_right, dict(grade.parts)) == (is_right, parts)


@every_kind
def test_the_known_answer_itself_is_right_in_every_part(kind):
    for label in labels_of(kind):
        grade = kind.grade(label, label)
        assert grade.is_right
        assert all(grade.parts.values())


@pytest.mark.parametrize(("kind", "finding", "expected"), each("FINDINGS"))
def test_a_finding_means_a_label_of_the_same_type_as_peoples(kind, finding, expected):
    label = kind.from_finding(finding, schema_of(kind))
    assert (label if expected is None else kind.dump(label)) == expected


@pytest.mark.parametrize(("kind", "data", "rows"), each("EXPORTED"))
def test_an_export_gives_these_rows(kind, data, rows):
    assert [dict(row) for row in kind.rows(parse(kind, data))] == rows


@every_kind
def test_every_row_of_an_export_has_the_columns_of_the_kind(kind):
    for label in labels_of(kind):
        for row in kind.rows(label):
            assert tuple(row) == tuple(kind.columns)


@pytest.mark.parametrize(("kind", "trace", "anchors"), each("TRACES"))
def test_a_trace_is_cut_into_these_items(kind, trace, anchors):
    assert tuple(kind.items(trace, schema_of(kind))) == anchors


@pytest.mark.parametrize(("kind", "trace", "anchors"), each("TRACES"))
def test_an_item_shows_its_text_and_nothing_that_is_hidden(kind, trace, anchors):
    texts = {message.index: message.text for message in trace.messages}
    if kind.shows == "whole":
        return
    for anchor in anchors:
        shown = trace
        if kind.shows == "requester":
            messages = tuple(message for message in trace.messages if seen_by_requester(message))
            shown = type(trace)("", "", messages, trace.files)
        blocks = kind.view(shown, anchor.index, schema_of(kind))
        assert isinstance(blocks, Blocks)
        assert blocks.text.text == texts[anchor.index]
        for block in blocks.context:
            assert isinstance(block, FileBlock | MessageBlock)
            assert "HIDDEN" not in block.text
            assert block.text != blocks.text.text


@pytest.mark.parametrize(("kind", "trace", "anchors"), each("TRACES"))
def test_a_whole_trace_is_shown_at_its_original_indexes_and_no_id_of_it(kind, trace, anchors):
    if kind.shows != "whole":
        return
    for anchor in anchors:
        assert anchor.index == trace.messages[-1].index
        blocks = kind.view(trace, anchor.index, schema_of(kind))
        assert blocks.text is None
        assert [(entry.index, entry.text) for entry in blocks.entries] == [(m.index, m.text) for m in trace.messages]
        assert "HIDDEN" not in repr(blocks)
        numbers = [call.number for entry in blocks.entries for call in entry.calls]
        assert numbers == list(range(1, len(numbers) + 1))


@every_kind
def test_measures_of_sets_have_names_of_their_own_and_see_what_they_should(kind):
    schema = schema_of(kind)
    sets = kind.sets(schema)
    names = [measure.name for measure in (*kind.measures(schema), *sets)]
    assert len(set(names)) == len(names)
    assert all(measure.title and measure.stat in ("f1", "exact") for measure in sets)
    named = getattr(EXAMPLES[kind.name], "NAMED", ())
    assert bool(named) == bool(sets)
    for data, expected in named:
        label = parse(kind, data)
        assert {measure.name: measure.rate(label) for measure in sets} == expected


@every_kind
def test_what_rules_suggest_is_json_and_the_same_every_time(kind):
    if kind.suggest is None:
        return
    for trace, _ in EXAMPLES[kind.name].TRACES:
        found = list(kind.suggest(trace, schema_of(kind)))
        assert json.loads(json.dumps(found)) == found == list(kind.suggest(trace, schema_of(kind)))


@every_kind
def test_the_templates_the_script_and_the_guideline_are_there(kind):
    get_template(kind.form_template)
    get_template(kind.summary_template)
    if kind.script:
        assert finders.find(kind.script)
    assert kind.title
    assert kind.guideline_en.strip()
    assert kind.guideline_zh.strip()
    assert kind.shows in ("requester", "whole", "text")
    assert kind.text_title
    for template in (kind.keys_template, kind.schema_template, kind.describe_schema):
        if template:
            get_template(template)


@every_kind
def test_parts_of_a_grade_have_titles(kind):
    titles = kind.part_titles(schema_of(kind))
    for label in labels_of(kind):
        assert set(kind.grade(label, label).parts) <= set(titles)


@every_kind
def test_a_schema_that_leads_make_is_checked_into_itself(kind):
    if kind.check_schema is None:
        return
    for schema in (kind.schema, schema_of(kind)):
        assert kind.check_schema(schema, None) == kind.check_schema(kind.check_schema(schema, None), schema) == schema
    for schema in ({}, {"x": 1}):
        with pytest.raises(LabelError):
            kind.check_schema(schema, None)


@every_kind
def test_an_empty_post_is_refused_by_parsing_and_not_by_an_accident(kind):
    with pytest.raises(LabelError):
        parse(kind, kind.read_form({}, schema_of(kind)), "text")
