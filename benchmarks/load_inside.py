"""What the load needs of the product's own code, in a child: `python -m benchmarks.load_inside ACTION ...` prints one
JSON value."""

import hashlib
import json
import os
import random
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import django
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from benchmarks import inside, material
from benchmarks.installations import PROJECT
from tests import answers

EMPTY, LEAD = "empty", "chief"
AT_ONCE = 2000
HEARD = 0.8
"""Share of the labels that say what their item is; the others are drawn."""


def main(words):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    actions = {"labelled": labelled, "enter": enter, "one_more": one_more, "turns": turns, "judge": judge}
    actions |= {"a_run": a_run, "recomputed": recomputed, "rows": rows, "connections": connections, "kept": kept}
    json.dump(actions[words[0]](*words[1:]), sys.stdout)


# Material


def labelled(n_labels, n_free, n_annotators, overlap, n_labellers):
    """A pool whose first items have all their labels, so many, given by the first of its annotators in turn, and so
    many more that are free; with a lead, and an empty project for the same people. Gives the annotators' names."""
    from annotate import setting_up
    from annotate.models import Person, Project, Role

    overlap, now = int(overlap), timezone.now()
    n_done = int(n_labels) // overlap
    made = inside.pool(n_done + int(n_free), n_annotators, overlap)
    project, chief = Project.objects.get(slug=PROJECT), Person.objects.create_person(LEAD, inside.PASSWORD)
    setting_up.add_member(project=project, person=chief, role=Role.LEAD, by=None, now=now)
    new = setting_up.NewProject(EMPTY, "Measured", "Measured", seed=3, assigning="pool", overlap=overlap)
    empty = setting_up.create_project(new=new, by=None, now=now)
    for person in Person.objects.filter(username__in=made["names"]):
        setting_up.add_member(project=empty, person=person, role=Role.ANNOTATOR, by=None, now=now)
    label_first(project, n_done, overlap, int(n_labellers))
    return made["names"]


