"""Projects and people come to be, and leads change them. Each function is one action in one transaction."""

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from annotate import assigning, lead_queries, pairing, people, pools, subsets
from annotate.errors import NotYours, Refused
from annotate.kinds.base import Schema, TaskKind
from annotate.kinds.registry import all_kinds, kind_of
from annotate.models import (
    Assigning,
    Event,
    Invite,
    Membership,
    Person,
    Phase,
    PoolItem,
    Project,
    Protocol,
    Role,
)
from annotate.traces.base import Problem, gettext_noop

SET_UP_DAYS = 7
LANGUAGES = ("en", "zh")
SETTINGS = {"text_beside_calls": ("private", "visible"), "show": ("light", "plain")}
"""What a project's settings may say; the first of each is what they say by default."""
ASSIGNING = tuple(Assigning.values)
POOL_DEFAULTS = {"assigning": Assigning.PANEL.value, "overlap": 3, "lease_minutes": 30}
MAX_OVERLAP, MAX_CAP, MAX_LEASE = 1000, 10**6, 7 * 24 * 60
MAX_SUGGESTIONS_OFF = 100
MAX_SEED = 2**63 - 1
MAX_TITLE = 200
MAX_GUIDELINE = 50_000
MAX_CHANGE_NOTE = 1_000
SLUG = re.compile(r"[\w-]{1,60}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a project needs to begin."""

    slug: str
    title_en: str
    title_zh: str
    seed: int
    kind: str = "reply"
    languages: tuple[str, ...] = LANGUAGES
    is_synthetic: bool = False
    text_beside_calls: str = "private"
    show: str = "light"
    open_lead: bool = False
    open_phase: str = Phase.MAIN
    label_schema: Mapping[str, Any] | None = None
    """Where the kind's schema is made by leads; without one a project begins with the kind's own."""
    assigning: str = Assigning.PANEL
    overlap: int = 3
    person_cap: int | None = None
    lease_minutes: int = 30
    suggestions_off: int = 0


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """What a lead may change of a project. Its kind and seed are not here: what was read and in which order rests on
    them."""

    title_en: str
    title_zh: str
    languages: tuple[str, ...]
    show: str
    text_beside_calls: str
    open_lead: bool
    assigning: str
    overlap: int
    person_cap: int | None
    lease_minutes: int
    suggestions_off: int


def settings_of(project: Project) -> ProjectSettings:
    return ProjectSettings(
        title_en=project.title_en,
        title_zh=project.title_zh,
        languages=tuple(project.languages),
        show=project.settings.get("show", "light"),
        text_beside_calls=project.settings.get("text_beside_calls", "private"),
        open_lead=project.open_lead,
        assigning=project.assigning,
        overlap=project.overlap,
        person_cap=project.person_cap,
        lease_minutes=pools.minutes(project.lease),
        suggestions_off=project.suggestions_off,
    )


def create_project(*, new: NewProject, by: Person | None, now: datetime) -> Project:
    """A project with the kind's own protocol as its first, and its first round. Who makes it leads it; commands, which
    nobody in particular gives, name its leads themselves. Refused where the slug is taken or a value is none there
    is."""
    if by is not None and not by.may_create_projects:
        raise NotYours
    check_new(new)
    kind = all_kinds()[new.kind]
    schema = checked_schema(kind, new.label_schema, None)
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=new.slug,
                title_en=new.title_en,
                title_zh=new.title_zh,
                kind=new.kind,
                languages=list(new.languages),
                seed=new.seed,
                settings={"text_beside_calls": new.text_beside_calls, "show": new.show},
                open_lead=new.open_lead,
                open_phase=new.open_phase,
                assigning=new.assigning,
                overlap=new.overlap,
                person_cap=new.person_cap,
                lease=timedelta(minutes=new.lease_minutes),
                suggestions_off=new.suggestions_off,
                is_synthetic=new.is_synthetic,
            )
            Protocol.objects.create(
                project=project,
                number=1,
                guideline_en=kind.guideline_en,
                guideline_zh=kind.guideline_zh,
                label_schema=dict(schema),
            )
            assigning.open_round(project=project, now=now)
            Event.objects.create(project=project, person=by, action="project_created", detail={"slug": new.slug})
            if by is not None:
                add_member(project=project, person=by, role=Role.LEAD, languages=new.languages, by=by, now=now)
    except IntegrityError:
        raise Refused(
            Problem(
                code="duplicate_id",
                field="slug",
                expected=gettext_noop("There is a project %(slug)s already."),
                remedy=gettext_noop("Choose another name."),
                params={"slug": new.slug},
            )
        ) from None
    return project


