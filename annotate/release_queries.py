"""Named reads for releases: what is sealed, and what was. Rows come as streams, however many there are; each says how
many statements it takes."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import (
    Annotation,
    Assignment,
    ImportBatch,
    Item,
    Message,
    Phase,
    Project,
    Protocol,
    Release,
    ReleaseItem,
    Round,
    Settlement,
)
from annotate.rules.release_content import Source, text_hash
from annotate.rules.release_shape import JURY

CHUNK = 2000


@dataclass(frozen=True, slots=True)
class CastVote:
    """A label that enters a release, as its row has it."""

    item: int
    rater: str
    round: int
    round_purpose: str
    number: int
    protocol: int
    label: dict[str, Any]


def current_labels(project: Project) -> QuerySet[Annotation]:
    return Annotation.objects.filter(
        assignment__item__project=project,
        assignment__item__phase=Phase.MAIN,
        assignment__state=Assignment.State.SUBMITTED,
        is_current=True,
    )


def rating_labels(project: Project) -> QuerySet[Annotation]:
    """What human agreement of the main phase rests on, under any protocol."""
    return current_labels(project).filter(assignment__round__purpose__in=RATING_ROUNDS, informed=False)


def votes(project: Project, *protocols: int) -> Generator[CastVote, None, None]:
    """The uninformed current labels of the main phase under these protocols, by item, annotator and round: one
    statement, so that all of them are of one moment."""
    rows = (
        rating_labels(project)
        .filter(protocol__number__in=protocols)
        .order_by("assignment__item", "assignment__annotator__code", "assignment__round__number")
        .values_list(
            *("assignment__item_id", "assignment__annotator__code", "assignment__round__number"),
            *("assignment__round__purpose", "number", "protocol__number", "label"),
        )
    )
    return (CastVote(*row) for row in rows.iterator(chunk_size=CHUNK))


def settled(project: Project, *protocols: int) -> Iterator[tuple[int, dict[str, Any] | None, str]]:
    """What items of the main phase were settled to under these protocols, by item: one statement. Known answers are no
    settling; one that names no protocol holds under any."""
    rows = Settlement.objects.filter(item__project=project, item__phase=Phase.MAIN, is_current=True)
    rows = rows.filter(Q(protocol=None) | Q(protocol__number__in=protocols))
    rows = rows.exclude(how=Settlement.How.KNOWN).order_by("item").values_list("item_id", "label", "how")
    return rows.iterator(chunk_size=CHUNK)


SOURCE = ("trace__format", "trace__source_id", "trace__content_hash", "anchor", "text", "asked", "recorded")
GROUPED = ("cluster", "trace__area", "trace__language")


def recorded_text(item: str = "") -> Subquery:
    """The text at an item's anchor."""
    trace, anchor = OuterRef(f"{item}trace"), OuterRef(f"{item}anchor")
    return Subquery(Message.objects.filter(trace=trace, index=anchor).values("text")[:1])


def source_of(row: Sequence[Any]) -> tuple[Source, str]:
    """Where an item comes from, and the text that was judged: its own, else the recorded one."""
    format, id_, trace_hash, anchor, own, asked, recorded, cluster, area, language = row
    text = own if own is not None else recorded or ""
    return Source(
        format or "", id_ or "", trace_hash or "", anchor, text_hash(text, asked), cluster, area or "", language or ""
    ), text


def sources(project: Project) -> Generator[tuple[int, Source], None, None]:
    """Every visible item of the main phase that people are to label, by item: one statement."""
    items = Item.objects.filter(project=project, phase=Phase.MAIN, is_planned=True).exclude(trace__is_staged=True)
    rows = items.annotate(recorded=recorded_text()).order_by("pk").values_list("pk", *SOURCE, *GROUPED)
    return ((pk, source_of(row)[0]) for pk, *row in rows.iterator(chunk_size=500))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item of a project that may be the one a line of a release means."""

    item: int
    phase: str
    source: Source
    text: str


def candidates(project: Project, ids: Sequence[str]) -> list[Candidate]:
    """The visible items, of any phase, whose traces have one of these source ids: one statement."""
    items = Item.objects.filter(project=project, trace__source_id__in=ids, trace__is_staged=False)
    rows = items.annotate(recorded=recorded_text()).order_by("pk").values_list("pk", "phase", *SOURCE, *GROUPED)
    return [Candidate(pk, phase, *source_of(row)) for pk, phase, *row in rows]


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A sealed item with what is needed to name it elsewhere."""

    item: int
    position: int
    item_hash: str
    label: dict[str, Any] | None
    how: str
    is_tie: bool
    rests_on: list[dict[str, Any]]
    source: Source


