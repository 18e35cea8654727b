"""What has to be done with the product's own code, in a child: `python -m tests.faults.inside ACTION ...` prints one
JSON value."""

import hashlib
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import django
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from tests.answers import OPENING, READABLE, STORED
from tests.faults.people import PASSWORD, PROJECT

SECRETS = ("qzvxwjkpmbtrhgnd", "wkxqjzvbgtpmrdhn", "vjqkzxwpgdbtnmrh")
"""Of the model, the instructions and what a tool gave: none of it is for who labels."""
GATHERED, CHUNK = "gathered-", 500
"""How the keys of answers begin that nobody sent, and how many are stored at once."""
NEWER = {"suggestions", "suggestions_shown"}
"""Columns that older tables have not; they are empty here."""


def main(words):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    actions = {"fill": fill, "stored": stored, "agreement": agreement, "bring_in": bring_in, "lead": lead}
    actions |= {"change_guideline": change_guideline, "pause": pause, "retire": retire, "rows": rows}
    actions |= {"answer_many": answer_many, "migrate_to": migrate_to}
    json.dump(actions[words[0]](*words[1:]), sys.stdout)


def trace(name):
    """Two short replies, and around them what nobody is shown."""
    model, instructions, result = SECRETS
    messages = [
        {"role": "system", "text": f"Do as {instructions} says."},
        {"role": "user", "text": f"What of {name}?"},
        {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "read", "arguments": {"row": name}}]},
        {"role": "tool", "answers": "c1", "text": result},
        {"role": "assistant", "text": f"{OPENING}: {name} is ready."},
        {"role": "user", "text": "And then?"},
        {"role": "assistant", "text": f"{OPENING}: {name} is done, and more follows."},
    ]
    return {"id": name, "language": "en", "meta": {"model": model}, "messages": messages}


def write(path, n_traces, prefix="run"):
    with Path(path).open("w", encoding="utf-8") as file:
        for number in range(int(n_traces)):
            print(json.dumps(trace(f"{prefix}-{number}")), file=file)


def fill(n_traces, n_people, options):
    """A project with so many traces, planned for so many people, whose names it gives."""
    from annotate import importing, pools, setting_up
    from annotate.models import Person, Project, Role

    options, now = json.loads(options), timezone.now()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    new = setting_up.NewProject(PROJECT, "Measured", "Measured", seed=1, **options)
    project = setting_up.create_project(new=new, by=None, now=now)
    first = Person.objects.create_person("person-1", PASSWORD)
    others = [Person(username=f"person-{number}", password=first.password) for number in range(2, int(n_people) + 1)]
    people = [first, *Person.objects.bulk_create(others)]
    for person in people:
        setting_up.add_member(project=project, person=person, role=Role.ANNOTATOR, by=None, now=now)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.jsonl"
        write(path, n_traces)
        importing.import_traces(project=project, path=path, file_name=path.name)
    if options.get("assigning") == "pool":
        pools.fill(project=Project.objects.get(pk=project.pk))
    return [person.username for person in people]


def answer_many(n_each):
    """The first so many of everybody's plan have an answer, which nobody sent: what an installation has gathered."""
    from annotate.models import Annotation, Assignment, Membership, Protocol

    protocol, now, n = Protocol.objects.get(project__slug=PROJECT), timezone.now(), 0
    for member in Membership.objects.filter(project__slug=PROJECT, role="annotator"):
        plan = list(member.assignments.order_by("order").values_list("pk", flat=True)[: int(n_each) + 1])
        for start in range(0, len(plan[:-1]), CHUNK):
            those = plan[:-1][start : start + CHUNK]
            Annotation.objects.bulk_create(
                Annotation(
                    assignment_id=pk,
                    key=f"{GATHERED}{pk}",
                    protocol=protocol,
                    label=READABLE if pk % 3 else STORED,
                    submitted_at=now,
                )
                for pk in those
            )
            Assignment.objects.filter(pk__in=those).update(state="submitted", ended_at=now)
            n += len(those)
        Assignment.objects.filter(pk=plan[-1]).update(state="open")
    return n


def migrate_to(*words):
    """Back to these: the label of an application and the number of a migration, in turn."""
    for app, number in zip(words[::2], words[1::2], strict=True):
        call_command("migrate", app, number, verbosity=0)


def lead():
    """A lead of the project; gives the name."""
    from annotate import setting_up
    from annotate.models import Person, Project, Role

    person, project = Person.objects.create_person("lead", PASSWORD), Project.objects.get(slug=PROJECT)
    setting_up.add_member(project=project, person=person, role=Role.LEAD, by=None, now=timezone.now())
    return person.username


