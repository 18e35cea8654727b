"""The items, and how often each condition answers them right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.delivery_read import Study, counts_of, is_correct, model_by, of_means
from scoring.methods.records import Record, Records
from scoring.methods.tables import Asked, By, Plan, Row, Said, Words, count_row
from scoring.stats.statistic import Mask
from scoring.stats.sums import difference, share


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
            Asked("unparseable", gettext_noop("Without an answer that can be read (counts as wrong)"),
                  share(unreadable),
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


def most_common_key(study: Study) -> str | None:
    """The letter that is right most often, the first in the alphabet where several are."""
    keys = Counter(one["key"] for one in study.items if one["key"] is not None)
    return min(keys, key=lambda letter: (-keys[letter], letter)) if keys else None
