"""What a statistic comes back as: a value or the reason why there is none, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

CONFIDENCE = 0.95

REASONS = (
    "empty",  # no rating at all
    "one_rater",  # one rater in all
    "no_overlap",  # no item has ratings of two raters (of every rater, where only complete items count)
    "one_category",  # the comparable ratings hold one category, so chance agreement is 1
    "no_comparable_items",  # the others tie, or are too few, on every item the rater has
    "few_common_items",  # no pair of raters has enough items in common for their mean
    "both_empty",  # nobody marked anything on any item
    "predicted_empty",  # nothing was predicted, so nothing of it can be right
    "reference_empty",  # the reference holds nothing that could be found
    "k_gt_n",  # a task has fewer samples than k
    "factor_undefined",  # a factor was not observed in an arm
    "no_variance",  # all values are equal, so nothing varies together with them
    "too_few_items",  # fewer items than the method needs
    "not_random",  # the labelled items were picked by their score, so they stand for themselves alone
    "pilot_too_small",  # too little to simulate a study from
    "not_observed",  # what is asked was not observed anywhere
    "no_mixture",  # no mixture of the two conditions comes to the rate it is to have
)
INTERVAL_REASONS = (
    *REASONS,  # no value, so no interval
    "too_few_clusters",
    "degenerate_resamples",  # more than 5 % of the resamples have no value
    "all_resamples_equal",  # an interval of width zero would claim to know exactly
    "too_many_pairs",  # intervals of every pair of a very large panel are not computed
)
FLAGS = (
    "rater_constant",  # one of two raters used one category only; kappa is 0 whatever the other did
    "one_category",  # everyone chose one category: raw agreement is 1 and says little
    "few_clusters",  # 5 to 19: the interval is likely too narrow
    "very_few_clusters",  # fewer than 5, where the caller allowed it
    "factor_borrowed",  # a factor that was not observed in an arm is the other arm's
    "no_variance",  # all differences are equal: decided by comparing that value
    "small_sample",  # fewer items than the usual test needs; an exact one was taken
    "few_annotators",  # fewer than three: only which of two a judge resembles
    "not_tested",  # no value, so no part of the family of tests
    "human_only",  # no item has a verdict alone, so the labels of people stand alone
    "judge_constant",  # all verdicts are equal, so they tell nothing that labels do not
    "extrapolated",  # larger than any study that was simulated
)
LEFT_OUT = (
    "no_rating",  # items nobody rated
    "one_rating",  # items with one rating: no agreement to be seen
    "incomplete",  # items that not every rater rated, where only complete items count
    "not_rated",  # items the rater in question did not rate
    "few_others",  # items with fewer than min_others other ratings
    "tie",  # items whose others tie
    "few_common_items",  # pairs of raters with too few items in common
    "undefined",  # pairs of raters whose kappa has no value
    "both_empty",  # items where both sides found nothing
    "predicted_empty",  # items where nothing was predicted, of a mean over items that needs a prediction
    "reference_empty",  # items with nothing that could be found, of a mean over items that needs one
    "not_in_both",  # items with a value on one side of a difference only
    "not_observed",  # items for which what is asked was not observed
    "unreadable",  # items whose answer nobody could read
    "few_samples",  # tasks with fewer samples than k
    "not_tested",  # items of annotators with too few of them to be tested
    "alone_in_group",  # items that are alone in their group, so never differ from its mean
)


@dataclass(frozen=True)
class Interval:
    """Where the value would lie in 95 of 100 draws of as many clusters.

    `drawn` and `enumerated` (all m^m resamples of m clusters) are percentiles of the bootstrap. `wilson` is the score
    interval of a share of independent items that came out 0 or 1, where the bootstrap has no width. `wilson` and
    `exact` (Clopper and Pearson) are also those of a share of independent items where one asks for them. `normal`: the
    value and so many standard errors to either side.
    """

    low: float
    high: float
    level: float
    unit: str
    n_clusters: int
    n_resamples: int
    seed: int | None
    share_undefined: float
    method: Literal["drawn", "enumerated", "wilson", "exact", "normal"]


@dataclass(frozen=True)
class Figure:
    """One statistic: `value`, or `reason` (one of REASONS) where it is undefined. Never nan, never 0 or 1 instead.

    `observed` and `expected` are agreement and chance agreement, so value = (observed - expected) / (1 - expected)
    where there is chance correction. `left_out` counts items (pairs, for a mean over pairs) by LEFT_OUT.
    `n_clusters` counts those that hold a comparable item.
    """

    value: float | None
    reason: str | None
    n_items: int
    n_ratings: int
    n_raters: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    observed: float | None = None
    expected: float | None = None
    flags: tuple[str, ...] = ()
    interval: Interval | None = None
    interval_reason: str | None = None
    n_clusters: int | None = None
    share_undefined: float | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError(f"A figure has a value or a reason, not {self.value!r} with {self.reason!r}.")
        for name in ("value", "observed", "expected"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"{name} is {number}; an undefined figure has None and a reason.")


def plain(value: Any) -> Any:
    """The value as JSON holds it: mappings, lists, texts, and numbers with 10 significant digits."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return str(value)


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """Worked out once a type: a report has tens of thousands of figures."""
    return get_type_hints(kind)


def restored(kind: Any, value: Any) -> Any:
    """The value of this type that `plain` gave this of. A category that is no text, number or truth stays its text."""
    if value is None:
        return None
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return restored(next(one for one in inside if one is not type(None)), value)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = hints_of(kind)
        return kind(**{one.name: restored(hints[one.name], value[one.name]) for one in fields(kind)})
    if origin is tuple:
        return tuple(restored(inside[0], one) for one in value)
    return dict(value) if isinstance(value, Mapping) else value
