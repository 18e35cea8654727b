"""Named reads of what a jury of models ended its items with. Each says how many statements it takes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.models import Phase, Project
from scoring.models import Prompt, Run, Verdict

CHUNK = 2000


@dataclass(frozen=True, slots=True)
class Ended:
    """What the jury ended an item with: its outcome, the label if there is one, and the runs that agree."""

    item: int
    outcome: str
    label: dict[str, Any] | None
    agreeing: tuple[int, ...]


def ended(run: Run) -> Iterator[Ended]:
    """The items of the main phase that people are to label, in the order of their ids: one statement."""
    rows = Verdict.objects.filter(run=run, sample=0, is_unreadable=False, item__phase=Phase.MAIN)
    rows = rows.filter(item__is_planned=True, item__trace__is_staged=False).order_by("item_id")
    for item, label, finding in rows.values_list("item_id", "label", "finding").iterator(chunk_size=CHUNK):
        values = finding["values"]
        yield Ended(item, values["outcome"], label, tuple(values.get("agreeing") or ()))


def runs_numbered(project: Project, numbers: Sequence[int]) -> list[Run]:
    """These runs in this order, as far as there are any: one statement."""
    rows = Run.objects.filter(project=project, number__in=list(numbers)).select_related("judge")
    found = {run.number: run for run in rows}
    return [found[number] for number in numbers if number in found]


def prompts_of(runs: Sequence[Run]) -> list[Prompt]:
    """The versions of prompts that these runs ask by, without their texts: one statement."""
    ids = {pk for run in runs for languages in run.prompts.values() for pk in languages.values()}
    return list(Prompt.objects.filter(pk__in=ids).defer("text"))
