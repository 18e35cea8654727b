"""Twin worlds: what others, leads and the project do changes nothing of what an annotator is sent, byte for byte, but
the deliberate releases, each on the pages where it is meant to show."""

import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotate import work
from annotate.models import Assignment, Event, Invite, Item, Membership, Project, Settlement, Trace, Work
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


def everything_sent(cast):
    """All pages of ana, whole and as pieces: status, headers and body without the two words that are always new."""
    browser, sent = Client(), {}
    browser.force_login(cast.ana.person)
    for name, address in PAGES.items():
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
    assert work.drain(run.group)[Work.State.DONE] == run.n_items == 4


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
