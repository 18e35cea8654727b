"""The annotator's pages. Whatever they show of an item comes from `blind`; whatever they do is a service."""

import json
import re
import secrets
from functools import partial

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import blind, labeling, pools, rounds
from annotate.errors import AlreadySubmitted, NewerDraft, NotYours, PlaceGone, ReasonMissing
from annotate.forms import KEY, MAX_DRAFT_CHARACTERS, MAX_NUMBER, read_annotation, read_key, refuse_unstorable
from annotate.kinds.base import LabelError
from annotate.markdown import guideline_html
from annotate.traces.base import Problem, gettext_noop

N_ANSWERS = 50


def own(action):
    """A view of one's own things: whatever is not one's own is the one 404."""

    def view(request, *args, **kwargs):
        try:
            return action(request, *args, **kwargs)
        except NotYours:
            raise Http404 from None

    view.__name__ = action.__name__
    return view


@require_safe
def home(request):
    return render(request, "annotate/home.html", {"projects": blind.own_projects(request.user)})


@require_safe
@own
def next_item(request, project):
    """The first open item of one's plan, at its own address; or the word that all is done."""
    found = pools.next_item(request.user, project)
    if found.item is None:
        return render(request, "annotate/all_done.html", {"project": found.own, "standing": found.standing})
    return redirect("annotate:label_item", public_id=found.item.public_id)


def nothing_to_do(request, project):
    """What one is told in place of an item; all of it fixed texts about the project and one's own part."""
    own = blind.own_project(request.user, project)
    return {"project": own, "standing": pools.standing(request.user, own)}


@require_safe
@own
def label_item(request, public_id):
    try:
        item = pools.show_item(request.user, public_id)
    except PlaceGone as gone:
        return render(request, "annotate/place_gone.html", {"project": gone.project_slug}, status=409)
    if not item.was_shown or item.lease_minutes:
        labeling.mark_shown(annotator=request.user, assignment_id=public_id, now=timezone.now())
    note_settled(request, item.project_slug, [item])
    return render(request, "annotate/label_item.html", page_of(item, start=start_in(request.GET)))


def start_in(query):
    """The message from which a page of a whole trace is to begin; the first one where that is no number."""
    text = query.get("from", "")
    return int(text) if INDEX.fullmatch(text) else 0


INDEX = re.compile("[0-9]{1,9}")


@require_safe
@own
def show_entries(request, public_id):
    """Further parts of one's own item that shows its whole trace."""
    return trace_answer(request, blind.own_trace(request.user, public_id))


def trace_answer(request, trace):
    """What is asked for of a trace: the long text of a message or a call, where words stand, or its next messages; as a
    piece for the page's script, and as a page of its own without."""
    query = request.GET
    context = {"entries_url": request.path, "trace_language": trace.language}
    if "text" in query:
        index, call, start = (int(one) if INDEX.fullmatch(one) else None for one in map(query.get, *TEXT_ASKED))
        found = None if index is None else trace.text(index, call, start or 0)
        if found is None:
            raise Http404
        piece, context = "annotate/_long_text.html", {**context, "index": index, "call": call, "cut": found}
    elif "q" in query:
        words = query["q"].replace("\x00", "")
        piece, context = "annotate/_found.html", {**context, "words": words, "hits": trace.find(words)}
    else:
        piece, context = "annotate/_rows.html", {**context, "spine": trace.part(start_in(query))}
    template = piece if request.htmx else "annotate/trace_part.html"
    return render(request, template, {**context, "piece": piece})


TEXT_ASKED = ("text", "call", "at"), ("", "", "")
"""The index of a message, the place of one of its calls, and the first character, with what stands for none."""


def note_settled(request, project, shown):
    """Where what is about to be sent says what items were settled to, it is written down who saw it."""
    if any(one.settled for one in shown):
        labeling.mark_settled_seen(annotator=request.user, project_slug=project, now=timezone.now())


