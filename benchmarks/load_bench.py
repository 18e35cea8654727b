"""What the rows of the load share: sizes, and installations that are made when a row first asks for them."""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.installations import ROOT, Installation, say
from benchmarks.visitors import Visitor
from tests import programs

OF_REFERENCE = min(1, (os.cpu_count() or 1) / 4)
"""This machine's processors to the four of the table: what comes in a second is scaled by it."""
BURST, SIGN_INS = 15 * OF_REFERENCE, 200 * OF_REFERENCE / 60
OVERLAP, PEOPLE, LABELLERS, FREE = 3, 200, 20, 2_000
"""Everybody belongs to a project; so many have labelled in it so far."""


@dataclass(frozen=True)
class Plan:
    """The sizes of the table; `hour` and `quick` are of the same shape and smaller."""

    name: str = "full"
    burst_seconds: float = 60
    alone: int = 400
    submits: int = 100_000
    labels: int = 1_000_000
    few: int = 1_000
    fewer_shown: int = 10_000
    everybody: int = PEOPLE
    looks: int = 100
    long_turns: int = 5_000
    imported: int = 100_000
    few_imported: int = 10_000
    exported: int = 1_000_000
    beside: int = 100_000
    quiet_seconds: float = 60
    requests: int = 50_000
    first_requests: int = 1_000
    sign_in_seconds: float = 60
    askers: int = 200
    asked_seconds: float = 120
    pool: int = 100_000
    overload_seconds: float = 30
    pages: int = 120
    polling_seconds: float = 60


FULL = Plan()
HOUR = Plan(
    **{"name": "hour", "burst_seconds": 25, "alone": 150, "submits": 2_500, "labels": 60_000, "few": 1_000},
    **{"fewer_shown": 1_000, "looks": 40, "imported": 8_000, "few_imported": 800, "exported": 60_000, "beside": 1_000},
    **{"quiet_seconds": 12, "requests": 6_000, "sign_in_seconds": 20, "askers": 100, "asked_seconds": 32},
    **{"pool": 12_000, "overload_seconds": 5, "polling_seconds": 15},
)
QUICK = Plan(
    **{"name": "quick", "burst_seconds": 2, "alone": 15, "submits": 40, "labels": 1_500, "few": 150},
    **{"everybody": 40},
    **{"fewer_shown": 150, "looks": 4, "long_turns": 300, "imported": 200, "few_imported": 40, "exported": 1_500},
    **{"beside": 60, "quiet_seconds": 1, "requests": 200, "first_requests": 60, "sign_in_seconds": 2, "askers": 10},
    **{"asked_seconds": 3, "pool": 600, "overload_seconds": 1, "pages": 20, "polling_seconds": 2},
)


class Loaded(Installation):
    """One that is asked for what the load needs, too."""

    names = ()

    def load(self, action, *words):
        """What an action of `load_inside.py` says."""
        command = [sys.executable, "-m", "benchmarks.load_inside", action, *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)

    def people(self, server, names):
        """These people at their browsers, each with an item open."""
        found = []
        for name, cookie in self.load("enter", *names).items():
            found.append(entered(Visitor(server.port, name), cookie))
        for one in found:
            one.connect()
            one.open_next()
        return found

    def lead(self, server, name):
        return entered(Visitor(server.port, name), self.load("enter", name)[name])


def entered(visitor, cookie):
    """Signed in by the cookie; the page gives the other one, which forms are compared with."""
    visitor.cookies["sessionid"] = cookie
    visitor.set_headers()
    visitor.connect()
    visitor.keep_cookies(visitor.get("/"))
    return visitor


class Bench:
    def __init__(self, plan, folder, stack: ExitStack, *, on_postgresql=False):
        self.plan, self.folder, self.stack, self.on_postgresql = plan, Path(folder), stack, on_postgresql
        self.databases, self.made = {}, {}

    @cached_property
    def cluster(self):
        """One PostgreSQL that keeps what it commits, with a database for each installation."""
        found = self.stack.enter_context(programs.cluster(say, programs.DURABLE))
        if found is None:
            raise SystemExit("There is no PostgreSQL here.")
        return found

    def new(self):
        return Loaded(self.folder, self.cluster.new_database() if self.on_postgresql else "")

    def labelled(self, n_labels, n_labellers=LABELLERS):
        """A project with so many labels of so many people, and a pool of items that are free."""
        words = ("labelled", n_labels, FREE, PEOPLE, OVERLAP, n_labellers)
        return self.once(words, lambda: self.make(*words))

    @property
    def site(self):
        """A pool for many people, of which nothing is labelled."""
        return self.once("site", lambda: self.make("labelled", 0, self.plan.pool, PEOPLE, OVERLAP, 0))

    def served(self, made):
        """The server of an installation, which goes on until the last row is there."""
        return self.once(("served", made.folder), lambda: self.stack.enter_context(made.serving()))

    def make(self, action, *words):
        say(f"Making an installation: {action} {' '.join(map(str, words))}.")
        began, made = time.perf_counter(), self.new()
        made.names = made.load(action, *words)
        self.databases |= made.inside("about")
        say(f"Made in {time.perf_counter() - began:.0f} s.")
        return made

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]
