"""The pages of reviewers: the queue of disagreements, one item to settle, and the end of a project. What they show of
an item comes from `reviewing`: answers by letters, and nothing of a judge."""

import json
import secrets
from urllib.parse import urlencode

from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import blind, review_queries, reviewing
from annotate.errors import AnswersChanged, Refused, SettledMeanwhile
from annotate.forms import KEY, MAX_NUMBER, read_key, refuse_unstorable, whole_number
from annotate.kinds.base import LabelError, parsed
from annotate.models import Phase, Role, Settlement
from annotate.rules.disagreement import ELSEWHERE
from annotate.rules.lanes import Mark, laned
from annotate.traces.base import gettext_noop
from annotate.views.label import aligned, own, page_of, start_in, trace_answer, trace_shown
from annotate.views.project import led_project, overview, title_of

N_ROWS = 100
LONGEST_PLACE = 9
STATE_TITLES = {
    "open": gettext_noop("not settled"),
    "waiting": gettext_noop("sent back"),
    "settled": gettext_noop("settled"),
    "unresolved": gettext_noop("unresolved"),
    "all": gettext_noop("all"),
}
KEYS = {
    "cause": dict(zip(Settlement.Cause.values, "qeat", strict=True)),
    "confidence": dict(zip(Settlement.Confidence.values, "hml", strict=True)),
}
FIELDS = ("answer", "cause", "confidence", "note", "reason")
ITS_OWN = ("csrfmiddlewaretoken", "key", "base", "seen")
"""Of the page, never taken along with what was typed."""


def shared(part) -> dict[str, object]:
    """What every page of settling says of the project, and of who looks at it."""
    return {
        "project": part.project,
        "title": title_of(part.project),
        "leads": part.role == Role.LEAD,
        "may_settle": reviewing.may_settle(part),
    }


def filters_in(query) -> dict[str, str]:
    """Phase and measure that the queue is narrowed to, which every address of it takes along."""
    return {name: query[name] for name in ("phase", "measure") if query.get(name)}


def checked_filters(query) -> dict[str, str]:
    found = filters_in(query)
    if found.get("phase", Phase.MAIN) not in review_queries.PHASES or not found.get("measure", "a").isprintable():
        raise Http404
    return found


@require_safe
@own
def settling_queue(request, project):
    """What people disagree on, what matters most first."""
    part = reviewing.part_of(request.user, project)
    state, place = request.GET.get("state", "open"), request.GET.get("after", "0")
    filters = checked_filters(request.GET)
    if state not in review_queries.STATES or not (place.isascii() and place.isdecimal()) or len(place) > LONGEST_PLACE:
        raise Http404
    first = int(place)
    queue = reviewing.show_queue(part=part, state=state, first=first, limit=N_ROWS + 1, **filters)
    titles = {name: gettext(title) for name, title in queue.measures.items()}
    titles[ELSEWHERE] = gettext("marked passages or what no measure reads")
    context = {
        **shared(part),
        "rows": [row_of(row, titles) for row in queue.rows[:N_ROWS]],
        "states": [(name, gettext(STATE_TITLES[name]), queue.counts.get(name)) for name in review_queries.STATES],
        "state": state,
        "phases": [(phase.value, phase.label) for phase in review_queries.PHASES],
        "measures": list(titles.items()),
        **{"phase": filters.get("phase", ""), "measure": filters.get("measure", "")},
        "query": urlencode(filters),
        "n_left": queue.n_left,
        "more": first + N_ROWS if len(queue.rows) > N_ROWS else None,
    }
    return render(request, "annotate/settle_queue.html", context)


def row_of(row, titles) -> dict[str, object]:
    return {
        "public_id": row.public_id,
        "phase": Phase(row.phase).label,
        "language": row.language,
        "weight": round(100 * row.weight),
        "differing": [titles.get(name, name) for name in row.differing],
        "n_labels": row.n_labels,
        "state": gettext(STATE_TITLES[row.state]),
    }


