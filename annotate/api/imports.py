"""Trace files that leads upload, and what became of them."""

from django.urls import reverse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser

from annotate import lead_queries, uploading
from annotate.api.errors import BadRequest, body_of
from annotate.api.fields import Moment, Switch, Text
from annotate.api.operations import LEADS, Answer, ProblemSerializer, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import Query, unknown_fields
from annotate.errors import NotYours
from annotate.models import Phase, Work
from annotate.traces.base import Problem, gettext_noop
from annotate.traces.kept import from_row


class ImportSerializer(serializers.Serializer):
    """A file on its way in, or what became of it."""

    id = serializers.IntegerField()
    state = serializers.SerializerMethodField()
    file = serializers.CharField(source="payload.file_name")
    phase = serializers.ChoiceField(Phase.values, source="payload.phase")
    n_done = serializers.IntegerField(help_text="Bytes read.")
    n_total = serializers.IntegerField(allow_null=True, help_text="Bytes there are.")
    error = serializers.SerializerMethodField(help_text="Why it was given up, or is to be tried once more.")
    created_at = Moment()
    ended_at = Moment(allow_null=True)

    @extend_schema_field({"type": "string", "enum": ["waiting", "running", "imported", "refused", "given_up"]})
    def get_state(self, row):
        if row.state == Work.State.DONE:
            return (row.result or {}).get("state", "imported")
        return "given_up" if row.state == Work.State.DEAD else row.state

    def get_error(self, row) -> str:
        return gettext(row.error) if row.error else ""


class ImportReportSerializer(serializers.Serializer):
    """What was found in the file. One with problems is refused whole, unless `skip_bad` was said."""

    format = serializers.CharField()
    counts = serializers.DictField()
    problems = ProblemSerializer(many=True)
    warnings = ProblemSerializer(many=True)


class OneImportSerializer(ImportSerializer):
    report = ImportReportSerializer(allow_null=True)


class UploadSerializer(serializers.Serializer):
    file = serializers.FileField()


class UploadQuery(Query):
    file_name = Text(default="", allow_blank=True, help_text="What people know the file by.")
    phase = serializers.ChoiceField(Phase.values, default=Phase.MAIN)
    format = Text(default="auto", help_text="Told by content without.")
    skip_bad = Switch(default=False, help_text="Import what is good of a bad file.")
    replace_nul = Switch(default=False, help_text="Map U+0000 to U+2400.")


class FormParts(MultiPartParser):
    """A form, in whatever letters its type is written."""

    def parse(self, stream, media_type=None, parser_context=None):
        kind, *rest = media_type.partition(";")
        return super().parse(stream, "".join([kind.strip().lower(), *rest]), parser_context)


@operation(
    "GET",
    audience=LEADS,
    summary="Files that were uploaded, newest first",
    query=PageQuery,
    answers={200: page_serializer(ImportSerializer)},
)
def list_imports(request, project, query):
    project = led_project(request, project)

    def fetch(behind, limit):
        rows = project.work.filter(kind=uploading.KIND).order_by("-pk")
        return (rows if behind is None else rows.filter(pk__lt=behind))[:limit]

    return page_of(fetch, query, name=f"imports {project.slug}")


@operation(
    "POST",
    audience=LEADS,
    summary="Upload a file of traces",
    query=UploadQuery,
    body={"multipart/form-data": UploadSerializer, "application/octet-stream": OpenApiTypes.BINARY},
    answers={202: ImportSerializer},
    refusals=(507,),
    parsers=(FormParts,),
)
def upload_traces(request, project, query):
    """The file as a form's `file`, or as the body itself under any other Content-Type. It is read in the background;
    the answer says where to look how far it is."""
    project, file = led_project(request, project), received_file(request)
    name = query.pop("file_name") or getattr(file, "name", "")
    said = int(request.META["CONTENT_LENGTH"]) if isinstance(file, RawBody) else None  # a body cut off is not shorter
    row = uploading.receive_upload(project=project, by=request.user, file=file, file_name=name, n_bytes=said, **query)
    return Answer(row, 202, {"Location": reverse("annotate:api:import", args=[project.slug, row.pk])})


class RawBody:
    """The body of a request as a file, under a name to go by where none is said."""

    name = "upload"

    def __init__(self, stream):
        self.read = stream.read


def received_file(request):
    """A form's file, or the body; None where there is neither."""
    if request.content_type.partition(";")[0].strip().lower() != FormParts.media_type:
        return RawBody(request.stream) if request.stream else None
    if unknown := sorted(set(request.data) - {"file"}):
        raise BadRequest(*unknown_fields(unknown, ["file"]))
    if len(request.FILES) and len(request.data.getlist("file")) > 1:
        raise BadRequest(TWO_FILES)
    return request.FILES.get("file")


TWO_FILES = Problem(
    code="duplicate_key",
    field="file",
    expected=gettext_noop("One part of the form named “file”."),
    remedy=gettext_noop("Send every file by itself."),
)


@operation("GET", audience=LEADS, summary="What became of a file", answers={200: OneImportSerializer})
def show_import(request, project, work_id):
    project = led_project(request, project)
    row = lead_queries.import_job(project, work_id)
    if row is None:
        raise NotYours
    row.report = report_of(row)
    return row


def report_of(row):
    """The report of a job that is done, its sentences in the language asked for."""
    batch = lead_queries.batch_of_job(row) if row.state == Work.State.DONE else None
    if batch is None:
        return None
    said = {name: body_of(map(from_row, getattr(batch, name)))["problems"] for name in ("problems", "warnings")}
    return {"format": batch.format, "counts": batch.counts, **said}
