"""`./run prove`: every row of the two promises, blindness and durability, with how often it was tried and what came of
it, as the table of docs/proof.md. An hour at most; `--full` takes the sizes of the reliability table as they stand."""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import django

from tests import programs
from tests.guards.named import NAMED
from tests.prove_load import load_lines, loaded, measure
from tests.suite import PROCESSES, PYTEST, ROOT, clean_environment, head, run, say

REPORT = ROOT / "docs" / "proof.md"
HOUR, NIGHT = 3600, 16 * 3600
COUNTED = ("sent", "acknowledged", "found", "unknown", "lost", "doubled", "half", "over", "leaks", "figures_off")
FAULTS = {
    1: ("a web worker killed in a submit", "100 moments on each database"),
    2: ("the whole web server killed and started again", "100 moments on each database"),
    3: ("the answer lost behind its commit", "100 cuts on each database"),
    4: ("PostgreSQL killed under load", "10 of 30 times"),
    5: ("PostgreSQL restarted, connections ended", "10 of 30 times each"),
    6: (
        "PostgreSQL out of reach, slow, or held by a lock",
        "15 s of 5 min away (1/20), 0.05 s of 2 s a piece (1/40), a lock for 4 s; 5 of 30 times",
    ),
    7: ("the disk full under the database", "5 of 30 times"),
    8: ("the disk full under uploads and exports", "5 of 30 times"),
    9: ("Redis killed, with its data gone", ""),
    10: ("a worker killed around a job and around a call", ""),
    11: ("warm, soft and cold stop during 50 calls", "5 of 30 times"),
    12: ("the same message many times, out of order, late", ""),
    13: ("a job longer than its lease", "the lease ended by hand"),
    14: ("a job that kills its worker each time", "10 jobs of 30"),
    16: ("a judge that is busy, down or away", "5 of 30 times"),
    17: ("a judge that answers with no answer", "5 of 30 times"),
    18: ("a judge that is slow or endless", "seconds of 10 min; 5 of 30 times"),
    19: ("an answer behind the takeover", "5 of 30 times"),
    20: ("key revoked, quota gone", "5 of 30 times"),
    21: ("clocks that jump, stand still and differ", "5 clocks once each of 5 times"),
    22: ("the browser loses its line", "5 of 30 times"),
    23: ("the session ends in mid-edit", "5 of 30 times"),
    24: ("two windows, two clicks, Back", "5 of 30 times"),
    25: ("many ask for the next item at once", "16 of 200 people (1/12), 5 of 100 rounds (1/20)"),
    26: ("two reviewers decide at once", "5 of 500 rounds (1/100)"),
    27: ("the lead changes things while people label", "5 of 50 people (1/10), 5 of 30 times"),
    28: ("an export while labels arrive", "4,000 of 1,000,000 labels (1/250), 5 of 30 times"),
    29: ("an import killed", "1,500 of 1,000,000 lines (1/667), 5 of 30 times"),
    30: ("a migration killed", "3,000 of 300,000 labels (1/100), 5 of 30 times"),
}
"""By its number, each fault that is promised to be shown, and by what its hour is less than its full size."""
BLINDNESS = {
    "crawl": ("the crawl: nothing hidden in any answer", "test_nothing_hidden_is_sent_to_anybody"),
    "leaks": ("planted leaks that are caught", "test_a_planted_leak_is_caught"),
    "twins": ("twin worlds", "test_twins"),
    "predictors": ("predictors over 2,000 assignments", "test_predictors"),
    "timing": ("paired timing, 500 pairs a case", "test_timing"),
    "browser": ("the journey in a browser: nothing hidden in bodies, pages, stores, console", "test_blind_journey"),
    "policies": ("headers and policies on every route for every role", "test_policies"),
}


@dataclass(frozen=True)
class Part:
    """Tests that are run together, and what they need."""

    name: str
    expression: str
    needs_postgresql: bool = False
    folder: str = "tests"
    is_spread: bool = False


PARTS = (
    Part("installations that are broken", "fault and installation", is_spread=True),
    Part("browsers", "fault and browser"),
    Part("workers and judges", "fault and not installation and not browser", is_spread=True),
    Part(
        "workers and judges on PostgreSQL",
        "fault and database and not installation and not browser",
        needs_postgresql=True,
        is_spread=True,
    ),
    Part("blindness", "not fault and not prove", folder="tests/guards", is_spread=True),
    Part("times", "prove and not fault", folder="tests/guards"),
    Part("blindness in the browser", "not fault", folder="tests/browser/test_blind_journey.py"),
)


def main(words):
    parser = argparse.ArgumentParser("./run prove", description="Prove blindness and durability, row by row.")
    parser.add_argument("--full", action="store_true", help="the sizes of the reliability table; may take a night")
    parser.add_argument("--keep", type=Path, help="a folder for what parts said; one that ended is not done again")
    parser.add_argument("--no-install", action="store_true")
    options = parser.parse_args(words)
    programs.install_missing(not options.no_install, say)
    with tempfile.TemporaryDirectory(prefix="sightline-proof-") as folder:
        table, is_shown = prove(options.keep or Path(folder), full=options.full)
    REPORT.write_text(table, "utf-8")
    say(table)
    return int(not is_shown)


