"""Juries of models made by hand, with what they said: synthetic."""

from annotate.kinds.redundancy.examples import label, step
from annotate.models import WorkGroup
from scoring.models import Prompt
from tests.annotate.test_subsets import bring_in
from tests.factories import make_cast, make_project, make_run, make_verdict

AGAIN = label(step(9, 10))
NOTHING = label(outcome="none")
ENDED = ("retained", "retained", "empty", "no_agreement", "too_few_covered")
"""What the jury ends the first five trajectories with; of the last one it says nothing."""
LABELS = {"retained": AGAIN, "empty": NOTHING}


def make_jury_cast(**fields):
    """A project of six trajectories with its people."""
    cast = make_cast(kind="redundancy", assigning="subsets", **fields)
    bring_in(cast.project, {"trade": 6})
    return cast


def same_project(slug):
    """The same trajectories elsewhere, with nobody and no judge."""
    project = make_project(slug, kind="redundancy", assigning="subsets")
    bring_in(project, {"trade": 6})
    return project


def make_jurors(project, models=("first", "second", "third"), protocol=1, **fields):
    text = {"key": "juror.find", "language": "en", "number": 1}
    prompt, _ = Prompt.objects.get_or_create(project=project, **text, defaults={"text": "?", "sha256": "0" * 64})
    return [
        make_run(
            project,
            "juror",
            settings={"endpoint": {"model": model}, "protocol": protocol, "number": place},
            prompts={prompt.key: {prompt.language: prompt.pk}},
            **fields,
        )
        for place, model in enumerate(models)
    ]


def make_jury(project, jurors=None, ended=ENDED, labels=LABELS, **fields):
    """A jury run that is through, with one verdict of each of the first items."""
    jurors = jurors or make_jurors(project)
    run = make_run(project, "jury", settings={"runs": [one.number for one in jurors]}, **fields)
    agreeing = [one.number for one in jurors[:2]]
    for item, outcome in zip(project.items.order_by("pk"), ended, strict=False):
        made = labels.get(outcome)
        values = {"outcome": outcome, "n_covered": 1 if outcome == "too_few_covered" else 3}
        values |= {"agreeing": agreeing if made else [], "steps": made["steps"] if made else []}
        make_verdict(run, item, made, finding={"values": values, "spans": []})
    return run


def call_off(run):
    WorkGroup.objects.filter(pk=run.group_id).update(state=WorkGroup.State.CANCELLED)
