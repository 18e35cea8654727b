"""Rows for tests, with nothing said that a test does not say itself. A small cast recurs: ana and ben annotate, rita
reviews, lea leads, zoe belongs to another project (`make_cast`).

Rows are written as they are, past the services: what a service does is for its own test to show.
"""

import itertools
import json
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from annotate.kinds.registry import kind_of
from annotate.models import (
    Annotation,
    Assignment,
    File,
    ImportBatch,
    Item,
    Membership,
    Message,
    Person,
    Project,
    Protocol,
    Release,
    ReleaseItem,
    Role,
    Round,
    Trace,
    Work,
    WorkGroup,
)
from annotate.rules.requester_view import replies, seen_by_requester
from annotate.traces import base
from scoring.models import Call, Endpoint, Judge, Outcome, OutcomeBatch, Prompt, Report, Run, Trial, Verdict

NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
NUMBERS = itertools.count(1)

CONVERSATION = (
    base.Message(0, "user", "Which of the two is cheaper?"),
    base.Message(1, "assistant", "Let me look.", calls=(base.Call("call_a1", "prices", '{"of": "both"}'),)),
    base.Message(2, "tool", "A 4, B 5", answers=base.Answered(1, 0), answers_id="call_a1", name="prices"),
    base.Message(3, "assistant", "The first one is cheaper."),
    base.Message(4, "user", "By how much?"),
    base.Message(5, "assistant", "By one unit, as the table says."),
)
"""Two replies, at 3 and 5, and a call between them and the first question that the requester never saw."""


@dataclass(frozen=True)
class Cast:
    """A project with its people, and one other project with one person in it."""

    project: Project
    ana: Membership
    ben: Membership
    rita: Membership
    lea: Membership
    other_project: Project
    zoe: Membership


def make_cast(**project) -> Cast:
    ours, other = make_project(**project), make_project()
    return Cast(
        project=ours,
        ana=make_member(ours, "ana"),
        ben=make_member(ours, "ben"),
        rita=make_member(ours, "rita", Role.REVIEWER),
        lea=make_member(ours, "lea", Role.LEAD),
        other_project=other,
        zoe=make_member(other, "zoe"),
    )


def make_person(username="ana", password=None, **fields) -> Person:
    """Without a password nobody can sign in; `client.force_login(person)` can."""
    return Person.objects.create_person(username, password, **fields)


def make_project(slug=None, **fields) -> Project:
    """A project with its first protocol and its first round, open."""
    slug = slug or f"project-{next(NUMBERS)}"
    values = {"title_en": f"Project {slug}", "title_zh": f"项目 {slug}", "kind": "reply", "languages": ["en", "zh"]}
    project = Project.objects.create(slug=slug, **{**values, "seed": 7, **fields})
    make_protocol(project)
    make_round(project)
    return project


def make_protocol(project, **fields) -> Protocol:
    number = project.protocols.count() + 1
    values = {"guideline_en": f"Read it ({number}).", "guideline_zh": f"读它（{number}）。"}
    values["label_schema"] = dict(kind_of(project.kind).schema)
    return Protocol.objects.create(project=project, number=number, **{**values, **fields})


def make_round(project, purpose="first", **fields) -> Round:
    number = project.rounds.count() + 1
    return Round.objects.create(project=project, number=number, purpose=purpose, **{"opened_at": NOW, **fields})


def make_member(project, person="ana", role=Role.ANNOTATOR, **fields) -> Membership:
    """A part in a project for a person, or for the one with this name, who is made where there is none."""
    if isinstance(person, str):
        person = Person.objects.filter(username=person).first() or make_person(person)
    values = {"code": f"{role[0]}{project.memberships.count() + 1}", "languages": ["en", "zh"]}
    return Membership.objects.create(project=project, person=person, role=role, **{**values, **fields})


def make_batch(project, **fields) -> ImportBatch:
    values = {"file_name": "runs.jsonl", "format": "sightline", "state": ImportBatch.State.VISIBLE}
    return ImportBatch.objects.create(project=project, **{**values, **fields})


def make_work(project, **fields) -> Work:
    """A job: the import of an uploaded file, waiting for a worker."""
    number = next(NUMBERS)
    payload = {"path": f"{number:032x}", "file_name": "runs.jsonl", "phase": "main", "format": "auto"}
    values = {"kind": "import_traces", "key": f"upload {payload['path']}", "payload": payload, "n_total": 200}
    values["payload"] |= {"skip_bad": False, "replace_nul": False}
    return Work.objects.create(project=project, **{**values, **fields})


