"""Whatever was run more than once: repeats of a run, paired replays, simulations run again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.delivery_read import Study, is_correct, model_by, of_means
from scoring.methods.records import Record, Records
from scoring.methods.tables import Asked, BadSetting, Plan, Row, Said, count_row
from scoring.stats.passk import pass_at_k, pass_at_k_statistic
from scoring.stats.sums import difference, share


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
