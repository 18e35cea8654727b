"""How far raters marked the same passages of a text, and what several of them marked together.

A span is `(start, end)` or `(start, end, label)`, half-open, in Unicode code points of the item's text: places of a
Python text, not of UTF-16. An empty list says that somebody looked and found nothing; None that nobody looked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scoring.stats.groups import Aggregate, Named, Stat, agreement_of, common
from scoring.stats.ratings import UnknownLabel
from scoring.stats.sums import Summed

Span = tuple[int, int, Hashable]
Unit = Literal["character", "exact", "overlap"]
UNITS: tuple[Unit, ...] = ("character", "exact", "overlap")


class BadSpan(UnknownLabel):
    """What a rater marked is no span of a text, or has a label that is not declared."""


def span_agreement(
    reference: Sequence[Iterable[Sequence[Any]] | None],
    predicted: Sequence[Iterable[Sequence[Any]] | None],
    *,
    unit: Unit = "character",
    match_label: bool = True,
    stat: Stat = "f1",
    aggregate: Aggregate = "micro",
) -> Summed:
    """How far the spans of one side are those of the other.

    Parameters
    ----------
    reference, predicted : for every item the spans marked there; an empty list for none found, None for not looked at.
    unit : `character` compares the marked code points, so that overlaps and repeats of one side count once; `exact`
        whole spans, equal in start, end and label; `overlap` whole spans, where one is right if it shares a code point
        with a span of the other side. Touching spans share none, and a span of no length is none.
    match_label : whether spans of different labels match.
    stat, aggregate : as with `groups.agreement_of`; F1 by character is 2 |A and B| / (|A| + |B|).

    Returns
    -------
    Summed, with the reasons of `groups.agreement_of`. Sides that both marked, never at one place, have an F1 of 0.

    Raises
    ------
    BadSpan, with the place of the first offending item; ValueError for a unit, stat or aggregate that is not known.

    Source: Artstein and Poesio 2008, Computational Linguistics 34(4), 555-596 (units of markables).
    Checked against: fixtures/reference/agreement-cases.json O24, O25; sets of characters.
    """
    if unit not in UNITS:
        raise ValueError(f"unit is {unit!r}; it is one of {', '.join(UNITS)}.")
    if unit == "overlap" and stat == "jaccard":
        raise ValueError("Spans that overlap match many to many, so they have no Jaccard; take character or exact.")

    def read(side: str, marked: Sequence[Iterable[Sequence[Any]] | None]) -> list[list[Span] | None]:
        return [
            None if spans is None else checked_spans(spans, item=item, rater=side, match_label=match_label)
            for item, spans in enumerate(marked)
        ]

    count = {"character": _by_character, "exact": _by_whole_span, "overlap": _by_overlap}[unit]
    named = Named.of(read("reference", reference), read("predicted", predicted), count)
    return agreement_of(named, stat=stat, aggregate=aggregate)


def checked_spans(
    spans: Iterable[Sequence[Any]], *, item: Hashable, rater: Hashable, match_label: bool = True
) -> list[Span]:
    """The different spans of some length, in order; the label is None where none is given or it is not to count."""
    found: dict[tuple[int, int, Hashable], Span] = {}
    for span in spans:
        start, end, label = _read(span, item=item, rater=rater)
        if start < end:
            kept = label if match_label else None
            found[start, end, (type(kept).__name__, kept)] = (start, end, kept)
    return sorted(found.values(), key=lambda one: (one[0], one[1], type(one[2]).__name__, str(one[2])))


@dataclass(frozen=True)
class MarkedTogether:
    """A passage `[start, end)` that spans of these raters cover without a gap, each overlapping another of them."""

    start: int
    end: int
    raters: tuple[Hashable, ...]
    n_spans: int


def marked_together(spans_of: Mapping[Hashable, Iterable[Sequence[Any]] | None]) -> list[MarkedTogether]:
    """Overlapping spans of one text merged transitively, over all raters and whatever their labels.

    Parameters
    ----------
    spans_of : what every rater marked in this text. None is a rater who did not look.

    Returns
    -------
    The passages in their order; `raters` in the order of `spans_of`. A majority of five is a passage of three raters.
    """
    spans = sorted(
        (start, end, place)
        for place, (rater, marked) in enumerate(spans_of.items())
        for start, end, _ in checked_spans(marked or (), item="the text", rater=rater, match_label=False)
    )
    names = list(spans_of)
    found: list[MarkedTogether] = []
    open_: list[tuple[int, int, int]] = []
    reach = 0
    for span in [*spans, None]:
        if open_ and (span is None or span[0] >= reach):
            places = sorted({place for _, _, place in open_})
            found.append(
                MarkedTogether(open_[0][0], reach, tuple(names[place] for place in places), n_spans=len(open_))
            )
            open_ = []
        if span is not None:
            reach = max(reach, span[1]) if open_ else span[1]
            open_.append(span)
    return found


def overlaps(span: Sequence[Any], others: Iterable[Sequence[Any]]) -> bool:
    """Whether it shares at least one code point with any of them."""
    return any(max(span[0], other[0]) < min(span[1], other[1]) for other in others)


Row = tuple[float, float, float, float, bool]


def _by_character(reference: list[Span], predicted: list[Span]) -> Row:
    one, other = _merged(reference), _merged(predicted)
    n_one = sum(end - start for runs in one.values() for start, end in runs)
    n_other = sum(end - start for runs in other.values() for start, end in runs)
    both = sum(_shared(runs, other.get(label, [])) for label, runs in one.items())
    return n_one, n_other, both, both, one == other


def _by_whole_span(reference: list[Span], predicted: list[Span]) -> Row:
    return common(
        Counter((start, end, _key(label)) for start, end, label in reference),
        Counter((start, end, _key(label)) for start, end, label in predicted),
    )


def _by_overlap(reference: list[Span], predicted: list[Span]) -> Row:
    found, right = _n_touched(reference, _merged(predicted)), _n_touched(predicted, _merged(reference))
    same = {(s, e, _key(label)) for s, e, label in reference} == {(s, e, _key(label)) for s, e, label in predicted}
    return len(reference), len(predicted), found, right, same


def _merged(spans: list[Span]) -> dict[Hashable, list[tuple[int, int]]]:
    """By label, the marked runs in order, with a gap between any two. `spans` come sorted by their start."""
    runs: dict[Hashable, list[tuple[int, int]]] = {}
    for start, end, label in spans:
        of_label = runs.setdefault(_key(label), [])
        if of_label and start <= of_label[-1][1]:
            of_label[-1] = (of_label[-1][0], max(end, of_label[-1][1]))
        else:
            of_label.append((start, end))
    return runs


def _shared(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> int:
    """How many code points two lists of runs have in common."""
    total = i = j = 0
    while i < len(one) and j < len(other):
        total += max(0, min(one[i][1], other[j][1]) - max(one[i][0], other[j][0]))
        if one[i][1] <= other[j][1]:
            i += 1
        else:
            j += 1
    return total


def _n_touched(spans: list[Span], runs: Mapping[Hashable, list[tuple[int, int]]]) -> int:
    """How many of the spans share a code point with a run of their label."""
    n = 0
    for start, end, label in spans:
        of_label = runs.get(_key(label), [])
        place = bisect_right(of_label, start, key=lambda run: run[0])
        before = place > 0 and of_label[place - 1][1] > start
        after = place < len(of_label) and of_label[place][0] < end
        n += before or after
    return n


def _read(span: Any, *, item: Hashable, rater: Hashable) -> Span:
    def refuse(why: str) -> BadSpan:
        return BadSpan(
            f"{rater} on item {item}: {span!r} {why}. A span is [start, end] or [start, end, label], whole numbers "
            f"of code points from 0, with start at most end.",
            item=item,
            rater=rater,
        )

    if isinstance(span, str | bytes) or not isinstance(span, Sequence) or len(span) not in (2, 3):
        raise refuse("is no span")
    start, end = span[0], span[1]
    label = span[2] if len(span) == 3 else None
    for bound in (start, end):
        if isinstance(bound, bool) or not hasattr(bound, "__index__"):
            raise refuse("has a bound that is no whole number")
    if start < 0:
        raise refuse("starts before the text")
    if end < start:
        raise refuse("ends before it starts")
    if isinstance(label, list | dict | set):
        raise refuse("has a label that is no single value")
    return int(start), int(end), label


def _key(label: Hashable) -> Hashable:
    """1, "1" and True are three labels."""
    return (type(label).__name__, label)
