"""The paragraph for a paper: every figure in it is one of the report's tables, in both languages, and what is undefined
or not there is never made up."""

import csv
import io
import re
from pathlib import Path

import pytest
from django.utils import translation

from annotate.importing import import_caps
from annotate.traces.documents import Documents
from scoring.method_paragraph import LANGUAGES, figure_words, paragraph, paragraphs
from scoring.method_words import csv_rows
from scoring.methods.paragraphs import Each, One, Range, Sentence, sentences_of
from scoring.methods.records import read_records
from scoring.methods.tables import MethodReport, Row, Table, counted, methods, without

RECORDS = Path("fixtures/reference/records-replies.jsonl")
METHOD = methods()["replies"]


@pytest.fixture(scope="module")
def report():
    with RECORDS.open("rb") as file:
        records = read_records(Documents(file, file_name=RECORDS.name, caps=import_caps()), METHOD.schema)
    return METHOD.of(records, {"seed": 7, "n_resamples": 200, "tie_rule": "fail"})


def test_it_says_settings_people_rules_and_figures(report):
    text = paragraph(report, METHOD, "en")
    assert "5 annotators gave 60 annotations" in text
    assert figure_words(report.row("reader_kappa", "people_reader", ties="ties fail")) in text
    assert figure_words(report.row("contrast", "blind", **{"condition": "rewrite", "compared with": "default"})) in text
    assert "200 resamples of whole clusters (seed 7)" in text
    for one in METHOD.parameters:
        assert f"{one.name} = " in text
    assert "default, k = 1: " in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_said_where_its_figures_are_there(report, language):
    with translation.override(language):
        said = list(sentences_of(report, METHOD.sentences, figure_words, str))
    assert [one.text for one in said] == [one.text for one in METHOD.sentences]


def test_both_languages_hold_the_same_figures(report):
    texts = paragraphs(report, METHOD)
    english, chinese = (sorted(re.findall(r"\u2212?\d+(?:\.\d+)?", texts[language])) for language in LANGUAGES)
    assert english == chinese
    assert re.search("[\u4e00-\u9fff]", texts["zh-hans"])
    assert "%(" not in texts["en"] + texts["zh-hans"]


def test_a_parameter_that_is_not_the_default_is_said_to_be_none(report):
    changed = METHOD.settings({"min_panel": 3})
    other = MethodReport(report.method, report.title, changed, report.tables)
    assert "min_panel = 3 (by default 2)" in paragraph(other, METHOD, "en")
    assert "min_panel = 2 (" not in paragraph(report, METHOD, "en")


def some(*rows, name="t"):
    return MethodReport("replies", "", METHOD.settings(), (Table(name, "", rows),))


def row(metric, figure, by=(), unit="share"):
    return Row(metric, metric, figure, "", by, unit)


def said(report, place):
    return [one.words() for one in sentences_of(report, [Sentence("it is %(x)s", {"x": place})], figure_words, str)]


def test_what_is_undefined_is_said_with_its_reason_and_what_is_not_there_is_not_said():
    there = some(row("kappa", without("one_rater"), unit="kappa"))
    assert said(there, One("kappa", "t")) == ["it is undefined (Needs a second rater)"]
    assert said(there, One("other", "t")) == []
    assert said(there, One("kappa", "elsewhere")) == []
    assert said(there, Range("kappa", "t")) == []


def test_a_range_has_both_ends_and_one_value_is_both():
    rows = [row("kappa", counted(value), (("annotator", str(value)),), "kappa") for value in (0.5, 0.1, 0.9)]
    assert said(some(*rows), Range("kappa", "t")) == ["it is 0.10 to 0.90"]
    assert said(some(rows[0]), Range("kappa", "t")) == ["it is 0.50 to 0.50"]


def test_each_of_a_break_down_is_named():
    rows = [row("fail", counted(value / 4), (("model", f"m{value}"),)) for value in (1, 2)]
    assert said(some(*rows), Each("fail", "t", ("model",))) == ["it is m1: 25.0 %; m2: 50.0 %"]
    assert said(some(*rows), Each("fail", "t", ("model",), {"model": ("m2",)})) == ["it is m2: 50.0 %"]


def test_a_share_of_the_file_can_be_worked_out_again_from_its_counts(report):
    """Check A14: every share with two counts is their quotient, and every parameter is in the file."""
    text = io.StringIO()
    csv.writer(text).writerows(csv_rows(report))
    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    shares = [one for one in rows if one["unit"] == "share" and one["value"] and one["k"] and one["n"]]
    assert len(shares) > 50
    for one in shares:
        assert float(one["value"]) == pytest.approx(float(one["k"]) / float(one["n"]), rel=1e-9)
    settings = {one["metric"]: one["value"] for one in rows if one["table"] == "settings"}
    assert settings["seed"] == "7"
    assert set(settings) == {one.name for one in METHOD.all_parameters()}