def sealed_rows(release: Release, *, after: int = -1, limit: int | None = None) -> Iterator[SealedRow]:
    """The items of a release in their order, behind a position and at most so many: one statement."""
    items = ReleaseItem.objects.filter(release=release, position__gt=after).order_by("position")
    rows = items.annotate(recorded=recorded_text("item__")).values_list(
        *("item_id", "position", "item_hash", "label", "how", "is_tie", "rests_on"),
        *(name if name == "recorded" else f"item__{name}" for name in (*SOURCE, *GROUPED)),
    )
    if limit is not None:
        rows = rows[:limit]
    for item, position, item_hash, label, how, is_tie, rests_on, *row in rows.iterator(chunk_size=500):
        yield SealedRow(item, position, item_hash, label, how, is_tie, rests_on, source_of(row)[0])


def releases_of(project: Project) -> QuerySet[Release]:
    """Newest first, without the texts of their manifests: one statement."""
    releases = Release.objects.filter(project=project).select_related("person", "protocol").defer("manifest")
    return releases.defer("protocol__guideline_en", "protocol__guideline_zh", "manifest").order_by("-number")


def release_numbered(project: Project, number: int | None) -> Release | None:
    """The release of this number; where none is said the newest of what people said, as a jury's is never meant unless
    it is named: one statement."""
    releases = Release.objects.filter(project=project).select_related("project", "protocol").order_by("-number")
    return (releases.exclude(rule=JURY) if number is None else releases.filter(number=number)).first()


def peoples_releases(project: Project) -> QuerySet[Release]:
    """Those whose labels are of people, newest first: one statement."""
    return releases_of(project).exclude(rule=JURY)


@dataclass(frozen=True, slots=True)
class LabelsUnder:
    protocol: int
    n_labels: int


def labels_by_protocol(project: Project) -> list[LabelsUnder]:
    """How many labels of the main phase could be sealed under each protocol, newest first: one statement."""
    rows = rating_labels(project).order_by().values_list("protocol__number").annotate(n=Count("pk"))
    return [LabelsUnder(*row) for row in sorted(rows, reverse=True)]


def protocol_numbered(project: Project, number: int) -> Protocol | None:
    """One statement."""
    return Protocol.objects.filter(project=project, number=number).first()


def n_items_there(project: Project) -> int:
    """Visible items of the main phase that are to be labelled: one statement."""
    planned = Item.objects.filter(project=project, phase=Phase.MAIN, is_planned=True)
    return planned.exclude(trace__is_staged=True).count()


def left_out(project: Project, *protocols: int) -> dict[str, int]:
    """Labels and items of the main phase that no release under these protocols has, by the reason: three statements."""
    other = Q(informed=False, assignment__round__purpose__in=RATING_ROUNDS) & ~Q(protocol__number__in=protocols)
    informed = Q(informed=True) | ~Q(assignment__round__purpose__in=RATING_ROUNDS)
    labels = current_labels(project).aggregate(
        other_protocol=Count("pk", filter=other), informed=Count("pk", filter=informed)
    )
    problems = Assignment.objects.filter(
        item__project=project,
        item__phase=Phase.MAIN,
        state=Assignment.State.PROBLEM,
        round__purpose__in=RATING_ROUNDS,
    ).count()
    return {"n_items_there": n_items_there(project), "problem_reported": problems, **labels}


def import_losses(project: Project) -> dict[str, int]:
    """Records that `--skip-bad` left out and characters that `--replace-nul` changed, over the imports of the main
    phase: one statement."""
    batches = ImportBatch.objects.filter(project=project, phase=Phase.MAIN, state=ImportBatch.State.VISIBLE)
    whole = BigIntegerField()
    found = batches.aggregate(
        skipped=Sum(Cast(KT("counts__n_problems"), whole)), replaced=Sum(Cast(KT("counts__replaced_nul"), whole))
    )
    return {"records_skipped": found["skipped"] or 0, "replaced_nul": found["replaced"] or 0}


def rounds_of(project: Project) -> dict[int, str]:
    """The purpose of each round by its number: one statement."""
    return dict(Round.objects.filter(project=project).values_list("number", "purpose"))


def with_known(items: Sequence[int]) -> set[int]:
    """Those of these items that have a known answer: one statement."""
    rows = Settlement.objects.filter(item__in=items, how=Settlement.How.KNOWN, is_current=True)
    return set(rows.values_list("item_id", flat=True))


def saw_settled(project: Project) -> set[str]:
    """The codes of annotators who have seen what items were settled to: one statement."""
    return set(project.memberships.filter(settled_seen_at__isnull=False).values_list("code", flat=True))
