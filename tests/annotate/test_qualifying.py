"""Known answers mixed in unmarked: who misses too many is paused, and goes on when a lead says so."""

import pytest

from annotate import blind, people, qualifying
from annotate.errors import NotYours, Refused
from annotate.models import Event, Membership, Settlement
from tests.annotate.test_rounds import answer
from tests.factories import NOW, make_assignment, make_cast, make_item, make_round

pytestmark = pytest.mark.django_db
GOOD, BAD = "readable", "unrepairable_or_no_answer"


@pytest.fixture
def cast():
    return make_cast()


def rule(cast, last=4, percent=75):
    qualifying.set_rule(lead=cast.lea.person, project=cast.project, last=last, percent=percent, now=NOW)


def known(cast, phase="main", label=GOOD):
    item = make_item(cast.project, phase=phase)
    value = {"label": label, "states_no_result": False, "spans": [], "comment": ""}
    Settlement.objects.create(item=item, how="known", label=value, reason_en="why", reason_zh="why")
    return item


def label(cast, item, said, **fields):
    return answer(cast.ana, make_assignment(cast.ana, item, **fields), said)


def is_paused(cast):
    return Membership.objects.get(pk=cast.ana.pk).paused_at is not None


def test_too_many_misses_among_the_last_known_items_pause_and_the_answer_is_acknowledged(cast):
    rule(cast)
    for said in (GOOD, GOOD, BAD):
        label(cast, known(cast), said)
    assert not is_paused(cast)
    waiting = make_assignment(cast.ana, make_item(cast.project), state="locked")
    receipt = label(cast, known(cast, "practice"), BAD)
    assert receipt.number == 1
    assert is_paused(cast)
    assert blind.standing(cast.ana.person, cast.project.slug) == "paused"
    assert waiting.annotator == cast.ana
    event = Event.objects.get(action="member_paused_by_rule")
    assert (event.person, event.detail) == (None, {"code": cast.ana.code, "right": 2, "of": 4})


def test_enough_right_ones_and_items_without_a_known_answer_pause_nobody(cast):
    rule(cast)
    for said in (BAD, GOOD, GOOD, GOOD):
        label(cast, known(cast), said)
    for _ in range(5):
        label(cast, make_item(cast.project), BAD)
    assert not is_paused(cast)
    assert [(one.n_right, one.n) for one in qualifying.standings(cast.project)] == [(3, 4)]


def test_without_a_rule_nobody_is_paused_and_nothing_is_asked_of_the_database(cast, django_assert_num_queries):
    for _ in range(6):
        label(cast, known(cast), BAD)
    assert not is_paused(cast)
    opened = blind.open_assignment(cast.ana.person, cast.ana.assignments.first().public_id)
    with django_assert_num_queries(0):
        qualifying.pause_if_failed(opened, NOW)


def test_a_lead_ends_the_pause_and_earlier_misses_count_no_more(cast):
    rule(cast, last=2, percent=100)
    for _ in range(2):
        label(cast, known(cast), BAD)
    assert is_paused(cast)
    people.resume_member(project=cast.project, member_id=cast.ana.pk, by=cast.lea.person, now=NOW)
    assert not is_paused(cast)
    label(cast, known(cast), BAD)
    assert not is_paused(cast)


def test_an_informed_answer_to_a_known_item_does_not_count(cast):
    rule(cast, last=1, percent=100)
    round_ = make_round(cast.project, "informed", informed=True)
    label(cast, known(cast), BAD, round=round_)
    assert not is_paused(cast)


def test_no_item_of_the_main_phase_tells_its_known_answer(cast):
    item = known(cast)
    row = make_assignment(cast.ana, item)
    answer(cast.ana, row, BAD)
    assert blind.show_item(cast.ana.person, row.public_id).feedback is None


def test_only_leads_set_the_rule_and_only_with_numbers_that_can_be(cast):
    with pytest.raises(NotYours):
        qualifying.set_rule(lead=cast.rita.person, project=cast.project, last=4, percent=75, now=NOW)
    for last, percent in ((-1, 50), (4, 0), (4, 101), (1001, 50)):
        with pytest.raises(Refused):
            rule(cast, last, percent)
    rule(cast)
    rule(cast)
    assert Event.objects.filter(action="pass_rule_set").count() == 1
    rule(cast, 0, 0)
    cast.project.refresh_from_db()
    assert qualifying.rule_of(cast.project) is None
