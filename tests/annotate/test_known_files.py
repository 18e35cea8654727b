"""Labels made elsewhere as known answers: a file in the form of the kind, and what others marked in the traces."""

import json

import pytest
from django.core.management import call_command

from annotate import known_files
from annotate.errors import NotYours, Refused
from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.examples import MESSAGES, label, step
from annotate.models import Event, Settlement, Trace
from tests.annotate.api.asking import Script
from tests.factories import make_cast, make_item, make_trace

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy")


def trajectory(cast, name, **fields):
    metadata = fields.pop("metadata", {})
    format = fields.pop("format", "sightline")
    trace = make_trace(cast.project, MESSAGES, source_id=name, metadata=metadata, format=format)
    return make_item(trace=trace, reply=11, **fields)


def triplet(call, result, type="Duplicated Step", evidence=(2, 3)):
    return {
        "redundant_step_idx": [call, result],
        "redundant_step_type": type,
        "evidence_step_idx": list(evidence),
    }


def bring(cast, data, **options):
    return known_files.bring_known(
        lead=cast.lea.person, project=cast.project, data=data, file_name="gold.json", **options
    )


def refusals(cast, data, **options):
    with pytest.raises(LabelError) as refusal:
        bring(cast, data, **options)
    return [(one.code, one.field, one.pointer) for one in refusal.value.problems]


def known_of(item):
    return Settlement.objects.get(item=item, is_current=True)


def test_each_label_becomes_the_known_answer_of_its_item(cast):
    one, none = trajectory(cast, "a"), trajectory(cast, "b/1")
    assert bring(cast, {"a": [triplet(9, 10)], "b/1": []}) == known_files.Brought(2, 0)
    assert known_of(one).label == label(step(9, 10))
    assert known_of(none).label == label(outcome="none")
    assert {(row.how, row.person) for row in Settlement.objects.all()} == {("known", cast.lea.person)}
    assert known_of(one).reason_en == "The label of this trace in the file gold.json."
    assert Event.objects.get(action="known_answers_brought").detail == {
        "file": "gold.json", "n_known": 2, "n_had_known": 0,
    }  # fmt: skip


def test_indexes_that_count_from_one_are_converted_where_that_is_said(cast):
    item = trajectory(cast, "a")
    bring(cast, {"a": [triplet(10, 11, evidence=(3, 4)), triplet(5, 6, "INC", [-1])]}, base=1)
    assert known_of(item).label == label(step(4, 5, "INC", [-1]), step(9, 10))


def test_a_file_of_another_base_is_told_so(cast):
    trajectory(cast, "a")
    wrong = refusals(cast, {"a": [triplet(10, 11, evidence=(3, 4))]})
    assert wrong == [("other_index_base", "redundant_step_idx", "/a")]


def test_everything_wrong_is_named_with_trajectory_field_and_range_and_nothing_is_stored(cast):
    for name in ("a", "b", "c", "d"):
        trajectory(cast, name)
    data = {
        "a": [triplet(9, 10)],
        "b": [triplet(9, 10, "Repeated Step"), triplet(4, 40)],
        "c": [triplet(4, 40), triplet(6, 7), triplet(9, 10, evidence=[9, 10])],
        "d": [{"redundant_step_idx": [9, 10], "score": 1}],
        "e": [],
    }
    with pytest.raises(LabelError) as refusal:
        bring(cast, data)
    found = {(one.code, one.pointer) for one in refusal.value.problems}
    assert ("unknown_label", "/b/0/redundant_step_type") in found
    assert ("unknown_trajectory", "/e") in found
    assert ("unknown_field", "/d/0/score") in found
    assert {pointer.split("/")[1] for _, pointer in found} == {"b", "c", "d", "e"}
    wrong = refusals(cast, {"c": [triplet(4, 40)]})
    assert wrong == [("unknown_index", "redundant_step_idx", "/c/0/redundant_step_idx")]
    with pytest.raises(LabelError, match="from 0 to 11; not 40"):
        bring(cast, {"c": [triplet(4, 40)]})
    assert not Settlement.objects.exists()


