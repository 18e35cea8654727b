"""Three experts in rounds, to gold: the generic plans, rounds, settling and releases do what the method asks."""

import csv
import io
import json
from collections import Counter

import pytest
from django.core.management import call_command

from annotate import exporting, known_files, releasing, reviewing, rounds, subsets
from annotate.errors import Refused
from annotate.kinds.redundancy.examples import label, step
from annotate.kinds.redundancy.label import load
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.kinds.redundancy.settle import severities
from annotate.models import Annotation, Assignment, Disagreement, Settlement
from scoring.comparing import agreement_report
from tests.annotate.releases import export, seal
from tests.annotate.test_subsets import bring_in
from tests.factories import NOW, make_annotation, make_cast, make_member, make_protocol

pytestmark = pytest.mark.django_db
NOTHING = label(outcome="none")
AGAIN, OTHER = step(9, 10), step(9, 10, evidence=[4, 5])
CANNOT = label(outcome="cannot_annotate", note="Cut off.")

SAID = {
    "same": (label(AGAIN), label(AGAIN), label(AGAIN)),
    "two of three on the evidence": (label(AGAIN), label(OTHER), label(AGAIN)),
    "three kinds of evidence": (label(AGAIN), label(OTHER), label(step(9, 10, evidence=[-1]))),
    "another type": (label(AGAIN), label(step(9, 10, "EXP")), label(AGAIN)),
    "another step": (label(AGAIN), label(step(4, 5, "INC", [-1]), AGAIN), label(AGAIN)),
    "nothing by all": (NOTHING, NOTHING, NOTHING),
    "nothing by two": (NOTHING, NOTHING, label(AGAIN)),
    "one cannot": (label(AGAIN), CANNOT, label(AGAIN)),
}
"""What each of three says of a common trajectory. The sets are not all equal on five; of the 6 steps that any of them
names on those five, all but one are in dispute: both on evidence alone, the type, the added step, the lone one."""
MINOR = ("two of three on the evidence", "three kinds of evidence")
SEVERE = ("another type", "another step", "nothing by two")


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy", assigning="subsets")


@pytest.fixture
def three(cast):
    return [cast.ana, cast.ben, make_member(cast.project, "cem")]


def draw(cast, n_common, n_unique):
    subsets.draw_subsets(
        lead=cast.lea.person, project=cast.project, n_common=n_common, n_unique=n_unique, now=NOW
    )


def submit(assignment, data):
    Assignment.objects.filter(pk=assignment.pk).update(state="submitted", first_shown_at=NOW, ended_at=NOW)
    return make_annotation(assignment, data, informed=assignment.round.informed)


@pytest.fixture
def labelled(cast, three):
    """The common trajectories labelled as SAID, one of each expert's own with a step, and one without; by name."""
    bring_in(cast.project, {"airline": len(SAID) + 6})
    draw(cast, len(SAID), 2)
    plans = [set(member.assignments.values_list("item", flat=True)) for member in three]
    common = dict(zip(SAID, sorted(set.intersection(*plans)), strict=True))
    for member, place in zip(three, range(3), strict=True):
        for name, item in common.items():
            submit(member.assignments.get(item=item), SAID[name][place])
        own = sorted(plans[place] - set(common.values()))
        submit(member.assignments.get(item=own[0]), label(step(9, 10, "EXP", [1])))
        submit(member.assignments.get(item=own[1]), NOTHING)
    return common


def settle(cast, item, data):
    Settlement.objects.filter(item=item, is_current=True).update(is_current=False)
    how = "unresolved" if data is None else "reviewer"
    return Settlement.objects.create(item_id=item, label=data, how=how, person=cast.rita.person)


def hows(release):
    return Counter(release.items.values_list("how", flat=True))


def method_file(release, name, folder):
    folder.mkdir(exist_ok=True)
    return json.loads(exporting.export_file(release, name, folder).read_text("utf-8"))


# Subsets


def test_the_export_has_92_of_each_of_three_196_in_all_and_no_mark_of_the_common_ones(cast, three, tmp_path):
    bring_in(cast.project)
    draw(cast, 40, 52)
    given = list(Assignment.objects.filter(annotator__in=three))
    protocol = cast.project.protocols.get()
    Assignment.objects.update(state="submitted", first_shown_at=NOW, ended_at=NOW)
    times = {"raw_ms": 1, "active_ms": 1, "hidden_ms": 0, "submitted_at": NOW, "number": 1, "protocol": protocol}
    Annotation.objects.bulk_create(
        Annotation(assignment=row, key=f"a-key-of-expert-{row.pk}", label=label(AGAIN), **times) for row in given
    )
    release = seal(cast.project)
    files = {}
    for name in ("annotations.csv", "labels.csv", "annotations.jsonl", "labels.jsonl"):
        (tmp_path / name[:6]).mkdir(exist_ok=True)
        files[name] = exporting.export_file(release, name, tmp_path / name[:6]).read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(files["annotations.csv"], newline="")))
    assert Counter(row["annotator"] for row in rows) == {member.code: 92 for member in three}
    assert len({row["item_hash"] for row in rows}) == 196
    assert release.items.count() == 196
    for text in files.values():
        head = text.splitlines()[0].lower()
        assert "common" not in head
        assert "subset" not in head


