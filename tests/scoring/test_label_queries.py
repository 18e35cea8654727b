"""Which labels enter human agreement, and in which order they come."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from annotate.models import Annotation, Assignment, Membership, Settlement
from annotate.rules.votes import last_of_each
from scoring.label_queries import Labels, rated_labels
from tests.factories import (
    NOW,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_protocol,
    make_round,
    make_submitted,
    make_trace,
)

pytestmark = pytest.mark.django_db
State = Assignment.State
READABLE, FAILS = "readable", "unrepairable_or_no_answer"


@pytest.fixture
def cast(db):
    return make_cast()


def said(labels):
    """Item, code and label of each."""
    texts = [json.loads(labels.texts[one])["label"] for one in labels.label]
    return list(zip(labels.item.tolist(), [labels.raters[one] for one in labels.rater], texts, strict=True))


def rated(cast, phase="main"):
    return [(code, label) for _, code, label in said(rated_labels(cast.project, phase=phase))]


def test_labels_of_the_phase_come_by_item_and_code_with_their_cluster_and_protocol(cast):
    trace = make_trace(cast.project, cluster="task-7")
    first, second = (make_item(trace=trace, reply=index) for index in (3, 5))
    make_submitted(cast.ana, second)
    make_submitted(cast.ben, first)
    make_submitted(cast.ana, first, FAILS)
    labels = rated_labels(cast.project, phase="main")
    assert said(labels) == [(first.pk, "a1", FAILS), (first.pk, "a2", READABLE), (second.pk, "a1", READABLE)]
    assert labels.clusters == {first.pk: "task-7", second.pk: "task-7"}
    assert (labels.protocol.tolist(), labels.is_again.tolist()) == ([1, 1, 1], [False] * 3)
    assert len(labels.texts) == 2


def test_another_phase_another_project_and_unfinished_items_are_left_out(cast):
    make_submitted(cast.ana)
    make_submitted(cast.ana, make_item(cast.project, phase="practice"))
    make_submitted(cast.ana, make_item(cast.project, phase="pilot"), FAILS)
    make_submitted(cast.zoe)
    make_assignment(cast.ana, state=State.OPEN, draft={"fields": {"label": READABLE}})
    make_assignment(cast.ana, state=State.LOCKED)
    make_assignment(cast.ana, state=State.PROBLEM)
    assert rated(cast) == [("a1", READABLE)]
    assert rated(cast, "pilot") == [("a1", FAILS)]


def test_a_withdrawn_item_is_left_out_with_its_label(cast):
    assignment = make_submitted(cast.ana)
    assert rated(cast) == [("a1", READABLE)]
    Assignment.objects.filter(pk=assignment.pk).update(state=State.WITHDRAWN)
    assert rated(cast) == []


def test_informed_labels_and_later_rounds_are_left_out(cast):
    assignment = make_submitted(cast.ana)
    later = make_round(cast.project, "sent_back")
    make_submitted(cast.ana, assignment.item, FAILS, round=later)
    assert rated(cast) == [("a1", READABLE)]
    Annotation.objects.filter(assignment=assignment).update(informed=True)
    assert rated(cast) == []


def test_only_the_current_label_counts(cast):
    make_annotation(make_submitted(cast.ana), FAILS)
    assert rated(cast) == [("a1", FAILS)]


def test_what_was_said_of_an_item_with_a_known_answer_is_a_label_like_any_other(cast):
    assignment = make_submitted(cast.ana)
    Settlement.objects.create(item=assignment.item, label={"label": READABLE}, how=Settlement.How.KNOWN)
    assert rated(cast) == [("a1", READABLE)]


def test_labels_stay_when_their_annotator_leaves(cast):
    make_submitted(cast.ana)
    Membership.objects.filter(pk=cast.ana.pk).update(left_at=NOW)
    assert rated(cast) == [("a1", READABLE)]


def test_of_an_item_that_a_new_protocol_opened_again_the_later_label_is_the_last(cast):
    item, other = make_item(cast.project), make_item(cast.project)
    make_submitted(cast.ana, item)
    make_submitted(cast.ana, other)
    make_submitted(cast.ben, other)
    make_submitted(cast.ana, item, FAILS, round=make_round(cast.project, purpose="protocol"))
    labels = rated_labels(cast.project, phase="main")
    assert labels.is_again.tolist() == [False, True, False, False]
    last = [(item.pk, "a1", FAILS), (other.pk, "a1", READABLE), (other.pk, "a2", READABLE)]
    assert said(labels.last_of_each()) == last


def test_two_labels_of_first_rounds_both_stay(cast):
    item = make_item(cast.project)
    make_submitted(cast.ana, item)
    make_submitted(cast.ana, item, FAILS, round=make_round(cast.project, closed_at=NOW))
    assert len(rated_labels(cast.project, phase="main").last_of_each()) == 2


def test_labels_that_are_named_come_as_they_were(cast):
    corrected = make_submitted(cast.ana)
    withdrawn = make_submitted(cast.ana)
    first = np.array(Annotation.objects.order_by("pk").values_list("pk", flat=True))
    make_annotation(corrected, FAILS)
    Assignment.objects.filter(pk=withdrawn.pk).update(state=State.WITHDRAWN)
    make_submitted(cast.ana, label=FAILS)
    again = rated_labels(cast.project, phase="main", among=first)
    assert [label for _, _, label in said(again)] == [READABLE, READABLE]
    assert again.annotation.tolist() == first.tolist()
    assert len(rated_labels(cast.project, phase="main", among=first[:0])) == 0


def test_fields_that_nobody_reads_stay_in_the_database(cast):
    label = {"label": READABLE, "states_no_result": False, "spans": [], "comment": "it's 100 % \"fine\""}
    make_submitted(cast.ana, label=label)
    (whole,) = rated_labels(cast.project, phase="main").texts
    (part,) = rated_labels(cast.project, phase="main", leave=("spans", "comment", "never_was")).texts
    assert json.loads(whole) == label
    assert json.loads(part) == {"label": READABLE, "states_no_result": False}


@pytest.mark.parametrize("n", [0, 1, 20])
def test_it_takes_five_statements_whatever_there_is(cast, django_assert_num_queries, n):
    make_protocol(cast.project)
    for _ in range(n):
        make_submitted(cast.ana)
    with django_assert_num_queries(5):
        assert len(rated_labels(cast.project, phase="main", leave=("spans",))) == n


@pytest.mark.parametrize("seed", range(20))
def test_the_label_that_counts_is_the_one_that_a_release_counts(seed):
    """The rule stands in `rules/votes.py`, and here once more by column."""
    rng = np.random.default_rng(seed)
    rows = sorted((int(rng.integers(3)), int(rng.integers(2)), place) for place in range(15))
    votes = [
        SimpleNamespace(item=item, rater=str(rater), round_purpose=["first", "protocol"][rng.integers(2)], id=id_)
        for item, rater, id_ in rows
    ]
    item, rater, annotation = (np.array(column) for column in zip(*rows, strict=True))
    is_again = np.array([vote.round_purpose == "protocol" for vote in votes])
    nothing = np.zeros(len(rows), dtype=np.int64)
    labels = Labels(item, rater, nothing, nothing, is_again, annotation, "01", [""], {})
    assert labels.last_of_each().annotation.tolist() == [vote.id for vote in last_of_each(votes)]
