"""Tokens in every field of every row that says something, and who may be sent each of them.

`PLANTS` is the permission table of fields. A field that is in neither table fails a test, so a new one has to be
thought about. Classes of secrets: S1 the agent's model, run and cost; S2 its private context and the names of files; S3
arms, and what belongs together; S4 other people; S5 judges; S6 decisions of leads; `-` what its readers are shown.
"""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.apps import apps
from django.contrib.auth.hashers import make_password
from django.db import connection, models
from django.utils import timezone

from annotate.inviting import open_invites
from annotate.kinds.registry import kind_of
from annotate.models import Assignment, Disagreement, Item, Membership, Role, Round, Settlement
from annotate.setting_up import hash_of
from scoring.models.endpoint import KEY_VARIABLES
from tests import triggers
from tests.guards.arrows import ROOT
from tests.guards.questions import answer_of, with_titles

VISIBLE = ("open", "submitted")
PASSWORD = "nine green bottles"

# Who may see what


@dataclass
class Viewer:
    """One person, or nobody in particular, as the rows are at this moment."""

    person: int | None = None
    sent: str = ""

    @cached_property
    def parts(self) -> dict[int, str]:
        """Role by project, of parts that have not ended."""
        return dict(Membership.objects.filter(person=self.person, left_at=None).values_list("project", "role"))

    @cached_property
    def invited(self) -> set[int]:
        """Projects to which this person has just shown a link that works."""
        hashes = [hash_of(word) for word in re.findall(r"[\w-]+", self.sent)]
        return set(open_invites(timezone.now()).filter(token_hash__in=hashes).values_list("project", flat=True))

    @cached_property
    def given(self) -> list[Assignment]:
        """What this person has been given to read, and may open now."""
        mine = Assignment.objects.filter(annotator__person=self.person, annotator__left_at=None, state__in=VISIBLE)
        return list(mine.select_related("item", "round"))

    @cached_property
    def looked_at_again(self) -> dict[int, Round]:
        """By item, the informed round in which this person has it once more."""
        return {row.item_id: row.round for row in self.given if row.round.purpose == Round.Purpose.INFORMED}

    @cached_property
    def reviewed(self) -> set[int]:
        """Items that wait in a queue this person may open as a reviewer, or a lead."""
        projects = [project for project in self.parts if self.reviews(project)]
        return set(Disagreement.objects.filter(project__in=projects).values_list("item", flat=True))

    @cached_property
    def settled(self) -> set[int]:
        """Items of which this person has stored a settlement."""
        return set(Settlement.objects.filter(person=self.person).values_list("item", flat=True)) & self.reviewed

    def items_of(self, trace) -> list[Item]:
        """The items of a trace that this person may look at: one's own, for reviewers what they settle, and for leads
        all that came in."""
        led = [project for project, role in self.parts.items() if role == Role.LEAD]
        looked_at = Item.objects.filter(trace=trace, project__in=led, trace__is_staged=False)
        settled = Item.objects.filter(trace=trace, pk__in=self.reviewed)
        return [*(row.item for row in self.given if row.item.trace_id == trace), *looked_at, *settled]

    def leads(self, project) -> bool:
        return self.parts.get(project) == Role.LEAD

    def reviews(self, project) -> bool:
        return self.parts.get(project) in (Role.REVIEWER, Role.LEAD)


def nobody(row, viewer):
    """No page shows it to anyone."""
    return False


def leads(row, viewer):
    return viewer.leads(project_of(row))


def members(row, viewer):
    return project_of(row) in viewer.parts


def members_of_any_protocol(row, viewer):
    """Older guidelines too: a form that was shown under one sends its answer under it, and its reader has to be able to
    read what they answer. Everybody was shown it while it was the newest; it says nothing of items or of people."""
    return members(row, viewer)


def members_and_who_has_a_link(row, viewer):
    return members(row, viewer) or row.pk in viewer.invited