def checked_schema(kind: TaskKind, given: Mapping[str, Any] | None, newest: Schema | None) -> Schema:
    """The schema to store: what was given, else the newest, else the kind's own. Refused where the kind has one for
    good, LabelError where it is none."""
    if given is None:
        return newest or kind.schema
    if kind.check_schema is None:
        raise Refused(
            Problem(
                code="fixed_schema",
                field="label_schema",
                expected=gettext_noop("What labels of the kind %(kind)s say cannot be changed."),
                remedy=gettext_noop("Leave the schema out."),
                params={"kind": kind.name},
            )
        )
    return kind.check_schema(given, newest)


def check_new(new: NewProject) -> None:
    if not SLUG.fullmatch(new.slug) or not new.slug.strip("-_"):
        raise Refused(
            Problem(
                code="wrong_type",
                field="slug",
                expected=gettext_noop("A project's name has at most 60 letters, digits, hyphens and underscores."),
                remedy=gettext_noop("Choose another name."),
            )
        )
    check_settings(new)
    check_choice("kind", new.kind, sorted(all_kinds()), code="unknown_kind")
    check_choice("open_phase", new.open_phase, Phase.values)
    if new.assigning == Assigning.PAIRS:
        pairing.check_name(new.slug)


def check_settings(new: NewProject | ProjectSettings) -> None:
    for field in ("title_en", "title_zh"):
        check_text(field, getattr(new, field), limit=MAX_TITLE)
    for field, allowed in SETTINGS.items():
        check_choice(field, getattr(new, field), allowed)
    for language in new.languages or [""]:
        check_choice("languages", language, LANGUAGES)
    check_choice("assigning", new.assigning, ASSIGNING)
    check_number("overlap", new.overlap, MAX_OVERLAP)
    check_number("lease_minutes", new.lease_minutes, MAX_LEASE)
    if not 0 <= new.suggestions_off <= MAX_SUGGESTIONS_OFF:
        raise Refused(no_share("suggestions_off"))
    if new.person_cap is not None:
        check_number("person_cap", new.person_cap, MAX_CAP)


def no_share(field: str) -> Problem:
    return Problem(
        code="out_of_range",
        field=field,
        expected=gettext_noop("A whole number from 0 to %(limit)s."),
        remedy=gettext_noop("Correct it."),
        params={"limit": MAX_SUGGESTIONS_OFF},
    )


def check_number(field: str, value: int, limit: int) -> None:
    if not 1 <= value <= limit:
        raise Refused(
            Problem(
                code="out_of_range",
                field=field,
                expected=gettext_noop("A whole number from 1 to %(limit)s."),
                remedy=gettext_noop("Correct it."),
                params={"limit": limit},
            )
        )


def check_text(field: str, text: str, *, limit: int) -> None:
    if not text.strip():
        raise Refused(
            Problem(
                code="missing_field",
                field=field,
                expected=gettext_noop("This field is required."),
                remedy=gettext_noop("Fill it in."),
            )
        )
    if len(text) > limit:
        raise Refused(
            Problem(
                code="too_many",
                field=field,
                expected=gettext_noop("At most %(limit)s."),
                remedy=gettext_noop("Shorten it."),
                params={"limit": limit},
            )
        )


def check_choice(field: str, value: str, allowed: Sequence[str], *, code: str = "unknown_value") -> None:
    if value not in allowed:
        raise Refused(
            Problem(
                code=code,
                field=field,
                expected=gettext_noop("One of: %(allowed)s."),
                remedy=gettext_noop("Choose one of these; case counts."),
                params={"allowed": ", ".join(allowed)},
            )
        )


def update_project(*, project: Project, new: ProjectSettings, by: Person, now: datetime) -> Project:
    """Change what may be changed; Refused where traces, members or labels rest on what it was."""
    check_settings(new)
    with transaction.atomic():
        project = people.lock_led(project, by)
        old = settings_of(project)
        changed = [name for name in ProjectSettings.__dataclass_fields__ if getattr(old, name) != getattr(new, name)]
        if not changed:
            return project
        for language in old.languages:
            if language not in new.languages:
                check_language_is_free(project, language)
        if "text_beside_calls" in changed and lead_queries.has_traces(project):
            raise Refused(DECIDED_AT_IMPORT)
        project.title_en, project.title_zh = new.title_en, new.title_zh
        project.languages, project.open_lead = list(new.languages), new.open_lead
        project.settings |= {"show": new.show, "text_beside_calls": new.text_beside_calls}
        project.assigning, project.overlap, project.person_cap = new.assigning, new.overlap, new.person_cap
        project.lease, project.suggestions_off = timedelta(minutes=new.lease_minutes), new.suggestions_off
        columns = ("title_en", "title_zh", "languages", "settings", "open_lead", "suggestions_off")
        project.save(update_fields=[*columns, *POOL_FIELDS])
        if "assigning" in changed:
            change_assigning(project, now)
        elif "overlap" in changed:
            pools.change_places(PoolItem.objects.filter(project=project), new.overlap - old.overlap)
        if "open_lead" in changed:
            fit_leads(project, now)
        codes = {name: getattr(new, name) for name in changed if not name.startswith("title")}
        Event.objects.create(project=project, person=by, action="project_changed", detail={"changed": changed, **codes})
    return project


