"""The report of a project's method for leads: the page, and the same as JSON and CSV."""

import csv
import io
import json
from collections.abc import Mapping

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotate.errors import Refused
from annotate.models import Phase, Project
from annotate.views.project import led_project, title_of
from scoring import report_queries
from scoring.comparing import PHASES, schemas_of
from scoring.method_joins import joins_of
from scoring.method_paragraph import paragraphs, report_json
from scoring.method_reports import ShownMethod, shown_method
from scoring.method_words import csv_rows, method_words
from scoring.methods.tables import method_of_kind
from scoring.predictions import KIND
from scoring.views import number_in

NUMBERS = ("protocol", "run", "checker_run")


def asked_in(query) -> dict[str, object]:
    """What an address asks for; a field that is empty is not asked for. 404 where one can be none."""
    phase = query.get("phase", "main")
    if phase not in PHASES:
        raise Http404
    return {"phase": phase, **{name: number_in(query[name]) for name in NUMBERS if query.get(name)}}


def reported_project(request, slug) -> Project:
    """A project that the person leads and whose kind has a method; the one 404 for any other."""
    project = led_project(request, slug)
    if method_of_kind(project.kind) is None:
        raise Http404
    return project


@require_safe
def show_method_report(request, project):
    """Every table of the method that the project's rows can fill."""
    project = reported_project(request, project)
    asked = asked_in(request.GET)
    context = {"project": project, "title": title_of(project), "asked": asked, **choices(project, asked)}
    try:
        shown = shown_method(project, **asked)
    except Refused as refusal:
        context["problem"] = refusal.problem.as_dict(gettext)
        return render(request, "scoring/show_method_report.html", context, status=409)
    return render(request, "scoring/show_method_report.html", {**context, **report_page(project, shown)})


def choices(project: Project, asked: Mapping[str, object]) -> dict[str, object]:
    """What can be chosen: two statements."""
    judges = joins_of(method_of_kind(project.kind)).judges
    runs = report_queries.runs_with_verdicts(project, phase=str(asked["phase"])) if judges else []
    return {
        "phases": [(value, name) for value, name in Phase.choices if value in PHASES],
        "all_protocols": sorted(schemas_of(project), reverse=True),
        "judges": [
            {
                "field": one.field,
                "title": gettext(one.title),
                "nudge": gettext(one.nudge) if one.nudge else "",
                "runs": [run for run in runs if run.judge.name == one.name],
                "chosen": asked.get(one.field),
            }
            for one in judges
        ],
    }


def report_page(project: Project, shown: ShownMethod) -> dict[str, object]:
    facts = shown.row.settings["facts"]
    return {
        "said": method_words(shown.report, method_of_kind(project.kind), project.slug),
        "paragraphs": paragraphs(shown.report, method_of_kind(project.kind)),
        "row": shown.row,
        "has_predictions": project.kind == KIND,
        "runs": [one["run"]["number"] for one in facts["judges"] if one["run"]],
    }


def file_of(request, slug) -> ShownMethod:
    """The report behind a file; one that is refused on the page is not there as a file."""
    project = reported_project(request, slug)
    try:
        return shown_method(project, **asked_in(request.GET))
    except Refused:
        raise Http404 from None


@require_safe
def method_json(request, project):
    """What `manage.py report METHOD PROJECT --json` prints."""
    shown = file_of(request, project)
    text = json.dumps(report_json(shown), ensure_ascii=False, allow_nan=False) + "\n"
    return as_file(text, "application/json; charset=utf-8", f"{project}-{shown.report.method}.json")


@require_safe
def method_csv(request, project):
    """One row a figure, safe for spreadsheets."""
    shown = file_of(request, project)
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(csv_rows(shown.report))
    return as_file(text.getvalue(), "text/csv; charset=utf-8", f"{project}-{shown.report.method}.csv")


def as_file(text: str, content_type: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=content_type, headers=headers)
