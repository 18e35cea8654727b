"""Twin worlds: what others, leads and the project do changes nothing of what an annotator is sent, byte for byte, but
the deliberate releases, each on the pages where it is meant to show."""

import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from annotate import pools, work
from annotate.models import (
    Annotation,
    Assignment,
    Event,
    Invite,
    Item,
    Membership,
    Person,
    PoolItem,
    Project,
    SentBack,
    Settlement,
    Trace,
    Work,
)
from annotate.review_queries import STATES
from annotate.reviewing import refresh_queue
from scoring.running import start_run
from tests.factories import (
    NOW,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_protocol,
    make_release,
    make_report,
    make_round,
    make_run,
    make_submitted,
    make_trace,
    make_verdict,
)
from tests.guards.leaks import in_template

pytestmark = pytest.mark.django_db
State = Assignment.State
LABEL = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
CHANGING = re.compile(rb'(csrfmiddlewaretoken" value|name="key" value)="[^"]*"')


@pytest.fixture
def cast(db):
    """ana has done one practice item and one of the main phase; another practice item and a main one are open."""
    rows = make_cast()
    cast = SimpleNamespace(project=rows.project, ana=rows.ana, ben=rows.ben, rita=rows.rita, lea=rows.lea)
    done, practising = (make_item(cast.project, phase="practice") for _ in range(2))
    for item in (done, practising):
        Settlement.objects.create(item=item, how="known", label=LABEL, reason_en="why", reason_zh="why")
    first, second = make_item(cast.project), make_item(cast.project)
    cast.done = make_submitted(cast.ana, done)
    cast.practising = make_assignment(cast.ana, practising)
    cast.first = make_submitted(cast.ana, first)
    cast.second = make_assignment(cast.ana, second)
    make_submitted(cast.ben, done)
    make_submitted(cast.ben, first)
    return cast


PAGES = {
    "home": lambda cast: "/",
    "next": lambda cast: reverse("annotate:next_item", args=[cast.project.slug]),
    "answers": lambda cast: reverse("annotate:own_annotations", args=[cast.project.slug]),
    "guideline": lambda cast: reverse("annotate:guideline", args=[cast.project.slug]),
    **{
        f"{name} {what}": lambda cast, name=name, what=what: reverse(
            f"annotate:{name}_item", args=[getattr(cast, what).public_id]
        )
        for name in ("label", "correct")
        for what in ("done", "practising", "first", "second")
    },
}


def everything_sent(cast, pages=None, who=None):
    """All pages of ana, whole and as pieces: status, headers and body without the two words that are always new."""
    browser, sent = Client(), {}
    browser.force_login((who or cast.ana).person)
    for name, address in (pages or PAGES).items():
        for headers in ({}, {"HX-Request": "true"}):
            with transaction.atomic():  # looking changes rows too
                response = browser.get(address(cast), headers=headers)
                transaction.set_rollback(True)
            head = sorted((key, value) for key, value in response.headers.items())
            sent[name, bool(headers)] = (response.status_code, head, CHANGING.sub(b"", response.content))
    return sent


def know_another(cast):
    Settlement.objects.update(
        label={**LABEL, "label": "unrepairable_or_no_answer"}, reason_en="other", reason_zh="other"
    )


def ben_disagrees(cast):
    make_annotation(cast.ben.assignments.first(), "unrepairable_or_no_answer")


def ben_reports(cast):
    cast.ben.assignments.update(state=State.PROBLEM)


