"""Any statistic by its name, from data and params in the form of the case files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scoring.stats import computed_bootstrap, computed_judging, computed_ratings, computed_spans, computed_tests
from scoring.stats.ratings import RatingsError
from scoring.stats.registry import METRICS, BadParams, Computed, Outcome

ADAPTERS = (computed_bootstrap, computed_judging, computed_ratings, computed_spans, computed_tests)
"""The modules that register statistics, by being imported."""


class UnknownMetric(BadParams):
    """No statistic has this name; the message lists those there are."""


def metrics() -> Mapping[str, Computed]:
    """Every statistic there is, by its name."""
    return dict(sorted(METRICS.items()))


def compute(metric: str, data: Any, params: Mapping[str, Any] | None = None) -> Outcome:
    """A statistic of these data, with what it rests on.

    Parameters
    ----------
    metric : one of `metrics()`.
    data : records (item, rater, label) with None for no rating, or a table in a mapping, as each statistic takes them.
    params : by name; docs/methods.md lists those of every statistic.

    Returns
    -------
    Outcome: a value, or the reason why there is none; never nan.

    Raises
    ------
    UnknownMetric for a name that is none. DuplicateRating and UnknownLabel for labels that make no table; they name
    item and rater. BadParams for anything else about data or params that the statistic does not take.
    """
    known = metrics()
    if metric not in known:
        raise UnknownMetric(f"There is no statistic {metric!r}; there are: {', '.join(known)}.")
    try:
        return known[metric](data, {} if params is None else params)
    except (BadParams, RatingsError):
        raise
    except ValueError as refusal:
        raise BadParams(str(refusal)) from refusal
