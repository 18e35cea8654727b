"""What a page posts, as the JSON form of a label."""

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.reply.form import read_form
from annotate.kinds.reply.label import SCHEMA


def test_fields_become_the_json_form():
    post = {"label": "readable", "states_no_result": "on", "spans": '[{"start": 0}]', "comment": "a\r\nb"}
    assert read_form(post, SCHEMA) == {
        "label": "readable",
        "states_no_result": True,
        "spans": [{"start": 0}],
        "comment": "a\nb",
    }


def test_what_is_not_there_is_empty():
    assert read_form({}, SCHEMA) == {"label": "", "states_no_result": False, "spans": [], "comment": ""}
    assert read_form({"spans": "", "states_no_result": "off"}, SCHEMA)["states_no_result"] is False


@pytest.mark.parametrize("spans", ["{", "no JSON", "[1,]", "[" * 100_000, "1" * 5000])
def test_spans_that_are_no_json_are_refused_by_name(spans):
    with pytest.raises(LabelError) as refusal:
        read_form({"spans": spans}, SCHEMA)
    assert [(problem.code, problem.field) for problem in refusal.value.problems] == [("wrong_type", "spans")]
