"""Leaks as somebody might make them, to be planted one by one: each has to raise an alarm in the crawl.

They hand a model to a page, which the product never does, and then show a little of it. Those that are called as in
`named.py` are among the sixteen of which none may be missing; `instead` says where one is planted whose own channel the
product does not have.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.template import engines
from django.template.loaders.locmem import Loader
from rest_framework import serializers

from annotate import blind, queries
from annotate.api import shown
from annotate.api.authentication import Key, TokenAuthentication
from annotate.models import Annotation, Assignment, Invite, Item, Membership, Post, SentBack, Trace
from annotate.views import joining, label
from scoring import views as agreement

ITEM, PROBLEMS = "annotate/_item.html", "annotate/_problems.html"
OPENING = '<div id="item"'


@dataclass(frozen=True)
class Leak:
    """`route` is where it shows, `kind` the alarm it has to raise, `place` the field that gets out."""

    name: str
    plant: Callable
    route: str
    kind: str
    place: str = ""
    instead: str = ""


def row_of(request):
    """The assignment of the page's address, for which no page has a use."""
    public_id = request.resolver_match.kwargs.get("public_id", "")
    return Assignment.objects.select_related("item__trace__batch").filter(public_id=public_id).first()


def in_template(name, old, new):
    """The template as it is but for one change, before the real one, with the assignment's row in reach of it."""

    def plant(patch):
        engine, render = engines["django"].engine, label.render
        source = engine.get_template(name).source
        assert old in source, f"{name} has no {old!r} any more; plant the leak elsewhere"
        loaders = [Loader(engine, {name: source.replace(old, new, 1)}), *engine.template_loaders]
        patch.setitem(engine.__dict__, "template_loaders", loaders)

        def render_with_row(request, template, context, **more):
            row = row_of(request)
            return render(request, template, {**context, "row": row, "trace": row and row.item.trace}, **more)

        patch.setattr(label, "render", render_with_row)

    return plant


def in_header(header, value):
    """A header made from the row, on every page and piece of the labelling views."""

    def plant(patch):
        render = label.render

        def render_and_tell(request, template, context, **more):
            response = render(request, template, context, **more)
            if row := row_of(request):
                response[header] = value(row.item)
            return response

        patch.setattr(label, "render", render_and_tell)

    return plant


def forbidden_instead_of_missing(patch):
    own_row = blind.own_row

    def tell(person, public_id):
        if Assignment.objects.filter(public_id=public_id).exclude(annotator__person=person).exists():
            raise PermissionDenied
        return own_row(person, public_id)

    patch.setattr(blind, "own_row", tell)


def in_json(value):
    """More in the JSON of an item than is named: what `value` makes of its row."""

    def plant(patch):
        to_representation = shown.ItemSerializer.to_representation

        def and_more(serializer, item):
            row = Assignment.objects.select_related("item__trace").get(public_id=item.public_id)
            return {**to_representation(serializer, item), **value(row.item)}

        patch.setattr(shown.ItemSerializer, "to_representation", and_more)

    return plant


class WholeTrace(serializers.ModelSerializer):
    class Meta:
        model = Trace
        fields = "__all__"


def by_cookie(patch):
    def authenticate(self, request):
        part = request._request.user.memberships.select_related("project").first()
        return part.person, Key(0, part.project.slug, part.role)

    patch.setattr(TokenAuthentication, "authenticate", authenticate)


def settled_before_the_end(patch):
    patch.setattr(blind, "tells_settled", lambda row: row.phase != "practice")


def reason_by_item(patch):
    """Of whoever the item was sent back to."""

    def reason(assignment_id):
        item = Assignment.objects.get(pk=assignment_id).item_id
        sent = SentBack.objects.filter(assignment__item=item)
        return " ".join(sent.values_list("reason", flat=True))

    patch.setattr(queries, "sent_back_reason", reason)


def answers_of_the_same_round(patch):
    def said(row):
        given = Annotation.objects.filter(assignment__item=row.item_id, is_current=True)
        values = given.values_list("assignment__annotator", "assignment__public_id", "label")
        return [queries.SaidEarlier(*one, {}) for one in values.order_by("assignment__round__number")]

    patch.setattr(queries, "said_earlier", said)


def thread_with_names(patch):
    thread_of = queries.thread_of

    def and_names(row):
        codes = dict(Membership.objects.values_list("pk", "code"))
        return [(member, f"{codes[member]}: {text}") for member, text in thread_of(row)]

    patch.setattr(queries, "thread_of", and_names)


def gaps_in_the_thread(patch):
    def everything(row):
        return list(Post.objects.filter(item=row.item_id, round=row.round_id).values_list("author", "text"))

    patch.setattr(queries, "thread_of", everything)