@require_safe
@own
def settle_item(request, project, disagreement_id):
    """One item: the text once, the answers side by side, and the form of the decision. With `write` the kind's own
    form."""
    part = reviewing.part_of(request.user, project)
    card = reviewing.open_card(part=part, public_id=disagreement_id)
    filters = checked_filters(request.GET)
    if "write" in request.GET and card.may_settle:
        return render(request, "annotate/label_item.html", written_page(part, card, filters))
    page = card_page(part, card, filters, again="again" in request.GET, start=start_in(request.GET))
    return render(request, "annotate/settle_item.html", page)


@require_safe
@own
def settling_entries(request, project, disagreement_id):
    """Further parts of an item that shows its whole trace."""
    part = reviewing.part_of(request.user, project)
    disputed = review_queries.disputed_item(part.project, disagreement_id)
    trace = disputed and blind.previewed_trace(part.project_id, disputed.item)
    if not trace:
        raise Http404
    return trace_answer(request, trace)


def card_page(part, card, filters, *, posted=None, problems=(), again=False, said="", start=0) -> dict[str, object]:
    """The context of an item's page; `again` opens the form of one that is settled already."""
    posted = posted or {}
    marks = [Mark(*place_of(span), one.name) for one in card.answers for span in one.label.get("spans") or ()]
    project = part.project.slug
    chosen = {name: posted.get(name, "") for name in FIELDS}
    urls = addresses_of(project, card.public_id, filters)
    return {
        **shared(part),
        **trace_shown(card.item, urls["entries"], start),
        "card": card,
        "item": card.item,
        "schema": card.schema,
        "reply": laned(card.item.pieces, marks, looks_of(card)),
        "who": list(dict.fromkeys(mark.who for mark in marks)),
        "aligned": aligned(card.item.kind, [(one.label, one.schema) for one in card.answers]),
        "names": [one.name for one in card.answers],
        "apart": [row for row in card.compared if row.differs],
        "alike": [row for row in card.compared if not row.differs],
        "answers": [(place if place < 10 else None, one) for place, one in enumerate(card.answers, 1)],
        "is_open": card.may_settle and (again or card.current is None or bool(problems)),
        "chosen": chosen,
        **choices(chosen),
        "key": key_of(posted),
        "sending_key": secrets.token_urlsafe(18),
        "problems": [problem.as_dict(gettext) for problem in problems],
        "said": said,
        "urls": urls,
        "next": next_address(part.project, card.public_id, filters),
        "state": gettext(STATE_TITLES[state_of(card)]),
    }


def looks_of(card):
    """Of the marks in all answers, whatever protocol they were given under."""
    return card.item.kind.looks([*(one.schema for one in card.answers), card.schema])


def place_of(span) -> tuple[int, int, str]:
    return span["start"], span["end"], span["type"]


def state_of(card) -> str:
    if card.current is None:
        return "waiting" if card.n_waiting else "open"
    return "unresolved" if card.current.label is None else "settled"


def key_of(posted) -> str:
    key = posted.get("key", "")
    return key if KEY.fullmatch(key) else secrets.token_urlsafe(18)


def choices(chosen) -> dict[str, list[dict[str, object]]]:
    """Causes and confidences with the keys they are chosen by."""
    said = {"cause": Settlement.Cause.choices, "confidence": Settlement.Confidence.choices}
    return {
        f"{field}_choices": [
            {"value": value, "words": words, "key": KEYS[field][value], "is_chosen": chosen[field] == value}
            for value, words in offered
        ]
        for field, offered in said.items()
    }


def addresses_of(project: str, public_id: str, filters) -> dict[str, str]:
    query = f"?{urlencode(filters)}" if filters else ""
    joint = "&" if filters else "?"
    here = reverse("annotate:settle_item", args=[project, public_id]) + query
    return {
        "here": here,
        "again": f"{here}{joint}again=1",
        "write": f"{here}{joint}write=1",
        "store": reverse("annotate:store_settlement", args=[project, public_id]) + query,
        "send_back": reverse("annotate:send_item_back", args=[project, public_id]) + query,
        "queue": reverse("annotate:settling_queue", args=[project]) + query,
        "entries": reverse("annotate:settling_entries", args=[project, public_id]),
        "guideline": reverse("annotate:guideline", args=[project]),
        "verdict": reverse("scoring:settled_verdict", args=[project, public_id]),
    }


