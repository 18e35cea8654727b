"""What the queue of disagreements costs: `python benchmarks/settling.py`.

Two projects, of 1,000 and of 100,000 labels: five people on each item, who agree on four of five. Of each the seconds
of the first opening, which compares some items, and of the job that compares the others; of an opening when nothing has
changed; of one after 100 corrections; of working everything out in one read at every opening, which is what is not
done; of an item's page; and the statements of an opening. SQLite.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.agreement import VOTERS, speak
from benchmarks.installations import PROJECT, ROOT, Installation, say

OPENED_SECONDS = 1.0
LOOKS = 10
CORRECTED = 100


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000, metavar="N", help="labels of the small project")
    parser.add_argument("--large", type=int, default=100_000, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.inside:
        json.dump(looks(), sys.stdout)
        return 0
    with tempfile.TemporaryDirectory(prefix="sightline-measure-") as folder:
        small, large = (measure(Path(folder), n) for n in (options.small, options.large))
    both = ((options.small, small), (options.large, large))
    result = {f"{name}, {n} labels": value for n, of_it in both for name, value in of_it.items()}
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    is_same = small["opened, statements"] == large["opened, statements"]
    return int(not (is_same and large["opened, seconds"] <= OPENED_SECONDS))


def measure(folder, n_labels):
    say(f"Making an installation of {n_labels} labels.")
    made = Installation(folder)
    made.inside("voted", n_labels // VOTERS, VOTERS)
    command = [sys.executable, __file__, "--inside"]
    done = subprocess.run(command, cwd=ROOT, env=made.environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def looks():
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.db import connection

    from annotate import reviewing, work
    from annotate.models import Annotation, Disagreement, Membership, Person, Project, Role

    project = Project.objects.get(slug=PROJECT)
    speak(project)
    person = Person.objects.create_person("reviewer", None)
    Membership.objects.create(project=project, person=person, role=Role.REVIEWER, code="r1")
    part = reviewing.part_of(person, PROJECT)

    def opened():
        return reviewing.show_queue(part=part, state="open", limit=101)

    found = {}
    found["first opening, seconds"], _ = timed(opened)
    found["the job behind it, seconds"], _ = timed(work.drain)
    times = [timed(opened) for _ in range(LOOKS)]
    found["opened, seconds"] = min(seconds for seconds, _ in times)
    found["opened, statements"] = statements(connection, opened)
    for one in Annotation.objects.filter(is_current=True).order_by("?")[:CORRECTED]:
        Annotation.objects.filter(pk=one.pk).update(is_current=False)
        one.pk, one.number, one.key = None, 2, f"corrected-{one.assignment_id:014}"
        one.save(force_insert=True)
    found[f"opened after {CORRECTED} corrections, seconds"], queue = timed(opened)
    found["a page of an item, seconds"], _ = timed(
        lambda: reviewing.open_card(part=part, public_id=queue.rows[0].public_id)
    )
    found["next item, seconds"], _ = timed(
        lambda: reviewing.review_queries.next_open(project, phase="", measure="", but=queue.rows[0].public_id)
    )
    found["all worked out in one read, seconds"], _ = timed(lambda: one_read(project))
    n_labels = Annotation.objects.filter(is_current=True).count()
    assert Disagreement.objects.filter(project=project).count() * VOTERS == n_labels
    return found


def one_read(project):
    """What every opening would cost without a table."""
    from itertools import groupby
    from operator import attrgetter

    from annotate import queries, review_queries, reviewing
    from annotate.kinds.registry import kind_of

    kind = kind_of(project.kind)
    schemas = {one.number: one.label_schema or kind.schema for one in queries.protocols_of(project.pk)}
    labels = groupby(review_queries.labels_to_compare(project, None), key=attrgetter("item"))
    found = [(reviewing.apart_of(kind, list(given), schemas).weight, item) for item, given in labels]
    return sorted(found, reverse=True)


def timed(action):
    began = time.perf_counter()
    result = action()
    return round(time.perf_counter() - began, 4), result


def statements(connection, action):
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as seen:
        action()
    return len(seen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
