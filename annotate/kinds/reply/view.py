"""What is shown: the files, the conversation so far as the requester saw it, and the reply alone."""

from annotate.kinds.base import Blocks, FileBlock, MessageBlock, Schema, TextBlock
from annotate.traces.base import Message, Trace


def view(trace: Trace, anchor: int, schema: Schema) -> Blocks:
    """`trace` holds what the requester may see; messages from the reply on are not part of what they saw before it."""
    before = [message for message in trace.messages if message.index < anchor]
    reply = next(message for message in trace.messages if message.index == anchor)
    files = [FileBlock(file.name, file.text) for file in trace.files if file.available_from < anchor]
    return Blocks(context=(*files, *map(shown, before)), text=TextBlock(reply.text))


def shown(message: Message) -> MessageBlock:
    """A message with its speaker in the requester's words. Tools that the requester called are theirs, with what they
    returned; the calls of the agent are never shown."""
    is_theirs = message.role == "user" or message.side == "user"
    calls = [f"{call.name}({call.arguments})" for call in message.calls if message.side == "user"]
    return MessageBlock("you" if is_theirs else "agent", "\n".join(part for part in [message.text, *calls] if part))
