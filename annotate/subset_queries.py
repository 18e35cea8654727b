"""Named reads of subsets: what they can be drawn from, and what was drawn. Each says how many statements it takes;
tests pin them."""

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from annotate.models import Item, Membership, Phase, Project, SubsetItem, Trace
from annotate.rules.outcomes import succeeded
from annotate.rules.subsets import Candidate

SUCCESS = (
    *("metadata__success", "metadata__reward", "metadata__simulation__reward_info__reward"),
    *("metadata__meta__success", "metadata__meta__reward"),
)
"""Where the readers of trace files keep what the file says of success; the first that says something counts."""


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """A trace with items of the main phase. `is_successful` is None where its file does not say."""

    candidate: Candidate
    is_successful: bool | None


def traces_to_draw(project: Project) -> list[FoundTrace]:
    """One statement."""
    main = Item.objects.filter(trace=OuterRef("pk"), phase=Phase.MAIN, is_planned=True)
    traces = Trace.objects.filter(Exists(main), project=project, is_staged=False).order_by("pk")
    rows = traces.values_list("pk", "area", "language", *SUCCESS)
    return [
        FoundTrace(Candidate(pk, area, language), first_said(said))
        for pk, area, language, *said in rows.iterator(chunk_size=2000)
    ]


def first_said(values) -> bool | None:
    return next((found for found in map(succeeded, values) if found is not None), None)


@dataclass(frozen=True, slots=True)
class Subset:
    """What was drawn for a member, in items."""

    member: int
    code: str
    username: str
    n_common: int
    n_unique: int


def subsets_of(project: Project) -> list[Subset]:
    """By code: one statement."""
    members = Membership.objects.filter(project=project, subset__isnull=False).annotate(
        n_common=Count("subset", filter=Q(subset__is_common=True)),
        n_unique=Count("subset", filter=Q(subset__is_common=False)),
    )
    rows = members.order_by("code").values_list("pk", "code", "person__username", "n_common", "n_unique")
    return [Subset(*row) for row in rows]


def common_by_area(project: Project) -> dict[str, int]:
    """Traces that were drawn for everybody, by area: one statement."""
    common = SubsetItem.objects.filter(item__project=project, is_common=True)
    rows = common.order_by().values_list("item__trace__area").annotate(n=Count("item__trace", distinct=True))
    return dict(rows)
