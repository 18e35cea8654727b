"""Delivery: whether the value a question asks for was computed, reached the agent, and was answered right, and which of
the three a change of delivery moves.

Runs answer items; every item weighs the same, whatever its number of runs. Intervals resample items; those of
differences are repeated over setups. Stages are judged on numeric items only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.records import Field, Record, Records, RecordType, Schema, Wrong
from scoring.methods.tables import (
    Asked,
    BadSetting,
    By,
    Method,
    MethodReport,
    Parameter,
    Plan,
    Row,
    Said,
    Words,
    coded,
    count_row,
    drawing_of,
    drawn,
    rows_of,
)
from scoring.stats.chance import CohenKappa
from scoring.stats.passk import pass_at_k, pass_at_k_statistic
from scoring.stats.shapley import FACTORS, Stages, factor_statistics, shapley_statistics
from scoring.stats.significance import holm, sign_flip_test
from scoring.stats.statistic import Floats, Mask, ratio
from scoring.stats.sums import Summed, difference, mean, share

ITEM, SETUP = gettext_noop("item"), gettext_noop("setup")
CAUSES: dict[str, Words] = {
    "retrieval_channel": gettext_noop("retrieval channel"),
    "held_value_error": gettext_noop("error with the value in hand"),
    "build_failure": gettext_noop("build failure"),
    "other": gettext_noop("another cause"),
}


def _run(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["correct"] and values["answer_parse"] not in (None, "ok"):
        yield Wrong("correct", gettext_noop("false, as the run gave no readable answer."))
    if values["exposed"] and not values["built"]:
        yield Wrong("exposed", gettext_noop("false, as exposure is judged only where the value was built."))
    if (values["built"] is None) != (values["exposed"] is None):
        yield Wrong("exposed", gettext_noop("Both of built and exposed, or neither where no stage was judged."))
    if values["chose_truncated_neighbour"] is not None and not values["trap"]:
        yield Wrong("chose_truncated_neighbour", gettext_noop("null, as the run is no rounding trap."))


def _audit(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["exposed"] and not values["built"]:
        yield Wrong("exposed", gettext_noop("false, as exposure is judged only where the value was built."))
    if values["closed"] is not None and not values["exposed"]:
        yield Wrong("closed", gettext_noop("null, as closure is judged only where the value was exposed."))


BUILT = Field("built", "truth", "a successful simulation printed the value", False)
EXPOSED = Field("exposed", "truth", "a tool result delivered to the agent held the value", False)
ITEM_ID = Field("item", "text", "its item", refers="item")
SCHEMA = Schema(
    (
        RecordType(
            "item",
            "A question with lettered options about a value that a simulator prints.",
            (
                Field("id", "text", "name of the item"),
                Field("kind", "text", "numeric where the key is a printed number", allowed=("numeric", "other")),
                Field("setup", "text", "setup of the simulation; items of a setup hang together", False),
                Field("excluded", "text", "why it is no part of the items, where it is not", False),
                Field("under_specified", "truth", "its setup leaves something open", False),
                Field("report_chars", "whole", "length of the report", False, unit="characters", least=0),
                Field("key", "text", "letter of the right option", False),
                Field("key_occurrences", "whole", "matches of the value in the report", False, least=0),
            ),
            key=("id",),
        ),
        RecordType(
            "run",
            "One run of a model on an item under one delivery condition.",
            (
                Field("id", "text", "name of the run"),
                ITEM_ID,
                Field("model", "text", "model of the agent"),
                Field("condition", "text", "delivery condition, such as raw100k, toc, direct"),
                Field("correct", "truth", "the answer is right"),
                Field("headline", "truth", "it counts as the one run of its item and condition", False),
                Field("control", "truth", "it belongs to the control run of its condition", False),
                Field("fixed_index", "truth", "one run that stands for several arms", False),
                Field("answer_parse", "text", "what became of the answer; ok where absent", False,
                      allowed=("ok", "none", "refusal")),
                Field("tokens_in", "number", "input of the run", False, unit="tokens", least=0),
                BUILT,
                EXPOSED,
                Field("executed", "truth", "at least one execution succeeded", False),
                Field("report_part_seen", "truth", "a part of the main report reached the agent", False),
                Field("seen_precision", "text", "digits of the value as it was seen", False,
                      allowed=("report", "more_digits", "both", "none")),
                Field("trap", "truth", "the value was seen with more digits only, and cutting it gives another option",
                      False),
                Field("chose_truncated_neighbour", "truth", "of a trap: that option was answered", False),
            ),
            key=("id",),
            checks=(_run,),
        ),
        RecordType(
            "rerun",
            "One simulation of a run, run again offline.",
            (
                Field("run", "text", "its run", False),
                Field("comparable", "truth", "the log holds the whole report"),
                Field("match", "text", "of a comparable one", False,
                      allowed=("identical", "line_order_only", "different")),
            ),
        ),
        RecordType(
            "audit",
            "What a person decided about the stages of a run.",
            (
                Field("run", "text", "its run", refers="run"),
                Field("auditor", "text", "name of the auditor"),
                BUILT,
                EXPOSED,
                Field("closed", "truth", "right after it was built and exposed", False),
                Field("cause", "text", "of a wrong answer", False, allowed=tuple(CAUSES)),
            ),
            key=("run", "auditor"),
            checks=(_audit,),
        ),
        RecordType(
            "replay",
            "One continuation of a recorded run after its first successful execution, in one arm.",
            (
                ITEM_ID,
                Field("model", "text", "model of the agent"),
                Field("arm", "text", "delivery", allowed=("inline", "toc")),
                Field("repeat", "whole", "which repeat", least=0),
                Field("correct", "truth", "the answer is right"),
                Field("fits_inline", "truth", "the whole report fits", False),
                Field("key_present", "truth", "the report holds the value", False),
            ),
            key=("item", "model", "arm", "repeat"),
        ),
    )
)  # fmt: skip

PARAMETERS = (
    Parameter("inline_limit", "whole", 100_000, "characters that a report delivered inline may have", least=1,
              most=10**9),
    Parameter("reference", "text", "raw100k", "condition that every other is compared with"),
    Parameter(
        "contrasts", "text",
        "toc/direct, toc/cot, toc_report/toc, toc_report/toc@control, toc_round/toc, toc_round/toc@control",
        "further pairs, condition/reference; @control and @headline take only such runs of one side",
    ),
    Parameter("missing", "text", "borrow", "a stage factor not observed in an arm", "D-02",
              allowed=("borrow", "undefined")),
    Parameter("most_unparseable", "number", 0.25, "share of runs without a readable answer that ends a model's test",
              least=0, most=1),
    Parameter("n_flips", "whole", 10_000, "drawn signs behind each p value", "D-06", least=100, most=1_000_000),
    Parameter("pass_at", "text", "1, 2, 4", "k of pass@k"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Study:
    """The items that are not excluded, in the order of the file, with the runs of each model and condition by item."""

    settings: Mapping[str, Any]
    items: tuple[Record, ...]
    place: Mapping[str, int]
    runs: Mapping[tuple[str, str], list[Record]]

    @classmethod
    def of(cls, records: Records, settings: Mapping[str, Any]) -> Study:
        items = tuple(one for one in records["item"] if one["excluded"] is None)
        place = {one["id"]: number for number, one in enumerate(items)}
        runs: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for one in records["run"]:
            if one["item"] in place:
                runs[one["model"], one["condition"]].append(one)
        return cls(settings, items, place, {key: runs[key] for key in sorted(runs, key=_by_condition)})

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(model for model, _ in self.runs))

    @property
    def names(self) -> list[Hashable]:
        return [one["id"] for one in self.items]

    @property
    def setups(self) -> list[Hashable]:
        """An item without a setup is one of its own."""
        return [("item", one["id"]) if one["setup"] is None else ("setup", one["setup"]) for one in self.items]

    @property
    def is_numeric(self) -> Mask:
        return np.array([one["kind"] == "numeric" for one in self.items], dtype=bool)

    def conditions(self, model: str) -> list[str]:
        return [condition for one, condition in self.runs if one == model]

    def clusters_of(self, runs: Sequence[Record]) -> list[Hashable]:
        return [one["item"] for one in runs]

    def item_means(self, runs: Sequence[Record], value: Callable[[Record], float | None]) -> Floats:
        """(n_items,) the mean over the runs of each item; nan where none has a value."""
        total, n = np.zeros(len(self.items)), np.zeros(len(self.items))
        for one in runs:
            known = value(one)
            if known is not None:
                total[self.place[one["item"]]] += known
                n[self.place[one["item"]]] += 1
        return ratio(total, n)

    def stages(self, runs: Sequence[Record]) -> Stages:
        """Of numeric items; nan where no run of the item was judged."""
        numeric = self.is_numeric
        judged = [one for one in runs if one["built"] is not None and numeric[self.place[one["item"]]]]
        return Stages.of(
            self.item_means(judged, lambda one: one["built"]),
            self.item_means(judged, lambda one: one["exposed"]),
            self.item_means(judged, lambda one: one["exposed"] and one["correct"]),
            self.item_means(judged, lambda one: one["correct"]),
        )


CONDITIONS = ("direct", "cot", "raw100k", "toc", "grep", "hybrid", "toc_report", "toc_round")


def _by_condition(key: tuple[str, str]) -> tuple[str, int, str]:
    """By model, then the conditions that are known, then others by name: the same in every file."""
    model, condition = key
    return (model, CONDITIONS.index(condition) if condition in CONDITIONS else len(CONDITIONS), condition)


def is_correct(run: Record) -> float:
    return float(run["correct"])


def of_means(values: Floats, inside: Mask | None = None, *, among: Mask | None = None) -> Summed:
    """The mean of item means; items without a run are left out and counted, of those in question (`among`)."""
    known = ~np.isnan(values)
    asked = np.ones(len(values), dtype=bool) if among is None else among
    base = known & asked if inside is None else known & asked & inside
    return mean(np.where(base, values, 0.0), base, left_out={"not_observed": int((asked & ~known).sum())})


def model_by(model: str, condition: str | None = None) -> By:
    named: By = ((gettext_noop("model"), model),)
    return named if condition is None else (*named, (gettext_noop("condition"), condition))


# Items.


def items(study: Study, records: Records) -> list[Plan]:
    """What was kept, and of it what is numeric, fits inline and is fully specified."""
    every = records["item"]
    kept = study.items
    limit = study.settings["inline_limit"]
    of_kept = gettext_noop("kept items")
    why_excluded = Counter(one["excluded"] for one in every if one["excluded"] is not None)
    rows: list[Asked | Row] = [
        count_row("items", gettext_noop("Items"), len(every), gettext_noop("items")),
        count_row("excluded", gettext_noop("Excluded"), len(every) - len(kept), gettext_noop("items")),
        *(
            count_row("excluded_for", gettext_noop("Excluded"), n, gettext_noop("items"), ((gettext_noop("why"), why),))
            for why, n in sorted(why_excluded.items())
        ),
        count_row("kept", gettext_noop("Kept"), len(kept), gettext_noop("items")),
        count_row("setups", gettext_noop("Setups"), len(set(study.setups)), of_kept),
        count_row("numeric", gettext_noop("Numeric"), int(study.is_numeric.sum()), of_kept),
        count_row("not_numeric", gettext_noop("Not numeric"), int((~study.is_numeric).sum()), of_kept),
        count_row("inlineable", Said(gettext_noop("Report of at most %(n)s characters"), {"n": limit}),
                  sum(one["report_chars"] is not None and one["report_chars"] <= limit for one in kept), of_kept),
        count_row("strict", gettext_noop("With a fully specified setup"),
                  sum(not one["under_specified"] for one in kept), of_kept),
        count_row("key_once", gettext_noop("Whose value stands in the report once"),
                  sum(one["key_occurrences"] == 1 for one in kept), of_kept),
    ]  # fmt: skip
    return [Plan("items", gettext_noop("Items"), rows)] if every else []


def most_common_key(study: Study) -> str | None:
    """The letter that is right most often, the first in the alphabet where several are."""
    keys = Counter(one["key"] for one in study.items if one["key"] is not None)
    return min(keys, key=lambda letter: (-keys[letter], letter)) if keys else None


# Accuracy.


def accuracy(study: Study) -> list[Plan]:
    rows: list[Asked | Row] = []
    every = np.ones(len(study.items), dtype=bool)
    strict = np.array([not one["under_specified"] for one in study.items], dtype=bool)
    for (model, condition), runs in study.runs.items():
        by = model_by(model, condition)
        headline = [one for one in runs if one["headline"]]
        unreadable = np.array([one["answer_parse"] in ("none", "refusal") for one in runs], dtype=bool)
        rows.append(count_row("runs", gettext_noop("Runs"), len(runs), gettext_noop("runs"), by))
        if headline:
            words = gettext_noop("Accuracy of the headline run")
            rows.append(_accuracy_of("accuracy_headline", words, headline, study, every, by))
        for metric, name, inside in (
            ("accuracy", gettext_noop("Accuracy, all runs"), every),
            ("accuracy_numeric", gettext_noop("Accuracy on numeric items"), study.is_numeric),
            ("accuracy_other", gettext_noop("Accuracy on other items"), ~study.is_numeric),
            ("accuracy_strict", gettext_noop("Accuracy on items with a fully specified setup"), strict),
        ):
            if inside is every or 0 < inside.sum() < len(inside):
                rows.append(_accuracy_of(metric, name, runs, study, inside, by))
        rows += [
            Asked("unparseable", gettext_noop("Without a readable answer (counts as wrong)"), share(unreadable),
                  study.clusters_of(runs), gettext_noop("runs"), by),
            count_row("refusals", gettext_noop("Refusals among these"),
                      sum(one["answer_parse"] == "refusal" for one in runs), gettext_noop("runs"), by),
        ]  # fmt: skip
        n_shared = sum(bool(one["fixed_index"]) for one in runs)
        if n_shared:
            shared = gettext_noop("Runs shared with other arms")
            rows.append(count_row("fixed_index", shared, n_shared, gettext_noop("runs"), by))
    if rows:
        rows += _baseline(study)
    return [Plan("accuracy", gettext_noop("Accuracy"), rows)]


EQUALLY = gettext_noop("runs, items weighted equally")


def _accuracy_of(metric: str, name: Words, runs: Sequence[Record], study: Study, inside: Mask, by: By) -> Asked:
    """The mean of item means, with the runs behind it where it is their share. One run an item makes it a share of
    items, which has a score interval at 0 and 1."""
    among = [one for one in runs if inside[study.place[one["item"]]]]
    values = study.item_means(among, is_correct)
    n_right, n = counts_of(among, is_correct)
    statistic = of_means(values, among=inside)
    if n == statistic.counted.sum():
        statistic = share(np.nan_to_num(values) > 0, statistic.counted, left_out=statistic.left_out)
    return Asked(metric, name, statistic, study.names, EQUALLY, by, k=n_right, n=n)


def counts_of(
    runs: Sequence[Record], yes: Callable[[Record], Any], base: Callable[[Record], Any] | None = None
) -> tuple[float | None, float | None]:
    """The runs behind a share whose items weigh the same: so many of so many, where items have equally many runs."""
    if len(set(Counter(one["item"] for one in runs).values())) != 1:
        return None, None
    of = [one for one in runs if base is None or base(one)]
    return float(sum(bool(yes(one)) for one in of)), float(len(of))


def _baseline(study: Study) -> list[Asked | Row]:
    """Always answering the letter that is right most often, and what each condition is above it."""
    letter = most_common_key(study)
    if letter is None:
        return []
    known = np.array([one["key"] is not None for one in study.items], dtype=bool)
    always = share([one["key"] == letter for one in study.items], known)
    name = Said(gettext_noop("Always %(letter)s"), {"letter": letter})
    rows: list[Asked | Row] = [Asked("majority_class", name, always, study.names, gettext_noop("items with a key"))]
    for (model, condition), runs in study.runs.items():
        apart = difference(always, of_means(study.item_means(runs, is_correct)))
        above = Said(gettext_noop("Accuracy minus always %(letter)s"), {"letter": letter})
        rows.append(
            Asked("over_majority_class", above, apart, study.names, gettext_noop("items with a key and a run"),
                  model_by(model, condition), "difference")
        )  # fmt: skip
    return rows


# Differences between arms.


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
    every = sorted({condition for _, condition in study.runs}, key=lambda one: _by_condition(("", one)))
    found = [Contrast(Arm(one), reference) for one in every if one != reference.condition]
    for text in filter(None, (one.strip() for one in study.settings["contrasts"].split(","))):
        arm, slash, other = text.partition("/")
        if not slash:
            raise BadSetting("bad_parameter", "contrasts", PAIRS)
        found.append(Contrast(Arm.of(arm), Arm.of(other)))
    return list(dict.fromkeys(found))


def is_unreadable(run: Record) -> bool:
    return run["answer_parse"] in ("none", "refusal")


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


# Stages.

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


# Everything else.


def repeats(study: Study) -> list[Plan]:
    """pass@k over items, from all runs of a condition."""
    rows: list[Asked | Row] = []
    for (model, condition), runs in study.runs.items():
        of_item: dict[str, list[bool]] = defaultdict(list)
        for one in runs:
            of_item[one["item"]].append(one["correct"])
        n, c = [len(one) for one in of_item.values()], [sum(one) for one in of_item.values()]
        if max(n) < 2:
            continue
        for k in ks_of(study.settings["pass_at"]):
            if k > max(n):
                continue
            by = (*model_by(model, condition), ("k", str(k)))
            statistic = pass_at_k_statistic(n, c, k)
            of_all = pass_at_k(n, c, k, names=list(of_item))
            names: list[Hashable] = list(of_item)
            of_items = gettext_noop("items with a run")
            rows.append(Asked("pass_at_k", gettext_noop("pass@k"), statistic, names, of_items, by, point=of_all))
            if of_all.value is None:
                rows.append(
                    Asked("pass_at_k_enough", gettext_noop("pass@k where there are k runs"), statistic, names,
                          gettext_noop("items with at least k runs"), by)
                )  # fmt: skip
    return [Plan("repeats", gettext_noop("Repeated runs"), rows)]


def ks_of(text: str) -> list[int]:
    """`1, 2, 4` as numbers; BadSetting where that is no list of them."""
    parts = [one.strip() for one in text.split(",") if one.strip()]
    if not parts or not all(one.isdecimal() and int(one) > 0 for one in parts):
        raise BadSetting("bad_parameter", "pass_at", Said(gettext_noop("Whole numbers from 1, with commas.")))
    return [int(one) for one in parts]


def replay(study: Study, records: Records) -> list[Plan]:
    """The index minus the report inline, continued from the same history."""
    rows: list[Asked | Row] = []
    by_model: dict[str, list[Record]] = defaultdict(list)
    for one in records["replay"]:
        if one["item"] in study.place:
            by_model[one["model"]].append(one)
    for model, found in sorted(by_model.items()):
        of_arm = {arm: [one for one in found if one["arm"] == arm] for arm in ("inline", "toc")}
        inline, toc = (study.item_means(of_arm[arm], is_correct) for arm in ("inline", "toc"))
        for subset, words in (
            ("", gettext_noop("all checkpoints")),
            ("fits_inline", gettext_noop("whose report fits inline")),
            ("key_present", gettext_noop("whose report holds the value")),
        ):
            names = {one["item"] for one in found if not subset or one[subset]}
            inside = np.array([one["id"] in names for one in study.items], dtype=bool)
            if not inside.any():
                continue
            effect = difference(of_means(inline, inside), of_means(toc, inside))
            by = (*model_by(model), (gettext_noop("checkpoints"), Said(words)))
            rows.append(
                Asked("replay", gettext_noop("Index minus inline"), effect, study.names,
                      gettext_noop("items replayed in both arms"), by, "difference")
            )  # fmt: skip
    return [Plan("replay", gettext_noop("Paired replay"), rows)]


def fidelity(study: Study, records: Records) -> list[Plan]:
    """Whether simulations came out the same when run again. Counts: they are no sample."""
    comparable = [one for one in records["rerun"] if one["comparable"] and one["match"] is not None]
    if not records["rerun"]:
        return []
    rows: list[Asked | Row] = [
        count_row("reruns", gettext_noop("Simulations run again"), len(records["rerun"]), gettext_noop("simulations"))
    ]
    names: list[Hashable] = [one["run"] if one["run"] is not None else ("alone", n) for n, one in enumerate(comparable)]
    for metric, name, matches in (
        ("rerun_identical", gettext_noop("Identical"), ("identical",)),
        ("rerun_same", gettext_noop("Identical, or only the order of lines differs"), ("identical", "line_order_only")),
    ):
        same = share([one["match"] in matches for one in comparable])
        rows.append(Asked(metric, name, same, names, gettext_noop("comparable simulations")))
    return [Plan("fidelity", gettext_noop("Simulations run again"), rows)]


def audits(study: Study, records: Records) -> list[Plan]:
    """People against the automatic verdicts, on numeric items; and why answers were lost."""
    by_id = {one["id"]: one for runs in study.runs.values() for one in runs}
    pairs = [
        (one, run)
        for one in records["audit"]
        for run in [by_id.get(one["run"])]
        if run is not None and run["built"] is not None and study.is_numeric[study.place[run["item"]]]
        and one["built"] is not None and one["exposed"] is not None
    ]  # fmt: skip
    if not records["audit"]:
        return []
    clusters: list[Hashable] = [run["item"] for _, run in pairs]

    def closed(run: Record) -> bool | None:
        return run["correct"] if run["exposed"] else None

    equal = [
        (one["built"], one["exposed"], one["closed"]) == (run["built"], run["exposed"], closed(run))
        for one, run in pairs
    ]
    audited = gettext_noop("audited runs of numeric items")
    rows: list[Asked | Row] = [
        count_row("audits", gettext_noop("Audits"), len(records["audit"]), gettext_noop("audits")),
        Asked("audit_agreement", gettext_noop("All three stages as the automatic verdict"), share(equal), clusters,
              audited),
    ]  # fmt: skip
    for stage, name, said, verdict in (
        ("built", gettext_noop("Kappa of built"), [one["built"] for one, _ in pairs],
         [run["built"] for _, run in pairs]),
        ("exposed", gettext_noop("Kappa of exposed"), [one["exposed"] for one, _ in pairs],
         [run["exposed"] for _, run in pairs]),
        ("closed", gettext_noop("Kappa of closed"), [one["closed"] for one, _ in pairs],
         [closed(run) for _, run in pairs]),
    ):  # fmt: skip
        both = zip(said, verdict, strict=True)
        codes = np.array([[-1 if one is None else int(one) for one in pair] for pair in both], dtype=np.int64)
        codes = codes.reshape(-1, 2)
        statistic, figure = coded(CohenKappa(1.0 - np.eye(2)), codes)
        rows.append(Asked(f"kappa_{stage}", name, statistic, clusters, audited, (), "kappa", point=figure))
    causes = Counter(
        (by_id[one["run"]]["condition"] if one["run"] in by_id else "", one["cause"])
        for one in records["audit"]
        if one["cause"] is not None
    )
    rows += [
        count_row("cause", name, causes[condition, cause], gettext_noop("audited losses"),
                  ((gettext_noop("condition"), condition), (gettext_noop("cause"), Said(str(name)))))
        for condition in sorted({one for one, _ in causes})
        for cause, name in CAUSES.items()
    ]  # fmt: skip
    n_causes = causes.total()
    rows.append(count_row("losses", gettext_noop("Losses with a cause"), n_causes, gettext_noop("audited losses")))
    note = gettext_noop("Runs to audit may have been picked by outcome: agreement on them says nothing about others.")
    return [Plan("audits", gettext_noop("Stage audit by people"), rows, (note,))]


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
                of_reference, by = gettext_noop("tokens of the reference"), (*model_by(model), *contrast.by)
                words = gettext_noop("Input tokens saved")
                rows.append(Asked("tokens_saved", words, saved, study.names, of_reference, by))
    note = gettext_noop("A difference in tokens may come from files that were optional to read.")
    return [Plan("tokens", gettext_noop("Input tokens"), rows, (note,))]


def report(records: Records, settings: Mapping[str, Any]) -> MethodReport:
    study = Study.of(records, settings)
    plans = [
        *items(study, records),
        *accuracy(study),
        *differences(study),
        *stages(study),
        *decomposition(study),
        *seen(study),
        *repeats(study),
        *replay(study, records),
        *fidelity(study, records),
        *audits(study, records),
        *tokens(study),
    ]
    notes: list[Words] = []
    n_out = sum(one["item"] not in study.place for one in records["run"])
    if n_out:
        notes.append(Said(gettext_noop("%(n)s runs of excluded items are no part."), {"n": n_out}))
    if not records["rerun"]:
        notes.append(gettext_noop("Simulations were not run again."))
    return MethodReport("delivery", TITLE, settings, drawn(plans, drawing_of(settings, ITEM)), tuple(notes))


TITLE = gettext_noop("Delivery of long tool outputs")
METHOD = Method("delivery", TITLE, SCHEMA, report, PARAMETERS)
