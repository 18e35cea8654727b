"""No trace is cut into gaps: a reader finds them, and a lead publishes them as items."""

from annotate.kinds.base import Anchor, Schema
from annotate.traces.base import Trace


def items(trace: Trace, schema: Schema) -> list[Anchor]:
    return []
