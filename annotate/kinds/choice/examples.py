"""What the kind promises, as values that `tests/annotate/kinds/test_contract.py` runs through every promise."""

from annotate.kinds.base import Anchor, Finding, Span
from annotate.traces.base import Answered, Call, File, Message, Trace

TEXT = "The GTR fell by a third, as in run-12."
FAMILY = "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


def title(en, zh=""):
    return {"en": en, "zh": zh}


def made(id, en, zh="", key=""):
    return {"id": id, "title": title(en, zh), "key": key}


def part(id, type, en, *, required=False, when=None, **more):
    return {
        **{"id": id, "type": type, "title": title(en), "help": title("")},
        **{"required": required, "when": when, **more},
    }


SCHEMA = {
    "judged": "replies",
    "parts": [
        part(
            "tone",
            "one",
            "Tone",
            required=True,
            ordered=True,
            labels=[
                made("calm", "calm", "平静", "1"),
                made("terse", "terse", "简短", "2"),
                made("angry", "angry", "", "3"),
            ],
        ),
        part("topic", "one", "Topic", ordered=False, labels=[made("a", "A", key="4"), made("b", "B", key="5")]),
        part(
            "faults",
            "several",
            "Faults",
            labels=[made("long", "too long", key="6"), made("vague", "vague", key="7")],
        ),
        part(
            "clarity",
            "scale",
            "Clarity",
            lowest=1,
            highest=5,
            digits=False,
            ends=[title("not at all"), title("fully", "完全")],
        ),
        part(
            "why",
            "one",
            "Why angry?",
            required=True,
            when={"part": "tone", "label": "angry"},
            ordered=False,
            labels=[made("rude", "rude", key="8"), made("loud", "loud", key="9")],
        ),
        part("gaps", "marks", "Gaps", labels=[made("term", "term", "术语", "t"), made("ref", "reference", key="r")]),
        part("more", "note", "Anything else", key="n"),
    ],
    "removed": [{"id": "old", "title": title("an old one")}],
}  # fmt: skip


def span(start, end, type="ref", text=TEXT):
    return {"start": start, "end": end, "type": type, "quote": text[start:end]}


def label(tone, *spans, topic=None, faults=(), clarity=None, why=None, more=""):
    answers = {"tone": tone, "topic": topic, "faults": list(faults), "clarity": clarity, "why": why}
    return {
        "answers": {name: value for name, value in answers.items() if value is not None},
        "notes": {"more": more} if more else {},
        "spans": list(spans),
    }


def without(data, name):
    return {**data, "answers": {part: value for part, value in data["answers"].items() if part != name}}


def answered(data, **answers):
    return {**data, "answers": {**data["answers"], **answers}}


GTR, RUN = span(4, 7, "term"), span(31, 37)
CALM = label("calm")
TERSE = label("terse")
ANGRY = label("angry", why="rude")
FULL = label("angry", GTR, RUN, topic="b", faults=("long", "vague"), clarity=2, why="loud", more="中文\nnote")

PARSED = (
    (CALM, TEXT),
    (TERSE, TEXT),
    (ANGRY, TEXT),
    (FULL, TEXT),
    (label("calm", clarity=1), TEXT),
    (label("calm", clarity=5, topic="a"), TEXT),
    (label("calm", span(4, 8), span(6, 12, "term")), TEXT),
    (label("calm", span(0, 2, "term", FAMILY)), FAMILY),
    (label("calm", faults=("vague",)), TEXT),
)
"""Labels in their JSON form with the text they were given to; each parses, and dumping it gives it back."""

