"""What the figures of agreement cost: `python benchmarks/agreement.py`.

Two projects, of 1,000 and of 100,000 labels (five of each item). Of each the seconds of a report that has to be
computed (rows, labels, three measures with 10,000 resamples), and of one that is stored. Prints the seconds and the
ratio of large to small for the stored one.
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

from benchmarks.installations import PROJECT, ROOT, Installation, say

VOTERS = 5
COLD_SECONDS, STORED_RATIO = 1.0, 1.5
LOOKS = 20


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
        f"computed, seconds at {options.small} labels": round(small["computed"], 3),
        f"computed, seconds at {options.large} labels": round(large["computed"], 3),
        f"stored, seconds at {options.large} labels": round(large["stored"], 4),
        "stored, large to small": round(large["stored"] / small["stored"], 2),
    }
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    return int(not (large["computed"] <= COLD_SECONDS and result["stored, large to small"] <= STORED_RATIO))


def measure(folder, n_labels):
    say(f"Making an installation of {n_labels} labels.")
    made = Installation(folder)
    made.inside("voted", n_labels // VOTERS, VOTERS)
    command = [sys.executable, "-m", "benchmarks.agreement", "--inside"]
    return json.loads(subprocess.run(command, cwd=ROOT, env=made.environment, check=True, capture_output=True).stdout)


def looks():
    """In a process of its own: the first look, which computes, and the best of those that follow."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from annotate.models import Project
    from scoring.reports import shown_report

    project = Project.objects.get(slug=PROJECT)
    seconds = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        shown_report(project)
        seconds.append(time.perf_counter() - began)
    return {"computed": seconds[0], "stored": min(seconds[1:])}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
