"""Twin worlds of a kind that shows whole traces: page, parts and search of a trajectory change with nothing but what is
shown of it, and with suggestions, which are released as they were stored with the item."""

from types import SimpleNamespace

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotate import work
from annotate.kinds.redundancy.examples import MESSAGES, label, step
from annotate.models import Annotation, Assignment, Item, Project, Settlement, SubsetItem, Trace
from scoring.running import start_run
from tests.factories import (
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_release,
    make_run,
    make_submitted,
    make_trace,
    make_verdict,
)
from tests.guards.test_twins import CHANGING

pytestmark = pytest.mark.django_db
NOTHING = label(outcome="none")
SUGGESTED = [{"step": [9, 10], "type": "DUP", "evidence": [2, 3], "rule": "identical"}]


@pytest.fixture
def cast(db):
    """ana has submitted one trajectory and has another open; ben has submitted both."""
    rows = make_cast(kind="redundancy")
    cast = SimpleNamespace(project=rows.project, ana=rows.ana, ben=rows.ben, rita=rows.rita, lea=rows.lea)
    first, second = (trajectory(cast.project) for _ in range(2))
    cast.first = make_submitted(cast.ana, first, NOTHING)
    cast.second = make_assignment(cast.ana, second)
    cast.bens = [make_submitted(cast.ben, item, NOTHING) for item in (first, second)]
    return cast


def trajectory(project):
    trace = make_trace(project, MESSAGES, metadata={"model": "one", "reward": 1.0}, area="air", cluster="air 1")
    return make_item(trace=trace, reply=MESSAGES[-1].index)


def addresses(cast):
    for row in (cast.first, cast.second):
        page = reverse("annotate:label_item", args=[row.public_id])
        parts = reverse("annotate:show_entries", args=[row.public_id])
        queries = ("", "?from=2", "?text=2&call=0", "?q=flight", "?q=air+1", "?q=one")
        yield from (page, *(f"{parts}{query}" for query in queries))
    yield reverse("annotate:next_item", args=[cast.project.slug])
    yield reverse("annotate:own_annotations", args=[cast.project.slug])


def everything_sent(cast):
    browser, sent = Client(), {}
    browser.force_login(cast.ana.person)
    for address in addresses(cast):
        for headers in ({}, {"HX-Request": "true"}):
            with transaction.atomic():
                answer = browser.get(address, headers=headers)
                transaction.set_rollback(True)
            head = sorted(answer.headers.items())
            sent[address, bool(headers)] = (answer.status_code, head, CHANGING.sub(b"", answer.content))
    return sent


def the_model_is_another(cast):
    Trace.objects.update(metadata={"model": "another", "reward": 0.0}, area="other", cluster="other")
    Item.objects.update(origin={"run": 7}, arm="rewrite", cluster="other")


def ben_finds_a_step(cast):
    for row in cast.bens:
        make_annotation(row, label(step(9, 10)))


def ben_is_done_with_nothing(cast):
    Annotation.objects.filter(assignment__in=cast.bens).update(is_current=False)
    Assignment.objects.filter(pk__in=[row.pk for row in cast.bens]).update(state="open")


def the_item_is_common_to_all(cast):
    for member in (cast.ana, cast.ben):
        SubsetItem.objects.create(annotator=member, item=cast.second.item, is_common=True)


def the_item_is_hers_alone(cast):
    SubsetItem.objects.create(annotator=cast.ana, item=cast.second.item, is_common=False)


def the_rules_have_run_as_a_judge(cast):
    run = start_run(person=cast.lea.person, project=cast.project, judge="heuristics")
    work.drain(run.group)


def a_judge_has_found_steps(cast):
    run = make_run(cast.project, "heuristics")
    for item in (cast.first.item, cast.second.item):
        make_verdict(run, item, label(step(9, 10)))


def it_is_settled_and_sealed(cast):
    for item in (cast.first.item, cast.second.item):
        found = label(step(9, 10))
        Settlement.objects.create(item=item, how="reviewer", label=found, person=cast.rita.person)
    make_release(cast.project, [cast.first.item])


def others_are_left_without_suggestions(cast):
    """Of an item that is not hers."""
    make_item(trace=make_trace(cast.project, MESSAGES), reply=MESSAGES[-1].index, suggestions=SUGGESTED)
    Project.objects.update(suggestions_off=50)


@pytest.mark.parametrize(
    "change",
    [
        *(the_model_is_another, ben_finds_a_step, ben_is_done_with_nothing, the_item_is_common_to_all),
        *(the_item_is_hers_alone, the_rules_have_run_as_a_judge, a_judge_has_found_steps),
        *(it_is_settled_and_sealed, others_are_left_without_suggestions),
    ],
    ids=lambda change: change.__name__,
)
def test_what_is_hidden_of_a_trajectory_changes_no_byte(cast, change):
    before = everything_sent(cast)
    change(cast)
    assert everything_sent(cast) == before


def test_a_suggestion_shows_on_the_page_of_its_item_and_one_left_off_nowhere(cast):
    before = everything_sent(cast)
    Item.objects.filter(pk=cast.second.item_id).update(suggestions=SUGGESTED, suggestions_shown=False)
    assert everything_sent(cast) == before
    Item.objects.filter(pk=cast.second.item_id).update(suggestions_shown=True)
    after = everything_sent(cast)
    changed = {address for address, _ in before if before[address, False] != after[address, False]}
    assert changed
    assert all(cast.second.public_id in address for address in changed)