def oneself_and_leads(row, viewer):
    projects = row.memberships.values_list("project", flat=True)
    return row.pk == viewer.person or any(viewer.leads(project) for project in projects)


def whose_session_it_is(row, viewer):
    return row.person_id == viewer.person


def whose_token_it_is(row, viewer):
    return row.person_id == viewer.person


def who_was_given_the_item(row, viewer):
    is_led = viewer.leads(row.project_id) and not row.trace.is_staged
    return is_led or row.pk in viewer.reviewed or row.pk in {assignment.item_id for assignment in viewer.given}


def reviewers(row, viewer):
    """Leads too: they look on."""
    return viewer.reviews(project_of(row))


def who_settles_it(row, viewer):
    """Of an item that waits to be settled or was; of practice items nobody."""
    return row.item_id in viewer.reviewed and row.how != "known"


def who_is_told_what_was_settled(row, viewer):
    """In a closed project that tells it, who has answered the item."""
    project = row.item.project
    is_told = bool(project.closed_at) and project.settings.get("show_settled") is True and row.item.phase != "practice"
    submitted = {assignment.item_id for assignment in viewer.given if assignment.state == "submitted"}
    return is_told and row.is_current and row.how != "known" and row.item_id in submitted


def who_practised_or_settles_it_or_is_told(row, viewer):
    return (
        who_practised(row, viewer) or who_settles_it(row, viewer) or who_is_told_what_was_settled(row, viewer)
    )


def leads_and_who_has_settled_it(row, viewer):
    """What a judge says stays covered until one's own is stored."""
    return leads(row, viewer) or row.item_id in viewer.settled


def leads_and_who_has_settled_something(row, viewer):
    return leads(row, viewer) or (viewer.reviews(row.project_id) and bool(viewer.settled))


def whose_assignment_it_is_and_who_settles_or_looks_again(row, viewer):
    """Answers stand side by side for reviewers, without names."""
    is_settled = whose_assignment_it_is_and_leads(row, viewer) or row.assignment.item_id in viewer.reviewed
    return is_settled or who_looks_again(row, viewer)


def who_looks_again(row, viewer):
    """In an informed round, the answers that stand in rounds which were closed before it."""
    given, again = row.assignment, viewer.looked_at_again.get(row.assignment.item_id)
    is_fixed = row.is_current and given.state == "submitted" and given.round.closed_at is not None
    return is_fixed and again is not None and given.round.number < again.number


def leads_and_who_talks(row, viewer):
    """The thread of an informed round is for those who have the item there; reports and gaps are for leads."""
    again = viewer.looked_at_again.get(row.item_id)
    return leads(row, viewer) or (row.purpose == "thread" and again is not None and again.pk == row.round_id)


def who_practised(row, viewer):
    """The expected answer of a practice item is told to leads, and to who has submitted one of their own."""
    is_known = row.how == "known" and row.is_current and row.item.phase == "practice"
    submitted = {assignment.item_id for assignment in viewer.given if assignment.state == "submitted"}
    return is_known and (leads(row, viewer) or row.item_id in submitted)


def who_reads_the_message(row, viewer):
    """Up to the reply, and the reply itself unless another text stands in its place."""
    items = viewer.items_of(row.trace_id)
    if asks_of_its_own(row.trace):
        return False
    is_seen = row.seen_by == "requester" or is_shown_whole(row.trace)
    return is_seen and any(row.index < item.anchor + (item.text is None) for item in items)


def is_shown_whole(row):
    return kind_of(row.project.kind).shows == "whole"


def asks_of_its_own(row):
    """Of a kind whose items show a question and a text, and nothing of a trace."""
    return kind_of(row.project.kind).shows == "text"


def who_reads_the_call(row, viewer):
    """Tools that the requester called are theirs; those of the agent are read where the whole trace is."""
    return (row.side == "user" or is_shown_whole(row.trace)) and who_reads_the_message(row, viewer)


def who_is_asked_about_suggestions(row, viewer):
    return is_shown_whole(row) and row in viewer.items_of(row.trace_id)