def label_first(project, n_items, overlap, n_labellers):
    from annotate.models import Annotation, Assignment, Membership, PoolItem, Protocol, Role, Round

    rng, now, protocol = random.Random(1), timezone.now() - timedelta(hours=1), Protocol.objects.get(project=project)
    first, _ = Round.objects.get_or_create(project=project, number=1, defaults={"purpose": "first", "opened_at": now})
    people = list(
        Membership.objects.filter(project=project, role=Role.ANNOTATOR)
        .order_by("pk")
        .values_list("pk", flat=True)[:n_labellers]
    )
    pool = list(PoolItem.objects.filter(project=project).order_by("queue").values_list("pk", flat=True)[:n_items])
    own = {"round": first, "state": Assignment.State.SUBMITTED, "first_shown_at": now, "ended_at": now}
    for start in range(0, len(pool), AT_ONCE):
        items = pool[start : start + AT_ONCE]
        places = [(item, (start + n) * overlap + place) for n, item in enumerate(items) for place in range(overlap)]
        given = Assignment.objects.bulk_create(
            Assignment(annotator_id=people[n % len(people)], item_id=item, order=n, sequence=n // 2, **own)
            for item, n in places
        )
        said = {item: rng.random() < 0.5 for item in items}
        Annotation.objects.bulk_create(
            Annotation(
                assignment=one,
                key=inside.new_key(),
                label=answers.STORED if heard(said[one.item_id], rng) else answers.READABLE,
                protocol=protocol,
                submitted_at=now,
            )
            for one in given
        )
        PoolItem.objects.filter(pk__in=items).update(n_free=0, queue=None)
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")


def heard(is_marked, rng):
    return is_marked if rng.random() < HEARD else rng.random() < 0.5


def enter(*names):
    """The cookie by which each of these people is signed in; hashing their passwords is not what is measured."""
    from annotate.models import Person

    people = {person.username: person for person in Person.objects.filter(username__in=names)}
    return {name: session_of(people[name]) for name in names}


def session_of(person):
    client = Client(SERVER_NAME=settings.ALLOWED_HOSTS[0])
    client.force_login(person)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


# What is measured inside


def one_more(n_times):
    """Seconds of the import of one more collaboration into the project with labels and into the empty one, in turn."""
    seconds = {PROJECT: [], EMPTY: []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(int(n_times) + 1):
            for slug, times in seconds.items():
                path = Path(folder) / f"{slug}-{turn}.jsonl"
                one = material.collaboration(turn, random.Random(turn))
                path.write_text(json.dumps(one | {"id": f"{slug}-{turn}"}) + "\n", "utf-8")
                times.append(import_seconds(slug, path))
    return {slug: times[1:] for slug, times in seconds.items()}


def import_seconds(slug, path):
    from annotate import importing, work
    from annotate.models import Project

    began = time.perf_counter()
    importing.import_traces(project=Project.objects.get(slug=slug), path=path, file_name=path.name)
    work.drain()
    return time.perf_counter() - began


def turns(n_looks, *numbers):
    """Seconds of each look at the page of a trajectory of so many turns, in turn; a turn is a call and its result."""
    from django.core.management import call_command
    from django.urls import reverse

    from benchmarks.trajectories import trajectory
    from tests.factories import make_assignment, make_item, make_member, make_person, make_project, make_trace

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    project = make_project("measured", kind="redundancy")
    member, pages = make_member(project, make_person("reader")), {}
    for n in numbers:
        messages = trajectory(2 * int(n) + 3, 1000)
        item = make_item(trace=make_trace(project, messages), reply=messages[-1].index)
        pages[n] = reverse("annotate:label_item", args=[make_assignment(member, item).public_id])
    client = Client(SERVER_NAME=settings.ALLOWED_HOSTS[0])
    client.force_login(member.person)
    looks = [{n: page_seconds(client, page) for n, page in pages.items()} for _ in range(int(n_looks) + 2)]
    return {n: [look[n] for look in looks[2:]] for n in pages}


def page_seconds(client, address):
    began = time.perf_counter()
    answer = client.get(address)
    if answer.status_code != 200:
        raise SystemExit(f"{address} answers {answer.status_code}.")
    return time.perf_counter() - began


def judge():
    """Start a run of the lexical judge, which the worker goes on with; how many items it has."""
    from annotate.models import Project
    from scoring.running import start_run

    return start_run(person=None, project=Project.objects.get(slug=PROJECT), judge="lexical").n_items


def a_run():
    """A run that nobody works on; its page is polled. Gives its number."""
    from annotate.models import Project, WorkGroup
    from scoring.models import Judge, Run

    project = Project.objects.get(slug=PROJECT)
    rater = Judge.objects.create(project=project, name="lexical", settings_hash="0" * 64)
    group = WorkGroup.objects.create(key="measured")
    return Run.objects.create(
        judge=rater, project=project, group=group, number=1, version="1", phases=["main"], n_items=0
    ).number


def kept():
    """Seconds of showing a report that is kept."""
    shown()
    began = time.perf_counter()
    shown()
    return time.perf_counter() - began


def shown():
    from annotate.models import Project
    from scoring.reports import shown_report

    return shown_report(Project.objects.get(slug=PROJECT))


def recomputed():
    """Whether the report that is kept has the figures that its rows give when they are counted anew, and how long the
    count took."""
    from scoring.reports import recompute

    kept = shown()
    began = time.perf_counter()
    again = recompute(kept.row)
    took = time.perf_counter() - began
    return {"is_new": kept.is_new, "is_same": plain(again) == plain(kept.row.payload), "seconds": took}


def plain(payload):
    return json.loads(json.dumps(payload, sort_keys=True, default=str))


def rows():
    """How many rows each table of what people gave has, and a hash of them."""
    from annotate.models import Annotation, Assignment, Item, Message, PoolItem, Trace

    return {model.__name__: hashed(model) for model in (Annotation, Assignment, Item, Message, PoolItem, Trace)}


def hashed(model):
    names = [field.attname for field in model._meta.fields]
    digest, n = hashlib.sha256(), 0
    for row in model.objects.order_by("pk").values_list(*names).iterator(AT_ONCE):
        digest.update(repr(row).encode())
        n += 1
    return [n, digest.hexdigest()]


def connections():
    """How many others have this PostgreSQL database open, and how many of them sit in a transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(*) FILTER (WHERE state LIKE 'idle in transaction%') FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return cursor.fetchone()




if __name__ == "__main__":
    main(sys.argv[1:])
