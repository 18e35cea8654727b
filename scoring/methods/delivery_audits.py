"""People against the automatic verdicts on stages, and why answers were lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.delivery_read import Study
from scoring.methods.delivery_schema import CAUSES
from scoring.methods.records import Record, Records
from scoring.methods.tables import Asked, Plan, Row, Said, coded, count_row
from scoring.stats.chance import CohenKappa
from scoring.stats.sums import share


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
