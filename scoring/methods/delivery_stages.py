"""Whether the value was built, exposed and answered right, which stage a difference goes to, and what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.delivery_contrasts import contrasts_of
from scoring.methods.delivery_read import Study, counts_of, is_correct, is_unreadable, model_by, of_means
from scoring.methods.records import Record
from scoring.methods.tables import Asked, Plan, Row, Words, count_row
from scoring.stats.shapley import FACTORS, factor_statistics, shapley_statistics
from scoring.stats.sums import share

STAGE_WORDS: dict[str, tuple[Words, Words, str]] = {
    "p": (gettext_noop("Built (p)"), gettext_noop("judged runs, items weighted equally"), "build"),
    "s": (gettext_noop("Exposed, of built (s)"), gettext_noop("built runs, items weighted equally"), "exposure"),
    "c": (gettext_noop("Right, of exposed (c)"), gettext_noop("exposed runs, items weighted equally"), "closure"),
    "u": (gettext_noop("Right without built and exposed (u)"), gettext_noop("judged runs, items weighted equally"),
          "unsupported"),
}
SHARE_WORDS: dict[str, Words] = {
    "p": gettext_noop("Share of build"),
    "s": gettext_noop("Share of exposure"),
    "c": gettext_noop("Share of closure"),
    "u": gettext_noop("Share of right answers without the value"),
    "change": gettext_noop("Change of accuracy"),
}


def stages(study: Study) -> list[Plan]:
    """p, s, c and u of each arm: accuracy is p s c + u."""
    rows: list[Asked | Row] = []
    for (model, condition), runs in study.runs.items():
        judged = [one for one in runs if one["built"] is not None]
        if not judged:
            continue
        by = model_by(model, condition)
        of_stage = study.stages(runs)
        numeric = study.is_numeric
        factors = factor_statistics(of_stage)
        on_numeric = [one for one in judged if numeric[study.place[one["item"]]]]
        behind = {
            "p": counts_of(on_numeric, lambda one: one["built"]),
            "s": counts_of(on_numeric, lambda one: one["exposed"], lambda one: one["built"]),
            "c": counts_of(on_numeric, is_correct, lambda one: one["exposed"]),
            "u": counts_of(on_numeric, lambda one: one["correct"] and not one["exposed"]),
        }
        for factor in FACTORS:
            name, denominator, metric = STAGE_WORDS[factor]
            statistic = replace(factors[factor], left_out={"not_observed": int((numeric & ~of_stage.observed).sum())})
            k, n = behind[factor]
            rows.append(Asked(metric, name, statistic, study.names, denominator, by, k=k, n=n))
        unbuilt, unseen, alone = (
            study.item_means(on_numeric, value)
            for value in (
                lambda one: one["correct"] and not one["built"],
                lambda one: one["correct"] and one["built"] and not one["exposed"],
                is_correct,
            )
        )
        unsupported = np.array([not one["exposed"] for one in on_numeric], dtype=bool)
        right = [one["correct"] for one in on_numeric]
        of_items = gettext_noop("judged runs, items weighted equally")
        rows += [
            *(
                Asked(metric, name, of_means(values, among=numeric), study.names, of_items, by)
                for metric, name, values in (
                    ("unsupported_unbuilt", gettext_noop("of u: not built"), unbuilt),
                    ("unsupported_unseen", gettext_noop("of u: built, not exposed"), unseen),
                    ("accuracy_judged", gettext_noop("Accuracy, p s c + u"), alone),
                )
            ),
            Asked("right_unsupported", gettext_noop("Right among runs without the value"), share(right, unsupported),
                  study.clusters_of(on_numeric), gettext_noop("runs not built or not exposed"), by),
            count_row("no_answer", gettext_noop("No answer (counts as wrong)"), sum(map(is_unreadable, on_numeric)),
                      gettext_noop("judged runs"), by),
        ]  # fmt: skip
    note = gettext_noop("Stages are judged on numeric items, and exposure only where the value was built.")
    return [Plan("stages", gettext_noop("Built, exposed, right"), rows, (note,))]


def decomposition(study: Study) -> list[Plan]:
    """Which stage the difference between two arms goes to."""
    rows: list[Asked | Row] = []
    for contrast in contrasts_of(study):
        for model in study.models:
            arms = [study.stages(one.runs(study, model)) for one in (contrast.reference, contrast.arm)]
            if not (arms[0].observed & arms[1].observed).any():
                continue
            by = (*model_by(model), *contrast.by)
            found = shapley_statistics(arms[0], arms[1], missing=study.settings["missing"])
            for factor, of_all in found.items():
                n_unseen = of_all.left_out["not_observed"] - int((~study.is_numeric).sum())
                statistic = replace(of_all, left_out={**of_all.left_out, "not_observed": n_unseen})
                metric = factor if factor == "change" else f"share_{STAGE_WORDS[factor][2]}"
                rows.append(
                    Asked(metric, SHARE_WORDS[factor], statistic, study.names,
                          gettext_noop("numeric items with judged runs of both"),
                          by, "difference")
                )  # fmt: skip
    note = gettext_noop(
        "Shares add up to the change. They assign what was observed and estimate no independent causal effects."
    )
    return [Plan("decomposition", gettext_noop("Which stage a difference goes to (Shapley)"), rows, (note,))]


def seen(study: Study) -> list[Plan]:
    """Whether the report was read at all, whether digits matter, and who fell for the rounding trap."""
    rows: list[Asked | Row] = []
    for (model, condition), runs in study.runs.items():
        by = model_by(model, condition)
        executed = [one for one in runs if one["executed"] and one["report_part_seen"] is not None]
        exposed = [one for one in runs if one["exposed"] and one["seen_precision"] is not None]
        traps = [one for one in runs if one["trap"] and one["chose_truncated_neighbour"] is not None]
        metrics: list[tuple[str, Words, list[Record], Callable[[Record], bool], Words]] = [
            ("report_skipped", gettext_noop("Report skipped"), executed, lambda one: not one["report_part_seen"],
             gettext_noop("runs with a successful execution")),
            ("closure_report", gettext_noop("Right, the value seen as the report prints it"),
             [one for one in exposed if one["seen_precision"] in ("report", "both")], lambda one: one["correct"],
             gettext_noop("exposed runs that saw it so")),
            ("closure_more_digits", gettext_noop("Right, the value seen with more digits only"),
             [one for one in exposed if one["seen_precision"] == "more_digits"], lambda one: one["correct"],
             gettext_noop("exposed runs that saw it so")),
            ("trap", gettext_noop("Answered the cut value"), traps, lambda one: one["chose_truncated_neighbour"],
             gettext_noop("trap runs")),
        ]  # fmt: skip
        rows += [
            Asked(metric, name, share([yes(one) for one in base]), study.clusters_of(base), denominator, by)
            for metric, name, base, yes, denominator in metrics
            if base
        ]
    note = gettext_noop("Closure by precision is observed, not tried: runs that saw more digits may differ otherwise.")
    return [Plan("seen", gettext_noop("What was seen"), rows, (note,))]