def next_address(project, public_id: str, filters) -> str | None:
    found = review_queries.next_open(
        project, phase=filters.get("phase", ""), measure=filters.get("measure", ""), but=public_id
    )
    return found and addresses_of(project.slug, found, filters)["here"]


def written_page(part, card, filters, *, posted=None, problems=()) -> dict[str, object]:
    """The labelling page for a label of the reviewer's own, with what goes with it. It begins with what stands."""
    urls = addresses_of(part.project.slug, card.public_id, filters)
    context = page_of(
        card.item,
        urls={
            "submit": urls["store"],
            "guideline": urls["guideline"],
            "leave": urls["here"],
            "entries": urls["entries"],
        },
        posted=posted,
        problems=problems,
        schema=card.schema,
    )
    current = card.current
    if posted is None and current is not None and current.label is not None:
        context |= {"values": current.label, "spans_json": json.dumps(current.label.get("spans") or [])}
    chosen = {name: (posted or {}).get(name, "") for name in FIELDS}
    return {
        **context,
        **choices(chosen),
        "suggestions": (),
        "settling": True,
        "chosen": chosen,
        "card": card,
        "item_name": f"settle-{card.public_id}-{card.base}",
        "looked_at_as": gettext("A label of your own"),
    }


@require_POST
@own
def store_settlement(request, project, disagreement_id):
    """Store what was decided; a known key is answered before any check."""
    filters = checked_filters(request.GET)
    here = addresses_of(project, disagreement_id, filters)["here"]
    try:
        key = read_key(request.POST)
        known = reviewing.find_settled(reviewer=request.user, slug=project, public_id=disagreement_id, key=key)
        if known is None:
            part = reviewing.part_of(request.user, project)
            card = reviewing.open_card(part=part, public_id=disagreement_id)
            reviewing.settle_item(
                reviewer=request.user,
                slug=project,
                public_id=disagreement_id,
                key=key,
                base=whole_number(request.POST, "base", most=MAX_NUMBER),
                seen=request.POST.get("seen", ""),
                decision=read_decision(request.POST, card),
            )
    except LabelError as error:
        return refuse(request, project, disagreement_id, filters, error.problems)
    except (SettledMeanwhile, AnswersChanged) as error:
        return told_other(request, project, disagreement_id, filters, is_settled=isinstance(error, SettledMeanwhile))
    if not request.htmx:
        return redirect(here)
    context = {"urls": addresses_of(project, disagreement_id, filters), "saved": True}
    context["next"] = next_address(reviewing.part_of(request.user, project).project, disagreement_id, filters)
    return render(request, "annotate/_settled.html", context)


def read_decision(post, card) -> reviewing.Decision:
    """What a post decides; LabelError names every field that is wrong."""
    words = {name: post.get(name, "").replace("\r\n", "\n").strip() for name in ("cause", "confidence", "note")}
    answer, label = post.get("answer", ""), None
    if answer == "written":
        label = card.item.kind.read_form(post, card.schema)
    elif answer != "unresolved" and not any(answer == one.name for one in card.answers):
        raise LabelError(reviewing.UNKNOWN_ANSWER, *reviewing.missing(reviewing.Decision(**words)))
    refuse_unstorable({**words, **(label or {})})
    adopted = "" if answer in ("written", "unresolved") else answer
    return reviewing.Decision(adopted=adopted, label=label, **words)


