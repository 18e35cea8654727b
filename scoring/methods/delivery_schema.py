"""The records of delivery: items, runs, reruns, audits and replays, and which values exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.methods.records import Field, RecordType, Schema, Wrong
from scoring.methods.tables import Words

CAUSES: dict[str, Words] = {
    "retrieval_channel": gettext_noop("retrieval channel"),
    "held_value_error": gettext_noop("error with the value in hand"),
    "build_failure": gettext_noop("build failure"),
    "other": gettext_noop("another cause"),
}


def _run(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["correct"] and values["answer_parse"] not in (None, "ok"):
        yield Wrong("correct", gettext_noop("false, as the run gave no answer that can be read."))
    if values["exposed"] and not values["built"]:
        yield Wrong("exposed", gettext_noop("false, as exposure is judged only where the value was built."))
    if (values["built"] is None) != (values["exposed"] is None):
        yield Wrong("exposed", gettext_noop("Both of built and exposed, or neither where no stage was judged."))
    if values["chose_truncated_neighbour"] is not None and not values["trap"]:
        yield Wrong("chose_truncated_neighbour", gettext_noop("null, as the run is no rounding trap."))


def _audit(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["exposed"] and not values["built"]:
        yield Wrong("exposed", gettext_noop("false, as exposure is judged only where the value was built."))
    if values["closed"] is not None and not values["exposed"]:
        yield Wrong("closed", gettext_noop("null, as closure is judged only where the value was exposed."))


BUILT = Field("built", "truth", "a successful simulation printed the value", False)
EXPOSED = Field("exposed", "truth", "a tool result delivered to the agent held the value", False)
ITEM_ID = Field("item", "text", "its item", refers="item")
SCHEMA = Schema(
    (
        RecordType(
            "item",
            "A question with lettered options about a value that a simulator prints.",
            (
                Field("id", "text", "name of the item"),
                Field("kind", "text", "numeric where the key is a printed number", allowed=("numeric", "other")),
                Field("setup", "text", "setup of the simulation; items of a setup hang together", False),
                Field("excluded", "text", "why it is no part of the items, where it is not", False),
                Field("under_specified", "truth", "its setup leaves something open", False),
                Field("report_chars", "whole", "length of the report", False, unit="characters", least=0),
                Field("key", "text", "letter of the right option", False),
                Field("key_occurrences", "whole", "matches of the value in the report", False, least=0),
            ),
            key=("id",),
        ),
        RecordType(
            "run",
            "One run of a model on an item under one delivery condition.",
            (
                Field("id", "text", "name of the run"),
                ITEM_ID,
                Field("model", "text", "model of the agent"),
                Field("condition", "text", "delivery condition, such as raw100k, toc, direct"),
                Field("correct", "truth", "the answer is right"),
                Field("headline", "truth", "it counts as the one run of its item and condition", False),
                Field("control", "truth", "it belongs to the control run of its condition", False),
                Field("fixed_index", "truth", "one run that stands for several arms", False),
                Field("answer_parse", "text", "what became of the answer; ok where absent", False,
                      allowed=("ok", "none", "refusal")),
                Field("tokens_in", "number", "input of the run", False, unit="tokens", least=0),
                BUILT,
                EXPOSED,
                Field("executed", "truth", "at least one execution succeeded", False),
                Field("report_part_seen", "truth", "a part of the main report reached the agent", False),
                Field("seen_precision", "text", "digits of the value as it was seen", False,
                      allowed=("report", "more_digits", "both", "none")),
                Field("trap", "truth", "the value was seen with more digits only, and cutting it gives another option",
                      False),
                Field("chose_truncated_neighbour", "truth", "of a trap: that option was answered", False),
            ),
            key=("id",),
            checks=(_run,),
        ),
        RecordType(
            "rerun",
            "One simulation of a run, run again offline.",
            (
                Field("run", "text", "its run", False),
                Field("comparable", "truth", "the log holds the whole report"),
                Field("match", "text", "of a comparable one", False,
                      allowed=("identical", "line_order_only", "different")),
            ),
        ),
        RecordType(
            "audit",
            "What a person decided about the stages of a run.",
            (
                Field("run", "text", "its run", refers="run"),
                Field("auditor", "text", "name of the auditor"),
                BUILT,
                EXPOSED,
                Field("closed", "truth", "right after it was built and exposed", False),
                Field("cause", "text", "of a wrong answer", False, allowed=tuple(CAUSES)),
            ),
            key=("run", "auditor"),
            checks=(_audit,),
        ),
        RecordType(
            "replay",
            "One continuation of a recorded run after its first successful execution, in one arm.",
            (
                ITEM_ID,
                Field("model", "text", "model of the agent"),
                Field("arm", "text", "delivery", allowed=("inline", "toc")),
                Field("repeat", "whole", "which repeat", least=0),
                Field("correct", "truth", "the answer is right"),
                Field("fits_inline", "truth", "the whole report fits", False),
                Field("key_present", "truth", "the report holds the value", False),
            ),
            key=("item", "model", "arm", "repeat"),
        ),
    )
)  # fmt: skip
