"""The contract of a judge: what it may see, what it is called and set to, and the one pure step that gives its Finding.

A judge is one module of this folder with a `JUDGE`. It gets values and never a row, a request or a clock, so the same
view and settings give the same Finding. What the Finding means as a label is the kind's to say (`from_finding`). A
judge that has to ask a model hands back its question (`Ask`) in place of the Finding and is called again with all
answers so far, as they came: it reads them itself, and asks once more for what it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from annotate.kinds.base import Finding, MessageBlock
from annotate.kinds.reply.label import SCHEMA
from annotate.kinds.reply.view import view
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import TextBesideCalls, context, requester_view, seen_by_requester
from annotate.traces.base import Message, Problem, Trace, gettext_noop


@dataclass(frozen=True, slots=True)
class ReplyView:
    """A reply with everything that stood before it, in canonical texts. What the requester saw (R) is `files` and
    `dialog`, which holds `request`, the message being answered, at its place. Private are `held`, what the agent still
    had before it when it wrote, and `earlier`, what it had no more or never as part of its work record: other sessions,
    what a compaction dropped, system prompts."""

    language: str
    """Of the collaboration: `en`, `zh` or empty where nobody said."""
    request: str
    files: tuple[tuple[str, str], ...]
    dialog: tuple[str, ...]
    reply: str
    held: tuple[str, ...]
    earlier: tuple[str, ...]
    speakers: tuple[Literal["you", "agent"], ...] = ()
    """Who says each part of `dialog`."""


MOST_ATTEMPTS = 3
"""So often at most a judge asks one question of a judgment, answers that it could not read among them."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The next question to a model. `step` and `attempt` name it within a judgment: an answer that cannot be used is
    asked for again with the next attempt, at most MOST_ATTEMPTS in all."""

    step: str
    attempt: int
    prompt: str
    """Key of the prompt, such as `reader.questions`; empty where `messages` are all that is said."""
    language: str
    """`en` or `zh`: which text of the prompt."""
    values: Mapping[str, str]
    """By placeholder; judged texts among them are delimited when the prompt is put together."""
    schema: Mapping[str, Any]
    """JSON schema of the answer, for endpoints that know it; empty where a text is asked for."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """A chat in OpenAI form that is sent as it is; the prompt, if there is one, comes behind it as a user message."""
    also: str = ""
    """Key of a prompt whose text is put behind that of the system message, or is the system message where there is
    none."""
    tools: tuple[Mapping[str, Any], ...] = ()
    """Tools in OpenAI form that the request declares and forbids to call."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for an Ask, as it came."""

    step: str
    attempt: int
    text: str
    cut: bool = False
    """The output limit ended it."""
    refused: bool = False
    """The endpoint said that the model refused."""
    is_tool_call: bool = False
    """The model called a tool in place of saying something, or beside it."""


