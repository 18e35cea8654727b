"""A pool gives the next item to who asks: to no more people than it has places, for a lease, in reading order."""

import signal
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Count, Q
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import assigning, blind, labeling, pool_queries, pools, setting_up
from annotate.errors import AlreadySubmitted, NotYours, PlaceGone, Refused
from annotate.labeling import NewAnnotation, Timing
from annotate.models import Assignment, Membership, PoolItem, Project, Settlement
from annotate.tasks import Sweeper
from annotate.traces import base
from tests.annotate.api.asking import Script
from tests.annotate.children import child
from tests.annotate.meeting import at_once, in_threads
from tests.factories import NOW, make_cast, make_item, make_member, make_round, make_trace

pytestmark = pytest.mark.django_db
State = Assignment.State
READABLE = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
HTMX = {"HX-Request": "true"}


def make_pool(n_traces=3, n_replies=1, overlap=2, **project):
    """A cast and a filled pool of traces with so many replies each."""
    cast = make_cast(assigning="pool", overlap=overlap, **project)
    for _ in range(n_traces):
        add_trace(cast.project, n_replies)
    pools.fill(project=cast.project)
    return cast


def add_trace(project, n_replies=1, phase="main", **fields):
    said = [
        message
        for place in range(n_replies)
        for message in (
            base.Message(2 * place, "user", f"Question {place + 1}?"),
            base.Message(2 * place + 1, "assistant", f"Answer {place + 1}."),
        )
    ]
    trace = make_trace(project, said, **fields)
    return [make_item(trace=trace, reply=2 * place + 1, phase=phase) for place in range(n_replies)]


def ask(member):
    return pools.next_item(member.person, member.project.slug).item


def row_of(item):
    return Assignment.objects.get(public_id=item.public_id)


def submit(member, item, key=None, shows_next=False):
    protocol = member.project.protocols.get()
    new = NewAnnotation(
        label=READABLE, protocol=protocol, number=0, draft_number=9, timing=Timing(0, 0, 0), reason=""
    )
    opened = pools.open_assignment(member.person, item.public_id)
    return labeling.submit_annotation(
        assignment=opened, key=key or f"key-of-{item.public_id}", new=new, now=NOW, shows_next=shows_next
    )


def read_all(member, limit=1000):
    read = []
    while (item := ask(member)) and len(read) < limit:
        submit(member, item)
        read.append(row_of(item).item_id)
    return read


def let_lapse(item=None):
    rows = Assignment.objects.filter(state=State.OPEN)
    rows = rows if item is None else rows.filter(public_id=item.public_id)
    assert rows.update(lease_until=Now() - timedelta(seconds=1))


def standing(member):
    return pools.standing(member.person, blind.own_project(member.person, member.project.slug))


def check():
    """What is counted is what is there: no item has more than its places, and none is lost."""
    first = Q(item__assignments__round__purpose="first", item__assignments__state__in=pool_queries.HOLDING)
    held = Count("item__assignments", filter=first)
    for row in PoolItem.objects.exclude(places=None).annotate(n=held):
        assert row.n == row.places - row.n_free <= row.places
        assert (row.queue is None) == (row.n_free == 0)


# Asking


def test_who_asks_gets_an_item_and_the_same_one_until_they_end_it():
    cast = make_pool()
    first = ask(cast.ana)
    assert first.public_id == ask(cast.ana).public_id
    submit(cast.ana, first)
    second = ask(cast.ana)
    assert second.public_id != first.public_id
    assert row_of(second).item_id != row_of(first).item_id
    check()


def test_each_item_gets_as_many_labels_as_it_has_places_and_never_more():
    cast = make_pool(n_traces=4, n_replies=2, overlap=2)
    people = [cast.ana, cast.ben, make_member(cast.project, "cem"), make_member(cast.project, "dua")]
    for member in people * 20:
        item = ask(member)
        if item is not None:
            submit(member, item)
            check()
    assert set(PoolItem.objects.values_list("n_free", flat=True)) == {0}
    assert Assignment.objects.filter(state=State.SUBMITTED).count() == 8 * 2
    assert {standing(member) for member in people} == {"nothing_free"}


