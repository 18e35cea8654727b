"""What annotators do is stored once, whole, in order, and never lost."""

from datetime import timedelta
from functools import partial

import pytest

from annotate import assigning, blind, labeling
from annotate.errors import AlreadySubmitted, NewerDraft, NotYours, ReasonMissing
from annotate.labeling import NewAnnotation, Timing
from annotate.models import Annotation, Assignment, Membership, Post, Round
from tests.annotate.meeting import at_once, under_way
from tests.factories import NOW, make_cast, make_member, make_plan, make_protocol

pytestmark = pytest.mark.django_db

State = Assignment.State
READABLE = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
FAILS = {"label": "unrepairable_or_no_answer", "states_no_result": True, "spans": [], "comment": "Nothing in it."}
KEY = "key-of-the-first-answer"
OTHER_KEY = "key-of-another-answer"
LATER = NOW + timedelta(minutes=1)
EVEN_LATER = NOW + timedelta(minutes=2)


@pytest.fixture
def ana(db):
    return make_cast().ana


@pytest.fixture
def plan(ana):
    return make_plan(ana, 5)


def answer(assignment, label=READABLE, **fields):
    protocol = assignment.annotator.project.protocols.order_by("-number").first()
    values = {"number": 0, "draft_number": 0, "timing": Timing(5000, 4000, 500), "reason": "", "protocol": protocol}
    return NewAnnotation(label=label, **{**values, **fields})


def submit(assignment, *, key=KEY, now=LATER, person=None, **fields):
    opened = blind.open_assignment(person or assignment.annotator.person, assignment.public_id)
    return labeling.submit_annotation(assignment=opened, key=key, new=answer(assignment, **fields), now=now)


def find(assignment, key=KEY):
    return labeling.find_receipt(annotator=assignment.annotator.person, assignment_id=assignment.public_id, key=key)


def save(assignment, *, draft_number, number=0, text="half", person=None):
    labeling.save_draft(
        annotator=person or assignment.annotator.person,
        assignment_id=assignment.public_id,
        draft={"number": number, "draft_number": draft_number, "fields": {"comment": text}},
        draft_number=draft_number,
        number=number,
        now=LATER,
    )


def states(plan):
    rows = Assignment.objects.filter(pk__in=[row.pk for row in plan])
    return list(rows.order_by("order").values_list("state", flat=True))


def draft_text(assignment):
    assignment.refresh_from_db()
    return assignment.draft and assignment.draft["fields"]["comment"]


def stored(assignment):
    return list(assignment.annotations.order_by("number").values_list("number", "key", "is_current"))


# Submit


def test_submit_stores_one_annotation_with_a_receipt_and_opens_the_next_in_order(plan):
    receipt = submit(plan[0], label=FAILS)
    assert (receipt.key, receipt.number, receipt.submitted_at) == (KEY, 1, LATER)
    assert (receipt.public_id, receipt.project_slug) == (plan[0].public_id, plan[0].annotator.project.slug)
    annotation = plan[0].annotations.get()
    assert (annotation.label, annotation.is_current, annotation.informed) == (FAILS, True, False)
    assert states(plan) == [State.SUBMITTED, State.OPEN, State.LOCKED, State.LOCKED, State.LOCKED]
    plan[0].refresh_from_db()
    assert plan[0].ended_at == LATER


def test_the_item_that_a_submit_opens_counts_as_shown_only_when_it_is(plan):
    submit(plan[0])
    plan[1].refresh_from_db()
    assert (plan[1].state, plan[1].first_shown_at) == (State.OPEN, None)


def test_the_last_submit_of_a_plan_opens_nothing_and_is_stored_like_any(plan):
    for place, assignment in enumerate(plan):
        submit(assignment, key=f"key-of-answer-number-{place}")
    assert states(plan) == [State.SUBMITTED] * 5
    assert Annotation.objects.count() == 5


def test_reply_5_opens_only_when_reply_4_is_submitted(plan):
    person = plan[0].annotator.person
    for place in range(3):
        submit(plan[place], key=f"key-of-answer-number-{place}")
    for door in (blind.open_assignment, blind.show_item):
        with pytest.raises(NotYours):
            door(person, plan[4].public_id)
    submit(plan[3], key="key-of-answer-number-3")
    assert blind.open_assignment(person, plan[4].public_id).id == plan[4].pk
    assert blind.show_item(person, plan[4].public_id).public_id == plan[4].public_id


