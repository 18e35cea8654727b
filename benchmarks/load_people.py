"""The rows of the load with many people at once."""

import os
import re
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

from benchmarks import arrivals, material, visitors
from benchmarks.figures import Figure, percentile
from benchmarks.installations import PASSWORD, PROJECT
from benchmarks.load_bench import BURST, OF_REFERENCE, SIGN_INS
from benchmarks.load_inside import LEAD
from benchmarks.upload import INCOMING, Upload, after, megabytes_of, submits, web_processes
from benchmarks.visitors import TOKEN, Visitor

LABELLING, THINK_SECONDS, WARM_SECONDS = 8, 0.8, 3
AT_ONCE = 32
SIGN_IN_PATIENCE = 60
UNHURRIED, UNHURRIED_PEOPLE = 50 * OF_REFERENCE, 40
"""Answers a second of all who ask at the same speed."""
OVERLOAD, AT_MOST = 5, 1.0
CALM_AGAIN, IN_A_ROW, LONGEST_RECOVERY = 2, 3, 120
THREADS = 8
"""Of the web processes of `./run`."""
OF_WORKER = 4
"""Connections of the worker: its threads, and the one that sweeps."""
N_LEADS, LEAD_SECONDS = 5, 2
BEATS_A_LEASE = 3
EXPORTS_PAUSE = 2


def milliseconds(times, share):
    return percentile(times, share) * 1000


def ratio(name, ones, others, share, target):
    """Of a percentile, ones to others."""
    busy, calm = milliseconds(ones, share), milliseconds(others, share)
    note = f"{busy:.1f} ms of {len(ones)} to {calm:.1f} ms of {len(others)}"
    return Figure(f"{name} p{share}", round(busy / calm, 2), "x", target, note=note)


def errors_of(people, name="errors"):
    errors = [error for person in people for error in person.errors]
    return Figure(name, len(errors), "", 0, note="; ".join(sorted(set(errors))[:3]))


def lost(made, people):
    stored = {tuple(pair) for pair in made.inside("stored")}
    ledger = {pair for person in people for pair in person.acknowledged}
    return Figure("acknowledged answers lost", len(ledger - stored), "", 0, note=f"{len(ledger)} acknowledged")


def seconds_of(people):
    return [seconds for person in people for seconds in person.seconds]


def warm(people):
    """Until every thread of the server has its database open."""
    visitors.gather(people)
    visitors.crowd(people, WARM_SECONDS)
    visitors.gather(people)


# 1: everybody comes back from a break


def burst(bench):
    plan = bench.plan
    server = bench.served(bench.site)
    people = bench.site.people(server, bench.site.names[:120])
    warm(people[:AT_ONCE])
    alone = alone_for(people[0], plan.alone)
    visitors.gather(people)
    n_due = arrivals.answers(people, BURST, plan.burst_seconds)
    together = seconds_of(people)
    yield ratio("submit, burst to a lone user,", together, alone, 95, 3)
    yield ratio("submit, burst to a lone user,", together, alone, 99, 6)
    yield Figure("answers due that nobody could send", n_due - len(together), "", 0)
    while sum(len(person.acknowledged) for person in people) < plan.submits and not any(p.errors for p in people):
        visitors.gather(people)
        visitors.crowd(people, seconds=5 if plan.submits > 100 else 1)
    n_sent = sum(len(person.acknowledged) + len(person.errors) for person in people)
    yield errors_of(people, f"errors in {n_sent} submits")
    yield lost(bench.site, people)


def alone_for(person, n_submits):
    person.connect()
    person.open_next()
    person.seconds.clear()
    for _ in range(n_submits):
        person.connect()
        person.submit()
    return list(person.seconds)


# 7: an import, exports and a run of a judge beside them


