"""From sealing to an export that is read back and brought in elsewhere, as a shell does it."""

import csv
import json

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotate import demo, importing, setting_up
from annotate.models import Project, Release
from annotate.rules.csv_cells import unescape
from tests.annotate.releases import bytes_of, lines_of, make_voted
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def call(name, *words, capsys):
    """What a command prints as JSON."""
    call_command(name, *map(str, words), "--json")
    return json.loads(capsys.readouterr().out)


def refused(name, *words, capsys):
    with pytest.raises(SystemExit) as ended:
        call_command(name, *map(str, words), "--json")
    assert ended.value.code == 1
    return json.loads(capsys.readouterr().out)["problems"]


def demo_traces(slug):
    """A project of its own with the traces of the demo, and no label."""
    now = timezone.now()
    project = setting_up.create_project(new=setting_up.NewProject(slug, slug, slug, seed=1), by=None, now=now)
    importing.import_traces(project=project, path=demo.FOLDER / "main.jsonl", file_name="main.jsonl")
    return project


def test_the_demo_is_sealed_exported_read_back_brought_in_and_exported_again(tmp_path, capsys):
    demo.load_demo(now=timezone.now())
    sealed = call("seal_release", "demo", capsys=capsys)
    assert (sealed["number"], sealed["rule"], sealed["counts"]["n_items"], sealed["counts"]["n_labels"]) == (
        *(1, "majority"),
        *(24, 120),
    )
    first, second = tmp_path / "first", tmp_path / "second"
    exported = call("export_release", "demo", "--out", first, "--parquet", capsys=capsys)
    assert exported["content_hash"] == sealed["content_hash"]
    with (first / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [{name: unescape(text) for name, text in row.items()} for row in csv.DictReader(file)]
    lines = lines_of(first / "labels.jsonl")
    assert [row["label"] for row in rows] == [line["label"]["label"] for line in lines]
    assert [json.loads(row["spans"]) for row in rows] == [line["label"]["spans"] for line in lines]
    assert "synthetic" in (first / "datacard.en.md").read_text("utf-8")
    assert "| Fleiss' kappa (Gwet's form) | 0.60 |" in (first / "datacard.en.md").read_text("utf-8")
    demo_traces("fresh")
    brought = call("import_release", "fresh", first, capsys=capsys)
    assert (brought["number"], brought["n_items"], brought["content_hash"]) == (1, 24, sealed["content_hash"])
    call("export_release", "fresh", "--out", second, "--parquet", capsys=capsys)
    assert bytes_of(first) == bytes_of(second)


def test_agreement_goes_with_a_release_and_says_what_the_page_says(capsys):
    make_voted(slug="ours")
    call("seal_release", "ours", "--rule", "consensus", capsys=capsys)
    said = json.loads(Release.objects.get().manifest)["agreement"]
    assert [one["measure"] for one in said["measures"]] == ["fail", "label", "no_result"]
    assert said["measures"][0]["agreement"]["n_ratings"] == 11
    assert not {"judge", "run"} & {*said, *said["measures"][0]}


def test_in_words_each_command_says_what_it_did(tmp_path, capsys):
    make_voted(slug="ours")
    call_command("seal_release", "ours")
    assert "Release 1 of ours, by the rule majority under protocol 1." in capsys.readouterr().out
    call_command("export_release", "ours", "--out", str(tmp_path / "out"), "--no-parquet")
    assert "labels.jsonl           4 rows" in capsys.readouterr().out
    call_command("import_release", "ours", str(tmp_path / "out"), "--as-known")
    assert "Imported as release 2 of ours, with 4 items." in capsys.readouterr().out
    call_command("import_release", "ours", str(tmp_path / "out"))
    assert "It is there already, as release 2 of ours." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("seal_release", "absent"), "unknown_project"),
        (("seal_release", "ours", "--rule", "best"), "unknown_rule"),
        (("seal_release", "ours", "--protocol", "9"), "unknown_protocol"),
        (("seal_release", "empty"), "nothing_to_seal"),
        (("export_release", "ours", "--out", "OUT"), "unknown_release"),
        (("export_release", "ours", "--number", "3", "--out", "OUT"), "unknown_release"),
        (("import_release", "ours", "OUT"), "missing_file"),
    ],
)
def test_what_is_not_there_is_refused_with_what_to_do(words, code, tmp_path, capsys):
    make_voted(slug="ours")
    make_project("empty")
    words = [str(tmp_path / "out") if word == "OUT" else word for word in words]
    assert [problem["code"] for problem in refused(*words, capsys=capsys)] == [code]
    assert not Release.objects.exists()
    assert not (tmp_path / "out").exists()


def test_everything_that_is_wrong_with_a_folder_is_listed(tmp_path, capsys):
    make_voted(slug="ours")
    make_project("empty")
    call("seal_release", "ours", capsys=capsys)
    call("export_release", "ours", "--out", tmp_path / "out", "--no-parquet", capsys=capsys)
    problems = refused("import_release", "empty", tmp_path / "out", capsys=capsys)
    assert [(one["code"], one["file"], one["line"]) for one in problems] == [
        ("missing_item", "labels.jsonl", line) for line in (1, 2, 3, 4)
    ]
    assert Project.objects.get(slug="empty").releases.count() == 0
