"""What the lexical judge costs on texts made to be hard: `python benchmarks/lexical.py`.

Every text is judged at one size and at twice that size, in turn; one that takes far more than twice as long is not read
in linear time. Prints the seconds of both and their ratio, and ends with 1 where a ratio misses the target.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scoring.judges.base import ReplyView
from scoring.judges.lexical import JUDGE

RATIO = 3.0
UNITS = (
    *("`", "``` ", "`a", "a`b", "*", "*a ", "_", "_a ", "_a_", "a", "a.", "a-", "a_", "a/", "//", "a:", "a: ", ":\0"),
    *("1", "1.", "1-", "a1 ", "a1-", "a1.", "v1.", "a@", "a@b", "://", "a://", "www.", "10:30", "2024-05-01T", "Mar-"),
    *("中", "é", "\n", "\\", "\\n", " "),
)
"""What a hostile reply repeats."""


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=500_000, metavar="N", help="of the smaller reply")
    parser.add_argument("--names", type=int, default=10_000, metavar="N", help="in the smaller of many names")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    texts = {f"reply of {unit!r}": lambda n, unit=unit: repeated(unit, n * options.characters) for unit in UNITS}
    texts[f"{options.names} names, all private"] = lambda n: many_names(n * options.names)
    texts["names that nearly match everywhere"] = lambda n: near_names(n * options.characters)
    figures = {name: measure(make, options.rounds) for name, make in texts.items()}
    print(json.dumps(figures) if options.json else table(figures))
    return int(max(figure["ratio"] for figure in figures.values()) > RATIO)


def view(reply, private):
    return ReplyView("en", "?", (), ("?",), reply, (private,), ())


def repeated(unit, n_characters):
    return view(unit * (n_characters // len(unit)), "a_1")


def many_names(n):
    names = " ".join(f"run_{number}_{number * 7}" for number in range(n))
    return view(names, names * 3)


def near_names(n_characters):
    """Names of many parts, each of which breaks off only at its last one."""
    return view(" ".join("a." * n_parts + "b1" for n_parts in range(1, 500)), "a." * (n_characters // 2))


def measure(make, rounds):
    """Median seconds at both sizes."""
    views = make(1), make(2)
    taken = ([], [])
    for _ in range(rounds):
        for place, one in enumerate(views):
            started = time.perf_counter()
            JUDGE.step(one, JUDGE.settings)
            taken[place].append(time.perf_counter() - started)
    once, twice = map(median, taken)
    return {"seconds": once, "seconds_twice": twice, "ratio": twice / once}


def table(figures):
    return "\n".join(
        f"{name:40} {one['seconds']:6.2f} s, twice the size {one['seconds_twice']:6.2f} s: {one['ratio']:.1f} times"
        for name, one in figures.items()
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
