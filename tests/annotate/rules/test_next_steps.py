"""What a lead is told to do next follows the state of the project."""

import pytest

from annotate.rules.next_steps import PhaseCounts, before_opening, may_close_to, next_steps


def phases(practice=None, pilot=None, main=None):
    return [
        PhaseCounts("practice", **practice or {}),
        PhaseCounts("pilot", **pilot or {}),
        PhaseCounts("main", **main or {}),
    ]


def codes(steps, is_done):
    return [step.code for step in steps if step.is_done == is_done]


def test_an_empty_project_begins_with_its_traces():
    steps = next_steps(phases(), open_phase="practice", n_annotators=0)
    assert codes(steps, is_done=False) == ["bring_in", "invite", "open_main"]


def test_what_a_project_holds_decides_what_it_needs():
    counts = phases({"n_items": 6, "n_known": 2}, {"n_items": 3}, {"n_items": 24})
    steps = next_steps(counts, open_phase="practice", n_annotators=5)
    assert codes(steps, is_done=True) == ["bring_in", "invite"]
    assert codes(steps, is_done=False) == ["answer_practice", "open_pilot", "open_main"]
    assert steps[1].words % steps[1].params == ("Answer the practice items; they open when all are. Answered: 2 of 6.")


def test_practice_and_pilot_alone_still_need_the_main_traces():
    steps = next_steps(phases({"n_items": 6}, {"n_items": 3}), open_phase="practice", n_annotators=2)
    assert "bring_in" in codes(steps, is_done=False)
    assert steps[0].words % steps[0].params == "Bring in traces. Items so far: practice 6, pilot 3, main phase 0."


@pytest.mark.parametrize(("n", "is_done"), [(0, False), (1, False), (2, True)])
def test_agreement_needs_two_people(n, is_done):
    steps = next_steps(phases(), open_phase="main", n_annotators=n)
    assert ("invite" in codes(steps, is_done=True)) == is_done


@pytest.mark.parametrize(
    ("open_phase", "done"),
    [("practice", []), ("pilot", ["open_pilot"]), ("main", ["open_pilot", "open_main"])],
)
def test_phases_are_done_when_they_are_open(open_phase, done):
    steps = next_steps(phases(pilot={"n_items": 1}), open_phase=open_phase, n_annotators=0)
    assert [code for code in codes(steps, is_done=True) if code.startswith("open_")] == done


def test_a_reported_problem_waits_for_the_lead():
    ready = [{"n_items": 1, "n_known": 1}, {"n_items": 1}, {"n_items": 1}]
    assert codes(next_steps(phases(*ready), open_phase="main", n_annotators=2), is_done=False) == []
    ready[1]["n_problems"] = 2
    (step,) = [one for one in next_steps(phases(*ready), open_phase="main", n_annotators=2) if not one.is_done]
    assert (step.code, step.params) == ("problems", {"n": 2})


def said(counts, phase):
    return [step.words % step.params for step in before_opening(counts, phase)]


def test_before_a_phase_is_opened_one_hears_what_is_missing():
    counts = phases({"n_items": 6, "n_known": 4, "n_behind": 1}, {"n_items": 3, "n_behind": 2})
    assert said(counts, "pilot") == [
        "Practice items without a known answer: 2.",
        "People who have not finished practice: 1.",
    ]
    assert said(counts, "main") == [
        "This phase has no items yet.",
        "Practice items without a known answer: 2.",
        "People who have not finished practice: 1.",
        "People who have not finished the pilot: 2.",
    ]


def test_where_all_is_ready_nothing_is_said():
    counts = phases({"n_items": 6, "n_known": 6}, {"n_items": 3}, {"n_items": 9, "n_behind": 4})
    assert [said(counts, phase) for phase in ("practice", "pilot", "main")] == [[], [], []]


def test_a_phase_can_be_closed_while_nothing_beyond_it_was_shown():
    assert may_close_to(phases(practice={"n_shown": 9}), "practice")
    counts = phases(pilot={"n_shown": 1})
    assert not may_close_to(counts, "practice")
    assert may_close_to(counts, "pilot")


@pytest.mark.parametrize(
    ("items_are", "code", "said"),
    [
        ("imported", "bring_in", "Bring in traces."),
        ("published", "publish_in", "Publish items into it"),
        ("drawn", "draw_pairs", "then draw the pairs"),
    ],
)
def test_the_first_step_says_where_items_come_from(items_are, code, said):
    first, *_ = next_steps(phases(), open_phase="main", n_annotators=2, items_are=items_are)
    assert (first.code, first.is_done) == (code, False)
    assert said in first.words % first.params
    done, *_ = next_steps(phases(main={"n_items": 3}), open_phase="main", n_annotators=2, items_are=items_are)
    assert done.is_done