def test_a_trace_is_read_to_its_end_in_its_order_before_another_is_begun():
    cast = make_pool(n_traces=4, n_replies=3)
    read = read_all(cast.ana)
    assert len(read) == 12
    rows = {row.pk: row for row in PoolItem.objects.all()}
    places = [(rows[pk].trace_id, rows[pk].anchor) for pk in read]
    assert [anchor for _, anchor in places] == [1, 3, 5] * 4
    assert len({trace for trace, _ in places}) == 4
    orders = list(cast.ana.assignments.order_by("order").values_list("order", "sequence"))
    assert orders == [(place, place // 3 + 1) for place in range(12)]


def test_nobody_is_given_an_earlier_reply_after_a_later_one_of_the_same_trace():
    cast = make_pool(n_traces=1, n_replies=3, overlap=1)
    first = ask(cast.ana)
    submit(cast.ana, first)
    second = ask(cast.ana)
    let_lapse(second)
    assert pools.take_back_expired() == 1
    mine = ask(cast.ben)
    assert row_of(mine).item_id == row_of(second).item_id
    third = ask(cast.ana)
    assert row_of(third).item.anchor == 5
    let_lapse(mine)
    pools.take_back_expired()
    submit(cast.ana, third)
    assert ask(cast.ana) is None
    check()


# Places


def test_a_place_is_free_for_the_next_when_a_lease_has_ended_and_it_comes_first():
    cast = make_pool(n_traces=200, overlap=1)
    mine = ask(cast.ana)
    let_lapse(mine)
    assert pools.take_back_expired() == 1
    assert row_of(ask(cast.ben)).item_id == row_of(mine).item_id
    check()


def test_an_ask_takes_back_what_has_expired_without_a_sweeper():
    cast = make_pool(n_traces=1, overlap=1)
    mine = ask(cast.ana)
    assert ask(cast.ben) is None
    let_lapse(mine)
    assert row_of(ask(cast.ben)).item_id == row_of(mine).item_id
    assert row_of(mine).state == State.WITHDRAWN
    check()


def test_sweeps_at_once_and_again_take_back_a_place_once():
    cast = make_pool(n_traces=2, overlap=2)
    let_lapse(ask(cast.ana))
    assert (pools.take_back_expired(), pools.take_back_expired()) == (1, 0)
    check()


def test_the_worker_sweeps_leases_too():
    cast = make_pool(n_traces=1, overlap=1)
    let_lapse(ask(cast.ana))
    Sweeper().sweep()
    assert PoolItem.objects.get().n_free == 1


def test_saving_a_draft_and_looking_at_the_item_begin_the_lease_anew(client):
    cast = make_pool(lease=timedelta(minutes=10))
    mine = ask(cast.ana)
    client.force_login(cast.ana.person)
    for action in (lambda: save(cast.ana, mine), lambda: client.get(url("label_item", mine))):
        Assignment.objects.update(lease_until=Now() + timedelta(seconds=30))
        action()
        ((until, now),) = Assignment.objects.values_list("lease_until", Now())
        assert timedelta(minutes=9) < until - now <= timedelta(minutes=10)


def url(name, item):
    return reverse(f"annotate:{name}", args=[item.public_id])


def save(member, item, text="half", draft_number=1):
    labeling.save_draft(
        annotator=member.person,
        assignment_id=item.public_id,
        draft={"number": 0, "draft_number": draft_number, "fields": {"comment": text}},
        draft_number=draft_number,
        number=0,
        now=NOW,
    )


def test_an_item_of_a_panel_has_no_lease_whatever_is_saved_in_it():
    cast = make_cast()
    make_item(cast.project)
    assigning.extend_panel(project=cast.project, now=NOW)
    item = ask(cast.ana)
    save(cast.ana, item)
    labeling.mark_shown(annotator=cast.ana.person, assignment_id=item.public_id, now=NOW)
    row = row_of(item)
    assert (row.lease_until, row.first_shown_at, item.lease_minutes) == (None, NOW, None)
    assert item.progress.n_planned == 1


# What was taken back


def test_who_comes_back_goes_on_with_their_draft_where_the_place_is_still_free():
    cast = make_pool(n_traces=30)
    mine = ask(cast.ana)
    save(cast.ana, mine)
    let_lapse(mine)
    pools.take_back_expired()
    again = ask(cast.ana)
    assert (again.public_id, again.draft["fields"]["comment"]) == (mine.public_id, "half")
    check()


@pytest.mark.parametrize("action", ["draft", "submit", "page", "report"])
def test_what_was_taken_back_goes_on_in_an_open_page_where_the_place_is_still_free(client, action):
    cast = make_pool(n_traces=1)
    mine = ask(cast.ana)
    let_lapse(mine)
    pools.take_back_expired()
    client.force_login(cast.ana.person)
    response = act(client, action, mine)
    assert response.status_code == 200, response.content
    ended = {"submit": State.SUBMITTED, "report": State.PROBLEM}
    assert row_of(mine).state == ended.get(action, State.OPEN)
    if action == "draft":
        assert row_of(mine).draft["fields"]["comment"] == "typed late"
    check()


def act(client, action, item):
    draft = '{"number": 0, "draft_number": 5, "fields": {"comment": "typed late"}}'
    form = {"key": "key-of-this-answer-00", "label": "readable", "protocol": "1", "number": "0", "spans": "[]"}
    return {
        "draft": lambda: client.post(url("save_draft", item), {"draft": draft}),
        "submit": lambda: client.post(url("submit_annotation", item), form, headers=HTMX),
        "page": lambda: client.get(url("label_item", item)),
        "report": lambda: client.post(url("report_problem", item), {"problem": "Cut."}, headers=HTMX),
    }[action]()


@pytest.mark.parametrize("action", ["draft", "submit", "page", "report"])
def test_where_the_place_was_given_on_the_page_says_so_and_the_text_is_kept(client, action):
    cast = make_pool(n_traces=1, overlap=1)
    mine = ask(cast.ana)
    save(cast.ana, mine)
    let_lapse(mine)
    assert ask(cast.ben)
    client.force_login(cast.ana.person)
    response = act(client, action, mine)
    assert response.status_code == 409
    assert ("place_gone" if action == "draft" else "What you typed is kept") in response.content.decode()
    assert row_of(mine).draft["fields"]["comment"] == ("typed late" if action == "draft" else "half")
    assert row_of(mine).state == State.WITHDRAWN
    assert not row_of(mine).annotations.exists()
    check()


def test_a_known_key_is_answered_after_the_place_was_given_on(client):
    cast = make_pool(n_traces=1, overlap=2)
    mine = ask(cast.ana)
    client.force_login(cast.ana.person)
    assert act(client, "submit", mine).status_code == 200
    assert act(client, "submit", mine).status_code == 200
    assert row_of(mine).annotations.count() == 1


def test_others_cannot_take_up_what_somebody_let_lapse(client):
    cast = make_pool(n_traces=1)
    mine = ask(cast.ana)
    let_lapse(mine)
    pools.take_back_expired()
    for member in (cast.ben, cast.zoe, cast.lea):
        client.force_login(member.person)
        assert {act(client, action, mine).status_code for action in ("draft", "submit", "page")} == {404}
    Membership.objects.filter(pk=cast.ana.pk).update(left_at=NOW)
    client.force_login(cast.ana.person)
    assert act(client, "page", mine).status_code == 404


# Caps, languages, phases


def test_nobody_gets_more_than_the_cap_and_practice_does_not_count():
    cast = make_pool(n_traces=5, person_cap=2)
    know(*add_trace(cast.project, 2, phase="practice"))
    pools.fill(project=cast.project)
    assert len(read_all(cast.ana)) == 2 + 2
    assert standing(cast.ana) == "cap_reached"
    assert len(read_all(cast.ben)) == 4


def know(*items):
    for item in items:
        Settlement.objects.create(item=item, how="known", label=READABLE, reason_en="why", reason_zh="why")


def test_who_took_a_new_item_at_the_cap_does_not_get_the_lapsed_one_as_well():
    cast = make_pool(n_traces=3, n_replies=1, person_cap=1, overlap=1)
    mine = ask(cast.ana)
    let_lapse(mine)
    theirs = ask(cast.ben)
    submit(cast.ana, ask(cast.ana))
    let_lapse(theirs)
    pools.take_back_expired()
    with pytest.raises(PlaceGone):
        pools.open_assignment(cast.ana.person, mine.public_id)
    check()


def test_each_gets_what_they_read_and_a_language_that_is_given_up_goes_back():
    cast = make_cast(assigning="pool", overlap=3)
    for language in ("en", "zh", ""):
        add_trace(cast.project, language=language)
    pools.fill(project=cast.project)
    Membership.objects.filter(pk=cast.ben.pk).update(languages=["zh"])
    assert len(read_all(cast.ben)) == 2
    item = ask(cast.ana)
    while item.language != "en":
        submit(cast.ana, item)
        item = ask(cast.ana)
    member = Membership.objects.select_related("project").get(pk=cast.ana.pk)
    member.languages = ["zh"]
    member.save()
    assigning.fit_plan(member=member, now=NOW)
    assert row_of(item).state == State.WITHDRAWN
    check()


def test_who_leaves_gives_their_place_back_and_may_return():
    cast = make_pool(n_traces=1, overlap=1)
    mine = ask(cast.ana)
    member = Membership.objects.select_related("project").get(pk=cast.ana.pk)
    Membership.objects.filter(pk=member.pk).update(left_at=NOW)
    member.left_at = NOW
    assigning.fit_plan(member=member, now=NOW)
    assert PoolItem.objects.get().n_free == 1
    with pytest.raises(NotYours):
        ask(cast.ana)
    member.left_at = None
    member.save()
    assigning.fit_plan(member=member, now=NOW)
    assert ask(cast.ana).public_id == mine.public_id
    check()


def test_practice_comes_first_is_done_by_everybody_and_waits_for_its_answers():
    cast = make_pool(n_traces=2, overlap=1)
    practice = add_trace(cast.project, 1, phase="practice")
    pools.fill(project=cast.project)
    assert ask(cast.ana) is None
    assert standing(cast.ana) == "practice_not_ready"
    know(*practice)
    for member in (cast.ana, cast.ben):
        item = ask(member)
        assert item.phase == "practice"
        submit(member, item)
        assert ask(member).phase == "main"
    check()


def test_a_closed_phase_is_not_given_and_the_page_says_so():
    cast = make_pool(n_traces=2, open_phase="pilot")
    assert (ask(cast.ana), standing(cast.ana)) == (None, "phase_not_open")
    Project.objects.filter(pk=cast.project.pk).update(open_phase="main")
    assert standing(cast.ana) == "ready"
    assert ask(cast.ana)


def test_items_of_an_earlier_phase_that_come_later_are_given_first():
    cast = make_pool(n_traces=3)
    submit(cast.ana, ask(cast.ana))
    pilot = add_trace(cast.project, 1, phase="pilot")
    pools.fill(project=cast.project)
    assert row_of(ask(cast.ana)).item == pilot[0]


def test_only_one_arm_of_a_text_reaches_a_person():
    cast = make_cast(assigning="pool", overlap=1)
    (first,) = add_trace(cast.project)
    first.point, first.arm = "point", "default"
    first.save()
    make_item(trace=first.trace, reply=1, text="Said again.", point="point", arm="rewrite")
    pools.fill(project=cast.project)
    assert [len(read_all(member)) for member in (cast.ana, cast.ben)] == [1, 1]
    check()


@pytest.mark.parametrize("change", ["paused", "closed", "reviewer", "lead", "other project"])
def test_who_does_not_label_here_is_given_nothing(change):
    cast = make_pool()
    member = {"reviewer": cast.rita, "lead": cast.lea}.get(change, cast.ana)
    if change == "paused":
        Membership.objects.filter(pk=member.pk).update(paused_at=NOW)
    if change == "closed":
        Project.objects.filter(pk=cast.project.pk).update(closed_at=NOW)
    person = cast.zoe.person if change == "other project" else member.person
    assert not pools.give_next(person, cast.project.slug)
    assert not Assignment.objects.exists()


def test_a_reported_item_keeps_its_place_and_comes_back_with_a_lease():
    cast = make_pool(n_traces=1, overlap=1)
    mine = ask(cast.ana)
    labeling.report_problem(
        assignment=pools.open_assignment(cast.ana.person, mine.public_id), text="Cut.", now=NOW
    )
    assert ask(cast.ben) is None
    assert assigning.give_back(lead=cast.lea.person, project=cast.project, assignment_id=row_of(mine).pk)
    assert row_of(mine).lease_until is not None
    check()


def test_a_round_that_is_closed_gives_its_open_places_back():
    cast = make_pool(n_traces=2, overlap=1)
    mine = ask(cast.ana)
    assigning.end_round(cast.project.rounds.get(), NOW)
    assert row_of(mine).state == State.WITHDRAWN
    assert ask(cast.ana) is None
    make_round(cast.project)
    assert len(read_all(cast.ben)) == 2
    check()


def test_what_was_given_while_its_round_was_being_closed_comes_back_all_the_same():
    cast = make_pool(n_traces=1, overlap=1)
    mine = ask(cast.ana)
    cast.project.rounds.update(closed_at=NOW)
    let_lapse(mine)
    assert pools.take_back_expired() == 1
    check()


def test_an_item_of_another_round_has_neither_lease_nor_place():
    cast = make_pool(n_traces=2)
    submit(cast.ana, ask(cast.ana))
    cast.project.protocols.create(number=2, label_schema={})
    assert assigning.reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW) == 1
    item = ask(cast.ana)
    assert (row_of(item).round.purpose, item.lease_minutes) == ("protocol", None)
    check()


# Which one


def test_what_comes_depends_on_ids_seed_and_free_places_only():
    cast = make_pool(n_traces=20, overlap=3)
    with transaction.atomic():
        expected = read_all(cast.ana)
        transaction.set_rollback(True)
    with transaction.atomic():
        assert read_all(cast.ana) == expected
        transaction.set_rollback(True)
    with transaction.atomic():
        assert read_all(cast.ben) != expected
        transaction.set_rollback(True)
    Project.objects.update(seed=8)
    assert sorted(read_all(cast.ana)) == sorted(expected)
    assert list(cast.ana.assignments.order_by("order").values_list("item", flat=True)) != expected


# Filling and settings


def test_filling_again_adds_only_what_is_new_and_what_was_cut_off():
    cast = make_pool(n_traces=3, n_replies=2)
    assert pools.fill(project=cast.project) == 0
    add_trace(cast.project, 2)
    make_item(trace=make_trace(cast.project, is_staged=True))
    PoolItem.objects.filter(pk=PoolItem.objects.first().pk).delete()
    assert assigning.extend_panel(project=cast.project, now=NOW) == 3
    assert PoolItem.objects.count() == 8
    assert not Assignment.objects.exists()


@pytest.mark.parametrize(("overlap", "free"), [(5, 3), (2, 0), (1, 0), (3, 1)])
def test_another_overlap_gives_items_places_down_to_what_is_taken(overlap, free):
    cast = make_pool(n_traces=1, overlap=4)
    for name in ("ana", "ben"):
        submit(getattr(cast, name), ask(getattr(cast, name)))
    pools.change_places(PoolItem.objects.all(), overlap - 4)
    row = PoolItem.objects.get()
    assert (row.n_free, row.places) == (free, max(overlap, 2))
    check()
    pools.change_places(PoolItem.objects.all(), 4)
    check()
    assert ask(make_member(cast.project, "cem"))


def test_more_places_are_added_up_to_a_bound():
    cast = make_pool(n_traces=2, overlap=1)
    read_all(cast.ana)
    items = list(PoolItem.objects.values_list("pk", flat=True))
    assert pools.add_places(items[:1], n=1, at_most=2) == 1
    assert pools.add_places(items[:1], n=1, at_most=2) == 0
    assert read_all(cast.ana) == []
    assert read_all(cast.ben) == items[:1]
    check()


# Many at once, and what is cut off


@pytest.mark.fault(25, full=100)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("n_traces", [3, 40])
def test_many_who_ask_at_once_are_given_no_item_too_often_and_none_is_left_over(n_traces, often):
    cast = make_pool(n_traces=n_traces, n_replies=2, overlap=3)
    people = [make_member(cast.project, f"person-{number}") for number in range(often(16, 16, 200))]

    def work(member):
        for _ in range(12):
            item = ask(member)
            if item is not None:
                submit(member, item, shows_next=True)

    assert in_threads(*(partial(work, member) for member in people)) == [None] * len(people)
    check()
    n_labels = Assignment.objects.filter(state=State.SUBMITTED).count()
    n_open = Assignment.objects.filter(state=State.OPEN).count()
    assert n_labels + n_open == min(n_traces * 2 * 3, n_labels + n_open)
    if n_traces == 3:
        assert set(PoolItem.objects.values_list("n_free", flat=True)) == {0}


@pytest.mark.fault(24)
@pytest.mark.django_db(transaction=True)
def test_two_windows_that_ask_at_once_get_one_item():
    cast = make_pool(n_traces=20, overlap=3)
    found = at_once(*[lambda: ask(cast.ana)] * 4)
    assert len({item.public_id for item in found}) == 1
    assert cast.ana.assignments.count() == 1
    check()


@pytest.mark.django_db(transaction=True)
def test_a_sweep_and_a_draft_at_once_leave_the_item_with_one_of_both():
    cast = make_pool(n_traces=1, overlap=1)
    mine = ask(cast.ana)
    for number in range(1, 6):
        let_lapse(mine)
        at_once(pools.take_back_expired, pools.take_back_expired, partial(save, cast.ana, mine, draft_number=number))
        check()
        pools.open_assignment(cast.ana.person, mine.public_id)


@pytest.mark.django_db(transaction=True)
def test_who_submits_while_the_place_is_taken_back_and_given_on_is_stored_or_told():
    cast = make_pool(n_traces=1, overlap=1)
    mine = ask(cast.ana)
    opened = blind.open_assignment(cast.ana.person, mine.public_id)
    new = NewAnnotation(READABLE, cast.project.protocols.get(), 0, 1, Timing(0, 0, 0), "")
    let_lapse(mine)

    def send():
        return labeling.submit_annotation(assignment=opened, key="key-of-this-answer-00", new=new, now=NOW)

    sent, theirs = at_once(send, lambda: ask(cast.ben))
    assert isinstance(sent, AlreadySubmitted) == (theirs is not None)
    assert Assignment.objects.filter(state=State.SUBMITTED).count() == (theirs is None)
    check()


KILLED = """
import os, signal, sys
import django
django.setup()
from annotate import pools
from annotate.models import Membership

def die(*values, **more):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[2] != "nowhere":
    setattr(pools, sys.argv[2], die)
member = Membership.objects.select_related("person", "project").get(pk=sys.argv[1])
if sys.argv[3] == "ask":
    pools.give_next(member.person, member.project.slug)
else:
    pools.take_back_expired()
"""


@pytest.mark.fault(25)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("where", "what"), [("write", "ask"), ("leave_place", "sweep"), ("nowhere", "ask")])
def test_a_process_that_is_killed_on_the_way_leaves_no_place_stranded(where, what, tmp_path):
    cast = make_pool(n_traces=1, overlap=1)
    if what == "sweep":
        let_lapse(ask(cast.ana))
    with child("-c", KILLED, cast.ana.pk, where, what, data=tmp_path) as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == (0 if where == "nowhere" else -signal.SIGKILL), said
    check()
    if where == "nowhere":  # whoever asked was never shown it: the lease ends all the same
        let_lapse()
    assert ask(cast.ben)
    check()


