"""The lead's pages of trace files: uploading one, how far its import is, and the report of what became of it."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import lead_queries, uploading
from annotate.errors import NotYours, Refused
from annotate.import_forms import UploadForm
from annotate.kinds.registry import kind_of
from annotate.models import ImportBatch, Project, Work
from annotate.traces import kept
from annotate.traces.base import Problem
from annotate.views.project import led_project, title_of

N_IMPORTS = 25
LONG_WAIT = timedelta(minutes=1)
"""A worker takes a job up within seconds; after this the page says that there may be none."""


@require_safe
def list_imports(request, project):
    """The form of an upload, and what was imported so far, newest first."""
    project = led_project(request, project)
    page = request.GET.get("page", "1")
    if not (page.isascii() and page.isdecimal() and len(page) < 7):
        raise Http404
    return render(request, "annotate/list_imports.html", listed(project, UploadForm(), int(page)))


def listed(project: Project, form: UploadForm, page: int = 1) -> dict[str, object]:
    imports = lead_queries.listed_imports(project, first=max(page - 1, 0) * N_IMPORTS, limit=N_IMPORTS + 1)
    return {
        "project": project,
        "title": title_of(project),
        "form": form,
        "is_published": kind_of(project.kind).ask is not None,
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "imports": imports[:N_IMPORTS],
        "newer": page - 1 if page > 1 else None,
        "older": page + 1 if len(imports) > N_IMPORTS else None,
    }


@uploading.brings_files(uploading.leads_project)
@require_POST
def upload_traces(request, project):
    """Keep the file; its import goes on by itself, and has a page."""
    project = led_project(request, project)
    form = UploadForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            job = receive(project, request, form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            if not request.htmx:
                return redirect("annotate:show_import", project=project.slug, work_id=job.pk)
            address = reverse("annotate:show_import", args=[project.slug, job.pk])
            return HttpResponse(status=204, headers={"HX-Redirect": address})
    template = "annotate/_upload_form.html" if request.htmx else "annotate/list_imports.html"
    return render(request, template, listed(project, form), status=422)


def receive(project: Project, request, data) -> Work:
    file = data.pop("file")
    name = file.name if file else ""
    return uploading.receive_upload(project=project, by=request.user, file=file, file_name=name, **data)


@require_safe
def show_import(request, project, work_id):
    """How far an import is; afterwards what became of it. A script asks for the piece until it is done."""
    project = led_project(request, project)
    template = "annotate/_import.html" if request.htmx else "annotate/show_import.html"
    return render(request, template, {**page_of(project, work_id), "is_piece": request.htmx})


def page_of(project: Project, work_id: int, problem: Problem | None = None) -> dict[str, object]:
    job = lead_queries.import_job(project, work_id) if work_id < 2**63 else None
    if job is None:
        raise Http404
    batch = lead_queries.batch_of_job(job)
    return {
        "project": project,
        "title": title_of(project),
        "job": job,
        "file_name": job.payload.get("file_name", ""),
        "phase": lead_queries.phase_words(job.payload.get("phase", "")),
        "said_error": gettext(job.error) if job.error else "",
        "batch": batch,
        "state": state_of(job, batch),
        "is_going_on": job.state in (Work.State.WAITING, Work.State.RUNNING),
        "is_read": job.n_total is not None and job.n_done >= job.n_total,
        "percent": 100 * job.n_done // job.n_total if job.n_total else 0,
        "is_behind": job.state == Work.State.WAITING and lead_queries.is_behind_another(job),
        "waits_long": timezone.now() - job.created_at > LONG_WAIT and not job.attempts,
        "has_file": job.state == Work.State.DEAD and uploading.path_of(job).is_file(),
        "problem": problem and problem.as_dict(gettext),
        **(report_of(batch) if batch and job.state == Work.State.DONE else {}),
    }


def state_of(job: Work, batch: ImportBatch | None) -> str:
    """The state of the job, and of one that is done what became of the file."""
    return batch.state if job.state == Work.State.DONE and batch else job.state


def report_of(batch: ImportBatch) -> dict[str, object]:
    """Every problem and warning that was kept, in the reader's language, and how many there were."""
    skipped = batch.counts.get("skipped", {})
    return {
        "counts": batch.counts,
        "n_new": batch.counts.get("new", 0),
        "n_items": batch.counts.get("items", 0),
        "problems": [said(batch, row) for row in batch.problems],
        "warnings": [said(batch, row) for row in batch.warnings],
        "sorts": sorts(batch, skipped if isinstance(skipped, dict) else {}),
        "n_problems": batch.counts.get("n_problems", len(batch.problems)),
        "n_warnings": sum(skipped.values()) if isinstance(skipped, dict) else len(batch.warnings),
    }


def said(batch: ImportBatch, row: dict[str, Any]) -> dict[str, Any]:
    """A problem or warning in the reader's language; `inside` is the file of an archive in which it stands."""
    problem = kept.from_row(row).as_dict(gettext)
    return {**problem, "inside": problem["file"].removeprefix(batch.file_name).lstrip("/")}


def sorts(batch: ImportBatch, skipped: dict[str, int]) -> list[dict[str, Any]]:
    """The first warning of each code, with how many there are of it: a run may be warned of by the hundred."""
    first: dict[str, dict[str, Any]] = {}
    for row in batch.warnings:
        first.setdefault(row.get("code", ""), row)
    n_listed = Counter(row.get("code", "") for row in batch.warnings)
    return [{**said(batch, row), "n": skipped.get(code, n_listed[code])} for code, row in first.items()]


@require_POST
def try_import_again(request, project, work_id):
    """An import that was given up waits for a worker again."""
    project = led_project(request, project)
    try:
        uploading.try_again(lead=request.user, project=project, work_id=work_id if work_id < 2**63 else 0)
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        template = "annotate/_import.html" if request.htmx else "annotate/show_import.html"
        return render(request, template, page_of(project, work_id, refusal.problem), status=422)
    if request.htmx:
        return render(request, "annotate/_import.html", page_of(project, work_id))
    return redirect("annotate:show_import", project=project.slug, work_id=work_id)