def who_reads_the_question(row, viewer):
    return asks_of_its_own(row) and row in viewer.items_of(row.trace_id)


def who_reads_the_file(row, viewer):
    if asks_of_its_own(row.trace):
        return False
    return any(row.available_from < item.anchor for item in viewer.items_of(row.trace_id))


def whose_assignment_it_is(row, viewer):
    assignment = getattr(row, "assignment_id", row.pk)
    return assignment in {given.pk for given in viewer.given}


def whose_assignment_it_is_and_leads(row, viewer):
    """Leads see the labels of their project side by side."""
    return whose_assignment_it_is(row, viewer) or viewer.leads(row.assignment.annotator.project_id)


def project_of(row) -> int | None:
    """The project a row belongs to, however far away."""
    for way in ("project_id", "trace.project_id", "item.project_id", "annotator.project_id", "run.project_id"):
        value = row
        for name in way.split("."):
            value = getattr(value, name, None)
        if value is not None:
            return value
    return row.pk


Policy = Callable[[Any, Viewer], bool]
STRUCTURAL = (
    *(models.BooleanField, models.IntegerField, models.FloatField, models.DecimalField),
    *(models.DateField, models.DateTimeField, models.TimeField, models.DurationField, models.ForeignKey),
)
"""Types that cannot hold a token; twin worlds are for them. Fields with choices belong to them."""
STRUCTURAL_FIELDS = {
    "Person.interface_language": "one of the languages of the interface",
    "Person.time_zone": "has to be a zone that exists",
    "Session.session_key": "is the cookie itself, which its browser is sent once and no page shows",
    "Session.session_data": "is signed, and no page shows it",
    "Project.kind": "has to be a kind that exists",
    "Project.languages": "language codes",
    "Membership.languages": "language codes",
    "Invite.languages": "language codes",
    "Work.kind": "decides who does it",
    "PoolItem.language": "a language code",
    "Trace.language": "a language code, shown as the language of the text",
    "Message.role": "decides who said it",
    "Message.side": "decides whose doing it is",
    "Run.phases": "phases of a project",
    "Prompt.key": "decides which prompt it is",
    "Prompt.language": "a language code",
    "Prompt.examples": "numbers of items",
    "Trial.items": "numbers of items",
    "Points.items": "numbers of items, their classes and places",
}


@dataclass(frozen=True)
class Plant:
    """What stands in a field. `value` makes it from new tokens and the row; None leaves an empty field empty."""

    secret: str
    policy: Policy
    value: Callable[[Callable[..., str], Any], Any] = lambda new, row: new()


def is_own_question(row):
    item = getattr(row, "item", None) or row.assignment.item
    return item.project.kind == "choice"


def schema_of(new, row):
    """Titles and explanations are a lead's own words where the question is."""
    return {**(with_titles(row.label_schema, new) if row.project.kind == "choice" else row.label_schema), new(): new()}


def label_of(new, row):
    if is_shown_whole(getattr(row, "item", None) or row.assignment.item):
        return {"outcome": "none", "steps": [], "decisions": [], "note": new()}
    if asks_of_its_own(getattr(row, "item", None) or row.assignment.item):
        return {"category": "coined", "comment": new()}
    if is_own_question(row):
        return answer_of(new)
    span = {"start": 0, "end": 4, "type": "definition", "quote": new()}
    return {"label": "needs_information", "states_no_result": False, "spans": [span], "comment": new()}


def settled_label_of(new, row):
    """Another than what annotators said, as pages show it whole only then."""
    label = label_of(new, row)
    if is_own_question(row):
        return {**label, "answers": {**label["answers"], "tone": "angry"}}
    return {**label, "label": "unrepairable_or_no_answer"}


