"""How large a study must be, from a pilot."""

import numpy as np
import pytest

from scoring.stats.chance import CohenKappa, FleissKappa, distances_of
from scoring.stats.compute import compute
from scoring.stats.planner import MIN_CLUSTERS, SIZES, RateOfCategory, plan
from scoring.stats.registry import BadParams
from scoring.stats.resampling import bootstrap
from scoring.stats.results import FLAGS, REASONS


def pilot(seed=0, *, n_clusters=30, each=10, n_raters=5, alike=0.2):
    """Codes of two categories; items of a cluster are mostly alike."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.random(n_clusters) < 0.5, each)[:, None] ^ (rng.random((n_clusters * each, 1)) < alike)
    codes = np.where(rng.random((n_clusters * each, n_raters)) < 0.8, truth, ~truth).astype(int)
    return codes, np.repeat(np.arange(n_clusters), each).tolist()


def planned(codes, clusters=None, statistic=None, **options):
    settings = {"wanted": 0.05, "unit": "run", "seed": 1}
    return plan(FleissKappa(2) if statistic is None else statistic, codes, clusters, **settings | options)


@pytest.mark.parametrize(("share", "wanted"), [(0.5, 0.1), (0.5, 0.03), (0.8, 0.05)])
def test_of_independent_items_a_rate_needs_what_the_formula_says(share, wanted):
    codes = (np.arange(200) < 200 * share).astype(int)[:, None]

    found = planned(codes, statistic=RateOfCategory(1), wanted=wanted)

    by_formula = 1.96**2 * share * (1 - share) / wanted**2
    assert found.figure.value == pytest.approx(by_formula, rel=0.12)
    assert found.figure.interval.low <= found.figure.value <= found.figure.interval.high
    assert found.needed[0].extrapolated == (by_formula > SIZES[-1])
    assert found.figure.flags == (("extrapolated",) if by_formula > SIZES[-1] else ())
    assert set(found.figure.flags) <= set(FLAGS)


def test_items_that_are_alike_within_clusters_need_more_of_them():
    codes = np.repeat((np.arange(30) < 15).astype(int), 10)[:, None]
    clusters = np.repeat(np.arange(30), 10).tolist()

    alone, together = (planned(codes, one, RateOfCategory(1), wanted=0.1).needed[0] for one in (None, clusters))

    assert together.n_items > 7 * alone.n_items  # ten times, as all of a cluster are equal
    assert together.n_items == 10 * together.n_clusters


def test_more_raters_and_wider_intervals_need_fewer_items():
    codes, clusters = pilot()

    few, some, many = planned(codes, clusters, raters=[2, 3, 5]).needed
    wide = planned(codes, clusters, raters=[5], wanted=0.1).needed[0]

    assert few.n_items > some.n_items > many.n_items > wide.n_items
    assert few.n_ratings == 2 * few.n_items
    assert few.clusters_low <= few.n_clusters <= few.clusters_high


def test_half_of_the_width_takes_four_times_the_clusters():
    codes, clusters = pilot(1)

    one, half = (planned(codes, clusters, wanted=wanted).needed[0].n_clusters for wanted in (0.06, 0.03))

    assert half / one == pytest.approx(4, rel=0.35)


def test_a_study_of_the_planned_size_has_the_wanted_width():
    codes, clusters = pilot(2, n_clusters=60)
    needed = planned(codes, clusters, raters=[3]).needed[0]

    widths = []
    for seed in range(12):
        new, of = pilot(100 + seed, n_clusters=needed.n_clusters, n_raters=3)
        rng = np.random.Generator(np.random.PCG64(seed))
        (figure,) = bootstrap([FleissKappa(2)], new, of, unit="run", rng=rng, n_resamples=1000)
        widths.append((figure.interval.high - figure.interval.low) / 2)
    assert np.mean(widths) == pytest.approx(0.05, rel=0.3)  # a pilot of 60 knows it no better


def test_the_same_seed_gives_the_same_plan_and_order_plays_no_part():
    codes, clusters = pilot(3)
    order = np.random.default_rng(0).permutation(len(codes))
    of_cluster = np.lexsort((np.arange(len(codes)), np.array(clusters)[order]))  # within a cluster items keep the order

    one, again = planned(codes, clusters), planned(codes, clusters)
    other = planned(codes[order][of_cluster], np.array(clusters)[order][of_cluster].tolist())

    assert one == again
    assert other.needed[0].n_clusters == pytest.approx(one.needed[0].n_clusters, rel=0.02)
    assert planned(codes, clusters, seed=2) != one


def test_items_of_a_cluster_can_be_fewer():
    codes, clusters = pilot(4, alike=0.5)  # items of a cluster are not alike at all

    ten, two = (planned(codes, clusters, items_per_cluster=each).needed[0] for each in (None, 2))

    assert two.n_items == 2 * two.n_clusters
    assert two.n_clusters > 2 * ten.n_clusters
    assert two.n_items == pytest.approx(ten.n_items, rel=0.5)


def test_a_width_that_anything_has_needs_the_fewest_clusters_there_are():
    codes, clusters = pilot()

    assert planned(codes, clusters, wanted=5.0).needed[0].n_clusters == MIN_CLUSTERS


@pytest.mark.parametrize(
    ("codes", "clusters", "reason", "why"),
    [
        (np.zeros((0, 2), int), None, "empty", "empty"),
        (np.zeros((30, 2), int), None, "one_category", "one_category"),
        (np.array([[0, 1], [1, 1], [0, 0]] * 3), None, "pilot_too_small", "too_few_items"),
        (np.array([[0, 1], [1, 1], [0, 0]] * 10), ["a", "b", "c"] * 10, "pilot_too_small", "too_few_clusters"),
        (np.array([[0, 0]] * 300 + [[1, 1]]), None, "pilot_too_small", "degenerate_resamples"),
    ],
)
def test_a_pilot_that_is_too_small_is_refused_and_says_why(codes, clusters, reason, why):
    found = planned(codes, clusters)

    assert (found.figure.value, found.figure.reason, found.why) == (None, reason, why)
    assert reason in REASONS
    assert found.needed == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"wanted": 0}, "half-width is 0"),
        ({"raters": [6]}, "6 raters cannot be drawn"),
        ({"raters": []}, "different numbers"),
        ({"items_per_cluster": 0}, "items_per_cluster is 0"),
    ],
)
def test_a_wrong_option_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        planned(*pilot(), **options)


# By name


def triples(codes):
    return [[f"i{n}", f"r{j}", "ny"[code]] for n, row in enumerate(codes.tolist()) for j, code in enumerate(row)]


def test_it_is_the_same_by_name():
    codes, clusters = pilot(5)
    cluster_of = {f"i{n}": one for n, one in enumerate(clusters)}
    params = {"categories": ["n", "y"], "half_width": 0.05, "cluster_of": cluster_of, "seed": 1, "unit": "run"}

    found = compute("planner", triples(codes), params | {"metric": "fleiss_kappa", "raters": [2, 5]})

    direct = planned(codes, clusters, raters=[2, 5])
    assert found.value == direct.figure.value
    assert found.details["needed"] == direct.needed
    assert found.details["pilot"].value == FleissKappa(2).figure(codes).value


def test_two_named_raters_are_planned_as_they_are():
    codes, _ = pilot(6, alike=0.5)
    params = {"metric": "cohen_kappa", "half_width": 0.1, "rater_a": "r1", "rater_b": "r3", "seed": 1}

    found = compute("planner", triples(codes), params)

    kappa = CohenKappa(distances_of("unweighted", n_categories=2, weight_matrix=None))
    assert found.details["needed"][0].n_raters == 2
    assert found.value == pytest.approx(planned(codes[:, [1, 3]], None, kappa, wanted=0.1).figure.value, rel=0.1)


@pytest.mark.parametrize("metric", ["percent_agreement", "krippendorff_alpha", "gwet_ac", "scott_pi", "rate"])
def test_every_statistic_that_can_be_planned_is(metric):
    codes, _ = pilot(7)
    more = {"krippendorff_alpha": {"level": "nominal"}, "rate": {"category": "y"}}.get(metric, {})
    two = {"rater_a": "r0", "rater_b": "r1"} if metric == "scott_pi" else {}
    params = {"metric": metric, "half_width": 0.1, "categories": ["n", "y"], **more, **two}

    found = compute("planner", triples(codes), params)

    assert found.value >= MIN_CLUSTERS
    assert len(found.details["needed"]) == {"rate": 5, "scott_pi": 1}.get(metric, 4)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"metric": "span_f1"}, "metric is 'span_f1'"),
        ({"half_width": "wide"}, "half_width is 'wide'"),
        ({"raters": [1.5]}, "raters is"),
        ({"metric": "cohen_kappa", "rater_a": "r0", "rater_b": "r1", "raters": 2}, "of two named raters"),
    ],
)
def test_a_wrong_param_is_named(params, words):
    codes, _ = pilot()
    with pytest.raises(BadParams, match=words):
        compute("planner", triples(codes), {"metric": "fleiss_kappa", "half_width": 0.1} | params)
