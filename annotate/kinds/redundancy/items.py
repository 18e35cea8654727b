"""A trajectory is one item. Its cluster is the trace's, which is domain and task where the source names them. One in
which the agent used no tool has no step that could be redundant, and is no item."""

from annotate.kinds.base import Anchor, Schema
from annotate.kinds.redundancy.steps import entries_of, steps_of
from annotate.traces.base import Trace


def items(trace: Trace, schema: Schema) -> list[Anchor]:
    if any(step.side == "agent" for step in steps_of(entries_of(trace.messages))):
        return [Anchor(max(message.index for message in trace.messages))]
    return []