def test_a_plan_of_somebody_else_is_not_opened_by_ones_own_submit(plan):
    theirs = make_plan(make_member(plan[0].annotator.project, "cem"), 2)
    submit(plan[0])
    assert states(theirs) == [State.OPEN, State.LOCKED]


# The key


def test_the_same_key_gives_the_first_receipt_again(plan):
    first = submit(plan[0])
    assert find(plan[0]) == first
    assert submit(plan[0], now=EVEN_LATER, label=FAILS) == first
    assert plan[0].annotations.get().label == READABLE


def test_the_same_key_gives_the_first_receipt_after_other_submits_and_after_a_correction(plan):
    first = submit(plan[0])
    submit(plan[1], key="key-of-the-second-item")
    corrected = submit(plan[0], key=OTHER_KEY, number=1, reason="I misread it.", now=EVEN_LATER)
    assert find(plan[0]) == first
    assert find(plan[0], OTHER_KEY) == corrected
    assert (first.number, corrected.number) == (1, 2)


def test_a_key_is_known_even_when_the_annotator_has_left_or_the_item_was_withdrawn(plan):
    first = submit(plan[0])
    Assignment.objects.filter(pk=plan[0].pk).update(state=State.WITHDRAWN)
    Membership.objects.filter(pk=plan[0].annotator_id).update(left_at=LATER)
    assert find(plan[0]) == first


def test_a_key_belongs_to_its_person_and_item(plan):
    submit(plan[0])
    ben = Membership.objects.get(person__username="ben")
    assert find(plan[1]) is None
    assert labeling.find_receipt(annotator=ben.person, assignment_id=plan[0].public_id, key=KEY) is None


# Two windows


@pytest.mark.fault(24)
def test_of_two_windows_one_is_told_when_the_other_submitted_and_nothing_is_merged(plan):
    submit(plan[0])
    with pytest.raises(AlreadySubmitted) as refusal:
        submit(plan[0], key=OTHER_KEY, label=FAILS, now=EVEN_LATER)
    assert refusal.value.at == LATER
    assert stored(plan[0]) == [(1, KEY, True)]
    assert plan[0].annotations.get().label == READABLE
    assert states(plan)[:3] == [State.SUBMITTED, State.OPEN, State.LOCKED]


def test_of_two_corrections_opened_on_the_same_answer_one_is_refused(plan):
    submit(plan[0])
    submit(plan[0], key=OTHER_KEY, number=1, label=FAILS, now=EVEN_LATER)
    with pytest.raises(AlreadySubmitted) as refusal:
        submit(plan[0], key="key-of-a-third-answer", number=1)
    assert refusal.value.at == EVEN_LATER
    assert stored(plan[0]) == [(1, KEY, False), (2, OTHER_KEY, True)]


def test_a_correction_of_an_item_that_has_no_answer_yet_is_refused(plan):
    with pytest.raises(AlreadySubmitted) as refusal:
        submit(plan[0], number=1, reason="I changed my mind.")
    assert refusal.value.at is None
    assert states(plan)[0] == State.OPEN


@pytest.mark.django_db(transaction=True)
def test_a_double_click_makes_one_annotation_and_both_get_its_receipt():
    plan = make_plan(make_cast().ana, 25)
    for place, assignment in enumerate(plan):
        key = f"key-of-double-click-{place}"

        def click(assignment=assignment, key=key):
            return find(assignment, key) or submit(assignment, key=key)

        first, second = at_once(click, click)
        assert first == second
        assert stored(assignment) == [(1, key, True)]
        assert first.key == key
        assert states(plan).count(State.OPEN) == (place < 24)
    assert states(plan) == [State.SUBMITTED] * 25


@pytest.mark.fault(24)
@pytest.mark.django_db(transaction=True)
def test_of_four_windows_that_submit_at_once_one_is_stored_and_three_are_told():
    plan = make_plan(make_cast().ana, 6)
    for assignment in plan:
        keys = [f"key-of-window-number-{window}" for window in range(4)]
        results = at_once(*(partial(submit, assignment, key=key) for key in keys))
        receipts = [one for one in results if isinstance(one, labeling.Receipt)]
        refusals = [one for one in results if isinstance(one, AlreadySubmitted)]
        assert (len(receipts), len(refusals)) == (1, 3), results
        assert {refusal.at for refusal in refusals} == {LATER}
        assert stored(assignment) == [(1, receipts[0].key, True)]
    assert states(plan) == [State.SUBMITTED] * 6


