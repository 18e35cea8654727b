"""A judge without a model: the two coarse rules that suggest redundant steps (docs/redundant-steps.md, Suggestions),
standing beside people. It names what the rules find, whether or not people were shown it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import Finding, LabelError
from annotate.kinds.redundancy.schema import SCHEMA, check_schema
from annotate.kinds.redundancy.suggest import suggest
from annotate.rules.requester_view import TextBesideCalls
from annotate.traces.base import Trace, gettext_noop
from scoring.judges.base import JudgeSpec, SettingsError, refuse_unknown


def view(trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private") -> Trace:
    """The whole trajectory, as annotators see it."""
    return trace


def step(view: Trace, settings: Mapping[str, Any]) -> Finding:
    """Every step that a rule finds, with the type and the evidence that it suggests."""
    found = suggest(view, {**SCHEMA, "keywords": settings["keywords"]})
    steps = [{name: one[name] for name in ("step", "type", "evidence", "rules", "keyword")} for one in found]
    by_rule = Counter(rule for one in steps for rule in one["rules"])
    return Finding({"steps": steps, "n_steps": len(steps), "n_by_rule": dict(sorted(by_rule.items()))})


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`keywords`: by type, the words that tell of an error; those of the kind without."""
    refuse_unknown(given, ("keywords",))
    try:
        schema = check_schema({"suggest": True, "keywords": given.get("keywords", SCHEMA["keywords"])})
    except LabelError as error:
        raise SettingsError(*error.problems) from error
    return {"keywords": schema["keywords"]}


JUDGE = JudgeSpec(
    name="heuristics",
    title=gettext_noop("Repeated calls and error words"),
    describe=gettext_noop(
        "Names the steps that repeat an earlier call with the same result, and those whose result holds an error word, "
        "as the suggestions do. It asks no model, and is coarse by design."
    ),
    version="1",
    kinds=("redundancy",),
    view=view,
    step=step,
    settings=read_settings({}),
    read_settings=read_settings,
)
