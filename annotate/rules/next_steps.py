"""What a lead does next in a project, and what to think of before a phase is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotate.rules.plans import PHASES
from annotate.traces.base import gettext_noop


@dataclass(frozen=True, slots=True)
class PhaseCounts:
    """How far a phase is. `n_behind` people have something of it left to read; `n_shown` assignments were on show."""

    phase: str
    n_items: int = 0
    n_known: int = 0
    n_planned: int = 0
    n_submitted: int = 0
    n_problems: int = 0
    n_behind: int = 0
    n_shown: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """A line of the list: message id with the values for its places."""

    code: str
    words: str
    is_done: bool = False
    params: Mapping[str, int] = field(default_factory=dict)


BRING_IN = {
    "imported": (
        "bring_in",
        gettext_noop("Bring in traces. Items so far: practice %(practice)s, pilot %(pilot)s, main phase %(main)s."),
    ),
    "published": (
        "publish_in",
        gettext_noop(
            "Publish items into it from a project of replies. Items so far: practice %(practice)s, pilot %(pilot)s, "
            "main phase %(main)s."
        ),
    ),
    "drawn": (
        "draw_pairs",
        gettext_noop("Publish texts into it from a project of replies, then draw the pairs. Texts to read: %(main)s."),
    ),
}
"""By where items come from: the code and the words of the first step."""


def next_steps(
    phases: Sequence[PhaseCounts], *, open_phase: str, n_annotators: int, items_are: str = "imported"
) -> list[Step]:
    """What a study needs, in the order in which one does it; what does not apply is left out. `items_are` says where
    items come from (BRING_IN)."""
    practice, pilot, main = phases
    code, words = BRING_IN[items_are]
    n_items = {"practice": practice.n_items, "pilot": pilot.n_items, "main": main.n_items}
    steps = [Step(code, words, main.n_items > 0, n_items)]
    if practice.n_items:
        steps.append(
            Step(
                "answer_practice",
                gettext_noop("Answer the practice items; they open when all are. Answered: %(known)s of %(items)s."),
                practice.n_known == practice.n_items,
                {"known": practice.n_known, "items": practice.n_items},
            )
        )
    steps.append(
        Step(
            "invite",
            gettext_noop("Invite annotators; agreement needs two. So far: %(n)s."),
            n_annotators > 1,
            {"n": n_annotators},
        )
    )
    if pilot.n_items:
        steps.append(
            Step("open_pilot", gettext_noop("Open the pilot when practice is done."), open_phase != "practice")
        )
    steps.append(Step("open_main", gettext_noop("Open the main phase."), open_phase == "main"))
    if n_problems := sum(phase.n_problems for phase in phases):
        steps.append(Step("problems", gettext_noop("Look at the reported problems: %(n)s."), params={"n": n_problems}))
    return steps


def before_opening(phases: Sequence[PhaseCounts], phase: str) -> list[Step]:
    """What a lead may want to know before this phase is opened. None of it is a reason to refuse."""
    practice, *_ = phases
    place = PHASES.index(phase)
    said = []
    if not phases[place].n_items:
        said.append(Step("no_items", gettext_noop("This phase has no items yet.")))
    if place and practice.n_known < practice.n_items:
        n = practice.n_items - practice.n_known
        said.append(Step("unanswered", gettext_noop("Practice items without a known answer: %(n)s."), params={"n": n}))
    words = {
        "practice": gettext_noop("People who have not finished practice: %(n)s."),
        "pilot": gettext_noop("People who have not finished the pilot: %(n)s."),
    }
    for earlier in phases[:place]:
        if earlier.n_behind:
            said.append(Step(f"{earlier.phase}_behind", words[earlier.phase], params={"n": earlier.n_behind}))
    return said


def may_close_to(phases: Sequence[PhaseCounts], phase: str) -> bool:
    """Whether everything beyond this phase may be closed again: nobody was shown anything of it."""
    return not any(further.n_shown for further in phases[PHASES.index(phase) + 1 :])
