import pytest

from annotate.rules.shapes import Hash, Maybe, shape_problems
from annotate.traces.base import Place

SHAPE = {"name": str, "n": int, "is_it": bool, "hash": Hash(), "how": ("one", "two"), "at": Maybe(str)}
SHAPE |= {"rows": [{"a": int}]}
GOOD = {"name": "x", "n": 1, "is_it": True, "hash": "a" * 64, "how": "one", "at": None, "rows": [{"a": 1}]}


def found(value):
    return [(problem.code, problem.pointer) for problem in shape_problems(value, SHAPE, Place("file", line=1))]


def test_a_value_of_the_form_has_no_problems():
    assert found(GOOD) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": 1}, ("wrong_type", "/name")),
        ({"n": True}, ("wrong_type", "/n")),
        ({"n": 1.0}, ("wrong_type", "/n")),
        ({"n": -1}, ("wrong_type", "/n")),
        ({"n": 2**53}, ("wrong_type", "/n")),
        ({"is_it": 1}, ("wrong_type", "/is_it")),
        ({"hash": "A" * 64}, ("wrong_type", "/hash")),
        ({"hash": "a" * 64 + "\n"}, ("wrong_type", "/hash")),
        ({"how": "three"}, ("unknown_value", "/how")),
        ({"how": []}, ("unknown_value", "/how")),
        ({"at": 3}, ("wrong_type", "/at")),
        ({"rows": {}}, ("wrong_type", "/rows")),
        ({"rows": [{"a": 1}, {"a": "1"}]}, ("wrong_type", "/rows/1/a")),
        ({"more": 1}, ("unknown_field", "/more")),
    ],
)
def test_what_differs_is_named_by_its_place(change, expected):
    assert found({**GOOD, **change}) == [expected]


def test_what_is_missing_is_named():
    assert found({name: value for name, value in GOOD.items() if name != "n"}) == [("missing_field", "/n")]


def test_what_is_no_object_is_said_once():
    assert found([GOOD]) == [("wrong_type", None)]
