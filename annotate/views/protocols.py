"""The lead's pages of protocols: the numbered list, and the next one with its preview."""

import re

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import lead_queries, rounds, setting_up
from annotate.errors import Refused
from annotate.kinds.registry import kind_of
from annotate.markdown import guideline_html
from annotate.models import Project
from annotate.project_forms import ProtocolForm
from annotate.rules.vendor_names import vendor_names
from annotate.views.label import own
from annotate.views.label_schemas import MadeLabels, is_drawn_again, made_labels, read_names
from annotate.views.project import led_project, title_of


@require_safe
def show_protocols(request, project):
    """Every protocol by its number, and the guideline of the newest, or of the one asked for."""
    project = led_project(request, project)
    rows = lead_queries.protocol_rows(project)
    asked = request.GET.get("number", str(rows[0].number))
    shown = next((row for row in rows if str(row.number) == asked), None)
    if shown is None:
        raise Http404
    context = {
        "project": project,
        "title": title_of(project),
        "rows": rows,
        "shown": shown,
        "guidelines": both(shown.guideline_en, shown.guideline_zh),
        "kind": kind_of(project.kind),
        "label_types": label_types(project, rows[0].label_schema or kind_of(project.kind).schema),
        "n_older": lead_queries.n_under_older(project, rows[0].number) if len(rows) > 1 else 0,
    }
    return render(request, "annotate/show_protocols.html", context)


def label_types(project: Project, schema) -> list[tuple[str, str]]:
    """What labels can say or name, by measure and category, each with its words."""
    kind = kind_of(project.kind)
    return [
        (f"{one.name}|{category}", f"{gettext(one.title)}: {gettext(title)}")
        for one in (*kind.measures(schema), *kind.sets(schema))
        for category, title in zip(one.categories, one.category_titles, strict=True)
    ]


def both(english: str, chinese: str) -> list[tuple[str, str]]:
    """A guideline as HTML with its language, that of the interface first; one that is empty is left out."""
    texts = [("en", english), ("zh", chinese)]
    if get_language() == "zh-hans":
        texts.reverse()
    return [(language, guideline_html(text)) for language, text in texts if text.strip()]


@require_http_methods(["GET", "HEAD", "POST"])
@own
def new_protocol(request, project):
    """The next protocol, begun from the newest. What was typed stays in the form whatever is refused."""
    project = led_project(request, project)
    newest = lead_queries.protocol_rows(project)[0]
    post = request.POST if request.method == "POST" and request.POST else None
    labels = made_labels(kind_of(project.kind), post, newest.label_schema)
    if post is not None and is_drawn_again(post):
        form = ProtocolForm(initial=typed_texts(post))
        return render(request, "annotate/new_protocol.html", page_of(project, form, newest, labels))
    form = ProtocolForm(post, initial={**first_texts(newest), "change_note": noted_gaps(project, request.GET)})
    read_names(form, labels, newest.label_schema)
    is_made = labels is None or labels.is_new or labels.schema is not None
    if post is not None and form.is_valid() and is_made:
        texts = {name: form.cleaned_data[name] for name in TEXTS}
        schema = labels and labels.schema
        try:
            setting_up.new_protocol(
                project=project, by=request.user, now=timezone.now(), label_schema=schema, **texts
            )
            return redirect("annotate:show_protocols", project=project.slug)
        except Refused as refusal:
            form.refuse(refusal)
            newest = lead_queries.protocol_rows(project)[0]
    is_wrong = bool(form.errors or (labels and labels.problems))
    context = page_of(project, form, newest, labels)
    return render(request, "annotate/new_protocol.html", context, status=422 if is_wrong else 200)


def noted_gaps(project: Project, query) -> str:
    """What the note of changes begins with where a protocol is written because of gaps, cut to its greatest length."""
    chosen = {name: [int(one) for one in query.getlist(name) if NUMBER.fullmatch(one)] for name in ("gap", "settled")}
    return rounds.change_note_of(project, **chosen)[: setting_up.MAX_CHANGE_NOTE] if any(chosen.values()) else ""


NUMBER = re.compile("[0-9]{1,15}")
TEXTS = ("guideline_en", "guideline_zh", "change_note", "after")


def typed_texts(post) -> dict[str, str]:
    return {name: post.get(name, "") for name in TEXTS}


def first_texts(newest: lead_queries.ProtocolRow) -> dict[str, object]:
    return {"guideline_en": newest.guideline_en, "guideline_zh": newest.guideline_zh, "after": newest.number}


def page_of(
    project: Project, form: ProtocolForm, newest: lead_queries.ProtocolRow, labels: MadeLabels | None
) -> dict[str, object]:
    """The form. Who was just told that somebody opened another protocol has that one's guideline beside it, and goes on
    from there; until then the form stays begun from the one its writer had before them."""
    is_told = "after" in form.errors
    return {
        "project": project,
        "title": title_of(project),
        "form": form,
        "labels": labels,
        "newest": newest,
        "theirs": both(newest.guideline_en, newest.guideline_zh) if is_told else [],
        "after": newest.number if is_told else form["after"].value(),
    }


@require_POST
def preview_guideline(request, project):
    """What was typed as annotators will read it: the piece under the form, or without script the form's page with it
    and everything else that was typed."""
    project = led_project(request, project)
    typed = typed_texts(request.POST)
    english, chinese = (typed[name][: setting_up.MAX_GUIDELINE] for name in ("guideline_en", "guideline_zh"))
    preview = {"previews": both(english, chinese), "preview_names": vendor_names(f"{english}\n{chinese}")}
    if request.htmx:
        return render(request, "annotate/_guideline_preview.html", preview)
    newest = lead_queries.protocol_rows(project)[0]
    labels = made_labels(kind_of(project.kind), {**request.POST.dict(), "do": "draw"}, newest.label_schema)
    context = {**page_of(project, ProtocolForm(initial=typed), newest, labels), **preview}
    return render(request, "annotate/new_protocol.html", context)