def bring_in(path):
    """Import a file, as the command does."""
    from annotate import importing
    from annotate.models import Project

    project = Project.objects.get(slug=PROJECT)
    report = importing.import_traces(project=project, path=Path(path), file_name=Path(path).name)
    return report.counts()


def led(lead, name=None):
    """The project, its lead, and the part of somebody in it."""
    from annotate.models import Membership, Person, Project

    project = Project.objects.get(slug=PROJECT)
    member = name and Membership.objects.get(project=project, person__username=name)
    return project, Person.objects.get(username=lead), member


def change_guideline(lead, number):
    from annotate import setting_up

    project, person, _ = led(lead)
    words = f"Read it, for the {number}th time."
    after = project.protocols.count()
    setting_up.new_protocol(
        project=project,
        guideline_en=words,
        guideline_zh=words,
        change_note="clearer",
        after=after,
        by=person,
        now=timezone.now(),
    )
    return after + 1


def pause(lead, name, is_paused):
    from annotate import people

    project, person, member = led(lead, name)
    act = people.pause_member if is_paused == "yes" else people.resume_member
    return act(project=project, member_id=member.pk, by=person, now=timezone.now())


def retire(lead, name):
    from annotate import people

    project, person, member = led(lead, name)
    return people.retire_member(project=project, member_id=member.pk, by=person, now=timezone.now())


def rows():
    """How many rows each table of what people gave has, and a hash of them."""
    from annotate.models import Annotation, Assignment, Event, Item, Message, Trace

    tables = {}
    for model in (Annotation, Assignment, Event, Item, Message, Trace):
        names = [field.attname for field in model._meta.fields if field.attname not in NEWER]
        digest, n = hashlib.sha256(), 0
        for row in model.objects.order_by("pk").values_list(*names):
            digest.update(repr(row).encode())
            n += 1
        tables[model.__name__] = [n, digest.hexdigest()]
    return tables


def stored():
    """Every current answer by its item's address and its key; and what should not be: halves, too many, stuck ones."""
    from django.db.models import Count, F, Q

    from annotate.models import Annotation, Assignment, PoolItem
    from annotate.pool_queries import HOLDING

    rows = list(
        Annotation.objects.filter(is_current=True).values_list(
            "assignment__public_id", "key", "label", "assignment__state"
        )
    )
    with_answer = Counter(public_id for public_id, *_ in rows)
    held = Count("item__assignments", filter=Q(item__assignments__state__in=HOLDING))
    submitted = set(Assignment.objects.filter(state="submitted").values_list("public_id", flat=True))
    twice = Assignment.objects.values("annotator", "item", "round").annotate(n=Count("pk")).filter(n__gt=1).count()
    return {
        "answers": [
            (reverse("annotate:label_item", args=[public_id]), key)
            for public_id, key, *_ in rows
            if not key.startswith(GATHERED)
        ],
        "half": sum(label not in (STORED, READABLE) or state != "submitted" for _, _, label, state in rows)
        + len(submitted ^ set(with_answer)),
        "doubled": sum(n > 1 for n in with_answer.values()) + twice,
        "over": PoolItem.objects.annotate(held=held).filter(held__gt=F("places")).count(),
    }


def agreement():
    """Over items that two or more have labelled under the newest guideline with answers, the mean share of their pairs
    that say the same on the first measure: by the report that is kept, and counted here from the rows."""
    from annotate.kinds.registry import kind_of
    from annotate.models import Annotation, Project
    from scoring.reports import shown_report

    project = Project.objects.get(slug=PROJECT)
    kind = kind_of(project.kind)
    measure = kind.measures(kind.schema)[0]
    given = defaultdict(list)
    rows = Annotation.objects.filter(is_current=True, assignment__state="submitted").order_by("pk")
    newest = rows.order_by("protocol__number").last()
    for item, label in rows.filter(protocol=newest and newest.protocol).values_list("assignment__item", "label"):
        given[item].append(measure.rate(kind.load(label, kind.schema)))
    pairs = {item: [one == other for one, other in combinations(labels, 2)] for item, labels in given.items()}
    shares = [sum(same) / len(same) for same in pairs.values() if same]
    kept = shown_report(project).row.payload["measures"][0]["agreement"]["percent_agreement"]["value"]
    return {"counted": sum(shares) / len(shares) if shares else None, "n_items": len(shares), "kept": kept}


if __name__ == "__main__":
    main(sys.argv[1:])
