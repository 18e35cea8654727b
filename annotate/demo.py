"""The demo project from `fixtures/demo/`: invented collaborations, known answers for practice, synthetic labels.

It comes in through the same doors as anybody's material. Only the synthetic labels are written as rows, in one
transaction: a thousand submits would take minutes and prove nothing that the tests do not.
"""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Lower

from annotate import importing, setting_up
from annotate.errors import Refused
from annotate.kinds.registry import kind_of
from annotate.models import Annotation, Assignment, Item, Message, Person, Project, Role, Settlement
from annotate.rules.quotes import canonical
from annotate.traces.base import Problem, gettext_noop

FOLDER = Path(settings.ROOT) / "fixtures" / "demo"
LOGINS = "demo-logins.json"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of the demo: its item and its canonical text."""

    item: int
    text: str


def load_demo(*, now: datetime) -> bool:
    """Make the demo; False and nothing changed when it is there already. A load that was cut off is begun anew.

    Refused where a project or an account of somebody's own has a name of the demo's."""
    plan = json.loads((FOLDER / "project.json").read_text("utf-8"))
    there = Project.objects.filter(slug=plan["slug"]).first()
    if there is not None and there.is_synthetic:
        return False
    refuse_taken_names(plan, there)
    with transaction.atomic():
        project = setting_up.create_project(new=new_project(plan), by=None, now=now)
        for phase in ("practice", "pilot", "main"):
            path = FOLDER / f"{phase}.jsonl"
            report = importing.import_traces(project=project, path=path, file_name=path.name, phase=phase)
            if report.is_refused:
                raise Refused(report.tally.problems[0])
        add_people(project, plan, now)
        replies = replies_of(project)
        settle_known(project, replies)
        label_everything(project, replies, now)
    return True


def refuse_taken_names(plan, project: Project | None) -> None:
    """Before anything is made: who is known by a name of the demo is left alone."""
    if project is not None:
        raise Refused(taken_names("slug", project.slug))
    names = [one["username"] for one in (plan["lead"], plan["open_annotator"], *plan["annotators"])]
    taken = Person.objects.annotate(lower=Lower("username")).filter(lower__in=names)
    if found := list(taken.order_by("username").values_list("username", flat=True)):
        raise Refused(taken_names("username", ", ".join(found)))


def taken_names(field: str, names: str) -> Problem:
    return Problem(
        code="duplicate_id",
        field=field,
        expected=gettext_noop("No project or account of your own with a name that the demo needs: %(names)s."),
        remedy=gettext_noop(
            "Go on without the demo (./run --no-demo), or load it into another data folder (./run --data DIR)."
        ),
        params={"names": names},
    )


def new_project(plan) -> setting_up.NewProject:
    return setting_up.NewProject(
        slug=plan["slug"],
        title_en=plan["title_en"],
        title_zh=plan["title_zh"],
        seed=plan["seed"],
        languages=tuple(plan["languages"]),
        is_synthetic=True,
    )


def add_people(project, plan, now) -> None:
    """The lead and the open account can sign in, the annotators behind the synthetic labels cannot."""
    passwords = demo_passwords()
    lead, reader = plan["lead"]["username"], plan["open_annotator"]
    person = Person.objects.create_person(lead, passwords[lead], may_create_projects=True)
    setting_up.add_member(project=project, person=person, role=Role.LEAD, by=None, now=now)
    for annotator in [*plan["annotators"], reader]:
        person = Person.objects.create_person(annotator["username"], passwords.get(annotator["username"]))
        setting_up.add_member(
            project=project, person=person, role=Role.ANNOTATOR, code=annotator["code"], by=None, now=now
        )


def demo_passwords() -> dict[str, str]:
    """Made once per installation and kept in the data folder, so that every start can print them."""
    plan = json.loads((FOLDER / "project.json").read_text("utf-8"))
    path = settings.DATA_FOLDER / LOGINS
    if not path.exists():
        names = [plan["open_annotator"]["username"], plan["lead"]["username"]]
        path.touch(mode=0o600)
        path.write_text(json.dumps({name: secrets.token_urlsafe(9) for name in names}), "utf-8")
    return json.loads(path.read_text("utf-8"))


def demo_logins() -> list[dict[str, str]]:
    """Name, password and part of the accounts one can sign in with; only those whose password is still the made one."""
    plan = json.loads((FOLDER / "project.json").read_text("utf-8"))
    parts = {plan["open_annotator"]["username"]: Role.ANNOTATOR, plan["lead"]["username"]: Role.LEAD}
    return [
        {"username": person.username, "password": password, "role": parts[person.username].value}
        for person in Person.objects.filter(username__in=parts).order_by("username")
        if person.check_password(password := demo_passwords().get(person.username, ""))
    ]


def replies_of(project) -> dict[tuple[str, int], Reply]:
    """Every reply by trace and place from 1, as the files name it."""
    texts = {(m.trace_id, m.index): canonical(m.text) for m in Message.objects.filter(trace__project=project)}
    found: dict[tuple[str, int], Reply] = {}
    places: dict[str, int] = {}
    for item in Item.objects.filter(project=project).select_related("trace").order_by("trace", "anchor"):
        places[item.trace.source_id] = places.get(item.trace.source_id, 0) + 1
        place = (item.trace.source_id, places[item.trace.source_id])
        found[place] = Reply(item.pk, texts[item.trace_id, item.anchor])
    return found


def rows_of(name):
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def label_in(row, reply: Reply, kind):
    """A label of the files, whose spans quote, as the kind's own."""
    data = {
        "label": row["label"],
        "states_no_result": row["states_no_result"],
        "spans": [located(span, reply.text) for span in row["spans"]],
        "comment": row.get("comment", ""),
    }
    return kind.dump(kind.parse(data, kind.schema, reply.text))


