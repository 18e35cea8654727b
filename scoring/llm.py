"""The one door to models: a request to an endpoint becomes a reply or an error of a kind that callers can act on.

One attempt, never a second one: who asks again, when and how often is decided by who keeps the calls (`asking.py`).
What a server answers is taken for a reply only where it has the shape of one; anything else comes back as the text it
was, headed by its status, so that no luck makes a verdict of it. No key stands in what is returned or raised.
"""

import hashlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NotRequired, TypedDict

import httpx2
import openai
from django.conf import settings
from django.utils import timezone

from annotate.traces.base import Problem
from scoring import llm_sentences
from scoring.endpoint_keys import MASK, KeyMissing, key_of, masked
from scoring.llm_addresses import Address, Allowed, read_address, refused_scheme
from scoring.llm_network import Unreached, begin, client
from scoring.models import Endpoint
from scoring.recorded import recorded_answer

ErrorKind = Literal["busy", "down", "key", "quota", "refused", "too_large", "bad_address"]

LONGEST_RETRY_AFTER = 24 * 3600.0
LONGEST_QUOTED = 300
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
FINISHED_CUT = {"length", "max_tokens"}
FINISHED_REFUSED = {"content_filter", "refusal", "safety"}


class ChatMessage(TypedDict):
    role: str
    content: NotRequired[Any]
    """A text, parts, or nothing beside calls of tools."""
    name: NotRequired[str]
    tool_calls: NotRequired[list[dict[str, Any]]]
    tool_call_id: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `None` leaves a setting to the server."""

    messages: tuple[ChatMessage, ...]
    model: str
    temperature: float | None = None
    max_output_tokens: int = 3000
    thinking: bool | None = None
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    """Declared, and none of them to be called."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, with U+0000 and half characters, which no database keeps, put visibly."""

    text: str
    cut: bool
    """The output limit ended it."""
    refused: bool
    """The server said that the model, or a filter before it, refused."""
    tokens_in: int | None
    tokens_out: int | None
    latency_ms: int
    request_id: str
    is_tool_call: bool = False
    """The model called a tool. The calls are the text where it said nothing else."""


class ProviderError(Exception):
    """There is no reply. `busy` and `down` may pass; `key` and `quota` concern every call; the others this request."""

    def __init__(self, kind: ErrorKind, sentence: Problem, retry_after: float | None = None) -> None:
        super().__init__(sentence.sentence())
        self.kind: ErrorKind = kind
        self.sentence = sentence
        self.retry_after = retry_after
        """Seconds that the server asks to wait."""


def as_json(request: Request) -> dict[str, Any]:
    """The request as it is stored: all of it, without the key."""
    return json.loads(json.dumps(without_empty(request)))


def without_empty(request: Request) -> dict[str, Any]:
    """Without tools where there are none, so that what was recorded before requests had any is still found."""
    values = asdict(request)
    return values if request.tools else {name: value for name, value in values.items() if name != "tools"}