# What it costs


@pytest.mark.parametrize("n_traces", [12, 200])
def test_each_request_takes_a_fixed_number_of_statements(client, n_traces):
    """Two of them are the session and the person; SAVEPOINT and RELEASE, in production BEGIN and COMMIT, count."""
    cast = make_pool(n_traces=n_traces, n_replies=2, person_cap=1000)
    client.force_login(cast.ana.person)
    counts, form = {}, {"label": "readable", "protocol": "1", "number": "0", "spans": "[]"}
    here = reverse("annotate:next_item", args=[cast.project.slug])

    def mine():
        return cast.ana.assignments.get(state=State.OPEN)

    def send(name="submit_annotation", headers=None):
        item, said = mine(), {"problem": "Cut."} if name == "report_problem" else form
        return partial(client.post, url(name, item), {**said, "key": f"key-of-{item.public_id}"}, headers=headers)

    steps = {
        "next_item, newly given": lambda: partial(client.get, here),
        "next_item": lambda: partial(client.get, here),
        "label_item": lambda: partial(client.get, url("label_item", mine())),
        "submit": lambda: send(headers=HTMX),
        "submit, another trace next": lambda: send(headers=HTMX),
        "report": lambda: send("report_problem", headers=HTMX),
        "submit without script": lambda: send(),
    }
    for name, step in steps.items():
        request = step()
        with CaptureQueriesContext(connection) as captured:
            assert request().status_code in (200, 302)
        counts[name] = len(captured)
    assert counts == COUNTS
    assert max(counts.values()) <= 15


