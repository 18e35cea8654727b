"""What a run of a judge that asks will take, from the first questions about some of its items, before anything is
sent."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotate import lead_queries
from annotate.errors import JobFailed, NotYours, Refused
from annotate.kinds.base import Finding
from annotate.models import Person, Project
from scoring import call_queries, calling, llm, material, queries, running
from scoring.asking import Estimate, First, Prices, Usual, estimate
from scoring.judges.base import Ask, JudgeSpec
from scoring.models import Endpoint, Prompt
from scoring.running import Asking

MOST_LOOKED_AT = 30
USUAL_TOKENS_OUT = 400
"""What an answer is reckoned to take where none was measured."""


def estimate_run(
    *,
    person: Person | None,
    project: Project,
    judge: str,
    endpoint: Endpoint | str,
    phases: Sequence[str] = ("main",),
    settings: Mapping[str, Any] | None = None,
    n_samples: int = 1,
    items: Sequence[int] | None = None,
    points: int | None = None,
    reuse: bool = True,
) -> Estimate:
    """Refused for what a run would be refused for, but for the cap; NotYours for who does not lead the project."""
    if person is not None and not lead_queries.led_projects(person).filter(pk=project.pk).exists():
        raise NotYours
    spec = running.judge_for(project, judge)
    if not spec.asks:
        raise Refused(running.ASKS_NOBODY)
    running.check_samples(n_samples)
    row = running.endpoint_of(project, endpoint)
    complete = running.settings_for(spec, running.with_endpoint(settings or {}, Asking(row)))
    running.check_earlier(spec, project, complete)
    complete = material.completed(spec, project, complete)
    over = running.points_for(spec, project, points)
    _, chosen = running.judged_by(project, phases, items, over, only_succeeded=spec.only_succeeded)
    chosen = material.to_judge(spec, project, complete, chosen)
    running.refuse_second(project, spec, complete, over)
    versions = versions_of(spec, project)
    requests = [
        request
        for item in spread(chosen, MOST_LOOKED_AT)
        if (request := first_request(project, spec, complete, versions, item)) is not None
    ]
    hashes = [llm.hash_of(request) for request in requests]
    stored = call_queries.hashes_with_answers(project, hashes, row.address) if reuse and n_samples == 1 else set()
    firsts = [
        First(calling.tokens_in_of(request), hashed in stored)
        for request, hashed in zip(requests, hashes, strict=True)
    ]
    return estimate(
        n_judgments=len(chosen) * n_samples,
        firsts=firsts,
        usual=usual(spec, project, row),
        prices=Prices(row.price_in, row.price_out),
    )


def spread(items: Sequence[int], most: int) -> list[int]:
    """Some of them, evenly from the first to the last."""
    if len(items) <= most:
        return list(items)
    return [items[place * (len(items) - 1) // (most - 1)] for place in range(most)]


def versions_of(spec: JudgeSpec, project: Project) -> dict[tuple[str, str], Prompt]:
    """The prompts that a run would use; one that nobody has used yet is not written down for this."""
    newest = call_queries.newest_prompts(project, spec.prompts)
    return {
        (key, language): newest.get((key, language)) or Prompt(text=calling.prompts.SHIPPED[key, language])
        for key in spec.prompts
        for language in calling.prompts.LANGUAGES
    }


def first_request(
    project: Project,
    spec: JudgeSpec,
    settings: Mapping[str, Any],
    versions: Mapping[tuple[str, str], Prompt],
    item_id: int,
) -> llm.Request | None:
    """What would be asked first about an item; None where nothing is."""
    item = queries.judged_item(item_id)
    if item is None:
        return None
    trace = running.with_own_text(queries.whole_trace(item.trace), item)
    try:
        view = running.seen_by(spec, project, settings, trace, item)
    except JobFailed:
        return None
    said = spec.step(view, settings, ())
    if isinstance(said, Finding):
        return None
    assert isinstance(said, Ask)
    return calling.request_by(settings["endpoint"], versions, said)


def usual(spec: JudgeSpec, project: Project, endpoint: Endpoint) -> Usual:
    measured = call_queries.usual_of(project, spec.name, endpoint.model)
    if measured is not None:
        return Usual(*measured, is_measured=True)
    return Usual(spec.usual_calls, min(USUAL_TOKENS_OUT, endpoint.max_output_tokens), is_measured=False)
