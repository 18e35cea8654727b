"""An installation to break: a data folder, a database that keeps what it reports, the web server and workers as `./run`
starts them, and the moments of its processes."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from config import start
from tests import programs
from tests.faults.people import Ledger, Person
from tests.suite import ROOT, clean_environment

START_SECONDS = 60


class Place:
    """`database_url` may lead through a proxy; without one there is SQLite in the folder."""

    def __init__(self, folder, database_url="", **environment):
        self.folder, self.port = Path(folder), programs.free_port()
        self.environment = clean_environment(self.folder) | environment
        self.environment |= {"DATABASE_URL": database_url} if database_url else {}
        self.web = None
        self.workers = []
        self.ledger = Ledger(self.folder / "ledger.jsonl")
        self.names, self.known = [], []

    # Its parts

    def inside(self, action, *words):
        """What an action of `inside.py` says."""
        command = [sys.executable, "-m", "tests.faults.inside", action, *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)

    def fill(self, n_traces, n_people, **options):
        self.names = self.inside("fill", n_traces, n_people, json.dumps(options))

    def manage(self, *words, check=True):
        """A command of manage.py; what it printed."""
        command = [sys.executable, "manage.py", *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def child(self, command, **environment):
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment | environment,
                start_new_session=True,
                stdout=log,
                stderr=log,
            )

    def start_web(self, **environment):
        self.web = self.child(start.web("127.0.0.1", self.port), **environment)
        self.wait_for_web()

    def wait_for_web(self, seconds=START_SECONDS):
        """How long it took until a page that needs the database was served."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            assert self.web.poll() is None, self.log()
            line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(line):
                line.request("GET", "/sign-in/")
                if line.getresponse().status == 200:
                    return time.monotonic() - began
            time.sleep(0.02)
        raise TimeoutError(self.log())

    def start_worker(self):
        self.workers.append(self.child(start.worker()))

    def web_workers(self):
        """The processes that serve; the first one only minds them."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pid = self.web.pid
            return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
        return []

    def serving(self, client_port):
        """The process that has taken up the connection from this port, once one has; None for a short while."""
        row = connection_of(self.port, client_port)
        for pid in self.web_workers() if row else ():
            with contextlib.suppress(OSError):
                if any(os.readlink(one) == f"socket:[{row}]" for one in Path(f"/proc/{pid}/fd").iterdir()):
                    return pid
        return None

    def kill_web(self):
        """All of it at once."""
        end_group(self.web, signal.SIGKILL)

    def log(self):
        return (self.folder / "log").read_text("utf-8", "replace")[-4000:]

    def end(self):
        for person in self.known:
            person.hang_up()
        for one in [self.web, *self.workers]:
            if one is not None:
                end_group(one, signal.SIGKILL)
        self.ledger.file.close()

    # Its people

    def people(self, names=None, port=None):
        """Signed in, each with an item open."""
        found = [Person(port or self.port, name, self.ledger) for name in names or self.names]
        self.known += found
        for person in found:
            person.sign_in()
            person.open_next()
        return found


def connection_of(server_port, client_port):
    """The inode of the server's end of a connection on loopback, "" where there is none."""
    ends = f"0100007F:{server_port:04X}", f"0100007F:{client_port:04X}"
    for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]:
        fields = line.split()
        if (fields[1], fields[2]) == ends:
            return fields[9] if fields[9] != "0" else ""
    return ""


def end_group(process, number):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
    process.wait()


@contextlib.contextmanager
def place(folder, database_url="", **environment):
    made = Place(folder, database_url, **environment)
    try:
        yield made
    finally:
        made.end()
