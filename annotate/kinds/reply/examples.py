"""What the kind promises, as values that `tests/annotate/kinds/test_contract.py` runs through every promise."""

from annotate.kinds.base import Anchor, Finding, Span
from annotate.traces.base import Answered, Call, File, Message, Trace

TEXT = "The GTR fell by a third, as in run-12."
FAMILY = "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
"""One sign for a reader, five code points, eight UTF-16 units."""


def span(start, end, type="reference", text=TEXT):
    return {"start": start, "end": end, "type": type, "quote": text[start:end]}


def label(name, *spans, states_no_result=False, comment=""):
    return {"label": name, "states_no_result": states_no_result, "spans": list(spans), "comment": comment}


GTR, RUN = span(4, 7, "definition"), span(31, 37)
READABLE = label("readable")
NEEDS = label("needs_information", GTR)
NEEDS_BOTH = label("needs_information", GTR, RUN, comment="Who is GTR?")
FAILS = label("unrepairable_or_no_answer")
FAILS_EMPTY = label("unrepairable_or_no_answer", states_no_result=True)

PARSED = (
    (READABLE, TEXT),
    (NEEDS, TEXT),
    (NEEDS_BOTH, TEXT),
    (FAILS, TEXT),
    (FAILS_EMPTY, TEXT),
    (label("unrepairable_or_no_answer", RUN, comment="中文\nnote"), TEXT),
    (label("needs_information", span(4, 8), span(6, 12, "background")), TEXT),
    (label("needs_information", span(0, 2, "definition", FAMILY)), FAMILY),
    (label("needs_information", span(1, 4, "definition", FAMILY)), FAMILY),
    (label("needs_information", span(0, 38, "background")), TEXT),
)
"""Labels in their JSON form with the text they were given to; each parses, and dumping it gives it back."""

REFUSED = {
    "no label": (label(""), TEXT, "missing_field", "label"),
    "label of another kind": (label("error"), TEXT, "unknown_label", "label"),
    "wrong case": (label("Readable"), TEXT, "unknown_label", "label"),
    "unknown field": ({**READABLE, "score": 5}, TEXT, "unknown_field", "score"),
    "readable without a result": (label("readable", states_no_result=True), TEXT, "readable_without_result",
                                  "states_no_result"),
    "readable with a mark": (label("readable", GTR), TEXT, "spans_on_readable", "spans"),
    "needs information without a mark": (label("needs_information"), TEXT, "span_missing", "spans"),
    "end before start": (label("needs_information", {**GTR, "start": 20, "end": 10}), TEXT, "invalid_span", "end"),
    "empty span": (label("needs_information", {**GTR, "end": 4, "quote": ""}), TEXT, "invalid_span", "end"),
    "negative start": (label("needs_information", {**GTR, "start": -1}), TEXT, "span_out_of_range", "start"),
    "end beyond the text": (label("needs_information", {**RUN, "end": 39}), TEXT, "span_out_of_range", "end"),
    "another quote": (label("needs_information", {**GTR, "quote": "GDP"}), TEXT, "quote_mismatch", "quote"),
    "UTF-16 offsets": (label("needs_information", {**GTR, "start": 0, "end": 8, "quote": FAMILY}), FAMILY,
                       "span_out_of_range", "end"),
    "no quote": (label("needs_information", {"start": 4, "end": 7, "type": "definition"}), TEXT, "wrong_type", "quote"),
    "no start": (label("needs_information", {"end": 7, "type": "definition", "quote": "x"}), TEXT, "wrong_type",
                 "start"),
    "start as text": (label("needs_information", {**GTR, "start": "1"}), TEXT, "wrong_type", "start"),
    "start as fraction": (label("needs_information", {**GTR, "start": 1.5}), TEXT, "wrong_type", "start"),
    "start true": (label("needs_information", {**GTR, "start": True}), TEXT, "wrong_type", "start"),
    "start null": (label("needs_information", {**GTR, "start": None}), TEXT, "wrong_type", "start"),
    "start a list": (label("needs_information", {**GTR, "start": [1]}), TEXT, "wrong_type", "start"),
    "end as text": (label("needs_information", {**GTR, "end": "7"}), TEXT, "wrong_type", "end"),
    "unknown type": (label("needs_information", {**GTR, "type": "typo"}), TEXT, "unknown_label", "type"),
    "unknown field of a span": (label("needs_information", {**GTR, "color": "red"}), TEXT, "unknown_field", "color"),
    "span without anything it has": (label("needs_information", {"from": 4}), TEXT, "unknown_field", "from"),
    "span is no object": (label("needs_information", "GTR"), TEXT, "wrong_type", "spans"),
    "spans are no list": ({**NEEDS, "spans": {"0": GTR}}, TEXT, "wrong_type", "spans"),
    "too many spans": (label("needs_information", *[GTR] * 100_000), TEXT, "too_many", "spans"),
    "no switch": ({**FAILS, "states_no_result": "yes"}, TEXT, "wrong_type", "states_no_result"),
    "note is no text": ({**FAILS, "comment": ["x"]}, TEXT, "wrong_type", "comment"),
    "note too long": (label("unrepairable_or_no_answer", comment="x" * 4001), TEXT, "too_many", "comment"),
}  # fmt: skip
"""Labels that must not parse, with the code and the field of the refusal."""

