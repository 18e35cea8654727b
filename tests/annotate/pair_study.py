"""A project of replies with two versions of many points, as publishing leaves it, and five who annotate."""

import hashlib
from dataclasses import dataclass

from annotate.models import Item, Membership, Message, Project, Role, Trace
from annotate.traces import base
from tests.factories import make_batch, make_member, make_project, message_row

AREAS = ("library", "simulator", "studies", "index")
CODES = ("A01", "A02", "A03", "A04", "A05")


@dataclass
class Study:
    project: Project
    lea: Membership
    five: list[Membership]


def make_study(*, n_models=8, areas=AREAS, n_points=2, slug=None, **fields) -> Study:
    """Every model in every area, the language changing from one to the next; so many points of each."""
    project = make_project(slug, assigning="pairs", **fields)
    study = Study(
        project,
        make_member(project, "lea", Role.LEAD, code="L01"),
        [make_member(project, f"reads-{code}", code=code) for code in CODES],
    )
    publish(project, n_models=n_models, areas=areas, n_points=n_points)
    return study


def said(n_points, name):
    """Of each point a request, a call that nobody else sees, its result, and the recorded reply."""
    for point in range(n_points):
        at = 4 * point
        yield base.Message(at, "user", f"Question {point} of {name}?")
        yield base.Message(at + 1, "assistant", "", calls=(base.Call("", "look", "{}"),))
        yield base.Message(at + 2, "tool", f"secret result {point}", answers=base.Answered(at + 1, 0))
        yield base.Message(at + 3, "assistant", f"Recorded answer {point} of {name}.")


def publish(project, *, n_models=8, areas=AREAS, n_points=2, arms=("default", "rewrite")):
    batch, traces = make_batch(project), []
    for model in range(n_models):
        for place, area in enumerate(areas):
            name = f"run {model} {area}"
            found = Trace(project=project, batch=batch, source_id=name, format="published", cluster=name, area=area)
            found.content_hash, found.is_staged = f"{len(traces):064}", False
            found.language, found.metadata = ("en", "zh")[(model + place) % 2], {"model": f"model {model}"}
            traces.append(found)
    Trace.objects.bulk_create(traces)
    Message.objects.bulk_create(
        message_row(one, message) for one in traces for message in said(n_points, one.source_id)
    )
    Item.objects.bulk_create(
        Item(
            project=project,
            trace=one,
            anchor=4 * point + 3,
            cluster=one.cluster,
            point=point_of(one.source_id, point),
            arm=arm,
            text=f"Text {'A' if arm == 'default' else 'B'} of point {point} in {one.source_id}.",
            is_planned=False,
            origin={"run": 3, "item": 1, "sample": 0},
        )
        for one in traces
        for point in range(n_points)
        for arm in arms
    )


def point_of(name, point) -> str:
    return hashlib.sha256(f"{name}/{point}".encode()).hexdigest()[:20]
