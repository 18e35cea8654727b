"""The items behind a figure: which they are is decided on the table that the figure was computed from."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from annotate.errors import Refused
from annotate.kinds.base import Measure
from annotate.kinds.registry import kind_of
from annotate.models import Project
from scoring import report_queries
from scoring.comparing import (
    Gathered,
    chosen_measures,
    gather,
    no_table,
    schemas_of,
    table_of,
    unknown_choice,
    verdicts_on,
)
from scoring.stats.judge import Verdicts, with_judge
from scoring.stats.majority import votes_of_others
from scoring.stats.panel import ties_of
from scoring.stats.ratings import MISSING, Codes, Ratings, RatingsError
from scoring.stats.statistic import category_counts

JUDGE = "judge"
MAJORITY = "majority"
Why = Literal["tie", "few", "missing", "unreadable"]
WHYS: tuple[Why, ...] = ("tie", "few", "missing", "unreadable")
LIMIT = 50

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Figured:
    """Which figure is asked about. `of` is whose word stands in the columns, a rater's code or `judge` (without it
    everybody's); `against` what stands in the rows, a rater's code or `majority`. `row` and `column` name a category,
    `agree` asks for the items on which both are the same or differ, `why` for those that the figure leaves out or, of
    ties, treats by its rule."""

    of: str | None = None
    against: str | None = None
    row: str | None = None
    column: str | None = None
    agree: bool | None = None
    why: Why | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """An item with what everybody said of it, as categories of the measure. `majority` is that of the people whose word
    counts for the figure, None where there is none."""

    item: int
    cluster: str
    source: str
    anchor: int | None
    said: Mapping[str, Hashable]
    majority: Hashable | None
    judge: Hashable | None


@dataclass(frozen=True, slots=True)
class ComparedItems:
    """One page, in the order of the ids; `n` counts all of them, `after` is where the next page begins, if any;
    the labels are those under `protocol`."""

    rows: tuple[Compared, ...]
    n: int
    after: int | None
    protocol: int | None


def compared_items(
    project: Project,
    *,
    measure: str,
    phase: str = "main",
    protocol: int | None = None,
    run: int | None = None,
    round: int | None = None,
    language: str | None = None,
    area: str | None = None,
    cluster: str | None = None,
    of: str | None = None,
    against: str | None = None,
    row: str | None = None,
    column: str | None = None,
    agree: bool | None = None,
    why: Why | None = None,
    after: int = 0,
    before: int | None = None,
    limit: int = LIMIT,
) -> ComparedItems:
    """The items behind a figure of the report with the same filters, behind the one with the id `after`, or the last
    ones in front of `before`; Refused for a rater or category that is not there. The number of statements is fixed."""
    schemas = schemas_of(project)
    wanted = {"language": language, "area": area, "cluster": cluster}
    gathered = gather(project, schemas, phase=phase, protocol=protocol, run=run, wanted=wanted, round=round)
    (chosen,) = chosen_measures(project, schemas, measure, gathered.facts.protocol)
    kind = kind_of(project.kind)
    try:
        people = table_of(gathered.labels, kind, schemas).ratings(chosen)
        verdicts = next(iter(verdicts_on([chosen], gathered, kind, schemas)), None)
        codes = with_judge(people, verdicts) if verdicts else with_judge(people, Verdicts(0, "", {}))
    except RatingsError as error:
        raise Refused(no_table(error, chosen)) from error
    asked = Figured(of, against, row, column, agree, why)
    unreadable = np.array([verdicts is not None and item in verdicts.unreadable for item in people.items], dtype=bool)
    mask, majority = decided(people, codes, asked, chosen, unreadable)
    return shown_page(people, codes, majority, mask, gathered, after=after, before=before, limit=limit)


def decided(
    people: Ratings, codes: Codes, asked: Figured, measure: Measure, unreadable: Mask
) -> tuple[Mask, npt.NDArray[np.int64]]:
    """Which rows of the table are behind the figure, and the majority on each: of the others where a rater is
    looked at, of all people else. `codes` has the judge in its last column."""
    names = [*map(str, people.raters), JUDGE]
    ties = ties_of(measure.tie, people)
    of = None if asked.of is None else place_of("of", asked.of, names)
    left_aside = len(people.raters) if of is None else of
    others = codes if left_aside == len(people.raters) else codes[:, :-1]
    votes = votes_of_others(others, left_aside, len(people.categories), ties, measure.min_others)
    labelled = (people.codes >= 0).any(axis=1)
    if asked.why is not None:
        rated = labelled if of is None else labelled & (codes[:, of] >= 0)
        reasons = {
            "tie": rated & votes.tied,
            "few": rated & ~votes.enough,
            "missing": labelled & (codes[:, left_aside] == MISSING),
            "unreadable": labelled & (codes[:, -1] == MISSING) & unreadable,
        }
        return reasons[place_in_whys(asked.why)], votes.majority
    columns = [str(one) for one in people.categories]
    row = None if asked.row is None else place_of("row", asked.row, columns)
    column = None if asked.column is None else place_of("column", asked.column, columns)
    if of is None:
        counts = category_counts(people.codes, len(columns))
        return (labelled if column is None else counts[:, column] > 0), votes.majority
    own = codes[:, of]
    mask = own >= 0
    if column is not None:
        mask &= own == column
    if asked.against is not None:
        other = votes.majority if asked.against == MAJORITY else codes[:, place_of("against", asked.against, names)]
        mask &= other >= 0
        if row is not None:
            mask &= other == row
        if asked.agree is not None:
            mask &= (own == other) == asked.agree
    return mask, votes.majority


def place_of(field: str, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise Refused(unknown_choice(field, [*names, MAJORITY] if field == "against" else names))
    return names.index(name)


def place_in_whys(why: str) -> Why:
    return WHYS[place_of("why", why, WHYS)]


def shown_page(
    people: Ratings,
    codes: Codes,
    majority: npt.NDArray[np.int64],
    mask: Mask,
    gathered: Gathered,
    *,
    after: int,
    before: int | None,
    limit: int,
) -> ComparedItems:
    place = {people.items[row]: row for row in np.flatnonzero(mask).tolist()}
    ids = sorted(item for item in map(int, map(str, place)) if item > after)
    if before is not None:
        ids = [item for item in ids if item < before][-limit:]
    shown = ids[:limit]
    sources = report_queries.sources_of(shown)

    def category(code: int) -> Hashable | None:
        return people.categories[code] if code >= 0 else None

    rows = tuple(
        Compared(
            *(item, gathered.labels.clusters[item], *sources[item]),
            said={
                str(rater): people.categories[code]
                for rater, code in zip(people.raters, people.codes[place[item]].tolist(), strict=True)
                if code >= 0
            },
            majority=category(int(majority[place[item]])),
            judge=category(int(codes[place[item], -1])),
        )
        for item in shown
    )
    after_these = shown[-1] if len(ids) > limit else None
    return ComparedItems(rows, n=int(mask.sum()), after=after_these, protocol=gathered.facts.protocol)
