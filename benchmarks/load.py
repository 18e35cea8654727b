"""`.venv/bin/python benchmarks/load.py`: what a lab with 200 annotators does to the site, row by row of its load table.

Ratios are of two sizes, or of with and without, in the same run. README.md says what the rows mean.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script only finds what is in its own folder

from benchmarks import load_data, load_people
from benchmarks.installations import say
from benchmarks.load_bench import BURST, FULL, HOUR, QUICK, SIGN_INS, Bench, Plan
from benchmarks.serve import line_of
from tests.suite import ENDING, end


@dataclass(frozen=True)
class Row:
    """`sizes` are words with the names of a plan in them; `scale` is the name by which a smaller plan is compared with
    the table, empty where there is nothing to make smaller."""

    what: str
    measure: Callable
    sizes: str = ""
    scale: str = ""

    def said_sizes(self, plan):
        return self.sizes.format(**asdict(plan), burst=BURST, sign_ins=SIGN_INS * plan.sign_in_seconds)

    def factor(self, plan):
        """The part of the table's size, as a fraction that people read."""
        if not self.scale:
            return "1"
        return str(Fraction(getattr(plan, self.scale) / getattr(FULL, self.scale)).limit_denominator(2000))


ROWS = {
    1: Row(
        "submit in a burst",
        load_people.burst,
        "{burst:g} a second (15 on four processors) for {burst_seconds:g} s; {submits:,} submits in all",
        "burst_seconds",
    ),
    2: Row("next item", load_data.next_item, "{labels:,} labels to {few:,}", "labels"),
    3: Row("page of a long trajectory", load_data.trajectory, "200 turns to 10, and {long_turns:,}", "long_turns"),
    4: Row("the lead's pages", load_data.leading, "{labels:,} labels to {fewer_shown:,}", "labels"),
    5: Row("statements of annotators' requests", load_data.statements, "{labels:,} labels to {few:,}", "labels"),
    6: Row("import", load_data.importing, "{imported:,} items to {few_imported:,}", "imported"),
    7: Row(
        "submit beside import, export and a judge",
        load_people.beside,
        "import of {beside:,} items, exports of {labels:,} labels, a run over their items",
        "beside",
    ),
    8: Row(
        "memory of import and export",
        load_data.memory,
        "import as in 6, export of {labels:,} labels to {fewer_shown:,}",
        "labels",
    ),
    9: Row("memory of the web", load_people.memory_of_web, "{requests:,} requests to {first_requests:,}", "requests"),
    10: Row(
        "log-ins in the morning",
        load_people.signing_in,
        "about {sign_ins:.0f} in {sign_in_seconds:g} s (200 in 60 s on four processors)",
        "sign_in_seconds",
    ),
    11: Row(
        "a pool that all ask",
        load_people.asking,
        "{askers} askers for {asked_seconds:g} s, {pool:,} items, overlap 3",
        "asked_seconds",
    ),
    14: Row("idle", load_data.footprint, "an empty database"),
    15: Row(
        "five times too much",
        load_people.overload,
        "five times what it takes for {overload_seconds:g} s",
        "overload_seconds",
    ),
    16: Row("polling", load_people.polling, "{pages} open pages, 5 leads, {polling_seconds:g} s", "polling_seconds"),
    17: Row("page weight", load_data.weight),
    18: Row("restore", load_data.restoring, "{labels:,} labels", "labels"),
}
"""By its number in the table. 12 is benchmarks/asking.py; 13 is a day."""
ORDER = (14, 3, 9, 17, 1, 10, 11, 16, 15, 2, 4, 5, 6, 8, 18, 7)
"""A server is used by several rows: the one that counts its memory is its first, one whose work goes on is its last."""


def main(words):
    for number in ENDING:
        signal.signal(number, end)
    parser = argparse.ArgumentParser(description="Measure the load; see benchmarks/README.md.")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    sizes.add_argument("--full", action="store_true", help="the sizes of the table; may take a night")
    parser.add_argument("--only", type=int, choices=ROWS, action="append", metavar="ROW", help="may be repeated")
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL instead of SQLite")
    parser.add_argument("--minutes", type=float, metavar="N", help="rows not begun by then are left out")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args(words)
    plan = QUICK if options.quick else FULL if options.full else HOUR
    numbers = [number for number in ORDER if not options.only or number in options.only]
    show = say if options.json else print
    found = measured(plan, numbers, on_postgresql=options.postgresql, minutes=options.minutes, show=show)
    if options.json:
        print(json.dumps({str(number): found[number] for number in sorted(found)}), flush=True)
    return int(not all(row["met"] for row in found.values()))


def measured(plan: Plan, numbers, *, on_postgresql, minutes, show):
    """Every row, each shown as soon as it is there."""
    found, began = {}, time.monotonic()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sightline-load-", ignore_cleanup_errors=True))
        bench = Bench(plan, folder, stack, on_postgresql=on_postgresql)
        for number in numbers:
            is_late = minutes is not None and time.monotonic() - began > 60 * minutes
            say(f"{'Leaving out' if is_late else 'Measuring'} row {number}: {ROWS[number].what}.")
            found[number] = measured_row(left_out(ROWS[number]) if is_late else ROWS[number], bench)
            for line in lines_of(number, found[number]):
                show(line)
        show(conditions(bench))
    return found


def measured_row(row, bench):
    """The figures of a row; where it breaks, what it had until then and why it went no further."""
    figures, broken, began = [], "", time.perf_counter()
    try:
        for figure in row.measure(bench):
            figures.append(figure)
    except (Exception, SystemExit) as error:
        if is_ended(error):
            raise
        broken = f"{type(error).__name__}: {error}"
    return {
        "what": row.what,
        "sizes": row.said_sizes(bench.plan),
        "factor": row.factor(bench.plan),
        **worst(figures),
        "met": not broken and bool(figures) and all(figure.is_met is not False for figure in figures),
        "said": broken,
        "figures": [{**asdict(figure), "met": figure.is_met} for figure in figures],
        "seconds": round(time.perf_counter() - began, 1),
    }


def left_out(row):
    """The same row, which measures nothing and says why."""

    def measure(bench):
        raise SystemExit("not begun, the time was up")

    return replace(row, measure=measure)


def is_ended(error):
    """Whether somebody ended the whole of it: what breaks a row exits with words."""
    return isinstance(error, SystemExit) and isinstance(error.code, int)


def worst(figures):
    """The figure that is nearest to its target, or furthest over it."""
    bound = [figure for figure in figures if figure.target is not None]
    if not bound:
        return {"ratio": None, "target": None, "of": ""}
    found = max(bound, key=lambda figure: (figure.is_met is False, figure.measured / (figure.target or 0.5)))
    return {"ratio": found.measured, "target": found.target, "of": found.name}


def lines_of(number, row):
    met = "met" if row["met"] else "NOT MET"
    part = f", {row['factor']} of the table" if row["factor"] != "1" else ""
    yield f"\n{number}. {row['what']} ({row['sizes']}{part}): {met}, in {row['seconds']:.0f} s"
    for figure in row["figures"]:
        yield f"   {line_of(figure)}"
    if row["said"]:
        yield f"   broke: {row['said']}"


def conditions(bench):
    said = {**bench.databases, "processors": os.cpu_count(), "sizes": bench.plan.name}
    return "\n" + "; ".join(f"{name}: {value}" for name, value in said.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
