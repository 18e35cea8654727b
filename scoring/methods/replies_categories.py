"""The classifier of gaps beside people who label the same gaps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.records import Records
from scoring.methods.replies_read import Texts
from scoring.methods.replies_schema import CATEGORIES
from scoring.methods.tables import Asked, By, Plan, Row, Said, Words, coded, count_row
from scoring.stats.chance import CohenKappa, distances_of
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.sums import Summed, combined, share

DISTANCES = distances_of("unweighted", n_categories=len(CATEGORIES), weight_matrix=None)
CLASSIFIER = gettext_noop("classifier")
COMMON = gettext_noop("the category that all annotators chose")


def classifier_plan(texts: Texts, records: Records) -> Iterator[Plan]:
    """Kappa of the classifier with each annotator, between annotators, and with what they all chose."""
    home = {gap["id"]: one.cluster for one in texts.all for gap in one.gaps}
    said = [one for one in records["category_label"] if one["gap"] in home]
    names = sorted({one["annotator"] for one in said})
    labelled = list(dict.fromkeys(one["gap"] for one in said))
    if not labelled:
        return
    place, code = {one: at for at, one in enumerate(labelled)}, {one: at for at, one in enumerate(CATEGORIES)}
    people = np.full((len(labelled), len(names)), MISSING, dtype=np.int64)
    for one in said:
        people[place[one["gap"]], names.index(one["annotator"])] = code[one["category"]]
    machine = np.full(len(labelled), MISSING, dtype=np.int64)
    for gap in (gap for one in texts.all for gap in one.gaps if gap["id"] in place and gap["category"]):
        machine[place[gap["id"]]] = code[gap["category"]]
    clusters = [home[one] for one in labelled]
    yield Plan(
        "classifier", gettext_noop("Classifier of gaps and annotators"), _rows(machine, people, names, clusters)
    )


def _rows(machine: Codes, people: Codes, names: list[str], clusters: list[str]) -> list[Asked | Row]:
    all_say = (people >= 0).all(axis=1) & (people == people[:, :1]).all(axis=1) & (len(names) > 1)
    common = np.where(all_say, people[:, 0], MISSING)
    rows: list[Asked | Row] = [count_row("n_labelled_gaps", gettext_noop("labelled gaps"), len(people))]
    with_each = []
    for rater, name in enumerate(names):
        kappa = _kappa(np.column_stack([people[:, rater], machine]), clusters, CLASSIFIER, name)
        with_each.append(kappa)
        rows += [kappa, _equal(people[:, rater], machine, clusters, CLASSIFIER, name)]
    defined = [one.statistic for one in with_each if one.point and one.point.value is not None]
    if defined:
        mean_kappa: Words = gettext_noop("mean kappa with the annotators")
        of_all = combined(defined, lambda values: np.mean(values, axis=0))
        base = gettext_noop("gaps with a category by both")
        rows.append(Asked("classifier_kappa_mean", mean_kappa, of_all, clusters, base, _pair(CLASSIFIER, ""), "kappa"))
    for first, second in combinations(range(len(names)), 2):
        rows.append(_kappa(people[:, [first, second]], clusters, names[first], names[second]))
    if len(names) > 1:
        rows.append(_kappa(np.column_stack([common, machine]), clusters, CLASSIFIER, Said(COMMON)))
        rows.append(_equal(common, machine, clusters, CLASSIFIER, Said(COMMON)))
    return rows


def _pair(first: str, second: str | Said) -> By:
    one = (gettext_noop("one"), Said(first) if first == CLASSIFIER else first)
    return (one, (gettext_noop("other"), second)) if second else (one,)


def _kappa(codes: Codes, clusters: list[str], first: str, second: str | Said) -> Asked:
    summed, point = coded(CohenKappa(DISTANCES), codes)
    base = gettext_noop("gaps with a category by both")
    name = gettext_noop("Cohen's kappa")
    return Asked("category_kappa", name, summed, clusters, base, _pair(first, second), "kappa", point)


def _equal(one: Codes, other: Codes, clusters: list[str], first: str, second: str | Said) -> Asked:
    both = (one >= 0) & (other >= 0)
    same: Summed = share(one == other, both)
    base = gettext_noop("gaps with a category by both")
    return Asked("category_equal", gettext_noop("equal"), same, clusters, base, _pair(first, second))
