"""Settling: what is apart, who may settle, two at once, sending back, the judge covered, the end of a project."""

import json
from types import SimpleNamespace

import pytest
from django.db import IntegrityError, transaction

from annotate import assigning, blind, labeling, release_queries, releasing, review_queries, reviewing, work
from annotate.errors import AnswersChanged, NotYours, Refused, SettledMeanwhile
from annotate.forms import new_annotation
from annotate.kinds.base import LabelError
from annotate.labeling import Timing
from annotate.models import Annotation, Assignment, Disagreement, Event, Project, Role, SentBack, Settlement, Work
from annotate.reviewing import Decision
from scoring import comparing
from tests.factories import (
    NOW,
    make_annotation,
    make_cast,
    make_item,
    make_member,
    make_protocol,
    make_round,
    make_submitted,
)

pytestmark = pytest.mark.django_db
READABLE = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
SPAN = {"start": 0, "end": 3, "type": "definition", "quote": "The"}
NEEDY = {**READABLE, "label": "needs_information", "spans": [SPAN]}
ELSEWHERE = {**NEEDY, "spans": [{"start": 4, "end": 9, "type": "definition", "quote": "first"}]}
WELL = {"cause": "slip", "confidence": "high"}
KEY = "a-fresh-key-0123456789"


@pytest.fixture
def cast(monkeypatch):
    """Five items on which ana, ben and cem differ in the verdict, in the passages, and in nothing."""
    monkeypatch.setattr(comparing, "N_RESAMPLES", 20)  # the figures are not what is looked at
    rows = make_cast()
    cast = SimpleNamespace(**{name: getattr(rows, name) for name in rows.__dataclass_fields__})
    cast.cem = make_member(cast.project, "cem")
    cast.people = (cast.ana, cast.ben, cast.cem)
    cast.items = {}
    for name, labels in {
        "split": (READABLE, NEEDY, NEEDY),
        "spans": (NEEDY, ELSEWHERE, NEEDY),
        "same": (READABLE, READABLE, READABLE),
        "worst": (READABLE, NEEDY, {**READABLE, "label": "unrepairable_or_no_answer", "states_no_result": True}),
        "alone": (READABLE,),
    }.items():
        item = cast.items[name] = make_item(cast.project)
        for member, label in zip(cast.people, labels, strict=False):
            make_submitted(member, item, label)
    return cast


def queue(cast, state="open", **filters):
    part = reviewing.part_of(cast.rita.person, cast.project.slug)
    return reviewing.show_queue(part=part, state=state, limit=100, **filters)


def names(cast, shown):
    """The names of the items in the queue, in their order."""
    of = {item.pk: name for name, item in cast.items.items()}
    ids = dict(Disagreement.objects.values_list("public_id", "item"))
    return [of[ids[row.public_id]] for row in shown.rows]


def open_card(cast, name, who=None):
    who = who or cast.rita
    part = reviewing.part_of(who.person, cast.project.slug)
    reviewing.refresh_queue(cast.project)
    return reviewing.open_card(part=part, public_id=cast.items[name].disagreement.public_id)


def settle(cast, card, who=None, key=KEY, **values):
    decision = values.pop("decision", None) or Decision(adopted=values.pop("adopted", ""), **{**WELL, **values})
    return reviewing.settle_item(
        reviewer=(who or cast.rita).person,
        slug=cast.project.slug,
        public_id=card.public_id,
        key=key,
        base=card.base,
        seen=card.seen,
        decision=decision,
    )


def send_back(cast, card, key=KEY, reason="Look at the first line.", who=None, names=None):
    return reviewing.send_back(
        reviewer=(who or cast.rita).person,
        slug=cast.project.slug,
        public_id=card.public_id,
        key=key,
        seen=card.seen,
        names=[one.name for one in card.answers] if names is None else names,
        reason=reason,
        now=NOW,
    )


def answer_with(card, label):
    return next(one for one in card.answers if one.label == label)