COUNTS = {
    **{"next_item, newly given": 13, "next_item": 5, "label_item": 6, "report": 14},
    **{"submit": 15, "submit, another trace next": 15, "submit without script": 10},
}


def test_the_last_submit_takes_no_more_than_any(client, django_assert_max_num_queries):
    cast = make_pool(n_traces=1, person_cap=5)
    mine = ask(cast.ana)
    client.force_login(cast.ana.person)
    with django_assert_max_num_queries(15):
        response = act(client, "submit", mine)
    assert "Nothing is free for you at the moment." in response.content.decode()


def test_what_an_ask_reads_is_one_statement_and_a_bounded_part(django_assert_num_queries):
    cast = make_pool(n_traces=120)
    asker = pool_queries.asker_in(cast.ana.person, cast.project.slug)
    with django_assert_num_queries(1):
        found = pool_queries.ask(asker)
    assert len(found.candidates) == 50
    with django_assert_num_queries(2):
        (state,) = pool_queries.pool_state(cast.project)
    assert (state.n_items, state.n_places, state.n_free) == (120, 240, 240)


# Switching


def change(cast, **fields):
    new = replace(setting_up.settings_of(Project.objects.get(pk=cast.project.pk)), **fields)
    return setting_up.update_project(project=cast.project, new=new, by=cast.lea.person, now=NOW)


