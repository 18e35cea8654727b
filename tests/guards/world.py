"""Projects in full use, so that every state of an assignment and every kind of secret is there to be leaked: a panel of
replies, a pool that asks a question its lead has made, and one that is closed and tells what was settled."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.utils import timezone

from annotate import pools
from annotate.models import (
    Annotation,
    Assignment,
    Disagreement,
    Event,
    ImportBatch,
    Invite,
    Item,
    Membership,
    PairsDraw,
    Person,
    Post,
    Project,
    Role,
    SentBack,
    Session,
    Settlement,
    Work,
)
from annotate.sessions import SessionStore
from annotate.traces import base
from annotate.traces.base import Answered, File, Message
from scoring.models import Call, Endpoint, Flag
from tests import factories
from tests.guards.canary import Token, plant_everything
from tests.guards.net import Net
from tests.guards.questions import QUESTION

CONVERSATION = (
    Message(0, "system", "rules"),
    Message(1, "user", "question"),
    Message(2, "assistant", "thought", calls=(base.Call("", "", ""), base.Call("", "", ""))),
    Message(3, "tool", "result", answers=Answered(2, 0)),
    Message(4, "assistant", "first reply"),
    Message(5, "user", "question", side="user", calls=(base.Call("", "", ""),)),
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
        **{"practice": "submitted", "practising": "submitted", "first": "submitted", "second": "submitted"},
        **{"third": "open", "fourth": "locked"},
        **{"rewritten": "open", "odd": "problem", "odder": "withdrawn", "unseen": "locked"},
    },
    "ben": {
        **{"practice": "submitted", "practising": "open", "first": "submitted", "second": "open"},
        **{"third": "locked", "fourth": "withdrawn"},
        **{"recorded": "open", "odd": "submitted", "odder": "problem", "unseen": "locked"},
    },
    "gone": {"practice": "submitted", "first": "submitted", "second": "open", "third": "locked"},
    "zoe": {"practice": "submitted", "first": "submitted", "second": "open", "third": "withdrawn"},
}
TALKING = {
    "ours": {"ana": "open", "ben": "submitted", "gone": "open"},
    "other": {"zoe": "open"},
}
"""Who has an item once more in an informed round."""
PEOPLE = ("anonymous", "ana", "ben", "gone", "rita", "lea", "zoe", "zack")
"""ana and ben annotate, gone did, rita reviews, lea leads; zoe annotates and zack leads the other project. In the
closed one ana and ben have annotated and lea leads."""


@dataclass
class World:
    ours: Project
    other: Project
    ended: Project
    people: dict[str, Person | None]
    cookies: dict[str, str]
    assignments: dict[tuple[str, str], Assignment]
    set_up_secret: str
    password_secret: str
    invite_secret: str
    invites: dict[str, Invite]
    members: dict[str, Membership]
    work: dict[str, Work]
    secrets: dict[str, str]
    tokens_made: dict[str, Any]
    endpoints: dict[str, Endpoint]
    calls: dict[str, Call]
    disputes: dict[str, Disagreement]
    sent_back: Assignment
    again: dict[str, Assignment]
    told: dict[str, Assignment]
    whole: dict[str, Assignment]
    asked: dict[str, Assignment]
    posts: dict[str, Post]
    tokens: list[Token]
    net: Net

    def public_id(self, name: str, item: str) -> str:
        return self.assignments[name, item].public_id

    def usernames(self) -> dict[str, str]:
        return {name: person.username for name, person in self.people.items() if person}


def make_world() -> World:
    ours, other = factories.make_project(), factories.make_project(kind="choice", assigning="pool", overlap=2)
    members = {
        **{name: factories.make_member(ours, name) for name in ("ana", "ben", "gone")},
        "rita": factories.make_member(ours, "rita", Role.REVIEWER),
        "lea": factories.make_member(ours, "lea", Role.LEAD),
        "zoe": factories.make_member(other, "zoe"),
        "zack": factories.make_member(other, "zack", Role.LEAD),
    }
    Membership.objects.filter(pk=members["gone"].pk).update(left_at=factories.NOW)
    Person.objects.filter(username="ben").update(interface_language="zh-hans")
    Person.objects.filter(username="lea").update(may_create_projects=True)
    assignments, disputes, again, posts = {}, {}, {}, {}
    for project in (ours, other):
        items = material(project)
        mine = {name: plan for name, plan in PLANS.items() if members[name].project == project}
        for name, plan in mine.items():
            assignments |= {(name, item): given(members[name], items[item], plan[item]) for item in plan}
        decide(project, items, next(member for member in members.values() if member.project == project))
        who = members["rita" if project == ours else "zack"]
        whose = "ours" if project == ours else "other"
        disputes |= disputed(who, items, whose)
        talking = {members[name]: state for name, state in TALKING[whose].items()}
        looked_at, said = looked_at_again(talking, items["discussed"])
        again |= looked_at
        posts |= said
        if project == other:
            pooled(project, members["zoe"])
    sent_back, _ = (
        send_back(members[name], assignments[name, "first"].item, members["rita"]) for name in ("ana", "ben")
    )
    told = closed_and_told(members)
    whole = shown_whole()
    asked = asked_of_their_own()
    PairsDraw.objects.create(project=ours, seed=5, drawn_at=factories.NOW)
    work = imports(ours, "ours") | imports(other, "other")
    in_another_state(assignments)
    secret = set_up_links(ours)
    links = invites(members["lea"], "ours") | invites(members["zack"], "other")
    password_link = password_links(members["ben"].person)
    for name, member in members.items():
        Session.objects.create(session_key=session_key_of(name), person=member.person, expire_date=in_a_week())
    tokens_made = {name: scripts_of(member) for name, member in members.items()}
    tokens = plant_everything()
    names = {ours.pk: "ours", other.pk: "other"}
    people = {"anonymous": None} | {name: Person.objects.get(pk=member.person_id) for name, member in members.items()}
    return World(
        ours=Project.objects.get(pk=ours.pk),
        other=Project.objects.get(pk=other.pk),
        ended=Project.objects.get(pk=told["ana"].round.project_id),
        people=people,
        cookies={name: cookie_of(person, session_key_of(name)) for name, person in people.items()},
        assignments={key: Assignment.objects.get(pk=row.pk) for key, row in assignments.items()},
        set_up_secret=next(token.text for token in tokens if token.row == secret),
        password_secret=next(token.text for token in tokens if token.row == password_link),
        invite_secret=next(token.text for token in tokens if token.row == links["open of ours"]),
        invites={what: Invite.objects.get(pk=row.pk) for what, row in links.items()},
        members={name: Membership.objects.get(pk=member.pk) for name, member in members.items()},
        work={what: Work.objects.get(pk=row.pk) for what, row in work.items()},
        secrets={name: secret_of(row, tokens) for name, row in tokens_made.items()},
        tokens_made=tokens_made,
        endpoints={f"{row.provider} of {names[row.project_id]}": row for row in Endpoint.objects.order_by("-pk")},
        calls={f"{row.state} of {names[row.run.project_id]}": row for row in Call.objects.select_related("run")},
        disputes={what: Disagreement.objects.get(pk=row.pk) for what, row in disputes.items()},
        sent_back=Assignment.objects.get(pk=sent_back.pk),
        again={name: Assignment.objects.get(pk=row.pk) for name, row in again.items()},
        told={name: Assignment.objects.get(pk=row.pk) for name, row in told.items()},
        whole={name: Assignment.objects.get(pk=row.pk) for name, row in whole.items()},
        asked={name: Assignment.objects.get(pk=row.pk) for name, row in asked.items()},
        posts={name: Post.objects.get(pk=row.pk) for name, row in posts.items()},
        tokens=tokens,
        net=Net(tokens),
    )


def scripts_of(member):
    """A token of a person's script for the API, which is returned, and one that was revoked."""
    fields = {"project": member.project, "role": member.role}
    member.person.tokens.create(token_hash=f"revoked {member.pk}", revoked_at=factories.NOW, **fields)
    return member.person.tokens.create(token_hash=f"used {member.pk}", **fields)


