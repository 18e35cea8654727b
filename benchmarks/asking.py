"""`.venv/bin/python benchmarks/asking.py`: a run that asks a model which turns requests away and talks garbage, while a
worker is killed every minute.

The model is the tests' scripted server, as a process of its own; two workers as `./run` starts them do the run, and one
after the other is killed and started again. README.md says what the figures mean.
"""

import argparse
import contextlib
import json
import signal
import subprocess
import sys
import threading
import urllib.request
from dataclasses import dataclass, fields, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script only finds what is in its own folder

from benchmarks.figures import Figure
from benchmarks.installations import ROOT, Installation, durable_postgresql, say
from benchmarks.measuring import measure
from config.start import worker

ANSWERED, REQUESTS, THROUGHPUT = 1.1, 1.35, 0.8


@dataclass(frozen=True)
class Plan:
    """`latency` is how long the model thinks, in seconds; `kill_seconds` how often a worker is killed."""

    items: int = 10_000
    judge: str = "checker"
    concurrency: int = 16
    per_minute: int = 1200
    latency: float = 0.5
    busy: float = 0.10
    down: float = 0.03
    garbage: float = 0.02
    kill_seconds: float = 60
    workers: int = 2


QUICK = Plan(items=600, per_minute=600, kill_seconds=40)


def main(words):
    about = "Measure a run that asks a model; see benchmarks/README.md. Every size of the plan is an option: --items N."
    return sized(words, about=about, quick="few items, to see that it works", bench=Bench, plans=(Plan(), QUICK))


def sized(words, *, plans, **how):
    """Measure one of the plans, the whole or the quick one, with every size of it as an option."""
    sizes = argparse.ArgumentParser(add_help=False)
    for one in fields(plans[0]):
        sizes.add_argument(f"--{one.name.replace('_', '-')}", type=type(one.default), default=argparse.SUPPRESS)
    given, words = sizes.parse_known_args(words)
    return measure(words, plans=[replace(plan, **vars(given)) for plan in plans], **how)


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
            say(f"Making an installation of {plan.items} items.")
            installation.inside("fill", plan.items, 0)
            self.databases = installation.inside("about")
            address = stack.enter_context(model(plan, installation.environment))
            with killed(plan, installation.environment) as kills:
                say("Asking.")
                took = installation.inside("ask", address, plan.judge, plan.concurrency, plan.per_minute)
            yield from of_run(plan, took, counts(address), kills)


@contextlib.contextmanager
def model(plan, environment):
    mix = f"busy={plan.busy},down={plan.down},garbage={plan.garbage}"
    command = [sys.executable, "-m", "tests.judge_server", "--mix", mix, "--latency", str(plan.latency)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child.stdout.readline().strip()
        finally:
            child.terminate()


def counts(address):
    with urllib.request.urlopen(f"{address.removesuffix('/v1')}/counts") as answer:
        return json.load(answer)


@contextlib.contextmanager
def killed(plan, environment):
    """Workers, one of which is killed every so often and started again; gives the list of the kills."""
    kills, is_over = [], threading.Event()
    children = [start(environment) for _ in range(plan.workers)]

    def kill():
        while not is_over.wait(plan.kill_seconds):
            place = len(kills) % len(children)
            children[place].send_signal(signal.SIGKILL)
            children[place].wait()
            kills.append(place)
            children[place] = start(environment)

    killer = threading.Thread(target=kill, name="killer", daemon=True)
    killer.start()
    try:
        yield kills
    finally:
        is_over.set()
        killer.join()
        for child in children:
            child.terminate()
        for child in children:
            child.wait()


def start(environment):
    return subprocess.Popen(worker(), cwd=ROOT, env=environment)


def of_run(plan, took, asked, kills):
    missing = took["items"] - took["verdicts"] - took["given_up"]
    note = f"{took['verdicts']} verdicts, {took['unreadable']} of them unreadable, {took['given_up']} given up"
    yield Figure("items without an end", missing, "", 0, note=f"{note}; {len(kills)} workers killed")
    yield Figure("verdicts doubled", took["doubled"], "", 0)
    note = f"{asked['n_answered']} answers of the model for {took['needed']} questions"
    answered = round(asked["n_answered"] / took["needed"], 3)
    yield Figure("answered calls to those needed", answered, "x", ANSWERED, note=note)
    note = f"{asked['n_asked']} requests, of which {took['requests']} are recorded and {took['lost']} lost"
    yield Figure("requests to calls needed", round(asked["n_asked"] / took["needed"], 3), "x", REQUESTS, note=note)
    yield Figure("requests of the model in a minute", asked["most_a_minute"], "", plan.per_minute)
    yield Figure("calls at once", asked["most_at_once"], "", plan.concurrency)
    possible = min(plan.concurrency / plan.latency, plan.per_minute / 60)
    rate = asked["n_asked"] / took["seconds"]
    note = f"{rate:.1f} requests a second of {possible:.1f}; {took['seconds']:.0f} s"
    yield Figure("throughput to what is allowed", round(rate / possible, 3), "x", THROUGHPUT, True, note)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
