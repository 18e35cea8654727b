"""Agreement for leads: the figures with charts, and the files beside them. The items behind a figure are in
`compared_views.py`."""

import csv
import io

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotate.errors import Refused
from annotate.models import Phase, Project
from annotate.rules.csv_cells import escape
from annotate.views.project import led_project, title_of
from scoring import agreement_words, comparing, overlap_views, report_queries
from scoring.agreement_shown import (
    AXIS_COLUMNS,
    CHARTS,
    CONFUSION_COLUMNS,
    NUMBERS,
    Filters,
    axis_lines,
    confusion_lines,
    measure_part,
    set_lines,
    set_part,
)
from scoring.comparing import PHASES
from scoring.reports import StoredReport, shown_report

TEXTS = ("measure", "language", "area", "cluster")
LONGEST = 9
MOST_CHOICES = 200
"""More values than these are typed, not chosen from."""


def filters_in(query) -> Filters:
    """The filters in an address; a field that is empty is not asked for. 404 where one can be none."""
    phase = query.get("phase", "main")
    if phase not in PHASES:
        raise Http404
    chosen = {name: query[name] for name in TEXTS if query.get(name)}
    for name in NUMBERS:
        if text := query.get(name):
            chosen[name] = number_in(text)
    return Filters(phase=phase, **chosen)


def number_in(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST):
        raise Http404
    return int(text)


@require_safe
def show_agreement(request, project):
    """The figures of `manage.py agreement`, with their intervals or the reason why there is none."""
    project = led_project(request, project)
    filters = filters_in(request.GET)
    context = {"project": project, "title": title_of(project), "filters": filters, **choices(project, filters)}
    context |= overlap_views.card(project)
    try:
        stored = shown_report(project, **filters.as_dict())
    except Refused as refusal:
        context["problem"] = refusal.problem.as_dict(gettext)
        return render(request, "scoring/show_agreement.html", context, status=409)
    return render(request, "scoring/show_agreement.html", {**context, **report_shown(project, stored)})


def choices(project: Project, filters: Filters) -> dict[str, object]:
    """What the filters can be set to: six statements."""
    schemas = comparing.schemas_of(project)
    chosen = comparing.chosen_of_all(project, schemas, None, filters.protocol)
    return {
        "phases": [(value, name) for value, name in Phase.choices if value in PHASES],
        "measures": [*chosen.measures, *chosen.sets],
        "all_protocols": sorted(schemas, reverse=True),
        "runs": report_queries.runs_to_compare(project, phase=filters.phase),
        "rounds": report_queries.rounds_of(project),
        "places": [
            (
                name,
                title,
                report_queries.values_of(project, name, phase=filters.phase, most=MOST_CHOICES + 1),
                getattr(filters, name),
            )
            for name, title in (
                ("language", gettext("Language")),
                ("area", gettext("Area")),
                ("cluster", gettext("Cluster")),
            )
        ],
        "most_choices": MOST_CHOICES,
    }


def report_shown(project: Project, stored: StoredReport) -> dict[str, object]:
    report = stored.report
    n_raters = [one.panel.n_raters for one in report.measures] + [one.agreement.n_raters for one in report.sets]
    return {
        "report": report,
        "row": stored.row,
        "said": agreement_words.report_words(report),
        "parts": [measure_part(project, report, one) for one in report.measures],
        "sets": [set_part(project, report, one) for one in report.sets],
        "n_raters": max(n_raters, default=0),
    }


@require_safe
def agreement_csv(request, project):
    """The figures of one chart, as numbers; texts cannot run as formulas in a spreadsheet."""
    project = led_project(request, project)
    filters, chart = filters_in(request.GET), request.GET.get("chart", CHARTS[0])
    if chart not in CHARTS:
        raise Http404
    try:
        report = shown_report(project, **filters.as_dict()).report
    except Refused:
        raise Http404 from None
    columns, lines_of = (AXIS_COLUMNS, axis_lines) if chart == "axis" else (CONFUSION_COLUMNS, confusion_lines)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for one in report.measures:
        writer.writerows(map(as_cell, line) for line in lines_of(one))
    for of_sets in report.sets if chart == "axis" else ():
        writer.writerows(map(as_cell, line) for line in set_lines(of_sets))
    name = f"{project.slug}-agreement-{chart}.csv"
    return HttpResponse(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def as_cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else escape(value) if isinstance(value, str) else str(value)
