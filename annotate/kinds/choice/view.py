"""What is shown: the text, and before it the conversation as the requester saw it, unless the text is judged by
itself. A dash that a reader put in the place of a request nobody made is not shown."""

import json
from collections.abc import Iterable, Iterator

from annotate.kinds.base import Blocks, FileBlock, MessageBlock, Schema, TextBlock
from annotate.traces.base import Call, Message, Trace
from annotate.traces.plain_items import NO_PROMPT


def view(trace: Trace, anchor: int, schema: Schema) -> Blocks:
    text = next(message for message in trace.messages if message.index == anchor).text
    if schema.get("judged") == "text":
        return Blocks((), TextBlock(text))
    files = [FileBlock(file.name, file.text) for file in trace.files if file.available_from < anchor]
    said = list(dialog(message for message in trace.messages if message.index < anchor))
    if [block.text for block in said] == [NO_PROMPT]:
        said = []
    return Blocks((*files, *said), TextBlock(text))


def dialog(messages: Iterable[Message]) -> Iterator[MessageBlock]:
    """Every message that says or does something. Tools of the requester are theirs, with what they returned."""
    for message in messages:
        is_own = message.role == "user" or message.side == "user"
        calls = [used(call) for call in message.calls] if message.side == "user" and message.role != "tool" else []
        text = "\n\n".join(part for part in (message.text, *calls) if part)
        if text.strip():
            yield MessageBlock("you" if is_own else "agent", text)


def used(call: Call) -> str:
    """A call of the requester's own, as `tool(name: value)`."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return f"{call.name}({call.arguments})"
    said = (f"{name}: {as_text(value)}" for name, value in arguments.items())
    return f"{call.name}({', '.join(said)})"


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
