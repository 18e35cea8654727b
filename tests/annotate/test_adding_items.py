"""What is published into a project: copies of traces with items of their own, all or none, once, planned as asked."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate import lead_queries, queries
from annotate.errors import Refused
from annotate.importing import FORMAT, add_items
from annotate.models import Assignment, Event, ImportBatch, Item, Trace
from annotate.release_queries import sources
from annotate.rules.release_content import text_hash
from annotate.staging import NewItem
from annotate.traces import base
from tests.factories import make_cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    return make_cast()


def trace(id_="t1", reply="Run r7 is done.", **values):
    messages = (
        base.Message(0, "user", "How far is it?"),
        base.Message(1, "assistant", "", calls=(base.Call("c", "look", '{"where": "vault"}'),)),
        base.Message(2, "tool", "vault 9", answers=base.Answered(1, 0)),
        base.Message(3, "assistant", reply),
    )
    return base.Trace(id_, FORMAT, messages, cluster="c1", language="en", **values)


def add(cast, *traces):
    by, now = cast.lea.person, timezone.now()
    return add_items(project=cast.project, source="gaps of study", traces=traces, by=by, now=now)


def plan(cast):
    return list(Assignment.objects.filter(annotator=cast.ana).values_list("item__text", flat=True))


def test_copies_come_with_their_items_and_are_planned(cast):
    added = add(cast, (trace(), [NewItem(3, "Run r7", asked={"question": "What is r7?"}, origin={"run": 3})]))
    assert (added.n_traces, added.n_items, added.n_present) == (1, 1, 0)
    item = Item.objects.get()
    assert (item.anchor, item.text, item.asked, item.origin) == (3, "Run r7", {"question": "What is r7?"}, {"run": 3})
    assert (item.cluster, item.trace.format, item.trace.is_staged) == ("c1", FORMAT, False)
    assert [one.seen_by for one in item.trace.messages.all()] == ["requester", "agent", "agent", "requester"]
    assert plan(cast) == ["Run r7"]
    assert Event.objects.filter(action="items_published", person=cast.lea.person).count() == 1


def test_what_is_there_already_is_not_there_twice_and_new_ones_join_it(cast):
    first, second = NewItem(3, "Run r7", asked={"question": "a"}), NewItem(3, "Run r7", asked={"question": "b"})
    add(cast, (trace(), [first]))
    n_events = Event.objects.count()
    again = add(cast, (trace(), [first, first]))
    assert (again.n_traces, again.n_items, again.n_present) == (0, 0, 2)
    assert (Event.objects.count(), ImportBatch.objects.count()) == (n_events, 1)
    more = add(cast, (trace(), [first, second]))
    assert (more.n_traces, more.n_items, more.n_present) == (0, 1, 1)
    assert Trace.objects.count() == 1


def test_a_trace_of_the_same_id_with_another_content_is_refused_whole(cast):
    add(cast, (trace(), [NewItem(3, "one")]))
    with pytest.raises(Refused) as refused:
        add(cast, (trace("t2"), [NewItem(3, "two")]), (trace(reply="Another."), [NewItem(3, "three")]))
    assert refused.value.problem.code == "duplicate_id"
    assert [(Trace.objects.count(), Item.objects.count(), ImportBatch.objects.count())] == [(1, 1, 1)]


def test_what_is_not_planned_is_given_to_nobody_and_counts_nowhere(cast):
    add(cast, (trace(), [NewItem(3, "for people"), NewItem(3, "for judges", is_planned=False)]))
    assert plan(cast) == ["for people"]
    assert {row.item_id for row in queries.plannable_items(cast.project.pk, cast.ben.pk)} == set()
    (main,) = (one for one in lead_queries.phase_counts(cast.project) if one.phase == "main")
    assert main.n_items == 1
    assert len(list(sources(cast.project))) == 1


def test_two_questions_about_one_text_are_two_items_of_a_release(cast):
    add(cast, (trace(), [NewItem(3, "Run r7", asked={"question": q}) for q in "ab"]))
    hashes = {source.item_hash() for _, source in sources(cast.project)}
    assert len(hashes) == 2


def test_what_asks_nothing_keeps_its_hash():
    assert text_hash("a") == text_hash("a", None) != text_hash("a", {"question": "b"})


def test_leads_see_where_it_came_from(cast, client):
    add(cast, (trace(), [NewItem(3, "Run r7")]))
    client.force_login(cast.lea.person)
    for name in ("list_imports", "show_events"):
        page = client.get(reverse(f"annotate:{name}", args=[cast.project.slug]))
        assert page.status_code == 200
    assert "gaps of study" in client.get(reverse("annotate:list_imports", args=[cast.project.slug])).content.decode()
    assert "Items were published" in page.content.decode()
