"""What an address of the API can do. An operation says once whom it serves, what it takes and what it answers: requests
are held to that, and the OpenAPI document is made from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.utils import translation
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.api import errors
from annotate.api.authentication import TokenAuthentication, TokenThrottle
from annotate.api.reading import Query, StrictJson, read_query
from annotate.errors import NotYours
from annotate.middleware import open_to_all
from annotate.models import Role

MEMBERS, REVIEWERS, LEADS = "members", "reviewers", "leads"
REFUSALS = {
    400: "It cannot be read, or holds a field or query name that there is not.",
    401: "No token that is valid now.",
    404: "Missing, locked, or not for this token: told apart by nothing.",
    409: "Something else was stored first.",
    411: "A body without its Content-Length.",
    413: "More than is taken at once.",
    415: "Another Content-Type than is taken.",
    422: "A field is missing or wrong.",
    429: "Too many requests; Retry-After says how long to wait.",
    507: "No room for the file on the server.",
}
ALWAYS = (400, 401, 404, 429)
WITH_A_BODY = (411, 413, 415, 422)


class ProblemSerializer(serializers.Serializer):
    """One thing that is wrong: a code for programs, and two sentences for people in the language asked for."""

    code = serializers.CharField()
    field = serializers.CharField(help_text="The field or query name, empty where it is none.")
    expected = serializers.CharField()
    remedy = serializers.CharField()
    pointer = serializers.CharField(required=False, help_text="JSON pointer into the body.")
    line = serializers.IntegerField(required=False)
    file = serializers.CharField(required=False)


class ProblemsSerializer(serializers.Serializer):
    """The body of every answer from 400 on."""

    problems = ProblemSerializer(many=True)


@dataclass(frozen=True)
class Operation:
    """`answers` are the good statuses with their serializers, the usual one first; `refusals` the other ones."""

    method: str
    action: Callable[..., Any]
    summary: str
    audience: str
    answers: Mapping[int, Any]
    query: type[Query] = Query
    body: Any = None
    refusals: tuple[int, ...] = ()
    parsers: tuple[type[BaseParser], ...] = (StrictJson,)

    def responses(self) -> dict[int, Any]:
        refused = sorted({*ALWAYS, *(WITH_A_BODY if self.body else ()), *self.refusals})
        return {
            **{code: OpenApiResponse(of, HTTPStatus(code).phrase) for code, of in self.answers.items()},
            **{code: OpenApiResponse(ProblemsSerializer, REFUSALS[code]) for code in refused},
        }


@dataclass(frozen=True)
class Answer:
    """What an action hands back where the status is not its usual one, or there is something to say in a header."""

    value: Any
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


def operation(method: str, *, audience: str = MEMBERS, **said):
    """Mark a function as an operation. It gets the request, the arguments of its address and, where it has a query,
    its values; what it returns is sent by the serializer of its usual answer, or as an `Answer`."""

    def mark(action):
        action.operation = Operation(method=method, action=action, audience=audience, **said)
        return action

    return mark


def language_asked_for(request) -> str:
    """By the header alone: Django's own look-up asks a cookie first."""
    bare = HttpRequest()
    bare.META["HTTP_ACCEPT_LANGUAGE"] = request.headers.get("Accept-Language", "")
    return translation.get_language_from_request(bare)


class AlwaysJson(DefaultContentNegotiation):
    """The one form there is, whatever the Accept header or the query ask for."""

    def select_renderer(self, request, renderers, format_suffix=None):
        return renderers[0], renderers[0].media_type


class Address(APIView):
    """Asks, before anything else, for a token of the right part and project: anything else is the one 404."""

    renderer_classes = [JSONRenderer]
    parser_classes = [StrictJson]
    authentication_classes = [TokenAuthentication]
    permission_classes = []
    throttle_classes = [TokenThrottle]
    content_negotiation_class = AlwaysJson
    metadata_class = None
    audience = MEMBERS

    def initial(self, request, *args, **kwargs):
        """Token and rate first, so that asking for what is not there is bounded too."""
        super().initial(request, *args, **kwargs)
        self.check_part(request)
        if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
            raise errors.BadRequest(errors.LENGTH_REQUIRED, status=HTTPStatus.LENGTH_REQUIRED)

    def check_part(self, request):
        if not all(str(value).isprintable() for value in self.kwargs.values()):
            raise NotYours  # nothing is called so, and a database may not even be asked for it
        if self.audience == REVIEWERS and request.auth.role not in (Role.REVIEWER, Role.LEAD):
            raise NotYours
        if self.audience == LEADS and request.auth.role != Role.LEAD:
            raise NotYours
        if self.kwargs.get("project", request.auth.project) != request.auth.project:
            raise NotYours

    def dispatch(self, request, *args, **kwargs):
        """In the language that the request asks for; what a browser's cookies say counts for nothing here."""
        with translation.override(language_asked_for(request)):
            response = super().dispatch(request, *args, **kwargs)
            response["Content-Language"] = translation.get_language()
        return response

    def options(self, request, *args, **kwargs):
        """Says nothing: what there is stands in the document, which is for leads."""
        raise MethodNotAllowed(request.method)

    @property
    def allowed_methods(self):
        return [method for method in super().allowed_methods if method != "OPTIONS"]

    @property
    def default_response_headers(self):
        return {}  # no Allow, so that one 404 is like the other

    def get_exception_handler(self):
        return errors.answer


class Absent(Address):
    """Every other path below /api/: told apart by nothing from a thing that is not one's own."""

    schema = None

    def check_part(self, request):
        raise NotYours


def address(*actions):
    """The view of an address with these operations, each of another method and all for the same people."""
    operations = [action.operation for action in actions]
    (audience,) = {one.audience for one in operations}
    methods = {one.method.lower(): documented(one)(method_of(one)) for one in operations}
    parsers = list(dict.fromkeys(parser for one in operations for parser in one.parsers))
    said = {"audience": audience, "parser_classes": parsers}
    return open_to_all(type("OfAddress", (Address,), {**methods, **said}).as_view())


def method_of(one: Operation):
    def method(view, request, **values):
        query = read_query(one.query, request.query_params)
        result = one.action(request, **values, **({} if one.query is Query else {"query": query}))
        status, serializer = next(iter(one.answers.items()))
        if not isinstance(result, Answer):
            result = Answer(result, status)
        return Response(sent(result.value, serializer), status=result.status, headers=dict(result.headers))

    return method


def sent(value, serializer):
    """The fields that the serializer names, and no other."""
    is_named = isinstance(serializer, type) and issubclass(serializer, serializers.Serializer)
    return serializer(value).data if is_named else value


def documented(one: Operation):
    return extend_schema(
        operation_id=one.action.__name__,
        summary=one.summary,
        description=one.action.__doc__ or f"{one.summary}.",
        tags=[one.audience],
        parameters=[one.query] if one.query is not Query else [],
        request=one.body,
        responses=one.responses(),
    )
