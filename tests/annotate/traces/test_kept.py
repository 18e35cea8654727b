import json

from hypothesis import given
from hypothesis import strategies as st

from annotate.traces import kept
from annotate.traces.base import Problem

TOO_LONG = "Names of at most %(longest)s characters; “%(found)s” has more."
WORDS = {TOO_LONG: "名称至多 %(longest)s 个字符；“%(found)s”超过了。", "Shorten it.": "请缩短。"}
CHINESE = WORDS.get


def problem(**fields):
    values = {
        **{"code": "too_long", "file": "a.jsonl", "line": 3, "pointer": "/id", "field": "id"},
        "expected": TOO_LONG,
        "remedy": "Shorten it.",
        "params": {"longest": 255, "found": "x"},
    }
    return Problem(**{**values, **fields})


def test_a_kept_problem_is_read_as_it_was_said_and_said_again_in_another_language():
    row = kept.to_row(problem())
    assert row["expected"] == "Names of at most 255 characters; “x” has more."
    again = kept.from_row(json.loads(json.dumps(row)))
    assert again.as_dict() == problem().as_dict()
    assert again.as_dict(CHINESE)["expected"] == "名称至多 255 个字符；“x”超过了。"
    assert again.as_dict(CHINESE)["remedy"] == "请缩短。"


def test_a_problem_that_was_kept_before_stays_as_it_is():
    row = {"code": "too_long", "file": "a.jsonl", "field": "id", "expected": "50 % of it.", "remedy": "Shorten it."}
    again = kept.from_row(row).as_dict()
    assert again == row


@given(
    st.dictionaries(st.sampled_from(["longest", "found"]), st.one_of(st.text(), st.integers(), st.none(), st.binary()))
)
def test_whatever_stands_in_it_can_be_kept(params):
    given_params = {"longest": 1, "found": "", **params}
    row = json.loads(json.dumps(kept.to_row(problem(params=given_params))))
    assert kept.from_row(row).as_dict() == problem(params=given_params).as_dict()
