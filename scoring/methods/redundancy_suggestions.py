"""What became of the suggestions of rules, and how far being shown them moves what experts say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.records import Record
from scoring.methods.redundancy_read import Study, triplets
from scoring.methods.redundancy_rounds import SEVERAL, of_pair, only
from scoring.methods.redundancy_schema import SHOWN
from scoring.methods.tables import Asked, By, Grid, Plan, Row, Said, Words, count_row
from scoring.stats.groups import Triplet
from scoring.stats.set_panel import mean_of
from scoring.stats.statistic import Mask
from scoring.stats.sums import Summed, combined, mean, share

DECISION_WORDS: dict[str, Words] = {
    "keep": gettext_noop("Kept as suggested"),
    "change": gettext_noop("Kept with another type or other evidence"),
    "reject": gettext_noop("Rejected"),
}
GROUP_WORDS = {"shown": gettext_noop("shown"), "left_off": gettext_noop("left off")}
NOT_OBSERVED = "not_observed"


def first_labels(study: Study) -> list[Record]:
    """What each expert said in the first round: later ones know more than the suggestions."""
    return [one for one in study.records["expert"] if one["round"] in (None, 1)]


def suggestions(study: Study) -> list[Plan | Grid]:
    """By rule. A suggestion that two rules make counts for both, and once in all."""
    rules = {
        (one["trajectory"], tuple(sorted(step["step"]))): tuple(step["rules"])
        for one in study.records["suggested"]
        for step in one["steps"]
    }
    decided = [
        (one["trajectory"], rules.get((one["trajectory"], tuple(sorted(made["step"]))), ()), made["decision"])
        for one in first_labels(study)
        for made in one["decisions"] or ()
    ]
    if not rules and not decided:
        return []
    clusters = study.clusters(name for name, _, _ in decided)
    made = np.array([decision for _, _, decision in decided], dtype=object)
    denominator = gettext_noop("decisions about suggestions")
    rows: list[Asked | Row] = []
    for rule in (None, *sorted({rule for found in rules.values() for rule in found})):
        by: By = ((gettext_noop("rule"), rule),) if rule else ()
        n_found = sum(rule is None or rule in found for found in rules.values())
        inside = np.array([rule is None or rule in found for _, found, _ in decided], dtype=bool)
        rows += [
            count_row("suggested", gettext_noop("Steps that rules point to"), n_found, gettext_noop("steps"), by),
            count_row("decisions", gettext_noop("Decisions about them"), int(inside.sum()), denominator, by),
            *(
                Asked(f"suggestion_{name}", words, share(made == name, inside), clusters, denominator, by)
                for name, words in DECISION_WORDS.items()
            ),
        ]
    return [Plan("suggestions", gettext_noop("Suggestions of the rules (round 1)"), rows)]


@dataclass(frozen=True, eq=False)
class Compared:
    """A statistic of the trajectories with suggestions and the same of those where they were left off."""

    metric: str
    name: Words
    unit: str
    denominator: Words
    groups: tuple[Summed, Summed]
    trajectories: Sequence[str]

    def rows(self, study: Study) -> Iterator[Asked]:
        clusters = study.clusters(self.trajectories)
        for group, summed in zip(SHOWN, self.groups, strict=True):
            by: By = ((gettext_noop("suggestions"), Said(GROUP_WORDS[group])),)
            yield Asked(self.metric, self.name, summed, clusters, self.denominator, by, self.unit)
        unit = "difference" if self.unit == "share" else self.unit
        by = ((gettext_noop("suggestions"), Said(gettext_noop("shown minus left off"))),)
        yield Asked(f"{self.metric}_difference", self.name, apart(*self.groups), clusters, self.denominator, by, unit)


def apart(shown: Summed, left_off: Summed) -> Summed:
    return combined([shown, left_off], lambda values: values[0] - values[1], reason=NOT_OBSERVED)


def anchoring(study: Study) -> list[Plan | Grid]:
    """Trajectories whose suggestions were shown beside those drawn to go without, on labels of the first round. It is
    said where none went without."""
    known = {name: one["suggestions"] for name, one in study.trajectories.items() if one["suggestions"]}
    labels = [one for one in first_labels(study) if one["trajectory"] in known]
    if not labels:
        return []
    rows: list[Asked | Row] = [
        count_row("trajectories", gettext_noop("Trajectories"), n, gettext_noop("trajectories"), by)
        for group in SHOWN
        for by in (((gettext_noop("suggestions"), Said(GROUP_WORDS[group])),),)
        for n in (len({one["trajectory"] for one in labels if known[one["trajectory"]] == group}),)
    ]
    for compared in (*of_labels(labels, known), *of_suggested(study, labels, known), of_experts(study, known)):
        rows += compared.rows(study)
    notes: tuple[Words, ...] = ()
    if "left_off" not in {known[one["trajectory"]] for one in labels}:
        notes = (gettext_noop("Suggestions were left off nowhere, so nothing tells how far they move labels."),)
    return [Plan("anchoring", gettext_noop("How far suggestions move labels (round 1)"), rows, notes)]


def of_labels(labels: Sequence[Record], known: dict[str, str]) -> Iterator[Compared]:
    names = [one["trajectory"] for one in labels]
    n_steps = np.array([len(one["steps"]) for one in labels], dtype=float)
    masks = masks_of(names, known)
    denominator = gettext_noop("labels")
    found = tuple(unobserved(share(n_steps > 0, inside)) for inside in masks)
    yield Compared("found", gettext_noop("Labels that name a redundant step"), "share", denominator,
                   (found[0], found[1]), names)  # fmt: skip
    means = tuple(unobserved(mean(n_steps, inside)) for inside in masks)
    yield Compared("steps_per_label", gettext_noop("Redundant steps of a label"), "mean", denominator,
                   (means[0], means[1]), names)  # fmt: skip


def of_suggested(study: Study, labels: Sequence[Record], known: dict[str, str]) -> Iterator[Compared]:
    """Of the steps that rules point to, shown or not, how many experts name: by themselves, and just as suggested."""
    pointed = {one["trajectory"]: triplets(one["steps"]) for one in study.records["suggested"]}
    names: list[str] = []
    named: list[bool] = []
    just_so: list[bool] = []
    for label in labels:
        answer = study.answers[1][label["trajectory"]][label["expert"]]
        said: dict[tuple[int, ...], Triplet] = {one.step: one for one in answer}
        for suggestion in pointed.get(label["trajectory"], ()):
            names.append(label["trajectory"])
            named.append(suggestion.step in said)
            just_so.append(said.get(suggestion.step) == suggestion)
    masks = masks_of(names, known)
    denominator = gettext_noop("steps that rules point to, once for each label")
    for metric, name, values in (
        ("suggested_named", gettext_noop("Steps that rules point to which a label names"), named),
        ("suggested_just_so", gettext_noop("The same with the suggested type and evidence"), just_so),
    ):
        shares = [unobserved(share(np.array(values, dtype=bool), inside)) for inside in masks]
        yield Compared(metric, name, "share", denominator, (shares[0], shares[1]), names)


def of_experts(study: Study, known: dict[str, str]) -> Compared:
    """Whether experts agree more where all were shown the same suggestions."""
    answers = study.answers.get(1, {})
    names = [name for name, found in answers.items() if name in known and len(found) > 1]
    people = sorted({expert for name in names for expert in answers[name]})
    sets = [
        [None if (steps := answers[name].get(expert)) is None else frozenset(steps) for name in names]
        for expert in people
    ]
    pairs = [of_pair(one, other, "exact") for one, other in combinations(sets, 2)]
    nobody = Summed(np.zeros((len(names), 2)), lambda sums: np.full(len(sums), np.nan), reason=NOT_OBSERVED)
    of_all = mean_of(pairs) if pairs else nobody
    groups = [replace(only(of_all, inside, {}), reason=NOT_OBSERVED) for inside in masks_of(names, known)]
    return Compared("set_equal", gettext_noop("Equal sets of triplets, mean over pairs of experts"), "share", SEVERAL,
                    (groups[0], groups[1]), names)  # fmt: skip


def masks_of(names: Sequence[str], known: dict[str, str]) -> list[Mask]:
    return [np.array([known[name] == group for name in names], dtype=bool) for group in SHOWN]


def unobserved(summed: Summed) -> Summed:
    """Where nothing was shown, or left off, that is said."""
    return replace(summed, reason=NOT_OBSERVED)