def test_an_item_keeps_the_known_answer_it_has_and_a_settled_one_is_refused(cast):
    had, settled, new = (trajectory(cast, name) for name in "abc")
    Settlement.objects.create(item=had, label=label(outcome="none"), how="known")
    assert bring(cast, {"a": [triplet(9, 10)], "c": []}) == known_files.Brought(1, 1)
    assert known_of(had).label == label(outcome="none")
    Settlement.objects.create(item=settled, label=label(outcome="none"), how="reviewer")
    assert refusals(cast, {"b": []}) == [("settled_already", "b", "/b")]
    assert known_of(new).how == "known"


def test_an_id_that_two_formats_have_is_refused(cast):
    trajectory(cast, "a"), trajectory(cast, "a", format="tau_bench")
    assert refusals(cast, {"a": []}) == [("several_trajectories", "a", "/a")]


def test_many_trajectories_are_read_by_parts(cast, monkeypatch):
    monkeypatch.setattr(known_files, "AT_ONCE", 2)
    items = [trajectory(cast, f"run {k}") for k in range(5)]
    assert bring(cast, {f"run {k}": [triplet(9, 10)] for k in range(5)}).n_known == 5
    assert {known_of(item).label["outcome"] for item in items} == {"steps"}


@pytest.mark.parametrize("data", [[], "x", None, 3])
def test_what_is_no_object_is_refused(cast, data):
    with pytest.raises(LabelError):
        bring(cast, data)


def test_only_leads_and_only_kinds_with_such_a_form(cast):
    trajectory(cast, "a")
    for person in (cast.ana.person, cast.rita.person, cast.zoe.person):
        with pytest.raises(NotYours):
            known_files.bring_known(lead=person, project=cast.project, data={}, file_name="x")
    other = make_cast()
    with pytest.raises(Refused):
        bring(other, {"a": []})
    with pytest.raises(Refused):
        bring(cast, {"a": []}, base=2)


# What others marked


def mark(index, category="Invalid Invocation", **more):
    return {"kind": "failure", "index": index, "category": category, "reason": "because", **more}


def test_marks_at_calls_become_steps_and_runs_with_another_mark_are_counted(cast):
    both = trajectory(cast, "both", metadata={"labels": [mark(2), mark(9, "System Failure"), {"kind": "root_cause"}]})
    trajectory(cast, "the user", metadata={"labels": [mark(2), mark(1, "Underspecified User Intent")]})
    trajectory(cast, "of two calls", metadata={"labels": [mark(4)]})
    trajectory(cast, "another word", metadata={"labels": [mark(2, "Misinterpretation of Tool Output")]})
    trajectory(cast, "no place", metadata={"labels": [{"kind": "decisive_mistake", "step_in_file": "99"}]})
    trajectory(cast, "none"), trajectory(cast, "no list", metadata={"labels": 3})
    assert known_files.bring_marked(lead=cast.lea.person, project=cast.project) == known_files.Brought(1, 0, 4)
    assert known_of(both).label == label(
        step(2, 3, "INC", [-1], reason="because"), step(9, 10, "ABN", [-1], reason="because")
    )
    assert known_files.bring_marked(lead=cast.lea.person, project=cast.project) == known_files.Brought(0, 1, 4)


@pytest.mark.shared
def test_agentrx_marks_count_from_one_and_those_at_calls_are_known_answers(cast, shared_data):
    """Of 24 labelled runs the readers put each mark on the message of its number; the messages carry that number
    themselves. Known are the runs of which every mark is a wrong call."""
    folder = shared_data / "tau-bench-retail-agentrx/data"
    runs, labels = folder / "tau_retail/tau_dataset_failed.json", folder / "ground_truth/tau_retail.json"
    call_command("import_traces", cast.project.slug, str(runs), labels=labels)
    brought = known_files.bring_marked(lead=cast.lea.person, project=cast.project)
    assert (brought.n_known, brought.n_unfit, brought.n_had_known) == (5, 19, 0)
    raw = {str(run["task_id"]): run["traj"] for run in json.loads(runs.read_text("utf-8"))}
    said = {str(one["trajectory_id"]): one for one in json.loads(labels.read_text("utf-8"))}
    for row in Settlement.objects.select_related("item__trace"):
        task = str(row.item.trace.metadata["task_id"])
        numbers = {int(failure["step_number"]) for failure in said[task]["failures"]}
        called = {one["step"][0] for one in row.label["steps"]}
        assert {raw[task][index]["index"] for index in called} == numbers
        assert all(raw[task][index]["tool_calls"] for index in called)


