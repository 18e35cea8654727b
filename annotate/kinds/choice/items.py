"""Where a trace is cut, by what the question says is judged."""

from annotate.kinds.base import Anchor, Schema
from annotate.rules.requester_view import is_agent_text, replies
from annotate.traces.base import Trace


def items(trace: Trace, schema: Schema) -> list[Anchor]:
    judged = schema.get("judged", "replies")
    if judged == "text":
        return [Anchor(message.index) for message in trace.messages if is_agent_text(message)][-1:]
    found = [Anchor(index) for index in replies(trace.messages)]
    return found if judged == "replies" else found[-1:]