# The queue


def test_what_matters_most_comes_first_and_spans_alone_are_in_it(cast):
    shown = queue(cast)
    assert names(cast, shown) == ["worst", "split", "spans"]
    assert [row.differing for row in shown.rows] == [
        ("fail", "label", "no_result"), ("fail", "label"), ("elsewhere",),
    ]  # fmt: skip
    assert shown.counts == {"open": 3, "waiting": 0, "settled": 0, "unresolved": 0}


def test_the_weight_is_half_distance_and_half_measures(cast):
    queue(cast)
    # split: two of three pairs differ, each by 0.5 + 0.125 + 0.25 of the kind's distance: mean 0.583333;
    # fail and label differ on 2/3 of the pairs, no_result on none: mean 4/9.
    assert cast.items["split"].disagreement.weight == pytest.approx((2 * 0.875 / 3 + 4 / 9) / 2, abs=1e-6)
    assert cast.items["same"].disagreement.weight == 0
    assert cast.items["alone"].disagreement.weight == 0


def test_filters_narrow_the_queue(cast):
    assert names(cast, queue(cast, measure="no_result")) == ["worst"]
    assert names(cast, queue(cast, measure="elsewhere")) == ["spans"]
    assert names(cast, queue(cast, phase="pilot")) == []
    assert names(cast, queue(cast, phase="main", measure="fail")) == ["worst", "split"]


def test_a_correction_moves_an_item_and_keeps_its_address(cast):
    queue(cast)
    before = Disagreement.objects.get(item=cast.items["worst"]).public_id
    for member in cast.people:
        make_annotation(member.assignments.get(item=cast.items["worst"]), READABLE)
    assert names(cast, queue(cast)) == ["split", "spans"]
    assert Disagreement.objects.get(item=cast.items["worst"]).public_id == before


def test_informed_labels_practice_and_other_projects_change_no_weight(cast):
    before = [(row.public_id, row.weight) for row in queue(cast).rows]
    informed = make_round(cast.project, purpose="informed", informed=True)
    for member in cast.people:
        make_annotation(
            make_submitted(member, cast.items["same"], NEEDY, round=informed), READABLE, informed=True
        )
    practice = make_item(cast.project, phase="practice")
    make_submitted(cast.ana, practice, READABLE)
    make_submitted(cast.ben, practice, NEEDY)
    make_submitted(cast.zoe)
    assert [(row.public_id, row.weight) for row in queue(cast).rows] == before


def test_labels_under_other_labels_of_the_question_are_not_compared(cast):
    schema = {**cast.project.protocols.get().label_schema, "more": True}
    newer = make_protocol(cast.project, label_schema=schema)
    make_annotation(cast.ana.assignments.get(item=cast.items["split"]), NEEDY, protocol=newer)
    assert "split" not in names(cast, queue(cast))


def test_another_guideline_alone_leaves_nothing_out(cast):
    newer = make_protocol(cast.project)
    make_annotation(cast.ana.assignments.get(item=cast.items["split"]), READABLE, protocol=newer)
    assert "split" in names(cast, queue(cast))


def test_deactivating_somebody_changes_no_weight(cast):
    before = [(row.public_id, row.weight) for row in queue(cast).rows]
    cast.ben.left_at = NOW
    cast.ben.save()
    assert [(row.public_id, row.weight) for row in queue(cast).rows] == before


@pytest.mark.parametrize("n_more", [0, 40])
def test_the_queue_takes_a_fixed_number_of_statements(cast, n_more, django_assert_num_queries):
    for _ in range(n_more):
        item = make_item(cast.project)
        make_submitted(cast.ana, item, READABLE)
        make_submitted(cast.ben, item, NEEDY)
    queue(cast)
    with django_assert_num_queries(5):  # the part; what changed; the newest protocol; the page; the counts
        queue(cast)