class SettingsError(ValueError):
    """Settings a judge cannot work with; `problems` names every one that is wrong."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.sentence() for problem in problems))
        self.problems = problems


class View(Protocol):
    """What a judge sees of one item, from the whole trace; the setting is the project's."""

    def __call__(self, trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private") -> Any: ...


def no_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """For a judge that has none."""
    refuse_unknown(given, ())
    return {}


def refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SettingsError(*(unknown_setting(name, known) for name in unknown[:MOST_UNKNOWN]))


MOST_UNKNOWN = 20


def unknown_setting(name: str, known: tuple[str, ...]) -> Problem:
    return Problem(
        code="unknown_field",
        field=name[:80],
        expected=gettext_noop("The settings of this judge are: %(fields)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"fields": ", ".join(known) or "-"},
    )


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting of a judge's own as a page asks for it: by a choice of values, a whole number or several, or yes and
    no. Titles and hints are message ids; what is left empty is as the judge has it."""

    name: str
    title: str
    kind: Literal["choice", "whole", "wholes", "truth"]
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Reads:
    """The earlier run whose findings a judge builds on: its view gets as `earlier` the values of what that run found
    of the same item, sample 0."""

    setting: str
    """Name of the setting that holds the number of the run."""
    judge: str | tuple[str, ...]
    """Name of the judge whose run it has to be, or of those of which it may be one."""
    missing: str
    """What is said of an item of which that run found nothing; a message id."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the earlier run has to have."""
    several: int = 0
    """Of so many runs: the setting holds their numbers, `earlier` is what each found in their order, None where it is
    nothing that can be read, and the items are those that one of them was to judge."""
    alike: tuple[str, ...] = ()
    """Settings in which several runs have to be equal. No two of them may have all settings equal."""
    is_optional: bool = False
    """Whether the setting may be empty; `earlier` is then None. Else the items are those that the run was to judge."""

    @property
    def judges(self) -> tuple[str, ...]:
        return (self.judge,) if isinstance(self.judge, str) else self.judge


Materials = Literal["guideline", "examples", "gold", "plan"]


@dataclass(frozen=True, slots=True)
class Example:
    """A whole item with the label it was sealed with."""

    number: int
    area: str
    trace: Trace
    label: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Material:
    """What a judge is given beside the trace, as far as it `takes` it, by the numbers in its settings."""

    area: str = ""
    """Of the trace: its domain."""
    guideline: Mapping[str, str] = field(default_factory=dict)
    """By language, of the protocol in the setting `protocol`."""
    examples: tuple[Example, ...] = ()
    """Items of the setting `examples`, from the release in the setting `release`."""
    gold: Mapping[str, Any] | None = None
    """The label of this item in that release; None where it has none."""
    plan: tuple[Mapping[str, Any], ...] | None = None
    """The calls that the task needs, as the source says; None where it does not."""


def run_number(given: Mapping[str, Any], name: str) -> int | None:
    """A setting that names an earlier run by its number; None where it is not set. Raises SettingsError."""
    number = given.get(name)
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 2**31):
        raise SettingsError(no_such_run(name))
    return number


def no_such_run(name: str) -> Problem:
    return Problem(
        code="no_such_run",
        field=name,
        pointer=f"/{name}",
        expected=gettext_noop("The number of an earlier run of this project that this judge can build on."),
        remedy=gettext_noop("Name one of the judge whose findings are needed, once it is through."),
    )


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """One judge as the rest of the product knows it. `title` and `describe` are message ids; `version` changes with
    everything that may change a verdict."""

    name: str
    title: str
    describe: str
    version: str
    kinds: tuple[str, ...]
    """Names of the task kinds whose items it judges."""
    view: Callable[..., Any]
    """A View; of a judge that `reads` an earlier run or `takes` material one that takes these too."""
    step: Callable[..., Ask | Finding]
    """What it says of one view under complete settings: `step(view, settings)`. Of a judge that asks it is
    `step(view, settings, answers)` with the answers so far in order, and may be the next question; after MOST_ATTEMPTS
    answers that it cannot read it is a Finding with the last of them as `unreadable`. One that raises ends the attempt
    at this item and no other."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What holds where nothing is set."""
    read_settings: Callable[[Mapping[str, Any]], dict[str, Any]] = no_settings
    """The complete settings, as they are stored with the judge, from those that somebody gave; raises SettingsError.
    Complete ones come back as they are."""
    fields: tuple[SettingField, ...] = ()
    """Which of its settings pages ask for; the command and the API take all of them."""
    asks: bool = False
    """Whether it asks a model. Its settings then name the endpoint as `read_endpoint` has it."""
    prompts: tuple[str, ...] = ()
    """Keys of the prompts it uses."""
    works_on: Literal["items", "points"] = "items"
    """Whether it judges the items of phases, or writes for chosen reply points and for nothing else."""
    usual_calls: float = 1.0
    """About so many calls a judgment, for the estimate of a first run."""
    gives_labels: bool = True
    """Whether its findings are labels of the kind. Runs of one that gives none stand beside nobody on the agreement
    page."""
    gives_labels_under: Callable[[Mapping[str, Any]], bool] = lambda settings: True
    """Of a judge that gives labels: whether it does under these settings."""
    brings: bool = False
    """Whether what it says was said elsewhere and comes with the run, item by item; its view then takes `said` too,
    None of an item of which nothing was said. Nobody starts it without."""
    reads: Reads | None = None
    """The earlier run it builds on; its view then takes `earlier` too."""
    takes: tuple[Materials, ...] = ()
    """What it is given beside the trace; its view then takes `material` too. With `gold` it judges only items that the
    release has a label of, with `examples` none that is shown as one, unless `judge_examples` is set."""
    has_something: Callable[[Mapping[str, Any]], bool] = lambda gold: True
    """Of a judge that takes gold: whether there is anything to ask about a label."""
    gold_is_optional: bool = False
    """Whether it may run without a release: it is then given no gold, and judges all items."""
    only_succeeded: bool = False
    """Whether items of traces whose file says that the run failed are left out of its runs."""


ENDPOINT_FIELDS = ("name", "address", "model", "temperature", "max_output_tokens", "thinking", "seed")
"""What of an endpoint may change an answer, and so is part of a judge's settings; its key is not."""


def read_endpoint(given: Mapping[str, Any]) -> dict[str, Any]:
    """The setting `endpoint` of a judge that asks, complete; raises SettingsError."""
    endpoint = given.get("endpoint")
    if not isinstance(endpoint, Mapping) or set(endpoint) != set(ENDPOINT_FIELDS):
        raise SettingsError(no_endpoint())
    return {name: endpoint[name] for name in ENDPOINT_FIELDS}


def no_endpoint() -> Problem:
    return Problem(
        code="no_endpoint",
        field="endpoint",
        expected=gettext_noop("The endpoint whose model this judge asks."),
        remedy=gettext_noop("Choose one of the project's endpoints, or set one up first."),
    )


def reply_view(trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private") -> ReplyView:
    """The view of one reply. R is cut and put into words by the very functions that show it to annotators."""
    seen = requester_view(trace, anchor, text_beside_calls)
    reply = next(message for message in trace.messages if message.index == anchor)
    shown = view(replace(trace, messages=(*seen.dialog, reply)), anchor, SCHEMA)
    said = [message.text for message in seen.dialog if message.role == "user" and message.text.strip()]
    before = [message for message in trace.messages if message.index < anchor]
    held = {message.index for message in context(trace.messages, anchor)}
    return ReplyView(
        language=trace.language,
        request=canonical(said[-1]),
        files=tuple((file.name, canonical(file.text)) for file in seen.files),
        dialog=tuple(canonical(block.text) for block in shown.context if isinstance(block, MessageBlock)),
        reply=canonical(reply.text),
        held=private_texts([message for message in before if message.index in held], text_beside_calls),
        earlier=private_texts([message for message in before if message.index not in held], text_beside_calls),
        speakers=tuple(block.speaker for block in shown.context if isinstance(block, MessageBlock)),
    )


def private_texts(messages: list[Message], text_beside_calls: TextBesideCalls) -> tuple[str, ...]:
    """What the requester did not see of these messages: unseen texts with the names of their tools, and every call of
    the agent, also beside a text that was seen."""
    texts: list[str] = []
    for message in messages:
        if not seen_by_requester(message, text_beside_calls):
            texts += [message.name, message.text]
        if message.side != "user":
            texts += [part for call in message.calls for part in (call.name, call.arguments)]
    return tuple(canonical(text) for text in texts if text.strip())
