"""What localising costs: `python benchmarks/values.py`.

5,773 made-up runs with 11,007 reports of 40,000 characters in the mean, one in a hundred above 500,000, the longest of
846,800, under all conditions of delivery in turn. A tenth of the reports is equal to an earlier one, as when an agent
runs the same input again. Reading the logs and deciding the verdicts is timed, on one processor; making them is not.
Prints the seconds, how much text was read, and the peak memory after a tenth of the runs and at the end.
"""

import argparse
import json
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scoring.values.deliveries import CONDITIONS, executed, read_report, search, searched
from scoring.values.items import Option, ValueItem
from scoring.values.localiser import Index, localise
from scoring.values.logs import read_log
from scoring.values.numbers import number
from scoring.values.phreeqc import PHREEQC

RUNS, REPORTS = 5_773, 11_007
SECONDS, MEMORY = 60.0, 1.3
LONGEST = 846_800
WAYS = [one for one in CONDITIONS.values() if one.has_tools]
ROWS = (
    "\t{name:<18}{a:10.3e}  {b:10.3e}  {c:8.3f}  {d:8.3f}  {e:8.3f}\n",
    "   {name:<30}  = {c:7.3f}\n",
    "Reaction step {n}.\n\n-------------------------------Solution composition-----------------------------\n\n",
)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    figures = measure(options.runs)
    print(json.dumps(figures) if options.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))
    allowed = SECONDS * options.runs / RUNS
    return int(figures["seconds"] > allowed or figures["memory, end to a tenth"] > MEMORY)


def measure(n_runs):
    made, index = Made(n_runs), Index()
    spent = {"reading": 0.0, "deciding": 0.0}
    counted = dict.fromkeys(("built", "exposed", "closed"), 0)
    at_a_tenth = 0
    for number_of, (text, item) in enumerate(made.runs(), 1):
        began = time.process_time()
        log = read_log(text).log
        read = time.process_time()
        verdict = localise(log, item, PHREEQC.headings, PHREEQC.is_echo, index)
        spent["reading"] += read - began
        spent["deciding"] += time.process_time() - read
        for name in counted:
            counted[name] += bool(getattr(verdict, name))
        if number_of == max(n_runs // 10, 1):
            at_a_tenth = peak()
    return {
        "runs": n_runs,
        "reports": made.n_reports,
        "characters of a report, mean": round(made.n_characters / made.n_reports),
        "reports above 500,000 characters": made.n_long,
        "characters of all reports and results": made.n_given,
        "texts read": index.n_read,
        **counted,
        "seconds": round(sum(spent.values()), 1),
        "of these for reading the logs": round(spent["reading"], 1),
        "peak memory, MB": peak(),
        "memory, end to a tenth": round(peak() / at_a_tenth, 2),
    }


def peak():
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


class Made:
    """Runs made one after another, so that only one of them is there at a time."""

    def __init__(self, n_runs):
        self.n_runs, self.random = n_runs, random.Random(20)
        self.n_reports = self.n_characters = self.n_long = self.n_given = 0
        self.material = "".join(self.row() for _ in range(40_000))
        self.again = []

    def row(self):
        pick = self.random.choices(ROWS, (20, 8, 1))[0]
        values = {name: self.random.uniform(0, 9) for name in "abcde"}
        return pick.format(name=f"Species_{self.random.randrange(60)}", n=self.random.randrange(1, 40), **values)

    def runs(self):
        least, more = divmod(round(REPORTS * self.n_runs / RUNS), self.n_runs)
        for place in range(self.n_runs):
            yield self.run(place, least + (place < more))

    def run(self, place, n_reports):
        key = f"{self.random.uniform(1, 9):.3f}"
        item = question(key)
        condition = WAYS[place % len(WAYS)]
        rows = [{"type": "run", "id": f"r{place}", "item": "q", "condition": condition.key, "synthetic": True}]
        for number_of in range(n_reports):
            report = self.report(key, is_longest=place == 0 and number_of == 0)
            rows += self.steps(condition, report, len(rows), key)
        rows.append({"type": "end", "answer": self.random.choice("AB"), "answer_parse": "ok"})
        return "\n".join(json.dumps(row) for row in rows), item

    def report(self, key, is_longest):
        self.n_reports += 1
        if self.again and self.random.random() < 0.1:
            report = self.random.choice(self.again)
        else:
            n = LONGEST if is_longest else self.length()
            start = self.random.randrange(len(self.material) - n)
            body = self.material[start : start + n - 200]
            middle = body.find("\n", len(body) // 2) + 1
            value = f"   pH{self.random.randrange(10**9):9}  = {key if self.random.random() < 0.8 else '0.1'}\n"
            report = body[:middle] + value + body[middle:]
            if n < 100_000:
                self.again = [*self.again[-20:], report]
        self.n_characters += len(report)
        self.n_long += len(report) > 500_000
        return report

    def length(self):
        if self.random.random() < 0.01:
            return self.random.randrange(500_500, 800_000)
        return min(5_000 + int(self.random.expovariate(1 / 30_500)), 200_000)

    def steps(self, condition, report, seq, key):
        given = executed(condition, True, report, PHREEQC.headings(report), {})
        line = self.random.randrange(report.count("\n"))
        part = read_report(condition, report, line, line + 60)
        hits = searched(condition, *search(report, rf"= {key}"))
        further = hits if condition.way == "search" else part
        rows = [
            {"type": "step", "seq": seq, "tool": "execute", "args": {"path": "i.txt"}, **result(given)},
            {
                **{"type": "simulation", "step": seq, "input_text": "END", "database": "phreeqc.dat"},
                **{"success": True, "report_text": report},
            },
            {"type": "step", "seq": seq + 1, "tool": "read_file", "args": {"path": "result.out"}, **result(further)},
        ]
        self.n_given += len(report) + len(given.text) + len(further.text)
        return rows


def result(delivery):
    return {"result_text": delivery.text, "result_kind": delivery.kind}


def question(key):
    below = f"{float(key) - 0.001:.3f}"
    options = (Option("A", key, number(key)), Option("B", below, number(below)))
    return ValueItem("q", "setup", "numeric", {"en": "?"}, options, "A")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
