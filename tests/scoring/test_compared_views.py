"""The items behind a figure: which they are, what everybody said, and one's way through them."""

import html
import re

import pytest
from django.urls import reverse

from tests.factories import (
    make_cast,
    make_item,
    make_member,
    make_round,
    make_run,
    make_submitted,
    make_trace,
    make_verdict,
)

pytestmark = pytest.mark.django_db
READABLE, NEEDS, FAILS = "readable", "needs_information", "unrepairable_or_no_answer"
JUDGE = {"of": "judge", "against": "majority"}


@pytest.fixture
def world(client):
    """Three people label six items alike, but that ana fails the last; the judge fails the first one alone."""
    cast = make_cast()
    client.force_login(cast.lea.person)
    items = [make_item(trace=make_trace(cast.project, source_id=f"run {place}")) for place in range(6)]
    cleo = make_member(cast.project, "cleo")
    run = make_run(cast.project)
    for place, item in enumerate(items):
        make_submitted(cast.ana, item, FAILS if place == 5 else READABLE)
        make_submitted(cast.ben, item, READABLE)
        make_submitted(cleo, item, READABLE)
        make_verdict(run, item, READABLE if place else FAILS)
    return cast, items


def listed(client, cast, **query):
    return client.get(reverse("scoring:list_compared_items", args=[cast.project.slug]), {"measure": "fail", **query})


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def ids(response):
    return [int(one) for one in re.findall(r"/items/(\d+)/labels/", response.content.decode())]


def test_it_lists_what_was_said_of_each_item_and_in_what_people_differ(client, world):
    cast, items = world
    response = listed(client, cast, of="a1", against="majority", agree="no")
    assert ids(response) == [items[5].pk]
    assert "a1 against the majority · 1 item" in words(response)
    assert f"{items[5].pk} run 5 · 3 fails passes passes passes passes the label" in words(response)
    assert response.content.count(b'class="is-other"') == 1


def test_a_cell_of_the_confusion_table_is_named_in_words(client, world):
    cast, items = world
    response = listed(client, cast, **JUDGE, row="pass", column="fail")
    assert ids(response) == [items[0].pk]
    assert "the majority: passes; the judge: fails" in words(response)


def test_a_comparison_is_narrowed_to_where_they_differ_or_agree(client, world):
    cast, _ = world
    assert len(ids(listed(client, cast, **JUDGE))) == 6
    assert len(ids(listed(client, cast, **JUDGE, agree="yes"))) == 5
    assert b"where they differ" in listed(client, cast, **JUDGE).content
    assert b"where they differ" not in listed(client, cast).content


def test_pages_follow_each_other(client, world):
    cast, items = world
    response = listed(client, cast, **JUDGE, after=items[3].pk)
    assert ids(response) == [items[4].pk, items[5].pk]


def test_one_walks_through_the_list_one_came_from(client, world):
    cast, items = world
    address = reverse("scoring:show_item", args=[cast.project.slug, items[2].pk])
    query = {"measure": "fail", **JUDGE, "agree": "yes"}
    page = html.unescape(client.get(address, query).content.decode())
    for step, found in (("next", items[3]), ("previous", items[1])):
        (way,) = re.findall(rf'href="([^"]*&go={step})"', page)
        response = client.get(address + way)
        assert response.headers["Location"].startswith(
            reverse("scoring:show_item", args=[cast.project.slug, found.pk]) + "?"
        )
        assert "go=" not in response.headers["Location"]
    first = reverse("scoring:show_item", args=[cast.project.slug, items[1].pk])
    at_the_end = client.get(first, {**query, "go": "previous"}).headers["Location"]
    assert at_the_end.startswith(reverse("scoring:list_compared_items", args=[cast.project.slug]))


def test_the_label_of_the_later_round_is_the_one_that_is_compared(client, world):
    cast, items = world
    make_submitted(cast.ana, items[5], READABLE, round=make_round(cast.project, "protocol"))
    assert ids(listed(client, cast, of="a1", against="majority", agree="no")) == []
    assert "the label" not in words(listed(client, cast, of="a1", against="majority"))


@pytest.mark.parametrize("query", [{"of": "nobody"}, {"measure": "no"}, {**JUDGE, "row": "no"}, {"language": "xx"}])
def test_what_is_not_there_is_said(client, world, query):
    response = listed(client, world[0], **query)
    assert response.status_code == 409
    assert b'role="alert"' in response.content


@pytest.mark.parametrize("query", [{"why": "no"}, {"agree": "perhaps"}, {"after": "x"}, {"phase": "practice"}])
def test_an_address_that_can_mean_nothing_is_404(client, world, query):
    assert listed(client, world[0], **query).status_code == 404


def test_a_step_from_a_broken_address_leads_to_the_list_that_says_so(client, world):
    cast, items = world
    address = reverse("scoring:show_item", args=[cast.project.slug, items[0].pk])
    response = client.get(address, {"measure": "fail", "of": "nobody", "go": "next"}, follow=True)
    assert response.status_code == 409
    assert client.get(address, {"measure": "fail", "go": "away"}).status_code == 404


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_for_everybody_else_the_list_is_not_there(client, world, who):
    client.force_login(getattr(world[0], who).person)
    assert listed(client, world[0]).status_code == 404


@pytest.mark.parametrize("more", [0, 12])
def test_the_list_takes_as_many_statements_however_many_labels(client, world, django_assert_num_queries, more):
    cast, _ = world
    for number in range(more):
        make_submitted(make_member(cast.project, f"n{number}"), make_item(cast.project))
    with django_assert_num_queries(16):
        listed(client, cast, **JUDGE)