@pytest.mark.fault(24)
@pytest.mark.django_db(transaction=True)
def test_of_two_corrections_at_once_exactly_one_is_current():
    assignment = make_plan(make_cast().ana, 1)[0]
    submit(assignment)
    for number in range(1, 9):
        keys = [f"key-of-correction-{number}-{window}" for window in range(2)]
        results = at_once(*(partial(submit, assignment, key=key, number=number) for key in keys))
        assert sorted(type(one).__name__ for one in results) == ["AlreadySubmitted", "Receipt"], results
        assert [current for _, _, current in stored(assignment)] == [False] * number + [True]


# Drafts


def test_a_draft_is_kept_beside_the_answer_and_gone_after_the_submit(plan):
    save(plan[0], draft_number=1)
    assert draft_text(plan[0]) == "half"
    submit(plan[0], draft_number=1)
    assert draft_text(plan[0]) is None


def test_a_draft_that_comes_after_the_submit_is_refused_and_changes_nothing(plan):
    submit(plan[0], draft_number=3)
    with pytest.raises(AlreadySubmitted) as refusal:
        save(plan[0], draft_number=4)
    assert refusal.value.at == LATER
    assert draft_text(plan[0]) is None
    assert plan[0].annotations.get().label == READABLE


def test_an_older_draft_does_not_replace_a_newer_one(plan):
    save(plan[0], draft_number=2, text="newer")
    for draft_number in (1, 2):
        with pytest.raises(NewerDraft):
            save(plan[0], draft_number=draft_number, text="older")
    assert draft_text(plan[0]) == "newer"
    save(plan[0], draft_number=3, text="newest")
    assert draft_text(plan[0]) == "newest"


def test_a_draft_of_a_correction_belongs_to_the_answer_it_was_opened_on(plan):
    submit(plan[0], draft_number=1)
    save(plan[0], draft_number=2, number=1, text="better")
    assert draft_text(plan[0]) == "better"
    assert plan[0].annotations.get().label == READABLE
    submit(plan[0], key=OTHER_KEY, number=1, draft_number=3)
    assert draft_text(plan[0]) is None
    with pytest.raises(AlreadySubmitted) as refusal:
        save(plan[0], draft_number=9, number=1, text="late")
    assert refusal.value.at == LATER
    assert draft_text(plan[0]) is None


@pytest.mark.parametrize("state", [State.LOCKED, State.WITHDRAWN, State.PROBLEM])
def test_no_draft_is_kept_for_an_item_one_cannot_see(plan, state):
    save(plan[0], draft_number=1)
    Assignment.objects.filter(pk=plan[0].pk).update(state=state)
    with pytest.raises(NotYours):
        save(plan[0], draft_number=2, text="more")
    assert draft_text(plan[0]) == "half"


def late(draft_number, **fields):
    return lambda plan: save(plan[0], draft_number=draft_number, text="late", **fields)


def correct(plan):
    return submit(plan[0], key=OTHER_KEY, number=1)


# What is under way, the draft that meets it, what it is told, the text and the number that stand afterwards.
MEETINGS = {
    "a submit": (lambda plan: submit(plan[0], draft_number=3), late(9), AlreadySubmitted, (None, 3)),
    "a report": (lambda plan: report(plan[0]), late(9), NotYours, ("half", 2)),
    "a newer draft": (lambda plan: save(plan[0], draft_number=5, text="newer"), late(4), NewerDraft, ("newer", 5)),
    "an older draft": (lambda plan: save(plan[0], draft_number=3, text="older"), late(4), None, ("late", 4)),
}
MEETINGS_LATER = {
    "a correction": (correct, late(9, number=1), AlreadySubmitted, (None, 2)),
    "a newer draft of a correction": (
        lambda plan: save(plan[0], draft_number=5, number=1, text="newer"),
        late(4, number=1),
        NewerDraft,
        ("newer", 5),
    ),
    "a correction that a draft was under way to": (late(9, number=1), correct, None, (None, 9)),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [*MEETINGS, *MEETINGS_LATER])
def test_a_draft_that_meets_something_else_is_as_if_it_came_before_or_after_it(name):
    plan = make_plan(make_cast().ana, 3)
    save(plan[0], draft_number=2)
    if name in MEETINGS_LATER:
        submit(plan[0], draft_number=2)
    first, second, refusal, stands = (MEETINGS | MEETINGS_LATER)[name]
    results = under_way(lambda: first(plan), lambda: second(plan))
    assert not isinstance(results[0], Exception), results
    assert (type(results[1]) if isinstance(results[1], Exception) else None) is refusal, results
    assert (draft_text(plan[0]), plan[0].draft_number) == stands


