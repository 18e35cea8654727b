"""Two projects in full use, so that every state of an assignment and every kind of secret is there to be leaked."""

from dataclasses import dataclass
from datetime import timedelta

from django.test import Client
from django.utils import timezone

from annotate.models import (
    Annotation,
    Assignment,
    Event,
    ImportBatch,
    Invite,
    Item,
    Membership,
    Person,
    Post,
    Project,
    Role,
    Settlement,
)
from annotate.traces.base import Answered, Call, File, Message
from tests import factories
from tests.guards.canary import Token, plant_everything
from tests.guards.net import Net

CONVERSATION = (
    Message(0, "system", "rules"),
    Message(1, "user", "question"),
    Message(2, "assistant", "thought", calls=(Call("", "", ""), Call("", "", ""))),
    Message(3, "tool", "result", answers=Answered(2, 0)),
    Message(4, "assistant", "first reply"),
    Message(5, "user", "question", side="user", calls=(Call("", "", ""),)),
    Message(6, "tool", "result", side="user", answers=Answered(5, 0)),
    Message(7, "assistant", "second reply"),
    Message(8, "user", "question"),
    Message(9, "assistant", "third reply"),
    Message(10, "user", "question"),
    Message(11, "assistant", "fourth reply"),
    Message(12, "other", "left over"),
)
FILES = (File("", "", available_from=0), File("", "", available_from=8))

PLANS = {
    "ana": {
        **{"practice": "submitted", "first": "submitted", "second": "submitted", "third": "open", "fourth": "locked"},
        **{"rewritten": "open", "odd": "problem", "odder": "withdrawn", "unseen": "locked"},
    },
    "ben": {
        **{"practice": "submitted", "first": "submitted", "second": "open", "third": "locked", "fourth": "withdrawn"},
        **{"recorded": "open", "odd": "submitted", "odder": "problem", "unseen": "locked"},
    },
    "gone": {"practice": "submitted", "first": "submitted", "second": "open", "third": "locked"},
    "zoe": {"practice": "submitted", "first": "submitted", "second": "open", "third": "locked"},
}
PEOPLE = ("anonymous", "ana", "ben", "gone", "rita", "lea", "zoe", "zack")
"""ana and ben annotate, gone did, rita reviews, lea leads; zoe annotates and zack leads the other project."""


@dataclass
class World:
    ours: Project
    other: Project
    people: dict[str, Person | None]
    cookies: dict[str, str]
    assignments: dict[tuple[str, str], Assignment]
    set_up_secret: str
    tokens: list[Token]
    net: Net

    def public_id(self, name: str, item: str) -> str:
        return self.assignments[name, item].public_id

    def usernames(self) -> dict[str, str]:
        return {name: person.username for name, person in self.people.items() if person}


def make_world() -> World:
    ours, other = factories.make_project(), factories.make_project()
    members = {
        **{name: factories.make_member(ours, name) for name in ("ana", "ben", "gone")},
        "rita": factories.make_member(ours, "rita", Role.REVIEWER),
        "lea": factories.make_member(ours, "lea", Role.LEAD),
        "zoe": factories.make_member(other, "zoe"),
        "zack": factories.make_member(other, "zack", Role.LEAD),
    }
    Membership.objects.filter(pk=members["gone"].pk).update(left_at=factories.NOW)
    Person.objects.filter(username="ben").update(interface_language="zh-hans")
    assignments = {}
    for project in (ours, other):
        items = material(project)
        mine = {name: plan for name, plan in PLANS.items() if members[name].project == project}
        for name, plan in mine.items():
            assignments |= {(name, item): given(members[name], items[item], plan[item]) for item in plan}
        decide(project, items, next(member for member in members.values() if member.project == project))
    in_another_state(assignments)
    secret = set_up_links(ours)
    tokens = plant_everything()
    people = {"anonymous": None} | {name: Person.objects.get(pk=member.person_id) for name, member in members.items()}
    return World(
        ours=Project.objects.get(pk=ours.pk),
        other=Project.objects.get(pk=other.pk),
        people=people,
        cookies={name: cookie_of(person) for name, person in people.items()},
        assignments={key: Assignment.objects.get(pk=row.pk) for key, row in assignments.items()},
        set_up_secret=next(token.text for token in tokens if token.row == secret),
        tokens=tokens,
        net=Net(tokens),
    )


def material(project) -> dict[str, Item]:
    """Items by the names that plans use, and a trace that is still on its way in."""
    factories.make_protocol(project)
    batch = factories.make_batch(project)
    factories.make_batch(project, state=ImportBatch.State.REFUSED)
    staging = factories.make_batch(project, state=ImportBatch.State.STAGED)
    traces = [factories.make_trace(project, CONVERSATION, files=FILES, batch=batch) for _ in range(5)]
    staged = factories.make_trace(project, CONVERSATION, batch=staging, is_staged=True)
    factories.make_item(trace=staged)
    places = {"practice": (0, 4), "first": (1, 4), "second": (1, 7), "third": (1, 9), "fourth": (1, 11)}
    places |= {"odd": (3, 4), "odder": (3, 7), "unseen": (4, 4)}
    items = {
        name: factories.make_item(trace=traces[trace], reply=reply, phase="practice" if trace == 0 else "main")
        for name, (trace, reply) in places.items()
    }
    arms = {"recorded": {}, "rewritten": {"text": "the same, said again"}}
    return items | {
        name: factories.make_item(trace=traces[2], reply=7, point=f"point-{project.pk}", arm=name, **text)
        for name, text in arms.items()
    }


def given(member, item, state) -> Assignment:
    row = factories.make_assignment(member, item, state)
    if state == "submitted":
        factories.make_annotation(row, "unrepairable_or_no_answer", reason="why")
    if state in ("open", "problem"):
        Assignment.objects.filter(pk=row.pk).update(draft={}, draft_number=1)
    return row


def in_another_state(assignments) -> None:
    """ana corrected her first answer and is correcting her second; both she and ben have reported something."""
    factories.make_annotation(assignments["ana", "first"], reason="why")
    Assignment.objects.filter(pk=assignments["ana", "second"].pk).update(draft={}, draft_number=3)
    reported = [row for row in assignments.values() if row.state == "problem"]
    for row in reported:
        Post.objects.create(item=row.item, round=row.round, author=row.annotator, purpose="problem", text="why")


def decide(project, items, member) -> None:
    """What leads and reviewers know of the items."""
    Settlement.objects.create(item=items["practice"], label={}, how="known")
    Settlement.objects.create(item=items["first"], label={}, how="reviewer", person=member.person)
    Post.objects.create(
        item=items["first"], round=member.project.rounds.get(), author=member, purpose="thread", text="!"
    )
    Event.objects.create(project=project, person=member.person, action="done")


def set_up_links(project) -> Invite:
    """An unspent link, which is returned, a spent one and one for a project."""
    in_a_week = timezone.now() + timedelta(days=7)
    Invite.objects.create(purpose="project", project=project, role="annotator", expires_at=in_a_week, token_hash="a")
    Invite.objects.create(purpose="set_up", expires_at=in_a_week, spent_at=factories.NOW, token_hash="b")
    return Invite.objects.create(purpose="set_up", expires_at=in_a_week, token_hash="c")


def cookie_of(person) -> str:
    """What the browser of a signed-in person sends."""
    client = Client()
    if person is not None:
        client.force_login(person)
    return client.cookies.output(attrs=[], header="", sep=";").strip()


def key_of(assignment) -> str:
    return Annotation.objects.get(assignment=assignment, is_current=True).key
