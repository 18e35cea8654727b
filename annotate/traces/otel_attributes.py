"""What the attributes and events of a span say in GenAI conventions: OpenTelemetry's (messages as events, and later as
attributes), OpenLLMetry's numbered ones, the Vercel AI SDK's, and OpenInference's. The first that is there counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.traces.base import Call, Message
from annotate.traces.otel_forms import read_messages
from annotate.traces.otel_messages import Found, Said, is_message, unpacked
from annotate.traces.otel_parts import call_of, first, is_part, parts_of, result_text, undotted
from annotate.traces.otel_spans import Span, is_number
from annotate.traces.otel_steps import Kind, ToolUse
from annotate.traces.values import as_id, as_list, as_object

KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("execute_tool", "tool", "ai.toolcall"), "tool"),
    **dict.fromkeys(("chat", "text_completion", "generate_content", "completion", "llm", "generation"), "model"),
    **dict.fromkeys(("invoke_agent", "create_agent", "agent"), "agent"),
    **dict.fromkeys(("embeddings", "embedding", "retriever", "reranker", "rerank", "guardrail", "evaluator"), "none"),
    **dict.fromkeys(("ai.embed", "ai.embedmany", "ai.rerank"), "none"),
}
"""By the words that conventions have for what a span is, in small letters."""
KIND_NAMES = (
    "gen_ai.operation.name",
    "ai.operationId",
    "openinference.span.kind",
    "traceloop.span.kind",
    "llm.request.type",
    "langfuse.observation.type",
)
USAGES = ("gen_ai.usage.", "ai.usage.", "llm.token_count.", "llm.usage.", "codex.turn.token_usage.")
MODELS = (
    "gen_ai.response.model",
    "ai.response.model",
    "gen_ai.request.model",
    "ai.model.id",
    "llm.model_name",
    "embedding.model_name",
    "model",
)
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
TOOL_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id")
SESSIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "ai.telemetry.metadata.sessionId",
)
DETAILS = ("gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion")
"""Events whose attributes are those that other versions have at the span."""
ASKED = ("langfuse.observation.input", "traceloop.entity.input", "input.value", "mlflow.spanInputs", "gen_ai.prompt")
ANSWERED = (
    "langfuse.observation.output",
    "traceloop.entity.output",
    "output.value",
    "mlflow.spanOutputs",
    "gen_ai.completion",
)
TEXTS = (
    *(*ASKED, *ANSWERED, "gen_ai.system_instructions", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
    *("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt.", "gen_ai.completion.", "ai.prompt"),
    *("ai.response.text", "ai.response.toolCalls", "ai.response.object", "ai.response.reasoning", "ai.result."),
    *("ai.toolCall.args", "ai.toolCall.result", "llm.input_messages", "llm.output_messages", "llm.prompts"),
    *("llm.completions", "events", "all_messages_events", "pydantic_ai.all_messages", "ai.embedding", "ai.value"),
)
"""Attributes (or their beginnings) that hold the conversation, which stands in the messages."""


def kind_by_names(attributes: Mapping[str, Any]) -> Kind | None:
    """What a span says of itself."""
    for name in KIND_NAMES:
        said = as_id(attributes.get(name)).lower()
        if said.startswith(("ai.generate", "ai.stream")):
            return "model"
        if said.startswith("ai.") and said.count(".") > 1:
            said = said.rsplit(".", 1)[0]
        if said in KINDS:
            return KINDS[said]
    return None


def kind_of(span: Span) -> Kind:
    said = kind_by_names(span.attributes)
    if said is not None:
        return said
    if span.name.startswith(("execute_tool ", "running tool:")):
        return "tool"
    names = ("gen_ai.input.messages", "gen_ai.prompt.", "llm.input_messages", "llm.prompts", "ai.prompt")
    has_messages = any(key.startswith(names) for key in span.attributes) or any(
        as_id(event.get("name")).startswith("gen_ai.") for event in span.events
    )
    return "model" if has_messages else "around"


def with_details(span: Span) -> Mapping[str, Any]:
    """The attributes, with those of an event that holds the messages in the span's place."""
    attributes = dict(span.attributes)
    for event in span.events:
        if event.get("name") in DETAILS:
            attributes = {**as_object(event.get("attributes")), **attributes}
    return attributes


