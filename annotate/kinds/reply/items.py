"""Every reply of a trace is an item: a text of the agent without calls that follows a requester message."""

from annotate.kinds.base import Anchor, Schema
from annotate.rules.requester_view import replies
from annotate.traces.base import Trace


def items(trace: Trace, schema: Schema) -> list[Anchor]:
    return [Anchor(index) for index in replies(trace.messages)]
