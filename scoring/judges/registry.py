"""Finds the judges: every module of this folder with a `JUDGE` is one. A broken module stops the start; it is never
skipped."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from scoring.judges.base import JudgeSpec


@cache
def all_judges() -> dict[str, JudgeSpec]:
    """Every judge by its name; ValueError where a module gives its judge another name than its own."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = {name: import_module(f"scoring.judges.{name}") for name in names}
    found = {name: module.JUDGE for name, module in modules.items() if hasattr(module, "JUDGE")}
    for name, judge in found.items():
        if not isinstance(judge, JudgeSpec) or judge.name != name:
            raise ValueError(f"scoring/judges/{name}.py: JUDGE has to be a JudgeSpec named {name!r}.")
    return found


def judge_called(name: str) -> JudgeSpec:
    """KeyError lists those there are."""
    judges = all_judges()
    if name not in judges:
        raise KeyError(f"There is no judge {name!r}. There are: {', '.join(sorted(judges))}.")
    return judges[name]


def judges_for(kind_name: str) -> tuple[JudgeSpec, ...]:
    """The judges of a task kind, in the order of their names."""
    return tuple(judge for _, judge in sorted(all_judges().items()) if kind_name in judge.kinds)


def gives_labels(name: str, settings: Mapping[str, Any] | None = None) -> bool:
    """Whether the verdicts of a judge are labels, under settings where these are said; yes for one that this version
    has no more."""
    judge = all_judges().get(name)
    return judge is None or (judge.gives_labels and (settings is None or judge.gives_labels_under(settings)))


def register(judge: JudgeSpec) -> None:
    """Add a judge that lives elsewhere, as those of the tests do; one of the same name gives way to it."""
    all_judges()[judge.name] = judge
