"""The normal form is that of the records, and severity is the method's."""

from random import Random

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.redundancy import exchange, schema
from annotate.kinds.redundancy.examples import NOTHING, ONE, OTHER_EVIDENCE, OTHER_TYPE, PARSED, TWO, label, step
from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.label import load, normal_evidence, pair_of
from annotate.kinds.redundancy.schema import SCHEMA, check_schema
from annotate.kinds.redundancy.settle import severities
from scoring.methods import redundancy_schema
from scoring.methods.records import records_of
from scoring.methods.redundancy_experts import step_disagreements
from scoring.methods.redundancy_read import TYPE_WORDS
from scoring.methods.redundancy_schema import SCHEMA as RECORDS
from scoring.stats.groups import triplet


def test_triplets_are_in_the_normal_form_of_the_statistics():
    random = Random(1)
    for _ in range(500):
        given = random.sample(range(40), 2), random.sample(range(40), random.choice([1, 2, 4, 6]))
        theirs = triplet(given[0], "DUP", given[1])
        assert (pair_of(given[0]), normal_evidence(given[1])) == (theirs.step, theirs.evidence)


def test_steps_are_the_records_of_the_method():
    assert schema.TYPES == redundancy_schema.TYPES
    assert schema.TYPE_TITLES == TYPE_WORDS
    assert list(exchange.FULL_TYPES) == list(schema.TYPES)
    for data, _ in PARSED:
        steps = [{name: one[name] for name in ("step", "type", "evidence")} for one in data["steps"]]
        trajectory = {"record": "trajectory", "id": "a", "domain": "airline"}
        records = records_of([trajectory, {"record": "gold", "trajectory": "a", "steps": steps}], RECORDS)
        assert records["gold"][0]["steps"] == steps


def test_severity_is_counted_as_the_tables_of_the_method_count_it():
    """Steps that any of the three names: 8-9 is minor (evidence), then severe (type); 10-11 is named by one."""
    for data, expected in (
        ([ONE, OTHER_EVIDENCE, ONE], {(8, 9): "minor"}),
        ([ONE, OTHER_TYPE, ONE], {(8, 9): "severe"}),
        ([ONE, ONE, TWO], {(8, 9): "same", (10, 11): "severe"}),
        ([ONE, NOTHING, ONE], {(8, 9): "severe"}),
        ([NOTHING, NOTHING], {}),
    ):
        labels = [load(one, SCHEMA) for one in data]
        assert severities(labels) == expected
        triplets = {str(n): [triplet(*one.triplet) for one in each.steps] for n, each in enumerate(labels)}
        assert sorted(step_disagreements(triplets)) == sorted(expected.values())


def test_the_distance_of_a_small_case():
    """Of steps 1 of 2 is common, of triplets none: 0.5 * 1/2 + 0.25 * 1/2 + 0.25 * 3/3."""
    one, other = (load(data, SCHEMA) for data in (TWO, OTHER_EVIDENCE))
    assert KIND.distance(one, other) == 0.25 + 0.125 + 0.25


@pytest.mark.parametrize(
    ("post", "outcome"),
    [
        ({"outcome": "none"}, "none"),
        ({"steps": '[{"step": [8, 9]}]'}, "steps"),
        ({"steps": '[{"step": [8, 9]}]', "outcome": "none"}, "none"),
        ({"outcome": "steps", "steps": "[]"}, "steps"),
        ({}, ""),
    ],
)
def test_marked_steps_say_by_themselves_that_there_are_some(post, outcome):
    assert KIND.read_form(post, SCHEMA)["outcome"] == outcome


@pytest.mark.parametrize("name", ["steps", "decisions"])
@pytest.mark.parametrize("text", ["{", "[" * 100_000])
def test_a_field_that_is_no_json_is_refused(name, text):
    with pytest.raises(LabelError) as refusal:
        KIND.read_form({name: text}, SCHEMA)
    assert [(one.code, one.field) for one in refusal.value.problems] == [("wrong_type", name)]


def test_line_ends_of_a_note_are_one_character():
    assert KIND.read_form({"note": "a\r\nb"}, SCHEMA)["note"] == "a\nb"


def test_the_words_of_the_rules_may_be_changed_and_nothing_else():
    words = {"INC": [" wrong ", "wrong"], "ABN": []}
    checked = check_schema({"suggest": False, "keywords": words})
    assert checked == {**SCHEMA, "suggest": False, "keywords": {"ABN": [], "INC": ["wrong"]}}
    for bad, field in (
        ({"types": ["ABN"]}, "types"),
        ({"suggest": "no"}, "suggest"),
        ({"keywords": {"ABN": []}}, "keywords"),
        ({"keywords": {"ABN": [], "INC": [""]}}, "keywords"),
        ({"keywords": {"ABN": [], "INC": ["x" * 61]}}, "keywords"),
        ({"keywords": {"ABN": [], "INC": "error"}}, "keywords"),
        ({"keywords": {"ABN": [], "INC": ["x"] * 201}}, "keywords"),
        ({"rules": []}, "rules"),
    ):
        with pytest.raises(LabelError) as refusal:
            check_schema({**SCHEMA, **bad})
        assert [one.field for one in refusal.value.problems] == [field]


def test_joint_evidence_equals_itself_in_any_order():
    first, second = (load(label(step(8, 9, evidence=pairs)), SCHEMA) for pairs in ([2, 9, 4, 5], [5, 4, 9, 2]))
    assert first == second
    assert first.steps[0].evidence == (2, 9, 4, 5)
