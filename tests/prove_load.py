"""The load part of `./run prove`: benchmarks/load.py in a process of its own, and its table. A target that is missed is
printed as missed, and is none of the promises that have to be shown."""

import json
import sys

from tests.suite import ROOT, clean_environment, head, run, say

MINUTES, HOUR, NIGHT = 10, 20 * 60, 16 * 3600
"""No row begins later than so many minutes; the seconds are what it takes to believe that one hangs."""
HEADS = ("row", "what", "sizes", "of the table", "ratio", "target", "met")


def measure(home, *, full):
    """Runs it, in this folder."""
    head("load")
    said = home / "load.json"
    command = [sys.executable, ROOT / "benchmarks" / "load.py", "--json"]
    command += ["--full"] if full else ["--minutes", str(MINUTES)]
    with said.open("w", encoding="utf-8") as out:
        run(command, clean_environment(home), seconds=NIGHT if full else HOUR, stdout=out)


def loaded(home):
    """Every row by its number; none where the measuring broke down as a whole."""
    try:
        return json.loads((home / "load.json").read_text("utf-8"))
    except json.JSONDecodeError:
        say("The load said nothing that could be read, which counts as missed.")
        return {}


def load_lines(rows):
    """The table, one line a row."""
    return [
        "## Load",
        "",
        "Ratios of one run on SQLite. What a row means, and why one is missed, stands in benchmarks/README.md; row 12 "
        "is benchmarks/asking.py, and 13 a day."
        if rows
        else "Not measured: it ended before its rows were there.",
        "",
        f"| {' | '.join(HEADS)} |",
        "|" + "---|" * len(HEADS),
        *(load_line(number, row) for number, row in rows.items()),
        "",
    ]


def load_line(number, row):
    bound = [figure for figure in row["figures"] if figure["target"] is not None]
    ratios = [f"{figure['name']} {figure['measured']:g} {figure['unit']}".strip() for figure in bound]
    ratios = [f"**{words}**" if figure["met"] is False else words for words, figure in zip(ratios, bound, strict=True)]
    targets = [f"{'≥' if figure['at_least'] else '≤'} {figure['target']:g}" for figure in bound]
    broken = [f"broke: {row['said']}"] if row["said"] else []
    met = "met" if row["met"] else "**missed**"
    cells = (number, row["what"], row["sizes"], row["factor"], "; ".join(ratios + broken), "; ".join(targets), met)
    return f"| {' | '.join(str(cell).replace('|', '/').replace(chr(10), ' ') for cell in cells)} |"
