"""The annotator's side of the API: the pages of `views/label.py` as JSON. Whatever it shows of an item comes from
`blind`, by the fields of `shown.py`; whatever it does is a service."""

from dataclasses import replace

from django.utils import timezone

from annotate import blind, labeling, pools, rounds
from annotate.api import shown
from annotate.api.errors import BadRequest
from annotate.api.operations import Answer, operation
from annotate.api.reading import read_body, too_many
from annotate.errors import NotYours
from annotate.forms import KEY, MAX_DRAFT_CHARACTERS, new_annotation
from annotate.kinds.base import LabelError
from annotate.labeling import Timing
from annotate.traces.base import Problem, gettext_noop


def of_this_project(request, project_slug):
    """A token opens one project; its person's items of any other are as if they were not there."""
    if project_slug != request.auth.project:
        raise NotYours


def own_item(request, public_id):
    item = pools.show_item(request.user, public_id)
    of_this_project(request, item.project_slug)
    return item


def own_assignment(request, public_id):
    assignment = pools.open_assignment(request.user, public_id)
    of_this_project(request, assignment.project_slug)
    return assignment


def first_shown(request, item):
    """The item, with its first showing written down, and the lease of one from a pool begun anew."""
    if not item.was_shown or item.lease_minutes:
        labeling.mark_shown(annotator=request.user, assignment_id=item.public_id, now=timezone.now())
    if item.settled:
        labeling.mark_settled_seen(annotator=request.user, project_slug=item.project_slug, now=timezone.now())
    return item


@operation("GET", summary="Your part in the token's project", answers={200: shown.OwnProjectsSerializer})
def list_own_projects(request):
    return {"rows": [blind.own_project(request.user, request.auth.project)]}


@operation("GET", summary="The item to go on with", answers={200: shown.NextSerializer})
def next_item(request, project):
    """The first open item of your plan, or one that the pool gives you, or why there is none. Asking again gives the
    same item."""
    found = pools.next_item(request.user, project)
    return {"standing": found.standing, "item": first_shown(request, found.item) if found.item else None}


@operation("GET", summary="One of your items, open or submitted", answers={200: shown.ItemSerializer})
def show_item(request, public_id):
    return first_shown(request, own_item(request, public_id))


@operation("PUT", summary="Keep a draft", body=shown.DraftBody, answers={200: shown.SavedSerializer}, refusals=(409,))
def save_draft(request, public_id):
    """Draft and answer are apart: a late draft never changes an answer, nor a newer draft."""
    draft = read_body(shown.DraftBody, request.data)
    if sum(len(name) + len(text) for name, text in draft["fields"].items()) > MAX_DRAFT_CHARACTERS:
        raise BadRequest(too_many("fields", "/fields", MAX_DRAFT_CHARACTERS), status=422)
    own_assignment(request, public_id)
    labeling.save_draft(
        annotator=request.user,
        assignment_id=public_id,
        draft=draft,
        draft_number=draft["draft_number"],
        number=draft["number"],
        now=timezone.now(),
    )
    return {"draft_number": draft["draft_number"]}


@operation(
    "POST",
    summary="Submit an answer, or a correction of one",
    body=shown.AnswerBody,
    answers={201: shown.ReceiptSerializer, 200: shown.ReceiptSerializer},
    refusals=(409,),
)
def submit_annotation(request, public_id):
    """201 when it is stored, 200 when an answer of this key was stored before: then nothing else is looked at."""
    known = known_receipt(request, public_id)
    if known is not None:
        return Answer(with_feedback(request, known), 200)
    body = read_body(shown.AnswerBody, request.data)
    assignment = own_assignment(request, public_id)
    new = new_answer(body, protocol_said(body, assignment), assignment)
    receipt = labeling.submit_annotation(assignment=assignment, key=body["key"], new=new, now=timezone.now())
    return with_feedback(request, receipt)


def protocol_said(body, assignment):
    protocols = {protocol.number: protocol for protocol in labeling.protocols_of(assignment)}
    if body["protocol"] not in protocols:
        raise LabelError(UNKNOWN_PROTOCOL)
    return protocols[body["protocol"]]


def new_answer(body, protocol, assignment):
    """The checked answer; what is wrong with the label is named by its place in the body."""
    try:
        return new_annotation(
            data=body["label"],
            protocol=protocol,
            number=body["number"],
            draft_number=body["draft_number"],
            timing=Timing(body["raw_ms"], body["active_ms"], body["hidden_ms"]),
            reason=body["reason"].strip(),
            kind=assignment.kind,
            text=assignment.text,
            shown=assignment.shown,
        )
    except LabelError as error:
        raise LabelError(*map(in_the_label, error.problems)) from None


def in_the_label(problem):
    place = problem.pointer or (f"/{problem.field}" if problem.field else "")
    return replace(problem, pointer=f"/label{place}")


