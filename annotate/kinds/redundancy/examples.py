"""What the kind promises, as values that `tests/annotate/kinds/test_contract.py` runs through every promise."""

from annotate.kinds.base import Anchor, Finding
from annotate.traces.base import Answered, Call, Message, Trace


def step(call, result, type="DUP", evidence=(2, 3), origin="added", reason="", certainty=""):
    return {
        "step": [call, result],
        "type": type,
        "evidence": list(evidence),
        "reason": reason,
        "certainty": certainty,
        "origin": origin,
    }


def label(*steps, outcome="steps", decisions=(), note=""):
    return {
        "outcome": outcome,
        "steps": list(steps),
        "decisions": [{"step": list(pair), "decision": decision} for pair, decision in decisions],
        "note": note,
    }


AGAIN = step(8, 9)
NOTHING = label(outcome="none")
CANNOT = label(outcome="cannot_annotate", note="The results are not there.")
ONE = label(AGAIN)
OTHER_EVIDENCE = label(step(8, 9, evidence=[4, 5]))
OTHER_TYPE = label(step(8, 9, "EXP"))
OTHER_STEP = label(step(10, 11))
TWO = label(AGAIN, step(10, 11, "INC", [1], reason="中文\nreason", certainty="high"))

PARSED = tuple(
    (data, None)
    for data in (
        NOTHING,
        CANNOT,
        ONE,
        OTHER_EVIDENCE,
        OTHER_TYPE,
        OTHER_STEP,
        TWO,
        label(step(8, 9, "ABN", [-1], certainty="low"), note="See the second try."),
        label(step(8, 9, "INC", [2, 3, 4, 7])),
        label(step(4, 7), step(5, 6, "EXP", [1])),
        label(step(4, 5), step(4, 6)),
        label(step(8, 9, origin="kept"), decisions=[((4, 5), "reject"), ((8, 9), "keep")]),
        label(step(8, 9, "EXP", origin="changed"), decisions=[((8, 9), "change")]),
        label(outcome="none", decisions=[((8, 9), "reject")]),
    )
)
"""Labels in their JSON form; there is no judged text. Each parses, and dumping it gives it back."""


def refused(data, code, field):
    return data, None, code, field


REFUSED = {
    "nothing said": refused({}, "missing_field", "outcome"),
    "another outcome": refused(label(outcome="maybe"), "unknown_label", "outcome"),
    "outcome is no text": refused(label(outcome=["none"]), "unknown_label", "outcome"),
    "unknown field": refused({**ONE, "score": 5}, "unknown_field", "score"),
    "unknown field of a step": refused(label({**AGAIN, "confidence": 1}), "unknown_field", "confidence"),
    "steps without any": refused(label(), "missing_field", "steps"),
    "none beside a step": refused(label(AGAIN, outcome="none"), "steps_beside_outcome", "outcome"),
    "cannot beside a step": refused(label(AGAIN, outcome="cannot_annotate", note="x"), "steps_beside_outcome",
                                    "outcome"),
    "cannot without a note": refused(label(outcome="cannot_annotate", note=" "), "missing_field", "note"),
    "steps are no list": refused({**ONE, "steps": {"0": AGAIN}}, "wrong_type", "steps"),
    "a step is no object": refused(label([8, 9]), "wrong_type", "steps"),
    "too many steps": refused(label(*[AGAIN] * 3000), "too_many", "steps"),
    "no step": refused(label({**AGAIN, "step": None}), "missing_field", "step"),
    "half a step": refused(label({**AGAIN, "step": [8]}), "half_pair", "step"),
    "a step and a half": refused(label({**AGAIN, "step": [8, 9, 10]}), "half_pair", "step"),
    "a step of one message": refused(label({**AGAIN, "step": [8, 8]}), "half_pair", "step"),
    "a step as text": refused(label({**AGAIN, "step": "8-9"}), "wrong_type", "step"),
    "an index as text": refused(label({**AGAIN, "step": [8, "9"]}), "wrong_type", "step"),
    "an index as fraction": refused(label({**AGAIN, "step": [8, 9.0]}), "wrong_type", "step"),
    "an index true": refused(label({**AGAIN, "step": [True, 9]}), "wrong_type", "step"),
    "a negative index": refused(label({**AGAIN, "step": [-1, 9]}), "wrong_type", "step"),
    "no type": refused(label({**AGAIN, "type": ""}), "missing_field", "type"),
    "another type": refused(label({**AGAIN, "type": "dup"}), "unknown_label", "type"),
    "no evidence": refused(label({**AGAIN, "evidence": []}), "missing_field", "evidence"),
    "a pair and a half as evidence": refused(label({**AGAIN, "evidence": [2, 3, 4]}), "half_pair", "evidence"),
    "a pair of one message as evidence": refused(label({**AGAIN, "evidence": [2, 2]}), "half_pair", "evidence"),
    "none beside evidence": refused(label({**AGAIN, "evidence": [-1, 2]}), "none_beside_evidence", "evidence"),
    "evidence as text": refused(label({**AGAIN, "evidence": "2-3"}), "wrong_type", "evidence"),
    "another negative index": refused(label({**AGAIN, "evidence": [-2]}), "wrong_type", "evidence"),
    "evidence twice": refused(label({**AGAIN, "evidence": [2, 3, 3, 2]}), "evidence_twice", "evidence"),
    "too much evidence": refused(label({**AGAIN, "evidence": list(range(102))}), "too_many", "evidence"),
    "evidence is the step": refused(label({**AGAIN, "evidence": [9, 8]}), "evidence_is_step", "evidence"),
    "evidence has the step": refused(label({**AGAIN, "evidence": [2, 3, 8, 9]}), "evidence_is_step", "evidence"),
    "evidence is half the step": refused(label({**AGAIN, "evidence": [9]}), "evidence_is_step", "evidence"),
    "a step twice": refused(label(AGAIN, {**AGAIN, "step": [9, 8], "type": "EXP"}), "step_twice", "step"),
    "another certainty": refused(label({**AGAIN, "certainty": "sure"}), "unknown_label", "certainty"),
    "another origin": refused(label({**AGAIN, "origin": "heuristic"}), "unknown_label", "origin"),
    "reason is no text": refused(label({**AGAIN, "reason": 1}), "wrong_type", "reason"),
    "reason too long": refused(label({**AGAIN, "reason": "x" * 4001}), "too_many", "reason"),
    "note is no text": refused({**ONE, "note": ["x"]}, "wrong_type", "note"),
    "decisions are no list": refused({**ONE, "decisions": "keep"}, "wrong_type", "decisions"),
    "another decision": refused(label(AGAIN, decisions=[((8, 9), "drop")]), "unknown_label", "decision"),
    "half a decided step": refused(label(AGAIN, decisions=[((8,), "reject")]), "half_pair", "step"),
    "decided twice": refused(label(outcome="none", decisions=[((8, 9), "reject"), ((9, 8), "reject")]), "step_twice",
                             "step"),
    "kept and no step": refused(label(outcome="none", decisions=[((8, 9), "keep")]), "decision_contradicted",
                                "decision"),
    "rejected and a step": refused(label(AGAIN, decisions=[((8, 9), "reject")]), "decision_contradicted", "decision"),
    "kept and changed": refused(label({**AGAIN, "origin": "changed"}, decisions=[((8, 9), "keep")]),
                                "decision_contradicted", "decision"),
    "kept and not decided": refused(label({**AGAIN, "origin": "kept"}), "decision_contradicted", "origin"),
}  # fmt: skip
"""Labels that must not parse, with the code and the field of the refusal."""

