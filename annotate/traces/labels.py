"""Labels of runs that lie in a file of their own beside the runs, brought into the form of `labels_form.py`.

A label file is AgentRx's: records of {trajectory_id, failures, root_cause, failure_summary}; it holds no run. The file
does not say its base: steps count from 1. Of the published Magentic-One labels 16 name as step the number of all steps
of their run and none a higher one, and the agent they blame is that of the step counted from 1 in 156 of 185, from 0 in
32; in the retail runs the messages carry their number (`index`, the first is 1), and 33 of 34 fit. All labels of a file
are held in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotate.traces.base import Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.labels_form import Steps, at_step, file_stem, no_such_step, number_of
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import passed_over, unknown_record

FIRST_STEP = 1
"""The number that AgentRx gives the first step of a run."""
FAILURE = {"step_reason": "reason", "failure_category": "category", "failed_agent": "agent"}
"""Members of a failure under the names that all labels share."""
OURS = frozenset({"kind", "index", "step_in_file", "step_base", "is_root_cause"})
"""Names of our own form; what a file calls so gets another name."""
RECORD = ("trajectory_id", "failures", "root_cause", "failure_summary")


@dataclass(frozen=True, slots=True)
class Labels:
    """One record of a label file, and where it stands."""

    value: Mapping[str, Any]
    place: Place


@dataclass(frozen=True, slots=True)
class LabelFile:
    """Labels by the id of their run, as the file has it: a text or a number. One run may have several records."""

    by_id: Mapping[str | int, tuple[Labels, ...]]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Attached:
    """A trace with its labels, the id under which they stood (None where there are none), and what to warn of."""

    trace: Trace
    id: str | int | None = None
    problems: tuple[Problem, ...] = ()


def is_labels(value: Any) -> bool:
    """One record of a label file: the id of a run, and failures that name steps."""
    if not isinstance(value, dict) or run_id(value) is None or not isinstance(value.get("failures"), list):
        return False
    names_steps = all(isinstance(failure, dict) and "step_number" in failure for failure in value["failures"])
    return names_steps and ("root_cause" in value or "failure_summary" in value)


def run_id(value: Mapping[str, Any]) -> str | int | None:
    found = value.get("trajectory_id")
    is_number = isinstance(found, int) and not isinstance(found, bool)
    return found if is_number or (isinstance(found, str) and found) else None


def read_labels(documents: Iterable[Document | Problem]) -> LabelFile:
    """All records of a label file. The same record once more is passed over; another one of the same run is kept."""
    by_id: dict[str | int, tuple[Labels, ...]] = {}
    problems: list[Problem] = []
    for document in documents:
        if isinstance(document, Problem):
            problems.append(document)
        elif not is_labels(document.value):
            expected = gettext_noop("An object with trajectory_id, failures that name a step_number, and root_cause.")
            problems.append(unknown_record(document.place, expected))
        else:
            id_ = document.value["trajectory_id"]
            before = by_id.get(id_, ())
            if any(labels.value == document.value for labels in before):
                problems.append(passed_over(document.place, "repeated_record", "", f"trajectory_id {id_}"))
            else:
                by_id[id_] = (*before, Labels(document.value, document.place))
    return LabelFile(by_id, tuple(problems))


def attached(trace: Trace, labels: LabelFile) -> Attached:
    """The trace with the labels that its source id, its file's stem or its task id finds, added to those it has."""
    id_ = next((id_ for id_ in ids_of(trace) if id_ in labels.by_id), None)
    if id_ is None:
        return Attached(trace)
    steps = steps_of(trace)
    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for record in labels.by_id[id_]:
        found += labels_of(record.value, steps)
        problems += warnings_of(record, steps)
    metadata = {**trace.metadata, "labels": [*as_list(trace.metadata.get("labels")), *found]}
    return Attached(replace(trace, metadata=metadata), id_, tuple(problems))


def ids_of(trace: Trace) -> Iterator[str | int]:
    """What a label file may call a run. A task has many runs, so its id counts only where the messages are numbered,
    as they are in the files these labels are made for; a number is always the id of a task."""
    yield from (name for name in (trace.source_id, file_stem(trace.place.file)) if name)
    task = trace.metadata.get("task_id")
    if numbers_of(trace) and isinstance(task, int | str) and not isinstance(task, bool):
        yield task
        yield str(task)
        if (number := number_of(task)) is not None:
            yield number


def steps_of(trace: Trace) -> Steps:
    said = as_object(trace.metadata.get("steps"))
    first, n_steps = number_of(said.get("first_index")), number_of(said.get("n_steps"))
    if first is not None and n_steps is not None:
        return Steps(first, n_steps)
    return Steps(0, len(trace.messages), numbers_of(trace))


