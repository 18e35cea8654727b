"""pass@k: how likely one of k samples of a task passes, from n samples of which c did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb

import numpy as np

from scoring.stats.answers import Drawing
from scoring.stats.registry import Outcome, outcome
from scoring.stats.results import Figure
from scoring.stats.statistic import Floats
from scoring.stats.sums import Summed, mean, with_intervals

MOST_BY_INTEGERS = 2_000
"""Binomials of more samples than this have hundreds of digits; a product of factors is as exact as a float holds."""


def pass_at_k_of_task(n: int, c: int, k: int) -> float | None:
    """1 - C(n - c, k) / C(n, k), None where a task has fewer samples than k.

    Source: Chen et al. 2021, Evaluating Large Language Models Trained on Code, equation 1.
    """
    if k > n:
        return None
    if n - c < k:
        return 1.0
    if n <= MOST_BY_INTEGERS:
        whole = comb(n, k)
        return (whole - comb(n - c, k)) / whole
    few, many = sorted((c, k))  # the product has as many factors as the smaller of the two
    return float(-np.expm1(np.log1p(-many / np.arange(n - few + 1, n + 1)).sum())) if few else 0.0


def pass_at_k_values(n: Sequence[int], c: Sequence[int], k: int, *, names: Sequence[Hashable] | None = None) -> Floats:
    """(n_tasks,) the pass@k of every task, nan where it has fewer samples than k.

    Raises
    ------
    ValueError that names the task: counts that are no whole numbers or negative, more passes than samples; k below 1.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k is {k!r}; it is a whole number from 1.")
    if len(n) != len(c):
        raise ValueError(f"{len(n)} numbers of samples and {len(c)} of passes; give both for every task.")
    named = range(1, len(n) + 1) if names is None else names
    for name, samples, passes in zip(named, n, c, strict=True):
        for what, count in (("samples", samples), ("passes", passes)):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise ValueError(f"Task {name} has {count!r} {what}; give a whole number from 0.")
        if passes > samples:
            raise ValueError(f"Task {name} has {passes} passes of {samples} samples; n and c are of one task.")
    known: dict[tuple[int, int], float] = {}
    for samples, passes in {(int(a), int(b)) for a, b in zip(n, c, strict=True)}:
        value = pass_at_k_of_task(samples, passes, int(k))
        known[samples, passes] = np.nan if value is None else value
    return np.array([known[int(a), int(b)] for a, b in zip(n, c, strict=True)], dtype=float)


def pass_at_k_statistic(
    n: Sequence[int], c: Sequence[int], k: int, *, names: Sequence[Hashable] | None = None
) -> Summed:
    """The mean pass@k of the tasks with at least k samples; the others are left out and counted."""
    values = pass_at_k_values(n, c, k, names=names)
    enough = ~np.isnan(values)
    n_few = int((~enough).sum())
    return mean(np.where(enough, values, 0.0), enough, left_out={"few_samples": n_few})


def pass_at_k(
    n: Sequence[int],
    c: Sequence[int],
    k: int,
    *,
    names: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
    drawing: Drawing | None = None,
) -> Outcome:
    """The mean over tasks of the chance that one of k samples passes.

    Parameters
    ----------
    n, c : for every task the samples and how many passed.
    names : of the tasks, for what is said of them; their numbers from 1 else.
    clusters, drawing : how the interval is drawn; no interval without a drawing.

    Returns
    -------
    Outcome; reason `empty` without tasks, `k_gt_n` if any task has fewer samples than k. Details: `largest_k` that all
    tasks allow, `too_few` (the first tasks with fewer, and their samples), and `on_enough`, the figure of the rest.

    Raises
    ------
    ValueError as with `pass_at_k_values`.

    Source: Chen et al. 2021, Evaluating Large Language Models Trained on Code, equation 1.
    Checked against: fixtures/reference/agreement-cases.json O33, O34; fractions.
    """
    statistic = pass_at_k_statistic(n, c, k, names=names)
    on_enough = statistic.figure() if drawing is None else with_intervals([statistic], clusters, drawing)[0]
    named = list(range(1, len(n) + 1) if names is None else names)
    too_few = [(str(name), int(samples)) for name, samples in zip(named, n, strict=True) if samples < k]
    details = {"k": int(k), "n_tasks": len(n), "n_samples": int(sum(n))}
    if not too_few:
        return outcome(on_enough, **details)
    figure = Figure(
        value=None,
        reason="k_gt_n",
        n_items=on_enough.n_items,
        n_ratings=on_enough.n_ratings,
        n_raters=1,
        left_out={"few_samples": len(too_few)},
        interval_reason="k_gt_n" if drawing is not None else None,
    )
    return outcome(
        figure, **details, largest_k=int(min(n)), too_few=tuple(too_few[:20]), on_enough=on_enough
    )


def sample_counts(passed: Sequence[tuple[Hashable, bool]]) -> dict[Hashable, tuple[int, int]]:
    """By task, the samples and how many of them passed, from one record a sample."""
    n, c = Counter(task for task, _ in passed), Counter(task for task, yes in passed if yes)
    return {task: (samples, c[task]) for task, samples in n.items()}
