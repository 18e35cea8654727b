"""More people for a pool's items while agreement is low: a standing job, with a cap."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate import pools, work
from annotate.errors import NotYours, Refused
from annotate.models import Event, PoolItem, Project, Work
from scoring import overlap, tasks
from scoring.overlap import OverlapRule
from tests.factories import NOW, make_cast, make_item, make_submitted

pytestmark = pytest.mark.django_db
assert tasks.HANDLERS_OF  # they are registered as in a worker
GOOD, BAD = "readable", "unrepairable_or_no_answer"


@pytest.fixture
def pool():
    """Of three items with two places, ana and ben agree on the first and differ on the second; ben has not begun the
    third."""
    cast = make_cast(assigning="pool", overlap=2)
    items = [make_item(cast.project) for _ in range(3)]
    pools.fill(project=cast.project)
    for item, said in zip(items, ((GOOD, GOOD), (GOOD, BAD), (GOOD,)), strict=True):
        for member, label in zip((cast.ana, cast.ben), said, strict=False):
            make_submitted(member, item, label)
            assert pools.take_place(item.pk, 2)
    return cast, items


def set_rule(cast, each="item", under=0.8, at_most=3, measure="fail"):
    rule = OverlapRule(measure, under, at_most, each)
    overlap.set_overlap_rule(lead=cast.lea.person, project=cast.project, rule=rule, now=NOW)


def places(items):
    rows = dict(PoolItem.objects.values_list("item", "places"))
    return [rows[item.pk] for item in items]


def again(cast):
    Work.objects.filter(key=f"extend_overlap:{cast.project.pk}").update(not_before=None)
    work.drain()


def test_items_on_which_people_differ_get_one_more_place_up_to_the_cap(pool):
    cast, items = pool
    set_rule(cast)
    work.drain()
    assert places(items) == [2, 3, 2]
    row = Work.objects.get(key=f"extend_overlap:{cast.project.pk}")
    assert (row.state, row.result) == ("waiting", {"n_under": 1, "n_more": 1})
    assert Event.objects.get(action="overlap_added").detail == {"items": 1, "at_most": 3}
    again(cast)  # the new place is free, so the item is not full
    assert places(items) == [2, 3, 2]
    make_submitted(cast.rita, items[1], GOOD)
    assert pools.take_place(items[1].pk, 3)
    again(cast)  # two of three pairs differ still, and the cap is reached
    assert places(items) == [2, 3, 2]


def test_under_the_agreement_of_the_project_all_that_are_answered_get_one(pool):
    cast, items = pool
    set_rule(cast, each="project", under=1.0)
    work.drain()
    assert places(items) == [3, 3, 2]


def test_agreement_that_is_high_enough_adds_nothing(pool):
    cast, items = pool
    assert overlap.agreement_of_items(cast.project, "fail") == {items[0].pk: 1.0, items[1].pk: 0.0}
    PoolItem.objects.filter(item=items[1].pk).update(n_free=1, queue=1)
    set_rule(cast)
    work.drain()
    assert places(items) == [2, 2, 2]
    assert not Event.objects.filter(action="overlap_added").exists()


def test_the_job_ends_with_the_rule_and_begins_again_with_another(pool):
    cast, items = pool
    set_rule(cast, under=0.1, at_most=2)
    overlap.set_overlap_rule(lead=cast.lea.person, project=cast.project, rule=None, now=NOW)
    work.drain()
    row = Work.objects.get(key=f"extend_overlap:{cast.project.pk}")
    assert row.state == "done"
    set_rule(cast)
    work.drain()
    assert places(items) == [2, 3, 2]


def test_a_closed_project_gets_nothing_more(pool):
    cast, items = pool
    set_rule(cast)
    Project.objects.filter(pk=cast.project.pk).update(closed_at=NOW)
    work.drain()
    assert places(items) == [2, 2, 2]


def test_a_rule_needs_a_lead_a_pool_a_measure_and_numbers(pool):
    cast, _ = pool
    with pytest.raises(NotYours):
        overlap.set_overlap_rule(
            lead=cast.ana.person, project=cast.project, rule=OverlapRule("fail", 0.5, 3, "item"), now=NOW
        )
    for wrong in ({"under": 0.0}, {"under": 1.1}, {"under": float("nan")}, {"at_most": 1}, {"each": "x"}):
        with pytest.raises(Refused):
            set_rule(cast, **wrong)
    with pytest.raises(Refused):
        set_rule(cast, measure="nothing")
    with pytest.raises(Refused):
        set_rule(make_panel())


def make_panel():
    from types import SimpleNamespace

    from tests.factories import make_member, make_project

    project = make_project()
    return SimpleNamespace(project=project, lea=make_member(project, "lotte", "lead"))


def test_the_page_of_agreement_sets_and_ends_the_rule(pool):
    cast, _ = pool
    browser = Client()
    browser.force_login(cast.lea.person)
    page = reverse("scoring:show_agreement", args=[cast.project.slug])
    address = reverse("scoring:set_overlap_rule", args=[cast.project.slug])
    assert 'id="overlap"' in browser.get(page).content.decode()
    values = {"measure": "fail", "under": "0.75", "at_most": "4", "each": "item"}
    assert browser.post(address, values).url == page
    assert overlap.rule_of(Project.objects.get(pk=cast.project.pk)) == OverlapRule("fail", 0.75, 4, "item")
    refused = browser.post(address, {**values, "under": "x"})
    assert refused.status_code == 422
    assert 'value="x"' in refused.content.decode()
    browser.post(address, {"do": "end"})
    assert overlap.rule_of(Project.objects.get(pk=cast.project.pk)) is None
    browser.force_login(cast.ana.person)
    assert browser.post(address, values).status_code == 404
