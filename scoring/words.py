"""Figures in words: a value with its interval, or the sentence that says why there is none; and tables of them."""

from collections.abc import Hashable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext, gettext_noop

from annotate.kinds.base import Measure
from annotate.rules.figure_words import REASONS
from scoring.comparing import CLUSTER, ITEM
from scoring.stats.results import CONFIDENCE, Figure

FLAGS = {
    "rater_constant": gettext_noop("one rater used one category only"),
    "one_category": gettext_noop("everyone chose the same"),
    "few_clusters": gettext_noop("few clusters: likely too narrow"),
    "very_few_clusters": gettext_noop("very few clusters: too narrow"),
    "factor_borrowed": gettext_noop("a factor not observed in an arm is the other arm's"),
    "no_variance": gettext_noop("all differences are equal: decided by that value alone"),
    "small_sample": gettext_noop("few items: an exact test was taken"),
    "few_annotators": gettext_noop("fewer than three annotators: checks only which of two it resembles"),
    "not_tested": gettext_noop("not tested"),
    "human_only": gettext_noop("people's labels alone: no item has a verdict only"),
    "judge_constant": gettext_noop("people's labels alone: all verdicts are equal"),
    "extrapolated": gettext_noop("beyond what was simulated"),
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
    "both_empty": gettext_noop("items where both found nothing"),
    "predicted_empty": gettext_noop("items where nothing was predicted"),
    "reference_empty": gettext_noop("items with nothing that could be found"),
    "not_in_both": gettext_noop("items with a value on one side only"),
    "not_observed": gettext_noop("items where it was not observed"),
    "unreadable": gettext_noop("items whose answer nobody could read"),
    "not_tested": gettext_noop("items of annotators who were not tested"),
    "few_samples": gettext_noop("tasks with fewer samples than k"),
    "alone_in_group": gettext_noop("items alone in their group"),
}


def shown(value: float | None, digits: int = 2) -> str:
    """A number for display, rounded half away from zero as the sources print theirs; a dash for none."""
    if value is None:
        return "–"
    rounded = Decimal(f"{value:.10g}").quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return str(rounded + 0).replace("-", "\u2212")  # + 0 takes the sign from a zero


def category_words(category: Hashable, measure: Measure | None) -> str:
    """A category by its title, in the interface language; as it is where no measure gives it one."""
    if measure is None:
        return str(category)
    return gettext(measure.category_titles[[str(one) for one in measure.categories].index(str(category))])


def rule_words(rule: str, measure: Measure | None) -> str:
    """A tie rule (`exclude`, `fractional`, `toward:CATEGORY`) in words."""
    if rule in RULES:
        return gettext(RULES[rule])
    return gettext("counted as “%(category)s”") % {"category": category_words(rule.removeprefix("toward:"), measure)}


def unit_words(unit: str) -> str:
    """What is resampled together: one of our own words, or the name of a column as it is."""
    return gettext(unit) if unit in {CLUSTER, ITEM} else unit


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
    return gettext(REASONS[figure.interval_reason])


def interval_title() -> str:
    return gettext("%(level)s %% interval") % {"level": shown(100 * CONFIDENCE, 0)}


def notes(figure: Figure) -> str:
    """Flags and what was left out, in words."""
    flags = [gettext(FLAGS[flag]) for flag in figure.flags]
    left_out = [f"{gettext(LEFT_OUT[why])}: {n}" for why, n in figure.left_out.items() if n]
    return "; ".join([*flags, *left_out])


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Rows of texts, one for each column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def cells(self) -> list[tuple[tuple[str, Column], ...]]:
        """Every text with its column."""
        return [tuple(zip(row, self.columns, strict=True)) for row in self.rows]
