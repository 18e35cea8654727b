"""Endpoints: where a project's judges ask their model. Made, changed, archived, and tried with one small question.

A key is written and never read back: pages know whether there is one. It stays with the server it was typed for: who
sets an endpoint to another address types the key again, so that nobody has another's key sent to a place of theirs.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from annotate import people
from annotate.errors import NotYours, Refused
from annotate.models import Event, Person, Project
from annotate.tokens import CONTROLS
from annotate.traces.base import Problem, gettext_noop
from scoring import llm, recorded
from scoring.endpoint_keys import is_fit, seal
from scoring.llm_addresses import Address, read_address, refused_scheme
from scoring.models import Endpoint
from scoring.models.endpoint import KEY_VARIABLES

Provider, KeySource = Endpoint.Provider, Endpoint.KeySource
LONGEST_NAME, LONGEST_MODEL = 60, 120
VARIABLE = re.compile(rf"{KEY_VARIABLES}[A-Z0-9_]{{0,60}}")
RANGES = {
    "temperature": (0, 2),
    "max_output_tokens": (1, 1_000_000),
    "seed": (0, 2**31 - 1),
    "price_in": (0, 1_000_000),
    "price_out": (0, 1_000_000),
    "concurrency": (1, 64),
    "per_minute": (1, 1_000_000),
    "deadline_seconds": (1, 3600),
    "most_bytes": (1000, 50_000_000),
}
TRIED_SECONDS = 20
"""The page of a person waits for it, and a thread that serves pages with it."""
TRIED_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 20}},
    "required": ["answer"],
    "additionalProperties": False,
}
TRIED = 'Answer with this JSON value and nothing else: {"answer": "ready"}'


@dataclass(frozen=True, slots=True)
class EndpointValues:
    """All of an endpoint but its key."""

    name: str
    provider: str = Provider.OPENAI
    address: str = ""
    model: str = ""
    temperature: float | None = 0.0
    max_output_tokens: int = 3000
    limit_field: str = Endpoint.LimitField.OLDER
    thinking: bool | None = None
    thinking_form: str = Endpoint.ThinkingForm.EFFORT
    seed: int | None = None
    knows_schema: bool = False
    key_source: str = KeySource.NONE
    key_variable: str = ""
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    is_proof: bool = False
    concurrency: int = 4
    per_minute: int = 60
    deadline_seconds: int = 120
    most_bytes: int = 2_000_000


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying an endpoint: a reply, or what went wrong."""

    reply: llm.Reply | None = None
    problem: Problem | None = None


def values_of(endpoint: Endpoint) -> EndpointValues:
    return EndpointValues(**{field.name: getattr(endpoint, field.name) for field in fields(EndpointValues)})


def make_endpoint(
    *, person: Person | None, project: Project, values: EndpointValues, key: str = ""
) -> Endpoint:
    """A new endpoint; `person` is None on the command line. Refused names the field that is wrong, NotYours who does
    not lead the project."""
    values = fitting(values)
    check(values)
    sealed = sealed_key(values, key, kept="")
    with transaction.atomic():
        project = locked(project, person)
        refuse_taken(project, values.name)
        endpoint = Endpoint.objects.create(project=project, **asdict(values), key_sealed=sealed)
        note(endpoint, "endpoint_made", person)
    return endpoint


def change_endpoint(
    *, person: Person | None, endpoint: Endpoint, values: EndpointValues, key: str = ""
) -> Endpoint:
    """Another state of it, which runs that began with the old one do not take over. The stored key stays where none is
    given, unless the address is another."""
    values = fitting(values)
    check(values)
    with transaction.atomic():
        locked(endpoint.project, person)
        endpoint = in_use(endpoint)
        if values.name != endpoint.name:
            refuse_taken(endpoint.project, values.name)
        kept = endpoint.key_sealed if same_place(endpoint.address, values.address) else ""
        before = asdict(values_of(endpoint))
        changed = {name: value for name, value in asdict(values).items() if value != before[name]}
        sealed = sealed_key(values, key, kept=kept)
        Endpoint.objects.filter(pk=endpoint.pk).update(**changed, key_sealed=sealed)
        names = [*changed, *(["key"] if sealed != endpoint.key_sealed else [])]
        endpoint = Endpoint.objects.get(pk=endpoint.pk)
        if names:
            note(endpoint, "endpoint_changed", person, changed=names)
    return endpoint


