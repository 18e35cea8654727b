"""One question to a model: put into words, stored before it is sent, its answer recorded before anybody reads it."""

import hashlib
import hmac
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from annotate import people
from annotate.errors import JobFailed, Refused
from annotate.models import Person, Project
from annotate.traces.base import Problem, gettext_noop
from scoring import call_queries, llm
from scoring.asking import Prices, in_json, message_text, tokens_of
from scoring.judges import prompts
from scoring.judges.base import Answer, Ask
from scoring.models import Call, Endpoint, Prompt, Run

State = Call.State
Prompts = Mapping[tuple[str, str], Prompt]
MOST_MARKS = 20


# Prompts


def prompts_for(project: Project, keys: Sequence[str], chosen: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The versions that a run is to use, as it stores them: those with the numbers chosen, else the newest of the
    project. The text that the product brings along is number 1 of each, written down when it is first used. Refused
    for a number that is not there, or of a prompt that is not among `keys`."""
    wanted = {(key, language): number for key, of in chosen.items() for language, number in of.items()}
    for key, language in wanted:
        if key not in keys or language not in prompts.LANGUAGES:
            raise Refused(unknown_prompt(keys))
    used = call_queries.newest_prompts(project, keys)
    for key, language in itertools.product(keys, prompts.LANGUAGES):
        if (key, language) not in used or wanted.get((key, language)) == 1:
            used[key, language] = first_version(project, key, language)
    used |= {place: numbered(project, *place, number) for place, number in wanted.items() if number != 1}
    return {key: {language: used[key, language].pk for language in prompts.LANGUAGES} for key in keys}


def numbered(project: Project, key: str, language: str, number: int) -> Prompt:
    """A version by its number; the first one is written down when it is first used. Refused where there is none."""
    if number == 1:
        return first_version(project, key, language)
    found = call_queries.prompt_numbered(project, key, language, number)
    if found is None:
        raise Refused(UNKNOWN_VERSION)
    return found


def first_version(project: Project, key: str, language: str) -> Prompt:
    text = prompts.SHIPPED[key, language]
    values = {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    row, _ = Prompt.objects.get_or_create(project=project, key=key, language=language, number=1, defaults=values)
    return row


def prompts_of_run(run: Run) -> dict[tuple[str, str], Prompt]:
    ids = [row for languages in run.prompts.values() for row in languages.values()]
    return {(row.key, row.language): row for row in call_queries.prompts_of(run.project, ids)}


# In words


def in_words(prompt: str, values: Mapping[str, str]) -> str:
    """The prompt with its values. The word that delimits them is made with the server's key, so that nobody who wrote a
    value can know it, and equal values give an equal request."""
    told = json.dumps([prompt, dict(values)], sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    for number in range(MOST_MARKS):
        mark = hmac.new(settings.SECRET_KEY.encode(), b"%d:" % number + told, hashlib.sha256).hexdigest()[:20]
        try:
            return prompts.render(prompt, values, mark)
        except prompts.MarkInValue:
            continue
    raise JobFailed(NO_MARK)


def request_of(run: Run, versions: Prompts, ask: Ask, sample: int) -> llm.Request:
    """What is sent for a question, by the settings that stand with the judge."""
    return request_by(run.judge.settings["endpoint"], versions, ask, sample)


def request_by(endpoint: Mapping[str, Any], versions: Prompts, ask: Ask, sample: int = 0) -> llm.Request:
    return llm.Request(
        messages=messages_of(versions, ask),
        model=endpoint["model"],
        temperature=endpoint["temperature"],
        max_output_tokens=endpoint["max_output_tokens"],
        thinking=endpoint["thinking"],
        seed=seed_of(endpoint["seed"], sample),
        schema=dict(ask.schema) or None,
        tools=tuple(dict(tool) for tool in ask.tools),
    )


def seed_of(seed: int | None, sample: int) -> int | None:
    """Another one for each further sample, so that what temperature 0 would make equal is drawn by itself."""
    return seed if sample == 0 else (seed or 0) + sample


def messages_of(versions: Prompts, ask: Ask) -> tuple[llm.ChatMessage, ...]:
    """The chat of a question as it is, what is to be told besides in its system message, and its prompt at the end."""
    messages: list[Any] = [dict(message) for message in ask.messages]
    if ask.also:
        messages = with_system(messages, said_by(versions, ask.also, ask))
    if ask.prompt:
        messages.append({"role": "user", "content": said_by(versions, ask.prompt, ask)})
    return tuple(messages)


def said_by(versions: Prompts, key: str, ask: Ask) -> str:
    if (key, ask.language) not in versions:
        raise JobFailed(NO_PROMPT)
    return in_words(versions[key, ask.language].text, ask.values)


def with_system(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """With a text behind that of the first system message, or with a system message of its own."""
    place = next((at for at, message in enumerate(messages) if message["role"] == "system"), None)
    if place is None:
        return [{"role": "system", "content": text}, *messages]
    before = messages[place].get("content") or ""
    if isinstance(before, list):
        content: Any = [*before, {"type": "text", "text": text}]
    else:
        content = f"{before}\n\n{text}" if before else text
    return [*messages[:place], {**messages[place], "content": content}, *messages[place + 1 :]]


def tokens_in_of(request: llm.Request) -> int:
    return sum(tokens_of(text) for text in (*map(message_text, request.messages), *map(in_json, request.tools)))


# Stored


def new_call(run: Run, item: int, sample: int, ask: Ask, versions: Prompts) -> Call:
    """A call that is not written yet."""
    request = request_of(run, versions, ask, sample)
    return Call(
        run=run,
        item_id=item,
        sample=sample,
        step=ask.step,
        attempt=ask.attempt,
        prompt=versions.get((ask.prompt or ask.also, ask.language)),
        request=llm.as_json(request),
        request_hash=llm.hash_of(request),
        tokens_expected=tokens_in_of(request) + request.max_output_tokens,
    )


def store(call: Call) -> None:
    """Write it down, not sent yet."""
    if call.pk is None:
        call.stored_at = Now()  # type: ignore[assignment]
        call.save(force_insert=True)


def begin_try(call: Call) -> None:
    """Write down that it is sent now."""
    call.n_tries += 1
    if call.pk is None:
        call.state, call.stored_at, call.sent_at = State.SENT, Now(), Now()  # type: ignore[assignment]
        call.save(force_insert=True)
    else:
        Call.objects.filter(pk=call.pk).exclude(state=State.ANSWERED).update(
            state=State.SENT, sent_at=Now(), n_tries=F("n_tries") + 1, error=None
        )


def take_back_try(call: Call) -> None:
    """It was not sent after all."""
    this_try(call).update(state=State.STORED, sent_at=None, n_tries=F("n_tries") - 1)
    call.n_tries -= 1


def this_try(call: Call) -> QuerySet[Call]:
    """The row, as long as no other worker has sent it again."""
    return Call.objects.filter(pk=call.pk, state=State.SENT, n_tries=call.n_tries)


def send(call: Call, endpoint: Endpoint) -> llm.Reply:
    """Ask now; outside any transaction. ProviderError where there is no answer."""
    return llm.ask(endpoint, stored_request(call), attempt=call.attempt)


def stored_request(call: Call) -> llm.Request:
    lists = {name: tuple(call.request.get(name, ())) for name in ("messages", "tools")}
    return llm.Request(**{**call.request, **lists})


def record_answer(call: Call, reply: llm.Reply, prices: Prices) -> Answer:
    """The answer as it came, once: one that was recorded meanwhile stays, and is the one to go by."""
    cost = prices.cost(reply.tokens_in, reply.tokens_out)
    recorded = Call.objects.filter(pk=call.pk).exclude(state=State.ANSWERED).update(
        state=State.ANSWERED,
        response=reply.text,
        cut=reply.cut,
        refused=reply.refused,
        is_tool_call=reply.is_tool_call,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        latency_ms=reply.latency_ms,
        request_id=reply.request_id[:200],
        cost=cost,
        error=None,
        answered_at=Now(),
    )
    if recorded:
        return Answer(call.step, call.attempt, reply.text, reply.cut, reply.refused, reply.is_tool_call)
    return answer_of(Call.objects.get(pk=call.pk))


def copy_recorded(call: Call) -> Answer | None:
    """Take the recorded answer to an equal request, if there is one; nothing is sent."""
    other = call_queries.recorded_answer(call.run, call)
    if other is None:
        return None
    store(call)
    Call.objects.filter(pk=call.pk).exclude(state=State.ANSWERED).update(
        state=State.ANSWERED,
        response=other.response,
        cut=other.cut,
        refused=other.refused,
        is_tool_call=other.is_tool_call,
        copied_from=other,
        error=None,
        answered_at=Now(),
    )
    return Answer(call.step, call.attempt, other.response or "", other.cut, other.refused, other.is_tool_call)


def turn_away(call: Call, problem: Problem, *, is_lost: bool = False, is_over: bool = False) -> None:
    """This try brought no answer; with `is_over` no other one follows, with `is_lost` it may have been charged."""
    this_try(call).update(
        state=State.FAILED if is_over else State.STORED,
        error=asdict(problem),
        n_lost=F("n_lost") + int(is_lost),
    )


def lose_tries(run: Run) -> int:
    """What was under way in a worker that is gone may have been charged and has to be asked again."""
    return Call.objects.filter(run=run, state=State.SENT).update(state=State.STORED, n_lost=F("n_lost") + 1)


def answer_of(call: Call) -> Answer:
    return Answer(call.step, call.attempt, call.response or "", call.cut, call.refused, call.is_tool_call)


def record_by_hand(*, person: Person, call: Call, text: str, cut: bool = False) -> bool:
    """The answer that a person brought from elsewhere; False where there is one already. NotYours for who does not lead
    the project. Whoever calls this lets the run go on (`running.go_on`) in the same transaction."""
    with transaction.atomic():
        people.lock_led(call.run.project, person)
        waiting = Call.objects.filter(pk=call.pk, state=State.STORED)
        return bool(waiting.update(state=State.ANSWERED, response=text, cut=cut, error=None, answered_at=Now()))


NO_PROMPT = gettext_noop("The run has no version of a prompt that the judge asks by. Start a new run.")
NO_MARK = gettext_noop("No word was found that the text does not hold, to tell where it begins and ends.")


# What goes


def unknown_prompt(keys: Sequence[str]) -> Problem:
    return Problem(
        code="unknown_prompt",
        field="prompt",
        expected=gettext_noop("A prompt of this project's judges, in English or Chinese: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(keys) or "-"},
    )


UNKNOWN_VERSION = Problem(
    code="unknown_version",
    field="version",
    expected=gettext_noop("The number of a version there is."),
    remedy=gettext_noop("Choose one from the list."),
)