SAME = (
    (READABLE, READABLE),
    (NEEDS, {**NEEDS, "comment": "another note"}),
    (
        label("needs_information", span(0, 10)),
        label("needs_information", span(0, 6), span(4, 10), span(4, 5)),
    ),
    (label("needs_information", GTR, RUN), label("needs_information", RUN, GTR)),
)
DIFFERENT = (
    (READABLE, NEEDS),
    (READABLE, FAILS),
    (NEEDS, FAILS),
    (FAILS, FAILS_EMPTY),
    (NEEDS, NEEDS_BOTH),
    (NEEDS, label("needs_information", {**GTR, "type": "background"})),
    (NEEDS, label("needs_information", span(4, 6, "definition"))),
)
NEARER = ((NEEDS, NEEDS_BOTH, READABLE), (NEEDS, FAILS, READABLE), (FAILS, FAILS_EMPTY, READABLE))
"""The first is nearer to the second than to the third."""

RATED = (
    (READABLE, {"fail": "pass", "label": "readable", "no_result": "states"}),
    (NEEDS, {"fail": "fail", "label": "needs_information", "no_result": "states"}),
    (FAILS_EMPTY, {"fail": "fail", "label": "unrepairable_or_no_answer", "no_result": "states_none"}),
)
"""What each measure sees in a label."""

EXPORTED = (
    (
        NEEDS_BOTH,
        [
            {
                "label": "needs_information",
                "fails": True,
                "states_no_result": False,
                "n_spans": 2,
                "spans": [GTR, RUN],
                "comment": "Who is GTR?",
            }
        ],
    ),
)

SETTLED = {
    "nobody said anything": ([], None, "unresolved", False),
    "one label": ([READABLE], READABLE, "consensus", False),
    "all the same": ([FAILS, FAILS, FAILS], FAILS, "consensus", False),
    "most pass": ([READABLE, READABLE, FAILS], READABLE, "majority", False),
    "a tie of two fails": ([READABLE, NEEDS], label("needs_information"), "majority", True),
    "a tie of four fails": ([READABLE, READABLE, FAILS, FAILS], FAILS, "majority", True),
    "failing labels as often give the milder one": ([NEEDS, FAILS], label("needs_information"), "majority", False),
    "the stronger one needs more than half": ([NEEDS, FAILS, FAILS], FAILS, "majority", False),
    "readable votes do not count among the failing": (
        [READABLE, READABLE, FAILS, FAILS, NEEDS],
        FAILS,
        "majority",
        False,
    ),
    "marks of more than half are kept": (
        [NEEDS, NEEDS, label("needs_information", RUN)],
        NEEDS,
        "consensus",
        False,
    ),
    "no result is stated only if most say so": ([FAILS_EMPTY, FAILS], FAILS, "consensus", False),
    "no result by most": ([FAILS_EMPTY, FAILS_EMPTY, FAILS], FAILS_EMPTY, "consensus", False),
}
"""Labels, what they make together (spans that fewer mark are not in it), how, and whether it was a tie."""

GRADED = (
    (READABLE, READABLE, True, {"label": True, "states_no_result": True, "spans": True}),
    (READABLE, NEEDS, False, {"label": False, "states_no_result": True, "spans": False}),
    (label("needs_information", span(6, 12)), NEEDS, True, {"label": True, "states_no_result": True, "spans": True}),
    (label("needs_information", RUN), NEEDS, True, {"label": True, "states_no_result": True, "spans": False}),
    (FAILS, FAILS_EMPTY, False, {"label": True, "states_no_result": False, "spans": True}),
)
"""A label, the known answer, whether it is right, and its parts."""

GAP = Span(4, 7, "definition", "GTR")
FINDINGS = (
    (Finding({}), READABLE),
    (Finding({}, spans=(GAP,)), NEEDS),
    (Finding({"no_answer": True}), FAILS_EMPTY),
    (Finding({"wrong_language": True}), FAILS),
    (Finding({"label": "readable"}), READABLE),
    (Finding({"label": "unrepairable_or_no_answer"}, spans=(GAP,)), label("unrepairable_or_no_answer", GTR)),
    (Finding({}, unreadable="I cannot say."), None),
)
"""What a judge found, and the label it means; an answer that nobody could read is none."""

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
    (Trace("run-2", "sightline", (Message(0, "assistant", "Hello, what can I do?"),)), ()),
)
"""Traces with the places where the kind cuts them. Texts that say HIDDEN are never shown to an annotator."""
