"""The index contract: what a label says has to be of the trajectory that it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotate.kinds.base import Blocks, EntryBlock, LabelError, Schema, Suggestion
from annotate.kinds.redundancy.label import (
    CANNOT,
    KEEP,
    NONE_SERVES,
    REJECT,
    Pair,
    RedundancyLabel,
    RedundantStep,
    normal_evidence,
    pair_of,
    pairs_in,
    said,
)
from annotate.kinds.redundancy.steps import steps_of
from annotate.traces.base import Problem, Side, first_problems, gettext_noop

MOST_PAIRS = 6


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What labels can name: the messages, the steps with whose they are, and messages that are part of a step and say
    nothing by themselves."""

    indexes: frozenset[int]
    sides: Mapping[Pair, Side]
    of_message: Mapping[int, Sequence[Pair]]
    halves: frozenset[int]

    @classmethod
    def of(cls, entries: Iterable[EntryBlock]) -> Trajectory:
        shown = tuple(entries)
        sides = {step.pair: step.side for step in steps_of(shown)}
        of_message: dict[int, list[Pair]] = defaultdict(list)
        for pair in sides:
            for index in pair:
                of_message[index].append(pair)
        halves = (one.index for one in shown if one.answers is not None or (one.calls and not one.text.strip()))
        return cls(
            frozenset(one.index for one in shown),
            sides,
            of_message,
            frozenset(index for index in halves if index in of_message),
        )

    def counted_from(self, base: int) -> Trajectory:
        """The same, its first message being `base`."""
        if base == 0:
            return self
        sides = {(first + base, second + base): side for (first, second), side in self.sides.items()}
        of_message = {
            index + base: [(first + base, second + base) for first, second in pairs]
            for index, pairs in self.of_message.items()
        }
        indexes, halves = (frozenset(one + base for one in some) for some in (self.indexes, self.halves))
        return Trajectory(indexes, sides, of_message, halves)

    def knows(self, one: RedundantStep, shift: int = 0) -> bool:
        """Whether the triplet is of this trajectory once `shift` is added to its indexes."""
        step = pair_of([index + shift for index in one.step])
        if self.sides.get(step) != "agent":
            return False
        if one.evidence == (NONE_SERVES,):
            return True
        evidence = [index + shift for index in one.evidence]
        if len(evidence) == 1:
            return evidence[0] in self.indexes and evidence[0] not in self.halves
        return all(pair in self.sides for pair in pairs_in(evidence))


def check(label: RedundancyLabel, schema: Schema, blocks: Blocks) -> None:
    """LabelError with everything that the trajectory contradicts, and with suggestions that are not decided. Pointers
    count steps and decisions in the order of the trajectory, in which a label is stored."""
    problems = first_problems(triplet_problems(label.steps, Trajectory.of(blocks.entries)))
    if not problems and blocks.suggestions is not None:
        problems = first_problems(suggestion_problems(label, blocks.suggestions))
    if problems:
        raise LabelError(*problems)


def triplet_problems(steps: Sequence[RedundantStep], there: Trajectory, at: str = "/steps") -> Iterator[Problem]:
    if shift := right_shift(steps, there):
        yield other_base(shift, there, at)
        return
    for place, one in enumerate(steps):
        yield from step_problems(one.step, there, f"{at}/{place}/step")
        if one.evidence != (NONE_SERVES,):
            yield from evidence_problems(one.evidence, there, f"{at}/{place}/evidence")


def right_shift(steps: Sequence[RedundantStep], there: Trajectory) -> int:
    """What has to be added to every index so that each triplet is of the trajectory, where as they are none is; else
    0. Indexes from 1 need -1, those that leave the first message uncounted need 1."""
    if not steps or any(there.knows(one) for one in steps):
        return 0
    return next((shift for shift in (-1, 1) if all(there.knows(one, shift) for one in steps)), 0)


def other_base(shift: int, there: Trajectory, at: str) -> Problem:
    first, last = ends(there)
    return Problem(
        code="other_index_base",
        field="step",
        pointer=at,
        expected=gettext_noop(
            "Indexes of this trajectory, which run from %(first)s to %(last)s; these fit only with %(shift)s added to "
            "each, so they count from another number."
        ),
        remedy=gettext_noop("Say which number they count from, or convert them."),
        params={"first": first, "last": last, "shift": f"{shift:+}"},
    )