POOL_FIELDS = ("assigning", "overlap", "person_cap", "lease")


def change_assigning(project: Project, now: datetime) -> None:
    """Take the plans or the pool away and make the other; Refused where anything was given."""
    pools.remove(project)
    subsets.remove(project)
    assigning.take_plans_away(project)
    pairing.remove(project)
    assigning.extend_panel(project=project, now=now)


DECIDED_AT_IMPORT = Problem(
    code="decided_at_import",
    field="text_beside_calls",
    expected=gettext_noop("This is decided when the first trace comes in, and the project has traces."),
    remedy=gettext_noop("Make another project for the other way."),
)


def check_language_is_free(project: Project, language: str) -> None:
    """Refused while traces are in the language or members read it."""
    use = lead_queries.use_of_language(project, language)
    if use.n_traces or use.n_members:
        raise Refused(
            Problem(
                code="in_use",
                field="languages",
                expected=gettext_noop(
                    "A language that nothing uses can be removed; “%(language)s” is that of %(traces)s traces and is "
                    "read by %(members)s people."
                ),
                remedy=gettext_noop("Keep it, or first change what these people read."),
                params={"language": language, "traces": use.n_traces, "members": use.n_members},
            )
        )


def fit_leads(project: Project, now: datetime) -> None:
    """Give the leads their plans, or take them away again. The labels of a lead are counted after that: whatever was
    being submitted meanwhile is in by then, and nothing comes after it."""
    leads = Membership.objects.filter(project=project, role=Role.LEAD).select_related("project").order_by("pk")
    for member in leads.filter(left_at=None):
        assigning.fit_plan(member=member, now=now)
    n_labels = 0 if project.open_lead else lead_queries.n_labels_of_leads(project)
    if n_labels:
        raise Refused(
            Problem(
                code="in_use",
                field="open_lead",
                expected=gettext_noop("Leads have submitted %(n)s labels in this project, which stay in its figures."),
                remedy=gettext_noop("Leave it switched on, so that every report says so."),
                params={"n": n_labels},
            )
        )


def open_phase(*, project: Project, phase: str, by: Person, now: datetime) -> None:
    """Let annotators begin everything up to this phase. Back only while nobody was shown anything of what would be
    closed."""
    check_choice("phase", phase, Phase.values)
    with transaction.atomic():
        project = people.lock_led(project, by)
        closed = Phase.values[Phase.values.index(phase) + 1 : Phase.values.index(project.open_phase) + 1]
        n_shown = lead_queries.n_shown(project, phases=closed) if closed else 0
        if n_shown:
            raise Refused(
                Problem(
                    code="in_use",
                    field="phase",
                    expected=gettext_noop("A phase can be closed while nothing of it was shown; %(n)s items were."),
                    remedy=gettext_noop("Leave it open."),
                    params={"n": n_shown},
                )
            )
        before, project.open_phase = project.open_phase, phase
        if before != phase:
            project.save(update_fields=["open_phase"])
            detail = {"phase": phase, "before": before}
            Event.objects.create(project=project, person=by, action="phase_opened", detail=detail)


def new_protocol(
    *,
    project: Project,
    guideline_en: str,
    guideline_zh: str,
    change_note: str,
    after: int,
    by: Person,
    now: datetime,
    label_schema: Mapping[str, Any] | None = None,
) -> Protocol:
    """The next protocol, with the label schema of the one before unless another is given. `after` is the number of the
    one that its writer had before them: Refused where somebody else opened another meanwhile, and where nothing
    changed; LabelError where the schema is none."""
    english, chinese = tidy(guideline_en), tidy(guideline_zh)
    check_text("change_note", change_note, limit=MAX_CHANGE_NOTE)
    check_text("guideline_en", english or chinese, limit=MAX_GUIDELINE)
    check_text("guideline_zh", chinese or english, limit=MAX_GUIDELINE)
    with transaction.atomic():
        project = people.lock_led(project, by)
        newest = project.protocols.order_by("-number").first()
        if newest.number != after:
            raise Refused(opened_meanwhile(newest.number))
        schema = newest.label_schema
        if label_schema is not None:
            schema = dict(checked_schema(kind_of(project.kind), label_schema, schema))
        was = (tidy(newest.guideline_en), tidy(newest.guideline_zh), newest.label_schema)
        if (english, chinese, schema) == was:
            raise Refused(NOTHING_CHANGED)
        protocol = Protocol.objects.create(
            project=project,
            number=newest.number + 1,
            guideline_en=english,
            guideline_zh=chinese,
            label_schema=schema,
            change_note=change_note.strip(),
        )
        detail = {"number": protocol.number}
        Event.objects.create(project=project, person=by, action="protocol_opened", detail=detail)
    return protocol


