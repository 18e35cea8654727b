"""The conversation inside one LangSmith run: what its inputs and outputs hold, in the forms of the libraries that are
traced (LangChain, OpenAI's two APIs, Anthropic's), or as plain texts under the usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotate.traces import anthropic_blocks, chat_messages
from annotate.traces.anthropic_blocks import Draft, is_block
from annotate.traces.chat_messages import Conversation
from annotate.traces.langchain_messages import chat_forms, is_message
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import passed_over

Found = tuple[str, Any]
"""The pointer to a message, and the message as it stands there."""
SYSTEM = ("system", "instructions")
HISTORY = ("chat_history", "history")
ASKED = ("messages", "input", "question", "query", "human_input", "user_input", "user_message", "message", "prompt")
ANSWERED = ("output", "answer", "response", "result", "output_text", "message", "content", "text", "final_answer")
ITEMS = frozenset({"function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output"})
"""Items of OpenAI's Responses API that stand where messages do."""


def asked(inputs: Any, pointer: str) -> list[Found]:
    """The messages that a run was given."""
    there = as_object(inputs)
    found: list[Found] = []
    for name in SYSTEM:
        if there.get(name) and isinstance(there[name], str | list):
            found.append((f"{pointer}/{name}", {"role": "system", "content": there[name]}))
    if isinstance(there.get("messages"), list):
        return found + flat(there["messages"], f"{pointer}/messages")
    for name in HISTORY:
        found += flat(as_list(there.get(name)), f"{pointer}/{name}")
    if isinstance(there.get("prompts"), list):
        texts = enumerate(there["prompts"])
        return found + [(f"{pointer}/prompts/{at}", as_said(text, "user")) for at, text in texts]
    for name in [name for name in ASKED if there.get(name)][:1]:
        return found + said(there[name], f"{pointer}/{name}", "user")
    return [*found, (pointer, inputs)] if looks_like_message(inputs) else found


def answered(outputs: Any, pointer: str) -> list[Found]:
    """The messages that a run gave back."""
    there = as_object(outputs)
    if isinstance(there.get("choices"), list):
        choice = as_object(next(iter(there["choices"]), None))
        if "message" in choice:
            return [(f"{pointer}/choices/0/message", choice["message"])]
        return [(f"{pointer}/choices/0/text", as_said(choice["text"], "assistant"))] if "text" in choice else []
    if isinstance(there.get("generations"), list):
        return generated(there["generations"], f"{pointer}/generations")
    if isinstance(there.get("messages"), list):
        return flat(there["messages"], f"{pointer}/messages")
    if looks_like_message(outputs):
        return [(pointer, outputs)]
    for name in [name for name in ANSWERED if there.get(name)][:1]:
        return said(there[name], f"{pointer}/{name}", "assistant")
    return []


def flat(values: Sequence[Any], pointer: str) -> list[Found]:
    """A list of messages; of a list of such lists, as LangChain's models are given, the first."""
    first = values[0] if values else None
    is_pair = len(as_list(first)) == 2 and all(isinstance(part, str) for part in as_list(first))
    is_nested = isinstance(first, list) and not is_pair
    at = f"{pointer}/0" if is_nested else pointer
    return [(f"{at}/{number}", value) for number, value in enumerate(first if is_nested and first else values)]


def generated(values: Sequence[Any], pointer: str) -> list[Found]:
    """The first generation; others are samples that nobody was given."""
    first = as_list(values[0]) if values and isinstance(values[0], list) else values
    at = f"{pointer}/0/0" if values and isinstance(values[0], list) else f"{pointer}/0"
    one = as_object(next(iter(first), None))
    if looks_like_message(one.get("message")):
        return [(f"{at}/message", one["message"])]
    return [(at, as_said(one["text"], "assistant"))] if "text" in one else []


def said(value: Any, pointer: str, role: str) -> list[Found]:
    """A text, a message or a list of them under one of the usual names."""
    if isinstance(value, str):
        return [(pointer, as_said(value, role))]
    if looks_like_message(value):
        return [(pointer, value)]
    if isinstance(value, list) and any(looks_like_message(one) or is_item(one) for one in value):
        return [(f"{pointer}/{number}", one) for number, one in enumerate(value)]
    inner = answered(value, pointer) if isinstance(value, dict) and role == "assistant" else []
    return inner or ([(pointer, value)] if is_item(value) else [])


def as_said(text: Any, role: str) -> Any:
    return {"role": role, "content": text} if isinstance(text, str) else text


def looks_like_message(value: Any) -> bool:
    there = as_object(value)
    return is_message(value) or ("role" in there and ("content" in there or "tool_calls" in there))


def is_item(value: Any) -> bool:
    return as_id(as_object(value).get("type")) in ITEMS


def draft_of(found: Sequence[Found], draft: Draft) -> None:
    """Adds the messages, not paired yet. Reasoning that is an item of its own belongs to the message after it."""
    waiting: list[str] = []
    for pointer, value in found:
        if as_object(value).get("type") == "reasoning" and is_item(value):
            waiting += reasoning_of(value, draft, pointer)
            continue
        first = len(draft.messages)
        add(value, draft, pointer)
        if waiting and len(draft.messages) > first:
            draft.extras.setdefault(str(first), {})["reasoning"] = "\n".join(waiting)
            waiting = []
    if waiting:
        draft.add("assistant", "", found[-1][0], {"reasoning": "\n".join(waiting)})


def reasoning_of(item: Mapping[str, Any], draft: Draft, pointer: str) -> list[str]:
    texts = [as_id(as_object(part).get("text")) for part in as_list(item.get("summary"))]
    if not any(texts):
        draft.warnings.append(passed_over(draft.place, "encoded_part", pointer, "reasoning"))
    return [text for text in texts if text]


def add(value: Any, draft: Draft, pointer: str) -> None:
    there = as_object(value)
    if is_item(value):
        add_item(there, draft, pointer)
    elif not is_message(value) and any(is_block(block) for block in as_list(there.get("content"))):
        anthropic_blocks.read_message(value, draft, pointer)
    else:
        for chat in chat_forms(value):
            add_chat(chat, draft, pointer)


def add_chat(chat: Any, draft: Draft, pointer: str) -> None:
    """`type` and `status` of messages of the Responses API say nothing of their own."""
    if isinstance(chat, dict):
        chat = {key: member for key, member in chat.items() if key not in ("type", "status")}
    shared = Conversation(draft.place, extras=draft.extras, warnings=draft.warnings)
    message = chat_messages.read_message(chat, len(draft.messages), shared, pointer)
    draft.keep(message, pointer)
    draft.tools.update((call.id, call.name) for call in message.calls if call.id)


def add_item(item: Mapping[str, Any], draft: Draft, pointer: str) -> None:
    """Calls of one answer are items beside its text; they go with the assistant's message before them."""
    kind = as_id(item.get("type"))
    if kind.endswith("_output"):
        text, more = anthropic_blocks.result_text(item.get("output"), draft, pointer)
        id_ = as_id(item.get("call_id"))
        draft.add("tool", text, pointer, more, answers_id=id_[:255], name=draft.tools.get(id_, "")[:255])
    else:
        arguments = item.get("arguments", item.get("input"))
        call = anthropic_blocks.read_call({"id": item.get("call_id"), "name": item.get("name"), "input": arguments})
        if not draft.messages or draft.messages[-1].role != "assistant":
            draft.add("assistant", "", pointer)
        last = draft.messages[-1]
        draft.messages[-1] = replace(last, calls=(*last.calls, call))
        draft.tools[call.id] = call.name