def step_problems(step: Pair, there: Trajectory, pointer: str) -> Iterator[Problem]:
    found = list(index_problems(step, there, "step", pointer))
    if found or there.sides.get(step) == "agent":
        yield from found
    elif step in there.sides:
        yield Problem(
            code="user_side_step",
            field="step",
            pointer=pointer,
            expected=gettext_noop("A step of the agent; %(step)s is the user's own."),
            remedy=gettext_noop("Take it away. A step of the user can be evidence only."),
            params={"step": said(step)},
        )
    else:
        yield no_pair(step, there, "step", pointer)


def evidence_problems(evidence: Sequence[int], there: Trajectory, pointer: str) -> Iterator[Problem]:
    found = list(index_problems(evidence, there, "evidence", pointer))
    yield from found
    if found:
        return
    if len(evidence) == 1 and evidence[0] in there.halves:
        yield no_pair(evidence, there, "evidence", pointer)
    for pair in pairs_in(evidence):
        if pair not in there.sides:
            yield no_pair(pair, there, "evidence", pointer)


def index_problems(indexes: Sequence[int], there: Trajectory, field: str, pointer: str) -> Iterator[Problem]:
    unknown = sorted({index for index in indexes if index not in there.indexes})
    if unknown:
        first, last = ends(there)
        yield Problem(
            code="unknown_index",
            field=field,
            pointer=pointer,
            expected=gettext_noop("Indexes of messages that there are, from %(first)s to %(last)s; not %(given)s."),
            remedy=gettext_noop("Correct it; indexes are the original ones, as the page shows them."),
            params={"first": first, "last": last, "given": ", ".join(map(str, unknown[:20]))},
        )


def ends(there: Trajectory) -> tuple[int, int]:
    return min(there.indexes, default=0), max(there.indexes, default=0)


def no_pair(given: Sequence[int], there: Trajectory, field: str, pointer: str) -> Problem:
    """Messages that are not the two of one step, with the steps that they are of."""
    near = sorted({pair for index in given for pair in there.of_message.get(index, ())})
    if not near:
        return Problem(
            code="no_such_step",
            field=field,
            pointer=pointer,
            expected=gettext_noop("A call and its result; of the messages %(given)s none is part of a step."),
            remedy=gettext_noop("Name the two messages of a step."),
            params={"given": said(given)},
        )
    return Problem(
        code="half_pair",
        field=field,
        pointer=pointer,
        expected=gettext_noop("A call and its result; %(given)s is not both. Steps of these messages: %(steps)s."),
        remedy=gettext_noop("Name both messages of one step."),
        params={"given": said(given), "steps": ", ".join([said(pair) for pair in near[:MOST_PAIRS]])},
    )


def suggestion_problems(label: RedundancyLabel, suggestions: Sequence[Suggestion]) -> Iterator[Problem]:
    """Every suggestion is decided, and decided as it was: what was kept says what was suggested."""
    suggested = {pair_of(one["step"]): one for one in suggestions}
    decided = {one.step: one.decision for one in label.decisions}
    waiting = [pair for pair in suggested if pair not in decided]
    if waiting and label.outcome != CANNOT:
        yield undecided(waiting)
    for place, one in enumerate(label.decisions):
        if one.step not in suggested:
            yield Problem(
                code="no_such_suggestion",
                field="decisions",
                pointer=f"/decisions/{place}/step",
                expected=gettext_noop("A decision for each suggestion and nothing else; %(step)s is not suggested."),
                remedy=gettext_noop("Take it away."),
                params={"step": said(one.step)},
            )
    for place, step in enumerate(label.steps):
        decision, suggestion = decided.get(step.step, REJECT), suggested.get(step.step)
        if suggestion is None or decision == REJECT:
            continue
        is_same = (step.type, step.evidence) == (suggestion["type"], normal_evidence(suggestion["evidence"]))
        if is_same != (decision == KEEP):
            yield other_than_said(step.step, f"/steps/{place}/origin")


def undecided(pairs: Sequence[Pair]) -> Problem:
    return Problem(
        code="suggestion_undecided",
        field="decisions",
        pointer="/decisions",
        expected=gettext_noop("Every suggestion kept, changed or rejected; not decided yet: %(steps)s."),
        remedy=gettext_noop("Decide each of them, then submit."),
        params={"steps": ", ".join([said(pair) for pair in pairs[:20]] + ["…"] * (len(pairs) > 20))},
    )


def other_than_said(pair: Pair, pointer: str) -> Problem:
    return Problem(
        code="decision_contradicted",
        field="origin",
        pointer=pointer,
        expected=gettext_noop(
            "“Kept” where type and evidence are the suggested ones, “changed” where one of them differs; step "
            "%(step)s says otherwise."
        ),
        remedy=gettext_noop("Decide the suggestion again."),
        params={"step": said(pair)},
    )
