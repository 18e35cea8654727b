"""What has to be done with the product's own code, in a child of `serve.py`: `python -m benchmarks.inside ACTION ...`.

Prints one JSON value. Material comes in by the services that people use: an import, which plans it for everybody.
"""

import json
import os
import resource
import secrets
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks import material
from benchmarks.installations import PASSWORD, PROJECT
from tests import answers

REPETITIONS = 3


def main(words):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    actions = {"about": about, "fill": fill, "halve": halve, "lead": lead, "statements": statements, "stored": stored}
    actions |= {"voted": voted, "seal": seal, "judge": judge, "pool": pool, "places": places, "ask": ask}
    actions |= {"trajectories": trajectories, "jury": jury}
    json.dump(actions[words[0]](*words[1:]), sys.stdout)


def about():
    """The database as it really runs."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA synchronous")
            level = ("off", "normal", "full", "extra")[cursor.fetchone()[0]]
            return {f"SQLite {sqlite3.sqlite_version}": f"synchronous {level}"}
        cursor.execute("SELECT current_setting('fsync'), current_setting('server_version')")
        fsync, version = cursor.fetchone()
        return {f"PostgreSQL {version}": f"fsync {fsync}"}


def fill(n_items, n_annotators):
    """A project with so many items, planned for every annotator; gives their names."""
    from annotate import importing, setting_up

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    new = setting_up.NewProject(PROJECT, "Measured", "Measured", seed=1)
    project = setting_up.create_project(new=new, by=None, now=timezone.now())
    names = add_annotators(project, int(n_annotators))
    if int(n_items):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "traces.jsonl"
            material.write(path, int(n_items) // material.REPLIES)
            importing.import_traces(project=project, path=path, file_name=path.name)
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")  # the server does it by itself, a minute later
    return names


def pool(n_items, n_annotators, overlap):
    """A project whose items come from a pool, two short replies a collaboration; gives its annotators' names and how
    long filling the pool took."""
    from annotate import pools, setting_up
    from annotate.models import ImportBatch, Item, Message, Project, Trace

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    new = setting_up.NewProject(PROJECT, "Measured", "Measured", seed=1, assigning="pool", overlap=int(overlap))
    project = setting_up.create_project(new=new, by=None, now=timezone.now())
    batch = ImportBatch.objects.create(project=project, file_name="made", format="sightline", state="visible")
    own = {"project": project, "batch": batch, "format": "sightline", "language": "en", "is_staged": False}
    for start in range(0, int(n_items) // 2, 1000):
        numbers = range(start, min(start + 1000, int(n_items) // 2))
        traces = Trace.objects.bulk_create(
            Trace(source_id=f"run-{n}", cluster=f"run-{n}", content_hash=f"{n:064}", **own) for n in numbers
        )
        said = [(trace, index, ("user", "assistant")[index % 2]) for trace in traces for index in range(4)]
        Message.objects.bulk_create(
            Message(
                trace=trace,
                index=index,
                session=1,
                role=role,
                side="agent" if index % 2 else "user",
                seen_by="requester",
                text=f"{material.OPENING}: {trace.source_id}.",
            )
            for trace, index, role in said
        )
        Item.objects.bulk_create(
            Item(project=project, trace=trace, anchor=anchor, cluster=trace.cluster)
            for trace in traces
            for anchor in (1, 3)
        )
    names, began = add_annotators(project, int(n_annotators)), time.perf_counter()
    pools.fill(project=Project.objects.get(pk=project.pk))
    took = time.perf_counter() - began
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")
    return {"names": names, "seconds": took}


def places():
    """What is given against what is counted, before and after everything that is open was let lapse and swept."""
    from datetime import timedelta

    from django.db.models import Count, F, Q
    from django.db.models.functions import Now

    from annotate import pools
    from annotate.models import Assignment, PoolItem
    from annotate.pool_queries import HOLDING

    held = Count("item__assignments", filter=Q(item__assignments__state__in=HOLDING))
    rows = PoolItem.objects.annotate(held=held)
    over = rows.filter(held__gt=F("places")).count()
    n_held = Assignment.objects.filter(state__in=HOLDING).count()
    n_open = Assignment.objects.filter(state="open").update(lease_until=Now() - timedelta(seconds=1))
    n_back = pools.take_back_expired()
    stranded = rows.exclude(held=F("places") - F("n_free")).count() + Assignment.objects.filter(state="open").count()
    free = sum(PoolItem.objects.values_list("n_free", flat=True))
    return {"over": over, "held": n_held, "open": n_open, "back": n_back, "stranded": stranded, "free": free}


def add_annotators(project, n_annotators):
    from annotate import setting_up
    from annotate.models import Person, Role

    first = Person.objects.create_person("annotator-1", PASSWORD)
    # One hash for all: making each costs as much as checking it, and is not what is measured.
    others = [Person(username=f"annotator-{n}", password=first.password) for n in range(2, n_annotators + 1)]
    people = [first, *Person.objects.bulk_create(others)]
    for person in people:
        setting_up.add_member(project=project, person=person, role=Role.ANNOTATOR, by=None, now=timezone.now())
    return [person.username for person in people]


def lead(slug, n_annotators):
    """A project without traces, with a lead, whose name it gives, and with so many annotators who have nothing yet."""
    from annotate import setting_up
    from annotate.models import Person, Role

    new = setting_up.NewProject(slug, "Measured", "Measured", seed=2)
    project = setting_up.create_project(new=new, by=None, now=timezone.now())
    leading = Person.objects.create_person("lead", PASSWORD)
    setting_up.add_member(project=project, person=leading, role=Role.LEAD, by=None, now=timezone.now())
    for number in range(int(n_annotators)):
        person = Person.objects.create_person(f"newcomer-{number}", None)
        setting_up.add_member(project=project, person=person, role=Role.ANNOTATOR, by=None, now=timezone.now())
    return leading.username


def halve(name):
    """Put somebody in the middle of their plan: a read that passes over what is done, or over what is not, shows."""
    from annotate.models import Annotation, Assignment, Protocol

    now, protocol = timezone.now(), Protocol.objects.get()
    plan = Assignment.objects.filter(annotator__person__username=name)
    done = plan.filter(order__lt=plan.count() // 2)
    own = {"number": 1, "protocol": protocol, "label": answers.STORED, "raw_ms": 41_000, "active_ms": 38_000}
    Annotation.objects.bulk_create(
        (Annotation(assignment_id=pk, key=new_key(), submitted_at=now, **own) for (pk,) in done.values_list("pk")),
        batch_size=500,
    )
    done.update(state=Assignment.State.SUBMITTED, first_shown_at=now, ended_at=now)
    plan.filter(order=done.count()).update(state=Assignment.State.OPEN)


def voted(n_items, n_annotators):
    """A project in which everybody has submitted everything, one of five marking a passage."""
    from annotate.models import Annotation, Assignment, Protocol

    fill(n_items, n_annotators)
    now, protocol = timezone.now(), Protocol.objects.get()
    Assignment.objects.update(state=Assignment.State.SUBMITTED, first_shown_at=now, ended_at=now)
    own = {"number": 1, "protocol": protocol, "submitted_at": now}
    labels = [answers.STORED if number % 5 == 0 else answers.READABLE for number in range(5)]
    rows = Assignment.objects.order_by("pk").values_list("pk", flat=True)
    Annotation.objects.bulk_create(
        (Annotation(assignment_id=pk, key=new_key(), label=labels[pk % 7 % 5], **own) for pk in rows), batch_size=2000
    )
    return len(rows)


def seal():
    """Seconds and peak kilobytes of sealing what `voted` made."""
    from annotate import releasing
    from annotate.models import Project

    project, began = Project.objects.get(slug=PROJECT), time.perf_counter()
    releasing.seal_release(person=None, project=project, rule="majority", agreement={}, now=timezone.now())
    return time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def judge():
    """Start a run of the lexical judge and wait until the worker is through with it: what it took."""
    from annotate.models import Project
    from scoring.models import Verdict
    from scoring.running import run_progress, start_run

    project, began = Project.objects.get(slug=PROJECT), time.monotonic()
    run, starting = start_run(person=None, project=project, judge="lexical"), time.monotonic() - began
    while (progress := run_progress(run)).state == "running":
        time.sleep(1)
    times = list(Verdict.objects.filter(run=run).order_by("created_at").values_list("created_at", flat=True))
    tenth = len(times) // 10
    return {
        "items": run.n_items,
        "verdicts": len(times),
        "given_up": progress.n_dead,
        "starting": starting,
        "seconds": (times[-1] - run.started_at).total_seconds(),
        "first_tenth": (times[tenth] - times[0]).total_seconds(),
        "last_tenth": (times[-1] - times[-1 - tenth]).total_seconds(),
    }


def ask(address, judge, concurrency, per_minute):
    """Start a run of a judge that asks the model at an address, and wait until the workers are through with it: what it
    took."""
    from annotate.models import Project
    from scoring.asking import Cap
    from scoring.call_queries import asked_by
    from scoring.models import Call, Endpoint, Verdict
    from scoring.running import Asking, run_progress, start_run

    project = Project.objects.get(slug=PROJECT)
    bounds = {"concurrency": int(concurrency), "per_minute": int(per_minute), "deadline_seconds": 30}
    endpoint = Endpoint.objects.create(project=project, name="measured", address=address, model="scripted", **bounds)
    asking = Asking(endpoint, Cap(calls=1_000_000), reuse=False)
    run = start_run(person=None, project=project, judge=judge, asking=asking)
    while (progress := run_progress(run)).state == "running":
        time.sleep(1)
    sums = asked_by([run.pk])[run.pk]
    times = Verdict.objects.filter(run=run).order_by("created_at").values_list("created_at", flat=True)
    pairs = list(Verdict.objects.filter(run=run).values_list("item", "sample"))
    return {
        "state": progress.state,
        "items": run.n_items,
        "verdicts": len(pairs),
        "doubled": len(pairs) - len(set(pairs)),
        "given_up": progress.n_dead,
        "unreadable": progress.n_unreadable,
        "needed": Call.objects.filter(run=run, attempt=1).count(),
        "recorded": sums.n_calls,
        "requests": sums.n_requests,
        "lost": sums.n_lost,
        "seconds": (list(times)[-1] - run.started_at).total_seconds(),
    }


def trajectories(n_items):
    """A project of so many trajectories of three domains, each with 8 to 20 steps, some of them repeated or failed."""
    from annotate import setting_up
    from annotate.models import ImportBatch, Item, Message, Trace

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    new = setting_up.NewProject(PROJECT, "Measured", "Measured", seed=1, kind="redundancy", assigning="subsets")
    project = setting_up.create_project(new=new, by=None, now=timezone.now())
    batch = ImportBatch.objects.create(project=project, file_name="made", format="sightline", state="visible")
    own = {"project": project, "batch": batch, "format": "sightline", "language": "en", "is_staged": False}
    for start in range(0, int(n_items), 500):
        numbers = range(start, min(start + 500, int(n_items)))
        traces = Trace.objects.bulk_create(
            Trace(
                source_id=f"run-{n}",
                area=DOMAINS[n % 3],
                cluster=f"{DOMAINS[n % 3]} task {n // 12}",
                content_hash=f"{n:064}",
                **own,
            )
            for n in numbers
        )
        messages = [one for n, trace in zip(numbers, traces, strict=True) for one in trajectory(n, trace, Message)]
        Message.objects.bulk_create(messages, batch_size=2000)
        last = {one.trace_id: one.index for one in messages}
        Item.objects.bulk_create(
            Item(project=project, trace=one, anchor=last[one.pk], cluster=one.cluster) for one in traces
        )
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")
    return int(n_items)


DOMAINS = ("airline", "retail", "telecom")


def trajectory(number, trace, message):
    """A policy, a request and steps at 2-3, 4-5 and so on; in two of three trajectories one call is repeated, in every
    fourth one fails."""
    n_steps = 8 + number % 13
    own = {"trace": trace, "session": 1, "side": "agent", "seen_by": "agent"}
    yield message(index=0, role="system", text="Be kind. " * 100, **own)
    request = f"Change booking {number}, please."
    yield message(trace=trace, index=1, session=1, role="user", side="user", seen_by="requester", text=request)
    for step in range(n_steps):
        at = 2 + 2 * step
        is_repeated = number % 3 and step == n_steps - 1
        place = 0 if is_repeated else step
        is_failed = number % 4 == 0 and step == 2
        text = f"Error: booking {place} is closed." if is_failed else f"booking {place}: " + "x" * 200
        call = {"id": f"c{at}", "name": "look_up", "arguments": json.dumps({"booking": place})}
        yield message(index=at, role="assistant", text="", calls=[call], **own)
        answered = {"answers_index": at, "answers_call": 0, "answers_id": call["id"], "name": "look_up"}
        yield message(index=at + 1, role="tool", text=text, **answered, **own)


def jury(address, concurrency, per_minute):
    """Three runs of jurors at once, each of a model of its own; then the jury's run and a report: what they took."""
    from collections import Counter

    from annotate.models import Project
    from scoring.asking import Cap
    from scoring.method_reports import shown_method
    from scoring.models import Call, Endpoint, Verdict
    from scoring.running import Asking, start_run

    project = Project.objects.get(slug=PROJECT)
    bounds = {"concurrency": int(concurrency), "per_minute": int(per_minute), "deadline_seconds": 30}
    runs = []
    for model in ("alpha", "beta", "gamma"):
        endpoint = Endpoint.objects.create(project=project, name=model, address=address, model=model, **bounds)
        asking = Asking(endpoint, Cap(calls=1_000_000), reuse=False)
        runs.append(start_run(person=None, project=project, judge="juror", asking=asking))
    ended = [waited_for(run) for run in runs]
    those = Verdict.objects.filter(run__in=runs)
    last = those.order_by("-created_at").values_list("created_at", flat=True)[0]
    triples = list(those.values_list("run", "item", "sample"))
    agreed = start_run(person=None, project=project, judge="jury", settings={"runs": [run.number for run in runs]})
    waited_for(agreed)
    found = Verdict.objects.filter(run=agreed)
    jury_last = found.order_by("-created_at").values_list("created_at", flat=True)[0]
    began = time.perf_counter()
    shown_method(project, given={"jury_gold": True})
    return {
        "verdicts": len(triples),
        "doubled": len(triples) - len(set(triples)),
        "unreadable": those.filter(is_unreadable=True).count(),
        "given_up": sum(one.n_dead for one in ended),
        "needed": Call.objects.filter(run__in=runs, attempt=1).count(),
        "seconds": (last - runs[0].started_at).total_seconds(),
        "outcomes": Counter(one["values"]["outcome"] for one in found.values_list("finding", flat=True)),
        "jury_seconds": (jury_last - agreed.started_at).total_seconds(),
        "report_seconds": time.perf_counter() - began,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def waited_for(run):
    from scoring.running import run_progress

    while (progress := run_progress(run)).state == "running":
        time.sleep(1)
    return progress


def new_key():
    return secrets.token_urlsafe(18)


def statements(name):
    """How many statements each request of an annotator takes, transactions' own among them, every time it is made."""
    client = Client(SERVER_NAME=settings.ALLOWED_HOSTS[0])
    client.post("/sign-in/", {"username": name, "password": PASSWORD})
    counts = {}
    for _ in range(REPETITIONS):
        for request, path, post in requests(client):
            with CaptureQueriesContext(connection) as asked:
                headers = {} if post is None else {"HX-Request": "true"}
                answer = client.get(path) if post is None else client.post(path, post, headers=headers)
            if answer.status_code >= 400:
                raise SystemExit(f"{request} answers {answer.status_code}.")
            counts.setdefault(request, []).append(len(asked))
    return counts


def requests(client):
    """One of each kind, in an order in which each has something to do."""
    yield "home", "/", None
    yield "next item", f"/projects/{PROJECT}/label/", None
    form = answers.form_in(client.get(f"/projects/{PROJECT}/label/", follow=True).content)
    yield "item", form.item, None
    draft = {"number": 0, "draft_number": 1, "fields": {"label": "readable"}}
    yield "save draft", f"{form.item}draft/", {"draft": json.dumps(draft)}
    yield "submit", f"{form.item}submit/", answers.answer_to(form)
    yield "submitted item", form.item, None
    correction = answers.form_in(client.get(f"{form.item}correct/").content)
    yield "undo", f"{form.item}correct/", None
    yield "submit again", f"{form.item}submit/", answers.answer_to(correction)
    following = answers.form_in(client.get(f"/projects/{PROJECT}/label/", follow=True).content)
    yield "report a problem", f"{following.item}problem/", {"problem": "The text is cut off."}
    yield "own answers", f"/projects/{PROJECT}/annotations/", None
    yield "guideline", f"/projects/{PROJECT}/guideline/", None
    yield "keep alive", "/alive/", {}


def stored():
    """Every stored answer by its item's address and its key, to be compared with what was acknowledged."""
    from annotate.models import Annotation

    rows = Annotation.objects.values_list("assignment__public_id", "key")
    return [(reverse("annotate:label_item", args=[public_id]), key) for public_id, key in rows]


if __name__ == "__main__":
    main(sys.argv[1:])