def beside(bench):
    plan, made = bench.plan, bench.labelled(bench.plan.labels)
    path = bench.folder / "beside.jsonl"
    material.write(path, plan.beside // material.REPLIES)
    bench.once("sealed", lambda: made.inside("seal"))
    lead = bench.once("incoming", lambda: made.inside("lead", INCOMING, 2))
    server = bench.served(made)
    people = made.people(server, made.names[:LABELLING])
    upload, exports = Upload(server.port, lead, path), Exports(made.lead(server, LEAD))
    submits(people, THINK_SECONDS, until=after(WARM_SECONDS))
    before = [seconds for _, seconds in submits(people, THINK_SECONDS, until=after(plan.quiet_seconds))]
    judging = threading.Thread(target=made.load, args=("judge",), daemon=True)
    for one in (judging, upload, exports):
        one.start()
    meanwhile = [s for _, s in submits(people, THINK_SECONDS, until=lambda: not upload.is_alive())]
    exports.is_over.set()
    exports.join()
    judging.join()
    yield ratio("submit, beside to undisturbed,", meanwhile, before, 95, 2)
    yield errors_of([*people, upload, exports])
    took = upload.moments[-1][1] - upload.moments[0][1]
    yield Figure("the import took", round(took, 1), "s", note=f"{exports.n_done} exports meanwhile")


class Exports(threading.Thread):
    """A lead who downloads a release again and again."""

    def __init__(self, visitor):
        super().__init__(name="exports", daemon=True)
        self.visitor, self.is_over, self.n_done, self.errors = visitor, threading.Event(), 0, []

    def run(self):
        while not self.is_over.is_set():
            try:
                self.visitor.connect()
                page = self.visitor.get(f"/projects/{PROJECT}/releases/1/release.zip")
            except OSError as error:
                self.errors.append(f"export: {error}")
                return
            if page.status != 200:
                self.errors.append(f"export: status {page.status}")
            self.n_done += page.status == 200
            self.is_over.wait(EXPORTS_PAUSE)


# 9: memory of the web processes


def memory_of_web(bench):
    plan = bench.plan
    server = bench.served(bench.site)
    people = bench.site.people(server, bench.site.names[:AT_ONCE])
    web = web_processes(server.pid)
    n_first = asked(people, plan.first_requests)
    first = megabytes_of(web)
    n_all = asked(people, plan.requests, n_first)
    last = megabytes_of(web)
    note = f"{last:.0f} MB after {n_all} requests to {first:.0f} MB after {n_first}"
    yield Figure("memory of the web processes", round(last / first, 2), "x", 1.2, note=note)
    yield errors_of(people)


def asked(people, n_requests, n_before=0):
    """Pages and submits until there were so many; how many there were."""
    n = n_before
    while n < n_requests:
        visitors.gather(people)
        visitors.crowd(people, seconds=0.5 if n_requests < 1000 else 2)
        n += 2 * len(people) + len(seconds_of(people))
        if any(person.errors for person in people):
            break
    return n


# 10: everybody signs in, in the morning


def signing_in(bench):
    plan, made = bench.plan, bench.site
    server = bench.served(made)
    people = made.people(server, made.names[:LABELLING])
    submits(people, THINK_SECONDS, until=after(WARM_SECONDS))
    before = [seconds for _, seconds in submits(people, THINK_SECONDS, until=after(plan.quiet_seconds))]
    morning = Morning(server.port, made.names[LABELLING:], SIGN_INS, plan.sign_in_seconds)
    morning.start()
    meanwhile = [s for _, s in submits(people, THINK_SECONDS, until=lambda: not morning.is_alive())]
    took = [seconds for seconds, _ in morning.done]
    middle = statistics.median(took)
    note = f"{len(took)} of {morning.n_due}, median {middle:.1f} s, {morning.n_refused} refused on the way"
    yield Figure("log-in, longest", round(max(took), 1), "s", 10, note=note)
    yield Figure("log-ins that failed", morning.n_due - len(took), "", 0)
    yield ratio("labelling, beside log-ins to before,", meanwhile, before, 95, 2)
    yield errors_of(people)


class Morning(threading.Thread):
    """People who sign in at a rate, each as often as it takes; `done` has their seconds and how often each was
    refused."""

    def __init__(self, port, names, rate, seconds):
        super().__init__(name="morning", daemon=True)
        self.due = list(zip(arrivals.due_times(rate, seconds), names, strict=False))
        self.port, self.done = port, []

    @property
    def n_due(self):
        return len(self.due)

    @property
    def n_refused(self):
        return sum(n for _, n in self.done)

    def run(self):
        began = time.perf_counter()
        with ThreadPoolExecutor(max(len(self.due), 1)) as pool:
            found = [pool.submit(self.sign_in, name, began + at) for at, name in self.due]
        self.done = [one.result() for one in found if one.exception() is None]

    def sign_in(self, name, due):
        time.sleep(max(0, due - time.perf_counter()))
        visitor, n_refused = Visitor(self.port, name), 0
        while True:
            visitor.connect()
            page = visitor.keep_cookies(visitor.get("/sign-in/"))
            fields = {"csrfmiddlewaretoken": TOKEN.search(page.body)[1], "username": name, "password": PASSWORD}
            visitor.send_post("/sign-in/", urlencode(fields).encode(), visitor.post_headers)
            status = visitor.keep_cookies(visitor.wait())
            took = time.perf_counter() - due
            if status.status == 302:
                return took, n_refused
            if status.status not in (429, 503) or took > SIGN_IN_PATIENCE:
                raise RuntimeError(f"{name}: status {status.status} after {took:.0f} s")
            n_refused += 1
            time.sleep(float(header(status, b"retry-after") or 1))


def header(page, name):
    for line in page.head.split(b"\r\n"):
        if line.lower().startswith(name + b":"):
            return line.partition(b":")[2].strip()
    return None


# 11: all ask one pool


def asking(bench):
    """As fast as they can, which of two processes a person asks decides how much they get; so who gets how much is
    counted while all are equally fast."""
    plan, made = bench.plan, bench.site
    people = made.people(bench.served(made), made.names[: plan.askers])
    visitors.crowd(people, plan.asked_seconds / 2)
    n_hurried = sum(len(person.acknowledged) for person in people)
    some = people[:UNHURRIED_PEOPLE]
    before = [len(person.acknowledged) for person in some]
    visitors.gather(some)
    submits(some, len(some) / UNHURRIED, until=after(plan.asked_seconds))
    counts = [len(person.acknowledged) - n for person, n in zip(some, before, strict=True)]
    found = made.inside("places")
    note = f"{n_hurried} answers in a hurry, {sum(counts)} without"
    yield Figure("items given too often", found["over"], "", 0, note=note)
    note = f"{found['back']} given back"
    yield Figure("places stuck when every lease has ended", found["stranded"], "", 0, note=note)
    yield spread(counts)
    yield errors_of(people)


def spread(counts):
    mean = statistics.mean(counts)
    apart = max(max(counts) - mean, mean - min(counts)) / mean * 100
    note = f"{min(counts)} to {max(counts)} items a person, {mean:.1f} on average"
    return Figure("items of a person, furthest from the mean", round(apart, 1), "%", 10, note=note)


# 15: five times what it takes


def overload(bench):
    plan, made = bench.plan, bench.site
    server = bench.served(made)
    people = made.people(server, made.names[:LABELLING])
    crowd = made.people(server, made.names[LABELLING : LABELLING + AT_ONCE])
    warm(crowd)
    calm = statistics.median(alone_for(people[0], plan.alone // 3 + 1))
    rate = capacity(crowd, seconds=min(plan.overload_seconds, 5))
    page, visitor = people[0].form.item, crowd[0]
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    flood = Flooded(server.port, visitor.form.item if visitor.form else page, cookie, rate, plan.overload_seconds)
    yield from flood.figures(people, calm)
    yield lost(made, [*people, *crowd])


def capacity(people, seconds):
    """Pages a second that the server gives to people who ask for them as fast as they get them."""
    with ThreadPoolExecutor(len(people)) as pool:
        until = time.perf_counter() + seconds
        return sum(pool.map(lambda person: pages_until(person, until), people)) / seconds


def pages_until(person, until):
    n, address = 0, person.form.item
    while time.perf_counter() < until:
        person.connect()
        n += person.get(address).status == 200
    return n


class Flooded:
    """A server that gets too much: what becomes of the page loads, and of people who go on submitting."""

    def __init__(self, port, path, cookie, rate, seconds):
        self.rate, self.flood = rate, arrivals.Flood(port, path, cookie, OVERLOAD * rate, seconds)

    def figures(self, people, calm):
        others = [Persistent(person) for person in people[1:]]
        for one in (self.flood, *others):
            one.start()
        self.flood.is_sent.wait()
        ended = time.perf_counter()
        normal = recovered(people[0], CALM_AGAIN * calm + 0.01) - ended
        for one in (self.flood, *others):
            if one is not self.flood:
                one.is_over.set()
            one.join()
        yield from of_loads(self.flood.loads, self.rate)
        yield Figure("back to normal after", round(normal, 1), "s", 30, note=f"normal is {calm * 1000:.0f} ms a submit")


def of_loads(loads, rate):
    """Every load is answered, or refused with when to come again, within the time."""
    late = [load for load in loads if load.seconds is None or load.seconds > AT_MOST]
    refused = [load for load in loads if load.status in (429, 503)]
    n_none = sum(load.seconds is None for load in loads)
    longest = max((load.seconds for load in loads if load.seconds is not None), default=0)
    note = f"{len(late)} of {len(loads)} at {OVERLOAD} x {rate:.0f}/s, longest {longest:.1f} s; "
    note += f"{len(refused)} refused, {n_none} without any answer"
    name = f"loads neither answered nor refused within {AT_MOST:g} s"
    yield Figure(name, round(100 * len(late) / max(len(loads), 1), 1), "%", 0, note=note)
    untold = [load for load in refused if not load.is_told_when]
    yield Figure("refused without Retry-After", len(untold), "", 0)


class Persistent(threading.Thread):
    """Somebody who goes on submitting whatever happens."""

    def __init__(self, person):
        super().__init__(name=person.name, daemon=True)
        self.person, self.is_over = person, threading.Event()

    def run(self):
        while not self.is_over.is_set():
            submitted(self.person)
            self.is_over.wait(THINK_SECONDS)


def submitted(person):
    """Seconds of one submit, None where it or the form was not to be had."""
    try:
        person.connect()
        if person.form is None:
            address = person.get(f"/projects/{PROJECT}/label/").redirect()
            if address is None:
                return None
            person.form = visitors.form_in(person.get(address).body)
        if person.form is None:
            return None
        n = len(person.acknowledged)
        person.submit()
        return person.seconds[-1] if len(person.acknowledged) > n else None
    except OSError:
        person.form, person.received, person.expected = None, bytearray(), None
        return None


def recovered(person, bound):
    """When submits were as fast as before, a few in a row; infinity if that took too long."""
    limit, fast = time.perf_counter() + LONGEST_RECOVERY, []
    while time.perf_counter() < limit:
        began = time.perf_counter()
        seconds = submitted(person)
        fast = [*fast, began] if seconds is not None and seconds <= bound else []
        if len(fast) == IN_A_ROW:
            return fast[0]
        time.sleep(0.2)
    return float("inf")


# 16: pages that are open


def polling(bench):
    """Pages of people who read, each keeping its lease as its script does, and of leads who watch a run."""
    plan, made = bench.plan, bench.site
    number = bench.once("run", lambda: made.load("a_run"))
    server = bench.served(made)
    leads = [made.lead(server, LEAD) for _ in range(N_LEADS)]
    people = made.people(server, made.names[: plan.pages])
    people[0].connect()
    minutes = float(KEEP.search(people[0].get(people[0].form.item).body)[1])
    idle = processor_share(server, plan.polling_seconds / 2, lambda: None)
    beats = BEATS_A_LEASE * len(people) / (60 * minutes)
    busy = processor_share(server, plan.polling_seconds, polled(people, beats, leads, number))
    n_open, n_held = open_databases(made, server)
    note = f"{busy:.1f} % with {len(people)} pages ({beats:.2f} beats a second) and {N_LEADS} leads, {idle:.1f} % idle"
    yield Figure("share of a processor for polling", round(busy - idle, 2), "%", 5, note=note)
    bound = THREADS if n_held is None else THREADS + OF_WORKER
    yield Figure("database connections of all open pages", n_open, "", bound, note=f"{THREADS} threads serve them")
    if n_held is not None:
        yield Figure("connections that wait in a transaction", n_held, "", 0)


KEEP = re.compile(rb'data-keep-minutes="(\d+)"')


def polled(people, beats, leads, number):
    """One step of it, as often as it is asked for: what is due by now is sent."""
    began, sent = time.perf_counter(), {"beats": 0, "looks": 0}

    def step():
        passed = time.perf_counter() - began
        if sent["beats"] < passed * beats:
            person = people[sent["beats"] % len(people)]
            sent["beats"] += 1
            beat(person)
        if sent["looks"] < passed * len(leads) / LEAD_SECONDS:
            lead = leads[sent["looks"] % len(leads)]
            sent["looks"] += 1
            look(lead, f"/projects/{PROJECT}/runs/{number}/")

    return step


def beat(person):
    person.connect()
    person.send_post("/alive/", f"csrfmiddlewaretoken={person.form.token}".encode(), person.htmx_headers)
    expect(person.wait(), 204)


def look(lead, address):
    lead.connect()
    lead.socket.sendall(f"GET {address} HTTP/1.1\r\nHX-Request: true\r\n".encode() + lead.get_headers)
    expect(lead.wait(), 200)


def expect(page, status):
    if page.status not in (200, status):
        raise SystemExit(f"Polling is answered by {page.status}.")


def processor_share(server, seconds, step):
    """Percent of one processor that the server's processes use meanwhile."""
    used, until = server.processor_seconds(), time.perf_counter() + seconds
    while time.perf_counter() < until:
        step()
        time.sleep(0.02)
    return 100 * (server.processor_seconds() - used) / seconds


def open_databases(made, server):
    """Connections that the web processes have open, and of PostgreSQL those of all processes and how many of them wait
    in a transaction."""
    if made.environment.get("DATABASE_URL"):
        return made.load("connections")
    links = [link for pid in web_processes(server.pid) for link in links_of(pid)]
    return sum(link.endswith("db.sqlite3") for link in links), None


def links_of(pid):
    for one in Path(f"/proc/{pid}/fd").iterdir():
        try:
            yield os.readlink(one)
        except OSError:
            continue
