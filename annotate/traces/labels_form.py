"""What people said is wrong in a run, in one form for every source of such labels.

The form, kept as `metadata["labels"]` of a trace and private: a list of objects, each with `kind`. One that speaks of a
step has `step_in_file` (as the file writes it), `step_base` (the number of the first step there) and `index`, our
Message.index of that step; without `index` the step is none of the run, which is warned of.
- `decisive_mistake`: agent, reason (`who_and_when`)
- `failure`: agent, reason, category, category_reason, failure_id, is_root_cause; `root_cause`: failure_id, reason, and
  agent and step of that failure; `failure_summary`: text (AgentRx)
- `failure_mode`: name, value; `note`: text (`mast`)
- `record`: what else the record said

A reader whose messages are not just the steps of the file says in `metadata["steps"]` which are: `first_index`, the
Message.index of the first step, and `n_steps`. Index of a step = step_in_file - step_base + first_index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.values import as_id

NUMBER = re.compile(r"[ ]*(-?[0-9]{1,9})[ ]*")


@dataclass(frozen=True, slots=True)
class Steps:
    """Which messages of a trace are the steps of its file. `numbers` are the file's own, where it writes them."""

    first_index: int
    n_steps: int
    numbers: Mapping[int, int] | None = None

    def index_of(self, step: Any, base: int) -> int | None:
        """Message.index of a step, or None where the run has no such step."""
        number = number_of(step)
        if number is None:
            return None
        if self.numbers:
            return self.numbers.get(number)
        return self.first_index + number - base if 0 <= number - base < self.n_steps else None

    def last(self, base: int) -> int:
        return max(self.numbers) if self.numbers else base + self.n_steps - 1


def number_of(value: Any) -> int | None:
    """A whole number, also written as a text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def at_step(label: dict[str, Any], step: Any, base: int, steps: Steps) -> dict[str, Any]:
    """A label with its step in the file, and its message where the run has that step."""
    index = steps.index_of(step, base)
    found = {} if index is None else {"index": index}
    return {**label, **found, "step_in_file": step, "step_base": base}


def no_such_step(place: Place, pointer: str, step: Any, base: int, steps: Steps) -> Problem:
    return place.problem(
        "label_step",
        pointer,
        expected=gettext_noop("A label with a step of its run, from %(first)s to %(last)s; here it is %(found)s."),
        remedy=gettext_noop("The label is kept with the trace, at no message."),
        warning=True,
        first=base,
        last=steps.last(base),
        found=as_id(step)[:80] or "-",
    )


def metadata_of(rest: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says besides its messages and what we say; members of the record under our names go to `record`."""
    clash = {name: member for name, member in rest.items() if name in ours}
    return {**rest, **ours, **({"record": clash} if clash else {})}


def file_stem(name: str) -> str:
    """The name of a file without its folders and its last ending."""
    return PurePosixPath(name).stem