def ben_leaves(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(left_at=NOW, languages=["en"])


def ben_is_paused(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(paused_at=NOW)


def somebody_joins(cast):
    make_member(cast.project, "cem")
    Invite.objects.create(
        purpose="project", project=cast.project, role="annotator", token_hash="x", expires_at=NOW + timedelta(days=9)
    )


def more_comes_in(cast):
    make_item(cast.project)
    make_trace(cast.project, is_staged=True)
    Work.objects.create(kind="import_traces", key="one", project=cast.project, state="running", lease_until=NOW)


def it_is_settled(cast):
    for item in Item.objects.filter(phase="main"):
        Settlement.objects.create(item=item, how="reviewer", label=LABEL, person=cast.rita.person)
    Event.objects.create(project=cast.project, person=cast.lea.person, action="done")


def an_item_is_sent_back_to_ben(cast):
    round_ = make_round(cast.project, purpose="sent_back", informed=True)
    row = make_assignment(cast.ben, cast.first.item, round=round_)
    SentBack.objects.create(assignment=row, person=cast.rita.person, key="k", reason="Look again.", created_at=NOW)


def reviewers_look_at_the_queue(cast):
    ben_disagrees(cast)
    refresh_queue(cast.project)


def the_model_is_another(cast):
    Trace.objects.update(metadata={"model": "another"}, area="other", cluster="other")
    Item.objects.update(origin={"run": 7}, arm="rewrite", cluster="other")


def the_next_phase_opens(cast):
    Project.objects.update(open_phase="main")


def ben_is_asked_again(cast):
    round_ = make_round(cast.project, purpose="protocol")
    make_assignment(cast.ben, cast.first.item, round=round_)


def the_guideline_changes(cast):
    make_protocol(cast.project)


def a_judge_has_run(cast):
    """With verdicts that agree and disagree, and one that nobody could read."""
    run = make_run(cast.project, items=[cast.second.item, cast.done.item])
    make_verdict(run, cast.first.item, "unrepairable_or_no_answer")
    make_verdict(run, cast.practising.item, None, is_unreadable=True)


def a_judge_runs(cast):
    """From its start to its end, by the product's own hands."""
    run = start_run(person=cast.lea.person, project=cast.project, judge="lexical", phases=["practice", "main"])
    assert work.drain(run.group)[Work.State.DONE] == run.n_items >= 4


def a_judge_is_at_work(cast):
    run = make_run(cast.project, ended_at=None, n_items=1)
    key = f"verdict:{run.pk}:{cast.second.item.pk}:0"
    Work.objects.create(kind="verdict", key=key, group=run.group, priority=10, state="running", lease_until=NOW)


def a_judge_broke_down(cast):
    run = make_run(cast.project, ended_at=None, n_items=1)
    Work.objects.create(kind="verdict", key="one", group=run.group, priority=10, state="dead", error="It broke down.")


def figures_are_computed(cast):
    make_report(cast.project, payload={"kappa": 1})


def a_gold_set_is_sealed(cast):
    make_release(cast.project, [cast.first.item, cast.second.item])


HIDDEN = (
    *(a_judge_runs, a_judge_has_run, a_judge_is_at_work, a_judge_broke_down),
    *(figures_are_computed, a_gold_set_is_sealed),
    *(ben_disagrees, ben_reports, ben_leaves, ben_is_paused, ben_is_asked_again, somebody_joins, more_comes_in),
    *(it_is_settled, the_model_is_another, the_next_phase_opens),
    *(an_item_is_sent_back_to_ben, reviewers_look_at_the_queue),
)


@pytest.mark.parametrize("change", HIDDEN)
def test_what_is_no_release_changes_no_byte(cast, change):
    before = everything_sent(cast)
    change(cast)
    assert everything_sent(cast) == before


@pytest.mark.parametrize(
    ("change", "shown_on"),
    [
        (know_another, {"label done"}),
        (the_guideline_changes, {"guideline", "label practising", "label second", "correct done", "correct first"}),
    ],
)
def test_a_release_shows_where_it_is_meant_to_and_nowhere_else(cast, change, shown_on):
    before = everything_sent(cast)
    change(cast)
    after = everything_sent(cast)
    assert {name for name, _ in before if before[name, False] != after[name, False]} == shown_on
    assert {name for name, _ in before if before[name, True] != after[name, True]} == shown_on


def ben_labels_what_ana_reads(cast):
    make_submitted(cast.ben, cast.second.item)


def test_a_planted_leak_is_caught(cast, monkeypatch, record_property):
    """How many others have labelled an item, beside how far one is oneself."""
    record_property("named", "count in progress bar")
    clean = everything_sent(cast)
    with transaction.atomic():
        ben_labels_what_ana_reads(cast)
        assert everything_sent(cast) == clean
        transaction.set_rollback(True)
    count = "{{ row.item.assignments.count }} of 3 labels · {% if not item.progress %}"
    in_template("annotate/_where.html", "{% if not item.progress %}", count)(monkeypatch)
    assert "label second" in differing_pages(cast, ben_labels_what_ana_reads, PAGES)


def differing_pages(cast, change, pages):
    """The names of the pages of ana that a change shows on."""
    before = everything_sent(cast, pages)
    change(cast)
    after = everything_sent(cast, pages)
    return {name for name, _ in before if any(before[name, htmx] != after[name, htmx] for htmx in (False, True))}


def test_why_an_item_was_sent_back_shows_on_that_item_alone(cast):
    round_ = make_round(cast.project, purpose="sent_back", informed=True)
    row = make_assignment(cast.ana, cast.first.item, round=round_)
    SentBack.objects.create(assignment=row, person=cast.rita.person, key="k", reason="Look again.", created_at=NOW)
    pages = {**PAGES, "sent back": lambda cast: reverse("annotate:label_item", args=[row.public_id])}
    assert differing_pages(cast, give_another_reason, pages) == {"sent back"}


def give_another_reason(cast):
    SentBack.objects.update(reason="For another reason.")


def settle_first(cast, **label):
    Settlement.objects.filter(item=cast.first.item).delete()
    Settlement.objects.create(
        item=cast.first.item, how="reviewer", label={**LABEL, **label}, person=cast.rita.person,
        protocol=cast.project.protocols.first(),
    )  # fmt: skip


def settle_otherwise(cast):
    settle_first(cast, label="unrepairable_or_no_answer")


@pytest.mark.parametrize(
    ("is_closed", "show_settled", "shown_on"),
    [
        (True, True, {"label first", "answers"}),
        (True, False, set()),
        (False, True, set()),
    ],
)
def test_what_was_settled_shows_in_a_closed_project_that_allows_it_and_nowhere_else(
    cast, is_closed, show_settled, shown_on
):
    settle_first(cast)
    closed = NOW if is_closed else None
    Project.objects.filter(pk=cast.project.pk).update(closed_at=closed, settings={"show_settled": show_settled})
    assert differing_pages(cast, settle_otherwise, PAGES) == shown_on


# Reviewers


def review_pages(cast):
    """All pages of rita: the queue in every state, an item that is settled and one that is not, in every form."""
    refresh_queue(cast.project)
    items = {"first": cast.first.item.disagreement, "other": cast.other.item.disagreement}
    slug = cast.project.slug
    queue = {
        f"queue {state}": lambda cast, state=state: reverse("annotate:settling_queue", args=[slug]) + f"?state={state}"
        for state in STATES
    }
    cards = {
        f"card {name} {query}": lambda cast, row=row, query=query: reverse(
            "annotate:settle_item", args=[slug, row.public_id]
        )
        + query
        for name, row in items.items()
        for query in ("", "?write=1", "?again=1")
    }
    covered = reverse("scoring:settled_verdict", args=[slug, items["other"].public_id])
    own = {name: PAGES[name] for name in ("home", "guideline")}
    return {**queue, **cards, **own, "verdict": lambda cast: covered}


@pytest.fixture
def reviewed(cast):
    """ana and ben differ on two items; rita has settled one."""
    cast.other = make_submitted(cast.ana)
    make_submitted(cast.ben, cast.other.item, "unrepairable_or_no_answer")
    make_annotation(cast.ben.assignments.get(item=cast.first.item), "unrepairable_or_no_answer")
    settle_first(cast)
    return cast


def names_are_others(cast):
    for member in (cast.ana, cast.ben):
        Membership.objects.filter(pk=member.pk).update(code=f"x{member.pk}")
        Person.objects.filter(pk=member.person_id).update(username=f"someone{member.pk}")


def it_took_them_longer(cast):
    Annotation.objects.update(active_ms=99_000, raw_ms=100_000, submitted_at=NOW - timedelta(days=3))


@pytest.mark.parametrize(
    "change",
    [a_judge_runs, a_judge_has_run, a_judge_is_at_work, a_judge_broke_down, figures_are_computed, a_gold_set_is_sealed,
     names_are_others, it_took_them_longer, the_model_is_another],
)  # fmt: skip
def test_reviewers_are_sent_nothing_of_judges_names_times_and_models(reviewed, change):
    pages = review_pages(reviewed)
    before = everything_sent(reviewed, pages, reviewed.rita)
    change(reviewed)
    assert everything_sent(reviewed, pages, reviewed.rita) == before


def test_what_ben_says_reaches_reviewers(reviewed):
    """The pages are not empty: another answer is seen."""
    pages = review_pages(reviewed)
    before = everything_sent(reviewed, pages, reviewed.rita)
    make_annotation(reviewed.ben.assignments.get(item=reviewed.other.item), "readable")
    assert everything_sent(reviewed, pages, reviewed.rita) != before


def test_a_pause_is_told_to_the_one_it_concerns_in_the_same_words_always(cast):
    words = []
    for at in (NOW, NOW + timedelta(days=30)):
        Membership.objects.filter(pk=cast.ana.pk).update(paused_at=at)
        words.append(everything_sent(cast)["next", False])
    assert words[0] == words[1]
    assert b"paused" in words[0][2]


def test_the_same_world_twice_is_the_same_and_a_change_of_ones_own_is_seen(cast):
    before = everything_sent(cast)
    assert everything_sent(cast) == before
    make_submitted(cast.ana)
    assert everything_sent(cast) != before


# Pools: which item comes is release (e); it depends on ids, the seed and how many places are free


@pytest.fixture
def pool(db):
    """ana has read one item of a pool and reads another; ben has read and reads too, and much is left."""
    cast = make_cast(assigning="pool", overlap=2)
    for _ in range(6):
        make_item(cast.project)
    pools.fill(project=cast.project)
    for member in (cast.ben, cast.ana):
        item = pools.next_item(member.person, cast.project.slug).item
        end_item(member, item)
        pools.next_item(member.person, cast.project.slug)
    return cast


def end_item(member, item):
    row = Assignment.objects.get(public_id=item.public_id)
    Assignment.objects.filter(pk=row.pk).update(state=State.SUBMITTED, lease_until=None, ended_at=NOW)
    make_annotation(row)


def what_comes(cast):
    """ana asks until nothing comes: what she is sent each time, without her random addresses, and which items."""
    browser, sent, given = Client(), [], []
    browser.force_login(cast.ana.person)
    asked = transaction.savepoint()
    said = browser.get(reverse("annotate:next_item", args=[cast.project.slug]))
    while row := cast.ana.assignments.filter(state=State.OPEN).first():
        page = browser.get(reverse("annotate:label_item", args=[row.public_id]))
        own = [one.public_id.encode() for one in cast.ana.assignments.all()]
        sent.append(re.sub(b"|".join(own), b"", CHANGING.sub(b"", page.content)))
        given.append(row.item_id)
        end_item(cast.ana, row)
        said = browser.get(reverse("annotate:next_item", args=[cast.project.slug]))
    transaction.savepoint_rollback(asked)
    return [*sent, CHANGING.sub(b"", said.content)], given


def ben_changes_his_answer(cast):
    make_annotation(cast.ben.assignments.get(state=State.SUBMITTED), "unrepairable_or_no_answer")


def ben_types(cast):
    cast.ben.assignments.filter(state=State.OPEN).update(draft={"fields": {}}, draft_number=4, lease_until=NOW)
    cast.ben.assignments.filter(state=State.OPEN).update(lease_until=Now() + timedelta(minutes=1))


def ben_has_reported(cast):
    cast.ben.assignments.filter(state=State.SUBMITTED).update(state=State.PROBLEM)


def it_was_somebody_else(cast):
    """Who had the other places, and in which order."""
    cem = make_member(cast.project, "cem")
    cast.ben.assignments.update(annotator=cem)


def a_judge_has_judged_the_pool(cast):
    make_run(cast.project, items=list(cast.project.items.all()))


POOLED = (
    *(ben_changes_his_answer, ben_types, ben_has_reported, it_was_somebody_else, it_is_settled, the_model_is_another),
    a_judge_has_judged_the_pool,
)


@pytest.mark.parametrize("change", POOLED)
def test_which_item_a_pool_gives_does_not_depend_on_what_others_do_with_theirs(pool, change):
    before = what_comes(pool)
    change(pool)
    assert what_comes(pool) == before
    assert len(before[1]) == 5


def test_a_place_that_is_taken_or_comes_back_is_all_that_shows_of_others(pool):
    _, given = what_comes(pool)
    PoolItem.objects.filter(pk=given[-1]).update(n_free=0, queue=None)
    sent, fewer = what_comes(pool)
    assert fewer == given[:-1]
    assert b"Nothing is free for you at the moment." in sent[-1]