def make_trace(project, messages=CONVERSATION, *, files=(), **fields) -> Trace:
    """A visible trace of these messages (`annotate.traces.base.Message`) and files, without items."""
    number = next(NUMBERS)
    values = {"source_id": f"run-{number}", "format": "sightline", "content_hash": f"{number:064}", "language": "en"}
    values |= {"cluster": f"run-{number}", "is_staged": False}
    fields.setdefault("batch", None)
    fields["batch"] = fields["batch"] or make_batch(project)
    trace = Trace.objects.create(project=project, **{**values, **fields})
    Message.objects.bulk_create(message_row(trace, message) for message in messages)
    File.objects.bulk_create(
        File(trace=trace, position=place, name=file.name, text=file.text, available_from=file.available_from)
        for place, file in enumerate(files)
    )
    return trace


def message_row(trace, message) -> Message:
    is_seen = seen_by_requester(message)
    return Message(
        trace=trace,
        index=message.index,
        session=message.session,
        role=message.role,
        side=message.side,
        seen_by=Message.SeenBy.REQUESTER if is_seen else Message.SeenBy.AGENT,
        text=message.text,
        calls=[{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls],
        answers_index=message.answers.index if message.answers else None,
        answers_call=message.answers.call if message.answers else None,
        answers_id=message.answers_id,
        name=message.name,
    )


def make_item(project=None, *, trace=None, reply=None, text=None, **fields) -> Item:
    """The item of a trace's reply, the first one where none is said; `make_item(project, text="...")` makes a trace
    whose only reply is this text."""
    if trace is None:
        said = [CONVERSATION[0], base.Message(1, "assistant", text or "The first one is cheaper.")]
        trace = make_trace(project or make_project(), said)
    elif text is not None:
        fields["text"] = text
    anchor = reply if reply is not None else replies(trace.messages.all())[0]
    return Item.objects.create(
        project=trace.project, trace=trace, anchor=anchor, **{"cluster": trace.cluster, **fields}
    )


def make_assignment(member, item=None, state=Assignment.State.OPEN, **fields) -> Assignment:
    """The next place in the member's plan, in the project's first round."""
    item = item or make_item(member.project)
    round_ = fields.pop("round", None) or member.project.rounds.get(purpose="first")
    last = member.assignments.filter(round=round_).order_by("-order").first()
    values = {"order": last.order + 1 if last else 0, "sequence": next_sequence(last, item), "point": item.point}
    if state == Assignment.State.SUBMITTED:
        values |= {"first_shown_at": NOW, "ended_at": NOW}
    return Assignment.objects.create(annotator=member, item=item, round=round_, state=state, **{**values, **fields})


def next_sequence(last, item) -> int:
    if last is None:
        return 1
    return last.sequence if last.item.trace_id == item.trace_id else last.sequence + 1


def make_annotation(assignment, label="readable", **fields) -> Annotation:
    """The next answer to an assignment, which becomes its current one. `label` is a whole label or its main choice."""
    if isinstance(label, str):
        label = {"label": label, "states_no_result": False, "spans": [], "comment": ""}
    assignment.annotations.update(is_current=False)
    values = {"number": assignment.annotations.count() + 1, "key": secrets.token_urlsafe(18), "submitted_at": NOW}
    values |= {"raw_ms": 9000, "active_ms": 6000, "hidden_ms": 0}
    values["protocol"] = assignment.annotator.project.protocols.order_by("-number").first()
    return Annotation.objects.create(assignment=assignment, label=label, **{**values, **fields})


def make_submitted(member, item=None, label="readable", **fields) -> Assignment:
    """An assignment that was answered."""
    assignment = make_assignment(member, item, Assignment.State.SUBMITTED, **fields)
    make_annotation(assignment, label)
    return assignment


def make_plan(member, n_replies=3, **trace) -> list[Assignment]:
    """One collaboration of so many replies as the next part of a member's plan; its first reply is open unless another
    one is, the others are locked."""
    said = [
        message
        for place in range(n_replies)
        for message in (
            base.Message(2 * place, "user", f"Question {place + 1}?"),
            base.Message(2 * place + 1, "assistant", f"Answer {place + 1}."),
        )
    ]
    trace = make_trace(member.project, said, **trace)
    items = Item.objects.bulk_create(
        Item(project=member.project, trace=trace, anchor=2 * place + 1, cluster=trace.cluster)
        for place in range(n_replies)
    )
    round_ = member.project.rounds.get(purpose="first")
    last = member.assignments.filter(round=round_).order_by("-order").first()
    first = last.order + 1 if last else 0
    is_open = member.assignments.filter(round=round_, state=Assignment.State.OPEN).exists()
    return Assignment.objects.bulk_create(
        Assignment(
            annotator=member,
            item=item,
            round=round_,
            order=first + place,
            sequence=last.sequence + 1 if last else 1,
            state=Assignment.State.LOCKED if place or is_open else Assignment.State.OPEN,
        )
        for place, item in enumerate(items)
    )


def make_run(project, judge="lexical", *, items=(), settings=None, **fields) -> Run:
    """A run that is through, with a verdict that passes each of these items."""
    number = next(NUMBERS)
    hashed = f"{abs(hash(json.dumps(settings, sort_keys=True))):064d}"[:64] if settings else "0" * 64
    row, _ = Judge.objects.get_or_create(
        project=project, name=judge, settings_hash=hashed, defaults={"settings": settings or {}}
    )
    group = WorkGroup.objects.create(key=f"run-{number}")
    values = {"number": project.runs.count() + 1, "version": "1", "phases": ["main"], "n_items": len(items)}
    values |= {"ended_at": NOW}
    run = Run.objects.create(project=project, judge=row, group=group, **{**values, **fields})
    for item in items:
        make_verdict(run, item)
    return run


def make_verdict(run, item, label="readable", **fields) -> Verdict:
    """What a run said of an item, by a finding without spans: a label by its name or whole, or None."""
    if isinstance(label, str):
        label = {"label": label, "states_no_result": False, "spans": []}
    values = {"label": label, "finding": {"values": {}, "spans": []}}
    return Verdict.objects.create(run=run, item=item, **{**values, **fields})


def make_endpoint(project, server=None, **fields) -> Endpoint:
    """A model that can be asked, with a judge server of the tests at that server."""
    address = server.url if server else "" if fields.get("provider") == "pasted" else "https://a.example/v1"
    values = {"name": f"model {next(NUMBERS)}", "model": "small", "address": address}
    return Endpoint.objects.create(project=project, **{**values, **fields})


def make_call(run, item, **fields) -> Call:
    """A question of a run that was stored and not sent, by a prompt of its project."""
    texts = {"key": "reader.questions", "language": "en", "number": 1}
    prompt, _ = Prompt.objects.get_or_create(project=run.project, **texts, defaults={"text": "?", "sha256": "0" * 64})
    values = {"step": "questions", "attempt": 1, "prompt": prompt, "request_hash": "0" * 64, "stored_at": NOW}
    values |= {"request": {"messages": [{"role": "user", "content": "What is not clear?"}], "model": "small"}}
    return Call.objects.create(run=run, item=item, **{**values, **fields})


def make_prompt(project, number=1, **fields) -> Prompt:
    """A version of a prompt of the reader; that of this number if it is there."""
    which = {"key": "reader.questions", "language": "en", "number": number}
    values = {"text": "?", "sha256": "0" * 64, **fields}
    return Prompt.objects.get_or_create(project=project, **which, defaults=values)[0]


def make_trial(project, release, items, **fields) -> Trial:
    """Two versions of a prompt beside each other, both of which passed each of these items."""
    runs = {name: make_run(project, "reader", items=items) for name in ("run_old", "run_new")}
    prompts = {"prompt_old": make_prompt(project), "prompt_new": make_prompt(project, 2)}
    values = {"number": project.trials.count() + 1, "items": [item.pk for item in items], "seed": 1}
    return Trial.objects.create(project=project, release=release, **{**runs, **prompts, **values, **fields})


def make_report(project, **fields) -> Report:
    values = {"kind": "agreement", "settings_hash": "0" * 64, "version": "1", "computed_at": NOW}
    return Report.objects.create(project=project, **{**values, **fields})


def make_outcome(project, **fields) -> Outcome:
    """What an agent did without a workflow, in a file of its own."""
    batch = OutcomeBatch.objects.create(project=project, file_name="outcomes.csv", about="made up", n_outcomes=1)
    values = {"domain": "airline", "task": "7", "repeat": 1, "condition": "none", "success": True, "tokens": 9}
    return Outcome.objects.create(project=project, batch=batch, **{**values, **fields})


def make_release(project, items=(), **fields) -> Release:
    """A sealed release in which each of these items is readable by consensus."""
    protocol = project.protocols.order_by("-number").first()
    values = {"number": project.releases.count() + 1, "rule": "majority", "protocol": protocol, "n_items": len(items)}
    values |= {"content_hash": "0" * 64, "manifest": "{}", "sealed_at": NOW}
    release = Release.objects.create(project=project, **{**values, **fields})
    label = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
    for position, item in enumerate(items):
        ReleaseItem.objects.create(
            release=release, item=item, position=position, item_hash=f"{item.pk:064}", label=label, how="consensus"
        )
    return release
