"""A lead's look at items: the list, one as its annotators see it, and the known answers of practice."""

import json
import re

from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import assigning, blind, importing, knowing, known_files, lead_queries, qualifying, queries, rounds
from annotate.errors import NotYours, Refused
from annotate.forms import refuse_unstorable
from annotate.kinds.base import LabelError, parsed
from annotate.kinds.registry import kind_of
from annotate.models import Phase
from annotate.traces.base import Place
from annotate.traces.strict_json import parse
from annotate.views.label import own, page_of, retarget, start_in, trace_answer
from annotate.views.project import led_project, title_of

N_ITEMS = 100
N_PRACTICE = 1000
MAX_REASON = 2000
MAX_NAME = 200
REASONS = ("reason_en", "reason_zh")


@require_safe
def list_items(request, project):
    """Every item by pages, of all phases or of one."""
    project = led_project(request, project)
    phase, after = request.GET.get("phase", ""), request.GET.get("after", "0")
    if phase not in ("", *Phase.values) or not (after.isascii() and after.isdecimal() and len(after) < 16):
        raise Http404
    items = lead_queries.listed_items(project, phase=phase, after=int(after), limit=N_ITEMS)
    context = {
        "project": project,
        "title": title_of(project),
        "items": items,
        "phase": phase,
        "phases": Phase.choices,
        "more": items[-1].id if len(items) == N_ITEMS else None,
    }
    return render(request, "annotate/list_items.html", context)


def looked_at(project, item_id):
    """One item of the project as annotators see it; the one 404 for any other."""
    item = blind.preview_item(project.pk, item_id) if item_id < 2**63 else None
    if item is None:
        raise Http404
    return item


@require_safe
def preview_item(request, project, item_id):
    project = led_project(request, project)
    item = looked_at(project, item_id)
    urls = {
        "leave": reverse("annotate:list_items", args=[project.slug]),
        "entries": entries_address(project, item_id),
    }
    page = page_of(item, urls=urls, start=start_in(request.GET))
    context = {**page, "editable": False, "looked_at_as": gettext("Preview"), "led": project}
    return render(request, "annotate/label_item.html", context)


def entries_address(project, item_id) -> str:
    return reverse("annotate:preview_entries", args=[project.slug, item_id])


@require_safe
def preview_entries(request, project, item_id):
    """Further parts of an item that shows its whole trace, for its lead."""
    project = led_project(request, project)
    trace = blind.previewed_trace(project.pk, item_id) if item_id < 2**63 else None
    if trace is None:
        raise Http404
    return trace_answer(request, trace)


@require_safe
def list_practice(request, project):
    """The practice items and whether each has a known answer; practice opens when all have one. And the items of later
    phases that have one, which are mixed in unmarked."""
    project = led_project(request, project)
    return render(request, "annotate/list_practice.html", practice_page(project))


def practice_page(project) -> dict[str, object]:
    items = lead_queries.listed_items(project, phase=Phase.PRACTICE, limit=N_PRACTICE)
    rule = qualifying.rule_of(project)
    return {
        "project": project,
        "title": title_of(project),
        "items": items,
        "n_known": sum(item.has_known for item in items),
        "is_ready": queries.practice_is_ready(project.pk, project.languages),
        "mixed_in": lead_queries.listed_items(project, after_practice=True, limit=N_PRACTICE),
        "rule": rule,
        "last": rule.last if rule else "",
        "percent": rule.percent if rule else "",
        "standings": qualifying.standings(project),
        "exchange": kind_of(project.kind).exchange,
    }


@require_POST
@own
def set_pass_rule(request, project):
    """From when on somebody is paused for known answers that they missed; empty fields end the rule."""
    project = led_project(request, project)
    typed = {name: request.POST.get(name, "").strip() for name in ("last", "percent")}
    numbers = {name: int(text) if WHOLE.fullmatch(text) else -1 for name, text in typed.items()}
    if not any(typed.values()):
        numbers = {"last": 0, "percent": 0}
    try:
        qualifying.set_rule(lead=request.user, project=project, now=timezone.now(), **numbers)
    except Refused as refusal:
        context = {**practice_page(project), **typed, "problem": refusal.problem.as_dict(gettext)}
        return render(request, "annotate/list_practice.html", context, status=422)
    return redirect("annotate:list_practice", project=project.slug)


WHOLE = re.compile("[0-9]{1,9}")


