"""What is shown: the files, the conversation so far as the requester saw it, and the reply alone."""

import json
from collections.abc import Iterable, Iterator

from annotate.kinds.base import Blocks, FileBlock, MessageBlock, Schema, TextBlock
from annotate.traces.base import Call, Message, Trace

WORDS = {
    "en": {"used": "You used {calls}.", "between": ", ", "last": " and ", "showed": "{tool} showed you:"},
    "zh": {"used": "你使用了 {calls}。", "between": "、", "last": " 和 ", "showed": "{tool} 显示："},
}
"""Told in the language of the run, like what stands around it."""
ANY_TOOL = {"en": "Your tool", "zh": "你的工具"}


def view(trace: Trace, anchor: int, schema: Schema) -> Blocks:
    """`trace` holds what the requester may see; messages from the reply on are not part of what they saw before it."""
    before = [message for message in trace.messages if message.index < anchor]
    reply = next(message for message in trace.messages if message.index == anchor)
    files = [FileBlock(file.name, file.text) for file in trace.files if file.available_from < anchor]
    said = dialog(before, trace.language if trace.language in WORDS else "en")
    return Blocks(context=(*files, *said), text=TextBlock(reply.text))


def dialog(messages: Iterable[Message], language: str) -> Iterator[MessageBlock]:
    """Every message that says or does something."""
    caller: Message | None = None
    for message in messages:
        if message.role != "tool":
            caller = message
        block = shown(message, caller, language)
        if block.text.strip():
            yield block


def shown(message: Message, caller: Message | None, language: str) -> MessageBlock:
    """A message with its speaker in the requester's words. Tools that the requester called are theirs, with what they
    returned; the calls of the agent are never shown."""
    if message.role == "tool" and message.side == "user":
        tool = tool_of(message, caller) or ANY_TOOL[language]
        return MessageBlock("you", f"{WORDS[language]['showed'].replace('{tool}', tool)}\n{message.text}")
    if message.role != "user" and message.side != "user":
        return MessageBlock("agent", message.text)
    calls = used(message.calls, language) if message.side == "user" else ""
    return MessageBlock("you", "\n\n".join(part for part in (message.text, calls) if part))


def used(calls: tuple[Call, ...], language: str) -> str:
    """The requester's own calls as a sentence."""
    if not calls:
        return ""
    words = WORDS[language]
    *first, last = [f"{call.name}({arguments_of(call)})" for call in calls]
    joined = words["last"].join([words["between"].join(first), last] if first else [last])
    return words["used"].replace("{calls}", joined)


def arguments_of(call: Call) -> str:
    """`name: value` by commas where the arguments are an object; else as they are."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments
    if not isinstance(arguments, dict):
        return call.arguments
    return ", ".join(f"{name}: {as_text(value)}" for name, value in arguments.items())


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tool_of(message: Message, caller: Message | None) -> str:
    """The tool whose result this is: by the call it answers, or the only one of the message before the results."""
    calls = caller.calls if caller and caller.side == "user" else ()
    if message.answers is not None and caller and message.answers.index == caller.index:
        calls = calls[message.answers.call :][:1]
    return calls[0].name if len(calls) == 1 else ""
