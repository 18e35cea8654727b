"""Reply points: the same work, written about under several conditions; samples of one condition; and the blind
comparison of two versions by people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.replies_people import people_plans
from scoring.methods.replies_read import FAIL, Mask, Text, Texts, fails, panel_of, verdict
from scoring.methods.replies_reader import checker_rows
from scoring.methods.replies_schema import ARMS
from scoring.methods.tables import Asked, By, Plan, Row, Said, count_row
from scoring.stats.passk import pass_at_k_statistic
from scoring.stats.results import Figure
from scoring.stats.sums import Summed, difference, mean, share

BASE, REWRITE = "default", "rewrite"
ARM_WORDS = {
    "original": gettext_noop("original"),
    "default": gettext_noop("default"),
    "notice": gettext_noop("notice"),
    "requirements": gettext_noop("requirements"),
    "separate": gettext_noop("separate"),
    "fact_list": gettext_noop("fact list"),
    "separate_requirements": gettext_noop("separate with requirements"),
    "rewrite": gettext_noop("rewrite"),
}
POINTS = gettext_noop("reply points")
BOTH = gettext_noop("reply points judged in both")


@dataclass(frozen=True, eq=False)
class Points:
    """Reply points, and the text of each condition, None where it wrote none."""

    clusters: list[str]
    models: list[str | None]
    languages: list[str | None]
    texts: Mapping[str, list[Text | None]]

    @classmethod
    def of(cls, written: Texts) -> Points:
        place: dict[str, int] = {}
        for one in written.all:
            place.setdefault(one.values["point"], len(place))
        clusters = [""] * len(place)
        models, languages = (list[str | None]([None] * len(place)) for _ in range(2))
        arms = {one.values["condition"] for one in written.all}
        texts: dict[str, list[Text | None]] = {arm: [None] * len(place) for arm in ARMS if arm in arms}
        for one in written.all:
            at = place[one.values["point"]]
            clusters[at], models[at] = one.cluster, one.collaboration["model"]
            languages[at] = one.collaboration["language"]
            texts[one.values["condition"]][at] = one
        return cls(clusters, models, languages, texts)

    def fails(self, arm: str, only: Mask | None = None) -> Summed:
        """The share of points that the reader fails under a condition."""
        texts = self.texts[arm]
        failed = [one is not None and bool(one.failed) for one in texts]
        judged = np.array([one is not None and one.failed is not None for one in texts], dtype=bool)
        unread = np.array([one is not None and one.is_error for one in texts], dtype=bool)
        if only is not None:
            judged, unread = judged & only, unread & only
        return share(failed, judged, left_out={"unreadable": int(unread.sum())})

    def asked(self, metric: str, statistic: Summed, by: By, *, unit: str = "share") -> Asked:
        name = gettext_noop("fail") if unit == "share" else gettext_noop("fewer fail")
        base = POINTS if unit == "share" else BOTH
        return Asked(metric, name, statistic, self.clusters, base, by, unit)


def arm_by(arm: str) -> By:
    return ((gettext_noop("condition"), Said(ARM_WORDS[arm])),)


def against(first: str, second: str) -> By:
    return (
        (gettext_noop("condition"), Said(ARM_WORDS[second])),
        (gettext_noop("compared with"), Said(ARM_WORDS[first])),
    )


def point_plans(written: Texts, settings: Mapping[str, Any]) -> Iterator[Any]:
    """The tables of conditions, of samples, and of the blind comparison."""
    single = written.only(lambda one: one.values["sample_index"] is None)
    if single.all:
        points = Points.of(single)
        yield Plan("conditions", gettext_noop("Writing conditions: reply points that fail"), condition_rows(points))
        yield Plan("differences", gettext_noop("Differences between conditions"), difference_rows(points))
        yield Plan("conditions_by_model", gettext_noop("Writing conditions, by model"), model_rows(points))
    yield from sample_plans(written.only(lambda one: one.values["sample_index"] is not None), settings)
    yield from blind_plans(single, settings)


def condition_rows(points: Points) -> list[Asked | Row]:
    rows: list[Asked | Row] = [count_row("n_points", POINTS, len(points.clusters))]
    return rows + [points.asked("point_failure_rate", points.fails(arm), arm_by(arm)) for arm in points.texts]


def difference_rows(points: Points) -> list[Asked | Row]:
    """How many points fewer fail under a condition than under another, on points that have both; the default first."""
    arms = sorted(points.texts, key=lambda arm: (arm != BASE, ARMS.index(arm)))
    return [
        points.asked(
            "reduction",
            difference(points.fails(second), points.fails(first)),
            against(first, second),
            unit="difference",
        )
        for first, second in combinations(arms, 2)
    ]


def model_rows(points: Points) -> list[Asked | Row]:
    rows: list[Asked | Row] = []
    for model in sorted({one for one in points.models if one is not None}):
        only = np.array([one == model for one in points.models], dtype=bool)
        who: By = ((gettext_noop("model"), model),)
        for arm in points.texts:
            rows.append(points.asked("point_failure_rate", points.fails(arm, only), who + arm_by(arm)))
            if arm != BASE and BASE in points.texts:
                reduction = difference(points.fails(arm, only), points.fails(BASE, only))
                rows.append(points.asked("reduction", reduction, who + against(BASE, arm), unit="difference"))
    return rows


def checker_plan(replies: Texts, written: Texts) -> Plan:
    """Of the replies, and of what was written under each condition."""
    rows = checker_rows(replies)
    for arm in ARMS:
        part = written.of_arm(arm)
        rows += checker_rows(part, arm_by(arm))
    return Plan("checker", gettext_noop("Checker: errors and omissions per text"), rows)


# Samples.


def usable(text: Text, settings: Mapping[str, Any]) -> bool | None:
    """Whether independent judgments all accept it; None where too few of them could be read."""
    said = [verdict(one, quotes_are_checked=settings["quote_check"]) for one in text.judgments]
    told = [one for one in said if one is not None][: settings["independent_judgments"]]
    if len(told) < settings["independent_judgments"]:
        return None
    return not any(told)


def sample_plans(samples: Texts, settings: Mapping[str, Any]) -> Iterator[Plan]:
    """pass@k: how likely one of k samples is usable."""
    rows: list[Asked | Row] = []
    for arm in ARMS:
        part = samples.of_arm(arm)
        if part.all:
            rows += sample_rows(part, arm, settings)
    if rows:
        yield Plan("samples", gettext_noop("Samples: usable texts, and pass@k"), rows)


def sample_rows(part: Texts, arm: str, settings: Mapping[str, Any]) -> list[Asked | Row]:
    n: dict[str, int] = {}
    c: dict[str, int] = {}
    home: dict[str, str] = {}
    n_lost = 0
    for one in part.all:
        point, says = one.values["point"], usable(one, settings)
        home[point] = one.cluster
        n[point] = n.get(point, 0) + (says is not None)
        c[point] = c.get(point, 0) + (says is True)
        n_lost += says is None
    names, by = list(home), arm_by(arm)
    samples, with_one = gettext_noop("samples"), gettext_noop("points with a usable sample")
    rows: list[Asked | Row] = [
        count_row("n_samples", gettext_noop("samples that could be read"), sum(n.values()), samples, by),
        count_row("n_samples_unreadable", gettext_noop("samples that could not"), n_lost, samples, by),
        count_row("n_usable", gettext_noop("usable samples"), sum(c.values()), samples, by),
        count_row("points_with_usable", with_one, sum(map(bool, c.values())), POINTS, by),
    ]
    for k in range(1, settings["most_samples"] + 1):
        rows += pass_rows(k, names, [n[one] for one in names], [c[one] for one in names], list(home.values()), by)
    return rows


def pass_rows(k: int, names: list[str], n: list[int], c: list[int], clusters: list[str], by: By) -> list[Asked | Row]:
    """The value for this k; where a point has fewer samples none, and beside it the value of the points that have
    enough. No row where none has."""
    if k > max(n):
        return []
    statistic = pass_at_k_statistic(n, c, k, names=names)
    name = Said(gettext_noop("pass@%(k)s"), {"k": k})
    by = (*by, ("k", str(k)))
    of_enough = gettext_noop("reply points with at least k samples")
    if min(n) >= k:
        return [Asked("pass_at_k", name, statistic, clusters, POINTS, by)]
    n_few = sum(one < k for one in n)
    none = Figure(None, "k_gt_n", len(n) - n_few, len(n) - n_few, 1, {"few_samples": n_few})
    return [
        Row("pass_at_k", name, none, POINTS, by),
        Asked("pass_at_k_of_enough", name, statistic, clusters, of_enough, by),
    ]


# The blind comparison of the default with the rewrite.


def blind_plans(written: Texts, settings: Mapping[str, Any]) -> Iterator[Any]:
    """Texts of both versions that people labelled; a point counts where both have a label."""
    labelled = written.only(lambda one: one.annotations and one.values["condition"] in (BASE, REWRITE))
    if not labelled.all:
        return
    points = Points.of(labelled)
    yield Plan("blind", gettext_noop("Blind comparison: default and rewrite"), blind_rows(labelled, points, settings))
    yield from people_plans(labelled, settings, is_blind=True)


def blind_rows(labelled: Texts, points: Points, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Of each version the mean over points of the share of its annotators who fail it, and the difference."""
    rows: list[Asked | Row] = [
        count_row("n_collaborations", gettext_noop("collaborations"), len(set(points.clusters))),
        count_row("n_points", POINTS, len(points.clusters)),
        count_row("n_texts", gettext_noop("texts"), len(labelled.all)),
        count_row("n_annotations", gettext_noop("annotations"), sum(len(one.annotations) for one in labelled.all)),
    ]
    shares: dict[str, Summed] = {}
    for arm, texts in points.texts.items():
        by = arm_by(arm)
        has = np.array([one is not None for one in texts], dtype=bool)
        n = sum(len(one.annotations) for one in texts if one)
        rows.append(count_row("n_annotations", gettext_noop("annotations"), n, "", by))
        shares[arm] = mean([fail_share(one) for one in texts], has)
        mean_share = gettext_noop("mean share of annotators who fail it")
        rows.append(Asked("fail_share", mean_share, shares[arm], points.clusters, POINTS, by))
        rows.append(points.asked("blind_reader_failure_rate", points.fails(arm), by))
    if len(shares) == 2:
        contrast = difference(shares[REWRITE], shares[BASE])
        by = against(BASE, REWRITE)
        fewer = gettext_noop("smaller share of annotators who fail it")
        base = gettext_noop("reply points with labels of both")
        rows.append(Asked("contrast", fewer, contrast, points.clusters, base, by, "difference"))
        reader = difference(points.fails(REWRITE), points.fails(BASE))
        rows.append(points.asked("blind_reader_reduction", reader, by, unit="difference"))
        rows += flip_rows(labelled, points, settings)
        for language in sorted({one for one in points.languages if one is not None}):
            only = np.array([one == language for one in points.languages], dtype=bool)
            part = difference(masked(shares[REWRITE], only), masked(shares[BASE], only))
            where: By = ((gettext_noop("language"), language),)
            rows.append(Asked("contrast", fewer, part, points.clusters, base, by + where, "difference"))
    return rows


def masked(statistic: Summed, only: Mask) -> Summed:
    """The same of some items."""
    return replace(statistic, features=statistic.features * only[:, None])


def fail_share(text: Text | None) -> float:
    if text is None:
        return 0.0
    return sum(fails(one) for one in text.annotations) / len(text.annotations)


def flip_rows(labelled: Texts, points: Points, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Points where the reader fails the default and passes the rewrite, and where the majorities say the same."""
    said = panel_of(labelled, settings).majority(settings["tie_rule"]).tolist()
    majority = {one.values["id"]: verdict for one, verdict in zip(labelled.all, said, strict=True)}
    flips = [
        (majority[one.values["id"]], majority[other.values["id"]])
        for one, other in zip(points.texts[BASE], points.texts[REWRITE], strict=True)
        if one and other and one.failed is True and other.failed is False
    ]
    same = sum(pair == (FAIL, 1 - FAIL) for pair in flips)
    base = gettext_noop("points where the reader fails the default and passes the rewrite")
    return [
        count_row("flips", gettext_noop("the reader fails the default, passes the rewrite"), len(flips), BOTH),
        count_row("flips_agreed", gettext_noop("and so does the majority of people"), same, base),
    ]
