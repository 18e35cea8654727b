"""What the report of a project's method costs: `python benchmarks/method_report.py`.

Two projects, of 1,000 and of 10,000 replies, each with the verdicts of a reader and of a checker and the labels of five
people. Of each the seconds of a report that has to be worked out (rows, records, every table with 10,000 resamples) and
of one that is kept, and how many statements each takes.
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

from benchmarks.agreement import WORDS, heard, label
from benchmarks.installations import PROJECT, ROOT, Installation, say
from benchmarks.material import REPLY_CHARACTERS

VOTERS, LOOKS = 5, 10


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000, metavar="N", help="replies of the small project")
    parser.add_argument("--large", type=int, default=10_000, metavar="N")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.inside:
        json.dump(looks(), sys.stdout)
        return 0
    with tempfile.TemporaryDirectory(prefix="sightline-measure-") as folder:
        small, large = (measure(Path(folder), n) for n in (options.small, options.large))
    result = {
        f"{name} at {n} replies": of_it[name]
        for name in ("computed, seconds", "kept, seconds", "statements computed", "statements kept")
        for n, of_it in ((options.small, small), (options.large, large))
    }
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    return int(any(small[name] != large[name] for name in ("statements computed", "statements kept")))


def measure(folder, n_replies):
    say(f"Making an installation of {n_replies} replies.")
    made = Installation(folder)
    made.inside("voted", n_replies, VOTERS)
    command = [sys.executable, "-m", "benchmarks.method_report", "--inside"]
    done = subprocess.run(command, cwd=ROOT, env=made.environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def looks():
    """In a process of its own: a report that is worked out, and the best of those that follow."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from annotate.models import Project
    from scoring.method_reports import shown_method

    project = Project.objects.get(slug=PROJECT)
    speak(project)
    with CaptureQueriesContext(connection) as computed:
        began = time.perf_counter()
        shown_method(project)
        seconds = time.perf_counter() - began
    kept = []
    for _ in range(LOOKS):
        with CaptureQueriesContext(connection) as looked:
            began = time.perf_counter()
            shown_method(project)
            kept.append(time.perf_counter() - began)
    return {
        "computed, seconds": round(seconds, 2),
        "kept, seconds": round(min(kept), 4),
        "statements computed": len(computed),
        "statements kept": len(looked),
    }


def speak(project):
    """Labels as people give them, what a reader asked of each reply, and what a checker found."""
    from annotate.models import Annotation, Item

    rng = random.Random(1)
    truth = {pk: rng.choices(WORDS, (55, 33, 12))[0] for pk in Item.objects.order_by("pk").values_list("pk", flat=True)}
    given = list(Annotation.objects.order_by("pk").select_related("assignment"))
    for one in given:
        one.label, one.active_ms, one.raw_ms = label(heard(truth[one.assignment.item_id], rng), rng), 40_000, 50_000
    Annotation.objects.bulk_update(given, ["label", "active_ms", "raw_ms"], batch_size=500)
    judged(project, 1, "reader", {pk: read(heard(word, rng), rng) for pk, word in truth.items()})
    lists = [["wrong"] * n for n in range(4)]
    found = {pk: {"errors": rng.choice(lists), "omissions": rng.choice(lists), "downplayed": []} for pk in truth}
    judged(project, 2, "checker", {pk: ({"values": values, "spans": []}, None) for pk, values in found.items()})


def judged(project, number, name, said):
    from annotate.models import WorkGroup
    from scoring.models import Judge, Run, Verdict

    judge = Judge.objects.create(project=project, name=name, settings_hash="0" * 64)
    group = WorkGroup.objects.create(key=f"measured {name}")
    own = {"judge": judge, "project": project, "number": number, "version": "1", "phases": ["main"]}
    run = Run.objects.create(group=group, n_items=len(said), **own)
    rows = (Verdict(run=run, item_id=pk, finding=finding, label=label) for pk, (finding, label) in said.items())
    Verdict.objects.bulk_create(rows, batch_size=2000)


def read(word, rng):
    """The Finding of a reader with up to four questions, those of a failed reply unanswered, and the label it makes."""
    n_gaps = rng.randint(1, 3) if word == "needs_information" else 0
    asked = [question(place < n_gaps, rng) for place in range(n_gaps + rng.randint(0, 1))]
    no_answer = word == "unrepairable_or_no_answer"
    failed = bool(n_gaps or no_answer)
    verdict = {"failed": failed, "failed_without_quote_check": failed, "fail_gap": bool(n_gaps)}
    verdict |= {"fail_language": False, "fail_answer": no_answer}
    return {"values": {"verdict": verdict, "questions": asked, "n_gaps": n_gaps}, "spans": []}, label(word, rng)


def question(is_gap, rng):
    start = rng.randrange(REPLY_CHARACTERS - 60)
    told = {"origin": "model", "question": "What is it?", "type": "reference", "about": "x" * 20, "removed": ""}
    told |= {"start": start, "end": start + 20, "answer": "It is that.", "quote": "y" * 80}
    return {**told, "quote_verified": not is_gap, "scope": "none" if is_gap else "context", "is_gap": is_gap}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
