"""Trajectories for tests of redundant steps, and what people and rules say of them."""

from annotate.traces import base
from tests.factories import make_item, make_project, make_submitted, make_trace

RULE = "identical"


def messages(n_steps=4, result="gone"):
    """A policy, a request, and so many steps: at 2-3, 4-5 and so on, each with the same result."""
    said = [base.Message(0, "system", "Be kind."), base.Message(1, "user", "Cancel it.")]
    for place in range(n_steps):
        at = 2 + 2 * place
        said.append(base.Message(at, "assistant", "", calls=(base.Call(f"c{at}", "look", f'{{"at": {at}}}'),)))
        said.append(
            base.Message(at + 1, "tool", result, answers=base.Answered(at, 0), answers_id=f"c{at}", name="look")
        )
    return [*said, base.Message(2 + 2 * n_steps, "assistant", "Done.")]


def make_study(slug=None, **fields):
    return make_project(slug, kind="redundancy", **fields)


def make_trajectory(project, n_steps=4, *, suggested=None, is_shown=True, phase="main", **trace):
    """The item of a trajectory, with these steps suggested by a rule (None: no rule was asked)."""
    row = make_trace(project, messages(n_steps), **{"area": "airline", **trace})
    found = None if suggested is None else [{**one, "rules": [RULE], "keyword": ""} for one in suggested]
    return make_item(
        trace=row, reply=2 + 2 * n_steps, suggestions=found, suggestions_shown=is_shown, phase=phase
    )


def triplet(place, type="DUP", evidence=(-1,)):
    """Of the step of this place, counted from 0."""
    at = 2 + 2 * place
    return {"step": [at, at + 1], "type": type, "evidence": list(evidence)}


def label(*steps, decisions=(), outcome=None, note=""):
    """A label that names these triplets; none of them says that there is none."""
    kept = {tuple(triplet(place)["step"]): decision for place, decision in decisions}
    origins = {"keep": "kept", "change": "changed"}
    return {
        "outcome": outcome or ("steps" if steps else "none"),
        "steps": [
            {**one, "reason": "", "certainty": "", "origin": origins.get(kept.get(tuple(one["step"])), "added")}
            for one in steps
        ],
        "decisions": [{"step": list(step), "decision": decision} for step, decision in kept.items()],
        "note": note,
    }


CANNOT = label(outcome="cannot_annotate", note="The results are not there.")


def say(member, item, *steps, round=None, **told):
    """What somebody submits of an item; in an informed round it is marked as such."""
    assignment = make_submitted(member, item, label(*steps, **told), **({"round": round} if round else {}))
    if round is not None and round.informed:
        assignment.annotations.update(informed=True)
    return assignment
