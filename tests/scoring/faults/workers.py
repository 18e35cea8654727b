"""Workers that tests kill: forked by a zygote on the database of the test."""

import contextlib
import json
import os
import queue
import signal
import threading
import time
from collections import deque

from annotate import work
from annotate.models import Work
from scoring.models import Verdict
from scoring.running import start_run
from tests.annotate.children import LONGEST_WAIT, child
from tests.factories import make_cast, make_item, make_trace
from tests.scoring.judges_here import FOUND, judge_that, known


class Workers:
    """The zygote and what its workers say."""

    def __init__(self, process):
        self.process, self.lines, self.kept, self.pids = process, queue.Queue(), deque(), set()
        threading.Thread(target=self.read, daemon=True).start()
        self.hear("at", "ready")

    def read(self):
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):  # what Celery prints is no JSON
                self.lines.put(json.loads(line))

    def hear(self, name, value=None):
        """The next line that has this name, with this value where one is given; others are kept for who asks next."""
        limit = time.monotonic() + LONGEST_WAIT
        for _ in range(len(self.kept)):
            line = self.kept.popleft()
            if name in line and value in (None, line[name]):
                return line
            self.kept.append(line)
        while True:
            line = self.lines.get(timeout=max(limit - time.monotonic(), 0.01))
            if name in line and value in (None, line[name]):
                return line
            self.kept.append(line)

    def said(self, name):
        """Every line with this name that nobody has asked for."""
        while not self.lines.empty():
            self.kept.append(self.lines.get())
        return [line for line in self.kept if name in line]

    def ask(self, **words):
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def fork(self, do="drain", **words):
        self.ask(do=do, **words)
        pid = self.hear("pid")["pid"]
        self.pids.add(pid)
        return pid

    def ended(self, pid):
        """How a worker ended, once it has."""
        self.ask(do="wait", pid=pid)
        ended = self.hear("ended")["ended"]
        self.pids.discard(pid)
        return ended

    def kill(self, pid, number=signal.SIGKILL):
        os.kill(pid, number)
        return self.ended(pid)


@contextlib.contextmanager
def workers(data, **environment):
    with child("-m", "tests.scoring.faults.zygote", data=data, stdin=True, **environment) as process:
        those = Workers(process)
        try:
            yield those
        finally:
            for pid in those.pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


# Runs


def make_items(project, n, text="Reply {number}."):
    from annotate.traces.base import Message

    items = []
    for number in range(n):
        messages = (Message(0, "user", "Well?"), Message(1, "assistant", text.format(number=number)))
        items.append(make_item(project, trace=make_trace(project, messages), reply=1))
    return items


def started(n, **texts):
    """A run of the judge `spoken` over so many items of a new project."""
    cast = make_cast()
    make_items(cast.project, n, **texts)
    with known(judge_that(lambda view: FOUND)):
        return start_run(person=None, project=cast.project, judge="spoken")


def finish_here(run):
    """Do what is left of a run in this process."""
    with known(judge_that(lambda view: FOUND)):
        work.drain(run.group)


def once_each(run):
    """Whether every item of a run has its one verdict, and every job is done."""
    found = list(Verdict.objects.filter(run=run).values_list("item", flat=True))
    states = set(Work.objects.filter(group=run.group).values_list("state", flat=True))
    return len(found) == len(set(found)) == run.n_items and states == {"done"}
