"""Two reviewers decide an item at the same instant, or one while a late answer arrives."""

from functools import partial

import pytest

from annotate import release_queries
from annotate.errors import AnswersChanged, SettledMeanwhile
from annotate.models import Event, Role, Settlement
from tests.annotate.meeting import at_once
from tests.annotate.test_labeling import submit
from tests.annotate.test_reviewing import NEEDY, READABLE, answer_with, open_card, settle
from tests.annotate.test_reviewing import cast as three_people
from tests.factories import make_assignment, make_member

pytestmark = [pytest.mark.fault(26, full=500), pytest.mark.django_db(transaction=True)]
cast = three_people
OTHER_KEY = "another-key-0123456789"


@pytest.fixture
def rob(cast):
    return make_member(cast.project, "rob", Role.REVIEWER)


def test_of_two_reviewers_at_the_same_instant_one_is_current_and_the_other_told(cast, rob):
    mine, theirs = open_card(cast, "split"), open_card(cast, "split", rob)
    came = at_once(
        partial(settle, cast, mine, adopted=answer_with(mine, NEEDY).name),
        partial(settle, cast, theirs, who=rob, key=OTHER_KEY, adopted=answer_with(theirs, READABLE).name),
    )
    assert sum(isinstance(one, SettledMeanwhile) for one in came) == 1
    (row,) = Settlement.objects.all()
    assert row.is_current
    assert row.label == (READABLE if isinstance(came[0], SettledMeanwhile) else NEEDY)
    assert Event.objects.filter(action="item_settled").count() == 1
    assert gold(cast) == row.label


def test_a_late_answer_at_the_instant_of_a_decision_is_seen_by_it_or_stands_beside_it(cast):
    late = make_assignment(make_member(cast.project, "dan"), cast.items["split"])
    card = open_card(cast, "split")
    decided, given = at_once(
        partial(settle, cast, card, adopted=answer_with(card, NEEDY).name),
        partial(submit, late),
    )
    assert given.number == 1
    assert late.annotations.get().is_current
    if isinstance(decided, AnswersChanged):  # the answer came first, and nothing was decided without it
        assert not Settlement.objects.exists()
        assert gold(cast) is None
    else:
        (row,) = Settlement.objects.all()
        assert (row.label, row.is_current) == (NEEDY, True)
        assert gold(cast) == NEEDY


def gold(cast):
    """What a release would take as settled."""
    numbers = cast.project.protocols.values_list("number", flat=True)
    return {item: label for item, label, _ in release_queries.settled(cast.project, *numbers)}.get(
        cast.items["split"].pk
    )