def located(span, text):
    """The span at the n-th occurrence of its quote, counted from 1."""
    start = -1
    for _ in range(span.get("occurrence", 1)):
        start = text.index(span["quote"], start + 1)
    return {"start": start, "end": start + len(span["quote"]), "type": span["type"], "quote": span["quote"]}


def settle_known(project, replies) -> None:
    kind = kind_of(project.kind)
    for row in rows_of("known.jsonl"):
        reply = replies[row["trace"], row["reply"]]
        Settlement.objects.create(
            item_id=reply.item,
            label=label_in(row, reply, kind),
            how=Settlement.How.KNOWN,
            reason_en=row["reason_en"],
            reason_zh=row["reason_zh"],
        )


def label_everything(project, replies, now) -> None:
    """The synthetic labels as submitted assignments, each one reading time after the one before."""
    kind, protocol = kind_of(project.kind), project.protocols.get()
    assignments = {
        (row.annotator.code, row.item_id): row
        for row in Assignment.objects.filter(annotator__project=project).select_related("annotator").order_by("order")
    }
    labels = {(row["annotator"], replies[row["trace"], row["reply"]].item): row for row in rows_of("labels.jsonl")}
    reply_of = {reply.item: reply for reply in replies.values()}
    annotations, at = [], {}
    for place, assignment in assignments.items():
        if place not in labels:
            continue
        row = labels[place]
        spent = timedelta(seconds=row["active_s"])
        begun = at.get(place[0], now - timedelta(days=7))
        at[place[0]] = assignment.ended_at = begun + spent
        assignment.first_shown_at, assignment.state = begun, Assignment.State.SUBMITTED
        annotations.append(
            Annotation(
                assignment=assignment,
                key=secrets.token_urlsafe(18),
                protocol=protocol,
                label=label_in(row, reply_of[place[1]], kind),
                raw_ms=round(row["active_s"] * 1000),
                active_ms=round(row["active_s"] * 1000),
                hidden_ms=0,
                submitted_at=assignment.ended_at,
            )
        )
    done = [assignment for place, assignment in assignments.items() if place in labels]
    Assignment.objects.bulk_update(done, ["state", "first_shown_at", "ended_at"], batch_size=200)
    Annotation.objects.bulk_create(annotations, batch_size=200)
