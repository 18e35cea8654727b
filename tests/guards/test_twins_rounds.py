"""Twin worlds of rounds, known answers and added overlap: each deliberate release shows on the page where it is meant
to, and everything else stays byte-equal."""

import pytest
from django.db import transaction
from django.urls import reverse

from annotate import assigning, people, pools, qualifying, rounds
from annotate.models import Annotation, Assignment, Event, Membership, Person, Post, Settlement
from tests.annotate.test_rounds import answer
from tests.factories import (
    NOW,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_report,
    make_run,
    make_submitted,
)
from tests.guards.test_twins import LABEL, PAGES, cast, everything_sent

pytestmark = pytest.mark.django_db
__all__ = ["cast"]
AGAIN = {**PAGES, **{f"{name} again": lambda cast, name=name: reverse(
    f"annotate:{name}_item", args=[cast.again.public_id]) for name in ("label", "correct")}}


@pytest.fixture
def informed(cast):
    """The first round is closed; ana has one item of it before her once more, informed, and so has ben."""
    close(cast)
    rounds.open_informed_round(lead=cast.lea.person, project=cast.project, which="all", now=NOW)
    cast.again, cast.bens = (
        Assignment.objects.get(annotator=member, item=cast.first.item, round__informed=True)
        for member in (cast.ana, cast.ben)
    )
    return cast


def close(cast):
    rounds.close_round(lead=cast.lea.person, project=cast.project, number=1, rest="go_on", now=NOW)


def differing(cast, change, pages=AGAIN):
    before = everything_sent(cast, pages)
    assert everything_sent(cast, pages) == before
    change(cast)
    after = everything_sent(cast, pages)
    assert {name for name, _ in before if before[name, True] != after[name, True]} == {
        name for name, _ in before if before[name, False] != after[name, False]
    }
    return {name for name, _ in before if before[name, False] != after[name, False]}


# (c) and (f)


def ben_had_said_otherwise(cast):
    Annotation.objects.filter(assignment__annotator=cast.ben, assignment__item=cast.first.item).update(
        label={**LABEL, "label": "unrepairable_or_no_answer"}
    )


def ben_says_something(cast):
    Post.objects.create(
        item=cast.first.item, round=cast.bens.round, author=cast.ben, purpose="thread", text="It lacks the unit."
    )


@pytest.mark.parametrize("change", [ben_had_said_otherwise, ben_says_something])
def test_closed_answers_and_the_thread_show_on_the_informed_item_alone(informed, change):
    assert differing(informed, change) == {"label again"}


def ben_votes_again(cast):
    answer(cast.ben, cast.bens, "unrepairable_or_no_answer")


def ben_says_something_elsewhere(cast):
    """About the same item in the first round, and about another one."""
    for item, round_ in ((cast.first.item, cast.first.round), (cast.second.item, cast.bens.round)):
        Post.objects.create(item=item, round=round_, author=cast.ben, purpose="thread", text="It lacks the unit.")


def ben_meets_a_gap(cast):
    Post.objects.create(
        item=cast.first.item,
        round=cast.bens.round,
        author=cast.ben,
        purpose="gap",
        text="What of two?",
        protocol=cast.project.protocols.get(),
    )


def names_and_codes_are_others(cast):
    Person.objects.filter(pk=cast.ben.person_id).update(username="somebody-else")
    Membership.objects.filter(pk=cast.ben.pk).update(code="a77")


def it_took_ben_longer(cast):
    Annotation.objects.filter(assignment__annotator=cast.ben).update(active_ms=10**6, raw_ms=10**6)
    Assignment.objects.filter(annotator=cast.ben).update(first_shown_at=NOW)


def a_judge_differs(cast):
    make_run(cast.project, items=[cast.first.item])
    make_report(cast.project)


def a_reviewer_settles_it(cast):
    Settlement.objects.create(item=cast.first.item, how="reviewer", label=LABEL, person=cast.rita.person)


def somebody_labels_it_blind_now(cast):
    round_ = cast.project.rounds.get(purpose="first", closed_at=None)
    make_submitted(make_member(cast.project, "cem"), cast.first.item, "unrepairable_or_no_answer", round=round_)


