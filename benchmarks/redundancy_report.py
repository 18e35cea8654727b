"""What scoring a jury and detectors of redundant steps costs: `python benchmarks/redundancy_report.py`.

Records of 4,424 trajectories, each with gold, read by three jurors and by detectors of all three settings, 300 of them
by three experts as well, and experiences of four conditions. Of the report of the method with every table and interval
(10,000 resamples, 4,000 of correlations): seconds on one core, and the most memory, in a process of its own. Records
are read before, as a project's rows are, and their seconds printed by themselves.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SECONDS = 5.0
TYPES = ("ABN", "DUP", "INC", "EXP")
DOMAINS = ("airline", "retail", "telecom")
TOGETHER = 4
"""Trajectories of a task."""
N_EXPERT = 300
STEPS = 40
LOOKS = 3
"""The best counts."""
VARIANTS = ("default", "no_policy")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trajectories", type=int, default=4_424, metavar="N")
    parser.add_argument("--detectors", type=int, default=1, metavar="N", help="models, each in every setting")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--profile", metavar="FILE", help="write a profile of the report to this file")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.inside:
        json.dump(measured(options), sys.stdout)
        return 0
    command = [sys.executable, "-m", "benchmarks.redundancy_report", "--inside", *words]
    one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **one_core}, check=True, stdout=subprocess.PIPE)
    result = json.loads(done.stdout)
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    return int(result["report, processor seconds"] > SECONDS)


def measured(options):
    from scoring.methods.records import records_of
    from scoring.methods.redundancy import METHOD

    made = list(records(options.trajectories, options.detectors))
    processor = time.process_time()
    read = records_of(made, METHOD.schema)
    reading = time.process_time() - processor
    if options.profile:
        import cProfile

        profile = cProfile.Profile()
        profile.runcall(METHOD.of, read)
        profile.dump_stats(options.profile)
    best, used = [], []
    for _ in range(LOOKS):
        began, processor = time.perf_counter(), time.process_time()
        report = METHOD.of(read)
        best.append(time.perf_counter() - began)
        used.append(time.process_time() - processor)
    return {
        "records": len(made),
        "tables": len(report.tables),
        "figures": sum(len(getattr(one, "rows", ())) for one in report.tables),
        "reading records, processor seconds": round(reading, 2),
        "report, processor seconds": round(min(used), 2),
        "report, seconds": round(min(best), 2),
        "peak memory, MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def records(n, n_detectors):
    """Synthetic ones, which say nothing about anybody."""
    rng = random.Random(1)
    for number in range(n):
        name = f"t{number}"
        steps = true_steps(rng)
        yield {
            "record": "trajectory", "id": name, "domain": DOMAINS[number % 3], "task": str(number // (3 * TOGETHER)),
            "model": f"model-{number % 5}", "split": f"phase{1 + (number >= n // 10)}", "n_steps": 8 + number % 115,
            "tokens_redundant": rng.randrange(100, 900), "tokens_total": rng.randrange(1_000, 9_000),
        }  # fmt: skip
        yield {"record": "gold", "trajectory": name, "steps": steps}
        for juror in ("a", "b", "c"):
            covered = rng.random() < 0.97
            told = {"steps": heard(steps, rng)} if covered else {}
            yield {"record": "jury", "trajectory": name, "juror": juror, "covered": covered, **told}
        for expert in ("x", "y", "z") if number < N_EXPERT else ():
            yield {"record": "expert", "trajectory": name, "expert": expert, "steps": heard(steps, rng)}
        for number_of in range(n_detectors):
            for variant in VARIANTS:
                yield from detected(name, f"detector-{number_of}", variant, steps, rng)
    for domain in DOMAINS:
        for task in range(10):
            for repeat in range(3):
                for condition in ("none", "original", "llm", "gold"):
                    yield {"record": "outcome", "domain": domain, "task": str(task), "repeat": repeat,
                           "condition": condition, "success": rng.random() < 0.8,
                           "tokens": rng.randrange(10_000, 20_000)}  # fmt: skip


def detected(name, detector, variant, steps, rng):
    """The three settings of a detector over a trajectory."""
    about = {"record": "detector", "trajectory": name, "detector": detector, "variant": variant, "cost": 0.001}
    kinds = [{**one, "type": rng.choice(TYPES) if rng.random() < 0.3 else one["type"]} for one in steps]
    if steps:
        yield {**about, "setting": "classification", "answers": kinds}
        yield {**about, "setting": "retrieval", "answers": kinds}
    others = [step(rng.randrange(STEPS), rng) for _ in range(rng.randrange(6))]
    found = [{**one, "confidence": rng.randrange(11) / 10} for one in [*heard(steps, rng), *others]]
    yield {**about, "setting": "detection", "answers": found}


def true_steps(rng):
    return [step(at, rng) for at in sorted(rng.sample(range(STEPS), rng.choice((0, 1, 1, 2, 3))))]


def step(at, rng):
    evidence = [-1] if rng.random() < 0.5 else [2 * STEPS, 2 * STEPS + 1]
    return {"step": [2 * at, 2 * at + 1], "type": rng.choice(TYPES), "evidence": evidence}


def heard(steps, rng):
    """Now and then one step is missed, or its type is another."""
    kept = [one for one in steps if rng.random() < 0.9]
    return [{**one, "type": rng.choice(TYPES)} if rng.random() < 0.1 else one for one in kept]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
