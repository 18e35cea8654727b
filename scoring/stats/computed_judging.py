"""Judges beside people, and plans of studies, by name: from records (item, rater, label), None for no rating."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoring.stats import computed_ratings
from scoring.stats.alternative import MIN_ITEMS, Q, alternative_annotator_test
from scoring.stats.answers import Drawing
from scoring.stats.computed_ratings import Computing
from scoring.stats.given import Given, Params, clusters_of, given
from scoring.stats.planner import RateOfCategory, plan
from scoring.stats.powered import prediction_powered
from scoring.stats.ratings import MISSING, Codes, UnknownLabel
from scoring.stats.registry import BadParams, Outcome, metric, outcome
from scoring.stats.statistic import Floats, Mask, ratio

SEED = 1
SCORINGS = {"nominal": "nominal", "numeric": "numeric", "accuracy": "nominal", "neg_rmse": "numeric"}
"""By our names and by those of the paper's own program."""


@metric("alternative_annotator")
def alternative_annotator(data: Any, params: Mapping[str, Any]) -> Outcome:
    """May the judge stand in for a person? Params: `judge`, `epsilon` (0.2 experts, 0.15 skilled, 0.1 crowd);
    `scoring` nominal or numeric (numeric where all labels are numbers, without); `stat` winning_rate or advantage;
    `min_items`, `q`, `annotators` (all other raters, without), `categories`, `cluster_of`, `seed`, `n_resamples`,
    `min_clusters`, `unit`. The interval is the advantage's."""
    asked = Params("alternative_annotator", params)
    judge, epsilon = asked.take("judge"), _number(asked, "epsilon")
    scoring = SCORINGS[asked.one_of("scoring", tuple(SCORINGS), _scoring(data))]
    found = given(data, asked, declared=False).having(judge)
    stat = asked.one_of("stat", ("winning_rate", "advantage"), "winning_rate")
    people = _people(found, judge, asked.take("annotators", None))
    clusters = clusters_of(found, asked.take("cluster_of", None))
    drawing = _drawing(asked, clusters)
    min_items, q = asked.whole("min_items", MIN_ITEMS, least=1), _number(asked, "q", Q)
    asked.done()
    of_code = _numbers(found) if scoring == "numeric" else np.arange(len(found.categories), dtype=float)
    codes = _laid_out(found)
    values = np.where(codes >= 0, of_code[codes], np.nan if scoring == "numeric" else MISSING)
    result = alternative_annotator_test(
        values[:, people],
        values[:, found.column(judge)],
        clusters,
        annotators=[found.known_raters[column] for column in people],
        scoring="numeric" if scoring == "numeric" else "nominal",
        epsilon=epsilon,
        drawing=drawing,
        min_items=min_items,
        q=q,
    )
    return outcome(
        result.advantage if stat == "advantage" else result.winning_rate,
        stat=stat,
        judge=judge,
        scoring=result.scoring,
        epsilon=result.epsilon,
        q=result.q,
        min_items=result.min_items,
        passes=result.passes,
        winning_rate=result.winning_rate.value,
        advantage=result.advantage,
        annotators=result.annotators,
        too_few={str(name): n for name, n in result.too_few.items()},
        place=result.place,
    )


