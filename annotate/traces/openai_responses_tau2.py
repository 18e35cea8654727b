"""A NeMo Gym rollout of tau2, which holds one run twice: as Responses items and as the simulation of tau2.

The simulation is read. Only there the requester's own tools are theirs, the signs that end a run are known, and the
requester has a briefing; the items show the agent's side alone. They are compared with it, passed over and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotate.traces.base import Place, Problem, Trace, gettext_noop
from annotate.traces.openai_responses_items import type_of
from annotate.traces.openai_responses_parts import text_of, without_data
from annotate.traces.openai_responses_records import FORMAT_NAME, Run, is_rollout, said_once
from annotate.traces.tau2_bench import Results, read_simulation
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import passed_over


def is_tau2(value: Any) -> bool:
    there = as_object(value)
    return is_rollout(there) and isinstance(as_object(there.get("result")).get("messages"), list)


def read_tau2(value: Mapping[str, Any], place: Place) -> Iterator[Run | Problem]:
    """The simulation of a rollout; the same run as Responses items is compared with it and passed over."""
    simulation = value["result"]
    task, config = as_object(value.get("task")), as_object(value.get("config"))
    task_id = as_id(simulation.get("task_id"))
    results = Results(
        info={"environment_info": {"domain_name": config.get("domain")}}, tasks={task_id: task} if task else None
    )
    for found in read_simulation(simulation, replace(place, prefix=f"{place.prefix}/result"), results):
        if isinstance(found, Problem):
            yield found
            continue
        yield passed_over(place, "repeated_record", "/response/output", "the same run as Responses items")
        metadata = {**found.metadata, **tau2_metadata(value, found)}
        metadata.pop("info", None)
        missing = unsaid(value, simulation)
        if missing:
            yield other_copy(place, len(missing))
            metadata["responses_items"] = missing
        trace = replace(found, format=FORMAT_NAME, metadata=metadata, place=place)
        yield Run(trace, (found.source_id,), True)


def tau2_metadata(value: Mapping[str, Any], trace: Trace) -> dict[str, Any]:
    """The rest of the rollout. Model and usage stand in the agent's messages: the models in order of first use, and
    the sum of the tokens."""
    own = ("responses_create_params", "response", "result", "task")
    extras = as_object(trace.metadata.get("messages"))
    agent = [as_object(extras.get(str(one.index))) for one in trace.messages if one.role == "assistant"]
    models = list(dict.fromkeys(as_id(as_object(one.get("raw_data")).get("model")) for one in agent))
    usage: dict[str, float] = {}
    for one in agent:
        for name, number in as_object(one.get("usage")).items():
            if isinstance(number, int | float) and not isinstance(number, bool):
                usage[name] = usage.get(name, 0) + number
    models = [model for model in models if model]
    found = said_once({"reward": value.get("reward")}, value["response"], value["responses_create_params"])
    return {
        **found,
        **({"model": models[0] if len(models) == 1 else models} if models else {}),
        **({"usage": usage} if usage else {}),
        "record": without_data({key: member for key, member in value.items() if key not in own}),
    }


def unsaid(value: Mapping[str, Any], simulation: Mapping[str, Any]) -> list[Any]:
    """Texts of the items that the simulation does not have, which should be none but the system prompt's."""
    said = {as_object(message).get("content") for message in simulation["messages"] if is_text(message)}
    items = [*as_list(value["responses_create_params"].get("input")), *as_list(value["response"].get("output"))]
    return [
        without_data(item)
        for item in items
        if type_of(item) == "message" and item.get("role") in ("user", "assistant")
        and (text_of(item.get("content"))[0] or "").strip() and text_of(item.get("content"))[0] not in said
    ]


def other_copy(place: Place, n: int) -> Problem:
    return place.problem(
        "other_copy",
        "/response/output",
        expected=gettext_noop("The same messages as items and in the simulation; items that it does not have: %(n)s."),
        remedy=gettext_noop("The simulation is read; these items are kept with the private data of the trace."),
        warning=True,
        n=n,
    )


def is_text(message: Any) -> bool:
    return isinstance(as_object(message).get("content"), str)