@require_safe
@own
def correct_item(request, public_id):
    """The form again with the stored answer in it; that one stays current until another is submitted."""
    item = blind.show_item(request.user, public_id)
    if not item.may_correct:
        return redirect("annotate:label_item", public_id=public_id)
    page = page_of(item, correcting=True, start=start_in(request.GET))
    return render(request, "annotate/label_item.html", page)


def page_of(item, *, urls=None, correcting=False, receipt=None, posted=None, problems=(), schema=None, start=0):
    """The context of the item's page and of its piece: the blind item, and what stands in the form, which is what was
    posted and refused, else the draft, else the answer. `schema` is that of the form where it is not the newest."""
    fields = draft_fields(item) if posted is None else posted
    schema = schema or item.label_schema
    urls = urls or addresses_of(item)
    values = read_fields(item.kind, fields, schema) if fields else item.label or {}
    key = posted.get("key", "") if posted else ""
    is_known_protocol = posted and not any(problem.field == "protocol" for problem in problems)
    return {
        "item": item,
        "schema": schema,
        "urls": urls,
        **trace_shown(item, urls.get("entries", ""), start),
        **said_before(item),
        "suggestions": item.suggestions,
        "values": values,
        "spans_json": json.dumps(values.get("spans") or []),
        "editable": correcting or not item.is_submitted,
        "correcting": correcting,
        "needs_reason": correcting and item.undo_id != item.public_id,
        "reason": fields.get("reason", ""),
        "receipt": receipt,
        "protocol": (is_known_protocol and posted.get("protocol")) or item.protocol,
        "key": key if KEY.fullmatch(key) else secrets.token_urlsafe(18),
        "timing": fields,
        "post_key": secrets.token_urlsafe(18),
        "gap_key": secrets.token_urlsafe(18),
        "problems": [problem.as_dict(gettext) for problem in problems],
        "title": item.project_titles[1 if get_language() == "zh-hans" else 0],
    }


def trace_shown(item, entries_url, start=0):
    """What a page shows of an item's whole trace, and where it gets further parts; nothing of any other item."""
    spine = item.trace and item.trace.part(start)
    return {"spine": spine, "entries_url": entries_url, "trace_language": item.language}


def aligned(kind, answers):
    """Answers side by side by what they name, where the kind says how: pairs of a label and its schema, in the order
    of the columns."""
    if kind.align is None or not answers:
        return []
    labels = [kind.load(label, schema) for label, schema in answers]
    return kind.align(labels, answers[-1][1])


def said_before(item):
    """The table of the answers that an informed round tells, and the names of its columns."""
    told = item.informed.answers if item.informed else ()
    names = [gettext("You") if one.is_own else gettext("Somebody else") for one in told]
    return {"aligned": aligned(item.kind, [(one.label, one.label_schema) for one in told]), "names": names}


def addresses_of(item):
    """Where the page of an assignment sends what is done on it."""
    names = {"submit": "submit_annotation", "draft": "save_draft", "problem": "report_problem"}
    names |= {"thread": "post_in_thread"} if item.is_closed else {"gap": "report_gap", "thread": "post_in_thread"}
    names |= {"entries": "show_entries"} if item.trace else {}
    return {
        **{what: reverse(f"annotate:{name}", args=[item.public_id]) for what, name in names.items()},
        "guideline": reverse("annotate:guideline", args=[item.project_slug]),
        "leave": reverse("annotate:next_item", args=[item.project_slug]),
    }


def draft_fields(item):
    """The fields of a draft that was written on top of the answer shown, none of an older one."""
    draft = item.draft or {}
    fields = draft.get("fields") if draft.get("number") == item.number else None
    return fields if isinstance(fields, dict) else {}


def read_fields(kind, fields, schema):
    """A draft's fields as the form shows them; a draft may be anything, so what cannot be read is left out."""
    try:
        return kind.read_form({name: value for name, value in fields.items() if isinstance(value, str)}, schema)
    except LabelError:
        return {}


