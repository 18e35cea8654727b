"""Texts that judges wrote at reply points become items of another project, where they are read and judged blind.

Each text stands at its point of a copy of the trace, which ends at the last point that has a text. What condition wrote
it is its arm; run, item and sample are its origin. All three are private, and the point's id tells nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotate import importing, people
from annotate.errors import Refused
from annotate.models import Person, Project
from annotate.rules.trace_names import name_among
from annotate.rules.vendor_names import vendor_names
from annotate.staging import NewItem
from annotate.traces import base
from annotate.traces.base import Problem, gettext_noop
from scoring import publishing_queries, queries
from scoring.models import Run
from scoring.publishing_queries import PublishedText, WrittenText
from scoring.reply_records import arm_of

WRITER, REWRITER = JUDGES = ("writer", "rewriter")
DEFAULT, REWRITE = "default", "rewrite"
KIND = "reply"
TOLD = 6


@dataclass(frozen=True, slots=True)
class Published:
    """What became of the texts of the runs. `n_none` are points for which a run has no text that can be used."""

    n_new: int
    n_present: int
    n_traces: int
    n_points: int
    n_none: int
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class ArmText:
    """A text with the arm it becomes and the point it is of."""

    text: WrittenText
    arm: str
    point: str


def publish_texts(
    *, person: Person | None, source: Project, target: Project, runs: Sequence[int], now: datetime
) -> Published:
    """Bring what these runs of the source project wrote into the target as items that nobody is to read yet; those that
    are there already stay. `person` is None on the command line, else they lead both.

    Refused for a run of another judge, a target that is none, a condition twice for a point, and rewrites of points
    that have no default."""
    with transaction.atomic():
        for project in sorted((source, target), key=lambda one: one.pk):
            if person is None:
                people.lock_people(project)
            else:
                people.lock_led(project, person)
        check_projects(source, target)
        chosen = publishing_queries.runs_called(source, runs)
        check_runs(chosen, runs)
        written = list(publishing_queries.written_texts(chosen))
        found = [
            ArmText(one, arm_of(condition_of(one.run), one.sample if one.run.n_samples > 1 else None), point)
            for one in written
            if one.text.strip()
            for point in [point_id(target, one.item)]
        ]
        there = publishing_queries.published_texts(target)
        check_once(found, there)
        check_defaults(source, found, there)
        counts = importing.add_items(
            project=target,
            source=f"texts of {source.slug}",
            traces=copies(target, found),
            by=person,
            now=now,
        )
    return Published(
        n_new=counts.n_items,
        n_present=counts.n_present,
        n_traces=counts.n_traces,
        n_points=len({one.point for one in found}),
        n_none=len(written) - len(found),
        warnings=tuple(names_a_model(found)),
    )


def condition_of(run: Run) -> str:
    """The condition that a run wrote under."""
    return REWRITE if run.judge.name == REWRITER else str(run.judge.settings.get("condition", ""))


def point_id(target: Project, item: int) -> str:
    """The same for every text of a point, and told by nothing but the project's seed."""
    return hashlib.sha256(f"{target.pk}/{target.seed}/point/{item}".encode()).hexdigest()[:20]


# What is brought in


def copies(target: Project, found: Sequence[ArmText]) -> list[tuple[base.Trace, list[NewItem]]]:
    """Each trace once, up to its last point that has a text, with its texts in the order of points and arms. One that
    is there already has to reach as far, as a trace is never changed."""
    of_trace: dict[int, list[ArmText]] = defaultdict(list)
    for one in found:
        of_trace[one.text.trace].append(one)
    ends = publishing_queries.ends_of_traces(target, {one.text.source_id for one in found}, importing.FORMAT)
    copied = []
    for row in publishing_queries.traces_called(of_trace):
        texts = sorted(of_trace[row.pk], key=lambda one: (one.text.anchor, one.point, one.arm))
        last = texts[-1].text.anchor
        if last > ends.get(row.source_id, last):
            raise Refused(ends_before(row.source_id))
        last = ends.get(row.source_id, last)
        copied.append((copy_of(row, last), [new_item(one) for one in texts]))
    return copied


def copy_of(row: publishing_queries.SourceTrace, last: int) -> base.Trace:
    """What the requester and the agent had until then; of what its file said only who wrote it."""
    whole = queries.whole_trace(row.pk)
    told = {"model": name_among(row.models), "family": name_among(row.families)}
    return base.Trace(
        source_id=row.source_id,
        format=importing.FORMAT,
        messages=tuple(message for message in whole.messages if message.index <= last),
        files=tuple(file for file in whole.files if file.available_from < last),
        language=row.language,
        area=row.area,
        cluster=row.cluster,
        metadata={name: value for name, value in told.items() if value},
    )


def new_item(one: ArmText) -> NewItem:
    return NewItem(
        anchor=one.text.anchor,
        text=one.text.text,
        point=one.point,
        arm=one.arm,
        origin={"run": one.text.run.pk, "item": one.text.item, "sample": one.text.sample},
        is_planned=False,
    )


# What is refused


def check_projects(source: Project, target: Project) -> None:
    if source.pk == target.pk or target.kind != KIND:
        raise Refused(OTHER_TARGET)
    if target.closed_at is not None:
        raise Refused(TARGET_CLOSED)
    setting = "text_beside_calls"
    if source.settings.get(setting, "private") != target.settings.get(setting, "private"):
        raise Refused(SEEN_OTHERWISE)


def check_runs(found: Sequence[Run], asked: Sequence[int]) -> None:
    if not asked:
        raise Refused(NO_RUNS)
    if missing := sorted(set(asked) - {one.number for one in found}):
        raise Refused(unknown_run(missing[0]))
    for run in found:
        if run.judge.name not in JUDGES or not condition_of(run):
            raise Refused(other_judge(run))


