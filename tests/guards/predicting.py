"""A simple classifier, and how far it tells two kinds of rows apart that it has not seen."""

import numpy as np

FOLDS, STEPS, RATE, RIDGE = 5, 300, 0.3, 0.05


def auc_of_unseen(features, is_so, seed=1):
    """The area under the curve over all rows, each scored by a logistic regression that was fitted without its fold.
    `features` is an array of rows by features, `is_so` one truth a row."""
    features, is_so = np.asarray(features, float), np.asarray(is_so, bool)
    order = np.random.default_rng(seed).permutation(len(is_so))
    scores = np.empty(len(is_so))
    for fold in range(FOLDS):
        held = order[fold::FOLDS]
        others = np.setdiff1d(order, held)
        weights, center, spread = fitted(features[others], is_so[others])
        scores[held] = ranks(((features[held] - center) / spread) @ weights) / len(held)
    return area(scores, is_so)


def fitted(features, is_so):
    """Weights of a ridge logistic regression over features brought to one scale."""
    center, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread == 0] = 1
    scaled = (features - center) / spread
    weights, target = np.zeros(features.shape[1]), is_so - is_so.mean()
    for _ in range(STEPS):
        told = 1 / (1 + np.exp(-(scaled @ weights)))
        weights -= RATE * (scaled.T @ (told - told.mean() - target) / len(is_so) + RIDGE * weights)
    return weights, center, spread


def area(scores, is_so):
    """How often a row that is so stands above one that is not; equal ones count half."""
    n_so, n_not = is_so.sum(), (~is_so).sum()
    return (ranks(scores)[is_so].sum() - n_so * (n_so + 1) / 2) / (n_so * n_not)


def ranks(values):
    """From 1, equal values sharing the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]