def test_a_panel_becomes_a_pool_and_back_while_nothing_was_given():
    cast = make_cast()
    for _ in range(3):
        add_trace(cast.project, 2)
    assigning.extend_panel(project=cast.project, now=NOW)
    assert Assignment.objects.count() == 12
    change(cast, assigning="pool", overlap=1, person_cap=4, lease_minutes=5)
    assert not Assignment.objects.exists()
    assert PoolItem.objects.filter(places=1).count() == 6
    change(cast, assigning="panel")
    assert (Assignment.objects.count(), PoolItem.objects.count()) == (12, 0)
    assert ask(cast.ana)


@pytest.mark.parametrize("start", ["panel", "pool"])
def test_how_items_are_given_stays_once_one_was_given(start):
    cast = make_cast(assigning=start)
    add_trace(cast.project, 2)
    assigning.extend_panel(project=cast.project, now=NOW)
    item = ask(cast.ana)
    labeling.mark_shown(annotator=cast.ana.person, assignment_id=item.public_id, now=NOW)
    before = (Assignment.objects.count(), PoolItem.objects.count())
    with pytest.raises(Refused, match="until the first one was given"):
        change(cast, assigning={"panel": "pool", "pool": "panel"}[start])
    assert Project.objects.get(pk=cast.project.pk).assigning == start
    assert (Assignment.objects.count(), PoolItem.objects.count()) == before


