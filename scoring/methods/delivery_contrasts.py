"""Pairs of conditions, and the difference between the arms of each in accuracy and in input tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.delivery_read import SETUP, Study, by_condition, is_correct, is_unreadable, model_by, of_means
from scoring.methods.records import Record
from scoring.methods.tables import Asked, BadSetting, By, Plan, Row, Said, drawing_of, rows_of
from scoring.stats.significance import holm, sign_flip_test
from scoring.stats.statistic import ratio
from scoring.stats.sums import Summed, difference

PAIRS = Said(
    gettext_noop("Pairs such as toc/raw100k with commas; @control or @headline takes such runs alone.")
)


@dataclass(frozen=True)
class Arm:
    """A condition, or only its headline or control runs."""

    condition: str
    only: str = ""

    @classmethod
    def of(cls, text: str) -> Arm:
        condition, _, only = text.strip().partition("@")
        if not condition or only not in ("", "control", "headline"):
            raise BadSetting("bad_parameter", "contrasts", PAIRS)
        return cls(condition, only)

    @property
    def words(self) -> str:
        return f"{self.condition} ({self.only})" if self.only else self.condition

    def runs(self, study: Study, model: str) -> list[Record]:
        runs = study.runs.get((model, self.condition), [])
        return [one for one in runs if one[self.only]] if self.only else runs


@dataclass(frozen=True)
class Contrast:
    """`arm` minus `reference`."""

    arm: Arm
    reference: Arm

    @property
    def by(self) -> By:
        return ((gettext_noop("contrast"), f"{self.arm.words} - {self.reference.words}"),)


def contrasts_of(study: Study) -> list[Contrast]:
    """Every condition against the reference, then the pairs asked for; BadSetting for a pair that is none."""
    reference = Arm(study.settings["reference"])
    every = sorted({condition for _, condition in study.runs}, key=lambda one: by_condition(("", one)))
    found = [Contrast(Arm(one), reference) for one in every if one != reference.condition]
    for text in filter(None, (one.strip() for one in study.settings["contrasts"].split(","))):
        arm, slash, other = text.partition("/")
        if not slash:
            raise BadSetting("bad_parameter", "contrasts", PAIRS)
        found.append(Contrast(Arm.of(arm), Arm.of(other)))
    return list(dict.fromkeys(found))


def differences(study: Study) -> list[Plan]:
    """Item means of one arm minus those of another, with p values corrected over the models compared."""
    rows: list[Asked | Row] = []
    denominator = gettext_noop("items with runs of both")
    for contrast in contrasts_of(study):
        tested: list[tuple[By, Row]] = []
        for model in study.models:
            arm, reference = (one.runs(study, model) for one in (contrast.arm, contrast.reference))
            if not arm or not reference:
                continue
            by = (*model_by(model), *contrast.by)
            after, before = (study.item_means(one, is_correct) for one in (arm, reference))
            apart = difference(of_means(before), of_means(after))
            rows.append(
                Asked("difference", gettext_noop("Difference in accuracy"), apart, study.names, denominator, by,
                      "difference")
            )  # fmt: skip
            if len(set(study.setups)) < len(study.items):
                by_setup = rows_of(
                    [Asked("difference_by_setup", gettext_noop("The same, interval over setups"), apart, study.setups,
                           denominator, by, "difference")],
                    drawing_of(study.settings, SETUP),
                )  # fmt: skip
                rows += by_setup
            p = sign_flip_test(after - before, n_draws=study.settings["n_flips"], seed=study.settings["seed"])
            words = gettext_noop("p of a sign flip of item differences")
            tested.append((by, Row("p", words, p, denominator, by, "p")))
        rows += _family(study, contrast, tested)
    return [Plan("differences", gettext_noop("Arms against each other"), rows)]


def _family(study: Study, contrast: Contrast, tested: Sequence[tuple[By, Row]]) -> list[Asked | Row]:
    """Holm over the models of a contrast, without those that too often gave no readable answer."""
    limit = study.settings["most_unparseable"]
    in_family = []
    for by, row in tested:
        arms = [one.runs(study, str(dict(by)["model"])) for one in (contrast.arm, contrast.reference)]
        readable = all(sum(map(is_unreadable, runs)) <= limit * len(runs) for runs in arms)
        in_family.append(row.figure.value if readable else None)
    adjusted = holm(in_family)
    rows: list[Asked | Row] = []
    for (by, row), p in zip(tested, adjusted.adjusted, strict=True):
        if p is None and row.figure.value is not None:
            rows.append(replace(row, figure=replace(row.figure, flags=(*row.figure.flags, "not_tested"))))
            continue
        rows.append(row)
        if p is not None:
            words = Said(gettext_noop("p after Holm over %(n)s models"), {"n": adjusted.n_tested})
            rows.append(Row("p_holm", words, replace(row.figure, value=p), row.denominator, by, "p"))
    return rows


def tokens(study: Study) -> list[Plan]:
    """Input tokens by item, and what a condition saves against the others."""
    rows: list[Asked | Row] = []
    values = {key: study.item_means(runs, lambda one: one["tokens_in"]) for key, runs in study.runs.items()}
    for (model, condition), of_condition in values.items():
        if np.isnan(of_condition).all():
            continue
        rows.append(Asked("tokens_in", gettext_noop("Input tokens per item"), of_means(of_condition), study.names,
                          gettext_noop("items with a logged run"), model_by(model, condition), "tokens"))  # fmt: skip
    for contrast in contrasts_of(study):
        for model in study.models:
            arms = [study.item_means(one.runs(study, model), lambda one: one["tokens_in"])
                    for one in (contrast.reference, contrast.arm)]  # fmt: skip
            both = ~np.isnan(arms[0]) & ~np.isnan(arms[1])
            if both.any():
                features = np.column_stack([both, *(np.where(both, one, 0.0) for one in arms)]).astype(float)
                saved = Summed(features, lambda sums: ratio(sums[:, 1] - sums[:, 2], sums[:, 1]))
                of_reference, by = gettext_noop("tokens of the arm compared with"), (*model_by(model), *contrast.by)
                words = gettext_noop("Input tokens saved")
                rows.append(Asked("tokens_saved", words, saved, study.names, of_reference, by))
    note = gettext_noop("A difference in tokens may come from files that were optional to read.")
    return [Plan("tokens", gettext_noop("Input tokens"), rows, (note,))]
