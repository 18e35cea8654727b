"""Every case of the case file whose metric is here, and the golden numbers of the reader."""

import json
import math

import numpy as np
import pytest

from scoring.stats import agreement
from scoring.stats.chance import CohenKappa, distances_of
from scoring.stats.ratings import RatingsError, ratings_from_triples
from scoring.stats.resampling import bootstrap
from tests.scoring.stats.tables import CASES, from_confusion, reference_cases, shared

READER = [[171, 20], [34, 75]]


def two_columns(case, params):
    """The codes of raters A and B, and the number of categories."""
    q = len(params["categories"])
    if isinstance(case["data"], dict):
        return *from_confusion(case["data"]["confusion"]).T, q
    ratings = ratings_from_triples(case["data"], params["categories"])
    return *(ratings.codes[:, ratings.raters.index(params[name])] for name in ("rater_a", "rater_b")), q


def cohen_kappa(case, params):
    a, b, q = two_columns(case, params)
    matrix = np.array(params["weight_matrix"]) if "weight_matrix" in params else None
    return agreement.cohen_kappa(a, b, n_categories=q, weights=params["weights"], weight_matrix=matrix)


def fleiss_kappa(case, params):
    codes, q = whole_table(case, params)
    return agreement.fleiss_kappa(codes, n_categories=q, marginals=params["marginals"], singletons=params["singletons"])


def krippendorff_alpha(case, params):
    codes, q = whole_table(case, params)
    values = params["categories"] if params["level"] == "interval" else None
    matrix = np.array(params["distance_matrix"]) if "distance_matrix" in params else None
    return agreement.krippendorff_alpha(
        codes, n_categories=q, level=params["level"], values=values, distance_matrix=matrix
    )


def percent_agreement(case, params):
    codes, q = whole_table(case, params)
    return agreement.percent_agreement(codes, n_categories=q, weighting=params["weighting"])


def annotator_vs_majority(case, params):
    codes, q = whole_table(case, params)
    raters = list(dict.fromkeys(rater for _, rater, _ in case["data"]))
    return agreement.annotator_vs_majority(
        codes,
        n_categories=q,
        rater=raters.index(params["rater"]),
        ties=params["ties"],
        min_others=params["min_others"],
    )


def whole_table(case, params):
    labels = {label for _, _, label in case["data"] if label is not None}
    categories = params.get("categories", sorted(labels))
    return ratings_from_triples(case["data"], categories).codes, len(categories)


METRICS = {
    one.__name__: one
    for one in (cohen_kappa, fleiss_kappa, krippendorff_alpha, percent_agreement, annotator_vs_majority)
}
LATER = {"masi"}  # a level of sets, which are no categories
HERE = [case for case in reference_cases() if case["metric"] in METRICS and case["params"].get("level") not in LATER]


def outcome(case):
    try:
        figure = METRICS[case["metric"]](case, case["params"])
    except RatingsError as refusal:
        return f"undefined:{refusal.code}"
    return figure.value if figure.reason is None else f"undefined:{figure.reason}"


@pytest.mark.parametrize("case", HERE, ids=lambda case: case["id"])
def test_a_reference_case_comes_out_as_expected(case):
    found = outcome(case)

    if isinstance(case["expected"], str):
        assert found == case["expected"]
    else:
        assert found == pytest.approx(case["expected"], abs=case["tolerance"])


def test_all_the_cases_of_these_statistics_are_run():
    assert len(HERE) == 22


def bootstrap_case(case):
    inner = case["params"]["bootstrap_of"]
    a, b, q = two_columns(case, inner)
    items = list(dict.fromkeys(item for item, _, _ in case["data"]))
    kappa = CohenKappa(distances_of(inner["weights"], n_categories=q, weight_matrix=None))
    return kappa, np.column_stack([a, b]), [case["params"]["cluster_of"][item] for item in items]


BOOTSTRAP = [case for case in reference_cases() if case["metric"] == "cohen_kappa_cluster_bootstrap"]


@pytest.mark.parametrize("case", BOOTSTRAP, ids=lambda case: case["id"])
def test_the_bootstrap_of_five_clusters_counts_all_resamples(case):
    kappa, codes, clusters = bootstrap_case(case)

    (figure,) = bootstrap([kappa], codes, clusters, unit="g", rng=np.random.default_rng(0), seed=7)

    bound = {"lower": figure.interval.low, "upper": figure.interval.high}[case["params"]["output"]]
    assert bound == pytest.approx(case["expected"], abs=case["tolerance"])
    assert (figure.interval.method, figure.interval.n_resamples) == ("enumerated", 5**5)
    assert figure.interval.seed is None


@pytest.mark.parametrize("case", BOOTSTRAP, ids=lambda case: case["id"])
def test_the_bootstrap_by_drawing_is_as_near_as_drawing_allows(case, monkeypatch):
    monkeypatch.setattr("scoring.stats.resampling.ENUMERATED", 0)
    kappa, codes, clusters = bootstrap_case(case)

    (figure,) = bootstrap([kappa], codes, clusters, unit="g", rng=np.random.default_rng(7), seed=7)

    bound = {"lower": figure.interval.low, "upper": figure.interval.high}[case["params"]["output"]]
    assert bound == pytest.approx(case["expected"], abs=case["params"]["monte_carlo_tolerance"])
    assert (figure.interval.method, figure.interval.n_resamples, figure.interval.seed) == ("drawn", 10_000, 7)


def test_the_reader_against_the_majority_has_accuracy_82_and_kappa_60():
    majority, reader = from_confusion(READER).T

    share = agreement.percent_agreement(np.column_stack([majority, reader]), n_categories=2)
    kappa = agreement.cohen_kappa(majority, reader, n_categories=2)

    assert f"{share.value:.2f}" == "0.82"
    assert f"{kappa.value:.2f}" == "0.60"
    assert kappa.value == pytest.approx(0.599901, abs=5e-7)
    assert agreement.confusion(majority, reader, n_categories=2).tolist() == READER


@pytest.mark.shared
def test_our_copy_of_the_cases_is_the_original():
    original = shared("data", "cases", "agreement.json")

    assert CASES.read_bytes() == original.read_bytes()


@pytest.mark.shared
def test_the_golden_numbers_of_the_reader_are_met():
    golden = {one["id"]: one for one in json.loads(shared("data", "golden-numbers.json").read_text(encoding="utf-8"))}
    majority, reader = from_confusion(READER).T
    accuracy, kappa = golden["u-reader-acc"], golden["u-reader-kappa"]
    assert accuracy["inputs"] == kappa["inputs"] == {"tp": 171, "fn": 20, "fp": 34, "tn": 75}

    share = agreement.percent_agreement(np.column_stack([majority, reader]), n_categories=2).value
    found = agreement.cohen_kappa(majority, reader, n_categories=2).value

    assert math.isclose(share, accuracy["expected"], abs_tol=accuracy["tolerance"])
    assert math.isclose(found, kappa["expected"], abs_tol=kappa["tolerance"])