# Verification


def test_known_differences_give_the_expected_counts(labelled):
    """By the definitions: unequal sets make a trajectory one in dispute, and a step that not all give the same triplet
    a step in dispute. Severe: another step or type; minor: other evidence."""
    found = {name: severities([load(one, SCHEMA) for one in said]) for name, said in SAID.items() if CANNOT not in said}
    disputed = {name for name, steps in found.items() if set(steps.values()) - {"same"}}
    assert disputed == {*MINOR, *SEVERE}
    counts = Counter(severity for steps in found.values() for severity in steps.values())
    assert counts == {"same": 2, "minor": 2, "severe": 3}


def test_the_queue_holds_exactly_the_trajectories_in_dispute(cast, labelled):
    reviewing.refresh_queue(cast.project)
    weights = dict(Disagreement.objects.filter(project=cast.project).values_list("item", "weight"))
    apart = {name for name, item in labelled.items() if weights.get(item)}
    assert apart >= {*MINOR, *SEVERE}
    assert not apart & {"same", "nothing by all"}


def test_agreement_of_round_1_stays_what_it_was_whatever_is_said_later(cast, three, labelled):
    before = agreement_report(cast.project).as_dict()
    rounds.close_round(lead=cast.lea.person, project=cast.project, number=1, now=NOW)
    first = agreement_report(cast.project, round=1).as_dict()
    opened = rounds.open_informed_round(lead=cast.lea.person, project=cast.project, which="disagreeing", now=NOW)
    again = {*MINOR, *SEVERE, "one cannot"}
    assert (opened.n_items, opened.n_assignments) == (len(again), 3 * len(again))
    for name in again:
        for member in three:
            submit(member.assignments.get(item=labelled[name], round__number=opened.number), label(AGAIN))
    after = agreement_report(cast.project).as_dict()
    assert after["sets"] == before["sets"]
    assert after["measures"] == before["measures"]
    assert agreement_report(cast.project, round=1).as_dict() == first
    told = {one["measure"]: one for one in agreement_report(cast.project, round=opened.number).as_dict()["sets"]}
    was = {one["measure"]: one for one in first["sets"]}
    assert value_of(told["set"]) == 1.0 > value_of(was["set"])


def value_of(measure):
    return measure["agreement"]["mean"]["value"]


def test_a_unique_trajectory_is_disputed_by_nobody_and_looked_at_again_by_nobody(cast, three, labelled):
    rounds.close_round(lead=cast.lea.person, project=cast.project, number=1, now=NOW)
    opened = rounds.open_informed_round(lead=cast.lea.person, project=cast.project, which="all", now=NOW)
    given = set(Assignment.objects.filter(round__number=opened.number).values_list("item", flat=True))
    assert given == set(labelled.values())


def test_a_changed_guideline_opens_one_type_again_for_each_of_those_who_named_it(cast, three, labelled, client):
    """By own labels alone: of each expert the unique trajectory with an exploratory step, and ben's common one."""
    make_protocol(cast.project)
    client.force_login(cast.lea.person)
    page = client.get(f"/projects/{cast.project.slug}/protocols/").content.decode()
    assert '<option value="type|EXP">' in page
    who = {"lead": cast.lea.person, "project": cast.project, "now": NOW}
    assert rounds.reopen_label_type(**who, measure="type", category="EXP") == 4
    again = Assignment.objects.filter(round__purpose="protocol")
    assert Counter(again.values_list("annotator__code", flat=True)) == {
        cast.ana.code: 1, cast.ben.code: 2, three[2].code: 1,
    }  # fmt: skip
    assert again.get(item=labelled["another type"]).annotator == cast.ben
    assert rounds.reopen_label_type(**who, measure="type", category="ABN") == 0
    with pytest.raises(Refused):
        rounds.reopen_label_type(**who, measure="type", category="XYZ")


# Gold


