"""The lead's pages of releases: the list with what a new one would hold, one of them with its data card, its files."""

import json
import tempfile
from pathlib import Path

from django.http import FileResponse, Http404, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import exporting, release_queries, releasing
from annotate.errors import Refused
from annotate.markdown import guideline_html
from annotate.models import Project, Release
from annotate.rules.release_shape import FILE_NAMES, LIST_NAME, RULES
from annotate.views.project import led_project, title_of
from scoring import jury_sealing, run_views
from scoring.sealing import agreement_to_seal

ZIP = "release.zip"
FILES = (ZIP, *FILE_NAMES, LIST_NAME)
LONGEST_NUMBER = 9


@require_safe
def list_releases(request, project):
    """What was sealed so far, newest first; and by ?rule= and ?protocol= what would be sealed now."""
    project = led_project(request, project)
    rule, protocol = request.GET.get("rule", ""), request.GET.get("protocol", "")
    context = page_of(project, rule or RULES[0], protocol, request.GET)
    if rule:
        try:
            chosen = number_in(protocol) if protocol else None
            context["preview"] = releasing.preview_release(
                project=project, rule=rule, protocol=chosen, earlier=context["earlier"]
            )
        except Refused as refusal:
            context["problem"] = refusal.problem.as_dict(gettext)
    return render(request, "scoring/list_releases.html", context, status=409 if "problem" in context else 200)


def number_in(text: str) -> int:
    """A number of an address; 0, which nothing has, where it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else 0


def page_of(project: Project, rule: str, protocol: str, sent: QueryDict) -> dict[str, object]:
    return {
        "project": project,
        "title": title_of(project),
        "releases": release_queries.releases_of(project),
        "rules": [choice for choice in Release.Rule.choices if choice[0] in RULES],
        "protocols": release_queries.labels_by_protocol(project),
        "rule": rule,
        "protocol": protocol,
        "earlier": sent.get("earlier") == "yes",
    }


@require_POST
def seal_release(request, project):
    """Seal by the rule and protocol that were posted, with the figures of agreement as they are now."""
    project = led_project(request, project)
    rule, protocol = request.POST.get("rule", ""), request.POST.get("protocol", "")
    try:
        chosen = releasing.protocol_to_seal(project, rule, number_in(protocol) if protocol else None).number
        release = releasing.seal_release(
            person=request.user,
            project=project,
            rule=rule,
            protocol=chosen,
            earlier=request.POST.get("earlier") == "yes",
            agreement=agreement_to_seal(project, chosen),
            now=timezone.now(),
        )
    except Refused as refusal:
        context = {**page_of(project, rule, protocol, request.POST), "problem": refusal.problem.as_dict(gettext)}
        return render(request, "scoring/list_releases.html", context, status=422)
    return redirect("scoring:show_release", project=project.slug, number=release.number)


@require_POST
def seal_jury(request, project, number):
    """What the jury of this run agrees on, as a release of its own; what does not go is said on the run's page."""
    project = led_project(request, project)
    run = run_views.run_called(project, number)
    try:
        release = jury_sealing.seal_jury(person=request.user, project=project, run=number, now=timezone.now())
    except Refused as refusal:
        context = {**run_views.page_of(project, run), "seal_problem": refusal.problem.as_dict(gettext)}
        return render(request, "scoring/show_run.html", context, status=422)
    return redirect("scoring:show_release", project=project.slug, number=release.number)


def release_of(request, project, number: int) -> Release:
    found = release_queries.release_numbered(led_project(request, project), number) if number < 2**31 else None
    if found is None:
        raise Http404
    return found


@require_safe
def show_release(request, project, number):
    """One release: its hash, counts, data card in the language of the interface, and its files."""
    release = release_of(request, project, number)
    card = "datacard.zh.md" if get_language() == "zh-hans" else "datacard.en.md"
    manifest = json.loads(release.manifest)
    context = {
        "project": release.project,
        "title": title_of(release.project),
        "release": release,
        "rule": release.get_rule_display(),
        "counts": manifest["counts"],
        "provenance": manifest.get("provenance"),
        "sealed_by": manifest["sealed_by"],
        "card": guideline_html(exporting.card_of(release, card)),
        "files": [name for name in FILES if name != exporting.PARQUET or exporting.has_parquet()],
        "method_files": exporting.method_files(release),
        "no_parquet": None if exporting.has_parquet() else exporting.NO_PARQUET.as_dict(gettext),
    }
    return render(request, "scoring/show_release.html", context)


@require_safe
def release_file(request, project, number, name):
    """A file of a release, or all of them in one zip. It is written whole before the first byte leaves, so that what is
    not as it was sealed does not leave at all."""
    release = release_of(request, project, number)
    if name not in (*FILES, *exporting.method_files(release)):
        raise Http404
    with tempfile.TemporaryDirectory(prefix="sightline-release-") as folder:
        try:
            file = exporting.export_file(release, name, Path(folder)).open("rb")
        except Refused as refusal:
            context = {"project": release.project, "title": title_of(release.project), "release": release}
            context["problem"] = refusal.problem.as_dict(gettext)
            return render(request, "scoring/release_refused.html", context, status=409)
    # The open file outlives its name, and its room is given back when the answer is through.
    return FileResponse(file, as_attachment=True, filename=f"{release.project.slug}-{release.number}-{name}")
