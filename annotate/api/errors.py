"""One form for everything that goes wrong: `{"problems": [{"code", "field", "expected", "remedy", ...}]}`."""

import math
from dataclasses import replace
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpResponse
from django.utils.translation import gettext
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from annotate.errors import (
    AlreadySubmitted,
    AnswersChanged,
    NewerDraft,
    NotYours,
    PlaceGone,
    ReasonMissing,
    Refused,
    SettledMeanwhile,
)
from annotate.kinds.base import LabelError
from annotate.traces.base import Problem, gettext_noop
from annotate.views.label import REASON_MISSING

HERE = "/api/"
STATUSES = {"too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "no_space": HTTPStatus.INSUFFICIENT_STORAGE}
"""Of refusals by services that are about more than a wrong field."""


class BadRequest(Exception):
    """A request that is refused before anything is looked up, or because of what it asks for."""

    def __init__(self, *problems: Problem, status: int = HTTPStatus.BAD_REQUEST):
        super().__init__("; ".join(problem.sentence() for problem in problems))
        self.problems, self.status = problems, status


def answer(error, context):
    """The answer to an exception, for REST framework; None for one that nobody expected, which becomes a 500."""
    status, problems, headers = told(error, context)
    return status and Response(body_of(problems), status=status, headers=headers)


def told(error, context):
    """Status, problems and headers of an expected exception."""
    match error:
        case BadRequest():
            return error.status, error.problems, {}
        case LabelError():
            return HTTPStatus.UNPROCESSABLE_ENTITY, error.problems, {}
        case Refused():
            return STATUSES.get(error.problem.code, HTTPStatus.UNPROCESSABLE_ENTITY), [error.problem], {}
        case ReasonMissing():
            return HTTPStatus.UNPROCESSABLE_ENTITY, [REASON_MISSING], {}
        case AlreadySubmitted():
            return HTTPStatus.CONFLICT, [already_submitted(error)], {}
        case NewerDraft():
            return HTTPStatus.CONFLICT, [NEWER_DRAFT], {}
        case PlaceGone():
            return HTTPStatus.CONFLICT, [PLACE_GONE], {}
        case SettledMeanwhile():
            return HTTPStatus.CONFLICT, [SETTLED_MEANWHILE], {}
        case AnswersChanged():
            return HTTPStatus.CONFLICT, [ANSWERS_CHANGED], {}
        case NotYours() | Http404():
            return HTTPStatus.NOT_FOUND, [NOT_FOUND], {}
        case exceptions.NotAuthenticated():
            return HTTPStatus.UNAUTHORIZED, [NOT_AUTHENTICATED], {"WWW-Authenticate": error.auth_header}
        case exceptions.MethodNotAllowed():
            allowed = ", ".join(context["view"].allowed_methods)
            return HTTPStatus.METHOD_NOT_ALLOWED, [method_not_allowed(allowed)], {"Allow": allowed}
        case exceptions.UnsupportedMediaType():
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, [UNSUPPORTED_MEDIA_TYPE], {}
        case exceptions.Throttled():
            wait = str(max(math.ceil(error.wait or 0), 1))
            return HTTPStatus.TOO_MANY_REQUESTS, [too_many_requests(wait)], {"Retry-After": wait}
        case RequestDataTooBig():
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, [too_large(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)], {}
        case exceptions.ParseError() | SuspiciousOperation():
            return HTTPStatus.BAD_REQUEST, [MALFORMED_REQUEST], {}
    return None, (), {}


def body_of(problems):
    """The problems in the language asked for; what does not apply is not there."""
    said = [problem.as_dict(gettext) for problem in problems]
    return {"problems": [{name: value for name, value in one.items() if name != "file" or value} for one in said]}


def is_asked(request):
    """Whether an error page would go to somebody who asks the API."""
    return request is not None and request.path.startswith(HERE)


def early(problem, status):
    """The answer where a request did not get as far as the API's own code."""
    body = JSONRenderer().render(body_of([problem]))
    return HttpResponse(body, content_type=JSONRenderer.media_type, status=status)


NOT_FOUND = Problem(
    code="not_found",
    field="",
    expected=gettext_noop("An address that there is for this token."),
    remedy=gettext_noop("Check the address, and what the token was made for."),
)
NOT_AUTHENTICATED = Problem(
    code="not_authenticated",
    field="Authorization",
    expected=gettext_noop("A header “Authorization: Token SECRET” with a token that is valid now."),
    remedy=gettext_noop("Make a token on your account's page of tokens."),
)
UNSUPPORTED_MEDIA_TYPE = Problem(
    code="unsupported_media_type",
    field="Content-Type",
    expected=gettext_noop("A body of the type application/json."),
    remedy=gettext_noop("Send the header Content-Type: application/json."),
)
LENGTH_REQUIRED = Problem(
    code="length_required",
    field="Content-Length",
    expected=gettext_noop("A body whose length is said beforehand."),
    remedy=gettext_noop("Send it whole and not in chunks, or a file as a form."),
)
MALFORMED_REQUEST = Problem(
    code="malformed_request",
    field="",
    expected=gettext_noop("A request that can be read."),
    remedy=gettext_noop("Correct it and send it again."),
)
NEWER_DRAFT = Problem(
    code="newer_draft",
    field="draft_number",
    expected=gettext_noop("A draft with a higher number than the one that is stored."),
    remedy=gettext_noop("Read the item again; its draft was saved from elsewhere."),
)
PLACE_GONE = Problem(
    code="place_gone",
    field="",
    expected=gettext_noop("An item whose lease goes on; that of this one has ended and its place was given on."),
    remedy=gettext_noop("Ask for the next item. A draft of this one is kept."),
)
AWAY = Problem(
    code="unavailable",
    expected=gettext_noop("A database that can be reached."),
    remedy=gettext_noop("Nothing was changed; send it again after the seconds of Retry-After."),
)
FULL = Problem(
    code="no_space",
    expected=gettext_noop("Room on the server's disk."),
    remedy=gettext_noop("Nothing was changed; tell who runs the server, and send it again then."),
)
BROKEN = Problem(
    code="server_error",
    field="",
    expected=gettext_noop("Something broke on our side."),
    remedy=gettext_noop("Try again; an answer may be sent again with the same key."),
)


def already_submitted(error: AlreadySubmitted) -> Problem:
    if error.at is None:
        expected, params = gettext_noop("An item that is open; this one has ended meanwhile."), {}
    else:
        expected = gettext_noop("The number of the newest stored answer, which is from %(at)s; 0 where there is none.")
        params = {"at": error.at.isoformat(timespec="seconds")}
    return Problem(
        code="already_submitted",
        field="number",
        expected=expected,
        remedy=gettext_noop("Read the item again before you go on."),
        params=params,
    )


SETTLED_MEANWHILE = Problem(
    code="settled_meanwhile",
    field="base",
    expected=gettext_noop("The number of the last settlement; another was stored meanwhile."),
    remedy=gettext_noop("Read the item again before you go on."),
)
ANSWERS_CHANGED = Problem(
    code="answers_changed",
    field="seen",
    expected=gettext_noop("The answers as they are now; somebody answered or corrected meanwhile."),
    remedy=gettext_noop("Read the item again before you go on."),
)


def method_not_allowed(allowed: str) -> Problem:
    return Problem(
        code="method_not_allowed",
        field="",
        expected=gettext_noop("One of the methods of this address: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": allowed},
    )


def too_many_requests(wait: str) -> Problem:
    return Problem(
        code="too_many_requests",
        field="",
        expected=gettext_noop("Fewer requests in a minute."),
        remedy=gettext_noop("Wait %(wait)s seconds, then go on."),
        params={"wait": wait},
    )


def too_large(limit: int) -> Problem:
    return Problem(
        code="too_many",
        field="",
        expected=gettext_noop("A body of at most %(limit)s bytes."),
        remedy=gettext_noop("Send less at once."),
        params={"limit": limit},
    )


def sent_again(problem: Problem) -> Problem:
    """A problem of the strict JSON reader, with what to do about it here."""
    return replace(problem, remedy=gettext_noop("Correct the body and send it again."))
