"""One figure by itself: the sentence of a statistic, and the tables that an outcome has beside its value."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from annotate.rules.figure_words import REASONS
from scoring.comparing import ITEM
from scoring.stats.results import Figure
from scoring.words import FLAGS, LEFT_OUT, Column, FigureTable, shown

NAMES = {
    "alternative_annotator": gettext_noop("Winning rate of the judge against single annotators"),
    "annotator_vs_majority": gettext_noop("Against the majority of the others"),
    "benjamini_yekutieli": gettext_noop("p after Benjamini and Yekutieli"),
    "cohen_kappa": gettext_noop("Cohen's kappa"),
    "confusion": gettext_noop("Share of equal labels"),
    "dose_table": gettext_noop("Share in this class"),
    "fleiss_kappa": gettext_noop("Fleiss' kappa"),
    "group_set_agreement": gettext_noop("Agreement of groups"),
    "gwet_ac": gettext_noop("Gwet's AC"),
    "holm": gettext_noop("p after Holm"),
    "judge_vs_majority": gettext_noop("Judge against the majority of people"),
    "krippendorff_alpha": gettext_noop("Krippendorff's alpha"),
    "mean_pairwise_kappa": gettext_noop("Mean pairwise kappa"),
    "paired_difference": gettext_noop("Difference"),
    "pass_at_k": "pass@k",
    "pearson": gettext_noop("Pearson's correlation"),
    "percent_agreement": gettext_noop("Percent agreement"),
    "planner": gettext_noop("Items needed"),
    "prediction_powered": gettext_noop("Rate from labels and verdicts"),
    "scott_pi": gettext_noop("Scott's pi"),
    "shapley_acc": gettext_noop("Share of the change"),
    "share": gettext_noop("Share"),
    "sign_flip_test": gettext_noop("p of the sign-flip test"),
    "span_f1": gettext_noop("Agreement of spans"),
    "spearman": gettext_noop("Spearman's correlation"),
}
"""A statistic without a name here goes by its own."""

LANGUAGES = ("en", "zh-hans")
CORRECTED = {"cohen_kappa", "fleiss_kappa", "gwet_ac", "krippendorff_alpha", "mean_pairwise_kappa", "scott_pi"}
"""The statistics that are 0 where raters agree as by chance."""

WHOLE = {"planner"}
"""The statistics that are whole numbers."""

DRAWN = {
    ("drawn", False): gettext_noop("%(level)s %% interval %(low)s to %(high)s, %(n)s resamples of %(m)s clusters."),
    ("drawn", True): gettext_noop("%(level)s %% interval %(low)s to %(high)s, %(n)s resamples of %(m)s items."),
    ("enumerated", False): gettext_noop(
        "%(level)s %% interval %(low)s to %(high)s, all %(n)s resamples of %(m)s clusters."
    ),
    ("enumerated", True): gettext_noop(
        "%(level)s %% interval %(low)s to %(high)s, all %(n)s resamples of %(m)s items."
    ),
    ("wilson", True): gettext_noop("%(level)s %% interval %(low)s to %(high)s, of independent items."),
    ("exact", True): gettext_noop("%(level)s %% interval %(low)s to %(high)s, of independent items."),
}
"""An interval by how it was made, and whether each item was its own cluster."""

OF_NO_DRAW = gettext_noop("%(level)s %% interval %(low)s to %(high)s.")

COUNTED = {
    "no_rating": gettext_noop("%(n)s without a rating"),
    "one_rating": gettext_noop("%(n)s with one rating"),
    "incomplete": gettext_noop("%(n)s not rated by all"),
    "not_rated": gettext_noop("%(n)s not rated by this rater"),
    "few_others": gettext_noop("%(n)s with fewer than %(least)s others"),
    "tie": gettext_noop("%(n)s ties"),
    "both_empty": gettext_noop("%(n)s items where both found nothing"),
}


def sentences(figure: Figure, name: str) -> dict[str, str]:
    """The sentence of a figure in every language there is."""
    said = {}
    for language in LANGUAGES:
        with translation.override(language):
            said[language] = sentence(figure, name)
    return said


def sentence(figure: Figure, name: str, **details: Any) -> str:
    """What a page says of one figure: its value with what it rests on and its interval, or why there is none.

    `name` is that of the statistic. `details` are the circumstances it was computed in, as `compute` gives them: which
    raters, who rated how much, the one category that everyone chose; those of an outcome are its own.
    """
    known = {**getattr(figure, "details", {}), **details}
    name = known.get("of", name)
    if known.get("estimate") is not None:  # what was computed is an end of its interval
        figure = replace(figure, value=known["estimate"], reason=None)
    if figure.value is None:
        return _together(reason_sentence(figure, known), _beside(figure, known))
    return _together(
        _value(figure, name, known),
        _interval(figure, name),
        _constant(figure, known),
        gettext("Less agreement than chance.") if name in CORRECTED and figure.value < 0 else "",
        _one_category(figure, known) if "one_category" in figure.flags else "",
        _skewed(known),
        _stand_in(known) if "passes" in known else "",
        *(_whole(gettext(FLAGS[flag])) for flag in figure.flags if flag not in SAID),
    )


SAID = {"one_category", "rater_constant"}
"""Flags that have a sentence of their own."""


def confusion_table(figure: Figure) -> FigureTable | None:
    """The table that an outcome has beside its value, if it has one; rows are the majority or the first rater."""
    details = getattr(figure, "details", {})
    if "confusion" not in details:
        return None
    titles = [_category(one) for one in details["categories"]]
    if "raters" in details:
        title = " \\ ".join(str(one) for one in details["raters"])
    else:
        title = gettext("majority \\ %(rater)s") % {"rater": details.get("rater", "")}
    return FigureTable(
        (Column(title), *(Column(title, is_number=True) for title in titles)),
        tuple((title, *map(str, row)) for title, row in zip(titles, details["confusion"], strict=True)),
    )


def annotators_table(figure: Figure) -> FigureTable | None:
    """The judge against each annotator, where an outcome is of that test."""
    tests = getattr(figure, "details", {}).get("annotators")
    if not tests or "passes" not in getattr(figure, "details", {}):
        return None
    titles = (
        gettext("annotator"),
        gettext("items"),
        gettext("judge at least as good"),
        gettext("annotator at least as good"),
        gettext("adjusted p"),
        gettext("beaten"),
    )
    rows = (
        (
            str(one.annotator),
            str(one.n_items),
            shown(one.judge_wins),
            shown(one.own_wins),
            shown(one.adjusted, 3),
            gettext("yes") if one.beaten else gettext("no"),
        )
        for one in tests
    )
    return FigureTable(
        tuple(Column(title, is_number=0 < place < len(titles) - 1) for place, title in enumerate(titles)), tuple(rows)
    )


def reason_sentence(figure: Figure, known: Mapping[str, Any]) -> str:
    """Why there is no value, with the names and numbers of this case."""
    if figure.reason == "no_overlap" and len(known.get("n_rated", ())) == 2:
        (one, n_one), (other, n_other) = known["n_rated"].items()
        return gettext("%(one)s and %(other)s have no item in common (%(one)s %(n_one)s, %(other)s %(n_other)s).") % {
            "one": one,
            "other": other,
            "n_one": n_one,
            "n_other": n_other,
        }
    if figure.reason == "one_category" and "only" in known:
        said = {"category": _category(known["only"]), "items": figure.n_items}
        return gettext(
            "Everyone chose “%(category)s” on all %(items)s items: 100 %% raw agreement; chance-corrected agreement "
            "cannot be estimated because there is no variation."
        ) % said
    if figure.reason == "no_comparable_items":
        if known.get("n_raters") == 2:
            return gettext("Two raters have no majority of others; see the kappa of the pair.")
        if set(figure.left_out) == {"tie"}:
            return gettext("%(n)s items, all tied among the others.") % {"n": figure.left_out["tie"]}
    if figure.reason == "k_gt_n" and known.get("too_few"):
        task, n = known["too_few"][0]
        said = {"task": task, "n": n, "k": known.get("largest_k")}
        return gettext("Task %(task)s has %(n)s samples; the largest k that all tasks allow is %(k)s.") % said
    return _whole(gettext(REASONS[figure.reason or "empty"]))


def _value(figure: Figure, name: str, known: Mapping[str, Any]) -> str:
    if "cell" in known:
        row, column = map(str, known["cell"])
        cell = {"row": row, "column": column, "n": shown(figure.value, 0), "items": figure.n_items}
        return gettext("Row “%(row)s”, column “%(column)s”: %(n)s of %(items)s items.") % cell
    digits = 0 if name in WHOLE else 2
    said = {"name": gettext(NAMES.get(name, name)), "value": shown(figure.value, digits), "items": figure.n_items}
    left_out = _left_out(figure, known)
    if not left_out:
        return gettext("%(name)s: %(value)s on %(items)s items.") % said
    said |= {"all": known.get("n_all_items", ""), "left_out": left_out}
    if known.get("n_all_items", 0) > figure.n_items:
        return gettext("%(name)s: %(value)s on %(items)s of %(all)s items; %(left_out)s.") % said
    return gettext("%(name)s: %(value)s on %(items)s items; %(left_out)s.") % said


def _left_out(figure: Figure, known: Mapping[str, Any]) -> str:
    """`8 ties; 3 with fewer than 2 others`; in its own words what has no such phrase."""
    order = [*COUNTED, *figure.left_out]
    said = []
    for why in sorted(figure.left_out, key=order.index, reverse=True):
        n = figure.left_out[why]
        if why in COUNTED and not (why == "few_others" and "least" not in known):
            said.append(gettext(COUNTED[why]) % {"n": n, "least": known.get("least")})
        else:
            said.append(f"{gettext(LEFT_OUT[why])}: {n}")
    return _listed(said)


def _listed(said: list[str]) -> str:
    text = said[0] if said else ""
    for other in said[1:]:
        text = gettext("%(one)s; %(other)s") % {"one": text, "other": other}
    return text


def _beside(figure: Figure, known: Mapping[str, Any]) -> str:
    """What else is to be said where there is no value."""
    if figure.reason == "one_category" and figure.left_out.get("one_rating"):
        return gettext("Not used: %(n)s labels on items with one rating.") % {"n": figure.left_out["one_rating"]}
    if figure.reason == "no_comparable_items" and known.get("n_raters") != 2 and set(figure.left_out) != {"tie"}:
        return _whole(_left_out(figure, known))
    return ""


def _interval(figure: Figure, name: str) -> str:
    found, why = figure.interval, figure.interval_reason
    if found is None:
        if why == "too_few_clusters":
            return gettext("%(n)s clusters: too few for an interval.") % {"n": figure.n_clusters}
        if why == "degenerate_resamples":
            said = {"share": shown(100 * (figure.share_undefined or 0), 0)}
            if name in CORRECTED:
                return gettext("%(share)s %% of the resamples have one category; no interval shown.") % said
            return gettext("%(share)s %% of the resamples have no value; no interval shown.") % said
        return _whole(gettext(REASONS[why])) if why else ""
    said = {
        "level": shown(100 * found.level, 0),
        "low": shown(found.low, 0 if name in WHOLE else 2),
        "high": shown(found.high, 0 if name in WHOLE else 2),
        "n": f"{found.n_resamples:,}",
        "m": f"{found.n_clusters:,}",
    }
    text = gettext(DRAWN.get((found.method, found.unit == ITEM), OF_NO_DRAW)) % said
    if found.share_undefined > 0:
        share = {"share": shown(100 * found.share_undefined, 1)}
        text = _together(text, gettext("%(share)s %% of the resamples have no value and are left out.") % share)
    return text


def _constant(figure: Figure, known: Mapping[str, Any]) -> str:
    """Raters who used one category only."""
    constant, raters = known.get("constant", {}), [str(one) for one in known.get("raters", ())]
    if "rater_constant" not in figure.flags:
        return ""
    if len(constant) == 2:
        (one, x), (other, y) = constant.items()
        said = {"one": one, "other": other, "x": _category(x), "y": _category(y)}
        return gettext("%(one)s always “%(x)s”, %(other)s always “%(y)s”.") % said
    if len(constant) != 1 or len(raters) != 2:
        return _whole(gettext(FLAGS["rater_constant"]))
    (one,) = constant
    other = next(rater for rater in raters if rater != one)
    said = {"one": one, "other": other, "share": shown(100 * known.get("raw_agreement", figure.observed or 0), 0)}
    return gettext(
        "%(one)s used one category only; kappa is 0 whatever %(other)s did. Raw agreement %(share)s %%."
    ) % said


def _one_category(figure: Figure, known: Mapping[str, Any]) -> str:
    if "only" not in known:
        return _whole(gettext(FLAGS["one_category"]))
    said = {"category": _category(known["only"]), "items": figure.n_items}
    return gettext("Everyone chose “%(category)s” on all %(items)s items, so this says little.") % said


def _skewed(known: Mapping[str, Any]) -> str:
    if "beside" not in known or "only" in known:
        return ""
    beside, prevalence = known["beside"], known["prevalence"]
    return gettext(
        "“%(category)s” has %(share)s %% of the labels, so read together: raw agreement %(raw)s, kappa %(kappa)s, AC1 "
        "%(ac)s."
    ) % {
        "category": _category(prevalence["category"]),
        "share": shown(100 * prevalence["share"], 0),
        "raw": shown(beside["percent_agreement"]),
        "kappa": shown(beside["kappa"]),
        "ac": shown(beside["gwet_ac"]),
    }


def _stand_in(known: Mapping[str, Any]) -> str:
    """Whether a judge may stand in for a person, and its place among people."""
    advantage, place = known["advantage"], known["place"]
    epsilon = {"epsilon": shown(known["epsilon"])}
    said = [
        gettext("The judge may stand in for a person at epsilon %(epsilon)s.") % epsilon
        if known["passes"]
        else gettext("The judge may not stand in for a person at epsilon %(epsilon)s; a half is needed.") % epsilon
    ]
    if advantage.value is not None:
        said.append(gettext("Advantage %(value)s.") % {"value": shown(advantage.value)})
        said.append(_interval(advantage, ""))
    if place is not None:
        ends = {"judge": shown(place.judge), "low": shown(place.low), "high": shown(place.high)}
        text = gettext("Mean score of the judge against the others %(judge)s, of the annotators %(low)s to %(high)s.")
        said.append(text % ends)
    return _together(*said)


def _category(category: Any) -> str:
    return ", ".join(map(str, category)) if isinstance(category, list) else str(category)


def _whole(words: str) -> str:
    """Words as a sentence, in the language they are in."""
    if not words or words.endswith((".", "。")):
        return words
    is_chinese = "\u4e00" <= words[-1] <= "\u9fff" or words.endswith("）")
    return words[:1].upper() + words[1:] + ("。" if is_chinese else ".")


def _together(*parts: str) -> str:
    """Sentences one after the other; Chinese ones without a blank between them."""
    text = ""
    for part in filter(None, parts):
        text += part if not text or text.endswith("。") else f" {part}"
    return text
