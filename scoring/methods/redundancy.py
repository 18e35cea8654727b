"""Redundant steps of agent runs: what experts found, what detectors and a jury of models find of it, and what leaving
the steps out saves.

A finding is a triplet: the step (call and result of one assistant-side tool interaction), its type, and the evidence.
Two are equal only if all three are, in normal form (`stats.groups.triplet`). Intervals resample the tasks of runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from annotate.traces.base import Problem, gettext_noop
from scoring.methods.records import Field, Record, Records, RecordsRefused, RecordType, Schema, Wrong
from scoring.methods.tables import (
    Asked,
    BadSetting,
    By,
    Grid,
    Method,
    MethodReport,
    Parameter,
    Plan,
    Row,
    Said,
    Words,
    coded,
    count_row,
    counted,
    drawing_of,
    drawn,
    rows_of,
    without,
)
from scoring.stats.chance import CohenKappa
from scoring.stats.correlation import pearson, spearman
from scoring.stats.groups import Stat, Triplet, group_agreement, triplet, triplet_agreement
from scoring.stats.statistic import Floats, Mask, ratio
from scoring.stats.sums import Summed, combined, difference, mean, ratio_of_sums, share

TASK, TRAJECTORY = gettext_noop("task"), gettext_noop("trajectory")
TYPES = ("ABN", "DUP", "INC", "EXP")
TYPE_WORDS: dict[str, Words] = {
    "ABN": gettext_noop("abnormal step"),
    "DUP": gettext_noop("duplicated step"),
    "INC": gettext_noop("incorrect step"),
    "EXP": gettext_noop("exploratory step"),
}
NONE_SERVES = -1
"""As the whole evidence: no other step of the run serves."""

TOPS = (1, 5, 10)
WIDE_SPREAD = 0.01
"""Precision under the order of the model and under random orders of ties that differ by more is worth a note."""

# What the records hold.

STEP = Field("step", "wholes", "original message indexes of the call and its result, an assistant-side pair", least=0)
TYPE = Field("type", "text", "type of redundancy", allowed=TYPES)
EVIDENCE = Field(
    "evidence", "wholes", "one pair, pairs one after another, one message, or [-1] where no other step serves", least=-1
)
TRIPLET = (STEP, TYPE, EVIDENCE)


def _shape(steps: Sequence[Mapping[str, Any]], name: str) -> Iterator[Wrong]:
    """What of the index contract can be seen without the run itself."""
    for place, one in enumerate(steps):
        step, evidence = one["step"], one["evidence"]
        if len(step) != 2 or step[0] == step[1]:
            yield Wrong(f"{name}/{place}/step", gettext_noop("Two different indexes, of a call and of its result."))
        if evidence is None:
            continue
        if len(evidence) != 1 and (not evidence or len(evidence) % 2 or NONE_SERVES in evidence):
            yield Wrong(f"{name}/{place}/evidence", gettext_noop("Whole pairs of indexes, one message, or [-1]."))
        elif sorted(evidence) == sorted(step):
            yield Wrong(f"{name}/{place}/evidence", gettext_noop("Another step than the redundant one."))


def _once(steps: Sequence[Mapping[str, Any]], name: str) -> Iterator[Wrong]:
    seen: set[tuple[int, ...]] = set()
    for place, one in enumerate(steps):
        step = tuple(sorted(one["step"]))
        if step in seen:
            yield Wrong(f"{name}/{place}/step", gettext_noop("Every redundant step once in a record."))
        seen.add(step)


def _set_of_steps(values: Mapping[str, Any]) -> Iterator[Wrong]:
    yield from _shape(values["steps"], "steps")
    yield from _once(values["steps"], "steps")


def _jury_answer(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["covered"] != (values["steps"] is not None):
        yield Wrong("steps", gettext_noop("The steps that the juror named, exactly where covered is true."))
    yield from _shape(values["steps"] or (), "steps")


def _detector_answer(values: Mapping[str, Any]) -> Iterator[Wrong]:
    answers, setting = values["answers"] or (), values["setting"]
    if bool(values["failed"]) != (values["answers"] is None):
        yield Wrong("answers", gettext_noop("The answers, or failed: true where nobody could read any."))
    yield from _shape(answers, "answers")
    if setting != "detection":
        yield from _once(answers, "answers")
    needed = {"classification": (), "retrieval": (), "detection": ("type", "evidence", "confidence")}[setting]
    for place, one in enumerate(answers):
        for name in needed:
            if one[name] is None:
                yield Wrong(f"answers/{place}/{name}", gettext_noop("A value, as every detected step has one."))
        if setting == "retrieval" and (one["type"] is None) != (one["evidence"] is None):
            yield Wrong(f"answers/{place}/type", gettext_noop("Type and evidence, or neither where it is unreadable."))


TRAJECTORY_ID = Field("trajectory", "text", "its trajectory", refers="trajectory")
SCHEMA = Schema(
    (
        RecordType(
            "trajectory",
            "One recorded run of an agent on a task that it completed.",
            (
                Field("id", "text", "name of the trajectory"),
                Field("domain", "text", "domain, such as airline"),
                Field("task", "text", "task within the domain; trajectories of a task are resampled together", False),
                Field("model", "text", "model of the agent", False),
                Field("split", "text", "part of the data, such as phase1", False),
                Field("n_steps", "whole", "length, for the length bins", False, unit="steps", least=0),
                Field("state", "text", "why it is no part of the pool", False, allowed=("unresolved", "dropped")),
                Field("exemplar", "truth", "it was shown to detectors or jurors as an example", False),
                Field("tokens_redundant", "number", "of agent messages with a redundant call", False, unit="tokens",
                      least=0),
                Field("tokens_total", "number", "of all agent messages", False, unit="tokens", least=0),
            ),
            key=("id",),
        ),
        RecordType(
            "gold",
            "The redundant steps a trajectory ended with; an empty list where it has none.",
            (TRAJECTORY_ID, Field("steps", "objects", "the triplets", inside=TRIPLET)),
            key=("trajectory",),
            checks=(_set_of_steps,),
        ),
        RecordType(
            "expert",
            "What one expert found in one round.",
            (
                TRAJECTORY_ID,
                Field("expert", "text", "name of the expert"),
                Field("round", "whole", "round of annotation, from 1; 1 where absent", False, least=1),
                Field("steps", "objects", "the triplets", inside=TRIPLET),
            ),
            key=("trajectory", "expert", "round"),
            checks=(_set_of_steps,),
        ),
        RecordType(
            "jury",
            "What one model of the jury found.",
            (
                TRAJECTORY_ID,
                Field("juror", "text", "name of the model"),
                Field("covered", "truth", "one of its attempts could be read"),
                Field("steps", "objects", "the triplets, where covered", False, inside=TRIPLET),
            ),
            key=("trajectory", "juror"),
            checks=(_jury_answer,),
        ),
        RecordType(
            "detector",
            "What a detector answered: types of gold steps (classification), evidence and types of gold steps "
            "(retrieval), or steps in the order it gave them (detection).",
            (
                TRAJECTORY_ID,
                Field("detector", "text", "name of the detector"),
                Field("variant", "text", "variant of its prompt", False),
                Field("setting", "text", "what it was asked", allowed=("classification", "retrieval", "detection")),
                Field("failed", "truth", "no attempt could be read", False),
                Field(
                    "answers",
                    "objects",
                    "one for each step; type and evidence null where that answer could not be read",
                    False,
                    inside=(
                        STEP,
                        replace(TYPE, required=False),
                        replace(EVIDENCE, required=False),
                        Field("confidence", "number", "of a detected step", False, least=0, most=1),
                    ),
                ),
                Field("cost", "number", "of the calls", False, unit="dollars", least=0),
            ),
            key=("trajectory", "detector", "variant", "setting"),
            checks=(_detector_answer,),
        ),
        RecordType(
            "outcome",
            "One run of a task with an experience in the context: none, or a workflow made from a trajectory.",
            (
                Field("domain", "text", "domain of the task"),
                Field("task", "text", "task within the domain"),
                Field("repeat", "whole", "which run of the task", least=0),
                Field("condition", "text", "none, or what the workflow was made from"),
                Field("success", "truth", "the task was done"),
                Field("tokens", "number", "of the agent", unit="tokens", least=0),
            ),
            key=("domain", "task", "repeat", "condition"),
        ),
    )
)

PARAMETERS = (
    Parameter(
        "precision_of", "text", "predictions", "Prec@K divides by min(K, n) of predictions, or gold steps", "B-01",
        allowed=("predictions", "gold"),
    ),
    Parameter(
        "missing_answers", "text", "wrong", "gold that a detector has no record for: wrong, or left out", "B-09",
        allowed=("wrong", "left_out"),
    ),
    Parameter("score_exemplars", "truth", False, "score trajectories that were shown as examples", "B-10"),
    Parameter("length_bins", "text", "8-30,31-53,54-76,77-99,100-122", "bins of n_steps, both ends inside"),
    Parameter("agreeing_jurors", "whole", 2, "jurors whose sets must be equal", least=2, most=99),
    Parameter("cluster", "text", "task", "what is resampled", allowed=("task", "trajectory")),
    Parameter("reference", "text", "", "detector that the others are compared with; the first by name where empty"),
    Parameter("baseline", "text", "none", "condition that experiences are compared with"),
    Parameter("n_resamples_costs", "whole", 4_000, "resamples of tasks behind a correlation", least=100, most=200_000),
)


@dataclass(frozen=True, eq=False)
class Study:
    """The records, read. `pool` are the trajectories with gold that nobody left open or dropped, `scored` those of them
    that were no example; `gold` are the triplets of each."""

    records: Records
    settings: Mapping[str, Any]
    trajectories: Mapping[str, Record]
    gold: Mapping[str, list[Triplet]]
    pool: tuple[str, ...]
    scored: tuple[str, ...]
    bins: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, records: Records, settings: Mapping[str, Any]) -> Study:
        trajectories = {one["id"]: one for one in records["trajectory"]}
        gold = {one["trajectory"]: triplets(one["steps"]) for one in records["gold"]}
        pool = tuple(name for name, one in trajectories.items() if name in gold and not one["state"])
        scored = tuple(
            name for name in pool if settings["score_exemplars"] or not trajectories[name]["exemplar"]
        )
        return cls(records, settings, trajectories, gold, pool, scored, length_bins(settings["length_bins"]))

    def cluster(self, name: str) -> Hashable:
        one = self.trajectories[name]
        if self.settings["cluster"] == "trajectory" or one["task"] is None:
            return ("trajectory", name)
        return (one["domain"], one["task"])

    def clusters(self, names: Iterable[str]) -> list[Hashable]:
        return [self.cluster(name) for name in names]

    def columns(self, names: Sequence[str]) -> dict[str, list[str | None]]:
        """What a table of these trajectories is broken down by."""
        rows = [self.trajectories[name] for name in names]
        by: dict[str, list[str | None]] = {
            gettext_noop("domain"): [one["domain"] for one in rows],
            gettext_noop("agent model"): [one["model"] for one in rows],
            gettext_noop("split"): [one["split"] for one in rows],
            gettext_noop("length"): [self.bin_of(one["n_steps"]) for one in rows],
        }
        return by

    def bin_of(self, n_steps: int | None) -> str | None:
        fitting = (bin for bin in self.bins if n_steps is not None and bin[0] <= n_steps <= bin[1])
        return next((f"{low}-{high}" for low, high in fitting), None)


def triplets(steps: Iterable[Mapping[str, Any]]) -> list[Triplet]:
    return [triplet(one["step"], one["type"], one["evidence"]) for one in steps]


def length_bins(text: str) -> tuple[tuple[int, int], ...]:
    """`8-30,31-53` as pairs of ends; BadSetting where that is no list of bins."""
    bins = []
    for part in text.replace(" ", "").split(","):
        low, dash, high = part.partition("-")
        if not (dash and low.isdecimal() and high.isdecimal() and int(low) <= int(high)):
            expected = Said(gettext_noop("Ends of bins such as 8-30, with commas between bins."))
            raise BadSetting("bad_parameter", "length_bins", expected)
        bins.append((int(low), int(high)))
    return tuple(bins)


def cuts(columns: Mapping[str, Sequence[str | None]], n: int) -> list[tuple[By, Mask]]:
    """All items, then those of each value of each column that has several; items without a value are in no cut."""
    found: list[tuple[By, Mask]] = [((), np.ones(n, dtype=bool))]
    for name, values in columns.items():
        different = sorted({one for one in values if one is not None}, key=_length_order)
        if len(different) > 1 or (different and None in values):
            found += [(((name, value),), np.array([one == value for one in values])) for value in different]
    return found


def _length_order(value: str) -> tuple[int, str]:
    """Bins in the order of their ends, names as texts."""
    low = value.partition("-")[0]
    return (int(low) if low.isdecimal() else -1, value)


# The data set and its experts.


def dataset(study: Study) -> list[Plan | Grid]:
    """How many trajectories and steps there are, and what each mean is a mean of."""
    every = list(study.trajectories)
    n = len(every)
    state = [study.trajectories[name]["state"] for name in every]
    pool = set(study.pool)
    in_pool = np.array([name in pool for name in every], dtype=bool)
    n_steps = np.array([len(study.gold.get(name, ())) for name in every], dtype=float)
    unresolved, dropped = (np.array([one == what for one in state], dtype=bool) for what in ("unresolved", "dropped"))
    is_gold = in_pool & (n_steps > 0)
    clusters = study.clusters(every)
    rows: list[Row] = []
    asked: list[Asked] = []
    for by, inside in cuts(study.columns(every), n):
        rows += [
            count_row(metric, name, int((inside & mask).sum()), gettext_noop("trajectories"), by)
            for metric, name, mask in (
                ("trajectories", gettext_noop("Trajectories"), np.ones(n, dtype=bool)),
                ("unresolved", gettext_noop("Unresolved by the experts"), unresolved),
                ("dropped", gettext_noop("Dropped: the jury did not agree"), dropped),
                ("pool", gettext_noop("Pool: validated, with or without redundant steps"), in_pool),
                ("empty", gettext_noop("Pool without a redundant step"), in_pool & ~is_gold),
                ("gold", gettext_noop("Gold: with redundant steps"), is_gold),
            )
        ]
        total = float(n_steps[inside & in_pool].sum())
        rows.append(count_row("steps", gettext_noop("Redundant steps"), total, gettext_noop("gold trajectories"), by))
        annotated, decided = inside & ~dropped, inside & ~unresolved & (in_pool | dropped)
        parts: list[tuple[str, Words, Summed, Words]] = [
            ("unresolved_share", gettext_noop("Unresolved"), share(unresolved, annotated),
             gettext_noop("trajectories the experts annotated")),
            ("kept_share", gettext_noop("Kept by the jury"), share(~dropped, decided),
             gettext_noop("trajectories kept or dropped")),
            ("steps_per_gold", gettext_noop("Redundant steps per gold trajectory"), mean(n_steps, inside & is_gold),
             gettext_noop("gold trajectories")),
            ("steps_per_pool", gettext_noop("Redundant steps per trajectory of the pool"),
             mean(n_steps, inside & in_pool), gettext_noop("trajectories of the pool")),
        ]  # fmt: skip
        asked += [
            Asked(metric, name, one, clusters, denominator, by, "share" if one.is_share else "mean")
            for metric, name, one, denominator in parts
            if one.counted.any()
        ]
        if by and by[0][0] == "split":
            rows += [
                _plain_share(metric, name, int(mask[inside].sum()), int(mask.sum()), denominator, by)
                for metric, name, mask, denominator in (
                    ("share_of_gold", gettext_noop("Share of gold"), is_gold, gettext_noop("gold trajectories")),
                    ("share_of_pool", gettext_noop("Share of the pool"), in_pool,
                     gettext_noop("trajectories of the pool")),
                )
            ]  # fmt: skip
            rows.append(
                _plain_share(
                    "share_of_steps", gettext_noop("Share of steps"), int(total), int(n_steps[in_pool].sum()),
                    gettext_noop("redundant steps"), by,
                )
            )  # fmt: skip
    asked += _type_shares(study)
    return [Plan("dataset", gettext_noop("Data set"), (*rows, *asked))] if n else []


def _type_shares(study: Study) -> list[Asked]:
    steps = [(name, one) for name in study.pool for one in study.gold[name]]
    names = [name for name, _ in steps]
    types = np.array([one.type for _, one in steps], dtype=object)
    return [
        Asked(
            f"type_{kind.lower()}", TYPE_WORDS[kind], share(types == kind, inside), study.clusters(names),
            gettext_noop("redundant steps"), by,
        )
        for by, inside in cuts(study.columns(names), len(names))
        for kind in TYPES
        if steps
    ]  # fmt: skip


def _plain_share(metric: str, name: Words, k: int, n: int, denominator: Words, by: By) -> Row:
    """What part of the data something is: no sample of anything, so without an interval."""
    figure = replace(counted(k / n), n_items=n, n_ratings=n) if n else without("empty")
    return Row(metric, name, figure, denominator, by, "share", k, n)


def experts(study: Study) -> list[Plan | Grid]:
    """What the experts found alike before they talked. Later rounds are not independent, so only the first counts."""
    said: dict[str, dict[str, list[Triplet]]] = defaultdict(dict)
    for record in study.records["expert"]:
        if record["round"] in (None, 1):
            said[record["trajectory"]][record["expert"]] = triplets(record["steps"])
    if not said:
        return []
    people = sorted({expert for found in said.values() for expert in found})
    common = [name for name, found in said.items() if len(found) > 1]
    rows = [
        count_row("annotated", gettext_noop("Annotated trajectories"), len(said), gettext_noop("trajectories")),
        count_row("common", gettext_noop("Annotated by several experts"), len(common), gettext_noop("trajectories")),
        *(
            count_row(
                "annotated_by", gettext_noop("Annotated by one expert"),
                sum(expert in found for found in said.values()),
                gettext_noop("trajectories"), ((gettext_noop("expert"), expert),),
            )
            for expert in people
        ),
    ]  # fmt: skip
    unequal = [len({frozenset(steps) for steps in said[name].values()}) > 1 for name in common]
    steps = [(name, kind) for name in common for kind in step_disagreements(said[name])]
    kinds = np.array([kind for _, kind in steps], dtype=object)
    clusters, of_step = study.clusters(common), study.clusters(name for name, _ in steps)
    asked = [
        Asked("trajectory_disagreement", gettext_noop("Experts' sets differ"), share(unequal), clusters,
              gettext_noop("trajectories of several experts")),
        Asked("step_disagreement", gettext_noop("Experts' triplets differ"), share(kinds != "same"), of_step,
              gettext_noop("steps that any expert named")),
        Asked("severe_disagreement", gettext_noop("Severe: step or type differs"), share(kinds == "severe"), of_step,
              gettext_noop("steps that any expert named")),
        Asked("minor_disagreement", gettext_noop("Minor: only the evidence differs"), share(kinds == "minor"), of_step,
              gettext_noop("steps that any expert named")),
    ]  # fmt: skip
    f1s = []
    for one, other in combinations(people, 2):
        by = ((gettext_noop("experts"), f"{one}, {other}"),)
        first, second = ([said[name].get(expert) for name in common] for expert in (one, other))
        f1s.append(triplet_agreement(first, second, by="step", stat="f1"))
        asked.append(Asked("pair_f1", gettext_noop("F1 of the steps they named"), f1s[-1], clusters,
                           gettext_noop("steps that either named"), by, "mean"))  # fmt: skip
        asked.append(_kappa_of_types(study, common, first, second, by))
    if f1s:
        mean_f1 = combined(f1s, lambda values: np.asarray(np.mean(values, axis=0), dtype=float))
        asked.insert(4, Asked("mean_pair_f1", gettext_noop("Mean F1 of pairs of experts"), mean_f1, clusters,
                              gettext_noop("pairs of experts"), unit="mean"))  # fmt: skip
    title = gettext_noop("Experts before any discussion (round 1)")
    return [Plan("experts", title, (*rows, *asked))]


def step_disagreements(found: Mapping[str, Sequence[Triplet]]) -> list[str]:
    """For every step that any expert named: `same` triplet of all, `severe` (someone did not name the step, or types
    differ) or `minor` (evidence differs only)."""
    by_step: dict[tuple[int, ...], list[Triplet]] = defaultdict(list)
    for steps in found.values():
        for one in steps:
            by_step[one.step].append(one)
    return [
        "severe"
        if len(same) < len(found) or len({one.type for one in same}) > 1
        else ("same" if len(set(same)) == 1 else "minor")
        for same in by_step.values()
    ]


def _kappa_of_types(
    study: Study,
    names: Sequence[str],
    one: Sequence[list[Triplet] | None],
    other: Sequence[list[Triplet] | None],
    by: By,
) -> Asked:
    """Of steps that both named."""
    matched = [
        (name, a.type, b.type)
        for name, first, second in zip(names, one, other, strict=True)
        for a in first or ()
        for b in second or ()
        if a.step == b.step
    ]
    codes = np.array([[TYPES.index(a), TYPES.index(b)] for _, a, b in matched], dtype=np.int64).reshape(-1, 2)
    statistic, figure = coded(CohenKappa(1.0 - np.eye(len(TYPES))), codes)
    return Asked(
        "pair_type_kappa", gettext_noop("Kappa of the types"), statistic,
        study.clusters(name for name, _, _ in matched), gettext_noop("steps that both named"), by, "kappa",
        point=figure,
    )  # fmt: skip


# Detectors.


@dataclass(frozen=True)
class System:
    """A detector with one variant of its prompt."""

    detector: str
    variant: str | None

    @property
    def name(self) -> str:
        return f"{self.detector}, {self.variant}" if self.variant else self.detector

    @property
    def by(self) -> By:
        variant: By = ((gettext_noop("variant"), self.variant),) if self.variant else ()
        return ((gettext_noop("detector"), self.detector), *variant)


Answers = Mapping[System, Mapping[str, Record]]


def answers_in(study: Study, setting: str) -> Answers:
    """By system, in the order of their names, and trajectory. RecordsRefused for an answer about no gold step."""
    found: dict[System, dict[str, Record]] = defaultdict(dict)
    problems: list[Problem] = []
    for one in study.records["detector"]:
        if one["setting"] != setting:
            continue
        found[System(one["detector"], one["variant"])][one["trajectory"]] = one
        if setting != "detection":
            known = {step.step for step in study.gold.get(one["trajectory"], ())}
            problems += [
                one.place.problem(
                    "unknown_step", f"/answers/{place}/step", expected=gettext_noop("A gold step of its trajectory."),
                    remedy=gettext_noop("Correct the indexes, or add the step to the gold record."),
                )
                for place, answer in enumerate(one["answers"] or ())
                if tuple(sorted(answer["step"])) not in known
            ]  # fmt: skip
    if problems:
        raise RecordsRefused(problems)
    return {system: found[system] for system in sorted(found, key=lambda one: one.name)}


@dataclass(frozen=True, eq=False)
class OfSteps:
    """What a system said of every scored gold step: arrays (n_steps,)."""

    type_right: Mask
    evidence_right: Mask
    readable: Mask
    asked: Mask

    @classmethod
    def of(cls, steps: Sequence[tuple[str, Triplet]], records: Mapping[str, Record], missing: str) -> OfSteps:
        table = np.zeros((len(steps), 4), dtype=bool)
        given = {
            (name, tuple(sorted(one["step"]))): one
            for name, record in records.items()
            for one in record["answers"] or ()
        }
        for place, (name, gold) in enumerate(steps):
            answer = given.get((name, gold.step))
            table[place, 3] = missing == "wrong" or name in records
            if answer is not None and answer["type"] is not None:
                evidence = answer["evidence"]
                table[place, 0] = answer["type"] == gold.type
                table[place, 1] = evidence is not None and triplet(gold.step, gold.type, evidence) == gold
                table[place, 2] = True
        return cls(*table.T)


def types_and_evidence(study: Study) -> list[Plan | Grid]:
    """Accuracy over gold steps: of the type when step and evidence are given, of both when the step is given."""
    steps = [(name, one) for name in study.scored for one in study.gold[name]]
    names = [name for name, _ in steps]
    clusters = study.clusters(names)
    types: list[str | None] = [one.type for _, one in steps]
    columns = {gettext_noop("type"): types, **study.columns(names)}
    kinds = (
        ("classification", "stepcls", gettext_noop("Types of given steps (StepCls)"), gettext_noop("Type right")),
        ("retrieval", "evret", gettext_noop("Evidence and types of given steps (EvidenceRet)"),
         gettext_noop("Type and evidence right")),
    )  # fmt: skip
    tables: list[Plan | Grid] = []
    for setting, prefix, title, name in kinds:
        asked, whole = [], {}
        for system, records in answers_in(study, setting).items():
            said = OfSteps.of(steps, records, study.settings["missing_answers"])
            right = said.type_right if setting == "classification" else said.type_right & said.evidence_right
            left_out = {"not_rated": int((~said.asked).sum())}
            whole[system] = share(right, said.asked, left_out=left_out)
            metrics = [(f"{prefix}_accuracy", name, right)]
            if setting == "retrieval":
                metrics.append((f"{prefix}_type", gettext_noop("Type right"), said.type_right))
                metrics.append((f"{prefix}_evidence", gettext_noop("Evidence right"), said.evidence_right))
            asked += [
                Asked(metric, words, share(yes, said.asked & inside), clusters, gettext_noop("gold steps"),
                      (*system.by, *by))
                for metric, words, yes in metrics
                for by, inside in (cuts(columns, len(steps)) if yes is right else cuts({}, len(steps)))
            ]  # fmt: skip
            asked.append(
                Asked(f"{prefix}_unreadable", gettext_noop("No readable answer (counts as wrong)"),
                      share(~said.readable, said.asked), clusters, gettext_noop("gold steps"), system.by)
            )  # fmt: skip
        asked += _against_reference(study, f"{prefix}_difference", whole, clusters, gettext_noop("gold steps of both"))
        if asked:
            tables.append(Plan(prefix, title, tuple(asked)))
    return tables


def _against_reference(
    study: Study, metric: str, whole: Mapping[System, Summed], clusters: Sequence[Hashable], denominator: Words
) -> list[Asked]:
    """Every system minus the reference, on the same resamples."""
    wanted = study.settings["reference"]
    reference = next((one for one in whole if not wanted or wanted in (one.detector, one.name)), None)
    if reference is None:
        return []
    name = Said(gettext_noop("Minus %(reference)s"), {"reference": reference.name})
    return [
        Asked(metric, name, difference(whole[reference], statistic), clusters, denominator, system.by, "difference")
        for system, statistic in whole.items()
        if system != reference
    ]


@dataclass(frozen=True)
class Ranked:
    """The predictions of one trajectory from most to least confident, one for each step; `hits` says which are gold.
    `n_dropped` predicted a step a second time."""

    hits: tuple[bool, ...]
    confidence: tuple[float, ...]
    types: tuple[str, ...] = ()
    n_dropped: int = 0

    @classmethod
    def of(cls, answers: Iterable[Mapping[str, Any]], gold: Sequence[Triplet]) -> Ranked:
        in_order = sorted(answers, key=lambda one: -one["confidence"])  # stable: ties keep the model's own order
        first: dict[tuple[int, ...], tuple[Triplet, float]] = {}
        for one in in_order:
            first.setdefault(tuple(sorted(one["step"])), (triplets([one])[0], float(one["confidence"])))
        right = set(gold)
        return cls(
            tuple(one in right for one, _ in first.values()),
            tuple(confidence for _, confidence in first.values()),
            tuple(one.type for one, _ in first.values()),
            len(in_order) - len(first),
        )


def precision_at(ranked: Ranked, k: int, *, n: int | None = None) -> float:
    """Hits among the first k, over min(k, n); 0 without predictions. `n` counts predictions unless it is given.

    Checked against: golden-numbers.json r-predk-worked-*.
    """
    below = min(k, len(ranked.hits) if n is None else n)
    return sum(ranked.hits[:k]) / below if below else 0.0


def precision_at_ties(ranked: Ranked, k: int, *, n: int | None = None) -> float:
    """The mean of `precision_at` over all orders of predictions with equal confidence."""
    below = min(k, len(ranked.hits) if n is None else n)
    expected, place = 0.0, 0
    while place < min(k, len(ranked.hits)):
        end = place
        while end < len(ranked.hits) and ranked.confidence[end] == ranked.confidence[place]:
            end += 1
        expected += sum(ranked.hits[place:end]) * min(1.0, (k - place) / (end - place))
        place = end
    return expected / below if below else 0.0


def detection(study: Study) -> list[Plan | Grid]:
    """Prec@K: the mean over trajectories with gold steps. A failed call predicts nothing and scores 0."""
    names = [name for name in study.scored if study.gold[name]]
    clusters, columns = study.clusters(names), study.columns(names)
    denominator = gettext_noop("trajectories with gold steps")
    by_gold = study.settings["precision_of"] == "gold"
    asked: list[Asked] = []
    rows: list[Row] = []
    whole: dict[System, Summed] = {}
    notes: list[Words] = []
    for system, records in answers_in(study, "detection").items():
        ranked = [
            Ranked.of((records[name]["answers"] if name in records else None) or (), study.gold[name]) for name in names
        ]
        is_asked = np.array([study.settings["missing_answers"] == "wrong" or name in records for name in names])
        rank: dict[str, Callable[..., float]] = {"": precision_at, "_ties": precision_at_ties}
        at = {
            suffix: np.array(
                [
                    [of(one, k, n=len(study.gold[name]) if by_gold else None) for k in TOPS]
                    for one, name in zip(ranked, names, strict=True)
                ],
                dtype=float,
            ).reshape(-1, len(TOPS))
            for suffix, of in rank.items()
        }
        whole[system] = mean(at[""][:, 0], is_asked)
        for by, inside in cuts(columns, len(names)):
            asked += _precisions(at[""], is_asked & inside, clusters, (*system.by, *by), "")
        asked += _precisions(at["_ties"], is_asked, clusters, system.by, "_ties")
        asked += [_precision_of_type(kind, ranked, is_asked, clusters, system.by) for kind in TYPES]
        gaps = np.abs(at[""] - at["_ties"])
        wide = [k for k, (a, b) in zip(TOPS, zip(at[""].T, at["_ties"].T, strict=True), strict=True)
                if is_asked.any() and abs((a - b)[is_asked].mean()) > WIDE_SPREAD]  # fmt: skip
        if wide and gaps.any():
            notes.append(
                Said(
                    gettext_noop(
                        "%(detector)s: the order of equally confident predictions moves Prec@%(k)s by more than 1 pp."
                    ),
                    {"detector": system.name, "k": ", ".join(map(str, wide))},
                )
            )
        failed = sum(name not in records or bool(records[name]["failed"]) for name in names)
        rows += [
            count_row("detection_failed", gettext_noop("Without a readable answer"), failed, denominator, system.by),
            count_row("detection_repeated", gettext_noop("Predictions of a step named before, dropped"),
                      sum(one.n_dropped for one in ranked), gettext_noop("predictions"), system.by),
        ]  # fmt: skip
    asked += _against_reference(study, "prec_at_1_difference", whole, clusters, denominator)
    if not asked:
        return []
    table = Plan("stepdet", gettext_noop("Steps found (StepDet)"), (*asked, *rows), tuple(notes))
    return [table]


def _precisions(values: Floats, counts: Mask, clusters: Sequence[Hashable], by: By, suffix: str) -> list[Asked]:
    """Prec@1, 5 and 10 and their mean."""
    denominator = gettext_noop("trajectories with gold steps")
    name = gettext_noop("Prec@%(k)s, ties in random order") if suffix else gettext_noop("Prec@%(k)s")
    of_mean = gettext_noop("Mean of Prec@1, 5, 10, ties in random order") if suffix else gettext_noop(
        "Mean of Prec@1, 5, 10"
    )
    return [
        *(
            Asked(
                f"prec_at_{k}{suffix}", Said(name, {"k": k}), mean(of_k, counts), clusters, denominator, by,
                k=float(of_k[counts].sum()), n=float(counts.sum()),
            )
            for k, of_k in zip(TOPS, values.T, strict=True)
        ),
        Asked(f"prec_mean{suffix}", of_mean, mean(values.mean(axis=1), counts), clusters, denominator, by),
    ]  # fmt: skip


def _precision_of_type(
    kind: str, ranked: Sequence[Ranked], counts: Mask, clusters: Sequence[Hashable], by: By
) -> Asked:
    of_kind = [[hit for hit, type_ in zip(one.hits, one.types, strict=True) if type_ == kind] for one in ranked]
    right, predicted = np.array([sum(hits) for hits in of_kind]), np.array([len(hits) for hits in of_kind])
    return Asked(
        "stepdet_type_precision", gettext_noop("Right among predictions of the type"),
        ratio_of_sums(right, predicted, counts, reason="predicted_empty"), clusters, gettext_noop("predictions"),
        (*by, (gettext_noop("type"), kind)), k=float(right[counts].sum()), n=float(predicted[counts].sum()),
    )  # fmt: skip


def detector_costs(study: Study) -> list[Plan | Grid]:
    """What each detector cost in all, and how many times the cheapest."""
    cost: dict[tuple[System, str], float] = defaultdict(float)
    n_calls: Counter[tuple[System, str]] = Counter()
    for one in study.records["detector"]:
        if one["cost"] is not None:
            key = (System(one["detector"], one["variant"]), one["setting"])
            cost[key] += one["cost"]
            n_calls[key] += 1
    rows: list[Row] = []
    for (system, setting), total in sorted(cost.items(), key=lambda one: (one[0][0].name, one[0][1])):
        by = (*system.by, (gettext_noop("setting"), setting))
        least = min(value for (_, of), value in cost.items() if of == setting)
        n = n_calls[system, setting]
        times = counted(total / least, of=n) if least else without("not_observed")
        of_answers = gettext_noop("answers with a cost")
        rows.append(Row("cost", gettext_noop("Cost"), counted(total, of=n), of_answers, by, "mean"))
        of_least = gettext_noop("cost of the cheapest")
        rows.append(Row("cost_ratio", gettext_noop("Times the cheapest"), times, of_least, by, "mean"))
    return [Plan("detector_costs", gettext_noop("Cost of detectors"), tuple(rows))] if rows else []


# The jury.


@dataclass(frozen=True)
class Consensus:
    """`retained` (enough jurors gave one and the same set), `empty` (and that set is), `no_agreement`, or
    `too_few_covered`."""

    outcome: str
    steps: tuple[Triplet, ...] = ()


OUTCOMES: dict[str, Words] = {
    "retained": gettext_noop("Retained"),
    "no_agreement": gettext_noop("Dropped: no two jurors agree"),
    "too_few_covered": gettext_noop("Dropped: too few jurors covered it"),
    "empty": gettext_noop("Dropped: the jurors agree on no step"),
}


def consensus(sets: Sequence[Sequence[Triplet]], agreeing: int = 2) -> Consensus:
    """What jurors agree on, from the set of each that covered the trajectory. Evidence order plays no part. Where
    different sets are given equally often, there is no agreement."""
    if len(sets) < agreeing:
        return Consensus("too_few_covered")
    times = Counter(frozenset(one) for one in sets).most_common()
    found, n = times[0]
    if n < agreeing or (len(times) > 1 and times[1][1] == n):
        return Consensus("no_agreement")
    in_order = tuple(sorted(found, key=lambda one: (one.step, one.type, one.evidence)))
    return Consensus("retained", in_order) if found else Consensus("empty")


@dataclass(frozen=True, eq=False)
class Jury:
    """The trajectories of the pool that the jury saw, with what each juror named there (None: not covered)."""

    study: Study
    names: tuple[str, ...]
    jurors: tuple[str, ...]
    said: Mapping[str, Mapping[str, list[Triplet] | None]]
    agreed: Mapping[str, Consensus]

    @classmethod
    def of(cls, study: Study) -> Jury:
        said: dict[str, dict[str, list[Triplet] | None]] = defaultdict(dict)
        for one in study.records["jury"]:
            said[one["trajectory"]][one["juror"]] = triplets(one["steps"]) if one["covered"] else None
        names = tuple(name for name in study.scored if name in said)
        agreed = {
            name: consensus([one for one in said[name].values() if one is not None], study.settings["agreeing_jurors"])
            for name in names
        }
        jurors = tuple(sorted({juror for name in names for juror in said[name]}))
        return cls(study, names, jurors, said, agreed)

    @property
    def retained(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if self.agreed[name].outcome == "retained")

    def gold(self, names: Iterable[str]) -> list[list[Triplet]]:
        return [self.study.gold[name] for name in names]

    def domains(self, names: Sequence[str]) -> list[tuple[By, Mask]]:
        return cuts({"domain": [self.study.trajectories[name]["domain"] for name in names]}, len(names))


def jury(study: Study) -> list[Plan | Grid]:
    """All tables of the jury against the experts."""
    seen = Jury.of(study)
    if not seen.names:
        return []
    retained, every = seen.retained, seen.names
    scopes = [("conditional", gettext_noop("retained"), retained), ("end_to_end", gettext_noop("all"), every)]
    asked: list[Asked] = []
    for scope, word, names in scopes:
        predicted = [list(seen.agreed[name].steps) for name in names]
        for by, inside in seen.domains(names):
            asked += _groups(study, scope, _where(names, inside), _where(seen.gold(names), inside),
                             _where(predicted, inside), ((gettext_noop("scope"), Said(word)), *by))  # fmt: skip
    tables: list[Plan | Grid] = [
        Plan("jury_outcomes", gettext_noop("What became of each trajectory"), tuple(_outcomes(seen))),
        Plan("jury_groups", gettext_noop("Jury against experts"), tuple(asked)),
        *_matched(seen),
        Plan("jury_consensus", gettext_noop("Expert steps that jurors named too"), tuple(_levels(seen))),
        Plan("jurors", gettext_noop("Each juror, and pairs of them"), tuple(_jurors(seen))),
    ]
    return tables


def _where(values: Sequence[Any], inside: Mask) -> list[Any]:
    return [one for one, is_in in zip(values, inside.tolist(), strict=True) if is_in]


def _groups(
    study: Study,
    scope: str,
    names: Sequence[str],
    gold: Sequence[list[Triplet]],
    predicted: Sequence[list[Triplet]],
    by: By,
    *,
    whole: bool = True,
) -> list[Asked]:
    """Precision, recall and F1 of steps named, over all and by trajectory. Equal steps match as often as both have
    them."""
    clusters = study.clusters(names)

    def micro(metric: str, name: Words, compared: Any, stat: Stat, denominator: Words) -> Asked:
        statistic = triplet_agreement(gold, predicted, by=compared, stat=stat)
        k, n = _counts(statistic, stat)
        return Asked(metric, name, statistic, clusters, denominator, by, "mean" if stat == "f1" else "share", k=k, n=n)

    def macro(metric: str, name: Words, compared: Any) -> Asked:
        statistic = triplet_agreement(gold, predicted, by=compared, stat="recall", aggregate="macro")
        return Asked(metric, name, statistic, clusters, gettext_noop("trajectories with expert steps"), by)

    def messages(metric: str, name: Words, stat: Stat, denominator: Words) -> Asked:
        sides = [[[[index] for found in one for index in found.step] for one in side] for side in (gold, predicted)]
        statistic = group_agreement(*sides, stat=stat)
        k, n = _counts(statistic, stat)
        return Asked(metric, name, statistic, clusters, denominator, by, k=k, n=n)

    rows = [
        micro("group_precision", gettext_noop("Precision of steps"), "step", "precision", gettext_noop("jury steps")),
        micro("group_recall", gettext_noop("Recall of steps"), "step", "recall", gettext_noop("expert steps")),
        micro("group_recall_type", gettext_noop("Recall of steps with their type"), "step_type", "recall",
              gettext_noop("expert steps")),
        micro("group_f1", gettext_noop("F1 of steps"), "step", "f1", gettext_noop("steps of either")),
    ]  # fmt: skip
    if not whole:
        return rows
    return [
        *rows,
        macro("partial_type", gettext_noop("Mean recall by trajectory, steps with their type"), "step_type"),
        macro("partial_step", gettext_noop("Mean recall by trajectory, steps"), "step"),
        messages("message_precision", gettext_noop("Precision of messages"), "precision",
                 gettext_noop("jury messages")),
        messages("message_recall", gettext_noop("Recall of messages"), "recall", gettext_noop("expert messages")),
    ]  # fmt: skip


def _counts(statistic: Summed, stat: Stat) -> tuple[float | None, float | None]:
    """The counts behind a share of `groups.agreement_of`: its rows are counted, reference, predicted, found, right."""
    _, n_reference, n_predicted, found, right = statistic.features.sum(axis=0).tolist()
    if stat == "precision":
        return right, n_predicted
    return (found, n_reference) if stat == "recall" else (None, None)


def _outcomes(seen: Jury) -> Sequence[Asked | Row]:
    """They add up to the pool. A trajectory without expert steps should come out empty."""
    rows = []
    has_steps = {True: gettext_noop("with expert steps"), False: gettext_noop("without expert steps")}
    of_gold = [bool(one) for one in seen.gold(seen.names)]
    outcome = [seen.agreed[name].outcome for name in seen.names]
    for some, word in has_steps.items():
        by = ((gettext_noop("trajectories"), Said(word)),)
        n = of_gold.count(some)
        rows.append(count_row("jury_pool", gettext_noop("Given to the jury"), n, gettext_noop("trajectories"), by))
        for kind, name in OUTCOMES.items():
            n = sum(one == kind and yes is some for one, yes in zip(outcome, of_gold, strict=True))
            rows.append(count_row(f"jury_{kind}", name, n, gettext_noop("trajectories"), by))
    dropped = sum(one != "retained" and yes for one, yes in zip(outcome, of_gold, strict=True))
    rows.append(
        count_row("jury_dropped", gettext_noop("Dropped, for any reason"), dropped, gettext_noop("trajectories"),
                  ((gettext_noop("trajectories"), Said(has_steps[True])),))
    )  # fmt: skip
    clusters = seen.study.clusters(seen.names)
    kinds = np.array(outcome, dtype=object)
    asked = [
        Asked("retained_share", gettext_noop("Retained"), share(kinds == "retained"), clusters,
              gettext_noop("trajectories given to the jury")),
        Asked("true_negative", gettext_noop("Rightly found empty"), share(kinds == "empty", ~np.array(of_gold)),
              clusters,
              gettext_noop("trajectories without expert steps")),
    ]  # fmt: skip
    return [*rows, *asked]


def _matched(seen: Jury) -> list[Plan | Grid]:
    """Types and evidence of steps that experts and jury both named."""
    pairs = [
        (name, gold, found)
        for name in seen.retained
        for gold in seen.study.gold[name]
        for found in [next((one for one in seen.agreed[name].steps if one.step == gold.step), None)]
        if found is not None
    ]
    clusters = seen.study.clusters(name for name, _, _ in pairs)
    same_type = np.array([gold.type == found.type for _, gold, found in pairs], dtype=bool)
    same_evidence = np.array([gold.evidence == found.evidence for _, gold, found in pairs], dtype=bool)
    is_joint = np.array([len(gold.evidence) > 2 for _, gold, _ in pairs], dtype=bool)
    matched = gettext_noop("steps that both named")
    asked = [
        Asked("type_accuracy", gettext_noop("Same type"), share(same_type), clusters, matched),
        Asked("evidence_agreement", gettext_noop("Same evidence"), share(same_evidence), clusters, matched),
        Asked("evidence_agreement_single", gettext_noop("Same evidence, where the experts' is no joint evidence"),
              share(same_evidence, ~is_joint), clusters, gettext_noop("steps that both named, without joint evidence")),
    ]  # fmt: skip
    rows: list[Asked | Row] = [
        count_row("matched", gettext_noop("Steps that both named"), len(pairs), gettext_noop("steps")),
        *asked,
    ]
    counts = Counter((gold.type, found.type) for _, gold, found in pairs)
    grid = Grid(
        "jury_types",
        gettext_noop("Types of steps that both named"),
        gettext_noop("experts"),
        gettext_noop("jury"),
        tuple(TYPE_WORDS[kind] for kind in TYPES),
        tuple(TYPE_WORDS[kind] for kind in TYPES),
        tuple(tuple(counts[row, column] for column in TYPES) for row in TYPES),
    )
    return [Plan("jury_matched", gettext_noop("Type and evidence of steps that both named"), tuple(rows)), grid]


def _levels(seen: Jury) -> Sequence[Asked | Row]:
    """Of the expert steps, how many at least 1, 2, ... jurors named as the expert did."""
    steps = [(name, one) for name in seen.names for one in seen.study.gold[name]]
    levels: dict[str, tuple[Words, Callable[[Triplet], Hashable]]] = {
        "step": (gettext_noop("The step, by at least %(m)s"), lambda one: one.step),
        "step_type": (gettext_noop("Step and type, by at least %(m)s"), lambda one: (one.step, one.type)),
        "triplet": (gettext_noop("Step, type and evidence, by at least %(m)s"), lambda one: one),
    }
    names = [name for name, _ in steps]
    clusters = seen.study.clusters(names)
    asked = []
    for level, (words, key) in levels.items():
        keys = {
            (name, juror): {key(one) for one in found or ()}
            for name in seen.names
            for juror, found in seen.said[name].items()
        }
        n_same = np.array([sum(key(one) in keys[name, juror] for juror in seen.said[name]) for name, one in steps])
        asked += [
            Asked(f"consensus_{level}_{m}", Said(str(words), {"m": m}), share(n_same >= m, inside), clusters,
                  gettext_noop("expert steps"), by)
            for by, inside in seen.domains(names)
            for m in range(1, len(seen.jurors) + 1)
        ]  # fmt: skip
    return asked


def _jurors(seen: Jury) -> Sequence[Asked | Row]:
    study, asked = seen.study, []
    clusters = study.clusters(seen.names)
    for juror in seen.jurors:
        by: By = ((gettext_noop("juror"), juror),)
        found = [seen.said[name].get(juror) for name in seen.names]
        covered = np.array([one is not None for one in found])
        asked.append(
            Asked("covered", gettext_noop("Covered"), share(covered), clusters,
                  gettext_noop("trajectories given to the jury"), by)
        )  # fmt: skip
        names = _where(seen.names, covered)
        asked += _groups(study, "juror", names, seen.gold(names), _where(found, covered), by, whole=False)
    for one, other in combinations(seen.jurors, 2):
        sides = [(seen.said[name].get(one), seen.said[name].get(other)) for name in seen.names]
        both = np.array([a is not None and b is not None for a, b in sides])
        equal = [set(a or ()) == set(b or ()) for a, b in sides]
        asked.append(
            Asked("coincidence", gettext_noop("Equal sets"), share(equal, both), clusters,
                  gettext_noop("trajectories that both covered"), ((gettext_noop("jurors"), f"{one}, {other}"),))
        )  # fmt: skip
    return asked


# Costs.


def costs(study: Study) -> list[Plan | Grid]:
    """Whether runs of one task with more redundant tokens are longer: after the mean of the task is taken off both."""
    settings = {**study.settings, "n_resamples": study.settings["n_resamples_costs"]}
    drawing = drawing_of(settings, TASK)
    every = [study.trajectories[name] for name in study.pool]
    known = [one for one in every if one["tokens_redundant"] is not None and one["tokens_total"] is not None]
    rows: list[Row] = []
    asked: list[Asked] = []
    for domain in sorted({one["domain"] for one in known}):
        runs = [one for one in known if one["domain"] == domain]
        by: By = (("domain", domain),)
        used, total = ([float(one[name]) for one in runs] for name in ("tokens_redundant", "tokens_total"))
        tasks = [(one["domain"], one["task"] or one["id"]) for one in runs]
        denominator = gettext_noop("trajectories of tasks with several")
        rows += [
            Row("cost_pearson", gettext_noop("Pearson's r of redundant and all tokens"),
                pearson(used, total, groups=tasks, drawing=drawing), denominator, by, "kappa"),
            Row("cost_spearman", gettext_noop("Spearman's rho of redundant and all tokens"),
                spearman(used, total, groups=tasks, drawing=drawing), denominator, by, "kappa"),
        ]  # fmt: skip
        asked.append(
            Asked("token_share", gettext_noop("Tokens of messages with a redundant call"), ratio_of_sums(used, total),
                  tasks, gettext_noop("tokens of agent messages"), by, k=sum(used), n=sum(total))
        )  # fmt: skip
    rows += rows_of(asked, drawing)
    return [Plan("costs", gettext_noop("Cost of redundancy"), tuple(rows))] if rows else []


def experiences(study: Study) -> list[Plan | Grid]:
    """What tasks cost and whether they succeed with a workflow in the context, against none."""
    outcomes, baseline = study.records["outcome"], study.settings["baseline"]
    conditions = sorted({one["condition"] for one in outcomes}, key=lambda name: (name != baseline, name))
    domains = sorted({one["domain"] for one in outcomes})
    rows: list[Row] = []
    asked: list[Asked] = []
    for domain in [*domains, None] if len(domains) > 1 else domains:
        runs = [one for one in outcomes if domain in (None, one["domain"])]
        cell = {name: [one for one in runs if one["condition"] == name] for name in conditions}
        n_base = sum(one["success"] for one in cell.get(baseline, ()))
        for name in conditions:
            of_domain: By = (("domain", domain),) if domain else ()
            by: By = (*of_domain, (gettext_noop("experience"), name))
            n_done = sum(one["success"] for one in cell[name])
            tokens = sum(one["tokens"] for one in cell[name])
            rows += [
                count_row("runs", gettext_noop("Runs"), len(cell[name]), gettext_noop("runs"), by),
                count_row("tokens", gettext_noop("Tokens of the agent"), tokens, gettext_noop("runs"), by),
            ]
            asked.append(
                Asked("success", gettext_noop("Done"), share([one["success"] for one in cell[name]]),
                      [(one["domain"], one["task"]) for one in cell[name]], gettext_noop("runs"), by)
            )  # fmt: skip
            if name == baseline or baseline not in cell:
                continue
            rows.append(
                count_row("success_difference", gettext_noop("Runs done more than without"), n_done - n_base,
                          gettext_noop("runs"), by)
            )  # fmt: skip
            asked.append(_token_reduction([*cell[baseline], *cell[name]], baseline, by))
    if not asked:
        return []
    note = gettext_noop("Tokens saved compare means per run: sums, where both have as many runs. Negative is more.")
    return [Plan("experience", gettext_noop("Experience replays"), (*rows, *asked), (note,))]


def _token_reduction(runs: Sequence[Record], baseline: str, by: By) -> Asked:
    """(T_none - T_cond) / T_none."""
    is_base = np.array([one["condition"] == baseline for one in runs], dtype=bool)
    tokens = np.array([one["tokens"] for one in runs], dtype=float)
    features = np.column_stack(
        [np.ones(len(runs)), is_base, np.where(is_base, tokens, 0.0), ~is_base, np.where(is_base, 0.0, tokens)]
    ).astype(float)

    def saved(sums: Floats) -> Floats:
        without_, with_ = ratio(sums[:, 2], sums[:, 1]), ratio(sums[:, 4], sums[:, 3])
        return ratio(without_ - with_, np.nan_to_num(without_))

    before, after = float(features[:, 2].sum()), float(features[:, 4].sum())
    return Asked(
        "token_reduction", gettext_noop("Tokens saved"), Summed(features, saved),
        [(one["domain"], one["task"]) for one in runs], gettext_noop("tokens without an experience"), by,
        k=before - after if 2 * int(is_base.sum()) == len(runs) else None, n=before,
    )  # fmt: skip


SECTIONS = (dataset, experts, types_and_evidence, detection, detector_costs, jury, costs, experiences)


def report(records: Records, settings: Mapping[str, Any]) -> MethodReport:
    study = Study.of(records, settings)
    drawing = drawing_of(settings, TASK if settings["cluster"] == "task" else TRAJECTORY)
    tables = drawn([plan for section in SECTIONS for plan in section(study)], drawing)
    notes: list[Words] = []
    n_shown = len(study.pool) - len(study.scored)
    if n_shown:
        notes.append(
            Said(gettext_noop("%(n)s trajectories were shown as examples and are not scored."), {"n": n_shown})
        )
    n_waiting = sum(name not in study.gold and not one["state"] for name, one in study.trajectories.items())
    if n_waiting:
        notes.append(Said(gettext_noop("%(n)s trajectories have no gold record and are no part."), {"n": n_waiting}))
    return MethodReport("redundancy", TITLE, settings, tables, tuple(notes))


TITLE = gettext_noop("Redundant steps")
METHOD = Method("redundancy", TITLE, SCHEMA, report, PARAMETERS)