NOTHING_CHANGED = Problem(
    code="nothing_changed",
    field="guideline_en",
    expected=gettext_noop("A new protocol differs from the one before; this one is the same in both languages."),
    remedy=gettext_noop("Change the guideline, or keep the protocol there is."),
)


def opened_meanwhile(number: int) -> Problem:
    return Problem(
        code="opened_meanwhile",
        field="after",
        expected=gettext_noop("Somebody opened protocol %(number)s while you were writing."),
        remedy=gettext_noop("Your text is kept below. Read theirs, take over what you want, and save again."),
        params={"number": number},
    )


def tidy(text: str) -> str:
    """Line ends as LF, as browsers send others, and nothing behind the last line."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip() + "\n" if text.strip() else ""


def add_member(
    *,
    project: Project,
    person: Person,
    role: str,
    code: str = "",
    languages: tuple[str, ...] = LANGUAGES,
    by: Person | None,
    now: datetime,
) -> Membership:
    """Give a person a part in a project, and an annotator their plan. A person has one part only."""
    with transaction.atomic():
        member = place_of(project, person, role, code, languages)
        detail = {"code": member.code, "role": role}
        Event.objects.create(project=project, person=by, action="member_added", detail=detail)
        assigning.fit_plan(member=member, now=now)
    return member


def place_of(project: Project, person: Person, role: str, code: str, languages: tuple[str, ...]) -> Membership:
    """The new membership; Refused where the person or the code is in the project already."""
    try:
        with transaction.atomic():
            return Membership.objects.create(
                project=project,
                person=person,
                role=role,
                code=code or free_code(project, role),
                languages=list(languages),
            )
    except IntegrityError:
        raise Refused(
            Problem(
                code="duplicate_id",
                field="person",
                expected=gettext_noop("%(person)s has a part in this project already, or the code is taken."),
                remedy=gettext_noop("One person has one part in a project."),
                params={"person": person.username},
            )
        ) from None


def free_code(project: Project, role: str) -> str:
    """The next code of a role that nobody in the project has."""
    codes = set(Membership.objects.filter(project=project).values_list("code", flat=True))
    number = Membership.objects.filter(project=project, role=role).count() + 1
    while f"{role[0]}{number}" in codes:
        number += 1
    return f"{role[0]}{number}"


def hash_of(secret: str) -> str:
    """How a link's secret is stored: it is long and random, so a plain hash suffices."""
    return hashlib.sha256(secret.encode()).hexdigest()


def first_lead_secret(*, now: datetime) -> str | None:
    """The secret of a new set-up link while there is nobody who may create projects, else None. Older links die."""
    if Person.objects.filter(may_create_projects=True).exists():
        return None
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        Invite.objects.filter(purpose=Invite.Purpose.SET_UP, spent_at=None).update(expires_at=now)
        Invite.objects.create(
            token_hash=hash_of(secret), purpose=Invite.Purpose.SET_UP, expires_at=now + timedelta(days=SET_UP_DAYS)
        )
    return secret


def find_set_up(secret: str, *, now: datetime) -> Invite | None:
    """An unspent set-up link that has not expired."""
    return Invite.objects.filter(
        token_hash=hash_of(secret), purpose=Invite.Purpose.SET_UP, spent_at=None, expires_at__gt=now
    ).first()


def set_up_first_lead(*, secret: str, username: str, password: str, now: datetime) -> Person | None:
    """Spend the link and make the account, both or neither. None where the link is spent or expired by now. The
    password is hashed before, as nobody may wait for that."""
    hashed = make_password(password)
    with transaction.atomic():
        link = Invite.objects.filter(
            token_hash=hash_of(secret), purpose=Invite.Purpose.SET_UP, spent_at=None, expires_at__gt=now
        )
        if not link.update(spent_at=now):
            return None
        username = Person.normalize_username(username)
        person = Person.objects.create(username=username, password=hashed, may_create_projects=True)
        Event.objects.create(person=person, action="first_lead_set_up")
    return person
