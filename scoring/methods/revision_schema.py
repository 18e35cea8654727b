"""The records of revisions: sets of questions, first answers, and answers after a message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.methods.records import Field, RecordType, Schema, Wrong

NO_MESSAGE, ANSWER_ONLY, FULL_TEXT = "no_message", "answer_only", "full_text"


def _readable_if_right(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["correct"] and values["answer"] is None:
        yield Wrong("answer", gettext_noop("An answer, as one that could not be read is not correct."))


def _of_another(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["sender"] == values["receiver"]:
        yield Wrong("sender", gettext_noop("Another agent than the receiver."))


ANSWER = Field("answer", "text", "the answer read from the output; null where none could be read", False)
CORRECT = Field("correct", "truth", "the answer is right; false where none could be read")
TERMINATED = Field("terminated", "truth", "the output ended at a limit", False)
WHERE = (
    Field("set", "text", "set of questions"),
    Field("question", "text", "question within its set"),
    Field("model", "text", "model of the agents, where the file holds several", False),
)
SCHEMA = Schema(
    (
        RecordType(
            "set",
            "A set of questions.",
            (
                Field("id", "text", "name of the set"),
                Field("n_evaluated", "whole", "all its questions, for figures of the set", unit="questions", least=1),
            ),
            key=("id",),
        ),
        RecordType(
            "initial",
            "What an agent answered before it saw anything of another.",
            (*WHERE, Field("agent", "text", "name of the agent"), ANSWER, CORRECT, TERMINATED),
            key=("model", "set", "question", "agent"),
            checks=(_readable_if_right,),
        ),
        RecordType(
            "revision",
            "What a receiver answered after it saw something of a sender, or nothing (channel no_message).",
            (
                *WHERE,
                Field("sender", "text", "agent whose message it is"),
                Field("receiver", "text", "agent that revises"),
                Field("channel", "text", "no_message, answer_only, full_text, or the name of another channel"),
                Field("policy", "text", "instruction for the revision"),
                ANSWER,
                CORRECT,
                TERMINATED,
                Field("tokens", "number", "of the revision", False, unit="tokens", least=0),
                Field("calls", "whole", "of models", False, unit="calls", least=0),
            ),
            key=("model", "set", "question", "sender", "receiver", "channel", "policy"),
            checks=(_readable_if_right, _of_another),
        ),
    )
)
