"""Installations to measure: a data folder, a database with material in it, and the server as `./run` starts it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests import programs
from tests.suite import clean_environment

ROOT = Path(__file__).resolve().parent.parent
PROJECT, PASSWORD = "measured", "only-for-measuring"


def say(text):
    print(text, file=sys.stderr, flush=True)


class Installation:
    """One data folder below `parent`; SQLite in it, or the database at an address."""

    def __init__(self, parent, database_url=""):
        self.folder = Path(tempfile.mkdtemp(dir=parent))
        self.environment = clean_environment(self.folder)
        self.environment |= {"DATABASE_URL": database_url} if database_url else {}

    def inside(self, action, *words):
        """What an action of `inside.py` says; it runs in a child, because settings are read once a process."""
        command = [sys.executable, "-m", "benchmarks.inside", action, *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)

    @contextlib.contextmanager
    def serving(self):
        """The second half of `./run --no-demo`; the first only makes the environment. Gives the server."""
        port = free_port()
        serve = ["serve", "--host", "127.0.0.1", "--port", str(port), "--no-demo"]
        command = [sys.executable, ROOT / "config" / "start.py", *serve]
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) as child:
            try:
                if not any(line.startswith("Ctrl+C") for line in child.stdout):
                    raise SystemExit("The server did not start; see above.")
                yield Server(port, child.pid)
            finally:
                child.terminate()

    def import_cost(self, path):
        """Seconds and peak kilobytes of `import_traces` in a process of its own."""
        command = [sys.executable, "manage.py", "import_traces", PROJECT, str(path), "--json"]
        began = time.perf_counter()
        child = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # it has been waited for here
        if child.returncode:
            raise SystemExit(f"import_traces ended with exit code {child.returncode}; see above.")
        return time.perf_counter() - began, used.ru_maxrss

    def remove(self):
        shutil.rmtree(self.folder)


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    pid: int

    def processor_seconds(self):
        """What the server's processes have used so far, from Linux's own count; elsewhere nan."""
        try:
            ticks = sum(map(ticks_of, [self.pid, *below(self.pid)]))
        except OSError:
            return float("nan")
        return ticks / os.sysconf("SC_CLK_TCK")


def below(pid):
    """A process's children and theirs."""
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split():
        yield int(child)
        yield from below(int(child))


def ticks_of(pid):
    """User and system time: the 14th and 15th field of a line whose second one may hold blanks."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def durable_postgresql():
    """The address of a cluster that must outlive a power cut, or None."""
    with programs.cluster(say, programs.DURABLE) as server:
        yield server and server.url