@require_POST
@own
def submit_annotation(request, public_id):
    try:
        key = read_key(request.POST)
    except LabelError as error:
        return refuse(request, public_id, error.problems, posted=request.POST)
    receipt = labeling.find_receipt(annotator=request.user, assignment_id=public_id, key=key)
    if receipt is None:  # a known key is answered before any check
        try:
            assignment = pools.open_assignment(request.user, public_id)
        except PlaceGone as gone:
            return told_gone(request, gone.project_slug)
        try:
            new = read_annotation(
                request.POST,
                kind=assignment.kind,
                text=assignment.text,
                shown=assignment.shown,
                protocols=labeling.protocols_of(assignment),
            )
            receipt = labeling.submit_annotation(
                assignment=assignment, key=key, new=new, now=timezone.now(), shows_next=bool(request.htmx)
            )
        except LabelError as error:
            return refuse(request, public_id, error.problems, posted=request.POST)
        except ReasonMissing:
            return refuse(request, public_id, [REASON_MISSING], posted=request.POST)
        except AlreadySubmitted as error:
            return told_already(request, public_id, error.at)
    return go_on(request, receipt.project_slug, receipt=receipt)


def practised(request, receipt):
    """The practice item that was just submitted, with the expected answer beside one's own; None for any other, and
    where one may not open it any more."""
    if receipt is None or receipt.phase != "practice":
        return None
    try:
        item = blind.show_item(request.user, receipt.public_id)
    except NotYours:
        return None
    return item if item.feedback else None


REASON_MISSING = Problem(
    code="missing_field",
    field="reason",
    expected=gettext_noop("You have submitted another item since, so this is a correction and needs a reason."),
    remedy=gettext_noop("Say in a few words why."),
)


def refuse(request, public_id, problems, *, posted=None, list_id="problems"):
    """What is wrong, said in the form. To htmx only the words go, so that what was typed meanwhile stays as it is."""
    item = blind.show_item(request.user, public_id)
    if request.htmx:
        context = {"problems": [problem.as_dict(gettext) for problem in problems], "list_id": list_id}
        response = render(request, "annotate/_problems.html", context, status=422)
        return retarget(response, f"#{list_id}", "outerHTML")
    schema = schema_posted(request, item, posted)
    context = page_of(item, correcting=item.is_submitted, posted=posted, problems=problems, schema=schema)
    return render(request, "annotate/label_item.html", context, status=422)


def schema_posted(request, item, posted):
    """The label schema of the protocol that a refused form was shown under, which it keeps; None for the newest."""
    number = (posted or {}).get("protocol", "")
    if number in ("", str(item.protocol)):
        return None
    protocols = labeling.protocols_of(blind.open_assignment(request.user, item.public_id))
    return next((one.label_schema for one in protocols if str(one.number) == number), None)


def retarget(response, target, swap):
    """Have htmx put this answer elsewhere than a good one would go."""
    response["HX-Retarget"], response["HX-Reswap"] = target, swap
    return response


def told_already(request, public_id, at):
    """Another window was first: say so, keep this one's text in the page."""
    context = {"public_id": public_id, "at": at, "number": blind.stored_number(request.user, public_id)}
    if not request.htmx:
        return render(request, "annotate/already.html", context, status=409)
    return retarget(render(request, "annotate/_already.html", context, status=409), "#notice", "innerHTML")


def told_gone(request, project):
    """The item was taken back and given on: say so, keep what was typed in the page."""
    if not request.htmx:
        return render(request, "annotate/place_gone.html", {"project": project}, status=409)
    response = render(request, "annotate/_place_gone.html", {"project": project}, status=409)
    return retarget(response, "#notice", "innerHTML")


def go_on(request, project, *, receipt=None):
    """What comes next; of an answer that is stored its receipt also to who has no part in the project any more."""
    try:
        return what_follows(request, project, receipt=receipt)
    except NotYours:
        if receipt is None:
            raise
    if not request.htmx:
        return render(request, "annotate/saved_answer.html", {"receipt": receipt})
    response = render(request, "annotate/_saved_answer.html", {"receipt": receipt})
    response["HX-Push-Url"] = reverse("annotate:home")
    return response


