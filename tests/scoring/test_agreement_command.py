"""`agreement PROJECT` and `agreement --csv FILE`, in words and as one JSON object."""

import html
import json
import os
import re
import subprocess
import sys
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import translation

from annotate.models import Assignment, Person, Project
from scoring import comparing
from scoring.comparing import agreement_report
from scoring.management.commands import agreement as command
from scoring.words import shown
from tests.factories import (
    NOW,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_protocol,
    make_round,
    make_submitted,
    make_trace,
)

READABLE, FAILS = "readable", "unrepairable_or_no_answer"


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(comparing, "N_RESAMPLES", 200)


class Said:
    """What the command said on which stream, and its exit code."""

    def __init__(self, *words):
        out, err = StringIO(), StringIO()
        self.code = 0
        try:
            call_command("agreement", *words, stdout=out, stderr=err, no_color=True)
        except SystemExit as end:
            self.code = end.code
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def object(self):
        """The one JSON object that stands alone on one line."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture
def project(db):
    cast = make_cast()
    for place in range(12):
        item = make_item(trace=make_trace(cast.project, cluster=f"task-{place // 2}"))
        make_submitted(cast.ana, item, FAILS if place % 3 == 0 else READABLE)
        make_submitted(cast.ben, item, FAILS if place % 4 == 0 else READABLE)
    make_submitted(cast.ana, make_item(cast.project, phase="pilot"))
    return cast.project


def test_the_object_is_the_report(project):
    said = Said(project.slug, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.object == json.loads(json.dumps(agreement_report(project).as_dict()))
    assert said.object["project"] == project.slug
    assert said.object["is_result"] is True
    kappa = said.object["measures"][0]["agreement"]["fleiss_kappa"]
    assert kappa["interval"]["low"] < kappa["value"] < kappa["interval"]["high"]
    assert kappa["interval"]["n_clusters"] == 6
    assert kappa["value"] == float(f"{kappa['value']:.10g}")


def test_words_hold_the_same_figures_with_intervals_and_seed(project):
    said = Said(project.slug)
    assert said.code == 0
    assert said.out.count("Fleiss' kappa") == 3
    assert "24 ratings of 12 items by 2 raters, in 6 clusters." in said.out
    assert "Share of each label: passes 0.71 · fails 0.29" in said.out
    assert f"one draw for all, seed {project.seed}." in said.out
    assert " to " in next(line for line in said.out.splitlines() if "Fleiss' kappa" in line)
    assert "Pilot" not in said.out
    assert "synthetic" not in said.out
    assert "open lead" not in said.out


def squeezed(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_says_the_same_of_the_labels_and_has_every_figure_of_the_text(project, client, language):
    Project.objects.update(is_synthetic=True, open_lead=True)
    make_member(project, "cem", code="c1")
    for item in project.items.filter(phase="main")[:8]:
        make_submitted(project.memberships.get(code="c1"), item, FAILS)
    leaver = make_member(project, "dan", code="d1", left_at=NOW)
    make_assignment(leaver, project.items.filter(phase="main").first(), state="withdrawn")
    make_protocol(project)
    make_submitted(leaver, project.items.filter(phase="main").last(), FAILS)
    client.force_login(project.memberships.get(role="lead").person)
    Person.objects.update(interface_language=language)
    page = client.get(reverse("scoring:show_agreement", args=[project.slug]), {"protocol": 1}).content.decode()
    main = re.search(r"<main.*?</main>", page, re.DOTALL)[0]
    with translation.override(language):
        text = Said(project.slug, "--protocol", "1").out
    shown = html.unescape(re.sub(r"<[^>]+>", " ", main))
    text = text.rstrip().rpartition("\n")[0]  # the number of the stored report is the command's alone
    opening = text.splitlines()[:4]
    assert [line for line in opening if squeezed(line) not in squeezed(shown)] == []
    figures = re.findall(r"-?[0-9]+\.[0-9]+", text)
    assert len(set(figures)) > 3
    assert set(figures) <= set(re.findall(r"-?[0-9]+\.[0-9]+", shown))


def test_the_text_has_shares_ties_and_the_other_tie_rules_beside_the_kappas(project):
    make_member(project, "cem", code="c1")
    for item in project.items.filter(phase="main"):
        make_submitted(project.memberships.get(code="c1"), item, FAILS)
    make_assignment(project.memberships.get(code="c1"), make_item(project), Assignment.State.PROBLEM)
    Project.objects.update(open_lead=True)
    text = Said(project.slug, "--measure", "fail").out
    rater = agreement_report(project).measures[0].panel.raters[0]
    row = next(line for line in text.splitlines() if line.startswith("  a1  "))
    _, kappa, _, share, *_ = re.split("  +", row.strip())
    assert kappa == shown(rater.annotator_vs_majority_kappa.value)
    assert share == shown(rater.annotator_vs_majority.value)
    for rule in ("left out: ", "counted in parts: ", "counted as “passes”: "):
        assert rule in row
    assert "Ties of the others: counted as “fails”; 0 items have no single majority." in text
    assert "A lead labels in this project (open lead)." in text
    assert "Left out before any figure: 1 items reported as problems; practice; known answers." in text


def test_one_measure_and_the_pilot_can_be_asked_for(project):
    said = Said(project.slug, "--measure", "label", "--phase", "pilot", "--json").object
    assert [part["measure"] for part in said["measures"]] == ["label"]
    assert (said["phase"], said["is_result"]) == ("pilot", False)
    assert said["measures"][0]["agreement"]["n_ratings"] == 1
    assert Said(project.slug, "--phase", "pilot").out.startswith("Pilot, not a result.\n")


def test_synthetic_labels_are_said_first(project):
    Project.objects.update(is_synthetic=True)
    assert Said(project.slug).out.startswith("Demo: these figures rest on synthetic labels.")
    assert Said(project.slug, "--json").object["is_synthetic"] is True


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "code", "field", "expected"),
    [
        (["no-such-project"], "unknown_project", "PROJECT", "There is no project no-such-project."),
        ([], "missing_field", "PROJECT", "Either a project or a file."),
        (["x", "--csv", "y.csv"], "missing_field", "PROJECT", "Either a project or a file."),
    ],
)
def test_what_cannot_be_answered_is_refused_on_both_streams(words, code, field, expected):
    said = Said(*words, "--json")
    assert said.code == 1
    (problem,) = said.object["problems"]
    assert (problem["code"], problem["field"], problem["expected"]) == (code, field, expected)
    assert problem["remedy"] in said.err
    plain = Said(*words)
    assert (plain.code, plain.out) == (1, "")
    assert expected in plain.err


def test_rows_that_make_no_table_are_refused_on_both_streams(project):
    item = project.items.first()
    make_submitted(project.memberships.get(code="a1"), item, FAILS, round=make_round(project, closed_at=NOW))
    said = Said(project.slug, "--json")
    assert said.code == 1
    (problem,) = said.object["problems"]
    assert problem["code"] == "duplicate_rating"
    assert problem["remedy"] in said.err


def test_an_unknown_measure_is_refused(project):
    said = Said(project.slug, "--measure", "spans", "--json")
    assert said.code == 1
    assert said.object["problems"][0]["code"] == "unknown_measure"
    assert said.object["problems"][0]["expected"] == "One of: fail, label, no_result."


# For people who have a spreadsheet: these touch no database.


def write(path, *counts, clusters=0):
    """Two raters from the cells of their table, row by row; the majority in its rows, fails first."""
    names = ["fail", "pass"]
    cells = [(majority, reader) for majority in names for reader in names]
    said = [cell for cell, n in zip(cells, counts, strict=True) for cell in [cell] * n]
    lines = ["reply,who,verdict,run"]
    for number, pair in enumerate(said):
        for who, verdict in zip(("majority", "reader"), pair, strict=True):
            lines.append(f"{number},{who},{verdict},run-{number % clusters if clusters else number}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["--csv", str(path), "--item", "reply", "--rater", "who", "--label", "verdict"]


def test_the_table_171_20_34_75_gives_accuracy_82_and_kappa_60(tmp_path):
    said = Said(*write(tmp_path / "reader.csv", 171, 20, 34, 75), "--json").object
    panel = said["agreement"]
    assert (panel["n_items"], panel["n_raters"], panel["n_ratings"]) == (300, 2, 600)
    (pair,) = panel["pairs"]
    assert pair["confusion"] == [[171, 20], [34, 75]]
    # By hand: (171 + 75) / 300; chance (191 * 205 + 109 * 95) / 300^2 = 0.550111; (0.82 - 0.550111) / 0.449889.
    assert panel["percent_agreement"]["value"] == pytest.approx(0.82, abs=1e-12)
    assert pair["cohen_kappa"]["value"] == pytest.approx(0.599901, abs=1e-6)
    words = Said(*write(tmp_path / "reader.csv", 171, 20, 34, 75)).out
    assert "0.82" in next(line for line in words.splitlines() if "percent agreement (item mean)" in line)
    assert "0.60" in next(line for line in words.splitlines() if "majority · reader" in line)


def test_without_clusters_the_output_says_that_each_item_is_its_own(tmp_path):
    words = write(tmp_path / "reader.csv", 17, 2, 3, 8)
    said = Said(*words, "--json").object
    assert (said["file"], said["clusters"]) == ("reader.csv", "each item its own")
    assert (said["agreement"]["n_clusters"], said["agreement"]["unit"]) == (30, "item")
    assert Said(*words).out.startswith("reader.csv: each item is its own cluster; ")
    assert "resamples of clusters (item)" in Said(*words).out


def test_with_clusters_the_output_names_their_column(tmp_path):
    words = [*write(tmp_path / "reader.csv", 17, 2, 3, 8, clusters=6), "--cluster", "run"]
    said = Said(*words, "--json").object
    assert said["clusters"] == "run"
    assert said["agreement"]["n_clusters"] == 6
    assert said["agreement"]["unit"] == said["agreement"]["fleiss_kappa"]["interval"]["unit"] == "run"
    assert Said(*words).out.startswith("reader.csv: clusters by the column run.\n")
    assert "resamples of clusters (run)" in Said(*words).out


def test_lines_of_a_table_stand_below_each_other_in_both_languages(project):
    for language in ("en", "zh-hans"):
        with translation.override(language):
            lines = Said(project.slug, "--measure", "fail").out.split("\n\n")[1].splitlines()
        assert len(lines) == 6
        ends = {command.width(line[: re.search(r"\d\.\d\d ", line).end()]) for line in lines[1:5]}
        assert len(ends) == 1, lines


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_intervals(tmp_path):
    words = write(tmp_path / "reader.csv", 17, 2, 3, 8)
    first, again = Said(*words, "--json"), Said(*words, "--json")
    other = Said(*words, "--seed", "2", "--json").object["agreement"]
    assert first.out == again.out
    assert other["fleiss_kappa"]["value"] == first.object["agreement"]["fleiss_kappa"]["value"]
    assert other["fleiss_kappa"]["interval"] != first.object["agreement"]["fleiss_kappa"]["interval"]


def test_a_seed_that_no_generator_takes_is_a_mistake_of_usage(tmp_path):
    words = write(tmp_path / "reader.csv", 17, 2, 3, 8)
    with pytest.raises(CommandError, match="a seed is a whole number from 0 to "):
        Said(*words, "--seed=-5")


def test_one_cluster_gives_no_interval_and_the_reason(tmp_path):
    words = [*write(tmp_path / "reader.csv", 17, 2, 3, 8, clusters=1), "--cluster", "run", "--json"]
    kappa = Said(*words).object["agreement"]["fleiss_kappa"]
    assert (kappa["interval"], kappa["interval_reason"]) == (None, "too_few_clusters")
    assert kappa["value"] is not None


def test_declared_labels_are_counted_also_where_nobody_chose_them(tmp_path):
    words = [*write(tmp_path / "reader.csv", 17, 2, 3, 8), "--categories", "pass", "fail", "unsure", "--json"]
    prevalence = Said(*words).object["agreement"]["prevalence"]
    assert [(one["category"], one["n_ratings"]) for one in prevalence] == [("pass", 21), ("fail", 39), ("unsure", 0)]


@pytest.mark.parametrize(
    ("content", "more", "code", "line", "field"),
    [
        ("item,rater\n1,a\n", [], "missing_field", 1, "label"),
        ("item,rater,label\n1,a\n", [], "ragged_row", 2, ""),
        ("item,rater,label\n1,a,x\n1,a,x\n", [], "duplicate_rating", 3, ""),
        ("item,rater,label\n1,a,X\n", ["--categories", "x"], "unknown_label", 2, "label"),
        ("item,rater,label,run\n1,a,x,1\n1,b,x,2\n", ["--cluster", "run"], "two_clusters", 3, "run"),
        (b"item,rater,label\n1,a,\xff\n", [], "not_utf8", 2, ""),
        ("item,rater,label\n1,a,x\n,b,x\n", [], "empty_value", 3, "item"),
        ("item,rater,label\n1,a,x\n1,,x\n", [], "empty_value", 3, "rater"),
        ('item,rater,label\n1,a,"x\n', [], "malformed_csv", 2, ""),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_file_line_and_field(tmp_path, content, more, code, line, field):
    path = tmp_path / "ratings.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = Said("--csv", str(path), *more, "--json")
    assert said.code == 1
    (problem,) = said.object["problems"]
    assert (problem["code"], problem["file"], problem["line"], problem["field"]) == (code, "ratings.csv", line, field)
    assert f"ratings.csv line {line}: {code}." in said.err


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path):
    said = Said("--csv", str(tmp_path / "none.csv"), "--json")
    assert said.code == 1
    assert said.object["problems"][0]["code"] == "unreadable_file"
    assert "none.csv" in said.err


@pytest.mark.parametrize("content", ["item,rater,label\n", "item,rater,label\n1,a,\n1,b,\n"])
def test_a_table_without_a_rating_is_refused_unless_its_labels_are_declared(tmp_path, content):
    path = tmp_path / "ratings.csv"
    path.write_text(content, encoding="utf-8")
    said = Said("--csv", str(path), "--json")
    assert said.code == 1
    (problem,) = said.object["problems"]
    assert (problem["code"], problem["file"], problem["field"]) == ("no_rating", "ratings.csv", "label")
    said = Said("--csv", str(path), "--categories", "yes", "no", "--json")
    assert said.code == 0
    assert said.object["agreement"]["fleiss_kappa"]["reason"] == "empty"
    assert "No ratings yet." in Said("--csv", str(path), "--categories", "yes", "no").out


def test_a_reader_that_has_enough_is_no_error(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item,rater,label\n1,ana,yes\n1,ben,yes\n2,ana,no\n2,ben,yes\n", "utf-8")
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "manage.py", "agreement", "--csv", str(path)]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, cwd=settings.ROOT, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
