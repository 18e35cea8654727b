"""The figures themselves. Each function measures one group and gives its figures with their targets."""

import gzip
import os
import re
import statistics
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks import material, visitors
from benchmarks.installations import Installation, durable_postgresql, say
from benchmarks.visitors import Visitor

STATEMENTS, LABELS_A_SECOND, FIRST_LOAD, NEXT_ITEM = 15, 150, 150, 20
WARM_UP = 20


@dataclass(frozen=True)
class Plan:
    """How large and how often. Ratios are of the large to the small size, in the same run."""

    small: int = 2_000
    large: int = 20_000
    rounds: int = 5
    requests: int = 100
    annotators: int = 32
    crowd_items: int = 2_000
    crowd_seconds: float = 8


QUICK = Plan(small=200, large=2_000, rounds=2, requests=20, crowd_items=200, crowd_seconds=2)


@dataclass(frozen=True)
class Figure:
    """A measured value and its bound: an upper one, unless `at_least`; without one it only explains another."""

    name: str
    measured: float
    unit: str = ""
    target: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def is_met(self):
        if self.target is None:
            return None
        return self.measured >= self.target if self.at_least else self.measured <= self.target


class Bench:
    """What the groups share: the plan, a folder, and the installations of both sizes, made when first asked for, with
    two annotators in the middle of their plans."""

    def __init__(self, plan, folder):
        self.plan, self.folder = plan, Path(folder)
        self.databases = {}

    def filled(self, n_items, n_annotators, database_url=""):
        say(f"Making an installation of {n_items} items for {n_annotators} annotators.")
        made = Installation(self.folder, database_url)
        made.names = made.inside("fill", n_items, n_annotators)
        self.databases |= made.inside("about")
        return made

    @cached_property
    def sizes(self):
        made = [self.filled(n_items, 2) for n_items in (self.plan.small, self.plan.large)]
        for installation in made:
            for name in installation.names:
                installation.inside("halve", name)
        return made


def speed(bench):
    """Next item and submit of one annotator, both sizes taking turns request by request, so that both meet the same
    noise of the machine."""
    with ExitStack() as stack:
        servers = [stack.enter_context(installation.serving()) for installation in bench.sizes]
        ours = [Visitor(server.port, made.names[0]) for server, made in zip(servers, bench.sizes, strict=True)]
        for visitor in ours:
            visitor.sign_in()
        take_turns(ours, WARM_UP)
        rounds = [take_turns(ours, bench.plan.requests) for _ in range(bench.plan.rounds)]
    for name in ("next item", "submit"):
        for share, target in ((50, 1.3), (95, 1.5)):
            pairs = [[percentile(times, share) * 1000 for times in measured[name]] for measured in rounds]
            yield large_to_small(f"{name}, p{share}", pairs, "ms", target)


def take_turns(ours, n_turns):
    """Seconds of each request, by its name and by whose it was."""
    seconds = {"next item": [[] for _ in ours], "submit": [[] for _ in ours]}
    for visitor in ours:
        visitor.connect()
    for turn in range(n_turns):
        for place, visitor in sorted(enumerate(ours), reverse=bool(turn % 2)):
            seconds["next item"][place].append(visitor.timed(visitor.open_next))
            seconds["submit"][place].append(visitor.timed(visitor.submit))
            if visitor.errors:
                raise SystemExit(f"An answer was not taken: {visitor.errors[0]}.")
    return seconds


