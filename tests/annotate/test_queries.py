"""Named reads: how many statements each takes, also over many rows, and what it leaves out."""

import pytest

from annotate import lead_queries, queries
from annotate.models import Assignment, ImportBatch, Membership, Post
from annotate.traces import base
from tests.factories import (
    NOW,
    make_assignment,
    make_batch,
    make_cast,
    make_item,
    make_plan,
    make_round,
    make_submitted,
    make_trace,
)

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def cast(db):
    return make_cast()


def messages(cast, assignment):
    return list(queries.messages_shown(assignment.item.trace_id, up_to=9, requester_only=True))


def plannable(cast, assignment):
    return queries.plannable_items(cast.project.pk, cast.ben.pk)


READS = {
    "own_assignment": lambda cast, one: queries.own_assignment(cast.ana.person, one.public_id),
    "first_open": lambda cast, one: queries.first_open(cast.ana.person, cast.project.slug),
    "messages_shown": messages,
    "files_shown": lambda cast, one: list(queries.files_shown(one.item.trace_id, up_to=9)),
    "protocols_of": lambda cast, one: [row.label_schema for row in queries.protocols_of(cast.project.pk)],
    "pace_of": lambda cast, one: queries.pace_of(one),
    "current_annotation": lambda cast, one: queries.current_annotation(one.pk),
    "active_memberships": lambda cast, one: list(queries.active_memberships(cast.ana.person)),
    "memberships_of": lambda cast, one: [row.project.slug for row in queries.memberships_of(cast.ana.person)],
    "plannable_items": plannable,
    "last_place": lambda cast, one: queries.last_place(cast.ana.pk, one.round_id),
    "problem_reports": lambda cast, one: lead_queries.problem_reports(cast.project),
    "own_submitted": lambda cast, one: list(queries.own_submitted(cast.ana.person, cast.project.slug, before=None)),
    "guideline_for": lambda cast, one: queries.guideline_for(cast.ana.person, cast.project.slug),
    "led_projects": lambda cast, one: list(lead_queries.led_projects(cast.lea.person)),
    "member_progress": lambda cast, one: [row.person.username for row in lead_queries.member_progress(cast.project)],
    "batches_of": lambda cast, one: list(lead_queries.batches_of(cast.project)),
    "of_who_left": lambda cast, one: lead_queries.of_who_left(cast.project),
    "n_problems": lambda cast, one: lead_queries.n_problems(cast.project, phase="main"),
}


@pytest.mark.parametrize("name", READS)
def test_a_read_takes_one_statement_however_much_there_is(cast, name, django_assert_num_queries):
    for _ in range(6):
        make_submitted(cast.ana)
        make_submitted(cast.ben)
    make_plan(cast.ana, 20)
    assignment = Assignment.objects.select_related("item", "annotator").filter(annotator=cast.ana).last()
    with django_assert_num_queries(1):
        READS[name](cast, assignment)


def test_what_comes_later_or_is_private_is_not_even_read(cast):
    files = [base.File("early.csv", "a", 0), base.File("later.csv", "b", 3)]
    trace = make_trace(cast.project, files=files)
    assert [file.name for file in queries.files_shown(trace.pk, up_to=3)] == ["early.csv"]
    assert [file.name for file in queries.files_shown(trace.pk, up_to=4)] == ["early.csv", "later.csv"]
    indexes = [message.index for message in queries.messages_shown(trace.pk, up_to=3, requester_only=True)]
    assert indexes == [0, 3]
    indexes = [message.index for message in queries.messages_shown(trace.pk, up_to=4, requester_only=False)]
    assert indexes == [0, 1, 2, 3, 4]


# For leads


def test_progress_counts_each_members_assignments_by_state(cast):
    make_submitted(cast.ana)
    make_assignment(cast.ana, state=State.PROBLEM)
    make_assignment(cast.ana)
    members = lead_queries.member_progress(cast.project)
    rows = {row.code: (row.n_submitted, row.n_problem, row.n_assigned) for row in members}
    assert rows == {"a1": (1, 1, 3), "a2": (0, 0, 0), "r3": (0, 0, 0), "l4": (0, 0, 0)}


def partial(cast, phase="main"):
    return [(one.code, one.n_submitted, one.n_given) for one in lead_queries.partial_raters(cast.project, phase=phase)]


def test_what_was_withdrawn_with_a_language_makes_nobody_who_left_partial(cast):
    make_submitted(cast.ana)
    item = make_item(trace=make_trace(cast.project, language="zh"))
    withdrawn = make_assignment(cast.ana, item, State.WITHDRAWN)
    Membership.objects.filter(pk=cast.ana.pk).update(left_at=NOW, languages=["en"])
    assert partial(cast) == []
    type(item.trace).objects.filter(pk=withdrawn.item.trace_id).update(language="")
    assert partial(cast) == [(cast.ana.code, 1, 2)]
    assert partial(cast, phase="pilot") == []


def test_of_rounds_of_new_protocols_only_the_last_one_makes_who_left_partial(cast):
    items = [make_submitted(cast.ana).item for _ in range(2)]
    earlier = make_round(cast.project, purpose="protocol", closed_at=NOW)
    make_submitted(cast.ana, items[0], round=earlier)
    make_assignment(cast.ana, items[1], State.WITHDRAWN, round=earlier)
    last = make_round(cast.project, purpose="protocol")
    make_submitted(cast.ana, items[0], round=last)
    asked = make_assignment(cast.ana, items[1], State.WITHDRAWN, round=last)
    assert partial(cast) == []
    Membership.objects.filter(pk=cast.ana.pk).update(left_at=NOW)
    assert partial(cast) == [(cast.ana.code, 4, 5)]
    asked.state = State.PROBLEM
    asked.save(update_fields=["state"])
    assert partial(cast) == [(cast.ana.code, 4, 5)]
    asked.state = State.SUBMITTED
    asked.save(update_fields=["state"])
    assert partial(cast) == []


def test_of_reports_of_the_same_assignment_only_the_last_is_listed(cast):
    reported = make_assignment(cast.ana, state=State.PROBLEM)
    own = {"item": reported.item, "round": reported.round, "author": cast.ana}
    for text in ("It is cut off.", "Still cut off."):
        Post.objects.create(purpose="problem", text=text, **own)
    Post.objects.create(purpose="thread", text="Let us talk.", **own)
    other = make_assignment(cast.ben, reported.item, State.PROBLEM)
    Post.objects.create(purpose="problem", text="Cut.", **own | {"author": cast.ben})
    assert [(one.assignment_id, one.text) for one in lead_queries.problem_reports(cast.project)] == [
        (other.pk, "Cut."),
        (reported.pk, "Still cut off."),
    ]


def test_imports_under_way_are_not_listed(cast):
    done, refused = make_batch(cast.project), make_batch(cast.project, state=ImportBatch.State.REFUSED)
    make_batch(cast.project, state=ImportBatch.State.STAGED)
    assert list(lead_queries.batches_of(cast.project)) == [refused, done]


def test_projects_are_led_by_leads_only_and_while_they_are_there(cast):
    assert list(lead_queries.led_projects(cast.lea.person)) == [cast.project]
    for member in (cast.ana, cast.rita, cast.zoe):
        assert not lead_queries.led_projects(member.person).exists()
    Membership.objects.filter(pk=cast.lea.pk).update(left_at=NOW)
    assert not lead_queries.led_projects(cast.lea.person).exists()