def test_what_changed_is_worked_in_with_three_statements_more(cast, django_assert_num_queries):
    queue(cast)
    make_annotation(cast.ana.assignments.get(item=cast.items["same"]), NEEDY)
    with django_assert_num_queries(8):  # their labels, the protocols and what was worked out
        shown = queue(cast)
    assert "same" in names(cast, shown)


def test_a_card_takes_a_fixed_number_of_statements(cast, django_assert_num_queries):
    part = reviewing.part_of(cast.rita.person, cast.project.slug)
    public_id = open_card(cast, "split").public_id
    with django_assert_num_queries(7):
        reviewing.open_card(part=part, public_id=public_id)


# The card


def test_answers_stand_under_letters_in_an_order_of_ones_own(cast):
    second = make_member(cast.project, "rob", Role.REVIEWER)
    orders = set()
    for who in (cast.rita, second):
        for name in ("split", "spans", "worst", "same"):
            card = open_card(cast, name, who)
            assert [one.name for one in card.answers] == ["A", "B", "C"]
            owner = dict(Annotation.objects.values_list("pk", "assignment__annotator__code"))
            orders.add(tuple(owner[one.id] for one in card.answers))
            assert open_card(cast, name, who).answers == card.answers
    assert len(orders) > 1


def test_what_differs_is_marked(cast):
    card = open_card(cast, "split")
    assert {one.label["label"]: one.differs for one in card.answers} == {"readable": True, "needs_information": False}
    assert [row.name for row in card.compared if row.differs] == ["fail", "label"]
    apart = [cell.title for row in card.compared for cell in row.cells if cell.is_apart]
    assert apart == ["passes", "readable"]


def test_an_item_without_a_place_in_the_queue_is_nobodys(cast):
    part = reviewing.part_of(cast.rita.person, cast.project.slug)
    with pytest.raises(NotYours):
        reviewing.open_card(part=part, public_id="never-was")
    reviewing.refresh_queue(cast.other_project)
    with pytest.raises(NotYours):
        reviewing.part_of(cast.ana.person, cast.project.slug)
    with pytest.raises(NotYours):
        reviewing.part_of(cast.zoe.person, cast.project.slug)


# Settling


def test_an_answer_is_adopted_with_what_it_rests_on(cast):
    card = open_card(cast, "split")
    taken = answer_with(card, NEEDY)
    receipt = settle(cast, card, adopted=taken.name, note="Plain.")
    row = Settlement.objects.get(item=cast.items["split"])
    assert (row.label, row.how, row.person, row.cause, row.confidence, row.note) == (
        NEEDY, "reviewer", cast.rita.person, "slip", "high", "Plain.",
    )  # fmt: skip
    assert row.protocol.number == 1
    assert {one["annotation"] for one in row.rests_on} == {one.id for one in card.answers}
    assert [one["annotation"] for one in row.rests_on if one["adopted"]] == [taken.id]
    assert receipt.number == 1
    assert Event.objects.filter(action="item_settled", person=cast.rita.person).count() == 1
    assert names(cast, queue(cast)) == ["worst", "spans"]
    assert names(cast, queue(cast, "settled")) == ["split"]


def test_a_label_of_ones_own_is_checked_against_the_text(cast):
    card = open_card(cast, "split")
    wrong = {**NEEDY, "spans": [{**SPAN, "quote": "nope"}]}
    with pytest.raises(LabelError, match="quoted words"):
        settle(cast, card, label=wrong)
    settle(cast, card, label=NEEDY)
    assert Settlement.objects.get(item=cast.items["split"]).label == NEEDY


def test_neither_is_unresolved(cast):
    settle(cast, open_card(cast, "worst"), cause="ambiguous", confidence="low")
    row = Settlement.objects.get(item=cast.items["worst"])
    assert (row.how, row.label) == ("unresolved", None)
    assert names(cast, queue(cast, "unresolved")) == ["worst"]


