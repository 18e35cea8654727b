"""`.venv/bin/python benchmarks/pools.py`: 200 people who ask one pool at once, and what an ask costs in a large pool.

README.md says what the figures mean.
"""

import os
import signal
import statistics
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script only finds what is in its own folder

from benchmarks import visitors
from benchmarks.figures import WARM_UP, Figure, large_to_small, percentile, take_turns
from benchmarks.installations import Installation, below, durable_postgresql, say
from benchmarks.measuring import measure
from benchmarks.visitors import Visitor


@dataclass(frozen=True)
class Plan:
    """The small pool is emptied by all askers, the large one is asked for some seconds and then cut off."""

    small: int = 1_000
    large: int = 100_000
    overlap: int = 3
    askers: int = 200
    rounds: int = 5
    requests: int = 60
    seconds: float = 20


QUICK = Plan(small=200, large=2_000, askers=20, rounds=2, requests=10, seconds=3)


def main(words):
    about = "Measure pools; see benchmarks/README.md."
    return measure(words, about=about, quick="few people, to see that it works", bench=Bench, plans=(Plan(), QUICK))


class Bench:
    def __init__(self, plan, folder, on_postgresql):
        self.plan, self.folder, self.on_postgresql, self.databases = plan, folder, on_postgresql, {}

    def figures(self):
        with ExitStack() as stack:
            made = []
            for n_items in (self.plan.small, self.plan.large):
                url = stack.enter_context(durable_postgresql()) if self.on_postgresql else ""
                if url is None:
                    raise SystemExit("There is no PostgreSQL here.")
                say(f"Making a pool of {n_items} items for {self.plan.askers} people.")
                made.append(Installation(self.folder, url))
                made[-1].filled = made[-1].inside("pool", n_items, self.plan.askers, self.plan.overlap)
                self.databases |= made[-1].inside("about")
            yield Figure("filling the large pool", round(made[1].filled["seconds"], 1), "s")
            yield from speed(self.plan, made)
            yield from emptied(self.plan, made[0])
            yield from cut_off(self.plan, made[1])


def speed(plan, made):
    """One person in each pool, request by request in turn: the next item by its page, and with a submit."""
    with ExitStack() as stack:
        servers = [stack.enter_context(one.serving()) for one in made]
        ours = [Visitor(server.port, one.filled["names"][0]) for server, one in zip(servers, made, strict=True)]
        for visitor in ours:
            visitor.sign_in()
        take_turns(ours, WARM_UP)
        rounds = [together([take_turns(ours, 5) for _ in range(plan.requests // 5)]) for _ in range(plan.rounds)]
    for name, words in (("next item", "the open item again"), ("submit", "submit with the next item")):
        pairs = [[percentile(times, 50) * 1000 for times in measured[name]] for measured in rounds]
        yield large_to_small(f"{words}, p50", pairs, "ms", 1.3)


def together(parts):
    """Short turns, each with new connections, as one round: a server closes a connection that idles for long."""
    return {
        name: [[one for part in parts for one in part[name][place]] for place in range(2)] for name in parts[0]
    }


def signed_in(server, made):
    people = [Visitor(server.port, name) for name in made.filled["names"]]
    for number, person in enumerate(people):
        person.sign_in()
        if number % 50 == 49:
            say(f"{number + 1} people are signed in.")
    return people


def emptied(plan, made):
    """All ask and answer until nothing is free for anybody."""
    with made.serving() as server:
        people = signed_in(server, made)
        visitors.gather(people)
        took = visitors.crowd(people, seconds=600)
    found = made.inside("places")
    who, n_answers = f"{plan.askers} askers, {plan.small} items", sum(len(person.acknowledged) for person in people)
    times = [seconds for person in people for seconds in person.seconds]
    note = f"{n_answers} answers in {took:.0f} s, p50 {statistics.median(times) * 1000:.0f} ms"
    yield from of_places(who, found, people, note)
    yield Figure(f"{who}, places left without an answer", found["free"] + found["open"], "", 0)


def cut_off(plan, made):
    """All ask and answer for a while, then the server is killed under them. Whatever was open lapses and is swept."""
    with made.serving() as server:
        people = signed_in(server, made)
        visitors.gather(people)
        visitors.crowd(people, seconds=plan.seconds)
        errors = [error for person in people for error in person.errors]
        for person in people:
            person.connect()
            if person.form:
                person.send_answer()
        for pid in [*below(server.pid), server.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    found = made.inside("places")
    who = f"{plan.askers} askers, {plan.large} items"
    note = f"{sum(len(person.acknowledged) for person in people)} answers, then killed with {found['open']} open"
    yield Figure(f"{who}, errors before", len(errors), "", 0, note="; ".join(sorted(set(errors))[:3]))
    yield from of_places(who, found, (), note)


def of_places(who, found, people, note):
    yield Figure(f"{who}, items given too often", found["over"], "", 0, note=note)
    yield Figure(f"{who}, places stranded after a lease", found["stranded"], "", 0, note=f"{found['back']} taken back")
    errors = [error for person in people for error in person.errors]
    if people:
        yield Figure(f"{who}, errors", len(errors), "", 0, note="; ".join(sorted(set(errors))[:3]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
