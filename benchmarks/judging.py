"""`.venv/bin/python benchmarks/judging.py`: what a run of the lexical judge takes, and what it costs annotators.

The same items are judged by the worker of `./run`, woken through the folder of files and then through Redis; a third
run has annotators who submit beside it. README.md says what the figures mean.
"""

import shutil
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script only finds what is in its own folder

from benchmarks.figures import Figure, percentile
from benchmarks.installations import Installation, durable_postgresql, say
from benchmarks.measuring import measure
from benchmarks.upload import after, submits
from benchmarks.visitors import Visitor
from tests import programs

ITEMS_A_SECOND, FLAT, SUBMIT = 100, 1.3, 2.0


@dataclass(frozen=True)
class Plan:
    """`think_seconds` is how long each annotator reads before the next submit."""

    items: int = 20_000
    annotators: int = 8
    think_seconds: float = 0.8
    quiet_seconds: float = 15


QUICK = Plan(items=600, annotators=4, quiet_seconds=3)


def main(words):
    about = "Measure a run of a judge; see benchmarks/README.md."
    return measure(words, about=about, quick="few items, to see that it works", bench=Bench, plans=(Plan(), QUICK))


class Bench:
    def __init__(self, plan, folder, on_postgresql):
        self.plan, self.folder, self.on_postgresql, self.databases = plan, folder, on_postgresql, {}

    def figures(self):
        with ExitStack() as stack:
            url = stack.enter_context(durable_postgresql()) if self.on_postgresql else ""
            if url is None:
                raise SystemExit("There is no PostgreSQL here.")
            installation = Installation(self.folder, url)
            say(f"Making an installation of {self.plan.items} items for {self.plan.annotators} annotators.")
            names = installation.inside("fill", self.plan.items, self.plan.annotators)
            self.databases = installation.inside("about")
            for name, broker in brokers():
                with broker as address, served(installation, address):
                    say(f"Judging, woken through {name}.")
                    yield from of_run(f"run through {name}", installation.inside("judge"))
            with served(installation, "") as server:
                yield from beside(self.plan, installation, server, names)


def brokers():
    """What wakes the worker, and where it is while it runs; Redis only where there is one."""
    yield "files", given("")
    if shutil.which("redis-server"):
        yield "Redis", redis_address()
    else:
        say("There is no Redis here; its figures are left out.")


@contextmanager
def given(address):
    yield address


@contextmanager
def redis_address():
    with programs.redis() as server:
        yield server.url


@contextmanager
def served(installation, broker):
    installation.environment["SIGHTLINE_BROKER_URL"] = broker
    with installation.serving() as server:
        yield server


def of_run(name, measured):
    """Items a second, whether the last tenth of the run went as fast as the first, and that nothing is missing."""
    n, seconds = measured["items"], measured["seconds"]
    note = f"{n} items in {seconds:.1f} s; its {n} jobs were written in {measured['starting']:.1f} s"
    yield Figure(f"{name}, items a second", round(n / seconds, 1), "/s", ITEMS_A_SECOND, True, note)
    first, last = measured["first_tenth"], measured["last_tenth"]
    note = f"{last:.2f} s to {first:.2f} s"
    yield Figure(f"{name}, last tenth to first", round(last / first, 2), "x", FLAT, note=note)
    missing = n - measured["verdicts"]
    yield Figure(f"{name}, verdicts missing, doubled or given up", missing + measured["given_up"], "", 0)


def beside(plan, installation, server, names):
    """Annotators of the same project go on submitting while its items are judged."""
    people = [Visitor(server.port, name) for name in names]
    for person in people:
        person.sign_in()
        person.open_next()
    submits(people, plan.think_seconds, until=after(3))  # until every thread of the server has its database open
    say("Measuring undisturbed.")
    before = submits(people, plan.think_seconds, until=after(plan.quiet_seconds))
    say("Measuring beside a run.")
    judging = Judging(installation)
    judging.start()
    meanwhile = submits(people, plan.think_seconds, until=lambda: not judging.is_alive())
    calm, busy = (percentile([seconds for _, seconds in one], 95) * 1000 for one in (before, meanwhile))
    note = f"{busy:.1f} ms of {len(meanwhile)} submits to {calm:.1f} ms of {len(before)}"
    yield Figure("submit p95 beside a run, to before", round(busy / calm, 2), "x", SUBMIT, note=note)
    yield from of_run("run beside annotators", judging.measured)
    errors = [error for person in people for error in person.errors]
    yield Figure("errors", len(errors), "", 0, note="; ".join(errors[:3]))


class Judging(threading.Thread):
    def __init__(self, installation):
        super().__init__(name="judging", daemon=True)
        self.installation, self.measured = installation, None

    def run(self):
        try:
            self.measured = self.installation.inside("judge")
        except subprocess.CalledProcessError as error:
            say(f"The run ended: {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
