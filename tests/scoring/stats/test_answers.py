"""Questions that share a draw are answered as if each had been asked alone."""

import numpy as np
import pytest

from scoring.stats import resampling
from scoring.stats.answers import Drawing, answers
from scoring.stats.chance import FleissKappa, PercentAgreement
from scoring.stats.judge import JudgeQuestion, Verdicts, judge_agreement
from scoring.stats.panel import PanelQuestion, panel_agreement
from scoring.stats.ratings import MISSING, Ratings
from scoring.stats.resampling import group_items, rated_alike, resample

P, F = "pass", "fail"
OPTIONS = {"unit": "run", "seed": 7, "n_resamples": 300}


def people(n_items=60, *, q=2, gaps=0.2, seed=3):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, q, (n_items, 1))
    codes = np.where(rng.random((n_items, 4)) < 0.7, base, rng.integers(0, q, (n_items, 4)))
    codes = np.where(rng.random(codes.shape) < gaps, MISSING, codes)
    return Ratings(tuple(range(n_items)), ("a", "b", "c", "d"), (P, F, "other")[:q], codes)


SAID = Verdicts(1, "lexical", {item: (P, F)[item % 2] for item in range(60)})
CLUSTERS = {
    "clusters of three": [item // 3 for item in range(60)],
    "few clusters": [item // 12 for item in range(60)],
    "each item its own": None,
}


@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
def test_together_every_figure_is_what_it_is_alone(clusters):
    two, three = people(), people(q=3, seed=4)
    nominal = {"level": "nominal", "tie": "exclude", "min_others": 2}
    asked = [
        PanelQuestion.of(two, **nominal),
        PanelQuestion.of(three, **nominal),
        JudgeQuestion.of(two, SAID, tie=("toward", F), min_raters=2),
    ]
    found = answers(asked, clusters, Drawing(**OPTIONS))
    alone = [
        panel_agreement(two, clusters, **nominal, **OPTIONS),
        panel_agreement(three, clusters, **nominal, **OPTIONS),
        judge_agreement(two, SAID, clusters, tie=("toward", F), min_raters=2, **OPTIONS),
    ]
    assert [one.as_dict() for one in found] == [one.as_dict() for one in alone]


def test_questions_about_other_items_have_a_draw_of_their_own():
    """The second table lacks the items of one cluster."""
    clusters = CLUSTERS["clusters of three"]
    first, second = people(gaps=0), people(gaps=0)
    second.codes[:3] = MISSING
    nominal = {"level": "nominal", "tie": "exclude", "min_others": 2}
    found = answers([PanelQuestion.of(one, **nominal) for one in (first, second)], clusters, Drawing(**OPTIONS))
    assert [one.n_clusters for one in found] == [20, 19]
    assert found[1] == panel_agreement(second, clusters, **nominal, **OPTIONS)


def test_clusters_whose_sums_are_equal_are_counted_together_and_nothing_changes(monkeypatch):
    codes = np.tile(np.array([[0, 0], [0, 1], [1, 1], [0, 0]]), (30, 1))  # 60 clusters of 2 items, 2 kinds of them
    groups = group_items(codes, [item // 2 for item in range(120)])
    statistics = [FleissKappa(2), PercentAgreement(2)]

    def values():
        return resample(statistics, codes, groups, rng=np.random.default_rng(5), n_resamples=80).values

    merged = values()
    monkeypatch.setattr(resampling, "WORTH_MERGING", 0)
    assert merged == pytest.approx(values(), abs=1e-12)


@pytest.mark.parametrize("counted_keys", [0, 2**20])
def test_items_that_were_rated_alike_are_one_row_with_their_number(monkeypatch, counted_keys):
    monkeypatch.setattr(resampling, "COUNTED_KEYS", counted_keys)
    codes, times = rated_alike(np.array([[1, MISSING], [0, 1], [1, MISSING], [MISSING, MISSING], [0, 1], [1, MISSING]]))
    found = dict(zip(map(tuple, codes.tolist()), times.tolist(), strict=True))
    assert found == {(1, MISSING): 3, (0, 1): 2, (MISSING, MISSING): 1}
    codes, times = rated_alike(np.zeros((0, 2), dtype=int))
    assert (codes.shape, times.tolist()) == ((0, 2), [])


def test_a_drawing_that_nobody_finishes_leaves_no_thread_behind():
    blocks = resampling.draws(np.ones(40, dtype=int), rng=np.random.default_rng(0), n_resamples=10**6)
    assert next(blocks).shape[1] == 40
    blocks.close()