def prove(folder, *, full):
    """The report, and whether all of it is as promised."""
    for part in PARTS:
        once(folder / part.name.replace(" ", "-"), lambda home, part=part: run_part(part, home, full=full))
    once(folder / "load", lambda home: measure(home, full=full))
    rows = [json.loads(line) for path in sorted(folder.glob("*/proof.jsonl")) for line in path.open(encoding="utf-8")]
    minutes = sum(float(path.read_text("utf-8")) for path in folder.glob("*/minutes"))
    return report(rows, loaded(folder / "load"), minutes=minutes, full=full), all_is_shown(rows)


def once(home, act):
    """Done in its folder, unless it was; `minutes` there says that it ended, and how long it took."""
    if (home / "minutes").exists():
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    began = time.monotonic()
    act(home)
    (home / "minutes").write_text(f"{(time.monotonic() - began) / 60}", "utf-8")


def run_part(part, home, *, full):
    """Every test of the part, as the plugin writes it down."""
    head(part.name)
    environment = clean_environment(home) | {
        "SIGHTLINE_PROOF": str(home / "proof.jsonl"),
        "SIGHTLINE_PROVE": "full" if full else "hour",
    }
    spread = ["-n", str(PROCESSES), "--dist", "worksteal"] if part.is_spread else []
    command = [*PYTEST, "-p", "tests.proving", "-m", part.expression, "-q", *spread, part.folder]
    seconds = NIGHT if full else HOUR
    if not part.needs_postgresql:
        run(command, environment, seconds=seconds)
        return
    with programs.postgresql(say) as url:
        if url is not None:
            run(command, environment | {"DATABASE_URL": url}, seconds=seconds)


# What is said


def report(rows, load, *, minutes, full):
    lines = [
        "# Proof",
        "",
        f"The last `./run prove{' --full' if full else ''}`: {datetime.now(UTC):%Y-%m-%d}, {minutes:.0f} minutes, "
        f"{os.cpu_count()} processors, Python {platform.python_version()}, Django {django.__version__}. Written by it; "
        "what a row means stands in the tests it counts.",
        "",
        "## Blindness",
        "",
        "| what | tests | passed | said |",
        "|---|---|---|---|",
        *(blindness_line(rows, title, where) for title, where in BLINDNESS.values()),
        "",
        "## Durability",
        "",
        "Answers are counted where people label meanwhile: `found` is what was acknowledged and is there, `lost`, "
        "`doubled`, `half`, `over` (more than the overlap), `leaks` (a hidden word in anything received) and "
        "`figures off` have to be 0.",
        "",
        "| fault | what | tests | times | sent | acknowledged | found | unknown | lost | doubled | half | over | leaks "
        "| figures off | passed | of the full size |",
        "|---|---|" + "---|" * 14,
        *(fault_line(rows, number, *words, full) for number, words in FAULTS.items()),
        "",
        *load_lines(load),
    ]
    return "\n".join(lines)


def blindness_line(rows, title, where):
    those = [row for row in rows if where in row["test"] and not row["faults"]]
    n_passed = sum(is_passed(row) for row in those)
    said = {name: value for row in those for one in row["outcomes"] for name, value in one["said"].items()}
    words = ", ".join(f"{name} {value}" for name, value in said.items() if name not in NOT_IN_WORDS)
    words = leaks_caught(those) if where == BLINDNESS["leaks"][1] else words
    return f"| {title} | {len(those)} | {n_passed} of {len(those)} | {words} |"


NOT_IN_WORDS = ("named", "instead", "repetitions")


def leaks_caught(rows):
    """How many of the sixteen by name, which are missing, and which stand where the product has no such channel."""
    missing = [name for name in NAMED if name not in named(rows)]
    said = [one["said"] for row in rows for one in row["outcomes"]]
    instead = {one["named"]: one["instead"] for one in said if one.get("instead")}
    words = [f"{len(NAMED) - len(missing)} of {len(NAMED)} named", *(f"missing: {name}" for name in missing)]
    return "; ".join([*words, *(f"{name}: {place}" for name, place in instead.items())])


def named(rows):
    """The names of leaks whose test passed."""
    return {one["said"].get("named") for row in rows if is_passed(row) for one in row["outcomes"]}


def fault_line(rows, number, title, scaled, full):
    those = [row for row in rows if number in row["faults"]]
    times = sum(one["said"]["repetitions"] for row in those for one in row["outcomes"])
    counts = [json.loads(one["said"]["counts"]) for row in those for one in row["outcomes"] if "counts" in one["said"]]
    sums = [str(sum(count[name] for count in counts)) if counts else "" for name in COUNTED]
    passed = f"{sum(map(is_passed, those))} of {len(those)}" if those else "not shown"
    said = "" if full else scaled
    return f"| {number} | {title} | {len(those)} | {times} | {' | '.join(sums)} | {passed} | {said} |"


def is_passed(row):
    return bool(row["outcomes"]) and all(one["outcome"] == "passed" for one in row["outcomes"])


def all_is_shown(rows):
    shown = {number for row in rows if is_passed(row) for number in row["faults"]}
    return shown >= set(FAULTS) and named(rows) >= set(NAMED) and all(map(is_passed, rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