# Undo and corrections


def test_undo_needs_no_reason_until_the_next_submit(plan):
    submit(plan[0])
    receipt = submit(plan[0], key=OTHER_KEY, number=1, label=FAILS, now=EVEN_LATER)
    assert receipt.number == 2
    assert stored(plan[0]) == [(1, KEY, False), (2, OTHER_KEY, True)]
    assert states(plan)[:3] == [State.SUBMITTED, State.OPEN, State.LOCKED]


def test_after_the_next_submit_a_correction_needs_a_reason(plan):
    submit(plan[0])
    submit(plan[1], key="key-of-the-second-item")
    with pytest.raises(ReasonMissing):
        submit(plan[0], key=OTHER_KEY, number=1, label=FAILS)
    assert stored(plan[0]) == [(1, KEY, True)]
    submit(plan[0], key=OTHER_KEY, number=1, label=FAILS, reason="I misread the table.")
    assert stored(plan[0]) == [(1, KEY, False), (2, OTHER_KEY, True)]
    assert plan[0].annotations.get(number=2).reason == "I misread the table."


def test_the_old_answer_stays_current_until_the_correction_is_submitted(plan):
    submit(plan[0])
    save(plan[0], draft_number=1, number=1, text="on second thoughts")
    shown = blind.show_item(plan[0].annotator.person, plan[0].public_id)
    assert (shown.label, shown.number) == (READABLE, 1)
    assert plan[0].annotations.get(is_current=True).key == KEY


def test_a_correction_never_edits_the_answer_before_it(plan):
    submit(plan[0], timing=Timing(9000, 8000, 0))
    before = Annotation.objects.filter(number=1).values().get()
    submit(plan[0], key=OTHER_KEY, number=1, label=FAILS, now=EVEN_LATER)
    assert Annotation.objects.filter(number=1).values().get() == {**before, "is_current": False}


def test_a_closed_round_takes_no_correction(plan):
    submit(plan[0])
    plan[0].round.closed_at = LATER
    plan[0].round.save(update_fields=["closed_at"])
    with pytest.raises(NotYours):
        submit(plan[0], key=OTHER_KEY, number=1, reason="I misread it.")
    assert stored(plan[0]) == [(1, KEY, True)]
    plan[0].round.closed_at = None
    plan[0].round.save(update_fields=["closed_at"])
    submit(plan[0], key=OTHER_KEY, number=1, reason="I misread it.")
    assert stored(plan[0]) == [(1, KEY, False), (2, OTHER_KEY, True)]


def test_a_closed_round_has_nothing_open_and_keeps_what_was_submitted_readable(plan):
    submit(plan[0])
    person, slug = plan[0].annotator.person, plan[0].annotator.project.slug
    assert blind.next_item(person, slug).public_id == plan[1].public_id
    plan[0].round.closed_at = LATER
    plan[0].round.save(update_fields=["closed_at"])
    assert blind.next_item(person, slug) is None
    with pytest.raises(NotYours):
        submit(plan[1], key=OTHER_KEY)
    assert blind.show_item(person, plan[0].public_id).label == READABLE


def test_undo_is_for_the_item_that_was_submitted_last_wherever_it_stands_in_the_plan(plan):
    report(plan[0])
    give_back(plan[0])
    submit(plan[1], key=OTHER_KEY, now=LATER)
    submit(plan[0], now=EVEN_LATER)
    submit(plan[0], key="key-of-the-undo", number=1, label=FAILS, now=EVEN_LATER)
    assert plan[0].annotations.get(is_current=True).key == "key-of-the-undo"
    with pytest.raises(ReasonMissing):
        submit(plan[1], key="key-of-a-late-correction", number=1, label=FAILS, now=EVEN_LATER)


def test_an_informed_round_marks_its_answers(plan):
    plan[0].round.informed = True
    plan[0].round.save(update_fields=["informed"])
    submit(plan[0])
    assert plan[0].annotations.get().informed is True


# Protocols


