"""`report replies PROJECT`: the tables of a project in words, as JSON, as CSV and as a page."""

import csv
import io
import json

import pytest
from django.core.management import call_command

from tests.factories import make_cast, make_item, make_project, make_submitted
from tests.scoring.readings import checker_run, make_checking, make_reading, question, reader_run

pytestmark = pytest.mark.django_db
FAST = ("--set", "n_resamples=100")
TEXT = "Run r7 of the lower zone is done."


@pytest.fixture
def project(db):
    cast = make_cast(slug="plots")
    run, checks = reader_run(cast.project), checker_run(cast.project)
    for place in range(3):
        item = make_item(cast.project, text=TEXT)
        make_reading(run, item, *([question("r7", TEXT)] if place else []))
        make_checking(checks, item, errors=["wrong"])
        make_submitted(cast.ana, item)
        make_submitted(cast.ben, item, "unrepairable_or_no_answer" if place else "readable")
    return cast.project


def say(*words):
    out, err = io.StringIO(), io.StringIO()
    code = 0
    try:
        call_command("report", "replies", *words, stdout=out, stderr=err, no_color=True)
    except SystemExit as end:
        code = end.code
    return code, out.getvalue(), err.getvalue()


def test_words_begin_with_what_the_figures_rest_on(project):
    code, out, err = say("plots", *FAST)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Replies: usable by who reads nothing else?"
    assert lines[1].startswith("Records of plots: collaboration 3 · reply 3 · judgment 3 · gap 2 · annotation 6")
    assert "Run 1 of the judge reader, version 1." in lines
    assert "May the reader stand in for an annotator?" in lines
    row = next(line for line in lines if line.strip().startswith("fail ") and "judged texts" in line)
    assert "66.7 %" in row


def test_json_is_one_object_with_the_rows_it_rests_on(project):
    code, out, err = say("plots", "--json", *FAST)
    (line,) = out.splitlines()
    said = json.loads(line)
    assert (code, err, said["project"], said["protocol"], said["reader"]["number"]) == (0, "", "plots", 1, 1)
    tables = {one["name"]: one for one in said["tables"]}
    (rate,) = (row for row in tables["reader"]["rows"] if row["metric"] == "failure_rate")
    assert (rate["k"], rate["n"], rate["n_clusters"]) == (2, 3, 3)
    (errors,) = (row for row in tables["checker"]["rows"] if row["metric"] == "errors")
    assert errors["value"] == 1


def test_a_figure_can_be_worked_out_by_hand_from_the_csv(project):
    _, out, _ = say("plots", "--csv", *FAST)
    rows = list(csv.DictReader(io.StringIO(out)))
    (rate,) = (row for row in rows if (row["table"], row["metric"]) == ("reader", "failure_rate"))
    assert float(rate["value"]) == pytest.approx(float(rate["k"]) / float(rate["n"]))


def test_the_page_stands_by_itself_in_either_language(project):
    _, out, _ = say("plots", "--html", "--language", "zh-hans", *FAST)
    assert '<html lang="zh-hans">' in out
    assert "信息缺口" in out


def test_the_same_seed_gives_the_same_intervals(project):
    first, again = (say("plots", "--json", "--set", "seed=3", *FAST)[1] for _ in range(2))
    assert first == again


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), "missing_field"),
        (("plots", "--records", "x.jsonl"), "missing_field"),
        (("nowhere",), "unknown_project"),
        (("plots", "--run", "2"), "unknown_run"),
        (("plots", "--checker-run", "1"), "unknown_checker_run"),
        (("chosen",), "no_method"),
        (("plots", "--set", "quote_check=maybe"), "bad_parameter"),
    ],
)
def test_what_does_not_go_is_refused(project, words, code):
    make_project("chosen", kind="choice")
    ended, out, err = say(*words)
    assert (ended, out) == (1, "")
    assert f": {code}." in err