def secret_of(row, tokens) -> str:
    """What stands planted where the hash of a secret is made from it."""
    return next(token.text for token in tokens if token.row == row and token.place == "Token.token_hash")


def material(project) -> dict[str, Item]:
    """Items by the names that plans use, and a trace that is still on its way in."""
    factories.make_protocol(project, **({"label_schema": QUESTION} if project.kind == "choice" else {}))
    batch = factories.make_batch(project)
    factories.make_batch(project, state=ImportBatch.State.REFUSED)
    staging = factories.make_batch(project, state=ImportBatch.State.STAGED)
    traces = [factories.make_trace(project, CONVERSATION, files=FILES, batch=batch) for _ in range(5)]
    staged = factories.make_trace(project, CONVERSATION, batch=staging, is_staged=True)
    factories.make_item(trace=staged)
    places = {"practice": (0, 4), "practising": (0, 9), "first": (1, 4), "second": (1, 7), "third": (1, 9)}
    places |= {"fourth": (1, 11), "odd": (3, 4), "odder": (3, 7), "unseen": (4, 4), "discussed": (4, 7)}
    items = {
        name: factories.make_item(trace=traces[trace], reply=reply, phase="practice" if trace == 0 else "main")
        for name, (trace, reply) in places.items()
    }
    arms = {"recorded": {}, "rewritten": {"text": "the same, said again"}}
    return items | {
        name: factories.make_item(trace=traces[2], reply=7, point=f"point-{project.pk}", arm=name, **text)
        for name, text in arms.items()
    }


