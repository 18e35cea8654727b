"""What is shown: every message of the trajectory at its original index, and the policy the agent worked under. Of a
call its name, arguments and result, under a number of its own; ids, models and counts are not shown."""

from annotate.kinds.base import Blocks, PolicyBlock, Schema
from annotate.kinds.redundancy.steps import entries_of
from annotate.traces.base import Trace


def view(trace: Trace, anchor: int, schema: Schema) -> Blocks:
    """The whole trace, whatever stands at the anchor."""
    policies = [message.text for message in trace.messages if message.role == "system" and message.text.strip()]
    return Blocks(tuple(map(PolicyBlock, policies)), None, entries=entries_of(trace.messages))