def percentile(values, share):
    """The smallest value that so many per cent do not exceed."""
    return sorted(values)[max(0, -(-len(values) * share // 100) - 1)]


def large_to_small(name, pairs, unit, target):
    """The ratio of each round, and of these the median."""
    small, large = map(statistics.median, zip(*pairs, strict=True))
    ratio = statistics.median(large / small for small, large in pairs)
    note = f"{large:.1f} {unit} to {small:.1f} {unit}"
    return Figure(f"{name}, large to small", round(ratio, 2), "x", target, note=note)


def statements(bench):
    """Statements of each annotator request, at both sizes and several times: fixed means one number everywhere."""
    counts = [installation.inside("statements", installation.names[1]) for installation in bench.sizes]
    seen = {request: sorted({n for measured in counts for n in measured[request]}) for request in counts[0]}
    note = ", ".join(f"{request} {'-'.join(map(str, numbers))}" for request, numbers in seen.items())
    yield Figure("statements, most of any request", max(map(max, seen.values())), "", STATEMENTS, note=note)
    varying = [request for request, numbers in seen.items() if len(numbers) > 1]
    yield Figure("requests whose statements vary", len(varying), "", 0, note=", ".join(varying))


def crowd(bench):
    """Many annotators at once on both databases, which take turns round by round."""
    plan, parties = bench.plan, {}
    with ExitStack() as stack:
        for database, url in {"SQLite": "", "PostgreSQL": stack.enter_context(durable_postgresql())}.items():
            if url is None:
                say("There is no PostgreSQL here; its figures are left out.")
                continue
            installation = bench.filled(plan.crowd_items, plan.annotators, url)
            parties[database] = Party(installation, stack.enter_context(installation.serving()))
        for _ in range(plan.rounds):
            for party in parties.values():
                party.work(plan.crowd_seconds)
        for database, party in parties.items():
            yield from party.figures(database, LABELS_A_SECOND if database == "SQLite" else None)


class Party:
    """The annotators of one installation, and the ledger of what the server said it had stored."""

    def __init__(self, installation, server):
        self.installation, self.server = installation, server
        self.people = [Visitor(server.port, name) for name in installation.names]
        for person in self.people:
            person.sign_in()
        visitors.gather(self.people)
        visitors.crowd(self.people, seconds=1)  # until every thread of the server has its database open
        self.rates, self.shares, self.costs, self.times = [], [], [], []

    def work(self, seconds):
        visitors.gather(self.people)
        ours, theirs = time.process_time(), self.server.processor_seconds()
        took = visitors.crowd(self.people, seconds)
        times = [seconds for person in self.people for seconds in person.seconds]
        self.rates.append(len(times) / took)
        self.shares.append((time.process_time() - ours) / took)
        self.costs.append((self.server.processor_seconds() - theirs) / len(times))
        self.times += times

    def figures(self, database, target):
        errors = [error for person in self.people for error in person.errors]
        ledger = [pair for person in self.people for pair in person.acknowledged]
        stored = [tuple(pair) for pair in self.installation.inside("stored")]
        rate, share = statistics.median(self.rates), statistics.median(self.shares)
        p50, p95 = (percentile(self.times, part) * 1000 for part in (50, 95))
        who = f"{len(self.people)} annotators on {database}"
        note = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms; rounds {', '.join(f'{rate:.0f}' for rate in self.rates)}"
        yield Figure(f"{who}, labels a second", round(rate, 1), "/s", target, True, note)
        yield Figure(f"{who}, errors", len(errors), "", 0, note="; ".join(sorted(set(errors))[:3]))
        lost = set(ledger) - set(stored)
        yield Figure(f"{who}, answers lost", len(lost), "", 0, note=f"{len(ledger)} acknowledged, {len(stored)} stored")
        yield Figure(f"{who}, answers doubled", len(stored) - len({item for item, _ in stored}), "", 0)
        cost = statistics.median(self.costs) * 1000
        yield Figure(f"{who}, server's processor time a label", round(cost, 1), "ms", note="without PostgreSQL's own")
        note = f"one process; {100 * share / os.cpu_count():.0f} % of all {os.cpu_count()}"
        yield Figure(f"{who}, load's share of a processor", round(100 * share), "%", note=note)


# A page's own texts: pieces of them are styled, so only what stands between tags counts as content.
TEXT = re.compile(rb'<div class="text"[^>]*>.*?</div>', re.DOTALL)
BETWEEN_TAGS = re.compile(rb">[^<]+<")
LINKED = re.compile(rb'(?:<script[^>]* src|<link[^>]* href)="([^"]+)"')
IMPORTED = re.compile(rb'(?:\bfrom|\bimport) *"(\.[^"]+)"')


def weight(bench):
    """Bytes on the wire, heads of the answers among them, as served to a browser that takes gzip."""
    installation = bench.sizes[0]
    with installation.serving() as server:
        visitor = Visitor(server.port, installation.names[0])
        visitor.sign_in()
        visitor.connect()
        page = visitor.open_next()
        files = linked_files(visitor, page)
        following = visitor.submit()
    of_page, of_files = without_content(page), sum(file.n_bytes for file in files.values())
    note = f"page {kilo(of_page)} kB (with content {kilo(page.n_bytes)}), {len(files)} files {kilo(of_files)} kB"
    yield Figure("first load, without content", kilo(of_page + of_files), "kB", FIRST_LOAD, note=note)
    note = f"with content {kilo(following.n_bytes)} kB"
    yield Figure("next item, without content", kilo(without_content(following)), "kB", NEXT_ITEM, note=note)


def kilo(n_bytes):
    return round(n_bytes / 1000, 1)


def linked_files(visitor, page):
    """Every script, style and picture of the page, and what modules import, each once."""
    waiting, files = [path.decode() for path in LINKED.findall(page.body)], {}
    while waiting:
        path = waiting.pop()
        if path not in files:
            files[path] = visitor.get(path)
            if files[path].status != 200:
                raise SystemExit(f"{path} answers {files[path].status}.")
            names = IMPORTED.findall(files[path].plain)
            waiting += [os.path.normpath(Path(path).parent / name.decode()) for name in names]
    return files


def without_content(page):
    """What the page weighs with every shown text taken out, compressed if it came so."""
    bare = TEXT.sub(lambda text: BETWEEN_TAGS.sub(b"><", text[0]), page.plain)
    return len(page.head) + len(gzip.compress(bare) if page.is_compressed else bare)


def imports(bench):
    """An import into an installation of its own, planned for one annotator, both sizes taking turns."""
    sizes = (bench.plan.small, bench.plan.large)
    paths = [bench.folder / f"{n_traces}.jsonl" for n_traces in sizes]
    for path, n_traces in zip(paths, sizes, strict=True):
        material.write(path, n_traces)
    rounds = [[import_cost(bench, path) for path in paths] for _ in range(bench.plan.rounds)]
    yield large_to_small("import, time", [[seconds for seconds, _ in measured] for measured in rounds], "s", 12)
    memory = [[kilobytes / 1024 for _, kilobytes in measured] for measured in rounds]
    yield large_to_small("import, peak memory", memory, "MB", 1.3)


def import_cost(bench, path):
    installation = Installation(bench.folder)
    installation.inside("fill", 0, 1)
    cost = installation.import_cost(path)
    say(f"Importing {path.name}: {cost[0]:.1f} s, {cost[1] / 1024:.0f} MB.")
    installation.remove()
    return cost


GROUPS = {"speed": speed, "statements": statements, "crowd": crowd, "weight": weight, "import": imports}
