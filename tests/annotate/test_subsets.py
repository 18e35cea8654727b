"""Who reads what, where some traces are for everybody and others for one person each: drawing, plans, what is said."""

import json
import re
from collections import Counter
from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction

from annotate import assigning, people, setting_up, subset_queries, subsets
from annotate.errors import NotYours, Refused
from annotate.kinds.redundancy.examples import MESSAGES
from annotate.models import Assignment, Event, Item, Message, Project, SubsetItem, Trace
from tests.annotate.api.asking import Script
from tests.factories import NOW, make_batch, make_cast, make_item, make_member, message_row

pytestmark = pytest.mark.django_db
AREAS = {"airline": 98, "retail": 58, "telecom": 40}


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy", assigning="subsets")


@pytest.fixture
def three(cast):
    """Ana, ben and a third who label."""
    return [cast.ana, cast.ben, make_member(cast.project, "cem")]


def bring_in(project, areas=None, *, phase="main", said=True, language="en"):
    """So many trajectories of each area, mixed, each with one item; `said` is what their file says of success."""
    batch, rows = make_batch(project), []
    names = [(area, k) for area, n in (areas or AREAS).items() for k in range(n)]
    for area, k in sorted(names, key=lambda one: (one[1], one[0])):
        found = Trace(project=project, batch=batch, source_id=f"{area} {k} {phase} {said}", format="sightline")
        found.content_hash, found.cluster, found.area = f"{len(rows):064}", f"{area} task {k}", area
        found.language, found.is_staged, found.metadata = language, False, {"meta": {"reward": float(said)}}
        rows.append(found)
    Trace.objects.bulk_create(rows)
    Message.objects.bulk_create(message_row(row, message) for row in rows for message in MESSAGES)
    items = [Item(project=project, trace=row, anchor=11, cluster=row.cluster, phase=phase) for row in rows]
    return Item.objects.bulk_create(items)


def draw(cast, n_common=40, n_unique=52, **options):
    return subsets.draw_subsets(
        lead=cast.lea.person, project=cast.project, n_common=n_common, n_unique=n_unique, now=NOW, **options
    )


def refusal(cast, *args, **options):
    with pytest.raises(Refused) as refused:
        draw(cast, *args, **options)
    return refused.value.problem


def plan_of(member):
    return list(member.assignments.order_by("order").values_list("item", flat=True))


def test_three_experts_have_92_each_of_196_and_share_40_by_area_in_proportion(cast, three):
    items = bring_in(cast.project)
    drawn = draw(cast)
    plans = [plan_of(member) for member in three]
    assert [len(set(plan)) for plan in plans] == [92, 92, 92]
    assert len(set().union(*plans)) == 196
    common = set.intersection(*map(set, plans))
    areas = {item.pk: item.trace.area for item in items}
    assert Counter(areas[item] for item in common) == {"airline": 20, "retail": 12, "telecom": 8}
    assert (len(drawn.common), sum(map(len, drawn.unique.values()))) == (40, 156)
    standing = subsets.standing(cast.project)
    assert [(one.n_common, one.n_unique) for one in standing.subsets] == [(40, 52)] * 3
    assert [(one.name, one.n, one.n_successful, one.n_common) for one in standing.areas] == [
        ("airline", 98, 98, 20), ("retail", 58, 58, 12), ("telecom", 40, 40, 8),
    ]  # fmt: skip


def test_common_ones_are_mixed_in_at_random_in_an_order_of_each_ones_own(cast, three):
    bring_in(cast.project)
    common = set(Item.objects.filter(trace__in=draw(cast).common).values_list("pk", flat=True))
    orders = []
    for member in three:
        plan = plan_of(member)
        places = [place for place, item in enumerate(plan) if item in common]
        assert 8 <= sum(place < 46 for place in places) <= 32
        orders.append([item for item in plan if item in common])
    assert len({tuple(order) for order in orders}) == 3


def test_the_seed_decides_and_drawing_again_gives_the_same(cast, three):
    bring_in(cast.project)
    first, plans = draw(cast), [plan_of(member) for member in three]
    assert (draw(cast), [plan_of(member) for member in three]) == (first, plans)
    Project.objects.filter(pk=cast.project.pk).update(seed=8)
    assert draw(cast) != first


def test_nothing_that_an_annotator_is_sent_tells_common_from_unique(cast, client):
    """Two worlds that differ only in what was drawn for others: the same page for who has the item in both."""
    bring_in(cast.project, {"airline": 3})
    draw(cast, 1, 1)
    client.force_login(cast.ana.person)
    address = f"/projects/{cast.project.slug}/label/"
    client.get(address, follow=True)
    first = masked(client.get(address, follow=True))
    SubsetItem.objects.filter(annotator=cast.ben).delete()
    SubsetItem.objects.filter(annotator=cast.ana).update(is_common=False)
    assert masked(client.get(address, follow=True)) == first
    assert "common" not in first.lower()


