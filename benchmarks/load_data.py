"""The rows of the load with much data, long material, or nothing at all."""

import contextlib
import os
import sqlite3
import statistics
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

from benchmarks import figures, material
from benchmarks.exporting import cost
from benchmarks.figures import Figure, percentile, take_turns
from benchmarks.installations import PROJECT, below, say
from benchmarks.load_bench import LABELLERS
from benchmarks.load_inside import EMPTY, LEAD
from benchmarks.pools import together
from benchmarks.visitors import Visitor

TURN = 5
"""Requests in a row before both connect anew: a server closes connections that idle for long."""
SHORT_TURNS, USUAL_TURNS = 10, 200
AGAIN, AFTER_A_LABEL = 5, 2
PATIENCE = 600
"""Seconds that a lead waits for a page, so that one that takes long has a figure."""


def ratio(name, ones, others, share, target):
    """Of a percentile, ones to others."""
    large, small = (percentile(times, share) * 1000 for times in (ones, others))
    note = f"{large:.1f} ms to {small:.1f} ms, {len(ones)} each"
    return Figure(f"{name} p{share}", round(large / small, 2), "x", target, note=note)


# 2: the next item


def next_item(bench):
    """One person in a small project and in a large one, request by request in turn."""
    made = [bench.labelled(n) for n in (bench.plan.few, bench.plan.labels)]
    ours = [one.people(bench.served(one), one.names[:1])[0] for one in made]
    take_turns(ours, TURN)
    seconds = together([take_turns(ours, TURN) for _ in range(-(-bench.plan.looks // TURN))])
    for name, words in (("submit", "submit with the next item"), ("next item", "the open item again")):
        small, large = seconds[name]
        yield ratio(f"{words}, large to small,", large, small, 95, 1.5)


# 3: a long trajectory


def trajectory(bench):
    plan = bench.plan
    numbers = (SHORT_TURNS, USUAL_TURNS, plan.long_turns)
    short, usual, long = bench.new().load("turns", plan.looks, *numbers).values()
    yield ratio(f"page of {USUAL_TURNS} turns to {SHORT_TURNS},", usual, short, 95, 4)
    yield Figure(f"page of {plan.long_turns} turns, p95", round(percentile(long, 95), 3), "s", 3)


# 4: the lead's pages


def leading(bench):
    plan = bench.plan
    made = [bench.labelled(n) for n in (plan.fewer_shown, plan.labels)]
    leads = [one.lead(bench.served(one), LEAD) for one in made]
    people = [one.people(bench.served(one), one.names[1:2])[0] for one in made]
    for page, name in (("", "dashboard"), ("agreement/", "agreement")):
        small, large = looks(leads, f"/projects/{PROJECT}/{page}", -(-plan.looks // 2))
        yield ratio(f"{name}, large to small,", large, small, 95, 2)
    small, large = looks(leads, f"/projects/{PROJECT}/agreement/", AFTER_A_LABEL, before=people)
    yield ratio("agreement when a label has come since, large to small,", large, small, 50, 2)
    many, some = (bench.labelled(plan.few, n).load("kept") for n in (plan.everybody, LABELLERS))
    name = f"agreement that is kept, labels of {plan.everybody} people to {LABELLERS}"
    yield Figure(name, round(many / some, 1), "x", note=f"{many:.2f} s to {some:.2f} s, {plan.few} labels")
    found = made[1].load("recomputed")
    yield Figure("full recomputation", round(found["seconds"], 1), "s", 120)
    yield Figure("figures that are not those of a recomputation", int(not found["is_same"]), "", 0)


def looks(leads, address, n, before=()):
    """Seconds of each look by each lead, in turn, each first every other time. With `before`, these people submit
    first."""
    seconds = [[] for _ in leads]
    for turn in range(n + 1):
        for place, lead in sorted(enumerate(leads), reverse=bool(turn % 2)):
            for person in before[place : place + 1]:
                person.connect()
                person.submit()
            lead.connect()
            lead.socket.settimeout(PATIENCE)
            began = time.perf_counter()
            status = lead.get(address).status
            seconds[place].append(time.perf_counter() - began)
            if status != 200:
                raise SystemExit(f"{address} answers {status}.")
    return [times[1:] for times in seconds]


# 5: statements


def statements(bench):
    """Each request of somebody who has not labelled yet, a few times: the same numbers at both sizes."""
    made = [bench.labelled(n) for n in (bench.plan.few, bench.plan.labels)]
    small, large = (one.inside("statements", one.names[-1]) for one in made)
    note = ", ".join(f"{request} {max(numbers)}" for request, numbers in large.items())
    most = max(map(max, [*small.values(), *large.values()]))
    yield Figure("statements, most of any request", most, "", figures.STATEMENTS, note=note)
    differing = [f"{one} {small[one]} and {large[one]}" for one in small if small[one] != large[one]]
    yield Figure("requests whose statements differ by size", len(differing), "", 0, note="; ".join(differing))


# 6 and 8: imports and exports


def importing(bench):
    plan = bench.plan
    (small, _), (large, _) = import_cost(bench, plan.few_imported), import_cost(bench, plan.imported)
    note = f"{large:.1f} s to {small:.1f} s"
    yield Figure("import, large to small", round(large / small, 2), "x", 12, note=note)
    seconds = bench.labelled(plan.labels).load("one_more", AGAIN)
    full, empty = (statistics.median(seconds[slug]) for slug in (PROJECT, EMPTY))
    note = f"{full * 1000:.0f} ms to {empty * 1000:.0f} ms"
    yield Figure("one more into the full project, to the empty one", round(full / empty, 2), "x", 2, note=note)


def import_cost(bench, n_items):
    """Seconds and peak kilobytes of an import into an installation of its own; rows that ask for the same share it."""
    return bench.once(("import", n_items), lambda: import_into(bench.new(), bench.folder, n_items))


def import_into(made, folder, n_items):
    path = folder / f"{n_items}.jsonl"
    material.write(path, n_items // material.REPLIES)
    made.inside("fill", 0, 1)
    found = made.import_cost(path)
    say(f"Importing {n_items} items: {found[0]:.1f} s, {found[1] / 1024:.0f} MB.")
    made.remove()
    path.unlink()
    return found


def memory(bench):
    plan = bench.plan
    small, large = (import_cost(bench, n)[1] for n in (plan.few_imported, max(plan.imported, plan.exported // 10)))
    note = f"{large / 1024:.0f} MB to {small / 1024:.0f} MB"
    yield Figure("import, peak memory", round(large / small, 2), "x", 1.3, note=note)
    small, large = (export_memory(bench.labelled(n)) for n in (plan.fewer_shown, plan.labels))
    note = f"{large / 1024:.0f} MB to {small / 1024:.0f} MB"
    yield Figure("export, peak memory", round(large / small, 2), "x", 1.3, note=note)


def export_memory(made):
    made.inside("seal")
    return cost(made, "export_release", PROJECT, "--no-parquet", "--out", str(made.folder / "exported"))[1]


# 14: nothing to do


def footprint(bench):
    made = bench.new()
    first, _ = started(made)
    again, megabytes = started(made)
    note = f"the first time, which makes the tables, {first:.1f} s"
    yield Figure("start to the first answered request", round(again, 1), "s", 10, note=note)
    yield Figure("memory of all processes, idle", round(megabytes), "MB", 600, note="without PostgreSQL's own")


def started(made):
    """Seconds until a page is served, and megabytes of all processes a while later."""
    began = time.perf_counter()
    with made.serving() as server:
        visitor = Visitor(server.port, "")
        visitor.connect()
        if visitor.get("/sign-in/").status != 200:
            raise SystemExit("The first page was not served.")
        took = time.perf_counter() - began
        time.sleep(2)
        return took, sum(map(own_megabytes, [server.pid, *below(server.pid)]))


def own_megabytes(pid):
    """What a process holds, of what it shares its part."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


# 17: page weight


def weight(bench):
    server = bench.served(bench.site)
    served = SimpleNamespace(names=bench.site.names, serving=lambda: contextlib.nullcontext(server))
    yield from figures.weight(SimpleNamespace(sizes=[served]))


# 18: everything back from a copy


def restoring(bench):
    made = bench.labelled(bench.plan.labels)
    before, kept = made.load("rows"), made.load("recomputed")
    copy = bench.folder / "copy"
    backup(bench, made, copy)
    began = time.perf_counter()
    again = restored(bench, copy)
    took, _ = started(again)
    took = time.perf_counter() - began
    after, figure = again.load("rows"), again.load("recomputed")
    size = copy.stat().st_size / 1e6
    yield Figure("restore until a page is served", round(took, 1), "s", 600, note=f"a copy of {size:.0f} MB")
    changed = [name for name, value in before.items() if after[name] != value]
    note = ", ".join(changed) or ", ".join(f"{name} {n}" for name, (n, _) in before.items())
    yield Figure("tables whose rows are others", len(changed), "", 0, note=note)
    is_off = not (kept["is_same"] and figure["is_same"])
    note = "recomputed from the restored rows"
    yield Figure("figures that are not those of a recomputation", int(is_off), "", 0, note=note)
    copy.unlink()


def backup(bench, made, copy):
    if bench.on_postgresql:
        tool(bench, "pg_dump", "-Fc", "-f", str(copy), made.environment["DATABASE_URL"])
        return
    source = f"file:{made.folder / 'data' / 'db.sqlite3'}?mode=ro"
    copied(sqlite3.connect(source, uri=True), copy)


def restored(bench, copy):
    made = bench.new()
    if bench.on_postgresql:
        tool(bench, "pg_restore", "--no-owner", "-d", made.environment["DATABASE_URL"], str(copy))
    else:
        copied(sqlite3.connect(copy), made.folder / "data" / "db.sqlite3")
    return made


def copied(source, path):
    with contextlib.closing(source), contextlib.closing(sqlite3.connect(path)) as to:
        source.backup(to)


def tool(bench, name, *words):
    subprocess.run([bench.cluster.binaries / name, *words], check=True, env=os.environ)
