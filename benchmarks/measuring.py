"""The command line of a benchmark that is one bench with a usual and a quick plan."""

import argparse
import json
import signal
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks.installations import say
from benchmarks.serve import conditions, context, line_of
from tests.suite import ENDING, end


def measure(words, *, about, quick, bench, plans):
    """Print every figure of `bench(plan, folder, on_postgresql)`; 1 where one of them is not met."""
    for number in ENDING:
        signal.signal(number, end)
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL instead of SQLite")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args(words)
    plan = plans[options.quick]
    with tempfile.TemporaryDirectory(prefix="sightline-benchmark-") as folder:
        made = bench(plan, Path(folder), options.postgresql)
        rows = [{**asdict(figure), "met": figure.is_met} for figure in made.figures()]
    for row in rows:
        (say if options.json else print)(line_of(row))
    said = context(plan, made)
    print(json.dumps({"context": said, "figures": rows}) if options.json else conditions(said), flush=True)
    return int(any(row["met"] is False for row in rows))
