"""`agreement PROJECT` and `agreement --csv FILE`, in words and as one JSON object."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from annotate.models import Project
from scoring import comparing
from scoring.comparing import agreement_report
from tests.factories import make_cast, make_item, make_submitted, make_trace

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
    assert said.out.count("fleiss_kappa") == 3
    assert "n: 12 items, 2 raters, 24 ratings, 6 clusters" in said.out
    assert f"seed {project.seed}; ties: toward:fail" in said.out
    assert " to " in next(line for line in said.out.splitlines() if "fleiss_kappa" in line)
    assert "Pilot" not in said.out
    assert "synthetic" not in said.out


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
    assert panel["percent_item"]["value"] == pytest.approx(0.82, abs=1e-12)
    assert pair["kappa"]["value"] == pytest.approx(0.599901, abs=1e-6)
    words = Said(*write(tmp_path / "reader.csv", 171, 20, 34, 75)).out
    assert "0.82" in next(line for line in words.splitlines() if "percent_item" in line)
    assert "0.60" in next(line for line in words.splitlines() if "majority and reader" in line)


def test_without_clusters_the_output_says_that_each_item_is_its_own(tmp_path):
    words = write(tmp_path / "reader.csv", 17, 2, 3, 8)
    said = Said(*words, "--json").object
    assert (said["file"], said["clusters"]) == ("reader.csv", "each item its own")
    assert (said["agreement"]["n_clusters"], said["agreement"]["unit"]) == (30, "item")
    assert Said(*words).out.startswith("reader.csv; clusters: each item its own\n")


def test_with_clusters_the_output_names_their_column(tmp_path):
    words = [*write(tmp_path / "reader.csv", 17, 2, 3, 8, clusters=6), "--cluster", "run"]
    said = Said(*words, "--json").object
    assert said["clusters"] == "run"
    assert said["agreement"]["n_clusters"] == 6
    assert Said(*words).out.startswith("reader.csv; clusters: run\n")


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_intervals(tmp_path):
    words = write(tmp_path / "reader.csv", 17, 2, 3, 8)
    first, again = Said(*words, "--json"), Said(*words, "--json")
    other = Said(*words, "--seed", "2", "--json").object["agreement"]
    assert first.out == again.out
    assert other["fleiss_kappa"]["value"] == first.object["agreement"]["fleiss_kappa"]["value"]
    assert other["fleiss_kappa"]["interval"] != first.object["agreement"]["fleiss_kappa"]["interval"]


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
