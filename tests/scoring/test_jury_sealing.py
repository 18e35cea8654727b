"""What a jury of models agrees on becomes a release, and nobody can take it for what people said."""

import csv
import json
import shutil
from collections import Counter

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.urls import reverse

from annotate import exporting, release_queries, releasing, work
from annotate.errors import NotYours, Refused
from annotate.kinds.redundancy.examples import label, step
from annotate.models import Event, Release, ReleaseItem, Settlement
from annotate.release_reading import FolderRefused
from annotate.rules.release_content import ContentHash, canonical_line
from scoring import jury_sealing, prompting, running
from scoring.asking import Cap
from tests.annotate.api.asking import Script
from tests.annotate.releases import bytes_of, export, lines_of
from tests.factories import NOW, make_item, make_protocol, make_run, make_submitted, make_verdict, make_work
from tests.scoring.juries import AGAIN, NOTHING, call_off, make_jurors, make_jury, make_jury_cast, same_project

pytestmark = pytest.mark.django_db
OF_MODELS = "The labels are of models and not of people."


@pytest.fixture
def cast():
    return make_jury_cast()


@pytest.fixture
def project(cast):
    return cast.project


@pytest.fixture
def jury(project):
    return make_jury(project)


def seal(run, person=None):
    return jury_sealing.seal_jury(person=person, project=run.project, run=run.number, now=NOW)


def refusal(of_run, **fields):
    said = {"person": None, "project": of_run.project, "run": of_run.number, "now": NOW}
    with pytest.raises(Refused) as refused:
        jury_sealing.seal_jury(**{**said, **fields})
    return refused.value.problem.code


def test_each_item_ends_with_what_the_jury_said_and_the_runs_that_agree(jury):
    release = seal(jury)
    rows = [(row.label, row.how, row.is_tie, row.rests_on) for row in release.items.order_by("item")]
    both = [{"run": 1}, {"run": 2}]
    assert rows == [
        (AGAIN, "jury", False, both),
        (AGAIN, "jury", False, both),
        (NOTHING, "jury", False, both),
        (None, "unresolved", False, []),
        (None, "unresolved", False, []),
    ]
    assert (release.rule, release.made_by, release.number, release.n_items) == ("jury", "jury", 1, 5)


def test_release_json_says_where_it_comes_from(project, jury):
    said = json.loads(seal(jury).manifest)
    jurors = [project.runs.get(number=number) for number in (1, 2, 3)]
    assert said["provenance"] == {
        "made_by": "jury",
        **{"run": 4, "judge": "jury", "version": "1", "settings_hash": jury.judge.settings_hash, "protocol": 1},
        "jurors": [
            {
                **{"run": run.number, "judge": "juror", "version": "1", "model": model},
                "settings_hash": run.judge.settings_hash,
                "prompts": [{"key": "juror.find", "language": "en", "number": 1, "sha256": "0" * 64}],
            }
            for run, model in zip(jurors, ("first", "second", "third"), strict=True)
        ],
        "outcomes": {"retained": 2, "empty": 1, "no_agreement": 1, "too_few_covered": 1},
    }
    assert said["people"] == said["rounds"] == []
    counts = {"n_items": 5, "n_labels": 0, "majority": 0, "consensus": 0, "reviewer": 0, "unresolved": 2, "n_ties": 0}
    assert said["counts"] == {**counts, "jury": 3}
    assert said["left_out"]["no_label"] == 1
    assert said["agreement"] == {}


def test_what_people_said_has_no_word_of_a_jury(cast, jury):
    for member in (cast.ana, cast.ben):
        make_submitted(member, cast.project.items.first(), AGAIN)
    release = releasing.seal_release(person=None, project=cast.project, rule="majority", agreement={}, now=NOW)
    assert "jury" not in release.manifest
    assert release.made_by == "people"
    assert set(release.items.values_list("how", flat=True)) == {"consensus"}