def manifest_of(new, row):
    """What the pages and files of a release read of it, and whatever else."""
    counts = dict.fromkeys(("n_items", "unresolved", "n_ties"), 1)
    said = {"content": {new(): new()}, "counts": counts, "sealed_by": new(), "protocol": {"label_schema": {}}}
    return json.dumps({**said, "data_card": {"en": new(), "zh": new()}, new(): new()})


def votes_of(new, row):
    numbers = {"round": 1, "number": 1, "protocol": 1}
    return [{"annotator": new(), **numbers, "label": label_of(new, row)}]


def draft_of(new, row):
    """A draft on top of the answer that stands, or of none."""
    if row.draft is None:
        return None
    if asks_of_its_own(row.item):
        fields = {"category": "term", "comment": new()}
        return {"number": row.annotations.count(), "draft_number": row.draft_number, "fields": fields, new(): new()}
    own = {"one.tone": "calm", "note.more": new()}
    fields = own if is_own_question(row) else {"label": "needs_information", "comment": new()}
    fields["spans"] = json.dumps(label_of(new, row)["spans"])
    return {"number": row.annotations.count(), "draft_number": row.draft_number, "fields": fields, new(): new()}


def problem_of(new, row):
    return {"code": new(), "field": new(), "expected": new(), "remedy": new()}


def calls_of(new, row):
    return [{"id": new(nobody), "name": new(), "arguments": json.dumps({"for": new()})} for _ in row.calls]


def payload_of(new, row):
    """Of an upload: the name people know the file by is shown, the one it is kept under is not."""
    return {**row.payload, "file_name": new(), "path": new(nobody), "format": new(nobody)}


def anything(new, row):
    return {"model": new(), new(): [{"run": new()}]}


def suggestions_of(new, row):
    """What the rules of a kind that shows whole traces found; of any other kind there are none, and none is shown."""
    if not is_shown_whole(row):
        return anything(new, row)
    return [{"step": [2, 3], "type": "DUP", "evidence": [-1], "rules": ["error_keyword"], "keyword": new()}]


def asked_of(new, row):
    if not asks_of_its_own(row):
        return anything(new, row)
    return {"question": new(), "type": "reference", "start": 0, "end": 3, new(nobody): new(nobody)}


def metadata_of(new, row):
    """Reports name the model for leads; nobody is shown the rest."""
    return {**anything(new, row), "model": new(leads)}


def where_it_is_set(name):
    return lambda new, row: None if getattr(row, name) is None else new()


