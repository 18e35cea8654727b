"""Reply points chosen: which replies of a project are written anew under every condition of a study."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from django.db import transaction
from django.db.models import Max

from annotate import people
from annotate.errors import Refused
from annotate.models import Event, Person, Phase, Project
from annotate.traces.base import Problem, gettext_noop
from scoring import reply_queries
from scoring.methods.points import Candidate, chosen_points, points_at_random
from scoring.models import Points
from scoring.reply_records import StepRow, TextRow, home_of, work_before

MOST_SEED = 2**63 - 1


def choose_points(
    *,
    person: Person | None,
    project: Project,
    seed: int,
    quota: int = 8,
    n: int | None = None,
    at_random: bool = False,
    phase: str = "main",
) -> Points:
    """Up to `quota` replies of each collaboration, at most `n` in all, kept under the next number; with `at_random` any
    `n` of all, whatever the quota. `person` is None on the command line. Refused for a number that does not go and
    where there is no reply; NotYours for who does not lead the project."""
    check("quota", quota, 1)
    check("n", 1 if n is None else n, 1)
    check("seed", seed, 0, MOST_SEED)
    if phase not in Phase.values:
        raise Refused(NOTHING_TO_CHOOSE)
    found = list(candidates(reply_queries.text_rows(project, phase), reply_queries.step_rows(project, phase)))
    if at_random:
        chosen = points_at_random(found, seed=seed, n=n)
        home = {one.item: one.cluster for one in found}
        quota = max(Counter(home[one.item] for one in chosen).values(), default=quota)
    else:
        chosen = chosen_points(found, seed=seed, quota=quota, n=n)
    if project.kind != "reply" or not chosen:
        raise Refused(NOTHING_TO_CHOOSE)
    items = [{"item": one.item, "class": one.point_class, "order": one.order} for one in chosen]
    with transaction.atomic():
        project = people.lock_people(project) if person is None else people.lock_led(project, person)
        last = Points.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
        values = {"number": last + 1, "seed": seed, "quota": quota, "items": items, "person": person}
        points = Points.objects.create(project=project, **values)
        detail = {"points": points.number, "items": len(items), "quota": quota, "seed": seed}
        Event.objects.create(project=project, person=person, action="points_chosen", detail=detail)
    return points


def candidates(texts: Sequence[TextRow], steps: Sequence[StepRow]) -> Iterator[Candidate]:
    """The recorded replies; prior are those behind a compaction, and the first of each session but the first one."""
    of_trace: dict[int, list[StepRow]] = defaultdict(list)
    for step in steps:
        of_trace[step.trace].append(step)
    before: dict[int, list[int]] = defaultdict(list)
    for text in sorted((one for one in texts if not one.is_written), key=lambda one: (one.trace, one.anchor, one.item)):
        there = of_trace[text.trace]
        work = work_before(there, text.anchor, before[text.trace])
        before[text.trace].append(text.anchor)
        sessions = {step.index: step.session for step in there}
        is_later = sessions.get(text.anchor, 1) > min(sessions.values(), default=1)
        prior = work["after_compaction"] or (work["first_in_session"] and is_later)
        yield Candidate(text.item, home_of(text), prior)


def check(name: str, value: int, least: int, most: int = 2**31 - 1) -> None:
    if not least <= value <= most:
        raise Refused(
            Problem(
                code="bad_number",
                field=name,
                expected=gettext_noop("A whole number from %(least)s to %(most)s."),
                remedy=gettext_noop("Choose one of these."),
                params={"least": least, "most": most},
            )
        )


NOTHING_TO_CHOOSE = Problem(
    code="nothing_to_choose",
    field="phase",
    expected=gettext_noop("Recorded replies of agents in this phase; there are none."),
    remedy=gettext_noop("Import traces first, in a project of kind reply."),
)