def arms_in_a_column(patch):
    """Which leads may download, and must not be told by accident."""
    lines_of = agreement.axis_lines

    def and_arms(measure):
        arms = " ".join(Item.objects.values_list("arm", flat=True))
        return [[*line, arms] for line in lines_of(measure)]

    patch.setattr(agreement, "AXIS_COLUMNS", (*agreement.AXIS_COLUMNS, "arms"))
    patch.setattr(agreement, "axis_lines", and_arms)


def note_in_the_title(patch):
    title_for = joining.title_for

    def and_note(invite):
        notes = Invite.objects.filter(project=invite.project).values_list("note", flat=True)
        return f"{title_for(invite)}: {' '.join(notes)}"

    patch.setattr(joining, "title_for", and_note)


LEAKS = (
    Leak(
        "data attribute",
        in_template(ITEM, OPENING, f'{OPENING} data-source="{{{{ trace.source_id }}}}"'),
        "annotate:label_item",
        "token",
        "Trace.source_id",
    ),
    Leak(
        "HTML comment",
        in_template(ITEM, OPENING, f"<!-- {{{{ trace.metadata.model }}}} -->{OPENING}"),
        "annotate:label_item",
        "token",
        "Trace.metadata",
    ),
    Leak(
        "a part of a trajectory",
        in_template("annotate/_rows.html", "{% for row in", "<li>{{ trace.metadata.model }}</li>{% for row in"),
        "annotate:show_entries",
        "token",
        "Trace.metadata",
    ),
    Leak(
        "JSON in a script element",
        in_template(ITEM, OPENING, f'{{{{ trace.metadata|json_script:"trace" }}}}{OPENING}'),
        "annotate:label_item",
        "token",
        "Trace.metadata",
    ),
    Leak(
        "file name in download",
        in_header("Content-Disposition", lambda item: f'inline; filename="{item.trace.batch.file_name}.html"'),
        "annotate:label_item",
        "token",
        "ImportBatch.file_name",
    ),
    Leak(
        "error partial only",
        in_template(PROBLEMS, "<ul", "{% if problems and request.htmx %}<i>{{ row.item.arm }}</i>{% endif %}<ul"),
        "annotate:submit_annotation",
        "token",
        "Item.arm",
    ),
    Leak(
        "expected answer before the submit",
        in_template(ITEM, OPENING, f'{OPENING} title="{{{{ row.item.settlements.first.reason_en }}}}"'),
        "annotate:label_item",
        "token",
        "Settlement.reason_en",
    ),
    Leak(
        "extra JSON field",
        in_json(lambda item: {"source": item.trace.source_id}),
        "annotate:api:next_item",
        "token",
        "Trace.source_id",
    ),
    Leak(
        "nested serializer",
        in_json(lambda item: {"trace": WholeTrace(item.trace).data}),
        "annotate:api:item",
        "token",
        "Trace.metadata",
    ),
    Leak("the API opened by a cookie", by_cookie, "annotate:api:own_projects", "by cookie"),
    Leak("403 of the API in place of the one 404", forbidden_instead_of_missing, "annotate:api:item", "one 404"),
    Leak("403 for foreign rows", forbidden_instead_of_missing, "annotate:label_item", "one 404"),
    Leak(
        "what was settled, in a project that goes on",
        settled_before_the_end,
        "annotate:label_item",
        "token",
        "Settlement.label",
    ),
    Leak("the reason of another one's item", reason_by_item, "annotate:api:item", "token", "SentBack.reason"),
    Leak("answers of the same round", answers_of_the_same_round, "annotate:label_item", "token", "Annotation.label"),
    Leak("names in the thread", thread_with_names, "annotate:api:item", "token", "Membership.code"),
    Leak("gaps in the thread", gaps_in_the_thread, "annotate:label_item", "token", "Post.text"),
    Leak(
        "ETag from a hidden field",
        in_header("ETag", lambda item: f'"{item.arm}"'),
        "annotate:label_item",
        "header",
    ),
    Leak(
        "CSV column",
        arms_in_a_column,
        "scoring:agreement_csv",
        "token",
        "Item.arm",
        instead="annotators have no CSV; one that leads download",
    ),
    Leak(
        "event frame",
        in_template("annotate/_import.html", "<dl", "{% if is_piece %}{{ job.payload.path }}{% endif %}<dl"),
        "annotate:show_import",
        "token",
        "Work.payload",
        instead="there is no event stream; the piece that an open page asks for every two seconds",
    ),
    Leak(
        "mail subject",
        note_in_the_title,
        "annotate:join_project",
        "token",
        "Invite.note",
        instead="no mail is sent; the title over an invitation, which leads send on",
    ),
)