PLANTS = {
    "Person.password": Plant("S4", nobody, lambda new, row: make_password(PASSWORD, salt=new())),
    "Person.username": Plant("S4", oneself_and_leads),
    "Session.agent": Plant("S4", whose_session_it_is),
    "Token.token_hash": Plant("S4", nobody, lambda new, row: hash_of(new())),
    "Token.name": Plant("S4", whose_token_it_is),
    "Project.slug": Plant("-", members),
    "Project.title_en": Plant("-", members_and_who_has_a_link),
    "Project.title_zh": Plant("-", members_and_who_has_a_link),
    "Project.settings": Plant("S6", nobody, lambda new, row: {**row.settings, new(): new()}),
    "Protocol.guideline_en": Plant("-", members_of_any_protocol),
    "Protocol.guideline_zh": Plant("-", members_of_any_protocol),
    "Protocol.change_note": Plant("S6", leads),
    "Protocol.label_schema": Plant("-", members_of_any_protocol, schema_of),
    "Membership.code": Plant("S4", leads),
    "Invite.token_hash": Plant("S4", nobody, lambda new, row: hash_of(new())),
    "Invite.note": Plant("S6", leads),
    "ImportBatch.file_name": Plant("S2", leads),
    "ImportBatch.format": Plant("S2", leads),
    "ImportBatch.sha256": Plant("S2", nobody),
    "ImportBatch.counts": Plant("S2", leads, lambda new, row: {"traces": 2, new(): new()}),
    "ImportBatch.problems": Plant("S2", leads, lambda new, row: [{"file": new(), "expected": new()}]),
    "ImportBatch.warnings": Plant("S2", leads, lambda new, row: [{"code": new(), "expected": new(), "pointer": new()}]),
    "WorkGroup.key": Plant("S5", nobody),
    "Work.key": Plant("S2", nobody),
    "Work.lane": Plant("S2", nobody),
    "Work.payload": Plant("S2", leads, payload_of),
    "Work.result": Plant("S2", nobody, lambda new, row: {**row.result, new(): new()} if row.result else None),
    "Work.error": Plant("S6", leads),
    "Trace.source_id": Plant("S1", leads),
    "Trace.format": Plant("S2", leads),
    "Trace.content_hash": Plant("S2", leads),
    "Trace.cluster": Plant("S3", leads),
    "Trace.area": Plant("S3", leads),
    "Trace.metadata": Plant("S1", nobody, metadata_of),
    "Message.text": Plant("S2", who_reads_the_message),
    "Message.calls": Plant("S2", who_reads_the_call, calls_of),
    "Message.answers_id": Plant("S2", nobody),
    "Message.name": Plant("S2", nobody),
    "File.name": Plant("S2", who_reads_the_file),
    "File.text": Plant("S2", who_reads_the_file),
    "Item.text": Plant("-", who_was_given_the_item, where_it_is_set("text")),
    "Item.cluster": Plant("S3", leads),
    "Item.point": Plant("S3", nobody, where_it_is_set("point")),
    "Item.arm": Plant("S3", nobody),
    "Item.suggestions": Plant("S5", who_is_asked_about_suggestions, suggestions_of),
    "Item.asked": Plant("-", who_reads_the_question, asked_of),
    "Item.origin": Plant("S5", nobody, anything),
    "PairsDraw.asked": Plant("S3", leads, lambda new, row: {"codes": [new()]}),
    "PairsDraw.collaborations": Plant("S3", nobody, lambda new, row: [{"points": [new()], "slots": [new()]}]),
    "Assignment.public_id": Plant("S4", whose_assignment_it_is),
    "Assignment.point": Plant("S3", nobody, where_it_is_set("point")),
    "Assignment.draft": Plant("S4", whose_assignment_it_is, draft_of),
    "Annotation.key": Plant("S4", nobody),
    "Annotation.label": Plant("S4", whose_assignment_it_is_and_who_settles_or_looks_again, label_of),
    "Annotation.reason": Plant("S4", whose_assignment_it_is_and_leads),
    "Post.key": Plant("S4", nobody),
    "Post.text": Plant("S4", leads_and_who_talks),
    "Disagreement.public_id": Plant("S6", reviewers),
    "Disagreement.by_measure": Plant("S6", reviewers, lambda new, row: {new(): 0.5}),
    "SentBack.key": Plant("S6", nobody),
    "SentBack.reason": Plant("S6", whose_assignment_it_is),
    "Settlement.label": Plant("S6", who_practised_or_settles_it_or_is_told, settled_label_of),
    "Settlement.key": Plant("S6", nobody),
    "Settlement.note": Plant("S6", who_settles_it),
    "Settlement.reason_en": Plant("S6", who_practised),
    "Settlement.reason_zh": Plant("S6", who_practised),
    "Settlement.rests_on": Plant("S6", nobody, lambda new, row: [new()]),
    "Release.content_hash": Plant("S6", leads),
    "Release.manifest": Plant("S6", leads, manifest_of),
    "ReleaseItem.item_hash": Plant("S6", leads),
    "ReleaseItem.label": Plant("S6", leads, label_of),
    "ReleaseItem.rests_on": Plant("S6", leads, votes_of),
    "Endpoint.name": Plant("S5", leads),
    "Endpoint.address": Plant("S5", leads),
    "Endpoint.model": Plant("S5", leads),
    "Endpoint.key_variable": Plant("S5", leads, lambda new, row: row.key_variable and f"{KEY_VARIABLES}_{new()}"),
    "Endpoint.key_sealed": Plant("S5", nobody, lambda new, row: row.key_sealed and new()),
    "Prompt.text": Plant("S5", leads),
    "Prompt.sha256": Plant("S5", leads),
    "Judge.name": Plant("S5", leads_and_who_has_settled_something),
    "Judge.settings": Plant("S5", leads, anything),
    "Judge.settings_hash": Plant("S5", leads),
    "Run.version": Plant("S5", leads),
    "Run.prompts": Plant("S5", leads, lambda new, row: {**row.prompts, new(): {}}),
    "Run.held_for": Plant("S5", leads, problem_of),
    "Call.step": Plant("S5", leads),
    "Call.request": Plant("S5", leads, lambda new, row: {"messages": [{"role": new(), "content": new()}], new(): 1}),
    "Call.request_hash": Plant("S5", nobody),
    "Call.request_id": Plant("S5", nobody),
    "Call.response": Plant("S5", nobody),
    "Call.error": Plant("S5", leads, problem_of),
    "Verdict.label": Plant("S5", leads_and_who_has_settled_it, label_of),
    "Verdict.finding": Plant("S5", leads_and_who_has_settled_it, lambda new, row: {**row.finding, "unreadable": new()}),
    "Flag.note": Plant("S5", leads),
    "OutcomeBatch.file_name": Plant("S6", leads),
    "OutcomeBatch.about": Plant("S6", leads),
    "Outcome.domain": Plant("S6", leads),
    "Outcome.task": Plant("S6", leads),
    "Outcome.condition": Plant("S6", leads),
    "Report.settings": Plant("S6", leads, anything),
    "Report.settings_hash": Plant("S6", nobody),
    "Report.seen": Plant("S6", nobody, anything),
    "Report.ids": Plant("S6", nobody, anything),
    "Report.payload": Plant("S6", leads, anything),
    "Report.version": Plant("S6", leads),
    "Event.action": Plant("S6", leads),
    "Event.detail": Plant("S6", leads, anything),
}


