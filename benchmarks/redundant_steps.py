"""What the figures of redundant steps cost: `python benchmarks/redundant_steps.py`.

Three experts on each of 1,000 trajectories and of 10,000, who agree on about four steps of five, with suggestions that
a fifth of the trajectories go without. Of each the seconds of an agreement report that has to be computed (rows,
labels, six measures with 10,000 resamples), with four trajectories of a task and with one, those of the report of the
method, and how many statements both take.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.installations import PROJECT, ROOT, Installation, say

EXPERTS = 3
SECONDS = 2.0
TOGETHER = (4, 1)
"""Trajectories of a task: the more tasks, the more is drawn."""
LOOKS = 3
STEPS, TYPES = 12, ("ABN", "DUP", "INC", "EXP")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000, metavar="N", help="trajectories of the small project")
    parser.add_argument("--large", type=int, default=10_000, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.inside:
        json.dump(looks(options.inside), sys.stdout)
        return 0
    with tempfile.TemporaryDirectory(prefix="sightline-measure-") as folder:
        found = {n: measure(Path(folder), n) for n in (options.small, options.large)}
    result = {f"{name} at {n} trajectories": value for n, of_it in found.items() for name, value in of_it.items()}
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    large = found[options.large]
    is_fast = all(large[agreement_name(together)] <= SECONDS for together in TOGETHER)
    counts = [[value for name, value in of_it.items() if "statements" in name] for of_it in found.values()]
    return int(not is_fast or counts[0] != counts[1])


def agreement_name(together):
    return f"agreement, clusters of {together}, seconds"


def measure(folder, n_items):
    say(f"Making an installation of {n_items} trajectories.")
    made = Installation(folder)
    command = [sys.executable, "-m", "benchmarks.redundant_steps", "--inside", str(n_items)]
    done = subprocess.run(command, cwd=ROOT, env=made.environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def looks(n_items):
    """In a process of its own, whose first report is not counted: modules are imported then."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from scoring.method_reports import shown_method
    from scoring.models import Report
    from scoring.reports import shown_report

    project = annotated(n_items)
    shown_report(project)
    found = {}
    for together in TOGETHER:
        in_tasks_of(together)
        best, used = [], []
        for _ in range(LOOKS):
            Report.objects.all().delete()
            began = time.process_time()
            seconds, statements = timed(lambda: shown_report(project))
            best.append(seconds)
            used.append(time.process_time() - began)
        found[agreement_name(together)] = round(min(best), 2)
        found[f"agreement, clusters of {together}, processor seconds"] = round(min(used), 2)
        found["agreement, statements"] = statements
    in_tasks_of(TOGETHER[0])
    seconds, found["report of the method, statements"] = timed(lambda: shown_method(project))
    found["report of the method, seconds"] = round(seconds, 2)
    seconds, found["report of the method, kept, statements"] = timed(lambda: shown_method(project))
    found["report of the method, kept, seconds"] = round(seconds, 3)
    return found


def timed(act):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as caught:
        began = time.perf_counter()
        act()
        return time.perf_counter() - began, len(caught)


def in_tasks_of(together):
    from annotate.models import Item, Trace

    for model in (Item, Trace):
        rows = list(model.objects.order_by("pk"))
        for number, row in enumerate(rows):
            row.cluster = f"task-{number // together}"
        model.objects.bulk_update(rows, ["cluster"], batch_size=500)


def annotated(n_items):
    """A project in which three experts have annotated everything."""
    from django.core.management import call_command
    from django.utils import timezone

    from annotate import setting_up
    from annotate.models import ImportBatch, Item, Trace

    call_command("migrate", verbosity=0)
    new = setting_up.NewProject(PROJECT, "Measured", "Measured", seed=1, kind="redundancy")
    project = setting_up.create_project(new=new, by=None, now=timezone.now())
    batch = ImportBatch.objects.create(project=project, file_name="made", format="sightline", state="visible")
    own = {"project": project, "batch": batch, "format": "sightline", "language": "en", "is_staged": False}
    rng = random.Random(1)
    traces = Trace.objects.bulk_create(
        (
            Trace(source_id=f"run-{n}", cluster=f"task-{n}", area=("airline", "retail", "telecom")[n % 3],
                  content_hash=f"{n:064}", **own)
            for n in range(n_items)
        ),
        batch_size=2000,
    )  # fmt: skip
    truth = [true_steps(rng) for _ in traces]
    items = Item.objects.bulk_create(
        (
            Item(project=project, trace=trace, anchor=2 * STEPS, cluster=trace.cluster, suggestions=suggested(steps),
                 suggestions_shown=number % 5 > 0)
            for number, (trace, steps) in enumerate(zip(traces, truth, strict=True))
        ),
        batch_size=2000,
    )  # fmt: skip
    for number in range(EXPERTS):
        says(project, number, items, truth, rng)
    return project


def says(project, number, items, truth, rng):
    """One expert on every trajectory."""
    import secrets

    from django.utils import timezone

    from annotate.models import Annotation, Assignment, Membership, Person

    now, protocol, round_ = timezone.now(), project.protocols.get(), project.rounds.get()
    person = Person.objects.create_person(f"expert-{number}", None)
    member = Membership.objects.create(project=project, person=person, role="annotator", code=f"e{number}")
    given = Assignment.objects.bulk_create(
        (
            Assignment(annotator=member, item=item, round=round_, order=place, sequence=place, state="submitted",
                       first_shown_at=now, ended_at=now)
            for place, item in enumerate(items)
        ),
        batch_size=2000,
    )  # fmt: skip
    Annotation.objects.bulk_create(
        (
            Annotation(assignment=one, key=secrets.token_urlsafe(12), protocol=protocol, submitted_at=now,
                       label=label(heard(steps, rng), one.item))
            for one, steps in zip(given, truth, strict=True)
        ),
        batch_size=2000,
    )  # fmt: skip


def true_steps(rng):
    at = sorted(rng.sample(range(STEPS), rng.choice((0, 1, 1, 2, 3))))
    return [{"step": [2 * one, 2 * one + 1], "type": rng.choice(TYPES), "evidence": [-1]} for one in at]


def suggested(steps):
    return [{**one, "rules": ["identical"], "keyword": ""} for one in steps[:1]]


def heard(steps, rng):
    """Now and then one step is missed, or its type or evidence is another."""
    kept = [one for one in steps if rng.random() < 0.9]
    return [
        {**one, "type": rng.choice(TYPES)} if rng.random() < 0.1
        else {**one, "evidence": [one["step"][0] + 2]} if rng.random() < 0.1 else one
        for one in kept
    ]  # fmt: skip


def label(steps, item):
    decisions = [
        {"step": one["step"], "decision": "keep" if one["step"] in [step["step"] for step in steps] else "reject"}
        for one in (item.suggestions if item.suggestions_shown else ())
    ]
    beside = {"reason": "", "certainty": "high", "origin": "added"}
    found = [{**one, **beside} for one in steps]
    return {"outcome": "steps" if steps else "none", "steps": found, "decisions": decisions, "note": ""}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
