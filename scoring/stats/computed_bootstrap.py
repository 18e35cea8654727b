"""The interval of any statistic that makes one, by the name of the statistic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scoring.stats.draw import DRAWN
from scoring.stats.given import Params
from scoring.stats.intervals import MAX_SHARE_UNDEFINED
from scoring.stats.registry import METRICS, BadParams, Outcome, metric
from scoring.stats.resampling import ENUMERATED
from scoring.stats.results import CONFIDENCE

BOOTSTRAPS = ("cluster_bootstrap", "cohen_kappa_cluster_bootstrap")


@metric("cohen_kappa_cluster_bootstrap")
def cohen_kappa_cluster_bootstrap(data: Any, params: Mapping[str, Any]) -> Outcome:
    """As `cluster_bootstrap`, of Cohen's kappa only."""
    return bootstrap(data, params, "cohen_kappa_cluster_bootstrap", "cohen_kappa")


@metric("cluster_bootstrap")
def cluster_bootstrap(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Data as of the statistic. Params: `bootstrap_of`, its name under `metric` and its params; `output` value, lower
    or upper, with the estimate a detail of the ends; `cluster_of`, `mode`, `n_resamples`, `seed`, `min_clusters`,
    `unit`. An end that is not there has the reason of the interval."""
    return bootstrap(data, params, "cluster_bootstrap", None)


def bootstrap(data: Any, params: Mapping[str, Any], name: str, allowed: str | None) -> Outcome:
    """The interval of a statistic: `bootstrap_of` is its name under `metric`, and its params."""
    asked = Params(name, params)
    inner = asked.take("bootstrap_of")
    if not isinstance(inner, Mapping) or not isinstance(inner.get("metric"), str):
        raise BadParams('bootstrap_of is {"metric": its name, ...} with the params of that statistic.')
    of = inner["metric"]
    if of not in METRICS or of in BOOTSTRAPS or (allowed is not None and of != allowed):
        names = [allowed] if allowed else [one for one in sorted(METRICS) if one not in BOOTSTRAPS]
        raise BadParams(f"bootstrap_of has metric {of!r}; {name} takes: {', '.join(names)}.")
    output = asked.one_of("output", ("value", "lower", "upper"), "value")
    if asked.take("level", CONFIDENCE) != CONFIDENCE:
        raise BadParams(f"Intervals have the level {CONFIDENCE} here.")
    if asked.take("percentile", "numpy linear") != "numpy linear":
        raise BadParams("Percentiles are interpolated as `numpy linear` does.")
    if asked.take("max_undefined_share", MAX_SHARE_UNDEFINED) != MAX_SHARE_UNDEFINED:
        raise BadParams(f"There is no interval where more than {MAX_SHARE_UNDEFINED} of the resamples have no value.")
    asked.take("monte_carlo_tolerance", None)  # of a test, not of the statistic
    mode = asked.one_of("mode", ("auto", "exact", "drawn"), "auto")
    drawn = {one: value for one in DRAWN if one != "mode" and (value := asked.take(one, None)) is not None}
    asked.done()
    drawn.setdefault("seed", 1)
    if mode == "drawn":
        drawn["mode"] = mode
    found = METRICS[of](data, drawn | {key: value for key, value in inner.items() if key != "metric"})
    if mode == "exact" and found.interval is not None and found.interval.method != "enumerated":
        raise BadParams(f"All resamples can be counted up to {ENUMERATED} clusters; here are {found.n_clusters}.")
    found = replace(found, details={**found.details, "of": of})
    return found if output == "value" else bound(found, output)


def bound(found: Outcome, output: str) -> Outcome:
    """One end of the interval as the value; the estimate itself is a detail."""
    details = {**found.details, "estimate": found.value, "output": output}
    if found.interval is None:
        reason = found.reason or found.interval_reason or "too_few_clusters"
        return replace(found, value=None, reason=reason, observed=None, expected=None, details=details)
    end = found.interval.low if output == "lower" else found.interval.high
    return replace(found, value=end, observed=None, expected=None, details=details)