def own_models():
    return [
        model
        for config in apps.get_app_configs()
        if (ROOT / config.label).is_dir()
        for model in config.get_models(include_auto_created=True)
    ]


def fields_that_speak() -> dict[str, tuple[type[models.Model], models.Field]]:
    """Every field of ours that could hold a token."""
    return {
        f"{model.__name__}.{found.name}": (model, found)
        for model in own_models()
        for found in model._meta.concrete_fields
        if not isinstance(found, STRUCTURAL) and not found.choices
    }


def unclassified() -> list[str]:
    """Fields that no table names, and names that no field has."""
    return sorted(set(fields_that_speak()) ^ (set(PLANTS) | set(STRUCTURAL_FIELDS)))


# Tokens


@dataclass(frozen=True)
class Token:
    text: str
    secret: str
    place: str
    row: Any = field(compare=False)
    policy: Policy = field(compare=False)

    def may_reach(self, viewer: Viewer) -> bool:
        return self.policy(self.row, viewer)

    def __str__(self):
        return f"{self.place} of row {self.row.pk} ({self.secret}, for: {self.policy.__name__.replace('_', ' ')})"


def plant_everything() -> list[Token]:
    """Put tokens into every field of every row there is; the same ones every time."""
    rng, tokens = random.Random(20_240_506), []
    rows = {model: list(model.objects.order_by("pk")) for model in own_models()}
    for place, (model, found) in fields_that_speak().items():
        for row in rows[model] if place in PLANTS else ():
            plant = PLANTS[place]

            def new(policy=plant.policy, *, place=place, row=row, secret=plant.secret):
                text = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=16))
                tokens.append(Token(text, secret, place, row, policy))
                return text

            setattr(row, found.attname, plant.value(new, row))
    with triggers.aside(connection):
        for model, changed in rows.items():
            names = [place.split(".")[1] for place in PLANTS if place.split(".")[0] == model.__name__]
            if changed and names:
                model.objects.bulk_update(changed, names)
    return tokens