def imports(project, name) -> dict[str, Work]:
    """Uploads in every state; what became of the files that were read is in batches of their own."""
    came_in, refused = (factories.make_batch(project, state=state) for state in ("visible", "refused"))
    return {
        f"waiting of {name}": factories.make_work(project),
        f"tried of {name}": factories.make_work(project, attempts=1, not_before=factories.NOW),
        f"running of {name}": factories.make_work(project, state="running", attempts=1, result={"batch": came_in.pk}),
        f"dead of {name}": factories.make_work(project, state="dead", attempts=3),
        f"imported of {name}": factories.make_work(project, state="done", result={"batch": came_in.pk}),
        f"refused of {name}": factories.make_work(project, state="done", result={"batch": refused.pk}),
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
    for name in ("practice", "practising"):
        Settlement.objects.create(item=items[name], label={}, how="known")
    Settlement.objects.create(item=items["first"], label={}, how="reviewer", person=member.person)
    Post.objects.create(
        item=items["first"], round=member.project.rounds.get(), author=member, purpose="thread", text="!"
    )
    Event.objects.create(project=project, person=member.person, action="done")
    judge_and_seal(project, [items["first"], items["second"]])


def flagged(project, item):
    """What a reader said of an item, one question of which a lead flags."""
    asked = {"origin": "model", "question": "?", "type": "reference", "about": "f", "start": 0, "end": 1, "removed": ""}
    asked |= {"answer": "", "quote": "f", "scope": "none", "quote_verified": False, "quote_in": None, "is_gap": True}
    verdict = {"failed": True, "failed_without_quote_check": True, "fail_gap": True}
    values = {"verdict": {**verdict, "fail_language": False, "fail_answer": False}, "questions": [asked], "n_gaps": 1}
    said = {"values": values, "spans": []}
    reading = factories.make_verdict(factories.make_run(project, "reader"), item, finding=said)
    Flag.objects.create(verdict=reading, place=0, what="quote", note="why")


def disputed(reviewer, items, whose) -> dict[str, Disagreement]:
    """Two items in the queue: one that somebody else settled, and one that this reviewer did, twice."""
    for is_current in (False, True):
        Settlement.objects.create(
            item=items["second"], label={}, how="reviewer", person=reviewer.person, is_current=is_current,
            cause="guideline", key=f"key of {is_current}", protocol=reviewer.project.protocols.first(),
        )  # fmt: skip
    rows = {"settled by others": items["first"], "settled by oneself": items["second"], "not settled": items["odd"]}
    return {
        f"{what} in {whose}": Disagreement.objects.create(
            item=item, project=reviewer.project, weight=0.5, n_labels=item.pk, last_annotation=item.pk
        )
        for what, item in rows.items()
    }


def looked_at_again(talking, item) -> tuple[dict[str, Assignment], dict[str, Post]]:
    """An item that was labelled in a round that is closed and that its annotators talk about in an informed one: what
    each has there, and their posts. Whoever corrected or answers once more says so to nobody else, nor who said
    something about the item elsewhere."""
    project = item.project
    closed = factories.make_round(project, purpose="protocol", closed_at=factories.NOW)
    informed = factories.make_round(project, purpose="informed", informed=True)
    rows, posts = {}, {}
    for member, state in talking.items():
        earlier = factories.make_submitted(member, item, round=closed)
        factories.make_annotation(earlier, reason="why")
        name = member.person.username
        rows[name] = factories.make_assignment(member, item, state, round=informed)
        if state == "submitted":
            factories.make_annotation(rows[name])
        said = {"item": item, "author": member, "text": "!"}
        posts[name] = Post.objects.create(round=informed, purpose="thread", key=f"thread {name}", **said)
        Post.objects.create(round=closed, purpose="thread", key=f"earlier {name}", **said)
        protocol = project.protocols.get(number=1)
        Post.objects.create(round=informed, purpose="gap", key=f"gap {name}", protocol=protocol, **said)
    elsewhere = factories.make_submitted(next(iter(reversed(talking))), item)
    factories.make_annotation(elsewhere)
    return rows, posts


def pooled(project, member) -> None:
    """The items of a project in its pool: one is read for as long as its lease goes on, and one that was taken back
    has been given to others meanwhile."""
    pools.fill(project=project)
    for row in member.assignments.filter(round__purpose="first", item__phase="main"):
        pools.take_place(row.item_id, project.overlap)
        if row.state == "open":
            Assignment.objects.filter(pk=row.pk).update(lease_until=in_a_week())
        if row.state == "withdrawn":
            Assignment.objects.filter(pk=row.pk).update(lease_until=factories.NOW)
            pools.take_place(row.item_id, project.overlap)


def closed_and_told(members) -> dict[str, Assignment]:
    """A project that is closed and tells its annotators what their items were settled to: what each answered. It has
    items that were not settled, or that only the other one had, as well."""
    project = factories.make_project(closed_at=factories.NOW, settings={"show_settled": True})
    project.rounds.update(closed_at=factories.NOW)
    factories.make_member(project, "lea", Role.LEAD)
    ana, ben = (factories.make_member(project, name) for name in ("ana", "ben"))
    shared, hers, his, practice = (factories.make_item(project, phase=phase) for phase in (*["main"] * 3, "practice"))
    protocol = project.protocols.get()
    for item in (shared, his):
        for is_current in (False, True):
            Settlement.objects.create(
                item=item, label={}, how="reviewer", person=members["lea"].person, is_current=is_current, cause="slip",
                key=f"{item.pk} {is_current}", protocol=protocol,
            )  # fmt: skip
    Settlement.objects.create(item=practice, label={}, how="known")
    told = {name: factories.make_submitted(member, shared) for name, member in (("ana", ana), ("ben", ben))}
    for member, item in ((ana, hers), (ben, his), (ben, practice)):
        factories.make_submitted(member, item)
    factories.make_assignment(ana, his, "withdrawn")
    return told


def shown_whole() -> dict[str, Assignment]:
    """A project whose items show the whole trace: what ana has open there, and has submitted; ben has labelled the same
    items, and one that she does not have."""
    project = factories.make_project(kind="redundancy")
    factories.make_member(project, "lea", Role.LEAD)
    ana, ben = (factories.make_member(project, name) for name in ("ana", "ben"))
    items = [
        factories.make_item(trace=factories.make_trace(project, CONVERSATION, files=FILES), reply=12) for _ in range(3)
    ]
    for item in items:
        factories.make_submitted(ben, item)
    factories.make_outcome(project)
    rows = [factories.make_submitted(ana, items[0]), factories.make_assignment(ana, items[1])]
    return dict(zip(("stored", "waiting"), rows, strict=True))


def asked_of_their_own() -> dict[str, Assignment]:
    """A project whose items ask a reader's question each: what ana has open there, with a draft, and has submitted; ben
    has labelled the same items, and one that she does not have."""
    project = factories.make_project(kind="gap")
    factories.make_member(project, "lea", Role.LEAD)
    ana, ben = (factories.make_member(project, name) for name in ("ana", "ben"))
    trace = factories.make_trace(project, CONVERSATION, files=FILES)
    items = [factories.make_item(trace=trace, reply=7, text="around the words", asked={}) for _ in range(3)]
    for item in items:
        factories.make_submitted(ben, item, label={"category": "term", "comment": ""})
    rows = [
        factories.make_submitted(ana, items[0], label={"category": "term", "comment": ""}),
        given(ana, items[1], "open"),
    ]
    return dict(zip(("stored", "waiting"), rows, strict=True))


def send_back(member, item, reviewer) -> Assignment:
    """An item that its annotator has once more, with the reviewer's reason."""
    round_ = member.project.rounds.filter(purpose="sent_back").first()
    round_ = round_ or factories.make_round(member.project, purpose="sent_back", informed=True)
    row = factories.make_assignment(member, item, round=round_)
    SentBack.objects.create(assignment=row, person=reviewer.person, key="k", reason="why", created_at=factories.NOW)
    return row


def judge_and_seal(project, items) -> None:
    """A judge's run with a job that was given up, a report, and a gold set."""
    pasted = factories.make_endpoint(project, provider="pasted")
    factories.make_endpoint(project, key_source="stored", key_sealed="sealed")
    factories.make_endpoint(project, key_source="environment", key_variable="SIGHTLINE_LLM_KEY")
    run = factories.make_run(project, items=items, endpoint=pasted, cap_calls=10)
    factories.make_call(run, items[1])
    answered = {"state": "answered", "response": "!", "answered_at": factories.NOW}
    factories.make_call(run, items[0], **answered)
    dead = {"kind": "verdict", "group": run.group, "state": "dead", "error": "!", "payload": {"item": items[1].pk}}
    factories.make_work(project, key=f"verdict {run.pk}", **dead)
    flagged(project, items[0])
    factories.make_report(project)
    factories.make_trial(project, factories.make_release(project, items), items)


def set_up_links(project) -> Invite:
    """An unspent link, which is returned, a spent one and one for a project."""
    Invite.objects.create(purpose="project", project=project, role="annotator", expires_at=in_a_week(), token_hash="a")
    Invite.objects.create(purpose="set_up", expires_at=in_a_week(), spent_at=factories.NOW, token_hash="b")
    return Invite.objects.create(purpose="set_up", expires_at=in_a_week(), token_hash="c")


def invites(lead, name) -> dict[str, Invite]:
    """Links to a project: one that is open, one that was used and one taken back."""
    common = {"purpose": "project", "project": lead.project, "role": "annotator", "languages": ["en"]}
    common |= {"created_by": lead.person, "expires_at": in_a_week()}
    states = {
        "open": {},
        "used": {"spent_at": factories.NOW, "spent_by": lead.person},
        "taken back": {"revoked_at": factories.NOW},
    }
    return {
        f"{state} of {name}": Invite.objects.create(token_hash=f"{state} of {name}", **common, **values)
        for state, values in states.items()
    }


def password_links(person) -> Invite:
    """A link with which a person sets a new password, which is returned, and one that was used."""
    Invite.objects.create(
        purpose="password", person=person, expires_at=in_a_week(), spent_at=factories.NOW, token_hash="d"
    )
    return Invite.objects.create(purpose="password", person=person, expires_at=in_a_week(), token_hash="e")


def in_a_week():
    return timezone.now() + timedelta(days=7)


def session_key_of(name) -> str:
    return f"session{name}".ljust(32, "0")


def cookie_of(person, session_key) -> str:
    """What the browser of a person sends who is signed in with this session, whose row is there."""
    if person is None:
        return ""
    session = SessionStore(session_key)
    session[SESSION_KEY] = str(person.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = person.get_session_auth_hash()
    session.save()
    return f"{settings.SESSION_COOKIE_NAME}={session_key}"


def key_of(assignment) -> str:
    return Annotation.objects.get(assignment=assignment, is_current=True).key