@pytest.mark.shared
def test_who_and_when_runs_hold_no_tool_call_so_none_of_their_labels_is_a_step(cast, shared_data):
    paths = sorted((shared_data / "who-and-when").rglob("*.json"))[:5]
    call_command("import_traces", cast.project.slug, *map(str, paths))
    assert Trace.objects.filter(metadata__has_key="labels").count() == 5
    assert not cast.project.items.exists()
    assert known_files.bring_marked(lead=None, project=cast.project) == known_files.Brought(0, 0, 0)


# The command, the page, the API


def test_the_command_says_how_many_and_refuses_with_the_file(cast, tmp_path, capsys):
    trajectory(cast, "a")
    path = tmp_path / "gold.json"
    path.write_text(json.dumps({"a": [triplet(9, 10)]}), "utf-8")
    call_command("import_known", cast.project.slug, path, "--json")
    said = json.loads(capsys.readouterr().out)
    assert said == {"project": cast.project.slug, "known": 1, "had_known": 0, "unfit": 0}
    path.write_text(json.dumps({"a": [triplet(4, 40)]}), "utf-8")
    with pytest.raises(SystemExit):
        call_command("import_known", cast.project.slug, path, "--json")
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert (problem["file"], problem["pointer"]) == (str(path), "/a/0/redundant_step_idx")
    for words in ([path, "--marks"], []):
        with pytest.raises(SystemExit):
            call_command("import_known", cast.project.slug, *words)
    path.write_text('{"a": [], "a": []}', "utf-8")
    with pytest.raises(SystemExit):
        call_command("import_known", cast.project.slug, path)
    call_command("import_known", cast.project.slug, "--marks")
    assert "0 known answers" in capsys.readouterr().out


def test_a_lead_pastes_them_on_the_page_of_known_answers(cast, client):
    client.force_login(cast.lea.person)
    item, address = trajectory(cast, "a"), f"/projects/{cast.project.slug}/practice/"
    assert 'name="labels"' in client.get(address).content.decode()
    wrong = client.post(f"{address}bring/", {"labels": json.dumps({"a": [triplet(4, 40)]}), "name": "theirs"})
    assert wrong.status_code == 422
    assert "<code>/a/0/redundant_step_idx</code> Indexes of messages that there are" in wrong.content.decode()
    assert client.post(f"{address}bring/", {"labels": "{"}).status_code == 422
    from_one = json.dumps({"a": [triplet(10, 11, evidence=[3, 4])]})
    taken = client.post(f"{address}bring/", {"labels": from_one, "base": "1"})
    assert "Known answers brought in: 1." in taken.content.decode()
    assert known_of(item).label == label(step(9, 10))
    client.force_login(cast.ana.person)
    assert client.post(f"{address}bring/", {"labels": "{}"}).status_code == 404
    other = make_cast()
    client.force_login(other.lea.person)
    assert 'name="labels"' not in client.get(f"/projects/{other.project.slug}/practice/").content.decode()


def test_a_lead_sends_them_by_the_api(cast):
    item, lea, address = trajectory(cast, "a"), Script(cast.lea), f"projects/{cast.project.slug}/known-answers/"
    response = lea.post(address, {"labels": {"a": [triplet(9, 10)]}, "name": "gold"})
    assert (response.status_code, response.json()) == (201, {"n_known": 1, "n_had_known": 0})
    assert known_of(item).reason_en == "The label of this trace in the file gold."
    wrong = lea.post(address, {"labels": {"a": [triplet(4, 40)]}})
    assert wrong.status_code == 422
    assert wrong.json()["problems"][0]["pointer"] == "/labels/a/0/redundant_step_idx"
    assert lea.post(address, {"labels": [], "base": 0}).status_code == 422
    assert Script(cast.ana).post(address, {"labels": {}}).status_code == 404
