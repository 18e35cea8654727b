"""Projects with labels to seal, and how their folders are looked into."""

import json
from pathlib import Path

from annotate import exporting, releasing
from annotate.models import Project
from annotate.traces import base
from tests.factories import NOW, make_item, make_member, make_project, make_submitted, make_trace

TEXT = "The GTR fell by a third, as in run-12."
GTR = {"start": 4, "end": 7, "type": "definition", "quote": "GTR"}
NEEDS = {"label": "needs_information", "states_no_result": False, "spans": [GTR], "comment": "=Who is GTR?"}
FAILS = "unrepairable_or_no_answer"


def make_source(project, name, text=TEXT, **fields):
    """The item of a run that is the same wherever it lies."""
    said = [base.Message(0, "user", "And?"), base.Message(1, "assistant", text)]
    values = {"source_id": name, "cluster": name, "content_hash": f"{name:0>64}", "area": "trade"}
    phase = fields.pop("phase", "main")
    return make_item(trace=make_trace(project, said, **{**values, **fields}), phase=phase)


def make_votes(project, votes, members):
    """By the name of a run, one label of each member."""
    return {
        name: [make_submitted(member, item, label) for member, label in zip(members, labels, strict=False)]
        for name, labels in votes.items()
        for item in [project.items.get(trace__source_id=name)]
    }


VOTES = {
    "one": ["readable", "readable", FAILS],
    "two": [NEEDS, NEEDS, "readable"],
    "three": ["readable", "readable", "readable"],
    "four": ["readable", FAILS],
}
"""By run, the labels of a1, a2, a3: majority, majority, consensus, a tie that fails."""


def make_voted(names=tuple(VOTES), slug=None, **fields) -> Project:
    """A project of these runs, in this order, labelled by three."""
    project = make_project(slug, **fields)
    members = [make_member(project, f"person-{n}-{project.slug}", code=f"a{n}") for n in (1, 2, 3)]
    for name in names:
        make_source(project, name)
    make_votes(project, {name: VOTES[name] for name in names}, members)
    return project


def seal(project, rule="majority", **said):
    return releasing.seal_release(
        **{"person": None, "project": project, "rule": rule, "agreement": {"measures": []}, "now": NOW, **said}
    )


def outcomes(release):
    """By run, the label by its name, how it came about, and whether the votes tie."""
    rows = release.items.select_related("item__trace").order_by("position")
    return {row.item.trace.source_id: (row.label and row.label["label"], row.how, row.is_tie) for row in rows}


def export(release, folder: Path, **said) -> Path:
    exporting.export_release(release, folder, **{"with_parquet": False, **said})
    return folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def lines_of(path: Path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