def numbers_of(trace: Trace) -> dict[int, int]:
    """The number that each message carries as `index` in its file, with our index."""
    extras = as_object(trace.metadata.get("messages"))
    numbers = {
        number_of(as_object(extras.get(str(message.index))).get("index")): message.index for message in trace.messages
    }
    return {number: index for number, index in numbers.items() if number is not None}


def labels_of(record: Mapping[str, Any], steps: Steps) -> Iterator[dict[str, Any]]:
    """One record in the form of every label."""
    cause = record.get("root_cause")
    cause_id = as_object(cause).get("failure_id")
    failures = as_list(record.get("failures"))
    yield from (failure_label(failure, cause_id, steps) for failure in failures)
    if isinstance(cause, dict):
        yield root_cause_label(cause, [failure for failure in failures if is_cause(failure, cause_id)], steps)
    elif cause is not None:
        yield {"kind": "root_cause", "reason": cause}
    if record.get("failure_summary") is not None:
        yield {"kind": "failure_summary", "text": record["failure_summary"]}
    if rest := {name: member for name, member in record.items() if name not in RECORD}:
        yield {"kind": "record", **rest}


def failure_label(failure: Mapping[str, Any], cause_id: Any, steps: Steps) -> dict[str, Any]:
    said = renamed(failure, FAILURE)
    said.pop("step_number", None)
    label = {"kind": "failure", **said, "is_root_cause": is_cause(failure, cause_id)}
    return at_step(label, failure.get("step_number"), FIRST_STEP, steps)


def root_cause_label(cause: Mapping[str, Any], failures: list[Mapping[str, Any]], steps: Steps) -> dict[str, Any]:
    label = {"kind": "root_cause", **renamed(cause, {"reason_for_root_cause": "reason"})}
    if not failures:
        return label
    agent = {"agent": failures[0]["failed_agent"]} if "failed_agent" in failures[0] else {}
    return at_step({**label, **agent}, failures[0].get("step_number"), FIRST_STEP, steps)


def renamed(said: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Members under the names of our form, each kept; none takes the place of another."""
    free = {name: new for name, new in names.items() if new not in said}
    return {f"{name}_in_file" if name in OURS else free.get(name, name): member for name, member in said.items()}


def is_cause(failure: Any, cause_id: Any) -> bool:
    """Some files write the number as a text here and as a number there."""
    return cause_id is not None and as_id(as_object(failure).get("failure_id")) == as_id(cause_id)


def warnings_of(record: Labels, steps: Steps) -> Iterator[Problem]:
    """Steps that the run does not have, and a root cause that is none of the failures."""
    failures = as_list(record.value.get("failures"))
    for number, failure in enumerate(failures):
        step = failure.get("step_number")
        if steps.index_of(step, FIRST_STEP) is None:
            yield no_such_step(record.place, f"/failures/{number}/step_number", step, FIRST_STEP, steps)
    cause_id = as_object(record.value.get("root_cause")).get("failure_id")
    if cause_id is not None and not any(is_cause(failure, cause_id) for failure in failures):
        yield record.place.problem(
            "label_root_cause",
            "/root_cause/failure_id",
            expected=gettext_noop("A root cause that is one of the failures; number %(found)s is none of them."),
            remedy=gettext_noop("The label is kept with the trace, at no message."),
            warning=True,
            found=as_id(cause_id)[:80],
        )


def left_over(labels: LabelFile, n_runs: Mapping[str | int, int]) -> Iterator[Problem]:
    """A warning for labels whose run was not there, and for labels that more than one run took. `n_runs` counts, by
    the id of `Attached`, how many traces got them."""
    for id_, (first, *_) in labels.by_id.items():
        if not n_runs.get(id_):
            yield first.place.problem(
                "labels_without_run",
                "/trajectory_id",
                expected=gettext_noop("A run with the id %(id)s among the imported ones; there is none."),
                remedy=gettext_noop("The labels are passed over. Import the run with this label file to have them."),
                warning=True,
                id=str(id_)[:80],
            )
        elif n_runs[id_] > 1:
            yield first.place.problem(
                "labels_of_several_runs",
                "/trajectory_id",
                expected=gettext_noop("One run with the id %(id)s; there are %(n)s."),
                remedy=gettext_noop("Each of them has the labels. Import only the run that was labelled."),
                warning=True,
                id=str(id_)[:80],
                n=n_runs[id_],
            )


def labels_only(place: Place) -> Problem:
    return place.problem(
        "labels_only",
        expected=gettext_noop("Runs; this file holds labels of runs, and no runs."),
        remedy=gettext_noop("Import the runs with --labels and this file, or a zip that holds both."),
    )
