"""What `panel_agreement` comes back as: values that a page, a command and a file all read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scoring.stats.results import Figure, plain

PanelLevel = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Prevalence:
    """How often a category was chosen; `share` is of all ratings, None where there are none."""

    category: Hashable
    n_ratings: int
    share: float | None


@dataclass(frozen=True)
class PairAgreement:
    """Two raters on the items both rated. Rows of `confusion` are what the first said, columns the second."""

    first: Hashable
    second: Hashable
    n_common: int
    cohen_kappa: Figure
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class OtherRule:
    """The figures as another tie rule would have them. Fractional ties give no kappa."""

    rule: str
    annotator_vs_majority: Figure
    annotator_vs_majority_kappa: Figure | None


@dataclass(frozen=True)
class RaterAgreement:
    """One rater against the majority of the others: the share of equal labels, and Cohen's kappa. `n_ties` counts the
    items whose others tie, whatever the rule. Rows of `confusion` are the majority, columns the rater."""

    rater: Hashable
    n_ratings: int
    annotator_vs_majority: Figure
    annotator_vs_majority_kappa: Figure
    n_ties: int
    n_few_others: int
    confusion: tuple[tuple[int, ...], ...]
    other_rules: tuple[OtherRule, ...]


@dataclass(frozen=True)
class PanelAgreement:
    """What a panel agreed on, with everything the figures rest on.

    `n_items`, `n_raters` and `n_clusters` count those with a rating; `left_out` counts the items that no figure over
    the whole panel compares, and every figure has its own. `n_tied_items` have no single most chosen category.
    `tie_rule` is `exclude` or `toward:CATEGORY`.
    """

    level: PanelLevel
    tie_rule: str
    min_others: int
    min_common: int
    unit: str
    n_clusters: int
    n_resamples: int
    seed: int
    n_items: int
    n_raters: int
    n_ratings: int
    n_tied_items: int
    left_out: Mapping[str, int]
    prevalence: tuple[Prevalence, ...]
    percent_agreement: Figure
    percent_agreement_pair: Figure
    fleiss_kappa: Figure
    krippendorff_alpha: Figure
    mean_cohen_kappa: Figure
    pairs: tuple[PairAgreement, ...]
    raters: tuple[RaterAgreement, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON values; floats with 10 significant digits."""
        value: dict[str, Any] = plain(self)
        return value
