"""Figures in words for files: a value with its interval, or the sentence that says why there is none. What is read here
is what `AgreementReport.as_dict` wrote, perhaps elsewhere, so anything that is not as expected is a dash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from annotate.traces.base import gettext_noop

Translate = Callable[[str], str]
REASONS = {
    "empty": gettext_noop("No ratings yet."),
    "one_rater": gettext_noop("Needs a second rater."),
    "no_overlap": gettext_noop("No item was rated by two of them."),
    "one_category": gettext_noop(
        "Everyone chose the same: chance-corrected agreement cannot be estimated because there is no variation."
    ),
    "no_comparable_items": gettext_noop("The others tie, or are too few, on every item."),
    "few_common_items": gettext_noop("No pair of raters has enough items in common."),
    "both_empty": gettext_noop("Nobody marked anything."),
    "predicted_empty": gettext_noop("Nothing was predicted."),
    "reference_empty": gettext_noop("There is nothing that could be found."),
    "k_gt_n": gettext_noop("A task has fewer samples than k."),
    "factor_undefined": gettext_noop("A factor was not observed in an arm."),
    "no_variance": gettext_noop("All values are equal, so nothing varies together."),
    "too_few_items": gettext_noop("Too few items for this method."),
    "not_random": gettext_noop("The labelled items were picked by their score, so they say nothing about the rest."),
    "pilot_too_small": gettext_noop("The pilot is too small to plan from."),
    "not_observed": gettext_noop("This was not observed."),
    "no_mixture": gettext_noop("No mixture of the two conditions has this rate."),
    "too_few_clusters": gettext_noop("too few clusters for an interval"),
    "degenerate_resamples": gettext_noop("too many resamples have no value; no interval shown"),
    "all_resamples_equal": gettext_noop("no variation between clusters; no interval shown"),
    "too_many_pairs": gettext_noop("too many pairs for intervals"),
}
NONE = "–"


def number(value: Any) -> str:
    """Two digits, rounded half away from zero as the pages round them."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NONE
    rounded = Decimal(f"{value:.10g}").quantize(Decimal("0.01"), ROUND_HALF_UP)
    return str(rounded + 0).replace("-", "\u2212")  # + 0 takes the sign from a zero


def value_words(figure: Mapping[str, Any], translate: Translate) -> str:
    """The value, or why there is none."""
    if figure.get("value") is not None:
        return number(figure["value"])
    return reason_words(figure.get("reason"), translate)


def interval_words(figure: Mapping[str, Any], translate: Translate) -> str:
    """`0.41 to 0.78`, or why there is no interval."""
    interval = figure.get("interval")
    if isinstance(interval, Mapping):
        ends = {"low": number(interval.get("low")), "high": number(interval.get("high"))}
        return translate(gettext_noop("%(low)s to %(high)s")) % ends
    return reason_words(figure.get("interval_reason"), translate)


def reason_words(reason: Any, translate: Translate) -> str:
    return translate(REASONS[reason]) if isinstance(reason, str) and reason in REASONS else NONE
