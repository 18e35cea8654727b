"""Predictions made elsewhere become a run: whole or not at all, and safe from a kill like any other. Synthetic."""

import hashlib
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from annotate import work
from annotate.errors import NotYours, Refused
from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.examples import label, step
from annotate.models import Event, ReleaseItem, Work
from scoring import prediction_imports, redundancy_joins, report_queries, running
from scoring.judges import registry
from scoring.models import Judge, Run, Verdict
from tests.annotate.leases import end_lease
from tests.annotate.test_subsets import bring_in
from tests.factories import make_cast, make_item, make_release

pytestmark = pytest.mark.django_db
GOLD = label(step(4, 5, "INC", [-1]), step(9, 10))
HASH = "a" * 64
PROBABLE = {"ABN": 0.1, "DUP": 0.7, "INC": 0.1, "EXP": 0.1}


@pytest.fixture
def cast():
    cast = make_cast(kind="redundancy", assigning="subsets")
    bring_in(cast.project, {"trade": 3})
    return cast


@pytest.fixture
def project(cast):
    return cast.project


def sealed(project, labels):
    """A release in which the items of these places have these labels."""
    release = make_release(project)
    for place, (item, made) in enumerate(zip(project.items.order_by("pk"), labels, strict=False)):
        how = "unresolved" if made is None else "consensus"
        ReleaseItem.objects.create(
            release=release, item=item, position=place, item_hash=f"{place:064}", label=made, how=how
        )
    return release


def name(project, place=0):
    return project.items.order_by("pk")[place].trace.source_id


def found(call=9, result=10, type="DUP", evidence=(2, 3), confidence=0.5):
    return {
        "redundant_step_idx": [call, result],
        "redundant_step_type": type,
        "evidence_step_idx": list(evidence),
        "confidence": confidence,
    }


def typed(call=9, result=10):
    return {"redundant_step_idx": [call, result], "probabilities": PROBABLE}


def bring(project, data, setting="detection", **options):
    said = {"person": None, "sha256": HASH, "system": "rules", **options}
    return prediction_imports.import_predictions(project=project, data=data, setting=setting, **said)


def refusal(project, data, setting="detection", **options):
    with pytest.raises((Refused, LabelError)) as refused:
        bring(project, data, setting, **options)
    error = refused.value
    assert not Run.objects.exists()
    assert not Judge.objects.exists()
    assert not Work.objects.exists()
    problems = error.problems if isinstance(error, LabelError) else [error.problem]
    return [(one.code, one.field, one.pointer) for one in problems]


def verdicts(run):
    rows = Verdict.objects.filter(run=run).order_by("item").select_related("item__trace")
    return [(row.finding["values"], row.label, row.is_unreadable) for row in rows]


def test_what_is_detected_is_the_verdict_and_a_label_and_who_is_not_named_got_no_answer(project):
    run = bring(project, {name(project): [found(), found(4, 5, "INC", [-1], 0.9)], name(project, 1): []})
    work.drain(run.group)
    one, nothing, silent = verdicts(run)
    assert [step["confidence"] for step in one[0]["steps"]] == [0.5, 0.9]
    assert one[1] == GOLD
    assert nothing[0]["steps"] == []
    assert nothing[1] == label(outcome="none")
    assert silent == ({"variant": "default"}, None, True)
    run.refresh_from_db()
    assert run.ended_at is not None
    assert running.run_progress(run).n_unreadable == 1


def test_the_judge_says_what_predicted_it(project):
    release = sealed(project, [GOLD])
    run = bring(project, {name(project): [typed()]}, "classification", variant="v2", release=release.number)
    settings = {"system": "rules", "variant": "v2", "setting": "classification", "release": 1, "sha256": HASH}
    assert (run.judge.name, run.judge.settings) == ("imported", settings)
    assert (run.endpoint, run.is_proof, run.phases) == (None, False, ["main"])
    assert Event.objects.get(action="run_started").detail["judge"] == "imported"


def test_types_of_given_steps_are_no_label_and_only_trajectories_with_such_steps_are_judged(project):
    release = sealed(project, [GOLD, label(outcome="none"), GOLD])
    run = bring(project, {name(project): [typed()]}, "classification", release=release.number)
    work.drain(run.group)
    one, silent = verdicts(run)
    assert one[0]["answers"] == [{"step": [4, 5], "type": None}, {"step": [9, 10], "type": "DUP"}]
    assert one[1:] == (None, False)
    assert silent == ({"variant": "default"}, None, True)


