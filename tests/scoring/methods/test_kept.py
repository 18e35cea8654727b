"""A report that was kept is the one that was worked out, in either language and whatever a database does to objects."""

import json
from pathlib import Path

import pytest
from django.utils import translation

from annotate.traces.documents import Documents
from scoring.method_words import csv_rows, method_words
from scoring.methods.kept import kept, report_from
from scoring.methods.records import read_records
from scoring.methods.tables import method_of_kind, methods

REFERENCE = Path(__file__).resolve().parents[3] / "fixtures" / "reference"
FAST = {"n_resamples": 100}


def reported(name):
    method = methods()[name]
    with (REFERENCE / f"records-{name}.jsonl").open("rb") as file:
        return method, method.of(read_records(Documents(file, file_name="x"), method.schema), FAST)


def stored(value):
    """As a database gives it back that sorts the names of objects by their length."""

    def sorted_names(pairs):
        return dict(sorted(pairs, key=lambda pair: (len(pair[0]), pair[0])))

    return json.loads(json.dumps(value), object_pairs_hook=sorted_names)


def figures(report):
    """Those with a value."""
    rows = [row for table in report.tables for row in getattr(table, "rows", ())]
    return [row for row in rows if row.figure.value is not None]


@pytest.mark.parametrize("name", ["replies", "redundancy", "revision", "delivery"])
def test_what_was_kept_says_the_same(name):
    method, report = reported(name)
    again = report_from(stored(kept(report)))
    first = report_from(kept(report))
    assert again == first
    assert json.dumps(again.as_dict()) == json.dumps(first.as_dict())
    assert list(csv_rows(again)) == list(csv_rows(first))
    for language in ("en", "zh-hans"):
        with translation.override(language):
            assert method_words(again, method, "x") == method_words(first, method, "x")
    assert [row.figure.value for row in figures(again)] == pytest.approx([row.figure.value for row in figures(report)])


def test_a_kept_report_is_kept_the_same_once_more():
    _, report = reported("replies")
    assert kept(report_from(stored(kept(report)))) == kept(report_from(kept(report)))


def test_projects_of_replies_alone_have_a_method():
    assert method_of_kind("reply").name == "replies"
    assert method_of_kind("choice") is None
    assert method_of_kind("") is None