@pytest.mark.parametrize(
    ("values", "field"),
    [({"cause": ""}, "cause"), ({"confidence": "very"}, "confidence"), ({"adopted": "Q"}, "answer"),
     ({"note": "x" * 2001}, "note")],
)  # fmt: skip
def test_what_is_missing_is_named_and_nothing_is_stored(cast, values, field):
    with pytest.raises(LabelError) as refused:
        settle(cast, open_card(cast, "split"), **values)
    assert [problem.field for problem in refused.value.problems] == [field]
    assert not Settlement.objects.exists()


@pytest.mark.fault(26)
def test_of_two_reviewers_the_second_is_told_and_nothing_is_lost(cast):
    second = make_member(cast.project, "rob", Role.REVIEWER)
    first_card, second_card = open_card(cast, "split"), open_card(cast, "split", second)
    settle(cast, first_card, adopted=answer_with(first_card, NEEDY).name)
    theirs = answer_with(second_card, READABLE).name
    with pytest.raises(SettledMeanwhile):
        settle(cast, second_card, who=second, key="another-key-0123456789", adopted=theirs)
    assert Settlement.objects.get().label == NEEDY
    again = open_card(cast, "split", second)
    settle(cast, again, who=second, key="another-key-0123456789", adopted=answer_with(again, READABLE).name)
    assert [(row.label, row.is_current) for row in Settlement.objects.order_by("pk")] == [
        (NEEDY, False), (READABLE, True),
    ]  # fmt: skip


def test_a_known_key_is_answered_before_any_check(cast):
    card = open_card(cast, "split")
    first = settle(cast, card, adopted="A")
    make_annotation(cast.ana.assignments.get(item=cast.items["split"]), NEEDY)
    assert settle(cast, card, adopted="nothing like it") == first
    found = reviewing.find_settled(
        reviewer=cast.rita.person, slug=cast.project.slug, public_id=card.public_id, key=KEY
    )
    assert found == first
    assert Settlement.objects.count() == 1


def test_an_answer_that_changed_meanwhile_is_never_adopted_by_its_letter(cast):
    card = open_card(cast, "split")
    make_annotation(cast.ana.assignments.get(item=cast.items["split"]), NEEDY)
    with pytest.raises(AnswersChanged):
        settle(cast, card, adopted="A")
    assert not Settlement.objects.exists()


def test_settling_anew_adds_a_row_and_keeps_the_old_one(cast):
    card = open_card(cast, "split")
    settle(cast, card, adopted="A")
    again = open_card(cast, "split")
    assert (again.base, again.current.number) == (1, 1)
    assert settle(cast, again, key="another-key-0123456789", cause="bad_item").number == 2
    assert [one.is_current for one in open_card(cast, "split").stored] == [False, True]