@require_POST
@own
def bring_known(request, project):
    """Labels that were made elsewhere, pasted in the form of the kind, or what came with the traces."""
    project, post = led_project(request, project), request.POST
    try:
        if post.get("do") == "marks":
            brought = known_files.bring_marked(lead=request.user, project=project)
        else:
            brought = known_files.bring_known(
                lead=request.user,
                project=project,
                data=pasted(post.get("labels", "")),
                file_name=post.get("name", "").strip()[:MAX_NAME] or gettext("a pasted text"),
                base=1 if post.get("base") == "1" else 0,
            )
    except (LabelError, Refused) as error:
        problems = error.problems if isinstance(error, LabelError) else [error.problem]
        said = [one.as_dict(gettext) for one in problems]
        context = {**practice_page(project), "pasted": post, "known_problems": said}
        return render(request, "annotate/list_practice.html", context, status=422)
    return render(request, "annotate/list_practice.html", {**practice_page(project), "brought": brought})


def pasted(text: str) -> object:
    """The JSON of a text; Refused where it is none."""
    found = parse(text.encode("utf-8", "surrogatepass"), Place(), caps=importing.import_caps())
    if found.problems:
        raise Refused(found.problems[0])
    return found.value


@require_http_methods(["GET", "HEAD", "POST"])
def answer_practice(request, project, item_id):
    """An item in the screen of its annotators; of a practice item with the reasons that they will be told."""
    project = led_project(request, project)
    item = looked_at(project, item_id)
    if request.method != "POST":
        return render(request, "annotate/label_item.html", known_page(project, item_id, item))
    try:
        known = read_known(request.POST, item, queries.protocols_of(project.pk)[0].label_schema)
        knowing.settle_known(
            lead=request.user, project=project, item_id=item_id, known=known, now=timezone.now()
        )
    except NotYours:
        raise Http404 from None
    except LabelError as error:
        return refuse(request, known_page(project, item_id, item, posted=request.POST, problems=error.problems))
    except Refused as refusal:
        return refuse(request, known_page(project, item_id, item, posted=request.POST, problems=[refusal.problem]))
    if not request.htmx:
        return redirect("annotate:list_practice", project=project.slug)
    items = lead_queries.listed_items(project, phase=Phase.PRACTICE, limit=N_PRACTICE)
    context = {"led": project, "items": items, "next": next((one for one in items if not one.has_known), None)}
    context["practised"] = item.phase == Phase.PRACTICE
    return render(request, "annotate/_known_saved.html", context)


def refuse(request, context):
    """What is wrong, said in the form, as where annotators answer."""
    if not request.htmx:
        return render(request, "annotate/label_item.html", context, status=422)
    response = render(request, "annotate/_problems.html", {"problems": context["problems"]}, status=422)
    return retarget(response, "#problems", "outerHTML")


def known_page(project, item_id, item, *, posted=None, problems=()):
    """The labelling page for the known answer of an item: the stored one in the form, else what was posted."""
    stored = queries.known_answer(item_id)
    urls = {
        "submit": reverse("annotate:answer_practice", args=[project.slug, item_id]),
        "guideline": reverse("annotate:guideline", args=[project.slug]),
        "leave": reverse("annotate:list_practice", args=[project.slug]),
        "entries": entries_address(project, item_id),
    }
    context = page_of(item, urls=urls, posted=posted, problems=problems)
    if stored and posted is None:
        context |= {"values": stored.label, "spans_json": json.dumps(stored.label.get("spans") or [])}
    words = (gettext("Why, in English"), gettext("Why, in Chinese"))
    texts = [(posted or {}).get(name, getattr(stored, name, "")) for name in REASONS]
    return {
        **context,
        "suggestions": (),
        "knowing": True,
        "led": project,
        "item_name": f"known-{item_id}",
        "looked_at_as": gettext("Known answer"),
        "reasons": list(zip(REASONS, texts, words, strict=True)) if item.phase == Phase.PRACTICE else [],
    }


def read_known(post, item, schema) -> knowing.Known:
    """The label and the reasons in a post; LabelError names every field that is wrong."""
    schema = schema or item.kind.schema
    data = item.kind.read_form(post, schema)
    reasons = {name: post.get(name, "").strip()[:MAX_REASON] for name in REASONS}
    refuse_unstorable({**data, **reasons})
    label = parsed(item.kind, data, schema, text=item.text, shown=item.shown)
    return knowing.Known(label=item.kind.dump(label), **reasons)


@require_POST
def reopen_items(request, project):
    """What was labelled under an older protocol goes once more to those who labelled it; with `label`, a measure and
    one of its categories, only what they labelled so."""
    project = led_project(request, project)
    measure, _, category = request.POST.get("label", "").partition("|")
    if not measure:
        assigning.reopen_for_protocol(lead=request.user, project=project, now=timezone.now())
        return redirect("annotate:show_protocols", project=project.slug)
    try:
        rounds.reopen_label_type(
            lead=request.user, project=project, measure=measure, category=category, now=timezone.now()
        )
    except Refused:
        raise Http404 from None
    return redirect("annotate:show_protocols", project=project.slug)
