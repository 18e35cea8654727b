"""What a label says has to be of its trajectory; every refusal in words."""

from dataclasses import replace

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.examples import MESSAGES, label, step
from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.traces.base import Trace

BLOCKS = KIND.view(Trace("", "", MESSAGES), 11, SCHEMA)
SUGGESTED = (
    {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "rules": ["identical"], "keyword": ""},
    {"step": [4, 5], "type": "INC", "evidence": [-1], "rules": ["error_keyword"], "keyword": "no"},
)


def check(data, suggestions=None):
    KIND.check(KIND.parse(data, SCHEMA, None), SCHEMA, replace(BLOCKS, suggestions=suggestions))


def refusals(data, suggestions=None):
    with pytest.raises(LabelError) as refusal:
        check(data, suggestions)
    return [(one.code, one.field, one.pointer, one.as_dict()["expected"]) for one in refusal.value.problems]


@pytest.mark.parametrize(
    ("pair", "evidence"),
    [
        ((9, 10), [2, 3]),
        ((4, 8), [4, 5]),
        ((8, 4), [6, 7]),
        ((4, 5), [2, 3, 9, 10]),
        ((9, 10), [1]),
        ((9, 10), [4]),
        ((9, 10), [0]),
        ((9, 10), [-1]),
    ],
)
def test_steps_of_the_agent_with_evidence_of_either_side_pass(pair, evidence):
    check(label(step(*pair, evidence=evidence)))


def test_nothing_and_cannot_annotate_pass():
    check(label(outcome="none"), ())
    check(label(outcome="cannot_annotate", note="x"), SUGGESTED)


def test_a_step_of_the_user_is_refused():
    ((code, field, pointer, said),) = refusals(label(step(6, 7)))
    assert (code, field, pointer) == ("user_side_step", "step", "/steps/0/step")
    assert said == "A step of the agent; 6-7 is the user's own."


def test_halves_of_two_steps_are_refused_with_the_steps_they_are_of():
    assert refusals(label(step(2, 8))) == [
        ("half_pair", "step", "/steps/0/step", "A call and its result; 2-8 is not both. Steps of these messages: "
         "2-3, 4-8.")
    ]  # fmt: skip
    assert refusals(label(step(9, 10, evidence=[4, 10, 2, 3])))[0][:3] == ("half_pair", "evidence", "/steps/0/evidence")
    for half in (2, 3, 8):
        assert refusals(label(step(9, 10, evidence=[half])))[0][0] == "half_pair"


def test_messages_that_are_no_step_are_refused():
    assert refusals(label(step(1, 11), AGAIN))[0][0] == "no_such_step"


AGAIN = step(9, 10)


def test_an_index_that_there_is_not_is_refused_with_those_there_are():
    ((code, field, pointer, said),) = refusals(label(AGAIN, step(4, 12)))
    assert (code, field, pointer) == ("unknown_index", "step", "/steps/0/step")
    assert said == "Indexes of messages that there are, from 0 to 11; not 12."
    assert refusals(label(step(9, 10, evidence=[99])))[0][:2] == ("unknown_index", "evidence")


@pytest.mark.parametrize(("shift", "said"), [(1, "-1"), (-1, "+1")])
def test_another_index_base_is_named_once_with_the_range_that_would_be_right(shift, said):
    moved = [
        step(9 + shift, 10 + shift, evidence=[2 + shift, 3 + shift]),
        step(4 + shift, 5 + shift, evidence=[-1]),
    ]
    ((code, _, pointer, expected),) = refusals(label(*moved))
    assert (code, pointer) == ("other_index_base", "/steps")
    assert "from 0 to 11" in expected
    assert f"with {said} added" in expected


def test_everything_that_is_wrong_is_said_at_once():
    found = refusals(label(step(6, 7, evidence=[1, 2]), step(9, 99), step(9, 10)))
    assert [one[0] for one in found] == ["user_side_step", "half_pair", "unknown_index"]


KEPT = step(9, 10, origin="kept")
CHANGED = step(4, 5, "EXP", [-1], origin="changed")


def test_every_suggestion_has_to_be_decided():
    assert refusals(label(AGAIN), SUGGESTED)[0][0] == "suggestion_undecided"
    ((code, _, _, said),) = refusals(label(KEPT, decisions=[((9, 10), "keep")]), SUGGESTED)
    assert (code, said) == (
        "suggestion_undecided",
        "Every suggestion kept, changed or rejected; not decided yet: 4-5.",
    )
    assert refusals(label(outcome="none"), SUGGESTED)[0][0] == "suggestion_undecided"
    check(label(KEPT, decisions=[((9, 10), "keep"), ((4, 5), "reject")]), SUGGESTED)
    check(label(KEPT, CHANGED, decisions=[((9, 10), "keep"), ((4, 5), "change")]), SUGGESTED)
    check(label(outcome="none", decisions=[((9, 10), "reject"), ((4, 5), "reject")]), SUGGESTED)


def test_kept_is_what_was_suggested_and_changed_is_not():
    rejected = ((4, 5), "reject")
    other = step(9, 10, "EXP", origin="kept")
    assert refusals(label(other, decisions=[((9, 10), "keep"), rejected]), SUGGESTED)[0][0] == "decision_contradicted"
    alike = step(9, 10, origin="changed")
    assert refusals(label(alike, decisions=[((9, 10), "change"), rejected]), SUGGESTED)[0][0] == "decision_contradicted"


def test_what_was_not_suggested_cannot_be_decided():
    assert refusals(label(step(4, 5, origin="kept"), decisions=[((4, 5), "keep")]), SUGGESTED[:1])[1][0] == (
        "no_such_suggestion"
    )
    assert refusals(label(outcome="none", decisions=[((4, 5), "reject")]), ())[0][0] == "no_such_suggestion"


def test_who_is_asked_about_no_suggestion_need_not_decide_and_may_adopt_who_did():
    check(label(AGAIN))
    check(label(KEPT, decisions=[((9, 10), "keep"), ((4, 5), "reject")]))