def test_the_protocol_stored_is_the_one_the_page_showed_also_after_a_newer_one_is_opened(plan):
    shown = plan[0].annotator.project.protocols.get()
    opened = blind.open_assignment(plan[0].annotator.person, plan[0].public_id)
    newer = make_protocol(plan[0].annotator.project)
    assert [protocol.number for protocol in labeling.protocols_of(opened)] == [2, 1]
    submit(plan[0], protocol=shown)
    assert plan[0].annotations.get().protocol == shown
    submit(plan[1], key=OTHER_KEY, protocol=newer)
    assert plan[1].annotations.get().protocol == newer


# Problems


def report(assignment, text="The file is cut off.", person=None):
    opened = blind.open_assignment(person or assignment.annotator.person, assignment.public_id)
    labeling.report_problem(assignment=opened, text=text, now=LATER)


def give_back(assignment):
    project = assignment.annotator.project
    lea = project.memberships.get(person__username="lea")
    return assigning.give_back(lead=lea.person, project=project, assignment_id=assignment.pk)


def test_a_reported_problem_ends_the_item_without_a_label_and_opens_the_next(plan):
    report(plan[0])
    assert states(plan)[:3] == [State.PROBLEM, State.OPEN, State.LOCKED]
    assert not Annotation.objects.exists()
    post = Post.objects.get()
    assert (post.purpose, post.text) == ("problem", "The file is cut off.")
    assert (post.item_id, post.author, post.round) == (plan[0].item_id, plan[0].annotator, plan[0].round)
    with pytest.raises(NotYours):
        blind.show_item(plan[0].annotator.person, plan[0].public_id)


def test_a_problem_cannot_be_reported_of_a_submitted_item(plan):
    submit(plan[0])
    with pytest.raises(AlreadySubmitted):
        report(plan[0])
    assert states(plan)[0] == State.SUBMITTED
    assert not Post.objects.exists()


def test_an_item_that_was_given_back_does_not_let_the_annotator_read_ahead(plan):
    report(plan[0])
    give_back(plan[0])
    submit(plan[0])
    assert states(plan)[:3] == [State.SUBMITTED, State.OPEN, State.LOCKED]
    submit(plan[1], key=OTHER_KEY)
    assert states(plan)[:4] == [State.SUBMITTED, State.SUBMITTED, State.OPEN, State.LOCKED]


def test_reading_goes_on_when_the_item_ahead_is_submitted_before_the_one_given_back(plan):
    report(plan[0])
    give_back(plan[0])
    submit(plan[1], key=OTHER_KEY)
    assert states(plan)[:4] == [State.OPEN, State.SUBMITTED, State.OPEN, State.LOCKED]
    submit(plan[0])
    assert states(plan)[:4] == [State.SUBMITTED, State.SUBMITTED, State.OPEN, State.LOCKED]


# Times


def test_times_are_bounded_by_how_long_the_item_was_on_show(plan):
    labeling.mark_shown(annotator=plan[0].annotator.person, assignment_id=plan[0].public_id, now=NOW)
    submit(plan[0], timing=Timing(10**9, 10**9, 10**9), now=LATER)
    annotation = plan[0].annotations.get()
    assert (annotation.raw_ms, annotation.active_ms, annotation.hidden_ms) == (60_000, 60_000, 60_000)


@pytest.mark.parametrize("told", [0, 1, 30_000, 10**9])
def test_raw_time_of_a_first_answer_is_from_first_shown_to_submitted_whatever_the_page_says(plan, told):
    labeling.mark_shown(annotator=plan[0].annotator.person, assignment_id=plan[0].public_id, now=NOW)
    submit(plan[0], timing=Timing(told, 4000, 500), now=LATER)
    annotation = plan[0].annotations.get()
    assert (annotation.raw_ms, annotation.active_ms, annotation.hidden_ms) == (60_000, 4000, 500)


def test_raw_time_of_a_correction_is_how_long_its_own_form_was_open(plan):
    labeling.mark_shown(annotator=plan[0].annotator.person, assignment_id=plan[0].public_id, now=NOW)
    submit(plan[0], now=LATER)
    submit(plan[0], key=OTHER_KEY, number=1, timing=Timing(7000, 6000, 500), now=EVEN_LATER)
    annotation = plan[0].annotations.get(number=2)
    assert (annotation.raw_ms, annotation.active_ms, annotation.hidden_ms) == (7000, 6000, 500)