REFUSED = {
    "nothing": ({}, TEXT, "wrong_type", "answers"),
    "no answer": (without(CALM, "tone"), TEXT, "missing_field", "tone"),
    "several left out": (without(CALM, "faults"), TEXT, "missing_field", "faults"),
    "unknown label": (answered(CALM, tone="Calm"), TEXT, "unknown_label", "tone"),
    "a removed label": (answered(CALM, tone="old"), TEXT, "unknown_label", "tone"),
    "a list for one label": (answered(CALM, tone=["calm"]), TEXT, "unknown_label", "tone"),
    "an object for one label": (answered(CALM, tone={"calm": 1}), TEXT, "unknown_label", "tone"),
    "one for several": (answered(CALM, faults="long"), TEXT, "wrong_type", "faults"),
    "several with another": (answered(CALM, faults=["long", "x"]), TEXT, "unknown_label", "faults"),
    "several with a number": (answered(CALM, faults=[1]), TEXT, "wrong_type", "faults"),
    "off the scale": (answered(CALM, clarity=6), TEXT, "out_of_range", "clarity"),
    "a fraction": (answered(CALM, clarity=1.5), TEXT, "wrong_type", "clarity"),
    "true": (answered(CALM, clarity=True), TEXT, "wrong_type", "clarity"),
    "a number as text": (answered(CALM, clarity="1"), TEXT, "wrong_type", "clarity"),
    "asked and not answered": (without(ANGRY, "why"), TEXT, "missing_field", "why"),
    "answered and not asked": (answered(CALM, why="rude"), TEXT, "not_asked", "why"),
    "unknown part": (answered(CALM, style="x"), TEXT, "unknown_field", "style"),
    "unknown field": ({**CALM, "score": 1}, TEXT, "unknown_field", "score"),
    "a note as an answer": (answered(CALM, more="x"), TEXT, "unknown_field", "more"),
    "an unknown note": ({**CALM, "notes": {"tone": "x"}}, TEXT, "unknown_field", "tone"),
    "note is no text": ({**CALM, "notes": {"more": 1}}, TEXT, "wrong_type", "more"),
    "note too long": ({**CALM, "notes": {"more": "x" * 4001}}, TEXT, "too_many", "more"),
    "notes are no object": ({**CALM, "notes": []}, TEXT, "wrong_type", "notes"),
    "spans are no list": ({**CALM, "spans": {}}, TEXT, "wrong_type", "spans"),
    "too many spans": (label("calm", *[GTR] * 501), TEXT, "too_many", "spans"),
    "unknown type": (label("calm", {**GTR, "type": "typo"}), TEXT, "unknown_label", "type"),
    "type is a list": (label("calm", {**GTR, "type": ["term"]}), TEXT, "unknown_label", "type"),
    "a label as type": (label("calm", {**GTR, "type": "calm"}), TEXT, "unknown_label", "type"),
    "end before start": (label("calm", {**GTR, "start": 20, "end": 10}), TEXT, "invalid_span", "end"),
    "negative start": (label("calm", {**GTR, "start": -1}), TEXT, "span_out_of_range", "start"),
    "end beyond the text": (label("calm", {**RUN, "end": 39}), TEXT, "span_out_of_range", "end"),
    "another quote": (label("calm", {**GTR, "quote": "GDP"}), TEXT, "quote_mismatch", "quote"),
    "no quote": (label("calm", {"start": 4, "end": 7, "type": "term"}), TEXT, "wrong_type", "quote"),
    "start as text": (label("calm", {**GTR, "start": "1"}), TEXT, "wrong_type", "start"),
    "unknown field of a span": (label("calm", {**GTR, "color": "red"}), TEXT, "unknown_field", "color"),
    "span is no object": (label("calm", "GTR"), TEXT, "wrong_type", "spans"),
}
"""Labels that must not parse, with the code and the field of the refusal."""

SAME = (
    (CALM, CALM),
    (FULL, {**FULL, "notes": {}}),
    (label("calm", span(0, 10)), label("calm", span(0, 6), span(4, 10), span(4, 5))),
    (label("calm", faults=("long", "vague")), label("calm", faults=("vague", "long"))),
    (label("calm", topic="a"), {**label("calm", topic="a"), "answers": {"topic": "a", "faults": [], "tone": "calm"}}),
)
DIFFERENT = (
    (CALM, TERSE),
    (CALM, label("calm", topic="a")),
    (CALM, label("calm", faults=("long",))),
    (label("calm", clarity=1), label("calm", clarity=2)),
    (ANGRY, label("angry", why="loud")),
    (label("calm", GTR), label("calm", {**GTR, "type": "ref"})),
    (CALM, label("calm", GTR)),
)
NEARER = (
    (CALM, TERSE, ANGRY),
    (label("calm", clarity=1), label("calm", clarity=2), label("calm", clarity=5)),
    (label("calm", faults=("long",)), label("calm", faults=("long", "vague")), label("calm", faults=("vague",))),
    (label("calm", GTR), label("calm", span(4, 8, "term")), label("calm", RUN)),
)
"""The first is nearer to the second than to the third."""

NO_MARKS = {"gaps.term": "no", "gaps.ref": "no"}
RATED = (
    (
        CALM,
        {
            **{"tone": "calm", "topic": None, "faults.long": "no", "faults.vague": "no", "clarity": None, "why": None},
            **NO_MARKS,
        },
    ),
    (
        FULL,
        {
            **{"tone": "angry", "topic": "b", "faults.long": "yes", "faults.vague": "yes", "clarity": 2},
            **{"why": "loud", "gaps.term": "yes", "gaps.ref": "yes"},
        },
    ),
)
"""What each measure sees in a label."""

