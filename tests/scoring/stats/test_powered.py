"""A rate from few labels and many verdicts."""

import numpy as np
import pytest

from scoring.stats.compute import compute
from scoring.stats.intervals import wilson_interval
from scoring.stats.powered import prediction_powered
from scoring.stats.ratings import UnknownLabel
from scoring.stats.registry import BadParams
from scoring.stats.results import FLAGS, REASONS

GAP = np.nan


def powered(labels, verdicts, clusters=None, **options):
    settings = {"unit": "item", "is_rate": True}
    return prediction_powered(np.asarray(labels, float), np.asarray(verdicts, float), clusters, **settings | options)


def judged(seed, *, n_clusters=60, each=10, share=0.4, right=0.85):
    """Labels of a random part of the clusters, and verdicts that are right so often; the rate is 2/3."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(2, 1, n_clusters)
    truth = rng.random((n_clusters, each)) < rates[:, None]
    verdicts = np.where(rng.random(truth.shape) < right, truth, ~truth).astype(float)
    labels = np.where((rng.random(n_clusters) < share)[:, None], truth, np.nan)
    return labels.ravel(), verdicts.ravel(), np.repeat(np.arange(n_clusters), each).tolist()


def test_a_small_example_by_hand():
    # Labelled: y = 1, 1, 0, 0 with f = 1, 0, 0, 0; alone: f = 1, 1, 0, 0.
    # cov(y, f) = 1/4 - 1/2 * 1/4 = 1/8. All f: three of eight, var = 8/7 * 3/8 * 5/8 = 15/56. n / N = 1.
    # tuning = (1/8) / (2 * 15/56) = 7/30. Estimate = 1/2 + 7/30 * (1/2 - 1/4) = 67/120.
    found = powered([1, 1, 0, 0, *[GAP] * 4], [1, 0, 0, 0, 1, 1, 0, 0])

    assert found.tuning == pytest.approx(7 / 30, abs=1e-12)
    assert found.combined.value == pytest.approx(67 / 120, abs=1e-12)
    assert found.human_only.value == 0.5
    assert found.judge_only.value == 3 / 8
    assert (found.n_labelled, found.n_verdict_only) == (4, 4)
    assert (found.combined.interval, found.combined.interval_reason) == (None, "too_few_clusters")


def test_the_interval_is_of_both_variances():
    labels, verdicts, _ = judged(1)
    found = powered(labels, verdicts)
    known = ~np.isnan(labels)
    lam, y, f, alone = found.tuning, labels[known], verdicts[known], verdicts[~known]

    half = 1.959963984540054 * np.sqrt(lam**2 * alone.var() / len(alone) + (y - lam * f).var() / len(y))

    assert found.combined.interval.low == pytest.approx(found.combined.value - half, abs=1e-12)
    assert found.combined.interval.high == pytest.approx(found.combined.value + half, abs=1e-12)
    assert found.combined.interval.method == "normal"


def test_a_good_judge_saves_labels_and_the_interval_is_narrower():
    found = powered(*judged(2, right=0.95)[:2])
    width, alone = (
        one.interval.high - one.interval.low for one in (found.combined, found.human_only)
    )

    assert width < alone
    # As narrow as that many more labels would make it.
    n = found.n_labelled
    assert found.labels_saved == pytest.approx(n * ((alone / width) ** 2 - 1), rel=1e-9)


def test_a_judge_who_guesses_is_hardly_used_and_one_who_errs_on_purpose_not_at_all():
    rng = np.random.default_rng(0)
    labels, verdicts, _ = judged(3)

    guesses = powered(labels, rng.integers(0, 2, len(labels)))
    liar = powered(labels, 1 - verdicts)

    assert guesses.tuning < 0.2
    assert liar.tuning == 0
    assert liar.combined.value == pytest.approx(liar.human_only.value)
    assert liar.labels_saved == pytest.approx(0, abs=1e-9)


def test_95_intervals_of_100_hold_the_truth_where_items_come_in_clusters():
    held, alone = 0, 0
    for seed in range(200):
        labels, verdicts, clusters = judged(seed)
        for one in (clusters, None):
            interval = powered(labels, verdicts, one).combined.interval
            inside = interval.low <= 2 / 3 <= interval.high
            held += inside and one is not None
            alone += inside and one is None

    assert held >= 178  # 95 % of 200, less the noise of 200 runs and of 24 labelled clusters
    assert alone < 170  # items of a cluster are alike, which this does not see


def test_clusters_of_one_item_are_no_clusters():
    labels, verdicts, _ = judged(4)

    assert powered(labels, verdicts, list(range(len(labels)))).combined == powered(labels, verdicts).combined


def test_a_cluster_may_hold_items_with_and_without_a_label():
    labels, verdicts, clusters = judged(5, share=1.0)
    labels[::2] = np.nan

    found = powered(labels, verdicts, clusters)

    assert found.combined.interval.n_clusters == 60
    assert found.combined.interval.low < found.combined.value < found.combined.interval.high


@pytest.mark.parametrize("seed", range(5))
def test_order_plays_no_part_and_a_mean_follows_its_scale(seed):
    labels, verdicts, clusters = judged(seed)
    order = np.random.default_rng(seed).permutation(len(labels))
    one = powered(labels, verdicts, clusters)

    other = powered(labels[order], verdicts[order], [clusters[place] for place in order])
    scaled = powered(5 + 2 * labels, 5 + 2 * verdicts, clusters, is_rate=False)

    assert other.combined.value == pytest.approx(one.combined.value, abs=1e-12)
    assert other.combined.interval.low == pytest.approx(one.combined.interval.low, abs=1e-12)
    assert scaled.combined.value == pytest.approx(5 + 2 * one.combined.value, abs=1e-9)
    assert scaled.tuning == pytest.approx(one.tuning, abs=1e-9)


@pytest.mark.parametrize(
    ("labels", "verdicts", "reason"),
    [
        ([GAP, GAP], [1, 0], "empty"),
        ([1, GAP], [1, 0], "too_few_items"),
        ([], [], "empty"),
        ([1, 1, GAP], [GAP, GAP, 1], "too_few_items"),  # no verdict on a labelled item
    ],
)
def test_what_cannot_be_estimated_is_a_reason(labels, verdicts, reason):
    found = powered(labels, verdicts)

    assert (found.combined.value, found.combined.reason) == (None, reason)
    assert reason in REASONS
    assert (found.tuning, found.labels_saved) == (None, None)


def test_labels_picked_by_score_are_refused():
    found = powered(*judged(6)[:2], picked="score")

    assert found.combined.reason == found.human_only.reason == "not_random"
    assert found.judge_only.value is not None


def test_with_a_verdict_on_labelled_items_alone_people_stand_alone():
    found = powered([1, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 1])

    assert found.combined.value == found.human_only.value == 4 / 6
    assert "human_only" in found.combined.flags
    assert set(found.combined.flags) <= set(FLAGS)
    assert found.labels_saved == 0


def test_a_judge_who_always_says_the_same_is_not_used():
    found = powered([1, 0, 1, 1, 0, 1, GAP, GAP], [1] * 8)

    assert found.combined.value == found.human_only.value
    assert "judge_constant" in found.combined.flags
    assert found.tuning == 0


def test_a_rate_of_nothing_among_independent_items_has_a_wilson_interval():
    found = powered([0] * 50 + [GAP], [0] * 51)

    interval = found.combined.interval
    assert (interval.low, interval.high) == wilson_interval(0, 50)
    assert interval.method == "wilson"


def test_what_is_left_out_is_counted():
    labels, verdicts, _ = judged(7)
    labels[:3], verdicts[:3] = 1, GAP
    labels[3:5], verdicts[3:5] = GAP, GAP

    figure = powered(labels, verdicts).combined

    assert figure.left_out == {"not_rated": 3, "no_rating": 2}
    assert figure.n_items + 5 == len(labels)


@pytest.mark.parametrize(
    ("labels", "verdicts", "options", "words"),
    [
        ([1], [1, 0], {}, "of the same items"),
        ([1, 2], [1, 0], {}, r"labels\[1\] is 2"),
        ([1, 0], [1, np.inf], {}, r"verdicts\[1\] is infinite"),
        ([1, 0], [1, 0], {"picked": "best"}, "picked is 'best'"),
        ([1, 0], [1, 0], {"min_clusters": 1}, "min_clusters is 1"),
    ],
)
def test_wrong_input_is_named(labels, verdicts, options, words):
    with pytest.raises(ValueError, match=words):
        powered(labels, verdicts, **options)


# By name


def triples(labels, verdicts, names=("bad", "ok")):
    rows = []
    for place, (label, verdict) in enumerate(zip(labels, verdicts, strict=True)):
        if not np.isnan(label):
            rows.append([f"i{place}", "ana", names[int(label)]])
        rows.append([f"i{place}", "J", names[int(verdict)]])
    return rows


def test_it_is_the_same_by_name():
    labels, verdicts, clusters = judged(8)
    direct = powered(labels, verdicts, clusters)

    params = {"judge": "J", "positive": "ok", "cluster_of": {f"i{n}": one for n, one in enumerate(clusters)}}
    found = compute("prediction_powered", triples(labels, verdicts), params)
    numbers = compute("prediction_powered", triples(labels, verdicts, (0, 1)), {"judge": "J"})

    assert found.value == pytest.approx(direct.combined.value, abs=1e-12)
    assert found.interval.low == pytest.approx(direct.combined.interval.low, abs=1e-12)
    assert found.details["labels_saved"] == pytest.approx(direct.labels_saved, abs=1e-9)
    assert found.details["human_only"].value == direct.human_only.value
    assert numbers.value == pytest.approx(powered(labels, verdicts).combined.value, abs=1e-12)


def test_the_label_of_an_item_is_the_mean_of_what_people_said():
    data = [["i1", "ana", "ok"], ["i1", "ben", "bad"], ["i1", "J", "ok"], ["i2", "ana", "ok"], ["i2", "J", "ok"]]
    found = compute("prediction_powered", [*data, ["i3", "J", "bad"]], {"judge": "J", "positive": ["ok"]})

    assert found.details["human_only"].value == 0.75


def test_a_wrong_param_or_label_is_named():
    data = [["i1", "ana", "ok"], ["i1", "J", "ok"]]
    with pytest.raises(BadParams, match="'fine' is no category"):
        compute("prediction_powered", data, {"judge": "J", "positive": "fine"})
    with pytest.raises(UnknownLabel, match=r"'ok' is no number \(item i1, rater ana"):
        compute("prediction_powered", data, {"judge": "J"})