def asked_in(attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]], found: Found) -> list[Said]:
    system = first(attributes, "gen_ai.system_instructions")
    prompts = read_messages(system, "system", found) if system is not None else []
    for name in ("gen_ai.input.messages", "ai.prompt.messages", "ai.prompt"):
        if attributes.get(name) is not None:
            return prompts + read_messages(attributes[name], "user", found)
    for name in ("llm.input_messages", "gen_ai.prompt", "llm.prompts"):
        if numbered := numbered_in(attributes, name):
            return prompts + read_numbered(numbered, "user", found)
    said = [event for event in events_of(attributes, events) if event["name"] != "gen_ai.choice"]
    if said:
        return prompts + [one for event in said for one in read_event(event, found)]
    for name in ASKED:
        if attributes.get(name) is not None:
            return prompts + read_messages(attributes[name], "user", found)
    return prompts


def answered_in(attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]], found: Found) -> list[Said]:
    if attributes.get("gen_ai.output.messages") is not None:
        return read_messages(attributes["gen_ai.output.messages"], "assistant", found)
    if said := vercel_answer(attributes):
        return said
    for name in ("llm.output_messages", "gen_ai.completion", "llm.completions"):
        if numbered := numbered_in(attributes, name):
            return read_numbered(numbered[:1] if name != "llm.output_messages" else numbered, "assistant", found)
    choices = [event for event in events_of(attributes, events) if event["name"] == "gen_ai.choice"]
    if choices:
        return read_event(choices[0], found)
    for name in ("pydantic_ai.all_messages", *ANSWERED):
        if attributes.get(name) is not None:
            return read_messages(attributes[name], "assistant", found)
    return []


def vercel_answer(attributes: Mapping[str, Any]) -> list[Said]:
    """The Vercel AI SDK has the parts of an answer as attributes, the text as it is."""
    for start in ("ai.response.", "ai.result."):
        text, item = attributes.get(f"{start}text"), attributes.get(f"{start}object")
        calls = [call_of(call) for call in as_list(unpacked(attributes.get(f"{start}toolCalls")))]
        if isinstance(text, str) or item is not None or calls:
            reasoning = as_id(attributes.get(f"{start}reasoning"))
            said = text if isinstance(text, str) else as_id(item)
            message = Message(0, "assistant", said, calls=tuple(calls))
            return [Said(message, {"reasoning": reasoning} if reasoning else {})]
    return []


def numbered_in(attributes: Mapping[str, Any], name: str) -> list[Any]:
    """The values of `name.0.…`, `name.1.…` as objects; or the list that stands under the name itself."""
    if isinstance(whole := unpacked(attributes.get(name)), list):
        return whole
    grown = undotted({key[len(name) + 1 :]: one for key, one in attributes.items() if key.startswith(name + ".")})
    return grown if isinstance(grown, list) else []


def read_numbered(values: Iterable[Any], role: Any, found: Found) -> list[Said]:
    said: list[Said] = []
    for value in values:
        message = dict(as_object(as_object(value).get("message")) or as_object(value))
        message.setdefault("role", role)
        message.setdefault("content", "")
        message["content"] = opened_parts(message["content"])
        said += read_messages([message], role, found)
    return said


def opened_parts(content: Any) -> Any:
    """A list of parts that was written as a text; any other text stays as it is."""
    opened = unpacked(content)
    return opened if isinstance(opened, list) and opened and all(is_part(one) for one in opened) else content