def test_an_overlap_set_by_the_lead_reaches_the_items():
    cast = make_pool(n_traces=2, overlap=1)
    read_all(cast.ana)
    change(cast, overlap=2)
    assert len(read_all(cast.ben)) == 2
    check()


@pytest.mark.parametrize("wrong", [{"overlap": 0}, {"lease_minutes": 0}, {"person_cap": 0}, {"assigning": "queue"}])
def test_values_that_no_pool_has_are_refused(wrong):
    cast = make_pool()
    with pytest.raises(Refused):
        change(cast, **wrong)


def test_leads_see_how_far_the_pool_is(client):
    cast = make_pool(n_traces=7, overlap=2, person_cap=9)
    given = ask(cast.ana)
    submit(cast.ana, given)
    n_full = int(row_of(ask(cast.ben)).item_id == row_of(given).item_id)  # which item comes is drawn
    client.force_login(cast.lea.person)
    for name in ("show_project", "show_people"):
        said = " ".join(client.get(reverse(f"annotate:{name}", args=[cast.project.slug])).content.decode().split())
        assert "At most 9 items a person." in said
        assert "2 labels an item, kept for 30 minutes" in said
        cells = [7, 14, 12, 1, 1, n_full, 0]
        assert "".join(f'<td class="number">{n}</td>' for n in cells) in said