def archive_endpoint(*, person: Person | None, endpoint: Endpoint, now: datetime) -> bool:
    """No run begins with it any more, and its stored key is gone. False where that has happened already."""
    with transaction.atomic():
        locked(endpoint.project, person)
        gone = {"archived_at": now, "key_sealed": "", "key_variable": "", "key_source": KeySource.NONE}
        if not Endpoint.objects.filter(pk=endpoint.pk, archived_at=None).update(**gone):
            return False
        note(endpoint, "endpoint_archived", person)
    return True


def try_endpoint(*, person: Person | None, endpoint: Endpoint) -> Tried:
    """One small question, asked now. Who asks has to lead the project: it may cost something."""
    with transaction.atomic():
        locked(endpoint.project, person)
        endpoint = in_use(endpoint)
        if endpoint.provider != Provider.OPENAI:
            return Tried(problem=NOBODY_TO_TRY)
        note(endpoint, "endpoint_tried", person)
    endpoint.deadline_seconds = min(endpoint.deadline_seconds, TRIED_SECONDS)
    try:
        return Tried(llm.ask(endpoint, trial(endpoint)))
    except llm.ProviderError as error:
        return Tried(problem=error.sentence)


def trial(endpoint: Endpoint) -> llm.Request:
    return llm.Request(
        messages=({"role": "user", "content": TRIED},),
        model=endpoint.model,
        temperature=endpoint.temperature,
        max_output_tokens=endpoint.max_output_tokens,
        thinking=endpoint.thinking,
        seed=endpoint.seed,
        schema=TRIED_SCHEMA,
    )


def locked(project: Project, person: Person | None) -> Project:
    return people.lock_people(project) if person is None else people.lock_led(project, person)


def in_use(endpoint: Endpoint) -> Endpoint:
    """As it is now, behind the lock of its project; NotYours for one that was archived."""
    row = Endpoint.objects.select_related("project").filter(pk=endpoint.pk, archived_at=None).first()
    if row is None:
        raise NotYours
    return row


def refuse_taken(project: Project, name: str) -> None:
    if Endpoint.objects.filter(project=project, name=name, archived_at=None).exists():
        raise Refused(NAME_TAKEN)


def note(endpoint: Endpoint, action: str, person: Person | None, **more: list[str]) -> None:
    detail = {"endpoint": endpoint.name, **more}
    Event.objects.create(project=endpoint.project, person=person, action=action, detail=detail)


# What goes


def fitting(values: EndpointValues) -> EndpointValues:
    """Without blanks around, and without what its provider has no use for."""
    known = {name: value.strip() if isinstance(value, str) else value for name, value in asdict(values).items()}
    if known["provider"] != Provider.OPENAI:
        known |= {"key_source": KeySource.NONE}
    if known["provider"] == Provider.PASTED:
        known |= {"address": ""}
    if known["key_source"] != KeySource.ENVIRONMENT:
        known |= {"key_variable": ""}
    return EndpointValues(**known)


def check(values: EndpointValues) -> None:
    """Refused says the first thing that is wrong."""
    for problem in problems_of(values):
        raise Refused(problem)