def events_of(attributes: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Events that are messages: of the span itself, or a list of them as an attribute."""
    inside = unpacked(first(attributes, "events", "all_messages_events"))
    listed = [{"name": as_object(one).get("event.name"), "attributes": one} for one in as_list(inside)]
    named = [(as_id(one.get("name")), as_object(one.get("attributes"))) for one in [*events, *listed]]
    return [
        {"name": name, "attributes": one}
        for name, one in named
        if name.startswith("gen_ai.") and name.endswith((".message", ".choice"))
    ]


def read_event(event: Mapping[str, Any], found: Found) -> list[Said]:
    """`gen_ai.user.message` and the like: who speaks is in the name."""
    attributes = as_object(event["attributes"])
    attributes = {**attributes, **as_object(unpacked(attributes.get("gen_ai.event.content")))}
    role = as_id(attributes.get("role")) or as_id(event["name"]).split(".")[1]
    message = unpacked(attributes.get("message"))
    if role == "choice":
        role = "assistant"
    inner = message if isinstance(message, dict) else {"content": message} if message is not None else {}
    whole = {name: value for name, value in attributes.items() if "." not in name and name not in ("message", "index")}
    whole = {"role": role, "content": "", **whole, **inner}
    whole["content"] = opened_parts(whole["content"])
    for name in ("tool_calls", "toolCalls"):
        if isinstance(whole.get(name), str):
            whole[name] = unpacked(whole[name])
    return read_messages([whole], "user", found)


def tool_of(span: Span, attributes: Mapping[str, Any]) -> ToolUse:
    name = first(attributes, *TOOL_NAMES)
    id_ = first(attributes, *TOOL_IDS)
    given = first(attributes, "gen_ai.tool.call.arguments", "ai.toolCall.args", "tool_arguments", *ASKED)
    output = first(attributes, "gen_ai.tool.call.result", "tool_response", *ANSWERED)
    if output is None and attributes.get("ai.toolCall.result") is not None:
        output = without_quotes(attributes["ai.toolCall.result"])
    shown = as_id(name) or span.name.removeprefix("execute_tool ").removeprefix("running tool: ")
    text, said_id = tool_output(output)
    return ToolUse(Call(as_id(id_) or said_id, shown, as_id(given)), text)


def without_quotes(value: Any) -> Any:
    """The Vercel AI SDK writes every result as JSON, also one that is a text."""
    if isinstance(value, str) and value.startswith('"'):
        opened = unpacked(f"[{value}]")
        return opened[0] if isinstance(opened, list) and len(opened) == 1 and isinstance(opened[0], str) else value
    return value


def tool_output(value: Any) -> tuple[str | None, str]:
    """The text of a result, and the id of its call where the result is a whole message that names it."""
    if value is None:
        return None, ""
    opened = unpacked(value)
    if isinstance(opened, dict) and is_message(opened):
        said = read_messages(opened, "tool", Found())
        if len(said) == 1 and said[0].message.role == "tool":
            return said[0].message.text, said[0].message.answers_id
    if isinstance(opened, list | dict) and (taken := parts_only(opened)) is not None:
        return taken, ""
    return result_text(value), ""


def parts_only(value: Any) -> str | None:
    """The text in the usual wrappings of results."""
    text = result_text(value)
    inside = as_object(value).get("content") if isinstance(value, dict) else value
    return text if isinstance(inside, list) and inside and parts_of(inside).text == text else None


def model_of(attributes: Mapping[str, Any]) -> str:
    return as_id(first(attributes, *MODELS))


def usage_of(attributes: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of one convention, where a span follows several."""
    for start in USAGES:
        found = {
            key[len(start) :]: value
            for key, value in attributes.items()
            if key.startswith(start) and is_number(value)
        }
        if found:
            return found
    return {}


def rest_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes that are no part of the conversation."""
    return {key: value for key, value in attributes.items() if not key.startswith(TEXTS)}
