"""Stored reports: shown while nothing has come since, and the same again from the rows they name."""

import pytest

from annotate.models import Project
from scoring import comparing, reports
from scoring.comparing import agreement_report
from scoring.models import Report
from scoring.reports import numbers_of, recompute, runs_of_numbers, shown_report
from tests.factories import make_cast, make_item, make_member, make_run, make_submitted, make_trace, make_verdict

READABLE, FAILS = "readable", "unrepairable_or_no_answer"


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(comparing, "N_RESAMPLES", 200)


@pytest.fixture
def cast(db):
    return make_cast()


@pytest.fixture
def labelled(cast):
    """Three people and a judge on four items; the judge is alone with its word on the second."""
    members = [cast.ana, cast.ben, make_member(cast.project, "cem", code="c1")]
    trace = make_trace(cast.project, cluster="task")
    items = [make_item(trace=make_trace(cast.project, cluster=f"task-{n}"), reply=3) for n in range(3)]
    items.append(make_item(trace=trace, reply=3))
    for item, label in zip(items, (READABLE, READABLE, FAILS, FAILS), strict=True):
        for member in members:
            make_submitted(member, item, label)
    run = make_run(cast.project)
    for item, label in zip(items, (READABLE, FAILS, FAILS, FAILS), strict=True):
        make_verdict(run, item, label)
    return items


def project(cast):
    return Project.objects.get(pk=cast.project.pk)


def test_a_report_is_stored_once_and_shown_again_with_the_same_numbers(cast, labelled):
    first, second = shown_report(project(cast)), shown_report(project(cast))
    assert (first.is_new, second.is_new, Report.objects.count()) == (True, False, 1)
    assert first.report.as_dict() == second.report.as_dict()
    assert second.report.as_dict() == agreement_report(project(cast)).as_dict() == second.row.payload


def test_a_label_and_a_verdict_of_this_project_make_a_new_report_and_those_of_another_do_not(cast, labelled):
    shown_report(project(cast))
    other = make_cast(slug="other")
    make_submitted(other.ana, make_item(other.project))
    assert not shown_report(project(cast)).is_new
    item = make_item(cast.project)
    make_submitted(cast.ana, item)
    assert shown_report(project(cast)).is_new
    make_run(cast.project, items=[item])
    assert shown_report(project(cast)).is_new


def test_a_label_with_a_lower_number_that_commits_later_is_seen(cast, labelled):
    shown = shown_report(project(cast))
    seen = {name: [newest + 5, n] for name, (newest, n) in shown.row.seen.items()}
    Report.objects.filter(pk=shown.row.pk).update(seen=seen)
    assert not shown_report(project(cast)).is_new
    make_submitted(cast.ana, make_item(cast.project))
    assert shown_report(project(cast)).is_new


def test_a_report_is_computed_again_from_what_it_names_whatever_has_come_since(cast, labelled):
    row = shown_report(project(cast)).row
    for label in (READABLE, FAILS):
        make_submitted(cast.ana, make_item(cast.project), label)
    make_run(cast.project, items=labelled)
    row = Report.objects.get(pk=row.pk)
    assert recompute(row) == row.payload


def test_only_so_many_reports_of_the_same_settings_are_kept(cast, labelled):
    other = shown_report(project(cast), measure="label").row
    for _ in range(reports.KEPT + 2):
        make_submitted(cast.ana, make_item(cast.project))
        newest = shown_report(project(cast)).row
    kept = Report.objects.filter(settings_hash=newest.settings_hash)
    assert kept.count() == reports.KEPT
    assert newest in kept
    assert Report.objects.filter(pk=other.pk).exists()


def test_numbers_are_written_as_runs():
    assert runs_of_numbers([8, 1, 2, 3, 10, 11]) == "1-3,8,10-11"
    assert numbers_of("1-3,8,10-11") == {1, 2, 3, 8, 10, 11}
    assert (runs_of_numbers([]), numbers_of("")) == ("", set())
