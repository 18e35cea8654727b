"""Pages for leads that join people's labels and, later, verdicts."""

from django.http import Http404
from django.shortcuts import render
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_safe

from annotate.errors import Refused
from annotate.views.project import led_project
from scoring import words
from scoring.comparing import PHASES, agreement_report


@require_safe
def show_agreement(request, project):
    """The figures of `manage.py agreement`, with their intervals or the reason why there is none."""
    project = led_project(request, project)
    phase = request.GET.get("phase", "main")
    if phase not in PHASES:
        raise Http404
    number = request.GET.get("protocol", "")
    if number and not (number.isdecimal() and len(number) < 10):
        raise Http404
    context = {
        "project": project,
        "title": project.title_zh if get_language() == "zh-hans" else project.title_en,
        "phase": phase,
        "phases": PHASES,
    }
    try:
        report = agreement_report(project, phase=phase, protocol=int(number) if number else None)
        context |= {"report": words.report_words(report), "protocols": report.protocols, "protocol": report.protocol}
    except Refused as refusal:
        context["problem"] = refusal.problem.as_dict(gettext)
    return render(request, "scoring/show_agreement.html", context, status=409 if "problem" in context else 200)
