import json

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate.errors import NotYours, Refused
from annotate.models import Annotation, Event, Release, ReleaseItem, Role, Settlement
from annotate.releasing import preview_release
from tests.annotate.releases import FAILS, NEEDS, VOTES, make_source, make_voted, outcomes, seal
from tests.factories import (
    NOW,
    make_annotation,
    make_assignment,
    make_batch,
    make_item,
    make_member,
    make_person,
    make_project,
    make_protocol,
    make_round,
    make_submitted,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def voted():
    return make_voted()


def member(project, code):
    return project.memberships.get(code=code)


def item(project, name):
    return project.items.get(trace__source_id=name)


def manifest(release):
    return json.loads(release.manifest)


# What is sealed


def test_the_majority_is_sealed_and_ties_are_marked(voted):
    release = seal(voted)
    assert outcomes(release) == {
        "one": ("readable", "majority", False),
        "two": ("needs_information", "majority", False),
        "three": ("readable", "consensus", False),
        "four": (FAILS, "majority", True),
    }
    assert (release.number, release.n_items, release.is_imported) == (1, 4, False)
    said = {"n_items": 4, "n_labels": 11, "majority": 3, "consensus": 1, "reviewer": 0, "unresolved": 0, "n_ties": 1}
    assert manifest(release)["counts"] == said


def test_by_consensus_only_what_all_agree_on_has_a_label(voted):
    release = seal(voted, "consensus")
    assert outcomes(release) == {
        "one": (None, "unresolved", False),
        "two": (None, "unresolved", False),
        "three": ("readable", "consensus", False),
        "four": (None, "unresolved", True),
    }
    assert manifest(release)["counts"]["unresolved"] == 3


def settle(item, label="readable", how="reviewer"):
    label = label and {"label": label, "states_no_result": False, "spans": [], "comment": ""}
    return Settlement.objects.create(item=item, label=label, how=how)


def test_reviewed_takes_what_was_settled_and_else_the_majority(voted):
    settle(item(voted, "four"), "readable")
    settle(item(voted, "one"), None, "unresolved")
    settle(make_source(voted, "five"), FAILS)
    earlier = settle(item(voted, "three"), FAILS)
    Settlement.objects.filter(pk=earlier.pk).update(is_current=False)
    assert outcomes(seal(voted, "reviewed")) == {
        "one": (None, "unresolved", False),
        "two": ("needs_information", "majority", False),
        "three": ("readable", "consensus", False),
        "four": ("readable", "reviewer", True),
        "five": (FAILS, "reviewer", False),
    }


@pytest.mark.parametrize("rule", ["majority", "consensus"])
def test_the_other_rules_rest_on_votes_alone(voted, rule):
    before = outcomes(seal(voted, rule))
    for one in voted.items.all():
        settle(one, FAILS)
    assert outcomes(seal(voted, rule)) == before


def test_known_answers_are_never_what_is_reviewed(voted):
    settle(item(voted, "three"), FAILS, "known")
    assert outcomes(seal(voted, "reviewed"))["three"] == ("readable", "consensus", False)


def test_what_an_item_rests_on_is_named_by_codes(voted):
    row = seal(voted).items.get(item__trace__source_id="two")
    assert [vote["annotator"] for vote in row.rests_on] == ["a1", "a2", "a3"]
    assert row.rests_on[0] == {"annotator": "a1", "round": 1, "number": 1, "protocol": 1, "label": NEEDS}


def test_sealing_changes_no_settlement_and_writes_an_event(voted):
    lead = make_member(voted, "lea", Role.LEAD, code="l1")
    settle(item(voted, "one"))
    before = list(Settlement.objects.order_by("pk").values())
    release = seal(voted, person=lead.person)
    assert list(Settlement.objects.order_by("pk").values()) == before
    event = Event.objects.get(action="release_sealed")
    assert (event.project, event.person) == (voted, lead.person)
    assert event.detail == {"number": 1, "rule": "majority", "content_hash": release.content_hash}
    assert manifest(release)["sealed_by"] == "l1"


# What enters


def test_practice_pilot_problems_and_informed_labels_stay_out(voted):
    ana = member(voted, "a1")
    for phase in ("practice", "pilot"):
        make_submitted(ana, make_source(voted, phase, phase=phase))
    make_assignment(ana, make_source(voted, "cut off"), "problem")
    informed = make_round(voted, "informed", informed=True)
    make_annotation(make_assignment(ana, item(voted, "one"), "submitted", round=informed), FAILS, informed=True)
    release = seal(voted)
    assert outcomes(release).keys() == VOTES.keys()
    left_out = {"no_label": 1, "problem_reported": 1, "other_protocol": 0, "informed": 1, "replaced": 0}
    assert manifest(release)["left_out"] == left_out


def test_a_correction_counts_and_the_label_before_it_does_not(voted):
    assignment = member(voted, "a3").assignments.get(item=item(voted, "one"))
    make_annotation(assignment, "readable")
    release = seal(voted)
    assert outcomes(release)["one"] == ("readable", "consensus", False)
    assert release.items.get(item__trace__source_id="one").rests_on[2]["number"] == 2


def test_labels_of_one_protocol_are_sealed_the_newest_where_none_is_named(voted):
    make_protocol(voted)
    make_submitted(member(voted, "a1"), item(voted, "one"), FAILS, round=make_round(voted, "protocol"))
    newest = seal(voted)
    assert outcomes(newest) == {"one": (FAILS, "consensus", False)}
    assert (newest.protocol.number, manifest(newest)["left_out"]["other_protocol"]) == (2, 11)
    assert manifest(newest)["rounds"] == [{"number": 2, "purpose": "protocol", "n_labels": 1}]
    assert outcomes(seal(voted, protocol=1)).keys() == VOTES.keys()


def test_where_an_item_was_opened_again_under_the_same_protocol_the_later_label_counts(voted):
    make_submitted(member(voted, "a1"), item(voted, "three"), FAILS, round=make_round(voted, "protocol"))
    release = seal(voted)
    assert outcomes(release)["three"] == ("readable", "majority", False)
    assert manifest(release)["left_out"]["replaced"] == 1


def test_two_first_labels_of_one_person_are_refused_as_nobody_knows_which_counts(voted):
    voted.rounds.update(closed_at=NOW)
    make_submitted(member(voted, "a1"), item(voted, "one"), FAILS, round=make_round(voted))
    with pytest.raises(Refused) as refusal:
        seal(voted)
    assert refusal.value.problem.code == "duplicate_rating"
    assert "a1 has a current label" in str(refusal.value)


def test_labels_of_who_left_stay_in_and_are_listed_as_partial(voted):
    ben = member(voted, "a2")
    make_assignment(ben, make_source(voted, "five"), "withdrawn")
    voted.memberships.filter(pk=ben.pk).update(left_at=NOW)
    people = {one["annotator"]: one for one in manifest(seal(voted))["people"]}
    said = {"annotator": "a2", "n_labels": 4, "is_partial": True, "n_submitted": 4, "n_given": 5, "saw_settled": False}
    assert people["a2"] == said
    assert people["a1"]["is_partial"] is False


def test_what_was_skipped_and_replaced_at_import_is_said(voted):
    make_batch(voted, counts={"n_problems": 3, "replaced_nul": 2}, skip_bad=True)
    make_batch(voted, counts={"n_problems": 4, "replaced_nul": 1})
    make_batch(voted, counts={"n_problems": 9}, phase="pilot")
    make_batch(voted, counts={"n_problems": 9}, state="refused")
    assert manifest(seal(voted))["import"] == {"records_skipped": 7, "replaced_nul": 3}


def test_no_name_of_a_person_and_nothing_private_is_in_it(voted):
    lead = make_member(voted, "lea-leads", Role.LEAD, code="l1")
    voted.traces.update(metadata={"model": "PRIVATE-MODEL"})
    voted.items.update(arm="PRIVATE-ARM", origin={"run": "PRIVATE-RUN"})
    agreement = {"run": 1, "measures": [{"measure": "fail", "judge": {"name": "PRIVATE-JUDGE"}}]}
    release = seal(voted, person=lead.person, agreement=agreement)
    said = release.manifest + json.dumps(list(release.items.values("label", "rests_on")))
    assert "PRIVATE" not in said
    assert not [one.person.username for one in voted.memberships.all() if one.person.username in said]


# The same again


def test_the_same_labels_sealed_twice_have_the_same_hash_under_the_next_number(voted):
    first, second = seal(voted), seal(voted)
    assert (first.number, second.number) == (1, 2)
    assert first.content_hash == second.content_hash


def test_other_ids_and_another_order_of_import_make_the_same_release():
    first = make_voted()
    make_item(make_project())
    second = make_voted(tuple(reversed(VOTES)))
    assert first.items.get(trace__source_id="one").pk < first.items.get(trace__source_id="two").pk
    assert second.items.get(trace__source_id="one").pk > second.items.get(trace__source_id="two").pk
    assert seal(first).content_hash == seal(second).content_hash


@pytest.mark.parametrize("change", ["label", "text", "protocol", "rule"])
def test_anything_that_was_sealed_changes_the_hash(voted, change):
    before = seal(voted).content_hash
    if change == "label":
        Annotation.objects.filter(assignment__annotator__code="a3", is_current=True).update(label=NEEDS)
    elif change == "text":
        item(voted, "one").trace.messages.filter(index=1).update(text="Another.")
    elif change == "protocol":
        voted.protocols.update(guideline_zh="另一个。")
    assert seal(voted, "consensus" if change == "rule" else "majority").content_hash != before


def test_a_release_stays_as_it_was_when_labels_change(voted):
    release = seal(voted)
    before = outcomes(release)
    make_annotation(member(voted, "a1").assignments.get(item=item(voted, "three")), FAILS)
    assert outcomes(release) == before


# Sealed


@pytest.mark.parametrize(
    "change",
    [
        lambda: Release.objects.update(content_hash="0" * 64),
        lambda: ReleaseItem.objects.filter(position=0).update(how="reviewer"),
        lambda: ReleaseItem.objects.filter(position=0).delete(),
        lambda: connection.cursor().execute("UPDATE annotate_releaseitem SET is_tie = NOT is_tie"),
        lambda: connection.cursor().execute("DELETE FROM annotate_release"),
    ],
    ids=["update", "update an item", "delete an item", "update by SQL", "delete by SQL"],
)
def test_the_database_refuses_to_change_what_is_sealed(voted, change):
    before = outcomes(seal(voted))
    with pytest.raises(DatabaseError, match=r"sealed|refuse|never|only"), transaction.atomic():
        change()
    assert outcomes(Release.objects.get()) == before


# What is refused


@pytest.mark.parametrize(
    ("said", "code"),
    [({"rule": "best"}, "unknown_rule"), ({"protocol": 7}, "unknown_protocol"), ({"protocol": 0}, "unknown_protocol")],
)
def test_what_is_not_there_is_refused_and_nothing_is_kept(voted, said, code):
    with pytest.raises(Refused) as refusal:
        seal(voted, **said)
    assert refusal.value.problem.code == code
    assert not Release.objects.exists()
    assert not Event.objects.exists()


def test_nothing_to_seal_is_refused(voted):
    make_protocol(voted)
    for said in ({"project": make_project()}, {"project": voted, "protocol": 2}):
        with pytest.raises(Refused, match="nothing_to_seal"):
            seal(**said)


def test_who_does_not_lead_the_project_is_refused(voted):
    for person in (member(voted, "a1").person, make_person("nobody")):
        with pytest.raises(NotYours):
            seal(voted, person=person)
    assert not Release.objects.exists()


def test_two_items_that_cannot_be_told_apart_are_refused(voted):
    twin = make_item(trace=item(voted, "one").trace, text="The GTR fell by a third, as in run-12.", point="p", arm="b")
    make_submitted(member(voted, "a1"), twin)
    with pytest.raises(Refused, match="duplicate_item"):
        seal(voted)


# Before


def test_a_preview_counts_what_sealing_would_and_keeps_nothing(voted):
    preview = preview_release(project=voted, rule="consensus")
    assert not Release.objects.exists()
    assert (preview.n_settled, preview.protocol) == (1, 1)
    said = manifest(seal(voted, "consensus"))
    assert (preview.counts, preview.left_out) == (said["counts"], said["left_out"])


def test_statements_do_not_grow_with_the_items():
    counts = []
    for names in (("one",), tuple(VOTES)):
        project = make_voted(names)
        with CaptureQueriesContext(connection) as asked:
            seal(project)
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 22
