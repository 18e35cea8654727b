"""What the figures of agreement cost: `python benchmarks/agreement.py`.

Two projects, of 1,000 and of 100,000 labels: five people on each item, who agree on four of five, every second label
with passages and words of its own, and a judge. Of each the seconds of a report that has to be computed (rows, labels,
three measures with 10,000 resamples, the judge), with collaborations of 20 items, of 2 and of 1; and of one that is
stored. Prints the seconds and the ratio of large to small for the stored one.
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
from benchmarks.material import REPLY_CHARACTERS

VOTERS = 5
COLD_SECONDS, STORED_RATIO = 1.0, 1.5
LOOKS = 20
TOGETHER = (20, 2, 1)
"""Items of a cluster: the more clusters, the more is drawn."""
COLD_LOOKS = 3
WORDS = ("readable", "needs_information", "unrepairable_or_no_answer")


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
    result = {
        **{
            f"computed at {n} labels, clusters of {together}, seconds": round(seconds, 3)
            for n, of_it in ((options.small, small), (options.large, large))
            for together, seconds in of_it["computed"].items()
        },
        f"stored at {options.large} labels, seconds": round(large["stored"], 4),
        "stored, large to small": round(large["stored"] / small["stored"], 2),
    }
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    is_fast = large["computed"][str(TOGETHER[0])] <= COLD_SECONDS
    return int(not (is_fast and result["stored, large to small"] <= STORED_RATIO))


def measure(folder, n_labels):
    say(f"Making an installation of {n_labels} labels.")
    made = Installation(folder)
    made.inside("voted", n_labels // VOTERS, VOTERS)
    command = [sys.executable, "-m", "benchmarks.agreement", "--inside"]
    done = subprocess.run(command, cwd=ROOT, env=made.environment, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def looks():
    """In a process of its own: the first look, which computes, and the best of those that follow."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from annotate.models import Project
    from scoring.reports import shown_report

    project = Project.objects.get(slug=PROJECT)
    speak(project)
    shown_report(project)  # modules are imported, pages of the database are in memory
    computed = {}
    for together in TOGETHER:
        computed[together] = min(computed_seconds(project, together) for _ in range(COLD_LOOKS))
    seconds = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        shown_report(project)
        seconds.append(time.perf_counter() - began)
    return {"computed": computed, "stored": min(seconds)}


def computed_seconds(project, together):
    from annotate.models import Item
    from scoring.models import Report
    from scoring.reports import shown_report

    items = list(Item.objects.order_by("pk"))
    for number, item in enumerate(items):
        item.cluster = f"task-{number // together}"
    Item.objects.bulk_update(items, ["cluster"], batch_size=500)
    Report.objects.all().delete()
    began = time.perf_counter()
    shown_report(project)
    return time.perf_counter() - began


def speak(project):
    """Labels as people give them, in place of those that are all alike, and the verdicts of a judge."""
    from annotate.models import Annotation, Item, WorkGroup
    from scoring.models import Judge, Run, Verdict

    rng = random.Random(1)
    truth = {pk: rng.choices(WORDS, (55, 33, 12))[0] for pk in Item.objects.order_by("pk").values_list("pk", flat=True)}
    given = list(Annotation.objects.order_by("pk").select_related("assignment"))
    for one in given:
        one.label = label(heard(truth[one.assignment.item_id], rng), rng)
    Annotation.objects.bulk_update(given, ["label"], batch_size=500)
    judge = Judge.objects.create(project=project, name="lexical", settings_hash="0" * 64)
    group = WorkGroup.objects.create(key="measured")
    own = {"judge": judge, "project": project, "number": 1, "version": "1", "phases": ["main"]}
    run = Run.objects.create(group=group, n_items=len(truth), **own)
    said = [Verdict(run=run, item_id=pk, label=label(heard(word, rng), rng)) for pk, word in truth.items()]
    Verdict.objects.bulk_create(said, batch_size=2000)


def heard(word, rng):
    return word if rng.random() < 0.8 else rng.choice(WORDS)


def label(word, rng):
    """Up to three passages on what is not readable, at least one where information is needed."""
    if word == "readable":
        return {"label": word, "states_no_result": False, "spans": [], "comment": ""}
    starts = rng.sample(range(REPLY_CHARACTERS - 60), rng.randint(word == "needs_information", 3))
    spans = [span(start, start + rng.randint(5, 60), rng) for start in sorted(starts)]
    no_result = word == "unrepairable_or_no_answer" and rng.random() < 0.5
    return {"label": word, "states_no_result": no_result, "spans": spans, "comment": rng.choice(("", "What is it?"))}


def span(start, end, rng):
    return {"start": start, "end": end, "type": rng.choice(("definition", "reference")), "quote": "x" * (end - start)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