def test_the_command_makes_a_pool(capsys):
    call_command("create_project", "p", "--assigning", "pool", "--overlap", "2", "--cap", "9", "--lease", "5")
    project = Project.objects.get(slug="p")
    assert (project.assigning, project.overlap, project.person_cap) == ("pool", 2, 9)
    assert project.lease == timedelta(minutes=5)
    make_member(project, "ana")
    add_trace(project)
    assigning.extend_panel(project=project, now=NOW)
    let_lapse(ask(project.memberships.get()))
    call_command("sweep", "--json")
    assert '"places_taken_back": 1' in capsys.readouterr().out


# The API


def test_a_script_asks_the_pool_as_a_page_does():
    cast = make_pool(n_traces=1, overlap=1)
    script, lead = Script(cast.ana), Script(cast.lea)
    here = f"projects/{cast.project.slug}/"
    first = script.get(f"{here}next/").json()
    assert (first["standing"], first["item"]["lease_minutes"]) == ("ready", 30)
    expected = {"sequence": 1, "place": None, "n_places": None, "order": 1, "n_planned": None, "minutes_left": None}
    assert first["item"]["progress"] == expected
    assert script.get(f"{here}next/").json()["item"]["public_id"] == first["item"]["public_id"]
    let_lapse()
    theirs = Script(cast.ben).get(f"{here}next/").json()["item"]
    assert theirs["text"] == first["item"]["text"]
    answer = {"key": "key-of-this-answer-00", "protocol": 1, "label": READABLE}
    address = f"items/{first['item']['public_id']}/annotations/"
    response = script.post(address, answer)
    assert (response.status_code, response.json()["problems"][0]["code"]) == (409, "place_gone")
    assert script.get(f"{here}next/").json() == {"standing": "nothing_free", "item": None}
    assert lead.ask("PATCH", here, {"overlap": 2, "person_cap": 1}).json()["overlap"] == 2
    assert script.post(address, answer).status_code == 201
    assert script.get(f"{here}next/").json()["standing"] == "cap_reached"
    refused = lead.ask("PATCH", here, {"assigning": "panel"})
    assert (refused.status_code, refused.json()["problems"][0]["field"]) == (422, "assigning")
