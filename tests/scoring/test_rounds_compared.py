"""Agreement by round, right to the last digit, and a twin world over everything that counts votes: what was settled,
known, said by a judge or said informed never counts as a vote of round 1."""

from dataclasses import replace
from fractions import Fraction

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import lead_queries, people, release_queries, releasing, review_queries
from annotate.models import Assignment, Person, Post, Settlement
from scoring import item_queries, label_queries, report_queries
from scoring.compared_items import compared_items
from scoring.comparing import agreement_report
from scoring.reports import recompute, shown_report
from tests.annotate.test_rounds import GOOD, POOR, answer, close, own_in
from tests.annotate.test_rounds import open_informed as reopen
from tests.factories import (
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_round,
    make_run,
    make_submitted,
)

pytestmark = pytest.mark.django_db
BAD = "unrepairable_or_no_answer"
FIRST = ((GOOD, GOOD), (GOOD, GOOD), (GOOD, POOR), (POOR, POOR), (POOR, GOOD), (BAD, POOR), (POOR, POOR))
"""What ana and ben say of seven items, blind; they differ on the third, the fifth and the sixth."""
AGAIN = {2: (POOR, POOR), 4: (GOOD, POOR), 5: (BAD, POOR)}
"""Informed, on those three: once they come together, once each goes over to what the other said, once nobody moves."""


@pytest.fixture
def cast():
    cast = make_cast()
    items = [make_item(cast.project) for _ in FIRST]
    for item, said in zip(items, FIRST, strict=True):
        for member, label in zip((cast.ana, cast.ben), said, strict=True):
            make_submitted(member, item, value(label))
    return cast, items


def look_again(cast, items):
    close(cast)
    opened = reopen(cast, "disagreeing")
    Assignment.objects.filter(round__number=opened.number, state="locked").update(state="open")
    for place, labels in AGAIN.items():
        for member, label in zip((cast.ana, cast.ben), labels, strict=True):
            answer(member, own_in(member, opened.number, items[place]), label)
    return opened


def kappa_of(pairs):
    """Cohen's kappa in fractions: observed agreement, and that by chance from each one's own rates."""
    n = len(pairs)
    observed = Fraction(sum(a == b for a, b in pairs), n)
    labels = {label for pair in pairs for label in pair}
    chance = sum(
        Fraction(sum(a == label for a, _ in pairs), n) * Fraction(sum(b == label for _, b in pairs), n)
        for label in labels
    )
    return (observed - chance) / (1 - chance)


def figures(cast, **asked):
    report = agreement_report(cast.project, measure="label", **asked)
    panel = report.measures[0].panel
    return report, panel.pairs[0].cohen_kappa.value, panel.percent_agreement_pair.value


def test_the_agreement_of_each_round_is_that_worked_by_hand(cast):
    """Round 1: 4 of 7 equal. ana says good 3, poor 3, bad 1 times, ben good 3, poor 4, bad 0 times, so by chance
    (3*3 + 3*4) / 49 = 3/7 are equal, and kappa is (4/7 - 3/7) / (1 - 3/7) = 1/4. Round 2: 1 of 3 equal; ana says poor,
    good and bad once each, ben poor three times, so 1/3 by chance and kappa 0."""
    cast, items = cast
    assert kappa_of(FIRST) == Fraction(1, 4)
    assert kappa_of(list(AGAIN.values())) == 0
    _, kappa, equal = figures(cast)
    assert (kappa, equal) == (0.25, 4 / 7)
    opened = look_again(cast, items)
    for asked in ({}, {"round": 1}):
        report, kappa, equal = figures(cast, **asked)
        assert (kappa, equal) == (0.25, 4 / 7)
        assert not report.is_informed
        assert report.is_result
    report, kappa, equal = figures(cast, round=opened.number)
    assert (kappa, equal) == (0.0, 1 / 3)
    assert report.is_informed
    assert not report.is_result
    assert report.as_dict()["round"] == opened.number


# Everything that counts votes


COUNTED = {
    "labels that enter agreement": lambda project: [
        [*map(list, (one.item, one.rater, one.label)), one.texts]
        for one in [label_queries.rated_labels(project, phase="main")]
    ],
    "figures": lambda project: [
        part["agreement"] for part in agreement_report(project).as_dict()["measures"]
    ],
    "figures of round 1": lambda project: [
        part["agreement"] for part in agreement_report(project, round=1).as_dict()["measures"]
    ],
    "labels under each protocol": lambda project: agreement_report(project).as_dict()["protocols"],
    "items behind a figure": lambda project: [
        (row.item, row.said, row.majority) for row in compared_items(project, measure="label").rows
    ],
    "labels beside each other": lambda project: item_queries.compared_labels(
        list(project.items.values_list("pk", flat=True))
    ),
    "votes of a release": lambda project: list(release_queries.votes(project, 1)),
    "labels that could be sealed": lambda project: release_queries.labels_by_protocol(project),
    "release by majority": lambda project: releasing.preview_release(project=project, rule="majority").counts,
    "release by consensus": lambda project: releasing.preview_release(project=project, rule="consensus").counts,
    "labels that make a disagreement": lambda project: list(review_queries.labels_to_compare(project, None)),
    "items whose disagreement changed": lambda project: review_queries.changed_items(project),
    "reported problems": lambda project: (
        report_queries.n_problems(project, phase="main", wanted={}),
        lead_queries.n_problems(project, phase="main"),
        release_queries.left_out(project, 1)["problem_reported"],
    ),
    "partial raters": lambda project: lead_queries.partial_raters(project, phase="main"),
    "people who labelled an item": lambda project: [
        (one.id, one.n_submitted) for one in lead_queries.listed_items(project, limit=100)
    ],
    "progress of phases": lambda project: [replace(one, n_known=0) for one in lead_queries.phase_counts(project)],
    "what an older protocol still has": lambda project: (
        lead_queries.labelled_under_older(project, 2),
        lead_queries.n_under_older(project, 2),
    ),
}