def masked(response):
    """Without the tokens that are new in every answer."""
    return re.sub(r'value="[\w-]{16,}"|nonce="[^"]*"|"X-CSRFToken": ?"[^"]*"', "", response.content.decode())


def test_practice_and_pilot_are_everybodys_and_come_first(cast, three):
    practice = bring_in(cast.project, {"a": 2}, phase="practice")
    pilot = bring_in(cast.project, {"a": 3}, phase="pilot")
    bring_in(cast.project, {"a": 8})
    assigning.extend_panel(project=cast.project, now=NOW)
    early = {item.pk for item in practice + pilot}
    assert [set(plan_of(member)) for member in three] == [early] * 3
    draw(cast, 2, 2)
    for member in three:
        plan = plan_of(member)
        assert (set(plan[:5]), len(plan)) == (early, 9)
        assert member.assignments.get(state="open").item_id in {item.pk for item in practice}


def test_only_successful_traces_where_that_is_asked(cast):
    good = bring_in(cast.project, {"airline": 6})
    bring_in(cast.project, {"airline": 20}, said=False)
    draw(cast, 2, 2, only_successful=True)
    assert set(plan_of(cast.ana)) | set(plan_of(cast.ben)) == {item.pk for item in good}
    assert refusal(cast, 3, 2, only_successful=True).params["there"] == 6


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"success": True}, True),
        ({"success": "I"}, False),
        ({"reward": 1.0}, True),
        ({"reward": 0.5}, False),
        ({"simulation": {"reward_info": {"reward": 1.0}}}, True),
        ({"meta": {"success": False}}, False),
        ({"success": {"odd": 1}, "reward": 1}, True),
        ({}, None),
    ],
)
def test_what_a_file_says_of_success_is_found_where_readers_keep_it(cast, metadata, said):
    bring_in(cast.project, {"airline": 1})
    Trace.objects.update(metadata=metadata)
    assert [one.is_successful for one in subset_queries.traces_to_draw(cast.project)] == [said]


def test_refusals_say_what_is_missing(cast):
    bring_in(cast.project, {"airline": 10})
    assert refusal(cast, 11, 0).params == {"needed": 11, "there": 10}
    told = refusal(cast, 4, 4)
    assert (told.code, told.field) == ("too_few_traces", "n_unique")
    assert told.params == {"needed": 4, "code": cast.ben.code, "left": 2, "there": 10, "asked": 12}
    assert refusal(cast, 0, 0).field == "n_common"
    assert refusal(cast, -1, 1).code == "out_of_range"
    assert refusal(cast, 1, 1, codes=[cast.ana.code]).code == "too_few_people"
    assert refusal(cast, 1, 1, codes=[cast.ana.code, "x9"]).code == "unknown_code"
    Trace.objects.update(metadata={})
    assert refusal(cast, 1, 1, only_successful=True).code == "none_successful"
    assert (Assignment.objects.count(), Event.objects.count()) == (0, 0)


def test_another_way_of_giving_and_a_closed_project_are_refused(cast):
    bring_in(cast.project, {"airline": 10})
    Project.objects.filter(pk=cast.project.pk).update(assigning="panel")
    assert refusal(cast, 1, 1).code == "no_subsets"
    Project.objects.filter(pk=cast.project.pk).update(assigning="subsets", closed_at=NOW)
    assert refusal(cast, 1, 1).code == "no_subsets"


def test_who_does_not_lead_draws_nothing(cast):
    bring_in(cast.project, {"airline": 10})
    for person in (cast.ana.person, cast.rita.person, cast.zoe.person):
        with pytest.raises(NotYours):
            subsets.draw_subsets(lead=person, project=cast.project, n_common=1, n_unique=1, now=NOW)


def test_once_something_was_shown_nothing_is_drawn_anew(cast, client):
    bring_in(cast.project, {"airline": 10})
    draw(cast, 2, 2)
    assert len(plan_of(cast.ana)) == 4
    draw(cast, 2, 3)
    assert len(plan_of(cast.ana)) == 5
    client.force_login(cast.ana.person)
    client.get(f"/projects/{cast.project.slug}/label/", follow=True)
    assert refusal(cast, 2, 2).code == "in_use"
    assert len(plan_of(cast.ana)) == 5