def test_evidence_of_given_steps(project):
    release = sealed(project, [GOLD])
    run = bring(project, {name(project): [{**typed(), "evidence_step_idx": [1]}]}, "retrieval", release=release.number)
    work.drain(run.group)
    assert verdicts(run)[0][0]["answers"] == [
        {"step": [4, 5], "type": None, "evidence": None},
        {"step": [9, 10], "type": "DUP", "evidence": [1]},
    ]


def test_with_a_release_a_detector_is_asked_about_what_it_has_a_label_of(project):
    release = sealed(project, [GOLD, label(outcome="none"), None])
    run = bring(project, {name(project, 1): [found()]}, release=release.number)
    assert run.n_items == 2


def test_only_what_is_found_stands_beside_people(project):
    release = sealed(project, [GOLD])
    runs = [
        bring(project, {name(project): [found()]}),
        bring(project, {name(project): [typed()]}, "classification", release=release.number),
    ]
    for run in runs:
        work.drain(run.group)
    assert report_queries.runs_to_compare(project, phase="main") == [runs[0]]
    assert registry.gives_labels("imported")
    assert not registry.gives_labels("imported", {"setting": "retrieval"})


def test_a_worker_that_dies_loses_nothing(project):
    """The prediction travels in its job: whoever claims it next has all of it."""
    run = bring(project, {name(project): [found()]})
    first = work.claim(run.group)
    assert first.row.payload["said"]["steps"] == [
        {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "confidence": 0.5}
    ]
    end_lease(first.row)
    work.sweep()
    work.drain(run.group)
    assert verdicts(run)[0][1] == label(step(9, 10))
    assert Verdict.objects.filter(run=run).count() == 3


# What is refused


def test_a_file_comes_in_whole_or_not_at_all(project):
    data = {name(project): [found()], "nowhere": [], name(project, 1): [found(6, 7)], name(project, 2): 3}
    assert refusal(project, data) == [
        ("unknown_trajectory", "nowhere", "/nowhere"),
        ("user_side_step", "redundant_step_idx", f"/{name(project, 1)}/0/redundant_step_idx"),
        ("wrong_type", "", f"/{name(project, 2)}"),
    ]
    assert refusal(project, {}) == [("empty_file", "file", None)]
    assert refusal(project, [found()])[0][0] == "wrong_type"


def test_the_range_that_would_be_right_is_said(project):
    with pytest.raises(LabelError) as refused:
        bring(project, {name(project): [found(9, 40)]})
    (problem,) = refused.value.problems
    assert "from 0 to 11; not 40" in problem.sentence()


def test_a_trajectory_of_another_phase_or_without_a_label_in_the_release_is_refused(project):
    pilot = project.items.order_by("pk").last()
    project.items.filter(pk=pilot.pk).update(phase="pilot")
    source = pilot.trace.source_id
    assert refusal(project, {source: [found()]}) == [("not_asked", source, f"/{source}")]
    release = sealed(project, [GOLD])
    other = name(project, 1)
    said = refusal(project, {other: [typed()]}, "classification", release=release.number)
    assert said == [("not_asked", other, f"/{other}")]


def test_a_step_that_the_release_does_not_name_was_not_given(project):
    release = sealed(project, [label(step(9, 10))])
    said = refusal(project, {name(project): [typed(4, 5)]}, "classification", release=release.number)
    assert said == [("not_a_given_step", "redundant_step_idx", f"/{name(project)}/0/redundant_step_idx")]


@pytest.mark.parametrize(
    ("options", "code", "field"),
    [
        ({"system": "  "}, "bad_name", "system"),
        ({"system": "x" * 81}, "bad_name", "system"),
        ({"system": "a\nb"}, "bad_name", "system"),
        ({"variant": "x" * 41}, "bad_name", "variant"),
        ({"setting": "oracle"}, "unknown_value", "setting"),
        ({"setting": "classification"}, "missing_field", "release"),
        ({"setting": "retrieval"}, "missing_field", "release"),
        ({"release": 9}, "no_release", "release"),
        ({"release": 0}, "no_release", "release"),
    ],
)
def test_names_settings_and_releases_that_do_not_go(project, options, code, field):
    said = refusal(project, {name(project): [found()]}, **options)
    assert [one[:2] for one in said] == [(code, field)]


def test_only_leads_bring_predictions_and_only_kinds_that_know_them(cast):
    data = {name(cast.project): [found()]}
    with pytest.raises(NotYours):
        bring(cast.project, data, person=cast.ana.person)
    assert bring(cast.project, data, person=cast.lea.person).person == cast.lea.person
    with pytest.raises(Refused) as refused:
        bring(make_item().project, {})
    assert refused.value.problem.code == "unknown_judge"