def ben_leaves(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(left_at=NOW)


@pytest.mark.parametrize(
    "change",
    [
        *(ben_votes_again, ben_says_something_elsewhere, ben_meets_a_gap, names_and_codes_are_others),
        *(it_took_ben_longer, a_judge_differs, a_reviewer_settles_it, somebody_labels_it_blind_now, ben_leaves),
    ],
)
def test_nothing_else_of_the_others_shows_on_an_informed_item(informed, change):
    assert differing(informed, change) == set()


def test_who_has_no_informed_item_is_sent_nothing_of_the_round(cast):
    """ana's part when items of others only are looked at again."""
    cara = make_member(cast.project, "cara")
    other = make_item(cast.project)
    for member in (cast.ben, cara):
        make_submitted(member, other)
    close(cast)

    def a_round_is_opened(cast):
        Annotation.objects.filter(assignment__item=cast.first.item, assignment__annotator=cast.ben).delete()
        rounds.open_informed_round(lead=cast.lea.person, project=cast.project, which="all", now=NOW)

    before = everything_sent(cast)
    a_round_is_opened(cast)
    assert not Assignment.objects.filter(annotator=cast.ana, round__informed=True).exists()
    assert everything_sent(cast) == before


# (b)


def an_item_is_known(cast):
    for item in (cast.first.item, cast.second.item):
        Settlement.objects.create(item=item, how="known", label={**LABEL, "label": "unrepairable_or_no_answer"})


def a_rule_is_set(cast):
    qualifying.set_rule(lead=cast.lea.person, project=cast.project, last=2, percent=80, now=NOW)


def everybody_is_looked_at(cast):
    a_rule_is_set(cast)
    an_item_is_known(cast)
    Event.objects.create(project=cast.project, action="member_paused_by_rule", detail={"code": "a9"})


@pytest.mark.parametrize("change", [an_item_is_known, a_rule_is_set, everybody_is_looked_at])
def test_which_items_are_known_shows_nowhere_as_long_as_nobody_is_paused(cast, change):
    assert differing(cast, change, PAGES) == set()


def test_a_pause_by_the_rule_is_told_in_the_bytes_of_a_pause_by_hand(cast):
    """The answer itself is acknowledged in both worlds; what follows is the same fixed text."""
    told = {}
    for by in ("rule", "lead"):
        with_pause(cast, by)
        told[by] = everything_sent(cast)
        people.resume_member(project=cast.project, member_id=cast.ana.pk, by=cast.lea.person, now=NOW)
    assert told["rule"] == told["lead"]
    assert b"Your part in this project is paused." in told["rule"]["next", False][2]
    assert b"Your part in this project is paused." in told["rule"]["home", False][2]


def with_pause(cast, by):
    if by == "lead":
        people.pause_member(project=cast.project, member_id=cast.ana.pk, by=cast.lea.person, now=NOW)
        return
    Settlement.objects.create(item=cast.second.item, how="known", label={**LABEL, "label": "unrepairable_or_no_answer"})
    qualifying.set_rule(lead=cast.lea.person, project=cast.project, last=1, percent=100, now=NOW)
    answer(cast.ana, cast.second, "readable")
    assert Membership.objects.get(pk=cast.ana.pk).paused_at is not None


# (e)


HALF = 12
"""So many of either sort stand apart by chance once in a million orders."""


@pytest.fixture
def pool(db):
    """ana and ben have answered the first half of a pool with two places an item; cara has begun nothing."""
    cast = make_cast(assigning="pool", overlap=2)
    cast.__dict__["cara"] = make_member(cast.project, "cara")
    items = [make_item(cast.project) for _ in range(2 * HALF)]
    pools.fill(project=cast.project)
    for item in items[:HALF]:
        for member in (cast.ana, cast.ben):
            make_submitted(member, item)
            assert pools.take_place(item.pk, 2)
    cast.__dict__["items"] = items
    return cast


def they_disagree(cast):
    make_annotation(
        Assignment.objects.get(annotator=cast.ben, item=cast.items[0]), "unrepairable_or_no_answer"
    )


def test_what_comes_from_a_pool_depends_on_overlap_counts_and_not_on_why_they_are_so(pool):
    """The same places are added in both worlds; in one of them two people disagree, in the other nobody does."""
    add(pool, pool.items[:2])
    before = given_to(pool, pool.cara)
    they_disagree(pool)
    assert given_to(pool, pool.cara) == before


def given_to(cast, member):
    """The items somebody would be given one after the other, without giving them."""
    given = []
    with transaction.atomic():
        while item := pools.next_item(member.person, cast.project.slug).item:
            row = Assignment.objects.get(public_id=item.public_id)
            given.append(row.item_id)
            Assignment.objects.filter(pk=row.pk).update(state="submitted", ended_at=NOW)
        transaction.set_rollback(True)
    return given


def add(cast, items):
    return assigning.add_overlap(project=cast.project, items=[item.pk for item in items], n=1, at_most=3)


def test_added_overlap_comes_mixed_with_ordinary_items_to_who_has_not_seen_it_and_reopens_none(pool):
    assert add(pool, pool.items[:HALF]) == HALF
    assert add(pool, pool.items[:HALF]) == 0  # the cap
    seen = {item.pk for item in pool.items[:HALF]}
    for member in (pool.ana, pool.ben):
        assert not seen & set(given_to(pool, member))
    given = given_to(pool, pool.cara)
    assert set(given) == {item.pk for item in pool.items}
    are_seen = [item in seen for item in given]
    assert are_seen not in (sorted(are_seen), sorted(are_seen, reverse=True))
    assert Assignment.objects.filter(annotator=pool.ana, item__in=seen).count() == HALF


def test_who_has_had_an_item_is_sent_the_same_bytes_whether_it_was_opened_to_more_or_not(pool):
    pages = {name: PAGES[name] for name in ("home", "answers", "guideline")}
    before = everything_sent(pool, pages)
    add(pool, pool.items[:HALF])
    assert everything_sent(pool, pages) == before


def test_a_panel_has_no_places_to_add(cast):
    assert add(cast, [cast.first.item]) == 0
    assert make_assignment(cast.ben).item_id