def test_the_database_keeps_one_current_settlement_and_known_causes(cast):
    settle(cast, open_card(cast, "split"), adopted="A")
    for fields in ({"is_current": True}, {"is_current": False, "cause": "mood"}, {"is_current": False, "key": KEY}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Settlement.objects.create(item=cast.items["split"], how="reviewer", label=NEEDY, **fields)


def test_a_lead_settles_only_where_leads_label_too(cast):
    card = open_card(cast, "split", cast.lea)
    assert not card.may_settle
    with pytest.raises(NotYours):
        settle(cast, card, who=cast.lea, adopted="A")
    Project.objects.update(open_lead=True)
    settle(cast, open_card(cast, "split", cast.lea), who=cast.lea, adopted="A")
    assert Settlement.objects.get().person == cast.lea.person


def test_an_annotator_and_a_reviewer_who_left_settle_nothing(cast):
    card = open_card(cast, "split")
    with pytest.raises(NotYours):
        settle(cast, card, who=cast.ana, adopted="A")
    cast.rita.left_at = NOW
    cast.rita.save()
    with pytest.raises(NotYours):
        settle(cast, card, adopted="A")


# Sending back


def test_sent_back_items_go_to_those_who_labelled_with_the_reason_for_them_alone(cast):
    make_member(cast.project, "dan")
    card = open_card(cast, "split")
    assert send_back(cast, card) == 3
    round_ = cast.project.rounds.get(purpose="sent_back")
    assert round_.informed
    for member in cast.people:
        assignment = member.assignments.get(round=round_)
        assert assignment.state == Assignment.State.OPEN
        item = blind.show_item(member.person, assignment.public_id)
        assert item.sent_back == "Look at the first line."
    first = cast.ana.assignments.get(item=cast.items["spans"])
    assert blind.show_item(cast.ana.person, first.public_id).sent_back == ""
    assert names(cast, queue(cast, "waiting")) == ["split"]
    assert "split" not in names(cast, queue(cast))


def test_only_those_who_are_chosen_get_it(cast):
    card = open_card(cast, "split")
    assert send_back(cast, card, names=[answer_with(card, READABLE).name]) == 1
    assert SentBack.objects.get().assignment.annotator == cast.ana


def figures(cast):
    return comparing.agreement_report(cast.project).as_dict()["measures"]


def answer_again(member, label=READABLE):
    assignment = member.assignments.get(round__purpose="sent_back", round__closed_at=None)
    opened = blind.open_assignment(member.person, assignment.public_id)
    new = new_annotation(
        data=label, protocol=labeling.protocols_of(opened)[0], number=0, draft_number=0,
        timing=Timing(0, 0, 0), reason="", kind=opened.kind, text=opened.text, shown=opened.shown,
    )  # fmt: skip
    labeling.submit_annotation(assignment=opened, key=f"again-{member.pk}-{assignment.pk:014}", new=new, now=NOW)


def test_what_is_answered_then_is_informed_and_never_a_vote(cast):
    figures_before = figures(cast)
    before = [(row.public_id, row.weight) for row in queue(cast).rows]
    send_back(cast, open_card(cast, "split"))
    for member in cast.people:
        answer_again(member)
    assert set(Annotation.objects.filter(assignment__round__purpose="sent_back").values_list("informed")) == {(True,)}
    assert [(row.public_id, row.weight) for row in queue(cast).rows] == before
    assert figures(cast) == figures_before
    card = open_card(cast, "split")
    assert [one.name for one in card.answers] == ["A", "B", "C", "A/2", "B/2", "C/2"]
    assert [one.is_again for one in card.answers] == [False] * 3 + [True] * 3
    settle(cast, card, adopted="B/2")
    assert Settlement.objects.get().label == READABLE


def test_the_same_key_sends_nothing_twice(cast):
    card = open_card(cast, "split")
    assert send_back(cast, card) == send_back(cast, card) == 3
    assert SentBack.objects.count() == 3


def test_it_is_sent_back_again_in_a_round_of_its_own_once_all_is_answered(cast):
    send_back(cast, open_card(cast, "split"))
    with pytest.raises(Refused, match="have the item back"):
        send_back(cast, open_card(cast, "split"), key="another-key-0123456789")
    for member in cast.people:
        answer_again(member)
    assert send_back(cast, open_card(cast, "split"), key="another-key-0123456789", reason="Once more.") == 3
    assert [row.closed_at is None for row in cast.project.rounds.filter(purpose="sent_back")] == [False, True]


def test_items_sent_back_gather_in_one_round(cast):
    send_back(cast, open_card(cast, "split"))
    send_back(cast, open_card(cast, "worst"), key="another-key-0123456789")
    assert cast.project.rounds.filter(purpose="sent_back").count() == 1
    states = cast.ana.assignments.filter(round__purpose="sent_back").order_by("order").values_list("state", flat=True)
    assert list(states) == ["open", "locked"]


def test_nothing_is_sent_without_a_reason_to_nobody_or_by_nobody(cast):
    card = open_card(cast, "split")
    with pytest.raises(Refused, match="told why"):
        send_back(cast, card, reason="")
    with pytest.raises(Refused, match="Somebody whose answer is chosen"):
        send_back(cast, card, names=[])
    with pytest.raises(NotYours):
        send_back(cast, open_card(cast, "split", cast.lea), who=cast.lea)
    for member in cast.people:
        member.left_at = NOW
        member.save()
    with pytest.raises(Refused, match="has a part in the project still"):
        send_back(cast, open_card(cast, "split"))
    assert not SentBack.objects.exists()
    assert not cast.project.rounds.filter(purpose="sent_back").exists()


# The judge


def test_the_verdict_is_covered_until_ones_own_is_stored_and_seeing_it_is_kept(cast):
    second = make_member(cast.project, "rob", Role.REVIEWER)
    card = open_card(cast, "split")
    look = {"slug": cast.project.slug, "public_id": card.public_id, "now": NOW}
    with pytest.raises(NotYours):
        reviewing.uncover_verdict(person=cast.rita.person, **look)
    settle(cast, card, adopted="A")
    with pytest.raises(NotYours):
        reviewing.uncover_verdict(person=second.person, **look)
    settle(cast, open_card(cast, "split"), key="another-key-0123456789", adopted="B")
    reviewing.uncover_verdict(person=cast.rita.person, **look)
    reviewing.uncover_verdict(person=cast.rita.person, **look)
    settle(cast, open_card(cast, "split"), key="a-third-key-0123456789", adopted="C")
    assert list(Settlement.objects.order_by("pk").values_list("after_verdict", flat=True)) == [False, False, True]
    assert Event.objects.filter(action="verdict_uncovered").count() == 1


# Releases


def seal(cast, rule="reviewed"):
    return releasing.seal_release(
        person=cast.lea.person, project=cast.project, rule=rule, agreement={}, now=NOW
    )


def test_a_reviewed_release_takes_what_was_settled_and_the_majority_elsewhere(cast):
    card = open_card(cast, "split")
    settle(cast, card, adopted=answer_with(card, READABLE).name)
    settle(cast, open_card(cast, "worst"))
    sealed = {row.item_id: (row.how, row.label and row.label["label"]) for row in seal(cast).items.all()}
    assert sealed[cast.items["split"].pk] == ("reviewer", "readable")
    assert sealed[cast.items["worst"].pk] == ("unresolved", None)
    assert sealed[cast.items["same"].pk] == ("consensus", "readable")
    votes = {row.item_id: row.how for row in seal(cast, "majority").items.all()}
    assert votes[cast.items["split"].pk] == "majority"


def test_what_was_settled_under_another_protocol_is_not_in_a_release(cast):
    card = open_card(cast, "split")
    settle(cast, card, adopted=answer_with(card, READABLE).name)
    newer = make_protocol(cast.project)
    for member in cast.people:
        make_annotation(member.assignments.get(item=cast.items["split"]), NEEDY, protocol=newer)
    row = seal(cast).items.get(item=cast.items["split"])
    assert (row.how, row.label["label"]) == ("consensus", "needs_information")


# The end


def close(cast, **values):
    return reviewing.close_project(
        lead=cast.lea.person, project=cast.project, now=NOW, **{"show_settled": True, "knowingly": True, **values}
    )


def test_a_closed_project_gives_nobody_anything_any_more(cast):
    waiting = make_item(cast.project)
    assigning.extend_panel(project=cast.project, now=NOW)
    assert cast.ana.assignments.filter(item=waiting).exists()
    with pytest.raises(Refused, match="cannot be opened again"):
        close(cast, knowingly=False)
    assert close(cast)
    assert not close(cast)
    assert not cast.project.rounds.filter(closed_at=None).exists()
    assert cast.ana.assignments.get(item=waiting).state == Assignment.State.WITHDRAWN
    cast.project.refresh_from_db()
    make_item(cast.project)
    assert assigning.extend_panel(project=cast.project, now=NOW) == 0
    with pytest.raises(Refused, match="not closed"):
        send_back(cast, open_card(cast, "split"))
    settle(cast, open_card(cast, "split"), adopted="A")


def test_only_a_lead_closes(cast):
    with pytest.raises(NotYours):
        reviewing.close_project(
            lead=cast.rita.person, project=cast.project, show_settled=True, knowingly=True, now=NOW
        )


def shown_to(member, item):
    return blind.show_item(member.person, member.assignments.get(item=item).public_id).settled


def test_what_was_settled_is_told_in_a_closed_project_where_the_lead_allows_it(cast):
    card = open_card(cast, "split")
    settle(cast, card, adopted=answer_with(card, NEEDY).name)
    settle(cast, open_card(cast, "worst"))
    assert shown_to(cast.ana, cast.items["split"]) is None
    close(cast)
    told = shown_to(cast.ana, cast.items["split"])
    assert (told.label, told.is_same) == (NEEDY, False)
    assert "the label" in told.differing
    assert shown_to(cast.ben, cast.items["split"]).is_same
    assert shown_to(cast.ana, cast.items["worst"]).label is None
    assert shown_to(cast.ana, cast.items["same"]) is None
    listed = blind.own_annotations(cast.ana.person, cast.project.slug, before=None, limit=50)
    assert sorted(one.settled.is_same for one in listed if one.settled) == [False, False]


def test_nothing_is_told_where_the_lead_does_not_allow_it(cast):
    settle(cast, open_card(cast, "split"), adopted="A")
    close(cast, show_settled=False)
    assert shown_to(cast.ana, cast.items["split"]) is None
    assert not any(
        one.settled for one in blind.own_annotations(cast.ana.person, cast.project.slug, before=None, limit=50)
    )


def test_who_saw_what_was_settled_is_in_the_log_once_and_in_the_release(cast):
    settle(cast, open_card(cast, "split"), adopted="A")
    close(cast)
    for _ in range(2):
        labeling.mark_settled_seen(annotator=cast.ana.person, project_slug=cast.project.slug, now=NOW)
    assert Event.objects.filter(action="settled_seen").count() == 1
    release = seal(cast)
    saw = {one["annotator"]: one["saw_settled"] for one in json.loads(release.manifest)["people"]}
    assert saw == {cast.ana.code: True, cast.ben.code: False, cast.cem.code: False}


def test_settled_rows_are_no_votes(cast):
    figures_before = figures(cast)
    for number, name in enumerate(("split", "worst", "spans")):
        settle(cast, open_card(cast, name), key=f"one-key-of-many-{number:04}", adopted="A")
    assert figures(cast) == figures_before
    assert release_queries.labels_by_protocol(cast.project)[0].n_labels == 13


def test_the_queue_reads_only_what_is_settled_by_reviewers(cast):
    assert set(review_queries.PHASES) == {"main", "pilot"}


# Many at once


def test_an_opening_compares_what_one_can_wait_for_and_a_job_does_the_others(cast, monkeypatch):
    monkeypatch.setattr(reviewing, "AT_ONCE", 1)
    n = len(review_queries.changed_items(cast.project))
    assert n > 2
    first = queue(cast, state="all")
    assert (first.n_left, Disagreement.objects.filter(project=cast.project).count()) == (n - 1, 1)
    second = queue(cast, state="all")
    assert second.n_left == n - 2
    (job,) = Work.objects.filter(kind=reviewing.KIND)
    work.drain()
    job.refresh_from_db()
    assert (job.state, job.result) == ("done", {"n_items": n - 2})
    whole = queue(cast, state="all")
    assert (whole.n_left, Disagreement.objects.filter(project=cast.project).count()) == (0, n)


def test_a_job_that_is_done_does_not_keep_later_labels_from_another(cast, monkeypatch):
    monkeypatch.setattr(reviewing, "AT_ONCE", 1)
    queue(cast)
    work.drain()
    for _ in range(3):
        make_submitted(cast.ana, make_item(cast.project), "readable")
    assert queue(cast).n_left == 2
    assert Work.objects.filter(kind=reviewing.KIND, state="waiting").count() == 1