FIGURES = [what for what in COUNTED if what not in ("partial raters", "what an older protocol still has")]
"""All but who answered in part, and whom to ask again."""


def settle(cast, items):
    Settlement.objects.create(
        item=items[2], how="reviewer", person=cast.rita.person, label=value(POOR), protocol=cast.project.protocols.get()
    )
    Settlement.objects.create(item=items[5], how="unresolved", person=cast.rita.person)


def value(label):
    spans = [{"start": 0, "end": 3, "type": "reference", "quote": "The"}] if label == POOR else []
    return {"label": label, "states_no_result": False, "spans": spans, "comment": ""}


def know(cast, items):
    Settlement.objects.create(item=items[0], how="known", label=value(BAD))


def judge(cast, items):
    make_run(cast.project, items=items)


def send_back(cast, items):
    """Answered, and one reported as a problem."""
    round_ = make_round(cast.project, "sent_back", informed=True)
    make_annotation(make_assignment(cast.ana, items[2], "submitted", round=round_), BAD, informed=True)
    make_assignment(cast.ben, items[2], "problem", round=round_)


def inform(cast, items):
    """The round itself is opened and answered in the test; here one says that an item of it is cut off."""
    round_ = make_round(cast.project, "informed", informed=True)
    for place, labels in AGAIN.items():
        for member, label in zip((cast.ana, cast.ben), labels, strict=True):
            make_annotation(make_assignment(member, items[place], "submitted", round=round_), label, informed=True)
    row = make_assignment(cast.ana, items[0], "problem", round=round_)
    Post.objects.create(item=row.item, round=round_, author=cast.ana, purpose="problem", text="cut off")
    Post.objects.create(item=items[2], round=round_, author=cast.ben, purpose="thread", text="see the unit")


def relabel_informed(cast, items):
    """In a round that a new protocol opened, who was informed is not blind any more."""
    round_ = make_round(cast.project, "protocol")
    row = make_assignment(cast.ana, items[2], "submitted", round=round_)
    make_annotation(row, BAD, informed=True)


@pytest.mark.parametrize("change", [settle, know, judge, send_back, inform])
@pytest.mark.parametrize("what", COUNTED)
def test_nothing_but_a_blind_label_is_a_vote_of_round_1(cast, what, change):
    cast, items = cast
    count = COUNTED[what]
    before = count(cast.project)
    change(cast, items)
    assert count(cast.project) == before


def retire(cast):
    people.retire_member(project=cast.project, member_id=cast.ben.pk, by=cast.lea.person, now=timezone.now())


def pause(cast):
    people.pause_member(project=cast.project, member_id=cast.ben.pk, by=cast.lea.person, now=timezone.now())


def deactivate(cast):
    Person.objects.filter(pk=cast.ben.person_id).update(is_active=False)


@pytest.mark.parametrize("end", [retire, pause, deactivate])
@pytest.mark.parametrize("what", FIGURES)
def test_who_is_paused_retired_or_deactivated_changes_no_figure(cast, what, end):
    cast, items = cast
    settle(cast, items)
    before = COUNTED[what](cast.project)
    end(cast)
    assert COUNTED[what](cast.project) == before


@pytest.mark.parametrize("what", [what for what in COUNTED if "protocol" not in what and "phases" not in what])
def test_a_label_of_an_informed_person_is_no_vote_in_a_blind_round_either(cast, what):
    cast, items = cast
    before = COUNTED[what](cast.project)
    relabel_informed(cast, items)
    assert COUNTED[what](cast.project) == before


def test_first_votes_make_the_same_release_after_an_informed_round_that_turned_them(cast):
    cast, items = cast
    before = [releasing.preview_release(project=cast.project, rule=rule).counts for rule in ("majority", "consensus")]
    look_again(cast, items)
    after = [releasing.preview_release(project=cast.project, rule=rule).counts for rule in ("majority", "consensus")]
    assert after == before
    assert release_queries.left_out(cast.project, 1)["informed"] == 6


# Surfaces


def test_page_command_and_file_show_a_round_by_itself_and_say_that_it_is_informed(cast):
    cast, items = cast
    opened = look_again(cast, items)
    browser = Client()
    browser.force_login(cast.lea.person)
    address = reverse("scoring:show_agreement", args=[cast.project.slug])
    page = browser.get(f"{address}?round={opened.number}&measure=label").content.decode()
    assert f"Round {opened.number}, informed" in page
    assert f'<option value="{opened.number}" selected>{opened.number} · informed</option>' in page
    assert f"round={opened.number}&" in page
    blind = browser.get(address).content.decode()
    assert "informed: people knew" not in blind
    assert browser.get(f"{address}?round=99").status_code == 409
    listed = reverse("scoring:list_compared_items", args=[cast.project.slug])
    assert browser.get(f"{listed}?round={opened.number}&measure=label").context["n"] == 3
    assert browser.get(f"{listed}?measure=label").context["n"] == 7


def test_a_stored_report_of_a_round_is_computed_again_to_the_same(cast):
    cast, items = cast
    opened = look_again(cast, items)
    for asked in ({}, {"round": 1}, {"round": opened.number}):
        row = shown_report(cast.project, measure="label", **asked).row
        assert recompute(row) == row.payload
