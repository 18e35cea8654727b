"""`.venv/bin/python benchmarks/upload.py`: what a large upload costs everybody else.

While a lead uploads a file of 200 MB and the worker imports it, annotators of another project go on submitting. Prints
how the memory of the web processes and the time of a submit compare with before; README.md says what the figures mean.
"""

import http.client
import json
import random
import resource
import selectors
import statistics
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a script only finds what is in its own folder

from benchmarks import material
from benchmarks.figures import Figure, percentile
from benchmarks.installations import Installation, below, durable_postgresql, say
from benchmarks.measuring import measure
from benchmarks.visitors import TOKEN, Visitor

INCOMING = "incoming"
ROWS_CHARACTERS = 16_000
"""Of a tool's result in each trace: a file of 200 MB has about 9,000 traces."""
BOUNDARY = "between-two-parts"
MEMORY, SUBMIT = 1.3, 2.0


@dataclass(frozen=True)
class Plan:
    """`think_seconds` is how long each annotator reads before the next submit."""

    megabytes: int = 200
    annotators: int = 8
    newcomers: int = 2
    items: int = 600
    think_seconds: float = 0.8
    quiet_seconds: float = 15


QUICK = Plan(megabytes=10, annotators=4, items=200, quiet_seconds=5)


def main(words):
    about = "Measure what an upload costs; see benchmarks/README.md."
    return measure(words, about=about, quick="a small file, to see that it works", bench=Bench, plans=(Plan(), QUICK))


class Bench:
    def __init__(self, plan, folder, on_postgresql):
        self.plan, self.folder, self.on_postgresql, self.databases = plan, folder, on_postgresql, {}

    @contextmanager
    def database(self):
        if not self.on_postgresql:
            yield ""
            return
        with durable_postgresql() as url:
            if url is None:
                raise SystemExit("There is no PostgreSQL here.")
            yield url

    def figures(self):
        path = self.folder / "traces.jsonl"
        n_traces = write(path, self.plan.megabytes * 1_000_000)
        say(f"A file of {path.stat().st_size / 1e6:.0f} MB with {n_traces} traces.")
        with self.database() as url:
            installation = Installation(self.folder, url)
            names = installation.inside("fill", self.plan.items, self.plan.annotators)
            lead = installation.inside("lead", INCOMING, self.plan.newcomers)
            self.databases = installation.inside("about")
            with installation.serving() as server:
                yield from measured(self.plan, server, names, lead, path)


def write(path, n_bytes):
    """Traces until the file is large enough; each is one of a few with an id of its own."""
    rng = random.Random(1)
    few = [larger(material.collaboration(number, rng), rng) for number in range(50)]
    n_traces = n_written = 0
    with path.open("w", encoding="utf-8") as file:
        while n_written < n_bytes:
            n_written += file.write(json.dumps({**few[n_traces % len(few)], "id": f"run-{n_traces}"}) + "\n")
            n_traces += 1
    return n_traces


def larger(trace, rng):
    rows = {"role": "tool", "answers": "c1", "text": material.sentences(rng, ROWS_CHARACTERS)}
    return {**trace, "messages": [rows if m.get("answers") == "c1" else m for m in trace["messages"]]}


def measured(plan, server, names, lead, path):
    people, uploader = [Visitor(server.port, name) for name in names], Upload(server.port, lead, path)
    for person in people:
        person.sign_in()
        person.open_next()
    web = web_processes(server.pid)
    submits(people, plan.think_seconds, until=after(3))  # until every thread of the server has its database open
    say("Measuring undisturbed.")
    with watched(web) as idle:
        before = submits(people, plan.think_seconds, until=after(plan.quiet_seconds))
    say("Measuring while the file is uploaded and imported.")
    with watched(web) as busy:
        uploader.start()
        beside = submits(people, plan.think_seconds, until=lambda: not uploader.is_alive())
    yield from compared(before, beside, statistics.median(idle), max(busy))
    yield from phases(beside, uploader.moments)
    errors = [*uploader.errors, *(error for person in people for error in person.errors)]
    yield Figure("errors", len(errors), "", 0, note="; ".join(errors[:3]))


def compared(before, beside, idle, busy):
    note = f"{busy:.0f} MB at most to {idle:.0f} MB"
    yield Figure("memory of the web processes, to before", round(busy / idle, 2), "x", MEMORY, note=note)
    calm, meanwhile = (percentile([seconds for _, seconds in one], 95) * 1000 for one in (before, beside))
    note = f"{meanwhile:.1f} ms of {len(beside)} submits to {calm:.1f} ms of {len(before)}"
    yield Figure("submit p95 beside the upload, to before", round(meanwhile / calm, 2), "x", SUBMIT, note=note)