NOTHING = {"part": None, "value": None, "note": None, "n_spans": None, "spans": []}
EXPORTED = (
    (CALM, [{**NOTHING, "part": "tone", "value": "calm"}, {**NOTHING, "part": "faults", "value": []}]),
    (
        label("angry", GTR, clarity=2, why="loud", more="x"),
        [
            {**NOTHING, "part": "tone", "value": "angry"},
            {**NOTHING, "part": "faults", "value": []},
            {**NOTHING, "part": "clarity", "value": 2},
            {**NOTHING, "part": "why", "value": "loud"},
            {**NOTHING, "part": "more", "note": "x"},
            {**NOTHING, "part": "marks", "n_spans": 1, "spans": [GTR]},
        ],
    ),
)

SETTLED = {
    "nobody said anything": ([], None, "unresolved", False),
    "one label": ([TERSE], TERSE, "consensus", False),
    "all the same": ([CALM, CALM], CALM, "consensus", False),
    "most": ([CALM, CALM, TERSE], CALM, "majority", False),
    "the most frequent": ([CALM, CALM, TERSE, ANGRY], CALM, "majority", False),
    "a tie leaves it unresolved": ([CALM, TERSE], None, "unresolved", True),
    "a tie where the part may stay open": (
        [label("calm", topic="a"), label("calm", topic="b")],
        CALM,
        "majority",
        True,
    ),
    "who left a part open has no vote in it": (
        [CALM, CALM, label("calm", clarity=4)],
        label("calm", clarity=4),
        "majority",
        False,
    ),
    "part by part": (
        [
            label("calm", topic="a", clarity=4),
            label("calm", topic="b", clarity=4),
            label("terse", topic="b", clarity=2),
        ],
        label("calm", topic="b", clarity=4),
        "majority",
        False,
    ),
    "a part that is not asked after all": ([CALM, CALM, ANGRY], CALM, "majority", False),
    "a part whose answers tie": ([ANGRY, label("angry", why="loud")], None, "unresolved", True),
    "each of several by more than half": (
        [label("calm", faults=("long",)), label("calm", faults=("long", "vague")), CALM],
        label("calm", faults=("long",)),
        "majority",
        False,
    ),
    "half is a tie": ([label("calm", faults=("long",)), CALM], CALM, "majority", True),
    "marks of more than half": (
        [label("calm", GTR, more="mine"), label("calm", span(4, 8, "term")), label("calm", GTR, RUN)],
        label("calm", GTR),
        "consensus",
        False,
    ),
}  # fmt: skip
"""Labels, what they make together, how, and whether it was a tie."""

GRADED = (
    (CALM, CALM, True, {"tone": True, "faults": True}),
    (TERSE, CALM, False, {"tone": False, "faults": True}),
    (label("calm", clarity=2), CALM, False, {"tone": True, "faults": True, "clarity": False}),
    (label("calm", span(5, 9, "term")), label("calm", GTR), True, {"tone": True, "faults": True, "marks": True}),
    (label("calm", span(5, 9)), label("calm", GTR), False, {"tone": True, "faults": True, "marks": False}),
    (CALM, label("calm", GTR), False, {"tone": True, "faults": True, "marks": False}),
    (label("calm", GTR), CALM, True, {"tone": True, "faults": True, "marks": True}),
)
"""A label, the known answer, whether it is right, and its parts."""

GAP = Span(4, 7, "term", "GTR")
FINDINGS = (
    (Finding({"tone": "calm", "faults": []}), CALM),
    (Finding({"tone": "calm", "faults": ["long"], "score": 3}, spans=(GAP,)), label("calm", GTR, faults=("long",))),
    (Finding({"tone": "calm", "faults": [], "why": "rude"}), CALM),
    (Finding({}), None),
    (Finding({"tone": "nice", "faults": []}), None),
    (Finding({"tone": "calm", "faults": []}, unreadable="I cannot say."), None),
)
"""What a judge found, and the label it means; what nobody could have answered is none."""

TRACES = (
    (
        Trace(
            "run-1",
            "sightline",
            (
                Message(0, "system", "HIDDEN"),
                Message(1, "user", "How far did it fall?"),
                Message(2, "assistant", "HIDDEN", calls=(Call("c1", "HIDDEN", "HIDDEN"),)),
                Message(3, "tool", "HIDDEN", answers=Answered(2, 0)),
                Message(4, "assistant", TEXT),
                Message(5, "user", "And since?"),
                Message(6, "assistant", "It rose."),
            ),
            files=(File("gtr.csv", "year,gtr"), File("late.csv", "HIDDEN", 6)),
        ),
        (Anchor(4), Anchor(6)),
    ),
    (
        Trace("item-1", "plain_items", (Message(0, "user", "\u2014", side="user"), Message(1, "assistant", TEXT))),
        (Anchor(1),),
    ),
    (Trace("run-2", "sightline", (Message(0, "assistant", "Hello, what can I do?"),)), ()),
)
"""Traces with the places where the kind cuts them. Texts that say HIDDEN are never shown to an annotator."""