def test_items_of_other_phases_are_left_out(project, jury):
    pilot = project.items.order_by("pk").last()
    project.items.filter(pk=pilot.pk).update(phase="pilot")
    make_verdict(jury, pilot, AGAIN, finding={"values": {"outcome": "retained", "agreeing": [1, 2]}, "spans": []})
    project.items.filter(pk=project.items.order_by("pk").first().pk).update(phase="practice")
    release = seal(jury)
    assert release.n_items == 4
    assert json.loads(release.manifest)["provenance"]["outcomes"]["retained"] == 1


def test_what_the_judge_jury_itself_found_is_sealed(project):
    jurors = make_jurors(project)
    found = {
        "retained": (AGAIN, AGAIN, NOTHING),
        "empty": (NOTHING, AGAIN, NOTHING),
        "no_agreement": (AGAIN, NOTHING, label(step(4, 5, "INC", [-1]))),
        "too_few_covered": (AGAIN, None, None),
    }
    for item, said in zip(project.items.order_by("pk"), found.values(), strict=False):
        for run, made in zip(jurors, said, strict=True):
            payload = {"item": item.pk, "sample": 0}
            make_work(project, kind="verdict", group=run.group, state="done", key=f"{run}{item}", payload=payload)
            values = {"steps": [] if made is None else made["steps"]}
            finding = {"values": values, "spans": []}
            make_verdict(run, item, made, finding=finding, is_unreadable=made is None)
    run = running.start_run(
        person=None, project=project, judge="jury", settings={"runs": [one.number for one in jurors]}
    )
    work.drain(run.group)
    release = seal(run)
    assert json.loads(release.manifest)["provenance"]["outcomes"] == dict.fromkeys(found, 1)
    assert [(row.label, row.rests_on) for row in release.items.order_by("item")] == [
        (AGAIN, [{"run": 1}, {"run": 2}]),
        (NOTHING, [{"run": 1}, {"run": 3}]),
        (None, []),
        (None, []),
    ]


# What it says of itself


def test_the_data_card_says_first_in_both_languages_that_models_gave_the_labels(jury):
    cards = json.loads(seal(jury).manifest)["data_card"]
    first = {language: text.splitlines()[2] for language, text in cards.items()}
    assert first["en"].startswith("**The labels are of models and not of people.")
    assert "given by people" not in cards["en"]
    assert r"model third; settings" in cards["en"]
    assert "- with a set that the jurors agree on: 2" in cards["en"]
    assert "- unresolved, as too few jurors said something: 1" in cards["en"]
    assert first["zh"].startswith("**")


def test_no_file_names_an_annotator_and_the_table_of_labels_says_jury(jury, tmp_path):
    folder = export(seal(jury), tmp_path / "out")
    assert lines_of(folder / "annotations.jsonl") == []
    assert len((folder / "annotations.csv").read_text("utf-8-sig").splitlines()) == 1
    with (folder / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["how"] for row in rows) == {"jury": 3, "unresolved": 2}
    assert {row["n_labels"] for row in rows} == {"0"}


def test_the_files_of_the_method_go_out_with_it(jury, tmp_path):
    release = seal(jury)
    found = {
        name: json.loads(exporting.export_file(release, name, tmp_path).read_text("utf-8"))
        for name in ("triplets-pool.json", "triplets-gold.json")
    }
    assert (len(found["triplets-pool.json"]), len(found["triplets-gold.json"])) == (3, 2)
    assert all(len(triplets) == 1 for triplets in found["triplets-gold.json"].values())


