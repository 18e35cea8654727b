"""What judges found becomes items of another project: gaps to be put into categories by people.

A lead makes the copy. It holds a window of the reply and the reader's question; run, item and model stay behind, as its
private origin.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotate import importing, people
from annotate.errors import Refused
from annotate.models import Person, Phase, Project
from annotate.staging import NewItem
from annotate.traces import base
from annotate.traces.base import Problem, gettext_noop
from scoring import gap_queries
from scoring.gap_queries import FoundGap, GapTrace
from scoring.methods.gap_sample import sampled, window
from scoring.models import Run

READER = "reader"
USUAL = 100
MOST = 100_000


@dataclass(frozen=True, slots=True)
class PublishedGaps:
    """What became of a reader's gaps: `n_drawn` of `n_found`, of which `n_nowhere` have words that are not in the
    reply, and cannot be asked about. `n_present` were there already."""

    n_found: int
    n_nowhere: int
    n_drawn: int
    n_new: int
    n_present: int


def publish_gaps(
    *,
    person: Person | None,
    source: Project,
    target: Project,
    run: int,
    now: datetime,
    n: int = USUAL,
    seed: int | None = None,
    phase: str = Phase.MAIN,
) -> PublishedGaps:
    """Bring a sample of the gaps that a run of the reader found into a project of gaps; over models by largest
    remainders, drawn by the seed, which is the source project's unless one is given. The same call again adds nothing.
    `person` is None on the command line, else they lead both projects.

    Refused for a run of another judge, a target of another kind, and where there is nothing to publish; NotYours for
    who does not lead both."""
    with transaction.atomic():
        for project in sorted((source, target), key=lambda one: one.pk):
            if person is None:
                people.lock_people(project)
            else:
                people.lock_led(project, person)
        reader = reader_run(source, run)
        check_target(target)
        if not 0 < n <= MOST:
            raise Refused(bad_number())
        found = list(gap_queries.found_gaps(reader, phase))
        placed = [gap for gap in found if gap.start is not None and gap.end is not None]
        if not placed:
            raise Refused(nothing_to_publish(run))
        traces = gap_queries.gap_traces(source, phase)
        models = [traces[gap.trace].model for gap in placed]
        drawn = [placed[place] for place in sampled(models, n, source.seed if seed is None else seed)]
        added = importing.add_items(
            project=target,
            source=f"gaps of {source.slug}, run {reader.number}",
            traces=copies(drawn, traces, reader),
            by=person,
            now=now,
        )
    return PublishedGaps(len(found), len(found) - len(placed), len(drawn), added.n_items, added.n_present)


def copies(
    drawn: Sequence[FoundGap], traces: dict[int, GapTrace], run: Run
) -> list[tuple[base.Trace, list[NewItem]]]:
    """Each trace once, without its messages: an item is all there is to see of it."""
    of_trace: dict[int, list[FoundGap]] = defaultdict(list)
    for gap in drawn:
        of_trace[gap.trace].append(gap)
    return [(copy_of(traces[trace]), [new_item(gap, run) for gap in gaps]) for trace, gaps in of_trace.items()]


def copy_of(trace: GapTrace) -> base.Trace:
    return base.Trace(
        source_id=trace.source_id,
        format=importing.FORMAT,
        messages=(),
        language=trace.language,
        area=trace.area,
        cluster=trace.cluster,
        metadata={"model": trace.model} if trace.model else {},
    )


def new_item(gap: FoundGap, run: Run) -> NewItem:
    assert gap.start is not None
    assert gap.end is not None
    seen = window(gap.text, gap.start, gap.end)
    asked = {"question": gap.question, "type": gap.type, "start": seen.start, "end": seen.end}
    origin = {"project": run.project_id, "run": run.pk, "item": gap.item, "question": gap.number}
    return NewItem(gap.anchor, seen.text, asked=asked, origin=origin)


# What is refused


def reader_run(project: Project, number: int) -> Run:
    run = gap_queries.run_called(project, number)
    if run is None or run.judge.name != READER:
        raise Refused(no_reader_run(number))
    return run


def check_target(target: Project) -> None:
    if target.kind != gap_queries.KIND:
        raise Refused(
            Problem(
                code="other_kind",
                field="target",
                expected=gettext_noop("A project of gap categories; %(project)s is of another kind."),
                remedy=gettext_noop("Make a project of the kind gap first, and publish into that."),
                params={"project": target.slug},
            )
        )
    if target.closed_at is not None:
        raise Refused(
            Problem(
                code="project_closed",
                field="target",
                expected=gettext_noop("A project that is open; %(project)s is closed."),
                remedy=gettext_noop("Make another project for these items."),
                params={"project": target.slug},
            )
        )


def no_reader_run(number: int) -> Problem:
    return Problem(
        code="no_such_run",
        field="run",
        expected=gettext_noop("The number of a run of the reader in this project; %(number)s is none."),
        remedy=gettext_noop("Look at the runs of the project, or run the reader first."),
        params={"number": number},
    )


def nothing_to_publish(number: int) -> Problem:
    return Problem(
        code="nothing_to_publish",
        field="run",
        expected=gettext_noop("A run that found gaps whose words stand in the replies; run %(number)s has none."),
        remedy=gettext_noop("Wait until it is through, or name another run or phase."),
        params={"number": number},
    )


def bad_number() -> Problem:
    return Problem(
        code="bad_number",
        field="n",
        expected=gettext_noop("A number of gaps from 1 to %(most)s."),
        remedy=gettext_noop("100 is what the method asks for."),
        params={"most": MOST},
    )
