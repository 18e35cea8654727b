"""What it costs to seal and to export a release: `python benchmarks/exporting.py`.

Two releases, of 1,000 and of 100,000 annotations (five of each item), each sealed (without figures of agreement, which
are another matter) and exported in a process of its own, its start among the seconds of the export. Prints annotations
a second, and the peak memory of the large one to that of the small one.
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
A_SECOND, MEMORY = 10_000, 1.3


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000, metavar="N", help="annotations of the small release")
    parser.add_argument("--large", type=int, default=100_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="sightline-measure-") as folder:
        measured = {n: list(measure(Path(folder), n, options.rounds)) for n in (options.small, options.large)}
    result = summary(measured, options.small, options.large)
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    return int(not (result["export, annotations a second"] >= A_SECOND and result["export, peak memory"] <= MEMORY))


def measure(folder, n_annotations, rounds):
    """By round, seconds and peak kilobytes of sealing and of exporting."""
    say(f"Making an installation of {n_annotations} annotations.")
    made = Installation(folder)
    made.inside("voted", n_annotations // VOTERS, VOTERS)
    for number in range(rounds):
        sealed = made.inside("seal")
        out = made.folder / f"release-{number}"
        yield {"seal": sealed, "export": cost(made, "export_release", PROJECT, "--no-parquet", "--out", str(out))}


def cost(made, *words):
    """Seconds and peak kilobytes of a command in a process of its own, its start among them."""
    began = time.perf_counter()
    command = [sys.executable, "manage.py", *words, "--json"]
    child = subprocess.Popen(command, cwd=ROOT, env=made.environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for here
    if child.returncode:
        raise SystemExit(f"{words[0]} ended with exit code {child.returncode}; see above.")
    return time.perf_counter() - began, used.ru_maxrss


def summary(measured, small, large):
    result = {}
    for action in ("export", "seal"):
        seconds = {n: min(one[action][0] for one in measured[n]) for n in (small, large)}
        memory = {n: min(one[action][1] for one in measured[n]) for n in (small, large)}
        result |= {
            f"{action}, annotations a second": round(large / seconds[large]),
            f"{action}, seconds": round(seconds[large], 2),
            f"{action}, peak memory": round(memory[large] / memory[small], 2),
            f"{action}, megabytes": [round(memory[n] / 1024) for n in (large, small)],
        }
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
