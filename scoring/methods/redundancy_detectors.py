"""What detectors say of gold steps that they are given, how they differ from one of them, and what they cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotate.traces.base import Problem, gettext_noop
from scoring.methods.records import Record, RecordsRefused
from scoring.methods.redundancy_reachable import reachable
from scoring.methods.redundancy_read import Study, cuts
from scoring.methods.tables import Asked, By, Grid, Plan, Row, Said, Words, counted, without
from scoring.stats.groups import Triplet, triplet
from scoring.stats.statistic import Mask
from scoring.stats.sums import Summed, difference, share


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
    known = {
        gold["trajectory"]: {tuple(sorted(step["step"])) for step in gold["steps"]} for gold in study.records["gold"]
    }
    for one in study.records["detector"]:
        if one["setting"] != setting:
            continue
        found[System(one["detector"], one["variant"])][one["trajectory"]] = one
        if setting != "detection":
            problems += [
                one.place.problem(
                    "unknown_step", f"/answers/{place}/step", expected=gettext_noop("A gold step of its trajectory."),
                    remedy=gettext_noop("Correct the indexes, or add the step to the gold record."),
                )
                for place, answer in enumerate(one["answers"] or ())
                if tuple(sorted(answer["step"])) not in known.get(one["trajectory"], ())
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
                Asked(f"{prefix}_unreadable", gettext_noop("No answer that can be read (counts as wrong)"),
                      share(~said.readable, said.asked), clusters, gettext_noop("gold steps"), system.by)
            )  # fmt: skip
        asked += against_reference(study, f"{prefix}_difference", whole, clusters, gettext_noop("gold steps of both"))
        if asked:
            tables.append(Plan(prefix, title, (*asked, reachable(study, prefix))))
    return tables


def against_reference(
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
