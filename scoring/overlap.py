"""More people for the items of a pool while agreement is low: a standing job looks at it every few minutes.

It only gives items more places, up to a bound. Who gets them is for the pool to say, which gives an item to nobody who
has had it, and among its other items: nothing tells why one comes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotate import assigning, people, pool_queries, work
from annotate.errors import Refused
from annotate.kinds.registry import kind_of
from annotate.models import Assigning, Event, Person, Project, Work
from annotate.traces.base import Problem, gettext_noop
from annotate.work import Job, State
from scoring import comparing, label_queries

KIND = "extend_overlap"
PAUSE = timedelta(minutes=5)
MOST_PLACES = 50
LEAST_LABELS = 2
Each = Literal["item", "project"]
EACH: tuple[Each, ...] = ("item", "project")


@dataclass(frozen=True, slots=True)
class OverlapRule:
    """Items of the main phase get one more place, up to `at_most`, while agreement on a measure is under `under`:
    `each` says whether that of the item by itself, the share of its pairs of labels that are equal, or Krippendorff's
    alpha of the whole project."""

    measure: str
    under: float
    at_most: int
    each: str


def has_pool(project: Project) -> bool:
    return project.assigning == Assigning.POOL


def job_of(project: Project) -> Work | None:
    return Work.objects.filter(key=f"{KIND}:{project.pk}").first()


def rule_of(project: Project) -> OverlapRule | None:
    stored = project.settings.get("overlap_rule")
    return OverlapRule(**stored) if stored else None


def set_overlap_rule(*, lead: Person, project: Project, rule: OverlapRule | None, now: datetime) -> None:
    """Set the rule, or end it. NotYours for who does not lead the project; Refused where it has no pool or a value is
    none there is."""
    if rule is not None:
        check(project, rule)
    with transaction.atomic():
        project = people.lock_led(project, lead)
        if rule == rule_of(project):
            return
        project.settings["overlap_rule"] = asdict(rule) if rule else None
        project.save(update_fields=["settings"])
        Event.objects.create(
            project=project, person=lead, action="overlap_rule_set", detail=asdict(rule) if rule else {}
        )
        if rule is not None:
            row = work.add_work(kind=KIND, key=f"{KIND}:{project.pk}", payload={}, project=project, person=lead)
            ended = Work.objects.filter(pk=row.pk).exclude(state=State.RUNNING)
            ended.update(
                state=State.WAITING, error="", not_before=None, ended_at=None, max_attempts=F("attempts") + 3
            )


def check(project: Project, rule: OverlapRule) -> None:
    if not has_pool(project):
        raise Refused(NO_POOL)
    comparing.chosen_measures(project, comparing.schemas_of(project), rule.measure)
    is_in_range = 0 < rule.under <= 1 and LEAST_LABELS <= rule.at_most <= MOST_PLACES
    if not is_in_range or rule.each not in EACH:
        raise Refused(OUT_OF_RANGE)


@work.handles(KIND)
def extend_overlap(job: Job) -> dict[str, Any] | None:
    """Give items more places as the rule says and come again later; done where there is no rule any more. What it gives
    and that it did so are one transaction, so that a claim that was lost gives nothing."""
    project = Project.objects.get(pk=job.row.project_id)
    rule = rule_of(project)
    if rule is None or project.closed_at is not None or project.assigning != Assigning.POOL:
        return dict(job.row.result or {})
    with job.kept():
        items = items_under(project, rule)
    with transaction.atomic():
        n = assigning.add_overlap(project=project, items=items, n=1, at_most=rule.at_most)
        if n:
            Event.objects.create(project=project, action="overlap_added", detail={"items": n, "at_most": rule.at_most})
        job.write(
            state=State.WAITING,
            lease_until=None,
            not_before=Now() + PAUSE,
            max_attempts=F("max_attempts") + 1,
            result={"n_under": len(items), "n_more": n},
        )
    return None


def items_under(project: Project, rule: OverlapRule) -> list[int]:
    """Items whose places are all answered, and whose agreement, or that of the project, is under the rule's."""
    full = pool_queries.answered_items(project)
    if not full:
        return []
    if rule.each == "item":
        found = agreement_of_items(project, rule.measure)
        return [item for item in full if found.get(item, 1.0) < rule.under]
    (report,) = comparing.agreement_report(project, measure=rule.measure).measures
    alpha = report.panel.krippendorff_alpha.value
    return full if alpha is not None and alpha < rule.under else []


def agreement_of_items(project: Project, measure: str) -> Mapping[int, float]:
    """By item of the main phase, the share of pairs of blind labels under the newest protocol that are equal; items
    with fewer than two ratings have none."""
    kind, schemas = kind_of(project.kind), comparing.schemas_of(project)
    newest = max(schemas)
    (chosen,) = comparing.chosen_measures(project, schemas, measure)
    every = label_queries.rated_labels(project, phase="main", leave=kind.unmeasured)
    labels = every.where(every.protocol == newest).last_of_each()
    ratings = comparing.table_of(labels, kind, schemas).ratings(chosen)
    counts = np.stack([(ratings.codes == code).sum(axis=1) for code in range(len(ratings.categories))], axis=1)
    n = counts.sum(axis=1)
    equal = (counts * (counts - 1)).sum(axis=1)
    return {
        int(str(item)): float(equal[row] / (n[row] * (n[row] - 1)))
        for row, item in enumerate(ratings.items)
        if n[row] >= LEAST_LABELS
    }


NO_POOL = Problem(
    code="no_pool",
    field="each",
    expected=gettext_noop("A project whose items come from a pool; in a panel everybody has every item already."),
    remedy=gettext_noop("Leave the rule out."),
)
OUT_OF_RANGE = Problem(
    code="out_of_range",
    field="under",
    expected=gettext_noop("An agreement above 0 and up to 1, and from 2 to 50 people an item."),
    remedy=gettext_noop("Correct the numbers."),
)
