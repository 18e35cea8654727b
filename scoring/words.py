"""Figures in words: a value with its interval, or the sentence that says why there is none."""

from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext, gettext_noop

from scoring.stats.results import Figure

REASONS = {
    "empty": gettext_noop("No ratings yet."),
    "one_rater": gettext_noop("Needs a second rater."),
    "no_overlap": gettext_noop("No item was rated by two of them."),
    "one_category": gettext_noop(
        "Everyone chose the same: chance-corrected agreement cannot be estimated because there is no variation."
    ),
    "no_comparable_items": gettext_noop("The others tie, or are too few, on every item."),
    "few_common_items": gettext_noop("No pair of raters has enough items in common."),
}
INTERVAL_REASONS = {
    "too_few_clusters": gettext_noop("too few clusters for an interval"),
    "degenerate_resamples": gettext_noop("too many resamples have no value; no interval shown"),
    "all_resamples_equal": gettext_noop("no variation between clusters; no interval shown"),
    "too_many_pairs": gettext_noop("too many pairs for intervals"),
}
FLAGS = {
    "rater_constant": gettext_noop("one rater used one category only"),
    "one_category": gettext_noop("everyone chose the same"),
    "few_clusters": gettext_noop("few clusters: likely too narrow"),
    "very_few_clusters": gettext_noop("very few clusters: too narrow"),
}
RULES = {"exclude": gettext_noop("left out"), "fractional": gettext_noop("counted in parts")}
LEFT_OUT = {
    "no_rating": gettext_noop("items without a rating"),
    "one_rating": gettext_noop("items with one rating"),
    "incomplete": gettext_noop("items not rated by all"),
    "not_rated": gettext_noop("items this rater did not rate"),
    "few_others": gettext_noop("items with too few others"),
    "tie": gettext_noop("items whose others tie"),
    "few_common_items": gettext_noop("pairs with too few items in common"),
    "undefined": gettext_noop("pairs without a value"),
}


def shown(value: float | None, digits: int = 2) -> str:
    """A number for display, rounded half away from zero as the sources print theirs; a dash for none."""
    if value is None:
        return "–"
    rounded = Decimal(f"{value:.10g}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return str(rounded + 0).replace("-", "\u2212")  # + 0 takes the sign from a zero


def category_words(category, measure) -> str:
    """A category by its title, in the interface language."""
    return gettext(measure.category_titles[measure.categories.index(category)])


def rule_words(rule: str, measure) -> str:
    """A tie rule (`exclude`, `fractional`, `toward:CATEGORY`) in words."""
    if rule in RULES:
        return gettext(RULES[rule])
    return gettext("counted as “%(category)s”") % {"category": category_words(rule.removeprefix("toward:"), measure)}


def value_words(figure: Figure) -> str:
    """The value, or why there is none."""
    return shown(figure.value) if figure.value is not None else gettext(REASONS[figure.reason or "empty"])


def interval_words(figure: Figure) -> str:
    """`0.41 to 0.78`, or why there is no interval; nothing where there is no value either."""
    if figure.interval:
        return gettext("%(low)s to %(high)s") % {
            "low": shown(figure.interval.low),
            "high": shown(figure.interval.high),
        }
    if figure.value is None or not figure.interval_reason:
        return ""
    return gettext(INTERVAL_REASONS.get(figure.interval_reason) or REASONS[figure.interval_reason])


def notes(figure: Figure) -> str:
    """Flags and what was left out, in words."""
    flags = [gettext(FLAGS[flag]) for flag in figure.flags]
    left_out = [f"{gettext(LEFT_OUT[why])}: {n}" for why, n in figure.left_out.items() if n]
    return "; ".join([*flags, *left_out])