def test_parquet_has_runs_in_place_of_votes(jury, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = export(seal(jury), tmp_path / "out", with_parquet=True)
    rows = parquet.read_table(folder / "labels.parquet").to_pylist()
    assert Counter(len(row["rests_on"]) for row in rows) == {2: 3, 0: 2}
    assert {run for row in rows for vote in row["rests_on"] for run in vote.values()} == {1, 2}


# There and back


def test_sealed_exported_brought_in_elsewhere_and_exported_again_it_is_the_same_and_still_a_jurys(jury, tmp_path):
    sealed = seal(jury)
    first = export(sealed, tmp_path / "first")
    other = same_project("elsewhere")
    other.protocols.update(guideline_en=sealed.protocol.guideline_en, guideline_zh=sealed.protocol.guideline_zh)
    done = releasing.import_release(person=None, project=other, folder=first)
    assert done.is_new
    assert (done.release.rule, done.release.made_by, done.release.is_imported) == ("jury", "jury", True)
    assert done.release.content_hash == sealed.content_hash
    assert bytes_of(export(done.release, tmp_path / "second")) == bytes_of(first)
    assert not releasing.import_release(person=None, project=other, folder=first).is_new


def test_its_labels_become_no_known_answers(project, jury, tmp_path):
    folder = export(seal(jury), tmp_path / "out")
    project.items.update(phase="practice")
    with pytest.raises(Refused) as refused:
        releasing.import_release(person=None, project=project, folder=folder, as_known=True)
    assert refused.value.problem.code == "labels_of_models"
    assert not Settlement.objects.exists()
    assert Release.objects.count() == 1


def rewritten(folder, target, change_line=None, change=None):
    """A copy of a folder in which lines and release.json say something else, with right hashes and sizes."""
    shutil.copytree(folder, target)
    manifest = json.loads((folder / "release.json").read_text("utf-8"))
    lines = lines_of(folder / "labels.jsonl")
    for line in lines if change_line else ():
        change_line(line)
    if change:
        change(manifest)
    raw = [canonical_line(line).encode() + b"\n" for line in lines]
    total = ContentHash(manifest["content"])
    for one in raw:
        total.add(one)
    manifest["content_hash"] = total.hexdigest()
    (target / "labels.jsonl").write_bytes(b"".join(raw))
    (target / "release.json").write_text(releasing.manifest_text(manifest), "utf-8")
    listed = json.loads((target / "files.json").read_text("utf-8"))
    listed["content_hash"] = manifest["content_hash"]
    for one in listed["files"]:
        data = (target / one["name"]).read_bytes()
        one["bytes"], one["sha256"] = len(data), exporting.hashlib.sha256(data).hexdigest()
    (target / "files.json").write_text(json.dumps(listed), "utf-8")
    return target


def as_peoples(manifest):
    manifest["content"]["rule"] = "consensus"


def without_provenance(manifest):
    del manifest["provenance"]


def by_people_too(manifest):
    manifest["people"] = [{"annotator": "a1", "n_labels": 3, "is_partial": False, "n_submitted": None, "n_given": None}]


def other_outcomes(manifest):
    manifest["provenance"]["outcomes"]["retained"] = 3


def strange_run(line):
    if line["rests_on"]:
        line["rests_on"] = [{"run": 4}]


def resting_on_nobody(line):
    line["rests_on"] = []


def voted(line):
    vote = {"annotator": "a1", "round": 1, "number": 1, "protocol": 1, "label": line["label"]}
    line["rests_on"] = [vote] if line["label"] else []


def settled(line):
    line["how"] = "consensus" if line["label"] else "unresolved"


@pytest.mark.parametrize(
    ("change_line", "change", "pointer"),
    [
        (None, as_peoples, "/provenance"),
        (None, without_provenance, "/provenance"),
        (None, by_people_too, "/people"),
        (None, other_outcomes, "/provenance/outcomes"),
        (strange_run, None, "/rests_on"),
        (resting_on_nobody, None, "/rests_on"),
        (voted, None, "/rests_on/0/annotator"),
        (settled, None, "/how"),
    ],
)
def test_a_folder_that_hides_or_mixes_whose_labels_they_are_is_refused(jury, tmp_path, change_line, change, pointer):
    folder = rewritten(export(seal(jury), tmp_path / "out"), tmp_path / "changed", change_line, change)
    with pytest.raises(FolderRefused) as refused:
        releasing.import_release(person=None, project=jury.project, folder=folder)
    assert pointer in {problem.pointer for problem in refused.value.problems}
    assert Release.objects.count() == 1


# What is refused


def test_only_a_jurys_run_that_is_through_and_settled_something_is_sealed(project):
    juror = make_jurors(project)
    assert refusal(juror[0]) == "no_jury_run"
    assert refusal(juror[0], run=99) == refusal(juror[0], run=-1) == "no_jury_run"
    assert refusal(make_jury(project, ended=("no_agreement", "too_few_covered"))) == "nothing_to_seal"
    called_off = make_jury(project)
    call_off(called_off)
    assert refusal(called_off) == "run_not_through"
    going_on = make_jury(project)
    make_work(project, group=going_on.group)
    assert refusal(going_on) == "run_not_through"
    two = make_jury(project, make_jurors(project, models=("first", "second")))
    assert refusal(two) == "no_jury_run"
    assert not Release.objects.exists()


def test_a_proof_of_the_wire_is_no_juror(project):
    jurors = [*make_jurors(project, models=("first", "second")), *make_jurors(project, models=("x",), is_proof=True)]
    assert refusal(make_jury(project, jurors)) == "proof_only"


def test_jurors_of_two_protocols_make_no_release(project):
    make_protocol(project)
    jurors = [*make_jurors(project, ("first", "second")), *make_jurors(project, ("third",), protocol=2)]
    assert refusal(make_jury(project, jurors)) == "several_protocols"
    same = make_jury(project, make_jurors(project, protocol=2))
    assert seal(same).protocol.number == 2


def test_only_leads_seal(cast, jury):
    with pytest.raises(NotYours):
        seal(jury, cast.ana.person)
    assert seal(jury, cast.lea.person).person == cast.lea.person
    event = Event.objects.get(action="release_sealed")
    assert event.detail["rule"] == "jury"


def test_the_database_keeps_it_as_it_is_and_knows_no_other_rule(jury):
    release = seal(jury)
    for change in (
        lambda: Release.objects.update(rule="consensus"),
        lambda: ReleaseItem.objects.update(how="consensus"),
        lambda: ReleaseItem.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    values = {"project": release.project, "number": 9, "protocol": release.protocol, "n_items": 0, "sealed_at": NOW}
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.create(rule="oracle", **values)


# Where a release stands for what people said


def test_what_is_not_named_is_never_a_jurys(cast, jury):
    seal(jury)
    assert release_queries.release_numbered(cast.project, None) is None
    make_submitted(cast.ana, cast.project.items.first(), AGAIN)
    people = releasing.seal_release(person=None, project=cast.project, rule="majority", agreement={}, now=NOW)
    again = seal(jury)
    assert release_queries.release_numbered(cast.project, None) == people
    assert release_queries.release_numbered(cast.project, again.number) == again
    assert list(release_queries.peoples_releases(cast.project)) == [people]


def test_a_trial_of_prompts_is_held_against_people_alone(monkeypatch, cast, jury):
    release = seal(jury)
    monkeypatch.setattr(prompting, "prompts_used", lambda project: ("reader.questions",))
    monkeypatch.setattr(prompting, "judge_by", lambda project, key: None)
    said = {"key": "reader.questions", "language": "en", "new": 2, "old": 1, "endpoint": "small", "n_items": 2}
    for number, code in ((release.number, "labels_of_models"), (None, "no_release")):
        with pytest.raises(Refused) as refused:
            prompting.start_trial(
                person=cast.lea.person, project=cast.project, cap=Cap(calls=9), release=number, **said
            )
        assert refused.value.problem.code == code


# Command, page and API


def call(name, *words, capsys):
    call_command(name, *map(str, words), "--json")
    return json.loads(capsys.readouterr().out)


def refused_code(name, *words, capsys):
    with pytest.raises(SystemExit):
        call_command(name, *map(str, words), "--json")
    return json.loads(capsys.readouterr().out)["problems"][0]["code"]


def test_by_command_it_is_sealed_and_exported_by_its_number_alone(project, jury, tmp_path, capsys):
    said = call("seal_release", project.slug, "--jury", jury.number, capsys=capsys)
    assert (said["rule"], said["made_by"], said["counts"]["jury"]) == ("jury", "jury", 3)
    assert refused_code("export_release", project.slug, "--out", tmp_path / "a", capsys=capsys) == "unknown_release"
    call_command("export_release", project.slug, "--number", "1", "--out", str(tmp_path / "b"), "--no-parquet")
    assert OF_MODELS in capsys.readouterr().out
    call_command("import_release", project.slug, str(tmp_path / "b"))
    assert OF_MODELS in capsys.readouterr().out
    call_command("seal_release", project.slug, "--jury", str(jury.number))
    assert OF_MODELS in capsys.readouterr().out


@pytest.mark.parametrize("words", [("--rule", "consensus"), ("--protocol", 1), ("--earlier",)])
def test_a_jury_has_no_other_rule_and_no_other_protocol(project, jury, capsys, words):
    code = refused_code("seal_release", project.slug, "--jury", jury.number, *words, capsys=capsys)
    assert code == "not_this_rule"
    assert refused_code("seal_release", project.slug, "--rule", "jury", capsys=capsys) == "unknown_rule"


def page(client, name, project, *arguments, post=False):
    address = reverse(f"scoring:{name}", args=[project.slug, *arguments])
    return client.post(address, follow=True) if post else client.get(address)


def text_of(response):
    return " ".join(response.content.decode().split())


def test_the_page_of_the_run_offers_it_and_the_pages_of_releases_say_whose_it_is(client, cast, jury):
    client.force_login(cast.lea.person)
    address = reverse("scoring:seal_jury", args=[cast.project.slug, jury.number])
    assert address in text_of(page(client, "show_run", cast.project, jury.number))
    assert "/seal/" not in text_of(page(client, "show_run", cast.project, 1))
    said = text_of(page(client, "seal_jury", cast.project, jury.number, post=True))
    assert f'role="note"><strong>{OF_MODELS}</strong>' in said
    assert "<dt>jurors do not agree</dt><dd>1</dd>" in said
    assert "items whose votes tie" not in said
    listed = text_of(page(client, "list_releases", cast.project))
    assert "(labels of models, not of people)" in listed
    assert 'value="jury"' not in listed


def test_what_cannot_be_sealed_is_said_on_the_page_of_the_run(client, cast):
    client.force_login(cast.lea.person)
    run = make_jury(cast.project, ended=("no_agreement",))
    response = page(client, "seal_jury", cast.project, run.number, post=True)
    assert response.status_code == 422
    assert "on which the jurors agree; there is none" in text_of(response)
    assert page(client, "seal_jury", cast.project, 99, post=True).status_code == 404


def test_annotators_see_nothing_of_it(client, cast, jury):
    seal(jury)
    client.force_login(cast.ana.person)
    for name, arguments in (("show_release", [1]), ("list_releases", []), ("show_run", [jury.number])):
        assert page(client, name, cast.project, *arguments).status_code == 404
    assert page(client, "seal_jury", cast.project, jury.number, post=True).status_code == 404
    assert Release.objects.count() == 1


def test_by_the_api_it_is_sealed_and_says_whose_it_is(cast, jury):
    cache.clear()
    lea, releases = Script(cast.lea), f"projects/{cast.project.slug}/releases/"
    response = lea.post(releases, {"rule": "jury", "run": jury.number})
    assert response.status_code == 201
    assert (response.json()["rule"], response.json()["made_by"]) == ("jury", "jury")
    rows = lea.get(f"{releases}1/items/").json()
    rests_on = Counter(json.dumps(row["rests_on"]) for row in rows["rows"])
    assert rests_on == {'[{"run": 1}, {"run": 2}]': 3, "[]": 2}
    assert lea.get(releases).json()["rows"][0]["made_by"] == "jury"
    for body in ({"rule": "jury"}, {"rule": "majority", "run": 4}, {"rule": "jury", "run": 4, "protocol": 1}):
        assert lea.post(releases, body).status_code in (409, 422), body
    assert Release.objects.count() == 1


def test_without_a_jury_nothing_is_offered(client, cast):
    client.force_login(cast.lea.person)
    run = make_run(cast.project, "heuristics", items=[])
    make_item(cast.project)
    assert "/seal/" not in text_of(page(client, "show_run", cast.project, run.number))