def test_minor_differences_are_closed_by_two_of_three_and_severe_ones_by_people_alone(cast, labelled):
    release = seal(cast.project)
    how = dict(release.items.values_list("item", "how"))
    assert {name: how[item] for name, item in labelled.items()} == {
        "same": "consensus",
        "two of three on the evidence": "majority",
        "three kinds of evidence": "unresolved",
        "another type": "unresolved",
        "another step": "unresolved",
        "nothing by all": "consensus",
        "nothing by two": "unresolved",
        "one cannot": "consensus",
    }
    assert release.items.get(item=labelled["two of three on the evidence"]).label["steps"][0]["evidence"] == [2, 3]
    settle(cast, labelled["another type"], label(AGAIN))
    reviewed = seal(cast.project, rule="reviewed")
    assert reviewed.items.get(item=labelled["another type"]).how == "reviewer"
    assert reviewed.items.get(item=labelled["another step"]).how == "unresolved"
    assert json.loads(reviewed.manifest)["counts"]["unresolved"] == 3


def test_the_pool_holds_the_empty_ones_and_the_gold_does_not(cast, labelled, tmp_path):
    """14 trajectories, 4 of them unresolved: 10 in the pool; 4 of those hold no redundant step: 6 in the gold."""
    release = seal(cast.project, rule="reviewed")
    assert hows(release) == {"consensus": 9, "majority": 1, "unresolved": 4}
    pool, gold = (method_file(release, f"triplets-{name}.json", tmp_path / name) for name in ("pool", "gold"))
    assert (len(pool), len(gold)) == (10, 6)
    assert {name for name, triplets in pool.items() if not triplets} == set(pool) - set(gold)
    assert sum(map(len, gold.values())) == 6


@pytest.mark.parametrize(("data", "n_pool", "n_gold"), [(label(AGAIN), 11, 7), (NOTHING, 11, 6), (None, 10, 6)])
def test_resolving_a_case_changes_pool_and_gold_as_expected(cast, labelled, tmp_path, data, n_pool, n_gold):
    settle(cast, labelled["another step"], data)
    release = seal(cast.project, rule="reviewed")
    pool, gold = (method_file(release, f"triplets-{name}.json", tmp_path / name) for name in ("pool", "gold"))
    assert (len(pool), len(gold)) == (n_pool, n_gold)


def test_gold_of_a_unique_trajectory_is_its_experts_last_submission(cast, three, labelled):
    own = three[0].assignments.exclude(item__in=labelled.values()).order_by("item").first()
    make_annotation(own, label(step(4, 5, "INC", [-1])))
    assert seal(cast.project).items.get(item=own.item_id).label == label(step(4, 5, "INC", [-1]))


def test_labels_that_a_new_guideline_left_alone_count_beside_those_it_opened_again(cast, three, labelled, tmp_path):
    """Each expert's own exploratory step is looked at again under the second guideline; the rest stays."""
    newest = make_protocol(cast.project, label_schema=dict(SCHEMA))
    who = {"lead": cast.lea.person, "project": cast.project, "now": NOW}
    rounds.reopen_label_type(**who, measure="type", category="EXP")
    own = three[0].assignments.get(round__purpose="protocol")
    submit(own, label(step(9, 10)))
    alone = seal(cast.project, protocol=newest.number)
    assert list(alone.items.values_list("item", flat=True)) == [own.item_id]
    release = seal(cast.project, protocol=newest.number, earlier=True)
    assert release.items.count() == len(SAID) + 6
    again = release.items.get(item=own.item_id)
    assert (again.label, [vote["protocol"] for vote in again.rests_on]) == (label(step(9, 10)), [2])
    assert {vote["protocol"] for vote in release.items.get(item=labelled["same"]).rests_on} == {1}
    manifest = json.loads(release.manifest)
    assert (manifest["earlier_protocols"], manifest["left_out"]["other_protocol"]) == ([1], 0)
    assert "protocols 1) count where their annotator gave none since" in manifest["data_card"]["en"]
    folder = export(release, tmp_path / "whole")
    assert not releasing.import_release(person=None, project=cast.project, folder=folder).n_known
    with pytest.raises(Refused):
        seal(cast.project, protocol=9, earlier=True)


def test_labels_of_another_schema_never_count_beside_these(cast, labelled):
    make_protocol(cast.project, label_schema={**SCHEMA, "suggest": False})
    with pytest.raises(Refused):
        seal(cast.project, protocol=2, earlier=True)