def check_once(found: Sequence[ArmText], there: Mapping[tuple[str, str], PublishedText]) -> None:
    """A condition wrote once for a point; what is there already is there by the same verdict."""
    first: dict[tuple[str, str], ArmText] = {}
    for one in found:
        key = (one.point, one.arm)
        if key in first:
            raise Refused(condition_twice(one, first[key].text.run.number))
        first[key] = one
        if key in there and there[key].run != one.text.run.pk:
            raise Refused(condition_twice(one, None))


def check_defaults(
    source: Project, found: Sequence[ArmText], there: Mapping[tuple[str, str], PublishedText]
) -> None:
    """A rewrite is of the default text of its point, by the run that its rewriter read."""
    wrote = {point: one.run for (point, arm), one in there.items() if arm == DEFAULT}
    wrote |= {one.point: one.text.run.pk for one in found if one.arm == DEFAULT}
    rewrites = [one for one in found if condition_of(one.text.run) == REWRITE]
    if without := [one for one in rewrites if one.point not in wrote]:
        raise Refused(no_default_text(without))
    read = {one.text.run.pk: one.text.run.judge.settings.get("default_run") for one in rewrites}
    numbers = {one.number: one.pk for one in publishing_queries.runs_called(source, filter(None, read.values()))}
    for one in rewrites:
        number = read[one.text.run.pk]
        if number is not None and numbers.get(number) != wrote[one.point]:
            raise Refused(other_default(one.text.run, number))


def other_default(run: Run, number: int) -> Problem:
    return Problem(
        code="other_default",
        field="runs",
        expected=gettext_noop(
            "The default texts that were rewritten: run %(number)s rewrote those of run %(default)s, and others stand "
            "at its points."
        ),
        remedy=gettext_noop("Publish both of one pair of runs."),
        params={"number": run.number, "default": number},
    )


def names_a_model(found: Iterable[ArmText]) -> Iterator[Problem]:
    """A warning for each condition whose texts give a model or a vendor away."""
    of_arm: dict[str, list[str]] = defaultdict(list)
    n_texts: Counter[str] = Counter()
    for one in found:
        if names := vendor_names(one.text.text):
            of_arm[one.arm] += names
            n_texts[one.arm] += 1
    for arm, names in sorted(of_arm.items()):
        yield Problem(
            code="names_a_model",
            field="text",
            expected=gettext_noop(
                "Written texts that give away no model and no vendor; of “%(arm)s” these do: %(n)s, by %(names)s."
            ),
            remedy=gettext_noop("Nothing, if that is meant; annotators read it as it is."),
            params={"arm": arm, "n": n_texts[arm], "names": ", ".join(list(dict.fromkeys(names))[:TOLD])},
            warning=True,
        )


OTHER_TARGET = Problem(
    code="other_target",
    field="TO",
    expected=gettext_noop("Another project, of replies, to bring the texts into."),
    remedy=gettext_noop("Name one, or make one with create_project."),
)
TARGET_CLOSED = Problem(
    code="project_closed",
    field="TO",
    expected=gettext_noop("A project that is not closed."),
    remedy=gettext_noop("Name another, or make one with create_project."),
)
SEEN_OTHERWISE = Problem(
    code="seen_otherwise",
    field="TO",
    expected=gettext_noop(
        "A project in which the requester sees the same of a trace, by the same setting text_beside_calls."
    ),
    remedy=gettext_noop("Make one with that setting."),
)


NO_RUNS = Problem(
    code="no_runs",
    field="runs",
    expected=gettext_noop("One run at least that wrote texts."),
    remedy=gettext_noop("Choose the runs whose texts are to be read."),
)


def unknown_run(number: int) -> Problem:
    return Problem(
        code="unknown_run",
        field="runs",
        expected=gettext_noop("Numbers of runs of the project; %(number)s is none."),
        remedy=gettext_noop("Correct it."),
        params={"number": number},
    )


def other_judge(run: Run) -> Problem:
    return Problem(
        code="other_judge",
        field="runs",
        expected=gettext_noop("Runs of a judge that writes texts: %(allowed)s. Run %(number)s is of “%(judge)s”."),
        remedy=gettext_noop("Name runs that wrote."),
        params={"allowed": ", ".join(JUDGES), "number": run.number, "judge": run.judge.name},
    )


def ends_before(source_id: str) -> Problem:
    return Problem(
        code="ends_before",
        field="runs",
        expected=gettext_noop(
            "Points within what was brought in of trace “%(trace)s” before; its copy ends at the last point it had "
            "then."
        ),
        remedy=gettext_noop("Publish the texts of all points at once, into a new project."),
        params={"trace": source_id[:80]},
    )


def condition_twice(one: ArmText, other: int | None) -> Problem:
    return Problem(
        code="condition_twice",
        field="runs",
        expected=gettext_noop(
            "One text of each condition for a point; run %(number)s wrote “%(arm)s” for a point of trace “%(trace)s” "
            "for which another run (%(other)s) has it already."
        ),
        remedy=gettext_noop("Name one run of each condition."),
        params={
            **{"number": one.text.run.number, "arm": one.arm, "trace": one.text.source_id[:80]},
            "other": "-" if other is None else other,
        },
    )


def no_default_text(found: Sequence[ArmText]) -> Problem:
    places = [f"{one.text.source_id[:80]} {one.text.anchor}" for one in found[:TOLD]]
    return Problem(
        code="no_default",
        field="runs",
        expected=gettext_noop("A default text of every point that has a rewrite; %(n)s have none: %(points)s."),
        remedy=gettext_noop("Publish the texts of the run that wrote them, too."),
        params={"n": len(found), "points": ", ".join(places) + ", …" * (len(found) > TOLD)},
    )
