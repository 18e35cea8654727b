"""Delivery: whether the value a question asks for was computed, reached the agent, and was answered right, and which of
the three a change of delivery moves.

Runs answer items; every item weighs the same, whatever its number of runs. Intervals resample items; those of
differences are repeated over setups. Stages are judged on numeric items only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.methods.delivery_accuracy import accuracy, items
from scoring.methods.delivery_audits import audits
from scoring.methods.delivery_contrasts import differences, tokens
from scoring.methods.delivery_read import ITEM, Study
from scoring.methods.delivery_repeats import fidelity, repeats, replay
from scoring.methods.delivery_schema import SCHEMA
from scoring.methods.delivery_stages import decomposition, seen, stages
from scoring.methods.records import Records
from scoring.methods.tables import Method, MethodReport, Parameter, Said, Words, drawing_of, drawn

TITLE = gettext_noop("Delivery of long tool outputs")
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
    Parameter("most_unparseable", "number", 0.25,
              "share of runs without an answer that can be read that ends a model's test",
              least=0, most=1),
    Parameter("n_flips", "whole", 10_000, "drawn signs behind each p value", "D-06", least=100, most=1_000_000),
    Parameter("pass_at", "text", "1, 2, 4", "k of pass@k"),
)  # fmt: skip


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


METHOD = Method("delivery", TITLE, SCHEMA, report, PARAMETERS)
