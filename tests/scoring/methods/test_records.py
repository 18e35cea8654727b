"""Records as a schema declares them: read strictly, every problem named by file, line and field; and their page."""

import io
import json
from pathlib import Path

import pytest

from annotate.traces.documents import Documents
from scoring.methods.records import Field, RecordsRefused, RecordType, Schema, Wrong, read_records, records_of
from scoring.methods.tables import methods
from tests.records_page import PAGE, page

REFERENCE = Path(__file__).resolve().parents[3] / "fixtures" / "reference"


def starts_before_it_ends(values):
    if values["low"] is not None and values["n"] is not None and values["low"] > values["n"]:
        yield Wrong("low", "A low that is at most %(n)s.", params={"n": values["n"]})


THING = RecordType(
    "thing",
    "Anything.",
    (
        Field("id", "text"),
        Field("n", "whole", required=False, least=0, most=10),
        Field("low", "number", required=False),
        Field("yes", "truth", required=False),
        Field("kind", "text", required=False, allowed=("a", "b")),
        Field("steps", "wholes", required=False, least=0),
        Field("names", "texts", required=False),
        Field("parts", "objects", required=False, inside=(Field("at", "whole"),)),
    ),
    key=("id",),
    checks=(starts_before_it_ends,),
)
MARK = RecordType("mark", "Of a thing.", (Field("thing", "text", refers="thing"),))
SCHEMA = Schema((THING, MARK))


def thing(**values):
    return {"record": "thing", "id": "t", **values}


def problems_of(*records):
    """The problems of a file with these lines."""
    lines = "".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in records)
    with pytest.raises(RecordsRefused) as refused:
        read_records(Documents(io.BytesIO(lines.encode()), file_name="a.jsonl"), SCHEMA)
    return refused.value.problems


def test_records_come_by_type_in_the_order_of_the_file_with_none_for_what_is_absent():
    found = records_of([thing(id="b", n=0), {"record": "mark", "thing": "b"}, thing(id="a", n=None)], SCHEMA)
    assert [one["id"] for one in found["thing"]] == ["b", "a"]
    assert [one["n"] for one in found["thing"]] == [0, None]
    assert found["thing"][0]["yes"] is None
    assert found["mark"][0]["thing"] == "b"
    assert found["nothing"] == ()


@pytest.mark.parametrize(
    ("values", "code", "field"),
    [
        ({"id": None}, "missing_field", "id"),
        ({"id": " "}, "empty_text", "id"),
        ({"id": 7}, "wrong_type", "id"),
        ({"n": "3"}, "wrong_type", "n"),
        ({"n": 3.5}, "wrong_type", "n"),
        ({"n": True}, "wrong_type", "n"),
        ({"n": -1}, "out_of_range", "n"),
        ({"n": 11}, "out_of_range", "n"),
        ({"low": 10**300}, "out_of_range", "low"),
        ({"low": False}, "wrong_type", "low"),
        ({"yes": 1}, "wrong_type", "yes"),
        ({"kind": "c"}, "not_allowed", "kind"),
        ({"steps": 1}, "wrong_type", "steps"),
        ({"steps": [1, "2"]}, "wrong_type", "steps"),
        ({"steps": [1, -2]}, "out_of_range", "steps"),
        ({"names": [1]}, "wrong_type", "names"),
        ({"parts": {"at": 1}}, "wrong_type", "parts"),
        ({"parts": [1]}, "wrong_type", "parts"),
        ({"parts": [{"at": 1}, {}]}, "missing_field", "at"),
        ({"parts": [{"at": 1, "to": 2}]}, "unknown_field", "to"),
        ({"nn": 1}, "unknown_field", "nn"),
        ({"n": 1, "low": 2.5}, "bad_record", "low"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(values, code, field):
    (problem,) = problems_of(thing(id="first"), thing(**values))
    assert (problem.file, problem.line, problem.code, problem.field) == ("a.jsonl", 2, code, field)
    assert problem.sentence().startswith("a.jsonl line 2 /")
    assert problem.as_dict()["expected"]
    assert problem.as_dict()["remedy"]


def test_every_problem_of_a_file_is_named_at_once():
    found = problems_of(thing(n=-1, kind="x"), "{not json}\n", {"record": "other"}, {"id": "x"}, "[1]\n", '"text"\n')
    assert [(one.line, one.code) for one in found] == [
        (1, "out_of_range"),
        (1, "not_allowed"),
        (2, "malformed_json"),
        (3, "unknown_record"),
        (4, "missing_field"),
        (5, "wrong_type"),
        (6, "wrong_type"),
    ]


def test_the_same_record_twice_is_named_with_the_line_of_the_first():
    (problem,) = problems_of(thing(), thing(id="u"), thing())
    assert (problem.line, problem.code, problem.field) == (3, "duplicate_record", "id")
    assert "t is on line 1" in problem.sentence()


def test_a_reference_to_nothing_is_named():
    (problem,) = problems_of(thing(), {"record": "mark", "thing": "x"})
    assert (problem.line, problem.code, problem.field) == (2, "unknown_reference", "thing")
    assert "x" in problem.sentence()


@pytest.mark.parametrize("text", ['{"record": "thing", "id": "a", "id": "b"}', '{"record": "thing", "n": NaN}'])
def test_json_that_two_programs_read_differently_is_refused(text):
    (problem,) = problems_of(text + "\n")
    assert problem.code in ("duplicate_key", "number_not_finite")


def test_a_file_of_one_array_is_read_too():
    file = io.BytesIO(json.dumps([thing(), thing(id="u")]).encode())
    assert len(read_records(Documents(file), SCHEMA)["thing"]) == 2


def test_the_page_of_records_is_what_the_methods_declare():
    assert PAGE.read_text("utf-8") == page(), "run python -m tests.records_page"


@pytest.mark.parametrize("name", sorted(methods()))
def test_the_example_of_a_method_holds_every_type_and_says_that_it_is_made_up(name):
    schema = methods()[name].schema
    with (REFERENCE / f"records-{name}.jsonl").open("rb") as file:
        found = read_records(Documents(file, file_name=name), schema)
    assert all(found[one.name] for one in schema.types)
    assert any(one["synthetic"] for one in found["about"])


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_field_says_what_it_holds_and_references_are_to_records_with_an_id(name):
    types = {one.name: one for one in methods()[name].schema.types}
    for one in types.values():
        assert one.about.endswith(".")
        for field in one.fields:
            assert field.about, f"{one.name}.{field.name}"
            for other in filter(None, field.refers.split("|")):
                assert "id" in {inner.name for inner in types[other].fields}