def refuse(request, project, public_id, filters, problems):
    """What is wrong, said in the form, as where annotators answer."""
    part = reviewing.part_of(request.user, project)
    card = reviewing.open_card(part=part, public_id=public_id)
    if request.htmx:
        context = {"problems": [problem.as_dict(gettext) for problem in problems]}
        response = render(request, "annotate/_problems.html", context, status=422)
        response["HX-Retarget"], response["HX-Reswap"] = "#problems", "outerHTML"
        return response
    if request.POST.get("answer") == "written":
        context = written_page(part, card, filters, posted=request.POST, problems=problems)
        return render(request, "annotate/label_item.html", context, status=422)
    context = card_page(part, card, filters, posted=request.POST, problems=problems)
    return render(request, "annotate/settle_item.html", context, status=422)


def told_other(request, project, public_id, filters, *, is_settled):
    """Somebody was first, or an answer is another now: both values on one page, and what was decided here is kept in
    its form, to be stored over the other or left."""
    part = reviewing.part_of(request.user, project)
    card = reviewing.open_card(part=part, public_id=public_id)
    answer = request.POST.get("answer", "")
    adopted = next((one for one in card.answers if one.name == answer), None) if is_settled else None
    typed = [(name, value) for name, value in request.POST.items() if name not in ITS_OWN]
    context = {
        **shared(part),
        "card": card,
        "item": card.item,
        "is_settled": is_settled,
        "urls": addresses_of(project, public_id, filters),
        "typed": typed,
        "answer": answer,
        "may_store": is_settled or answer in ("written", "unresolved"),
        "mine": adopted.label if adopted else posted_label(request.POST, card) if answer == "written" else None,
        "schema": adopted.schema if adopted else card.schema,
        "cause": dict(Settlement.Cause.choices).get(request.POST.get("cause"), ""),
        "confidence": dict(Settlement.Confidence.choices).get(request.POST.get("confidence"), ""),
        "note": request.POST.get("note", ""),
        "key": secrets.token_urlsafe(18),
    }
    template = "annotate/_settle_conflict.html" if request.htmx else "annotate/settle_conflict.html"
    return render(request, template, context, status=409)


def posted_label(post, card):
    """A label as it was typed, for show; None where it cannot be read."""
    try:
        label = card.item.kind.read_form(post, card.schema)
        label = parsed(card.item.kind, label, card.schema, text=card.item.text, shown=card.item.shown)
        return card.item.kind.dump(label)
    except LabelError:
        return None


@require_POST
@own
def send_item_back(request, project, disagreement_id):
    """Once more to those who were ticked, with the reason."""
    filters = checked_filters(request.GET)
    reason = request.POST.get("reason", "").replace("\r\n", "\n").strip()
    try:
        key = read_key(request.POST)
        refuse_unstorable({"reason": reason})
        reviewing.send_back(
            reviewer=request.user,
            slug=project,
            public_id=disagreement_id,
            key=key,
            seen=request.POST.get("seen", ""),
            names=request.POST.getlist("names"),
            reason=reason,
            now=timezone.now(),
        )
    except LabelError as error:
        return not_sent(request, project, disagreement_id, filters, error.problems)
    except Refused as refusal:
        return not_sent(request, project, disagreement_id, filters, [refusal.problem])
    except AnswersChanged:
        return told_other(request, project, disagreement_id, filters, is_settled=False)
    return redirect(addresses_of(project, disagreement_id, filters)["here"])


def not_sent(request, project, public_id, filters, problems):
    """The page again, with the reason as it was typed."""
    part = reviewing.part_of(request.user, project)
    card = reviewing.open_card(part=part, public_id=public_id)
    context = card_page(part, card, filters, posted=request.POST, problems=problems)
    return render(request, "annotate/settle_item.html", context, status=422)


@require_POST
@own
def close_project(request, project):
    """All labelling of a project ends for good."""
    project = led_project(request, project)
    try:
        reviewing.close_project(
            lead=request.user,
            project=project,
            show_settled=request.POST.get("show_settled") == "yes",
            knowingly=request.POST.get("knowingly") == "yes",
            now=timezone.now(),
        )
    except Refused as refusal:
        context = {**overview(project), "problem": refusal.problem.as_dict(gettext)}
        return render(request, "annotate/show_project.html", context, status=422)
    return redirect("annotate:show_project", project=project.slug)