def test_a_plan_of_subsets_survives_leaving_and_coming_back(cast):
    bring_in(cast.project, {"airline": 10})
    draw(cast, 2, 2)
    plan = set(plan_of(cast.ana))
    who = {"project": cast.project, "member_id": cast.ana.pk, "by": cast.lea.person, "now": NOW}
    people.retire_member(**who)
    assert not cast.ana.assignments.filter(state__in=["open", "locked"]).exists()
    people.bring_back_member(**who)
    waiting = cast.ana.assignments.filter(state__in=["open", "locked"])
    assert set(waiting.values_list("item", flat=True)) == plan
    bring_in(cast.project, {"later": 3})
    assert assigning.extend_panel(project=cast.project, now=NOW) == 0


def test_somebody_who_joins_later_has_no_subset(cast):
    bring_in(cast.project, {"airline": 10})
    draw(cast, 2, 2)
    late = make_member(cast.project, "dan")
    assigning.fit_plan(member=late, now=NOW)
    assert plan_of(late) == []


def test_changing_how_items_are_given_takes_subsets_away(cast):
    bring_in(cast.project, {"airline": 10})
    draw(cast, 2, 2)
    cast.project.refresh_from_db()
    new = replace(setting_up.settings_of(cast.project), assigning="panel")
    setting_up.update_project(project=cast.project, new=new, by=cast.lea.person, now=NOW)
    assert not SubsetItem.objects.exists()
    assert len(plan_of(cast.ana)) == len(plan_of(cast.ben)) == 10


def test_the_database_gives_an_item_of_ones_own_to_one_alone(cast):
    item = make_item(cast.project)
    SubsetItem.objects.create(annotator=cast.ana, item=item, is_common=False)
    for member in (cast.ana, cast.ben):
        with pytest.raises(IntegrityError), transaction.atomic():
            SubsetItem.objects.create(annotator=member, item=item, is_common=False)


def test_statements_do_not_grow_with_the_traces(cast, django_assert_num_queries):
    bring_in(cast.project, {"airline": 400, "retail": 100})
    draw(cast, 100, 100)
    with django_assert_num_queries(3):
        subsets.standing(cast.project)


def test_the_log_says_what_was_drawn_for_whom(cast):
    bring_in(cast.project, {"airline": 10})
    draw(cast, 2, 2)
    (event,) = Event.objects.filter(action="subsets_drawn")
    assert event.detail == {
        "n_common": 2, "n_unique": 2, "only_successful": False, "codes": [cast.ana.code, cast.ben.code],
    }  # fmt: skip


def test_a_lead_draws_on_the_page(cast, client):
    client.force_login(cast.lea.person)
    address = f"/projects/{cast.project.slug}/subsets/"
    assert "There are no traces of the main phase yet." in client.get(address).content.decode()
    bring_in(cast.project, {"airline": 10})
    posted = {"n_common": "2", "n_unique": "3", "people": [cast.ana.code, cast.ben.code], "only_successful": "yes"}
    refused = client.post(f"{address}draw/", {**posted, "n_common": "20"})
    assert refused.status_code == 422
    assert "20 traces that everybody reads; there are 10." in refused.content.decode()
    assert client.post(f"{address}draw/", {**posted, "n_unique": "x"}).status_code == 422
    assert client.post(f"{address}draw/", posted).headers["Location"] == address
    text = client.get(address).content.decode()
    assert '<td class="number">2</td><td class="number">3</td>' in text
    client.force_login(cast.ana.person)
    assert client.get(address).status_code == 404


def test_a_lead_draws_by_the_api(cast):
    bring_in(cast.project, {"airline": 8, "retail": 4})
    lea, address = Script(cast.lea), f"projects/{cast.project.slug}/subsets/"
    response = lea.put(address, {"n_common": 3, "n_unique": 4})
    assert response.status_code == 200, response.content
    body = response.json()
    assert body == lea.get(address).json()
    assert (body["n"], body["n_common"]) == (12, 3)
    assert [(one["name"], one["n_common"]) for one in body["areas"]] == [("airline", 2), ("retail", 1)]
    assert body["subsets"][0] == {"code": cast.ana.code, "n_common": 3, "n_unique": 4}
    refused = lea.put(address, {"n_common": 13, "n_unique": 0})
    assert (refused.status_code, refused.json()["problems"][0]["field"]) == (422, "n_common")
    assert lea.put(address, {"n_common": True, "n_unique": 0}).status_code == 422
    assert Script(cast.ana).get(address).status_code == 404


def test_a_member_is_not_told_of_subsets_by_the_api(cast):
    bring_in(cast.project, {"airline": 8})
    draw(cast, 2, 2)
    shown = json.dumps(Script(cast.ana).get(f"projects/{cast.project.slug}/next/").json())
    assert not re.search("common|subset", shown)


def test_leads_that_label_can_have_one_too(cast):
    bring_in(cast.project, {"airline": 9})
    Project.objects.filter(pk=cast.project.pk).update(open_lead=True)
    cast.project.refresh_from_db()
    draw(cast, 3, 2)
    assert len(plan_of(cast.lea)) == 5