def what_follows(request, project, *, receipt):
    """The next item, as a piece for htmx and as a redirect without script; after a practice item first its answer.
    NotYours where one has no part in the project any more, so that no redirect leads to a page that is not there."""
    done = practised(request, receipt)
    if not request.htmx:
        blind.own_project(request.user, project)
        return redirect("annotate:label_item", done.public_id) if done else redirect("annotate:next_item", project)
    item = done or blind.next_item(request.user, project)
    if item is None:
        response = render(request, "annotate/_all_done.html", nothing_to_do(request, project) | {"receipt": receipt})
        address = reverse("annotate:next_item", args=[project])
    else:
        if not item.was_shown:
            labeling.mark_shown(annotator=request.user, assignment_id=item.public_id, now=timezone.now())
        response = render(request, "annotate/_item.html", page_of(item, receipt=receipt))
        address = reverse("annotate:label_item", args=[item.public_id])
    response["HX-Push-Url"] = address
    return response


@require_POST
@own
def save_draft(request, public_id):
    """Keep what is typed so far; answers in JSON, for the page's own script."""
    try:
        draft = read_draft(request)
        labeling.save_draft(
            annotator=request.user,
            assignment_id=public_id,
            draft=draft,
            draft_number=draft["draft_number"],
            number=draft["number"],
            now=timezone.now(),
        )
    except LabelError as error:
        return JsonResponse({"problems": [problem.as_dict(gettext) for problem in error.problems]}, status=422)
    except AlreadySubmitted:
        return JsonResponse({"code": "already_submitted"}, status=409)
    except NewerDraft:
        return JsonResponse({"code": "newer_draft"}, status=409)
    except PlaceGone:
        return JsonResponse({"code": "place_gone"}, status=409)
    return JsonResponse({"saved": True})


def read_draft(request):
    """A draft is what the form holds, complete or not: its fields are texts, and only its size and numbers are
    checked."""
    raw = request.POST.get("draft", "")
    try:
        draft = json.loads(raw) if len(raw) <= MAX_DRAFT_CHARACTERS else None
    except (ValueError, RecursionError):
        draft = None
    draft = draft if isinstance(draft, dict) else {}
    numbers, fields = [draft.get(name) for name in ("number", "draft_number")], draft.get("fields")
    are_numbers = all(type(number) is int and 0 <= number <= MAX_NUMBER for number in numbers)
    if not are_numbers or not isinstance(fields, dict) or not all(isinstance(text, str) for text in fields.values()):
        raise LabelError(
            Problem(
                code="wrong_type",
                field="draft",
                expected=gettext_noop("A draft with its numbers, as the page sends it."),
                remedy=gettext_noop("Reload the page; what you typed is kept."),
            )
        )
    refuse_unstorable(fields)
    return {"number": numbers[0], "draft_number": numbers[1], "fields": fields}


@require_POST
@own
def report_problem(request, public_id):
    """End the item without a label, with a few words for the lead, and open the next."""
    text = request.POST.get("problem", "").replace("\x00", "").strip()[:2000]
    try:
        assignment = pools.open_assignment(request.user, public_id)
    except NotYours:
        return go_on(request, blind.reported_project(request.user, public_id))
    except PlaceGone as gone:
        return told_gone(request, gone.project_slug)
    if not text:
        return refuse(request, public_id, [PROBLEM_EMPTY], list_id="problem-problems")
    try:
        shows_next = bool(request.htmx)
        labeling.report_problem(assignment=assignment, text=text, now=timezone.now(), shows_next=shows_next)
    except AlreadySubmitted as error:
        return told_already(request, public_id, error.at)
    return go_on(request, assignment.project_slug)


PROBLEM_EMPTY = Problem(
    code="missing_field",
    field="problem",
    expected=gettext_noop("A problem report says what the problem is."),
    remedy=gettext_noop("Say in a few words what is wrong with this item."),
)