@metric("prediction_powered")
def powered(data: Any, params: Mapping[str, Any]) -> Outcome:
    """A rate or mean of all items from the labels of some and the verdicts of all. Params: `judge`; of a rate
    `positive`, the label or list of labels that count, else the labels are numbers and their mean is meant; `picked`
    random or score; `raters` (all others, without); `categories`, `cluster_of`, `min_clusters`, `unit`. Where several
    people labelled an item, their mean is its label."""
    asked = Params("prediction_powered", params)
    judge, positive = asked.take("judge"), asked.take("positive", None)
    found = given(data, asked, declared=False).having(judge)
    people = _people(found, judge, asked.take("raters", None))
    clusters = clusters_of(found, asked.take("cluster_of", None))
    picked = asked.one_of("picked", ("random", "score"), "random")
    min_clusters = asked.whole("min_clusters", 5, least=2)
    unit = _unit(asked, clusters)
    asked.done()
    of_code = _numbers(found) if positive is None else _is_positive(found, positive)
    codes = _laid_out(found)
    values = np.where(codes >= 0, of_code[codes], np.nan)
    result = prediction_powered(
        _mean_label(values[:, people], codes[:, people] >= 0),
        values[:, found.column(judge)],
        clusters,
        unit=unit,
        is_rate=positive is not None,
        picked=picked,
        min_clusters=min_clusters,
    )
    return outcome(
        result.combined,
        judge=judge,
        human_only=result.human_only,
        judge_only=result.judge_only,
        tuning=result.tuning,
        labels_saved=result.labels_saved,
        n_labelled=result.n_labelled,
        n_verdict_only=result.n_verdict_only,
        picked=result.picked,
    )


def _rate(data: Any, params: Params) -> Computing:
    found = given(data, params, declared=False)
    return Computing(found, RateOfCategory(found.code_of(params.take("category"))))


@dataclass(frozen=True)
class Planned:
    """How a statistic is made of the pilot; `interchangeable` where any of its raters could be any other."""

    make: Callable[[Any, Params], Computing]
    interchangeable: bool = True


PLANNED = {
    "percent_agreement": Planned(computed_ratings.percent_agreement),
    "fleiss_kappa": Planned(computed_ratings.fleiss_kappa),
    "krippendorff_alpha": Planned(computed_ratings.krippendorff_alpha),
    "gwet_ac": Planned(computed_ratings.gwet_ac),
    "rate": Planned(_rate),
    "cohen_kappa": Planned(computed_ratings.cohen_kappa, interchangeable=False),
    "scott_pi": Planned(computed_ratings.scott_pi, interchangeable=False),
}


@metric("planner")
def planner(data: Any, params: Mapping[str, Any]) -> Outcome:
    """How many items, clusters and raters give the wanted half-width, from the ratings of a pilot. Params: `metric`
    (percent_agreement, fleiss_kappa, krippendorff_alpha, gwet_ac, cohen_kappa, scott_pi, or `rate` of the `category`)
    with its own params; `half_width`; `raters`, a number or list (two and more up to those of the pilot, without);
    `items_per_cluster`, `cluster_of`, `seed`, `unit`."""
    asked = Params("planner", params)
    name = asked.one_of("metric", tuple(PLANNED), str(asked.take("metric")))
    of_metric = PLANNED[name]
    one = of_metric.make(data, asked)
    clusters = clusters_of(one.given, asked.take("cluster_of", None))
    wanted, seed, unit = _number(asked, "half_width"), asked.whole("seed", SEED, least=0), _unit(asked, clusters)
    raters = asked.take("raters", None)
    each = asked.whole("items_per_cluster", 0, least=1) if "items_per_cluster" in asked else None
    asked.done()
    codes = np.repeat(one.given.codes, one.given.times, axis=0)
    if one.columns is not None:
        codes = codes.copy()
        codes[:, [column for column in range(codes.shape[1]) if column not in one.columns]] = MISSING
    if raters is not None and not of_metric.interchangeable:
        raise BadParams(f"{name} is of two named raters; leave the param raters out.")
    numbers = _raters(raters, codes, least=1 if name == "rate" else 2) if of_metric.interchangeable else None
    found = plan(
        one.statistic, codes, clusters, wanted=wanted, unit=unit, seed=seed, raters=numbers, items_per_cluster=each
    )
    return outcome(
        found.figure,
        metric=name,
        half_width=wanted,
        needed=found.needed,
        items_per_cluster=found.items_per_cluster,
        pilot=found.pilot,
        why=found.why,
    )