def phases(beside, moments):
    """How long each part of it took, and the submits that began meanwhile."""
    for (name, began), (_, ended) in pairwise(moments):
        times = [seconds * 1000 for at, seconds in beside if began <= at < ended]
        note = f"{len(times)} submits"
        if times:
            note += f", p95 {percentile(times, 95):.0f} ms, longest {max(times):.0f} ms"
        yield Figure(f"while the file is {name}", round(ended - began, 1), "s", note=note)


# The upload


class Upload(threading.Thread):
    """A lead's browser: posts the file, then asks for the import's piece as the page does, until it is done. `moments`
    are the beginnings of its parts."""

    def __init__(self, port, name, path):
        super().__init__(name="upload", daemon=True)
        self.visitor, self.path = Visitor(port, name), path
        self.visitor.sign_in()
        self.moments, self.errors = [], []

    def run(self):
        try:
            self.begin("uploaded")
            piece = self.post()
            self.begin("imported")
            while True:
                words = self.visitor_page(piece)
                if b"All is read." in words and self.moments[-1][0] == "imported":
                    self.begin("planned for two annotators")
                if b"hx-trigger" not in words:
                    break
                time.sleep(1)
            if b"Imported:" not in words:
                self.errors.append(f"The import did not end well: {words[:500].decode()}")
        except Exception as error:
            self.errors.append(f"The upload ended: {error!r}")
        finally:
            self.begin("done")

    def begin(self, name):
        say(f"  {name}")
        self.moments.append((name, time.perf_counter()))

    def visitor_page(self, address):
        self.visitor.connect()
        return self.visitor.get(address).plain

    def post(self):
        """The address of the import's page."""
        address = f"/projects/{INCOMING}/imports/"
        token = TOKEN.search(self.visitor_page(address))[1].decode()
        fields = {"csrfmiddlewaretoken": token, "phase": "main", "format": "auto"}
        head = "".join(part(f'name="{name}"') + f"{value}\r\n" for name, value in fields.items())
        head = (head + part('name="file"; filename="traces.jsonl"')).encode()
        tail = f"\r\n--{BOUNDARY}--\r\n".encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.visitor.port, timeout=300)
        connection.putrequest("POST", f"{address}upload/")
        connection.putheader("Cookie", "; ".join(f"{name}={value}" for name, value in self.visitor.cookies.items()))
        connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
        connection.putheader("Content-Length", str(len(head) + self.path.stat().st_size + len(tail)))
        connection.endheaders()
        connection.send(head)
        with self.path.open("rb") as file:
            connection.send(file)
        connection.send(tail)
        answer = connection.getresponse()
        if answer.status != 302:
            raise RuntimeError(f"status {answer.status}: {answer.read(2000)}")
        return answer.headers["Location"]


def part(name):
    return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {name}\r\n\r\n"


# The others


def after(seconds):
    limit = time.perf_counter() + seconds
    return lambda: time.perf_counter() >= limit


def submits(people, think_seconds, until):
    """Each annotator submits, reads the next item for a while, and submits again; when each submit began, and its
    seconds."""
    times, now = [], time.perf_counter()
    due = {person: now + think_seconds * place / len(people) for place, person in enumerate(people)}
    with selectors.DefaultSelector() as selector:
        while not until() or selector.get_map():
            for person in [] if until() else [person for person, at in due.items() if at <= time.perf_counter()]:
                if person.form is None:
                    raise SystemExit(f"{person.name} has no item left: {person.errors[:1]}")
                del due[person]
                person.connect()
                selector.register(person.socket, selectors.EVENT_READ, person)
                person.send_answer()
            for key, _ in selector.select(0.01):
                page = key.data.receive()
                if page is not None:
                    key.data.take_answer(page)
                    times.append((key.data.began, key.data.seconds[-1]))
                    selector.unregister(key.fileobj)
                    due[key.data] = time.perf_counter() + think_seconds
    return times


# The server


def web_processes(pid):
    return [child for child in below(pid) if b"gunicorn" in Path(f"/proc/{child}/cmdline").read_bytes()]


def megabytes_of(pids):
    pages = [int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) for pid in pids]
    return sum(pages) * resource.getpagesize() / 1e6


@contextmanager
def watched(pids):
    """Megabytes that the processes hold in memory, all together, twenty times a second."""
    seen, is_over = [megabytes_of(pids)], threading.Event()

    def watch():
        while not is_over.wait(0.05):
            seen.append(megabytes_of(pids))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        is_over.set()
        watcher.join()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
