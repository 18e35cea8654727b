"""The label that several make together, how far two labels differ, and how one stands beside a known answer
(docs/redundant-steps.md, Settling)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from annotate.kinds.base import Finding, Grade, LabelError, Schema, Settled
from annotate.kinds.redundancy.label import NONE, STEPS, Pair, RedundancyLabel, RedundantStep, Triplet, parse
from annotate.kinds.redundancy.measures import locations, same, types
from annotate.traces.base import gettext_noop

Severity = Literal["same", "minor", "severe"]


def severities(labels: Sequence[RedundancyLabel]) -> dict[Pair, Severity]:
    """For every step that any of them names: `same` triplet of all, `minor` where only the evidence differs, `severe`
    where somebody does not name it or the types differ."""
    found: dict[Pair, Severity] = {}
    for pair, named in by_step(labels).items():
        if len(named) < len(labels) or len({type for _, type, _ in named}) > 1:
            found[pair] = "severe"
        else:
            found[pair] = "same" if len(set(named)) == 1 else "minor"
    return found


def by_step(labels: Iterable[RedundancyLabel]) -> dict[Pair, list[Triplet]]:
    found: dict[Pair, list[Triplet]] = defaultdict(list)
    for label in labels:
        for one in label.steps:
            found[one.step].append(one.triplet)
    return dict(sorted(found.items()))


def settle(labels: Sequence[RedundancyLabel], schema: Schema) -> Settled:
    """All sets equal: consensus. Only evidence differs: on every step the triplet of more than half, so two of three.
    Another step or another type is for people to discuss, however many agree. Who cannot annotate has no vote."""
    voting = [label for label in labels if label.is_rating]
    if not voting:
        return Settled(None, "unresolved", is_tie=False)
    if "severe" in severities(voting).values():
        return Settled(None, "unresolved", is_tie=False)
    made: list[Triplet] = []
    for named in by_step(voting).values():
        triplet, n = Counter(named).most_common(1)[0]
        if 2 * n <= len(voting):
            return Settled(None, "unresolved", is_tie=True)
        made.append(triplet)
    steps = tuple(RedundantStep(*triplet) for triplet in made)
    agree = all(same(voting[0], other) for other in voting[1:])
    return Settled(RedundancyLabel(STEPS if steps else NONE, steps), "consensus" if agree else "majority", False)


PART_TITLES = {
    "location": gettext_noop("the redundant steps"),
    "type": gettext_noop("their types"),
    "evidence": gettext_noop("their evidence"),
}


def part_titles(schema: Schema) -> Mapping[str, str]:
    return PART_TITLES


def grade(label: RedundancyLabel, known: RedundancyLabel) -> Grade:
    """Right with the same steps and types; other evidence alone is a minor difference, which its part tells. Of types
    and evidence only the steps of both count."""
    mine, theirs = ({one.step: one for one in end.steps} for end in (label, known))
    common = mine.keys() & theirs.keys()
    parts = {
        "location": label.is_rating == known.is_rating and locations(label) == locations(known),
        "type": all(mine[step].type == theirs[step].type for step in common),
        "evidence": all(mine[step].evidence == theirs[step].evidence for step in common),
    }
    return Grade(is_right=parts["location"] and types(label) == types(known), parts=parts)


def from_finding(finding: Finding, schema: Schema) -> RedundancyLabel | None:
    """The steps that a judge found, as triplets under `steps`; none of them is a label too. Of a step that was found
    several times with a confidence the surest one counts. No label at all where nobody could read the answer, or no
    person could have given it."""
    if finding.unreadable is not None:
        return None
    steps: Any = finding.values.get("steps")
    if not isinstance(steps, list | tuple) or not all(isinstance(one, Mapping) for one in steps):
        return None
    if any("confidence" in one for one in steps):
        steps = surest(steps)
    named = [{name: as_list(one.get(name)) for name in ("step", "type", "evidence")} for one in steps]
    try:
        return parse({"outcome": STEPS if named else NONE, "steps": named, "decisions": []}, schema, None)
    except LabelError:
        return None


def surest(steps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One of each step; of equal confidences the first."""
    found: dict[tuple[int, ...], Mapping[str, Any]] = {}
    for one in sorted(steps, key=lambda one: -one["confidence"]):
        found.setdefault(tuple(sorted(one["step"])), one)
    return list(found.values())


def as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
