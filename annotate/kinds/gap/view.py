"""What is shown: just what the classifier gets. The text around the words in question, and the reader's question."""

from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import Blocks, QuestionBlock, Schema, TextBlock
from annotate.traces.base import Trace


def view(trace: Trace, anchor: int, schema: Schema) -> Blocks:
    """`trace` holds the item's own text and nothing else."""
    text = next(message.text for message in trace.messages if message.index == anchor)
    return Blocks(context=(), text=TextBlock(text))


def ask(asked: Mapping[str, Any]) -> QuestionBlock:
    return QuestionBlock(asked["question"], asked["type"], asked["start"], asked["end"])
