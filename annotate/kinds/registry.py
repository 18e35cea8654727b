"""Finds the kinds by their folders. A broken folder stops the start; it is never skipped."""

from functools import cache
from importlib import import_module
from pathlib import Path

from annotate.kinds.base import TaskKind


@cache
def all_kinds() -> dict[str, TaskKind]:
    """Every kind by its name; ImportError where a folder has no `kind.py`, ValueError where its name differs."""
    kinds = {}
    for folder in sorted(Path(__file__).parent.iterdir()):
        if not folder.is_dir() or folder.name.startswith("_"):
            continue
        kind = import_module(f"annotate.kinds.{folder.name}.kind").KIND
        if not isinstance(kind, TaskKind) or kind.name != folder.name:
            raise ValueError(f"annotate/kinds/{folder.name}/kind.py: KIND has to be a TaskKind named {folder.name!r}.")
        kinds[kind.name] = kind
    return kinds


def kind_of(name: str) -> TaskKind:
    """The kind called `name`; ValueError lists those there are."""
    kinds = all_kinds()
    if name not in kinds:
        raise ValueError(f"There is no task kind {name!r}. There are: {', '.join(sorted(kinds))}.")
    return kinds[name]