def _people(found: Given, judge: Hashable, named: Any) -> list[int]:
    """The columns of the people: those named, or all but the judge's."""
    verdicts = found.column(judge)
    if named is None:
        return [column for column in range(found.codes.shape[1]) if column != verdicts]
    if isinstance(named, (str, bytes)) or not isinstance(named, Sequence) or not named:
        raise BadParams(f"{named!r} is no list of raters.")
    columns = [found.column(one) for one in named]
    if verdicts in columns or len(set(columns)) < len(columns):
        raise BadParams("Name each person once, and not the judge among them.")
    return columns


def _laid_out(found: Given) -> Codes:
    return np.repeat(found.codes, found.times, axis=0)


def _mean_label(values: Floats, rated: Mask) -> Floats:
    return ratio(np.where(rated, values, 0.0).sum(axis=1), rated.sum(axis=1).astype(float))


def _is_positive(found: Given, positive: Any) -> Floats:
    several = isinstance(positive, Sequence) and not isinstance(positive, (str, bytes))
    codes = [found.code_of(one) for one in (positive if several else [positive])]
    yes: Floats = np.isin(np.arange(len(found.categories)), codes).astype(float)
    return yes


def _numbers(found: Given) -> Floats:
    """The number that each category is."""
    numbers = [_as_number(one) for one in found.categories]
    wrong = [code for code, number in enumerate(numbers) if number is None]
    said = np.argwhere(np.isin(found.codes, wrong))
    if len(said) and found.items is not None:
        row, column = said[0].tolist()
        item, rater, label = found.items[row], found.known_raters[column], found.categories[found.codes[row, column]]
        raise UnknownLabel(f"{label!r} is no number (item {item}, rater {rater}).", item=item, rater=rater)
    return np.array([math.nan if number is None else number for number in numbers])


def _as_number(label: Any) -> float | None:
    """The number that a label is, or that a text of a spreadsheet reads as."""
    if isinstance(label, bool) or not isinstance(label, (int, float, str)):
        return None
    try:
        number = float(label)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _labels(data: Any) -> list[Any]:
    """Of records or a table; nothing where the data are neither, which is for others to say."""
    rows = data.get("table") if isinstance(data, Mapping) else data
    if not isinstance(rows, Sequence) or isinstance(rows, (str, bytes)):
        return []
    of_table = isinstance(data, Mapping)
    cells = [cell for row in rows if isinstance(row, Sequence) for cell in (row if of_table else row[2:3])]
    return [cell for cell in cells if cell is not None]


def _scoring(data: Any) -> str:
    labels = _labels(data)
    return "numeric" if labels and all(_as_number(one) is not None for one in labels) else "nominal"


def _number(asked: Params, name: str, default: float | None = None) -> float:
    value = asked.take(name) if default is None else asked.take(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadParams(f"{name} is {value!r}; it is a number.")
    return float(value)


def _raters(raters: Any, codes: Codes, *, least: int) -> list[int]:
    if raters is None:
        most = int((codes >= 0).sum(axis=1).max(initial=0))
        return list(range(least, most + 1))[-5:] or [max(most, 1)]
    several = isinstance(raters, Sequence) and not isinstance(raters, (str, bytes))
    numbers = list(raters) if several else [raters]
    for one in numbers:
        if isinstance(one, bool) or not isinstance(one, int) or one < least:
            raise BadParams(f"raters is {raters!r}; it is a whole number from {least}, or a list of them.")
    return numbers


def _unit(asked: Params, clusters: Sequence[Hashable] | None) -> str:
    unit = asked.take("unit", "item" if clusters is None else "cluster")
    if not isinstance(unit, str):
        raise BadParams(f"unit is {unit!r}; it is a word for what a cluster is.")
    return unit


def _drawing(asked: Params, clusters: Sequence[Hashable] | None) -> Drawing:
    return Drawing(
        unit=_unit(asked, clusters),
        seed=asked.whole("seed", SEED, least=0),
        min_clusters=asked.whole("min_clusters", 5, least=2),
        n_resamples=asked.whole("n_resamples", 10_000, least=1),
    )