UNKNOWN_PROTOCOL = Problem(
    code="unknown_protocol",
    field="protocol",
    pointer="/protocol",
    expected=gettext_noop("The number of a protocol of this project."),
    remedy=gettext_noop("Send the one that came with the item."),
)


def known_receipt(request, public_id):
    """The receipt of an answer of this key; None without one, and without a key that can be read."""
    key = key_sent(request)
    if key is None:
        return None
    receipt = labeling.find_receipt(annotator=request.user, assignment_id=public_id, key=key)
    if receipt is not None:
        of_this_project(request, receipt.project_slug)
    return receipt


def key_sent(request):
    """The key of a body; None without one that can be read."""
    key = request.data.get("key") if isinstance(request.data, dict) else None
    return key if isinstance(key, str) and KEY.fullmatch(key) else None


def with_feedback(request, receipt):
    """The receipt's fields, and after a practice item the item as it is now, while one may still open it."""
    item = None
    if receipt.phase == "practice":
        try:
            item = blind.show_item(request.user, receipt.public_id)
        except NotYours:
            item = None
    names = ("key", "number", "submitted_at", "public_id")
    return {**{name: getattr(receipt, name) for name in names}, "item": item}


@operation("GET", summary="The answer that undo may open again", answers={200: shown.UndoSerializer})
def last_answer(request, project):
    """To undo it, submit another answer with its `number`."""
    item = blind.next_item(request.user, project) or latest(request, project)
    if item is None or item.undo_id is None:
        return {"item": None}
    return {"item": item if item.public_id == item.undo_id else blind.show_item(request.user, item.undo_id)}


def latest(request, project):
    """Any submitted item, which knows which one was the last; None where there is none."""
    newest = blind.own_annotations(request.user, project, before=None, limit=1)
    return blind.show_item(request.user, newest[0].public_id) if newest else None


@operation(
    "POST",
    summary="Report a problem in place of an answer",
    body=shown.ReportBody,
    answers={200: shown.ReportedSerializer},
    refusals=(409,),
)
def report_problem(request, public_id):
    """Ends the item without an answer and opens the next. Sent twice it is answered like the first time."""
    body = read_body(shown.ReportBody, request.data)
    try:
        assignment = own_assignment(request, public_id)
    except NotYours:
        of_this_project(request, blind.reported_project(request.user, public_id))
    else:
        labeling.report_problem(assignment=assignment, text=body["text"], now=timezone.now())
    return {"public_id": public_id, "is_reported": True}


@operation(
    "POST",
    summary="Say something in the thread of an informed round",
    body=shown.PostBody,
    answers={201: shown.PostedSerializer, 200: shown.PostedSerializer},
)
def post_in_thread(request, public_id):
    """To those who have the item in the same round, under your number. 201 when it is stored, 200 when a post of this
    key was stored before. Any other item, and one whose round is closed, has no thread to post in: 404."""
    if (known := known_post(request, public_id, "thread")) is not None:
        return known
    body = read_body(shown.PostBody, request.data)
    rounds.post_in_thread(assignment=posting_on(request, public_id), key=body["key"], text=body["text"])
    return {"key": body["key"]}


@operation(
    "POST",
    summary="Report a gap in the guideline",
    body=shown.GapBody,
    answers={201: shown.PostedSerializer, 200: shown.PostedSerializer},
)
def report_gap(request, public_id):
    """For the lead alone; the item stays what it is. 201 when it is stored, 200 when one of this key was stored
    before."""
    if (known := known_post(request, public_id, "gap")) is not None:
        return known
    body = read_body(shown.GapBody, request.data)
    assignment = posting_on(request, public_id)
    number = protocol_said(body, assignment).number
    rounds.report_gap(assignment=assignment, key=body["key"], text=body["text"], protocol=str(number))
    return {"key": body["key"]}


def known_post(request, public_id, purpose):
    """The word that a post of this key is stored; None without one."""
    key = key_sent(request)
    asked = {"annotator": request.user, "assignment_id": public_id, "project": request.auth.project}
    is_known = key is not None and rounds.has_posted(key=key, purpose=purpose, **asked)
    return Answer({"key": key}, 200) if is_known else None


def posting_on(request, public_id):
    """Words beside an item take no place in a pool."""
    assignment = blind.open_assignment(request.user, public_id)
    of_this_project(request, assignment.project_slug)
    return assignment


@operation(
    "GET", summary="The guideline", query=shown.GuidelineQuery, answers={200: shown.GuidelineSerializer}
)
def show_guideline(request, project, query):
    """The newest, or that of the protocol an item came with."""
    number, english, chinese = blind.guideline(request.user, project, number=query.get("protocol"))
    return {"protocol": number, "guideline_en": english, "guideline_zh": chinese}