SAME = (
    (ONE, ONE),
    (ONE, label(step(9, 8, evidence=[3, 2]))),
    (ONE, label(step(8, 9, reason="again", certainty="low"), note="x")),
    (ONE, label(step(8, 9, origin="kept"), decisions=[((8, 9), "keep")])),
    (NOTHING, label(outcome="none", decisions=[((8, 9), "reject")])),
    (CANNOT, label(outcome="cannot_annotate", note="Another reason.")),
    (label(step(8, 9, evidence=[2, 9, 4, 5])), label(step(8, 9, evidence=[5, 4, 9, 2]))),
    (label(AGAIN, step(10, 11)), label(step(10, 11), AGAIN)),
)
DIFFERENT = (
    (ONE, NOTHING),
    (ONE, CANNOT),
    (NOTHING, CANNOT),
    (ONE, TWO),
    (ONE, OTHER_EVIDENCE),
    (ONE, OTHER_TYPE),
    (ONE, OTHER_STEP),
    (label(step(8, 9, evidence=[2])), label(step(8, 9, evidence=[-1]))),
    (label(step(8, 9, evidence=[2, 3, 4, 5])), label(step(8, 9, evidence=[2, 4, 3, 5]))),
)
NEARER = (
    (ONE, OTHER_EVIDENCE, OTHER_TYPE),
    (ONE, OTHER_TYPE, OTHER_STEP),
    (ONE, TWO, OTHER_STEP),
    (TWO, ONE, NOTHING),
)
"""The first is nearer to the second than to the third."""

RATED = (
    (NOTHING, {"found": "none"}),
    (ONE, {"found": "some"}),
    (CANNOT, {"found": None}),
)
"""What each measure sees in a label."""

NAMED = (
    (NOTHING, dict.fromkeys(("location", "type", "evidence", "triplet", "set"), frozenset())),
    (CANNOT, dict.fromkeys(("location", "type", "evidence", "triplet", "set"))),
    (
        label(step(8, 9, "INC", [5, 4, 3, 2])),
        {
            "location": {(8, 9)},
            "type": {((8, 9), "INC")},
            "evidence": {((8, 9), (2, 3, 4, 5))},
            "triplet": {((8, 9), "INC", (2, 3, 4, 5))},
            "set": {((8, 9), "INC", (2, 3, 4, 5))},
        },
    ),
)
"""What each measure of sets sees in a label."""