def test_nobody_starts_it_without_predictions_and_no_other_judge_with_them(project):
    for judge, said in (("imported", None), ("heuristics", {})):
        with pytest.raises(Refused) as refused:
            running.start_run(person=None, project=project, judge=judge, said=said)
        assert refused.value.problem.code == "said_elsewhere"


# Command and page


def written(tmp_path, data):
    file = tmp_path / "predictions.json"
    file.write_text(json.dumps(data))
    return file


def test_by_command(project, tmp_path, capsys):
    file = written(tmp_path, {name(project): [found()]})
    words = [project.slug, str(file), "--system", "rules", "--setting", "detection"]
    call_command("import_predictions", *words, "--json")
    said = json.loads(capsys.readouterr().out)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (said["run"], said["items"], said["named"], said["sha256"]) == (1, 3, 1, sha256)
    call_command("import_predictions", *words)
    assert "Run 2 of" in capsys.readouterr().out


def test_by_command_everything_that_is_wrong_is_listed(project, tmp_path, capsys):
    file = written(tmp_path, {name(project): [found(6, 7)], "nowhere": []})
    for path, codes in (
        (file, ["user_side_step", "unknown_trajectory"]),
        (tmp_path / "none.json", ["unreadable_file"]),
    ):
        with pytest.raises(SystemExit):
            call_command(
                *("import_predictions", project.slug, str(path), "--system", "s", "--setting", "detection", "--json")
            )
        assert [one["code"] for one in json.loads(capsys.readouterr().out)["problems"]] == codes
    assert not Run.objects.exists()


def upload(client, project, data, **fields):
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    said = {"system": "rules", "setting": "detection", "variant": "", "release": "", **fields}
    file = SimpleUploadedFile("predictions.json", body)
    return client.post(reverse("scoring:bring_predictions", args=[project.slug]), {**said, "file": file})


def test_by_upload_it_leads_to_its_run_which_names_the_system(client, cast):
    client.force_login(cast.lea.person)
    response = upload(client, cast.project, {name(cast.project): [found()]}, system="rules of thumb")
    run = Run.objects.get()
    assert response.url == reverse("scoring:show_run", args=[cast.project.slug, run.number])
    assert "rules of thumb" in client.get(response.url).content.decode()
    work.drain(run.group)
    assert Verdict.objects.filter(run=run, is_unreadable=False).count() == 1


def test_an_upload_that_is_refused_is_said_above_the_form_with_what_was_typed(client, cast):
    client.force_login(cast.lea.person)
    for data, words in (
        ({"nowhere": [found()]}, "<code>/nowhere</code>"),
        (b"{", "JSON"),
        (b"", "empty"),
    ):
        response = upload(client, cast.project, data, system="mine")
        assert response.status_code == 422
        said = response.content.decode()
        assert words in said
        assert 'value="mine"' in said
    assert not Run.objects.exists()


def test_the_page_offers_it_as_an_upload_and_not_as_a_judge(client, cast):
    client.force_login(cast.lea.person)
    said = client.get(reverse("scoring:list_runs", args=[cast.project.slug])).content.decode()
    assert 'enctype="multipart/form-data"' in said
    assert 'value="imported"' not in said
    other = make_cast()
    client.force_login(other.lea.person)
    assert "multipart" not in client.get(reverse("scoring:list_runs", args=[other.project.slug])).content.decode()


def test_annotators_bring_nothing_in(client, cast):
    client.force_login(cast.ana.person)
    assert upload(client, cast.project, {name(cast.project): [found()]}).status_code == 404
    assert not Run.objects.exists()


def test_the_report_names_the_system_as_its_detector(project):
    release = sealed(project, [GOLD])
    options = {"release": release.number, "system": "rules of thumb", "variant": "v2"}
    for data, setting in (([typed()], "classification"), ([found(), found()], "detection")):
        work.drain(bring(project, {name(project): data}, setting, **options).group)
    records = redundancy_joins.gather(project, "main", None, {"jury": None}).records
    told = [one for one in records if one["record"] == "detector"]
    assert {(one["detector"], one["variant"]) for one in told} == {("rules of thumb", "v2")}
    assert {one["setting"] for one in told} == {"classification", "detection"}
    assert [len(one["answers"]) for one in told if one["setting"] == "detection"] == [2]
