"""What the kind promises, as values that `tests/annotate/kinds/test_contract.py` runs through every promise."""

from annotate.kinds.base import Finding
from annotate.traces.base import Message, Trace

TEXT = "As in run-12, the GTR fell by a third."


def label(category, comment=""):
    return {"category": category, "comment": comment}


POINTER, COINED, TERM, BACKGROUND = map(label, ("pointer", "coined", "term", "background"))
NOTED = label("coined", "中文\nnote")

PARSED = ((POINTER, TEXT), (COINED, TEXT), (TERM, TEXT), (BACKGROUND, TEXT), (NOTED, TEXT))
REFUSED = {
    "no category": (label(""), TEXT, "missing_field", "category"),
    "nothing": ({}, TEXT, "missing_field", "category"),
    "a category of another kind": (label("definition"), TEXT, "unknown_label", "category"),
    "wrong case": (label("Term"), TEXT, "unknown_label", "category"),
    "a list": (label(["term"]), TEXT, "unknown_label", "category"),
    "unknown field": ({**TERM, "score": 5}, TEXT, "unknown_field", "score"),
    "note is no text": (label("term", ["x"]), TEXT, "wrong_type", "comment"),
    "note too long": (label("term", "x" * 4001), TEXT, "too_many", "comment"),
}
SAME = ((POINTER, POINTER), (COINED, NOTED))
DIFFERENT = ((POINTER, COINED), (TERM, BACKGROUND))
NEARER = ((COINED, NOTED, TERM),)
RATED = ((POINTER, {"category": "pointer"}), (NOTED, {"category": "coined"}))
EXPORTED = ((NOTED, [NOTED]),)
SETTLED = {
    "all say so": ([TERM, TERM], TERM, "consensus", False),
    "one alone": ([NOTED], COINED, "consensus", False),
    "more than half": ([TERM, TERM, COINED], TERM, "majority", False),
    "two who differ": ([TERM, COINED], None, "unresolved", True),
    "no half": ([TERM, TERM, COINED, POINTER], None, "unresolved", False),
    "three who differ": ([TERM, COINED, POINTER], None, "unresolved", True),
    "nobody": ([], None, "unresolved", False),
}
GRADED = (
    (NOTED, COINED, True, {"category": True}),
    (TERM, COINED, False, {"category": False}),
)
FINDINGS = (
    (Finding({"category": "term"}), TERM),
    (Finding({"category": "other"}), None),
    (Finding({}, unreadable="term, I think"), None),
)
TRACES = ((Trace("", "", (Message(0, "user", "And?"), Message(1, "assistant", TEXT))), ()),)
ASKED = {"question": "Which run is run-12?", "type": "reference", "start": 6, "end": 12}
"""What an item asks about TEXT."""
