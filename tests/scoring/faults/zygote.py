"""A process with everything loaded that makes workers by forking, so that a worker can be killed every few
milliseconds.

It reads one JSON object a line: `{"do": "drain" | "celery" | "site", ...}` forks a process and answers `{"pid": ...}`;
`{"do": "wait", "pid": ...}` answers `{"ended": status}` when that one has. A worker judges with the judge `spoken`,
which lives here: it sleeps, says where it is and waits there, or ends the process. A site is asked once to start a run
of it, by a lead, at its page.
"""

import atexit
import itertools
import json
import os
import signal
import sys
import threading
import time
from datetime import timedelta

import django

HERE = threading.local()
POINTS = ("before the result", "between result and commit", "between commit and end")
ASKING_POINTS = ("stored and not sent", "answered and not recorded", "recorded and not read")
SITE_POINTS = ("before the run is committed", "before a worker is woken", "behind the answer")


def say(**words):
    """One line at once, whoever else writes."""
    os.write(1, (json.dumps(words) + "\n").encode())


def arrive(point):
    """Say that a job is at the point, and stay there until this process is killed, or told to go on."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    say(at=point, work=getattr(HERE, "work", None))
    signal.sigwait({signal.SIGUSR1})


class Worker:
    """What a forked process does; `said` is the line that asked for it."""

    def __init__(self, said):
        self.said = said
        self.waits_at = said.get("point")

    def step(self, view):
        from annotate.kinds.base import Finding

        if any(words in view.reply for words in self.said.get("poison", ())):
            say(at="poison", work=HERE.work)
            os._exit(9)
        if self.said.get("sleep"):
            say(asleep=HERE.work, worker=os.getpid())
            time.sleep(self.said["sleep"])
        self.here(POINTS[0])
        return Finding(values={}, spans=())

    def here(self, point):
        if self.waits_at == point:
            self.waits_at = None
            arrive(point)

    def prepare(self):
        """The judge, and hooks at the two points that are the product's."""
        from annotate import work
        from scoring import queries
        from scoring.judges import registry
        from tests.scoring.judges_here import judge_that

        registry.all_judges()["spoken"] = judge_that(self.step)
        handler, has_verdict, is_through = work.HANDLERS["verdict"], queries.has_verdict, queries.is_through

        def judge_item(job):
            HERE.work = job.row.pk
            return handler(job)

        def before_the_insert(verdict):
            self.here(POINTS[1])
            return has_verdict(verdict)

        def after_the_commit(group):
            self.here(POINTS[2])
            return is_through(group)

        self.prepare_to_ask()
        work.HANDLERS["verdict"] = judge_item
        queries.has_verdict, queries.is_through = before_the_insert, after_the_commit

    def prepare_to_ask(self):
        """A judge that asks, and hooks around each of its calls; `after` lets so many pass first."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})  # for the threads of a driver too
        from scoring import calling
        from scoring.judges import registry
        from tests.scoring.asking_here import ASKER

        registry.all_judges()["asker"] = ASKER
        send, record_answer = calling.send, calling.record_answer
        waits_at, self.waits_at = self.waits_at, None if "after" in self.said else self.waits_at
        passed = itertools.count(1)

        def sent(call, endpoint):
            if next(passed) == self.said.get("after"):
                self.waits_at = waits_at
            self.here(ASKING_POINTS[0])
            reply = send(call, endpoint)
            self.here(ASKING_POINTS[1])
            return reply

        def recorded(call, reply, prices):
            answer = record_answer(call, reply, prices)
            self.here(ASKING_POINTS[2])
            return answer

        calling.send, calling.record_answer = sent, recorded

    def drain(self):
        from annotate import work

        if "lease" in self.said:
            work.LEASE = timedelta(seconds=self.said["lease"])
        work.drain()
        say(at="the end")

    def site(self):
        from django.test import Client
        from django.urls import reverse

        from annotate import waking, work
        from annotate.models import Person

        add_many, wake = work.add_many, waking.wake

        def add_then_stay(jobs):
            add_many(jobs)
            self.here(SITE_POINTS[0])

        def stay_then_wake():
            self.here(SITE_POINTS[1])
            wake()

        work.add_many, waking.wake = add_then_stay, stay_then_wake
        browser = Client(SERVER_NAME="localhost")
        browser.force_login(Person.objects.get(pk=self.said["lead"]))
        address = reverse("scoring:start_run", args=[self.said["project"]])
        answer = browser.post(address, {"judge": "spoken", "phases": ["main"]})
        say(answered=answer.status_code)
        self.here(SITE_POINTS[2])

    def celery(self):
        from celery import signals

        from annotate import tasks
        from config.celery import app

        tasks.SWEEP_SECONDS = self.said.get("sweep", tasks.SWEEP_SECONDS)
        signals.worker_ready.connect(lambda **_: say(at="up"), weak=False)

        words = ["--quiet", "worker", "-P", "threads", "--concurrency", str(self.said["concurrency"])]
        words += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
        app.worker_main(words)

    def do(self):
        self.prepare()
        {"drain": self.drain, "celery": self.celery, "site": self.site}[self.said["do"]]()


def live(said):
    """Like any Python, end when all threads have; but do not clear up then, which takes longer than everything else."""
    status = 1
    try:
        Worker(said).do()
        status = 0
    finally:
        atexit.register(os._exit, status)


def load():
    from django.utils.module_loading import autodiscover_modules

    django.setup()
    autodiscover_modules("tasks")
    import celery.apps.worker
    import celery.bin.worker
    import celery.concurrency.thread  # noqa: F401

    import config.celery
    import config.urls  # noqa: F401
    import scoring.running  # noqa: F401
    import tests.scoring.judges_here  # noqa: F401


def main():
    load()
    say(at="ready")
    for line in sys.stdin:
        said = json.loads(line)
        if said["do"] == "wait":
            _, status = os.waitpid(said["pid"], 0)
            say(ended=os.waitstatus_to_exitcode(status))
            continue
        pid = os.fork()
        if pid == 0:
            return live(said)
        say(pid=pid)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