def test_what_was_said_informed_is_no_vote_and_a_reviewer_may_adopt_it(cast, three, labelled):
    rounds.close_round(lead=cast.lea.person, project=cast.project, number=1, now=NOW)
    opened = rounds.open_informed_round(lead=cast.lea.person, project=cast.project, which="disagreeing", now=NOW)
    item = labelled["another step"]
    for member in three:
        submit(member.assignments.get(item=item, round__number=opened.number), label(AGAIN))
    assert seal(cast.project, rule="reviewed").items.get(item=item).how == "unresolved"
    reviewing.refresh_queue(cast.project)
    part = reviewing.part_of(cast.rita.person, cast.project.slug)
    public_id = Disagreement.objects.get(item=item).public_id
    card = reviewing.open_card(part=part, public_id=public_id)
    agreed = next(one.name for one in card.answers if one.is_again)
    decision = reviewing.Decision(adopted=agreed, cause="slip", confidence="high")
    reviewing.settle_item(
        reviewer=cast.rita.person, slug=cast.project.slug, public_id=public_id, key="a-key-of-settling-1",
        base=card.base, seen=card.seen, decision=decision,
    )  # fmt: skip
    row = seal(cast.project, rule="reviewed").items.get(item=item)
    assert (row.how, row.label) == ("reviewer", label(AGAIN))
    assert [vote["round"] for vote in row.rests_on] == [1, 1, 1]


# The method's own JSON, out and back


def test_the_gold_of_a_release_comes_back_as_known_answers_of_another_project(cast, labelled, tmp_path, client):
    release = seal(cast.project)
    gold = method_file(release, "triplets-pool.json", tmp_path / "pool")
    other = make_cast(kind="redundancy")
    bring_in(other.project, {"airline": len(SAID) + 6})
    brought = known_files.bring_known(
        lead=other.lea.person, project=other.project, data=gold, file_name="triplets-pool.json"
    )
    assert brought == known_files.Brought(10, 0)
    sealed = {row.item.trace.source_id: row.label for row in release.items.select_related("item__trace") if row.label}
    known = Settlement.objects.filter(how="known").select_related("item__trace")
    assert {row.item.trace.source_id: row.label for row in known} == sealed


def test_a_lead_saves_the_files_of_the_method_from_the_page_of_a_release(cast, labelled, client):
    release = seal(cast.project)
    client.force_login(cast.lea.person)
    address = f"/projects/{cast.project.slug}/releases/{release.number}/"
    assert "triplets-gold.json" in client.get(address).content.decode()
    saved = client.get(f"{address}triplets-gold.json")
    assert saved["Content-Disposition"].endswith(f'{cast.project.slug}-1-triplets-gold.json"')
    assert len(json.loads(b"".join(saved.streaming_content))) == 6
    client.force_login(cast.ana.person)
    assert client.get(f"{address}triplets-gold.json").status_code == 404


def test_the_command_writes_a_file_of_the_method(cast, labelled, tmp_path, capsys):
    seal(cast.project)
    out = tmp_path / "out"
    call_command("export_release", cast.project.slug, out=out, method_file="triplets-gold.json")
    assert len(json.loads((out / "triplets-gold.json").read_text("utf-8"))) == 6
    for name in ("gold.csv", "../x"):
        with pytest.raises(SystemExit):
            call_command("export_release", cast.project.slug, out=tmp_path / "other", method_file=name)
    assert not (tmp_path / "other").exists()


def test_a_kind_without_such_a_form_has_no_such_file(client):
    cast = make_cast()
    assert exporting.method_files(type("Of", (), {"project": cast.project})) == ()


# Real runs


@pytest.mark.shared
def test_the_airline_runs_come_with_their_suggestions_and_subsets_of_the_successful_ones(cast, three, shared_data):
    """200 runs, 182 of which use a tool; 39 of these have a suggestion, 87 in all (31 repeat an earlier call). Of the
    successful ones twelve are drawn for all and five for each of three."""
    path = shared_data / "tau-bench-airline-gpt4o/historical_trajectories/gpt-4o-airline.json"
    call_command("import_traces", cast.project.slug, str(path))
    found = list(cast.project.items.values_list("suggestions", flat=True))
    assert (len(found), sum(map(bool, found)), sum(map(len, found))) == (182, 39, 87)
    assert Counter(one["type"] for some in found for one in some) == {"INC": 56, "DUP": 31}
    standing = subsets.standing(cast.project)
    raw = json.loads(path.read_text("utf-8"))
    n_successful = sum(one["reward"] == 1 for one in raw)
    assert [(one.name, one.n) for one in standing.areas] == [("airline", 182)]
    assert standing.n_successful <= n_successful
    subsets.draw_subsets(
        lead=cast.lea.person, project=cast.project, n_common=12, n_unique=5, only_successful=True, now=NOW
    )
    given = cast.project.items.filter(assignments__isnull=False).distinct()
    assert given.count() == 27
    assert set(given.values_list("trace__metadata__reward", flat=True)) == {1.0}
    assert [member.assignments.count() for member in three] == [17, 17, 17]