@require_POST
@own
def post_in_thread(request, public_id):
    """Say something to those who have the item in the same informed round."""
    return store_post(request, public_id, rounds.post_in_thread, "thread", kept=thread_piece)


@require_POST
@own
def report_gap(request, public_id):
    """Tell the lead what the guideline leaves open; what is typed in the form of the item stays there."""
    service = partial(rounds.report_gap, protocol=request.POST.get("protocol", ""))
    return store_post(request, public_id, service, "gap", kept=gap_piece)


def store_post(request, public_id, service, purpose, *, kept):
    """Words beside an item; a known key is answered before any check. Without script the item's page follows."""
    try:
        key, text = read_key(request.POST), request.POST.get("text", "").strip()[: rounds.MAX_POST]
        if not rounds.has_posted(annotator=request.user, assignment_id=public_id, key=key, purpose=purpose):
            assignment = blind.open_assignment(request.user, public_id)
            refuse_unstorable({"text": text})
            if not text:
                raise LabelError(POST_EMPTY)
            service(assignment=assignment, key=key, text=text)
    except LabelError as error:
        blind.show_item(request.user, public_id)
        if request.htmx:
            return refuse(request, public_id, error.problems, list_id=f"{purpose}-problems")
        return redirect("annotate:label_item", public_id=public_id)
    return kept(request, public_id) if request.htmx else redirect("annotate:label_item", public_id=public_id)


POST_EMPTY = Problem(
    code="missing_field",
    field="text",
    expected=gettext_noop("There is nothing to read in it."),
    remedy=gettext_noop("Write a few words, then send it again."),
)


def thread_piece(request, public_id):
    """The thread with what was just said; where one may not open the item any more, the word that it is stored."""
    try:
        item = blind.show_item(request.user, public_id)
    except NotYours:
        item = None
    context = {"item": item, "urls": item and addresses_of(item), "post_key": secrets.token_urlsafe(18)}
    return render(request, "annotate/_thread.html", context)


def gap_piece(request, public_id):
    context = {
        "urls": {"gap": reverse("annotate:report_gap", args=[public_id])},
        "protocol": request.POST.get("protocol", ""),
        "editable": "protocol" in request.POST,
        "gap_key": secrets.token_urlsafe(18),
        "is_kept": True,
    }
    return render(request, "annotate/_gap.html", context)


@require_safe
@own
def own_annotations(request, project):
    """The list of one's own submitted items, by pages of the plans: an order is a place in the plan of one round."""
    own = blind.own_project(request.user, project)
    place = PLACE.fullmatch(request.GET.get("before", ""))
    before = (int(place[1]), int(place[2])) if place else None
    answers = blind.own_annotations(request.user, project, before=before, limit=N_ANSWERS)
    note_settled(request, project, answers)
    context = {
        "project": own,
        "answers": answers,
        "more": f"{answers[-1].round}.{answers[-1].order}" if len(answers) == N_ANSWERS else None,
    }
    return render(request, "annotate/own_annotations.html", context)


PLACE = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")
"""A round and an order in it."""


@require_safe
@own
def guideline(request, project):
    """A guideline in the interface language, as a page or as the piece the labelling page opens: the newest, or that of
    `protocol`, which a form that was shown before the newest asks for, as its answer goes under that one."""
    asked = request.GET.get("protocol")
    if asked is not None and not PROTOCOL_NUMBER.fullmatch(asked):
        raise Http404
    number, english, chinese = blind.guideline(request.user, project, number=int(asked) if asked else None)
    chosen = chinese if get_language() == "zh-hans" else english
    own = blind.own_project(request.user, project)
    context = {"project": own, "number": number, "html": guideline_html(chosen or english or chinese)}
    return render(request, "annotate/_guideline.html" if request.htmx else "annotate/guideline.html", context)


PROTOCOL_NUMBER = re.compile("[0-9]{1,9}")


@require_POST
def keep_alive(request):
    """Answers while one is signed in; a page that lost its session asks before it sends again."""
    return HttpResponse(status=204)
