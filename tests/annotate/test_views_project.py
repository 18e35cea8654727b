"""The lead's page of a project."""

import html

import pytest
from django.urls import reverse

from annotate.models import Assignment, Event, Membership, Post
from tests.factories import (
    NOW,
    make_assignment,
    make_batch,
    make_cast,
    make_item,
    make_submitted,
    make_trace,
)

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def cast(db):
    return make_cast()


def show(client, cast, person=None):
    client.force_login(person or cast.lea.person)
    return client.get(reverse("annotate:show_project", args=[cast.project.slug]))


def words(response):
    return html.unescape(response.content.decode())


def report(cast, text="The reply is cut off."):
    trace = make_trace(cast.project, source_id="run-of-the-night")
    assignment = make_assignment(cast.ana, make_item(trace=trace), State.PROBLEM, ended_at=NOW)
    Post.objects.create(
        item=assignment.item, round=assignment.round, author=cast.ana, purpose=Post.Purpose.PROBLEM, text=text
    )
    return assignment


def give_back(client, project, assignment):
    return client.post(reverse("annotate:give_back", args=[project.slug, assignment.pk]))


def test_a_lead_sees_people_problems_and_imports(client, cast):
    report(cast)
    make_submitted(cast.ben)
    make_batch(cast.project, file_name="night.jsonl", counts={"traces": 3})
    response = show(client, cast)
    assert response.status_code == 200
    for word in ("ana", "ben", "lea", "The reply is cut off.", "run-of-the-night", "night.jsonl"):
        assert word in words(response)
    assert "synthetic" not in words(response)


def test_an_empty_project_says_what_comes_next(client, cast):
    assert f"./run manage import_traces {cast.project.slug} FILE" in words(show(client, cast))


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_for_everybody_else_the_page_is_not_there(client, cast, who):
    missing = client.get("/no/such/page/")
    response = show(client, cast, getattr(cast, who).person)
    missing = client.get(reverse("annotate:show_project", args=["no-such-project"]))
    assert (response.status_code, response.content) == (404, missing.content)


def test_a_lead_who_left_sees_nothing_any_more(client, cast):
    Membership.objects.filter(pk=cast.lea.pk).update(left_at=NOW)
    assert show(client, cast).status_code == 404


def test_a_lead_gives_a_reported_item_back(client, cast):
    assignment = report(cast)
    show(client, cast)
    response = give_back(client, cast.project, assignment)
    assert (response.status_code, response["Location"]) == (
        302,
        reverse("annotate:show_project", args=[cast.project.slug]),
    )
    assignment.refresh_from_db()
    assert (assignment.state, assignment.ended_at) == (State.OPEN, None)
    assert "The reply is cut off." not in words(show(client, cast))
    assert give_back(client, cast.project, assignment).status_code == 302
    assert Event.objects.filter(action="problem_given_back").count() == 1


@pytest.mark.parametrize("who", ["ana", "ben", "rita", "zoe"])
def test_nobody_else_can_give_an_item_back(client, cast, who):
    assignment = report(cast)
    client.force_login(getattr(cast, who).person)
    assert give_back(client, cast.project, assignment).status_code == 404
    assert give_back(client, cast.other_project, assignment).status_code == 404
    assignment.refresh_from_db()
    assert assignment.state == State.PROBLEM


def test_a_lead_cannot_reach_an_item_of_another_project(client, cast):
    other = make_assignment(cast.zoe, state=State.PROBLEM)
    client.force_login(cast.lea.person)
    assert give_back(client, cast.project, other).status_code == 302
    other.refresh_from_db()
    assert other.state == State.PROBLEM
    mine = report(cast)
    give_back(client, cast.project, mine)
    mine.refresh_from_db()
    assert mine.state == State.OPEN


@pytest.mark.parametrize("n", [1, 30])
def test_the_page_takes_six_statements_whatever_it_holds(client, cast, django_assert_num_queries, n):
    for _ in range(n):
        make_submitted(cast.ana)
        report_of = make_assignment(cast.ben, state=State.PROBLEM)
        Post.objects.create(
            item=report_of.item, round=report_of.round, author=cast.ben, purpose=Post.Purpose.PROBLEM, text="Cut."
        )
    client.force_login(cast.lea.person)
    with django_assert_num_queries(6):
        client.get(reverse("annotate:show_project", args=[cast.project.slug]))
