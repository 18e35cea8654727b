"""The consensus of a jury of models becomes a release of its own: what its jurors agree on, with where that comes from.

It is no gold of people's and never stands for it: its rule, each of its labels and its data card say whose it is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotate import release_queries, releasing
from annotate.errors import Refused
from annotate.models import Person, Project, Protocol, Release, WorkGroup
from annotate.rules.release_content import Outcome
from annotate.rules.release_shape import JURY, JURY_OUTCOMES, SETTLED_BY_JURY
from annotate.traces.base import Problem, gettext_noop
from scoring import jury_queries, queries
from scoring.models import Prompt, Run

N_JURORS = 3


@dataclass(frozen=True, slots=True)
class Jury:
    """A run that can be sealed, with the runs of its jurors in its own order and the protocol they judged by."""

    run: Run
    jurors: tuple[Run, ...]
    protocol: Protocol


def seal_jury(*, person: Person | None, project: Project, run: int, now: datetime) -> Release:
    """Seal what a jury run of this number ended its items of the main phase with. Refused for a run that is no jury's,
    is not through, rests on a proof of the wire, or settled nothing; NotYours for who does not lead the project."""
    releasing.refuse_stranger(project, person)
    jury = jury_numbered(project, run)
    said = list(jury_queries.ended(jury.run))
    outcomes = Counter(one.outcome for one in said)
    if not sum(outcomes[name] for name in SETTLED_BY_JURY):
        raise Refused(NOTHING_SETTLED)
    return releasing.seal_given(
        person=person,
        project=project,
        rule=JURY,
        protocol=jury.protocol,
        outcomes=outcomes_of(said),
        provenance=provenance(jury, outcomes),
        agreement={},
        now=now,
    )


def jury_numbered(project: Project, number: int) -> Jury:
    """The jury of a run, as far as it can be sealed at all."""
    run = queries.run_numbered(project, number) if 0 < number < 2**31 else None
    if run is None or run.judge.name != JURY:
        raise Refused(NO_JURY_RUN)
    if not is_through(run):
        raise Refused(NOT_THROUGH)
    numbers = run.judge.settings.get("runs") or []
    jurors = jury_queries.runs_numbered(project, numbers)
    if len(jurors) != N_JURORS or len(set(numbers)) != N_JURORS:
        raise Refused(NO_JURY_RUN)
    if run.is_proof or any(one.is_proof for one in jurors):
        raise Refused(PROOF_OF_THE_WIRE)
    return Jury(run, tuple(jurors), protocol_of(project, jurors))


def can_be_sealed(run: Run) -> bool:
    """Whether a page offers it; everything else is said when it is tried."""
    return run.judge.name == JURY and is_through(run)


def is_through(run: Run) -> bool:
    was_called_off = run.group.state == WorkGroup.State.CANCELLED
    return run.ended_at is not None and not was_called_off and queries.is_through(run.group_id)


def protocol_of(project: Project, jurors: Sequence[Run]) -> Protocol:
    """The one that all jurors judged by."""
    numbers = {one.judge.settings.get("protocol") for one in jurors}
    number = numbers.pop() if len(numbers) == 1 else None
    found = release_queries.protocol_numbered(project, number) if isinstance(number, int) else None
    if found is None:
        raise Refused(SEVERAL_PROTOCOLS)
    return found


def outcomes_of(said: Sequence[jury_queries.Ended]) -> Iterator[tuple[int, Outcome]]:
    for one in said:
        if one.outcome in SETTLED_BY_JURY:
            yield one.item, Outcome(one.label, JURY, False, [{"run": number} for number in sorted(one.agreeing)])
        else:
            yield one.item, Outcome(None, "unresolved", False, [])


def provenance(jury: Jury, outcomes: Mapping[str, int]) -> dict[str, Any]:
    """Where the labels come from, as release.json has it."""
    prompts = {one.pk: one for one in jury_queries.prompts_of(jury.jurors)}
    return {
        "made_by": JURY,
        **said_of_run(jury.run),
        "protocol": jury.protocol.number,
        "jurors": [
            {
                **said_of_run(one),
                "model": str(one.judge.settings.get("endpoint", {}).get("model", "")),
                "prompts": prompts_said(one, prompts),
            }
            for one in jury.jurors
        ],
        "outcomes": {name: outcomes.get(name, 0) for name in JURY_OUTCOMES},
    }


def said_of_run(run: Run) -> dict[str, Any]:
    return {
        "run": run.number,
        "judge": run.judge.name,
        "version": run.version,
        "settings_hash": run.judge.settings_hash,
    }


def prompts_said(run: Run, prompts: Mapping[int, Prompt]) -> list[dict[str, Any]]:
    used = [prompts[pk] for languages in run.prompts.values() for pk in languages.values() if pk in prompts]
    return [
        {name: getattr(one, name) for name in ("key", "language", "number", "sha256")}
        for one in sorted(used, key=lambda one: (one.key, one.language))
    ]


# What is refused

NO_JURY_RUN = Problem(
    code="no_jury_run",
    field="run",
    expected=gettext_noop("The number of a run of the jury, of three jurors of this project."),
    remedy=gettext_noop("Choose one from the page Judges."),
)
NOT_THROUGH = Problem(
    code="run_not_through",
    field="run",
    expected=gettext_noop("A run that is through: every item of it judged, and not called off."),
    remedy=gettext_noop("Wait until it is done, or start another one."),
)
PROOF_OF_THE_WIRE = Problem(
    code="proof_only",
    field="run",
    expected=gettext_noop("A jury whose answers are results; a juror of this one only proves the wire."),
    remedy=gettext_noop("Choose a run of jurors that ask real models."),
)
SEVERAL_PROTOCOLS = Problem(
    code="several_protocols",
    field="run",
    expected=gettext_noop("Three jurors that judged by one protocol of this project, which their settings name."),
    remedy=gettext_noop("Start a jury of such jurors."),
)
JURY_STANDS_ALONE = Problem(
    code="not_this_rule",
    field="jury",
    expected=gettext_noop("A jury without a rule and a protocol: its release has its own, which its jurors judged by."),
    remedy=gettext_noop("Leave them out."),
)
ONLY_BY_JURY = Problem(
    code="not_this_rule",
    field="run",
    expected=gettext_noop("No run, unless the rule is “jury”: labels of people come from no run."),
    remedy=gettext_noop("Leave it out, or seal by the rule “jury”."),
)
JURY_HAS_ITS_PROTOCOL = Problem(
    code="not_this_rule",
    field="protocol",
    expected=gettext_noop("Neither a protocol nor earlier ones: a jury's release has that of its jurors."),
    remedy=gettext_noop("Leave them out."),
)
NOTHING_SETTLED = Problem(
    code="nothing_to_seal",
    field="run",
    expected=gettext_noop("An item of the main phase on which the jurors agree; there is none."),
    remedy=gettext_noop("Nothing can be sealed of this run; start one of other jurors."),
)