EXPORTED = (
    (
        TWO,
        [
            {"outcome": "steps", "n_steps": 2, **AGAIN, "rejected": [], "note": ""},
            {"outcome": "steps", "n_steps": 2, **TWO["steps"][1], "rejected": [], "note": ""},
        ],
    ),
    (
        label(outcome="none", decisions=[((8, 9), "reject")], note="Short."),
        [{"outcome": "none", "n_steps": 0, **dict.fromkeys(AGAIN), "rejected": [[8, 9]], "note": "Short."}],
    ),
)

SETTLED = {
    "nobody said anything": ([], None, "unresolved", False),
    "one label": ([TWO], label(AGAIN, step(10, 11, "INC", [1])), "consensus", False),
    "all the same": ([ONE, ONE, ONE], ONE, "consensus", False),
    "all find nothing": ([NOTHING, NOTHING, NOTHING], NOTHING, "consensus", False),
    "two of three on the evidence": ([ONE, OTHER_EVIDENCE, ONE], ONE, "majority", False),
    "two of three on each step, never the same two": (
        [
            label(AGAIN, step(10, 11, evidence=[1])),
            label(AGAIN, step(10, 11)),
            label(step(8, 9, evidence=[4, 5]), step(10, 11)),
        ],
        label(AGAIN, step(10, 11)),
        "majority",
        False,
    ),
    "three kinds of evidence": ([ONE, OTHER_EVIDENCE, label(step(8, 9, evidence=[-1]))], None, "unresolved", True),
    "two with two kinds of evidence": ([ONE, OTHER_EVIDENCE], None, "unresolved", True),
    "another type is severe": ([ONE, ONE, OTHER_TYPE], None, "unresolved", False),
    "another step is severe": ([ONE, ONE, TWO], None, "unresolved", False),
    "nothing against a step is severe": ([ONE, ONE, NOTHING], None, "unresolved", False),
    "who cannot annotate has no vote": ([ONE, CANNOT, ONE], ONE, "consensus", False),
    "nobody can annotate": ([CANNOT, CANNOT], None, "unresolved", False),
}
"""Labels, what they make together, how, and whether it was a tie."""

GRADED = (
    (ONE, ONE, True, {"location": True, "type": True, "evidence": True}),
    (OTHER_EVIDENCE, ONE, True, {"location": True, "type": True, "evidence": False}),
    (OTHER_TYPE, ONE, False, {"location": True, "type": False, "evidence": True}),
    (TWO, ONE, False, {"location": False, "type": True, "evidence": True}),
    (NOTHING, ONE, False, {"location": False, "type": True, "evidence": True}),
    (CANNOT, NOTHING, False, {"location": False, "type": True, "evidence": True}),
)
"""A label, the known answer, whether it is right, and its parts."""

FOUND = {"step": [9, 8], "type": "DUP", "evidence": [2, 3]}
FINDINGS = (
    (Finding({"steps": []}), NOTHING),
    (Finding({"steps": [FOUND]}), ONE),
    (Finding({"steps": [{**FOUND, "step": (8, 9), "keyword": "error", "rules": ["identical"]}]}), ONE),
    (Finding({"steps": [FOUND, FOUND]}), None),
    (Finding({"steps": [{**FOUND, "evidence": [8, 9]}]}), None),
    (Finding({"steps": ["8-9"]}), None),
    (Finding({}), None),
    (Finding({"steps": []}, unreadable="I cannot say."), None),
)
"""What a judge found, and the label it means; an answer that nobody could read is none."""

POLICY = "Never book twice."
MESSAGES = (
    Message(0, "system", POLICY),
    Message(1, "user", "Cancel my flight, please."),
    Message(2, "assistant", "", calls=(Call("toolu_HIDDEN1", "get_user", '{"id": 1}'),)),
    Message(3, "tool", "Ann", answers=Answered(2, 0), answers_id="toolu_HIDDEN1", name="get_user"),
    Message(
        4,
        "assistant",
        "Let me look.",
        calls=(Call("toolu_HIDDEN2", "get_flight", '{"id": 7}'), Call("toolu_HIDDEN3", "get_flight", '{"id": 8}')),
    ),
    Message(5, "tool", "no flight", answers=Answered(4, 1), answers_id="toolu_HIDDEN3"),
    Message(6, "user", "", side="user", calls=(Call("toolu_HIDDEN4", "show_phone", "{}"),)),
    Message(7, "tool", "Mine.", side="user", answers=Answered(6, 0), answers_id="toolu_HIDDEN4"),
    Message(8, "tool", "flight 7", answers=Answered(4, 0), answers_id="toolu_HIDDEN2"),
    Message(9, "assistant", "", calls=(Call("toolu_HIDDEN5", "get_user", '{"id": 1.0}'),)),
    Message(10, "tool", " Ann\n", answers=Answered(9, 0), answers_id="toolu_HIDDEN5"),
    Message(11, "assistant", "Done."),
)
TRACES = (
    (Trace("HIDDEN-run", "sightline", MESSAGES, metadata={"model": "HIDDEN"}), (Anchor(11),)),
    (Trace("only the user calls", "sightline", MESSAGES[6:8]), ()),
    (Trace("nothing is called", "sightline", (Message(0, "assistant", "Hello, what can I do?"),)), ()),
)
"""Traces with the places where the kind cuts them. Texts that say HIDDEN are never shown to an annotator."""
