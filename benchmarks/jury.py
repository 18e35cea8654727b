"""`.venv/bin/python benchmarks/jury.py`: a jury of three models over many trajectories, whose endpoints turn requests
away and talk garbage, while a worker is killed every minute; then the jury's own run and the report of the method.

The model is the tests' scripted server, as a process of its own; two workers as `./run` starts them do the runs.
README.md says what the figures mean.
"""

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script only finds what is in its own folder

from benchmarks.asking import ANSWERED, REQUESTS, counts, killed, model, sized
from benchmarks.figures import Figure
from benchmarks.installations import Installation, durable_postgresql, say


@dataclass(frozen=True)
class Plan:
    """`concurrency` and `per_minute` are those of each of the three endpoints."""

    items: int = 4424
    concurrency: int = 6
    per_minute: int = 1200
    latency: float = 0.2
    busy: float = 0.10
    down: float = 0.03
    garbage: float = 0.02
    kill_seconds: float = 60
    workers: int = 2


QUICK = Plan(items=90, kill_seconds=10)


def main(words):
    about = "Measure a jury of three models; see benchmarks/README.md. Every size of the plan is an option: --items N."
    few = "few trajectories, to see that it works"
    return sized(words, about=about, quick=few, bench=Bench, plans=(Plan(), QUICK))


class Bench:
    def __init__(self, plan, folder, on_postgresql):
        self.plan, self.folder, self.on_postgresql, self.databases = plan, folder, on_postgresql, {}

    def figures(self):
        plan = self.plan
        with contextlib.ExitStack() as stack:
            url = stack.enter_context(durable_postgresql()) if self.on_postgresql else ""
            if url is None:
                raise SystemExit("There is no PostgreSQL here.")
            installation = Installation(self.folder, url)
            installation.environment["LLM_ALLOW_LOOPBACK"] = "1"
            say(f"Making an installation of {plan.items} trajectories.")
            installation.inside("trajectories", plan.items)
            self.databases = installation.inside("about")
            address = stack.enter_context(model(plan, installation.environment))
            with killed(plan, installation.environment) as kills:
                say("Asking.")
                took = installation.inside("jury", address, plan.concurrency, plan.per_minute)
            yield from of_jury(plan, took, counts(address), kills)


def of_jury(plan, took, asked, kills):
    expected = 3 * plan.items
    note = f"{took['verdicts']} verdicts, {took['unreadable']} of them unreadable, {took['given_up']} given up"
    missing = expected - took["verdicts"] - took["given_up"]
    yield Figure("judgments of jurors without an end", missing, "", 0, note=f"{note}; {len(kills)} workers killed")
    yield Figure("verdicts doubled", took["doubled"], "", 0)
    note = f"{asked['n_answered']} answers of the model for {took['needed']} questions"
    answered = round(asked["n_answered"] / took["needed"], 3)
    yield Figure("answered calls to those needed", answered, "x", ANSWERED, note=note)
    note = f"{took['seconds']:.0f} s, {asked['n_asked'] / took['seconds']:.1f} requests a second over three endpoints"
    yield Figure("requests to calls needed", round(asked["n_asked"] / took["needed"], 3), "x", REQUESTS, note=note)
    note = ", ".join(f"{outcome} {n}" for outcome, n in sorted(took["outcomes"].items()))
    without = plan.items - sum(took["outcomes"].values())
    yield Figure("trajectories without an outcome of the jury", without, "", 0, note=note)
    yield Figure("seconds of the jury's own run", round(took["jury_seconds"], 1), "s")
    note = f"peak memory of the process {took['megabytes']} MB"
    yield Figure("seconds of a new report", round(took["report_seconds"], 1), "s", note=note)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
