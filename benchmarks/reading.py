"""What it costs to read each format: `python benchmarks/reading.py`.

Of every reader's fixture a file with 2,000 and one with 20,000 traces is made (each trace with an id and a first
message of its own) and read in a process of its own, without a database. Prints by format the traces and megabytes a
second, and time and peak memory of the large file to those of the small one. A format whose file holds one trace is
measured as a zip of so many files.
"""

import argparse
import io
import json
import os
import resource
import statistics
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from annotate.traces.base import Trace
from annotate.traces.reading import Reading
from annotate.traces.sniff import readers

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "traces"
MEMORY, TIME = 1.3, 12.0
ONE_SESSION = {"claude_code"}
"""A file is one session; one of many would be held to its end, since any of them may go on."""
COLUMNS = ("format", "form", "traces", "MB", "traces/s", "MB/s", "time", "peak memory", "peak MB")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=2_000, metavar="N", help="traces of the small file")
    parser.add_argument("--large", type=int, default=20_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", metavar="FORMAT", choices=sorted(readers()))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    rows = []
    if not options.json:
        print(line_of(COLUMNS))
    for format in options.only or sorted(readers()):
        with tempfile.TemporaryDirectory(prefix="sightline-measure-") as folder:
            rows.append(measure(format, Path(folder), options))
        if not options.json:
            print(line_of([rows[-1][name] for name in COLUMNS]), flush=True)
    if options.json:
        print(json.dumps(rows))
    return int(any(row["peak memory"] > MEMORY or row["time"] > TIME for row in rows))


def line_of(cells):
    return "  ".join(str(cell).ljust(18) if place < 2 else str(cell).rjust(11) for place, cell in enumerate(cells))


def measure(format, folder, options):
    fixture = Fixture(format)
    paths = {n: folder / str(n) for n in (options.small, options.large)}
    for n, path in paths.items():
        fixture.write(path, n)
    taken = {n: [in_a_process(path, format) for _ in range(options.rounds)] for n, path in paths.items()}
    seconds = {n: statistics.median(one["seconds"] for one in found) for n, found in taken.items()}
    peak = {n: min(one["peak"] for one in found) for n, found in taken.items()}
    n_traces, n_bytes = taken[options.large][0]["traces"], fixture.n_bytes
    return {
        "format": format,
        "form": fixture.form,
        "traces": n_traces,
        "MB": round(n_bytes / 1e6, 1),
        "traces/s": round(n_traces / seconds[options.large]),
        "MB/s": round(n_bytes / 1e6 / seconds[options.large], 1),
        "time": round(seconds[options.large] / seconds[options.small], 1),
        "peak memory": round(peak[options.large] / peak[options.small], 2),
        "peak MB": round(peak[options.large] / 1024),
    }


class Fixture:
    """The fixture of a format, as often as one likes: each copy with ids and first messages of its own."""

    def __init__(self, format):
        (self.path,) = FIXTURES.glob(f"{format}.*")
        self.format, self.text = format, self.path.read_text(encoding="utf-8-sig")
        self.traces = traces_in(self.path.read_bytes(), format, self.path.name)
        told = {trace.source_id for trace in self.traces} | {self.path.stem}
        said = {first_said(trace) for trace in self.traces} - {""}
        places = {one for text in told | said if (one := escaped(text)) in self.text}
        self.places = sorted(places, key=len, reverse=True)
        self.form = next(form for form in FORMS if self.fits(form) and (form == "zip" or format not in ONE_SESSION))
        self.n_bytes = 0

    def fits(self, form):
        """Whether copies in this form are read as so many traces."""
        out = io.BytesIO()
        try:
            FORMS[form](self, out, 3)
        except (ValueError, TypeError):
            return False
        return form == "zip" or len(traces_in(out.getvalue(), self.format, "x")) == 3 * len(self.traces)

    def copy(self, number):
        """The text of one copy."""
        text = self.text
        for place in self.places:
            text = text.replace(place, f"{place} {number}")
        return text

    def write(self, path, n_traces):
        n_copies = -(-n_traces // len(self.traces))
        with path.open("wb") as out:
            FORMS[self.form](self, out, n_copies)
        self.n_bytes = path.stat().st_size


def as_lines(fixture, out, n_copies):
    """Lines behind lines; an object over several lines becomes one."""
    for number in range(n_copies):
        text = fixture.copy(number)
        if fixture.path.suffix == ".json":
            text = json.dumps(json.loads(text), ensure_ascii=False)
        out.write(text.rstrip("\n").encode() + b"\n")


def as_array(fixture, out, n_copies):
    out.write(b"[")
    for number in range(n_copies):
        elements = json.loads(fixture.copy(number))
        if not isinstance(elements, list):
            raise TypeError("no array")
        out.write(b"," * bool(number) + b",\n".join(json.dumps(one, ensure_ascii=False).encode() for one in elements))
    out.write(b"]")


def as_object(fixture, out, n_copies):
    """One object whose list of records is longer."""
    member = getattr(readers()[fixture.format], "RECORDS_IN", "")
    around = json.loads(fixture.text)
    if not isinstance(around, dict) or member not in around:
        raise TypeError("no list")
    head = json.dumps({**around, member: []}, ensure_ascii=False).encode()
    begin = head.index(json.dumps(member).encode() + b": [") + len(member) + 5
    out.write(head[:begin])
    for number in range(n_copies):
        records = json.loads(fixture.copy(number))[member]
        out.write(b"," * bool(number) + b",\n".join(json.dumps(one, ensure_ascii=False).encode() for one in records))
    out.write(head[begin:])


def as_zip(fixture, out, n_copies):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(n_copies):
            archive.writestr(f"{fixture.path.stem} {number}{fixture.path.suffix}", fixture.copy(number))


FORMS = {"one object": as_object, "array": as_array, "lines": as_lines, "zip": as_zip}


def first_said(trace):
    return next((message.text for message in trace.messages if message.role == "user"), "")[:60]


def escaped(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]


def traces_in(content, format, name):
    found = list(Reading(io.BytesIO(content), file_name=name, format=format))
    return [one for one in found if isinstance(one, Trace)]


def in_a_process(path, format):
    """Seconds and peak kilobytes of reading a file, in a process that does nothing else."""
    reader, writer = os.pipe()
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, __file__, "--read", str(path), format, str(writer)],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writer, writer)],
    )
    os.close(writer)
    with os.fdopen(reader) as said:
        result = json.load(said)
    os.waitpid(child, 0)
    return result


def read_one(path, format, writer):
    began = time.perf_counter()
    n_traces = n_problems = 0
    with open(path, "rb") as file:
        for one in Reading(file, file_name="made", format=format):
            # An id made of parts may be the same in two copies; the trace was read all the same.
            is_trace = isinstance(one, Trace) or one.code == "duplicate_id"
            n_traces += is_trace
            n_problems += not is_trace and not one.warning
    if n_problems:
        raise SystemExit(f"{format}: {n_problems} problems in a file that has none.")
    result = {
        "seconds": time.perf_counter() - began,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "traces": n_traces,
    }
    os.write(int(writer), json.dumps(result).encode())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read_one(*sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1:]))
