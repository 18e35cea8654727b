"""A script that labels a kind which shows whole traces: what it is sent, and what it has to say."""

import pytest
from django.core.cache import cache

from annotate.kinds.redundancy.examples import MESSAGES, POLICY, label, step
from annotate.models import Annotation
from tests.annotate.api.asking import Script, codes
from tests.factories import make_assignment, make_cast, make_item, make_trace

pytestmark = pytest.mark.django_db
SUGGESTION = {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "rules": ["identical"], "keyword": ""}


@pytest.fixture
def cast(db):
    cache.clear()
    return make_cast(kind="redundancy")


@pytest.fixture
def assignment(cast):
    metadata = {"model": "HIDDEN", "labels": [{"kind": "failure", "index": 2}]}
    trace = make_trace(cast.project, MESSAGES, source_id="HIDDEN-run", area="HIDDEN-area", metadata=metadata)
    return make_assignment(cast.ana, make_item(trace=trace, reply=11, suggestions=[SUGGESTION]))


def answer(data):
    return {"key": "key-of-an-answer-1", "protocol": 1, "label": data}


def test_every_message_is_sent_at_its_index_with_calls_and_results_tied(cast, assignment):
    response = Script(cast.ana).get(f"projects/{cast.project.slug}/next/")
    shown = response.json()["item"]
    assert [entry["index"] for entry in shown["entries"]] == list(range(12))
    assert shown["entries"][4]["calls"] == [
        {"number": 2, "name": "get_flight", "arguments": '{"id": 7}', "result": 8},
        {"number": 3, "name": "get_flight", "arguments": '{"id": 8}', "result": 5},
    ]
    result = shown["entries"][8]
    assert (result["answers"], result["called_at"], result["tool"], result["side"]) == (2, 4, "get_flight", "agent")
    assert shown["entries"][7]["side"] == "user"
    assert (shown["policies"], shown["suggestions"], shown["text"]) == ([POLICY], [SUGGESTION], "")
    assert "HIDDEN" not in response.content.decode()


def test_an_item_whose_suggestions_are_left_off_is_like_one_of_which_nothing_was_found(cast, assignment):
    type(assignment.item).objects.update(suggestions_shown=False)
    assert Script(cast.ana).get(f"items/{assignment.public_id}/").json()["suggestions"] == []


def test_a_label_decides_every_suggestion_and_is_of_the_trajectory(cast, assignment):
    ana, address = Script(cast.ana), f"items/{assignment.public_id}/annotations/"
    assert codes(ana.post(address, answer(label(outcome="none")))) == {("decisions", "suggestion_undecided")}
    assert codes(ana.post(address, answer(label(step(4, 40))))) == {("step", "unknown_index")}
    kept = label(step(9, 10, origin="kept"), decisions=[((9, 10), "keep")])
    assert ana.post(address, answer(kept)).status_code == 201
    assert Annotation.objects.get().label == kept