@pytest.mark.parametrize(
    ("told", "first", "correction"),
    [
        (Timing(5000, 4000, 500), Timing(60_000, 4000, 500), Timing(5000, 4000, 500)),
        (Timing(5000, 9000, 7000), Timing(60_000, 9000, 7000), Timing(5000, 5000, 5000)),
        (Timing(-5, -5, -5), Timing(60_000, 0, 0), Timing(0, 0, 0)),
        (Timing(61_000, 60_500, 70_000), Timing(60_000, 60_000, 60_000), Timing(60_000, 60_000, 60_000)),
    ],
)
def test_active_and_hidden_time_are_at_most_raw_time_and_nothing_is_negative(told, first, correction):
    assert told.bounded(NOW, LATER, is_first=True) == first
    assert told.bounded(NOW, LATER, is_first=False) == correction


@pytest.mark.parametrize("is_first", [True, False])
def test_an_item_that_was_never_on_show_took_no_time(is_first):
    for shown in (None, EVEN_LATER):
        assert Timing(5000, 4000, 0).bounded(shown, LATER, is_first=is_first) == Timing(0, 0, 0)


def test_a_second_look_does_not_change_when_an_item_was_first_shown(plan):
    for now in (NOW, LATER):
        labeling.mark_shown(annotator=plan[0].annotator.person, assignment_id=plan[0].public_id, now=now)
    plan[0].refresh_from_db()
    assert plan[0].first_shown_at == NOW


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["a look", "a submit"])
def test_a_look_that_meets_something_else_does_not_change_when_an_item_was_first_shown(first):
    assignment = make_plan(make_cast().ana, 2)[0]

    def look(now):
        labeling.mark_shown(annotator=assignment.annotator.person, assignment_id=assignment.public_id, now=now)

    shown = NOW if first == "a look" else None
    results = under_way(lambda: look(NOW) if shown else submit(assignment) and None, lambda: look(LATER))
    assert results == [None, None]
    assignment.refresh_from_db()
    assert assignment.first_shown_at == shown


@pytest.mark.parametrize("hidden", ["locked", "foreign", "left", "paused"])
def test_an_item_one_cannot_see_is_not_marked_as_shown(plan, hidden):
    person = hide(plan[0], hidden)
    labeling.mark_shown(annotator=person, assignment_id=plan[0].public_id, now=NOW)
    plan[0].refresh_from_db()
    assert plan[0].first_shown_at is None


# Not yours


def hide(assignment, how):
    """Make the assignment one that the person returned may not open."""
    rows, members = Assignment.objects.filter(pk=assignment.pk), Membership.objects.filter(pk=assignment.annotator_id)
    if how in State.values:
        rows.update(state=how)
    elif how == "paused":
        members.update(paused_at=NOW)
    elif how == "left":
        members.update(left_at=NOW)
    elif how == "foreign":
        return Membership.objects.get(person__username="ben").person
    elif how == "of another project":
        return Membership.objects.get(person__username="zoe").person
    return assignment.annotator.person


@pytest.mark.parametrize("how", ["foreign", "of another project", "locked", "withdrawn", "problem", "paused", "left"])
def test_what_is_not_ones_own_to_open_is_one_refusal_for_every_action(plan, how):
    save(plan[0], draft_number=1)
    person = hide(plan[0], how)
    before = Assignment.objects.filter(pk=plan[0].pk).values().get()
    for action in (
        lambda: blind.show_item(person, plan[0].public_id),
        lambda: submit(plan[0], person=person),
        lambda: report(plan[0], person=person),
        lambda: save(plan[0], draft_number=2, person=person),
        lambda: blind.show_item(person, "there-is-no-such-item"),
    ):
        with pytest.raises(NotYours) as refusal:
            action()
        assert str(refusal.value) == ""
    assert Assignment.objects.filter(pk=plan[0].pk).values().get() == before
    assert not Annotation.objects.exists()
    assert not Post.objects.exists()


@pytest.mark.parametrize("change", ["the round is closed", "the person left", "the person is paused"])
def test_a_correction_that_was_under_way_is_refused_after(plan, change):
    submit(plan[0])
    opened = blind.open_assignment(plan[0].annotator.person, plan[0].public_id)
    if change == "the round is closed":
        Round.objects.update(closed_at=LATER)
    else:
        Membership.objects.update(**{"left_at" if "left" in change else "paused_at": LATER})
    with pytest.raises(NotYours):
        labeling.submit_annotation(assignment=opened, key="k" * 20, new=answer(plan[0], number=1), now=LATER)
    assert plan[0].annotations.count() == 1