def problems_of(values: EndpointValues) -> Iterator[Problem]:
    """Everything that is wrong with the values by themselves."""
    yield from unknown_choices(values)
    for name, longest in (("name", LONGEST_NAME), ("model", LONGEST_MODEL)):
        text = getattr(values, name)
        if not text or len(text) > longest or CONTROLS.search(text):
            yield wrong_text(name, longest)
    if values.provider == Provider.OPENAI:
        address = read_address(values.address)
        refused = refused_scheme(address, llm.allowed_addresses()) if isinstance(address, Address) else address
        if refused is not None:
            yield refused
    if values.provider == Provider.RECORDED and recorded.path_of(values.address) is None:
        yield BAD_RECORDING
    if values.key_source == KeySource.ENVIRONMENT and not VARIABLE.fullmatch(values.key_variable):
        yield BAD_VARIABLE
    for name, (least, most) in RANGES.items():
        number = getattr(values, name)
        if number is not None and not least <= number <= most:
            yield out_of_range(name, least, most)


def unknown_choices(values: EndpointValues) -> Iterator[Problem]:
    choices = {
        "provider": Provider.values,
        "key_source": KeySource.values,
        "limit_field": Endpoint.LimitField.values,
        "thinking_form": Endpoint.ThinkingForm.values,
    }
    for name, allowed in choices.items():
        if getattr(values, name) not in allowed:
            yield unknown_choice(name, allowed)


def sealed_key(values: EndpointValues, key: str, *, kept: str) -> str:
    """The key as it is stored: the one given, else the one that is there; Refused where there is none, or none that
    could be sent."""
    if values.key_source != KeySource.STORED:
        return ""
    key = key.strip()
    if not key and kept:
        return kept
    if not is_fit(key):
        raise Refused(KEY_MISSING)
    return seal(key)


def same_place(before: str, after: str) -> bool:
    """Whether two addresses are of one server."""
    old, new = read_address(before), read_address(after)
    if isinstance(old, Problem) or isinstance(new, Problem):
        return False
    return (old.scheme, old.place) == (new.scheme, new.place)


NAME_TAKEN = Problem(
    code="name_taken",
    field="name",
    expected=gettext_noop("A name that no other endpoint of the project has."),
    remedy=gettext_noop("Choose another name, or change the endpoint of this name."),
)
BAD_RECORDING = Problem(
    code="bad_recording",
    field="address",
    expected=gettext_noop("The name of a recording: small letters, digits, - and _, at most 60."),
    remedy=gettext_noop("Put it into the folder recorded of the data folder as NAME.jsonl, and write NAME here."),
)
BAD_VARIABLE = Problem(
    code="bad_variable",
    field="key_variable",
    expected=gettext_noop("The name of an environment variable that begins with %(beginning)s."),
    remedy=gettext_noop("Only these are for keys of models; have the operator set one, or store the key here."),
    params={"beginning": KEY_VARIABLES},
)
KEY_MISSING = Problem(
    code="key_missing",
    field="key",
    expected=gettext_noop("A key: letters, digits and signs without blanks. One that is stored stays with its server."),
    remedy=gettext_noop("Enter the key, or choose that there is none."),
)
NOBODY_TO_TRY = Problem(
    code="nobody_to_try",
    field="provider",
    expected=gettext_noop("An endpoint with a server behind it; the answers of this one are pasted or recorded."),
    remedy=gettext_noop("Start a run with it."),
)


def wrong_text(name: str, longest: int) -> Problem:
    return Problem(
        code="wrong_type",
        field=name,
        expected=gettext_noop("A text of 1 to %(longest)s characters, on one line."),
        remedy=gettext_noop("Write or shorten it."),
        params={"longest": longest},
    )


def out_of_range(name: str, least: int, most: int) -> Problem:
    return Problem(
        code="bad_number",
        field=name,
        expected=gettext_noop("A number from %(least)s to %(most)s."),
        remedy=gettext_noop("Choose one in this range."),
        params={"least": least, "most": most},
    )


def unknown_choice(name: str, allowed: list[str]) -> Problem:
    return Problem(
        code="unknown_choice",
        field=name,
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(allowed)},
    )
