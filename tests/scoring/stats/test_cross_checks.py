"""Our figures against those of the libraries people use, on random tables. `requirements-check.txt` brings these."""

import krippendorff
import numpy as np
import ppi_py
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import cohens_kappa as kappa_of_statsmodels
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from scoring.stats.agreement import cohen_kappa, confusion, fleiss_kappa, krippendorff_alpha, percent_agreement
from scoring.stats.alpha import alpha_of
from scoring.stats.chance import FleissKappa
from scoring.stats.compute import compute
from scoring.stats.intervals import wilson_interval
from scoring.stats.powered import prediction_powered
from scoring.stats.significance import benjamini_yekutieli, holm

SEEDS = range(8)
WEIGHTS = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}


def same(value):
    return pytest.approx(value, abs=1e-12)


def codes_of(seed, *, n_raters=None, gaps=0.0):
    """(codes, number of categories): raters who mostly agree, each table of another size."""
    rng = np.random.default_rng(seed)
    n, r, q = int(rng.integers(20, 200)), n_raters or int(rng.integers(2, 7)), int(rng.integers(2, 6))
    truth = rng.integers(0, q, size=(n, 1))
    codes = np.where(rng.random((n, r)) < 0.7, truth, rng.integers(0, q, size=(n, r)))
    codes[rng.random((n, r)) < gaps] = -1
    return codes, q


# statsmodels


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_is_that_of_statsmodels(seed):
    codes, q = codes_of(seed)
    theirs = fleiss_of_statsmodels(aggregate_raters(codes, q)[0])

    assert fleiss_kappa(codes, n_categories=q).value == same(theirs)
    assert fleiss_kappa(codes, n_categories=q, marginals="pooled").value == same(theirs)


def test_fleiss_of_a_large_table_is_that_of_statsmodels_however_it_lies_in_memory():
    codes = np.random.default_rng(0).choice(3, size=(70_001, 4), p=[0.6, 0.3, 0.1])
    theirs = fleiss_of_statsmodels(aggregate_raters(codes, 3)[0])

    for one in (codes, np.asfortranarray(codes.astype(np.int8)), codes.astype(np.int8)):
        assert fleiss_kappa(one, n_categories=3).value == same(theirs)
    assert super(FleissKappa, FleissKappa(3)).figure(codes).value == same(theirs)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_cohen_is_that_of_statsmodels_and_scikit_learn(weights, seed):
    codes, q = codes_of(seed, n_raters=2)
    table = np.zeros((q, q))
    np.add.at(table, tuple(codes.T), 1)

    ours = cohen_kappa(*codes.T, n_categories=q, weights=weights).value

    assert ours == same(kappa_of_statsmodels(table, wt=WEIGHTS[weights], return_results=False))
    assert ours == same(cohen_kappa_score(*codes.T, labels=range(q), weights=WEIGHTS[weights]))


@pytest.mark.parametrize("seed", SEEDS)
def test_cohen_with_a_matrix_of_weights_is_that_of_statsmodels(seed):
    codes, q = codes_of(seed, n_raters=2)
    rng = np.random.default_rng(seed)
    matrix = rng.random((q, q)) + 0.1
    matrix = (matrix + matrix.T) * (1 - np.eye(q))
    table = np.zeros((q, q))
    np.add.at(table, tuple(codes.T), 1)

    ours = cohen_kappa(*codes.T, n_categories=q, weights="matrix", weight_matrix=matrix).value

    assert ours == same(kappa_of_statsmodels(table, weights=matrix, return_results=False))


@pytest.mark.parametrize("seed", SEEDS)
def test_adjusted_p_values_are_those_of_statsmodels_and_scipy(seed):
    p = np.random.default_rng(seed).beta(0.5, 2, size=1 + 3 * seed)

    assert holm(p.tolist()).adjusted == same(tuple(multipletests(p, method="holm")[1]))
    assert benjamini_yekutieli(p.tolist()).adjusted == same(tuple(multipletests(p, method="fdr_by")[1]))
    assert benjamini_yekutieli(p.tolist()).adjusted == same(tuple(stats.false_discovery_control(p, method="by")))


@pytest.mark.parametrize(("n_yes", "n"), [(0, 50), (1, 7), (12, 30), (50, 50), (499, 1000)])
def test_intervals_of_a_share_are_those_of_statsmodels(n_yes, n):
    for method, theirs in (("wilson", "wilson"), ("exact", "beta")):
        interval = compute("share", {"yes": n_yes, "n": n}, {"interval": method}).interval

        assert (interval.low, interval.high) == same(proportion_confint(n_yes, n, method=theirs))
    assert wilson_interval(n_yes, n) == same(proportion_confint(n_yes, n, method="wilson"))


# scikit-learn


@pytest.mark.parametrize("seed", SEEDS)
def test_the_confusion_is_that_of_scikit_learn(seed):
    codes, q = codes_of(seed, n_raters=2)
    a, b = codes.T

    assert confusion(a, b, n_categories=q).tolist() == confusion_matrix(a, b, labels=range(q)).tolist()
    assert percent_agreement(codes, n_categories=q).value == same(accuracy_score(a, b))


# krippendorff


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_that_of_krippendorff_and_so_is_the_formula_that_resamples(level, seed):
    codes, q = codes_of(seed, gaps=0.3)
    theirs = krippendorff.alpha(
        reliability_data=np.where(codes < 0, np.nan, codes).astype(float).T,
        value_domain=np.arange(q, dtype=float),
        level_of_measurement=level,
    )

    assert krippendorff_alpha(codes, n_categories=q, level=level, values=range(q)).value == same(theirs)
    statistic = alpha_of(level, n_categories=q, values=np.arange(q, dtype=float))
    assert statistic.formula(statistic.features(codes).sum(axis=0)[None]).value[0] == same(theirs)


# ppi-python


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("is_rate", [True, False])
def test_the_prediction_powered_estimate_is_that_of_ppi_python(is_rate, seed):
    rng = np.random.default_rng(seed)
    n, more = int(rng.integers(10, 200)), int(rng.integers(20, 2000))
    truth = rng.random(n + more) < 0.6 if is_rate else rng.normal(3, 2, n + more)
    noise = rng.random(n + more) < 0.2 if is_rate else rng.normal(0, 1 + seed, n + more)
    heard = truth ^ noise if is_rate else truth + noise
    labels, verdicts = truth.astype(float), np.asarray(heard, dtype=float)
    labels[n:] = np.nan

    found = prediction_powered(labels, verdicts, None, unit="item", is_rate=is_rate)

    low, high = ppi_py.ppi_mean_ci(labels[:n], verdicts[:n], verdicts[n:], alpha=0.05)
    assert found.combined.value == same(ppi_py.ppi_mean_pointestimate(labels[:n], verdicts[:n], verdicts[n:])[0])
    assert (found.combined.interval.low, found.combined.interval.high) == same((low[0], high[0]))
    alone = ppi_py.ppi_mean_ci(labels[:n], verdicts[:n], verdicts[n:], alpha=0.05, lam=0)
    assert (found.human_only.interval.low, found.human_only.interval.high) == same((alone[0][0], alone[1][0]))
