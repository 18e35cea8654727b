"""`.venv/bin/python benchmarks/serve.py`: how fast and light the labelling page is, and whether an answer is ever lost.

Makes its own data folders, starts the server as `./run` does, and prints each figure beside its target; README.md
says what they mean.
"""

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script only finds what is in its own folder

from benchmarks.figures import GROUPS, QUICK, Bench, Plan
from benchmarks.installations import say
from tests.suite import ENDING, end


def main(words):
    for number in ENDING:
        signal.signal(number, end)
    parser = argparse.ArgumentParser(description="Measure the server; see benchmarks/README.md.")
    parser.add_argument("--quick", action="store_true", help="small sizes and two rounds, to see that it works")
    parser.add_argument("--only", choices=GROUPS, action="append", help="one group of figures; may be repeated")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args(words)
    show = say if options.json else print
    result = measure(QUICK if options.quick else Plan(), options.only or list(GROUPS), show)
    print(json.dumps(result) if options.json else conditions(result["context"]), flush=True)
    return int(any(figure["met"] is False for figure in result["figures"]))


def measure(plan, names, show):
    """Every figure of the named groups, each shown as soon as it is there."""
    with tempfile.TemporaryDirectory(prefix="sightline-benchmark-") as folder:
        bench, rows = Bench(plan, folder), []
        for name in names:
            say(f"Measuring: {name}.")
            for figure in GROUPS[name](bench):
                rows.append({**asdict(figure), "met": figure.is_met})
                show(line_of(rows[-1]))
    return {"context": context(plan, bench), "figures": rows}


def context(plan, bench):
    versions = {"python": platform.python_version(), "django": django.__version__, **bench.databases}
    return {**versions, "processors": os.cpu_count(), **asdict(plan)}


def conditions(context):
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in context.items())


def line_of(row):
    met = {True: "met", False: "NOT MET", None: ""}[row["met"]]
    sign = "" if row["target"] is None else f"{'>=' if row['at_least'] else '<='} {row['target']:g}"
    return f"{row['name']:52} {row['measured']:>8g} {row['unit']:3} {sign:9} {met:8} {row['note']}".rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