def hash_of(request: Request) -> str:
    """Equal for equal requests, whichever endpoint they go to; recorded answers go by it."""
    text = json.dumps(without_empty(request), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def ask(endpoint: Endpoint, request: Request, *, attempt: int = 1) -> Reply:
    """One attempt. `attempt` tells recorded answers to one and the same request apart. Not to be called within a
    transaction, nor for an endpoint whose answers are pasted."""
    if endpoint.provider == Endpoint.Provider.PASTED:
        raise ValueError("Nobody is asked at an endpoint whose answers are pasted.")
    if endpoint.provider == Endpoint.Provider.RECORDED:
        return recorded_reply(endpoint, request, attempt)
    address = address_of(endpoint)
    try:
        key = key_of(endpoint, address.host)
    except KeyMissing as missing:
        raise ProviderError("key", llm_sentences.key_missing(missing.why, endpoint.key_variable)) from None
    began = time.monotonic()
    answer = sent(endpoint, request, address, key)
    latency_ms = round((time.monotonic() - began) * 1000)
    return reply_of(answer, key, latency_ms)


def allowed_addresses() -> Allowed:
    return Allowed(frozenset(settings.LLM_ALLOWED_HOSTS), settings.LLM_ALLOW_LOOPBACK)


def address_of(endpoint: Endpoint) -> Address:
    address = read_address(endpoint.address)
    problem = address if isinstance(address, Problem) else refused_scheme(address, allowed_addresses())
    if problem is not None:
        raise ProviderError("bad_address", problem)
    return address  # type: ignore[return-value]


# Sent


def sent(endpoint: Endpoint, request: Request, address: Address, key: str) -> httpx2.Response:
    """What the server answered, whatever its status."""
    sdk = openai.OpenAI(
        api_key=key or "none",
        base_url=address.url,
        max_retries=0,
        timeout=None,
        http_client=client(address, allowed_addresses()),
    )
    begin(endpoint.deadline_seconds, endpoint.most_bytes)
    try:
        return sdk.chat.completions.with_raw_response.create(**body_of(endpoint, request), **without(key)).http_response
    except openai.APIStatusError as error:
        return error.response
    except Unreached as error:
        raise unreached(error, endpoint, address) from None
    except openai.APIConnectionError:
        raise ProviderError("down", llm_sentences.BROKEN_OFF) from None


def without(key: str) -> dict[str, Any]:
    """Where there is no key, the word that stands for it is not sent either."""
    return {} if key else {"extra_headers": {"Authorization": openai.Omit()}}


def body_of(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": list(request.messages),
        endpoint.limit_field: request.max_output_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "extra_body": thinking(endpoint.thinking_form, request.thinking),
    }
    if request.schema is not None and endpoint.knows_schema:
        schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.tools:
        body |= {"tools": list(request.tools), "tool_choice": "none"}
    return {name: value for name, value in body.items() if value is not None}


def thinking(form: str, wanted: bool | None) -> dict[str, Any] | None:
    """How this server is told to think, or not to."""
    if wanted is None:
        return None
    forms: dict[str, dict[str, Any]] = {
        "reasoning_effort": {"reasoning_effort": "medium" if wanted else "none"},
        "chat_template_kwargs": {"chat_template_kwargs": {"enable_thinking": wanted}},
        "enable_thinking": {"enable_thinking": wanted},
        "thinking": {"thinking": {"type": "enabled" if wanted else "disabled"}},
    }
    return forms[form]


def unreached(error: Unreached, endpoint: Endpoint, address: Address) -> ProviderError:
    sentence = llm_sentences.unreached(
        error.why, address=address, seconds=endpoint.deadline_seconds, most_bytes=endpoint.most_bytes
    )
    if error.why == "not_allowed":
        return ProviderError("bad_address", sentence)
    return ProviderError("too_large" if error.why in ("too_large", "encoded") else "down", sentence)


# Answered


def reply_of(answer: httpx2.Response, key: str, latency_ms: int) -> Reply:
    """A reply, or the error that the status or the body of the answer is."""
    body = parsed(answer.content)
    if 300 <= answer.status_code < 400:
        raise ProviderError("bad_address", llm_sentences.REDIRECTED)
    if answer.status_code >= 400:
        return refusal_or_error(answer.status_code, answer, body, key, latency_ms)
    if isinstance(body.get("error"), dict) and not body.get("choices"):
        code = body["error"].get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else 502
        return refusal_or_error(status, answer, body, key, latency_ms)
    choice = first_choice(body)
    if choice is None:
        return made(raw(answer), key, answer, body, latency_ms)
    message = choice["message"]
    refusal, reason = message.get("refusal"), str(choice.get("finish_reason"))
    is_refused = (isinstance(refusal, str) and bool(refusal)) or reason in FINISHED_REFUSED
    calls = tool_calls_of(message)
    text = content_of(message) or (refusal if isinstance(refusal, str) else "") or calls
    is_cut = reason in FINISHED_CUT
    return made(text, key, answer, body, latency_ms, cut=is_cut, refused=is_refused, is_tool_call=bool(calls))


def refusal_or_error(
    status: int, answer: httpx2.Response, body: dict[str, Any], key: str, latency_ms: int
) -> Reply:
    """Some servers say by a status that a filter refused, which is a reply of a model all the same."""
    error = body.get("error")
    codes = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    if status == 400 and "content_filter" in codes:
        return made(raw(answer), key, answer, body, latency_ms, refused=True)
    raise error_of(status, answer, error, key)


def error_of(status: int, answer: httpx2.Response, error: Any, key: str) -> ProviderError:
    wait = retry_after(answer)
    code = str(error.get("code") or error.get("type") or "") if isinstance(error, dict) else ""
    if status == 402 or code in ("insufficient_quota", "billing_hard_limit_reached"):
        return ProviderError("quota", llm_sentences.status(llm_sentences.QUOTA, status))
    if status == 429:
        return ProviderError("busy", llm_sentences.status(llm_sentences.BUSY, status), wait)
    if status in (401, 403):
        return ProviderError("key", llm_sentences.status(llm_sentences.KEY_REFUSED, status))
    if status >= 500 or status in (408, 409, 425):
        return ProviderError("down", llm_sentences.status(llm_sentences.DOWN, status), wait)
    said = error.get("message") if isinstance(error, dict) else error
    words = " ".join(storable(masked(str(said or ""), key)).split())[:LONGEST_QUOTED]
    return ProviderError("refused", llm_sentences.status(llm_sentences.REFUSED, status, said=words or "-"))


def made(
    text: str,
    key: str,
    answer: httpx2.Response,
    body: dict[str, Any],
    latency_ms: int,
    *,
    cut: bool = False,
    refused: bool = False,
    is_tool_call: bool = False,
) -> Reply:
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    request_id = answer.headers.get("x-request-id") or str(body.get("id") or "")
    return Reply(
        text=storable(masked_whole(text, key)),
        cut=cut,
        refused=refused,
        tokens_in=count(usage.get("prompt_tokens")),
        tokens_out=count(usage.get("completion_tokens")),
        latency_ms=latency_ms,
        request_id=storable(masked(request_id[:200], key)),
        is_tool_call=is_tool_call,
    )


def recorded_reply(endpoint: Endpoint, request: Request, attempt: int) -> Reply:
    found = recorded_answer(endpoint.address, hash_of(request), attempt)
    if found is None:
        raise ProviderError("refused", llm_sentences.not_recorded(hash_of(request), attempt))
    return Reply(
        text=storable(str(found.get("text", ""))),
        cut=found.get("cut") is True,
        refused=found.get("refused") is True,
        tokens_in=count(found.get("tokens_in")),
        tokens_out=count(found.get("tokens_out")),
        latency_ms=count(found.get("latency_ms")) or 0,
        request_id="",
        is_tool_call=found.get("is_tool_call") is True,
    )


# What an answer says


def parsed(body: bytes) -> dict[str, Any]:
    """The object that a body is; empty for anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def first_choice(body: dict[str, Any]) -> dict[str, Any] | None:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and isinstance(first.get("message"), dict) else None


def content_of(message: dict[str, Any]) -> str:
    """The text of a message, which some servers give in parts."""
    content = message.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def tool_calls_of(message: dict[str, Any]) -> str:
    """The calls of tools that a message makes, as JSON; empty where it makes none."""
    calls = message.get("tool_calls") or message.get("function_call")
    return json.dumps(calls, ensure_ascii=False) if isinstance(calls, list | dict) and calls else ""


def raw(answer: httpx2.Response) -> str:
    """An answer that is no reply, headed so that nothing reads it as one."""
    kind = answer.headers.get("content-type", "")
    return f"HTTP {answer.status_code} {kind}\n\n{answer.content.decode('utf-8', 'replace')}"


def retry_after(answer: httpx2.Response) -> float | None:
    """How long a server asks to wait, in seconds from now, whether it says a number or a date."""
    milliseconds, word = answer.headers.get("retry-after-ms", ""), answer.headers.get("retry-after", "")
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(word)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(word) - timezone.now()).total_seconds()
        except (TypeError, ValueError):
            return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER) if seconds == seconds else None


def count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def storable(text: str) -> str:
    return UNSTORABLE.sub(lambda found: "\u2400" if found[0] == "\0" else "\ufffd", text)


def masked_whole(text: str, key: str) -> str:
    """An answer without the whole key; pieces stay, as an answer is kept as it came."""
    return text.replace(key, MASK) if key else text
