"""What a worker does: it drains the jobs when a message wakes it, and sweeps by itself for those that no message told
of."""

import logging
import threading

from celery import bootsteps, current_app, shared_task, signals
from django.db import connection

from annotate import importing, pools, reviewing, waking, work

log = logging.getLogger(__name__)
SWEEP_SECONDS, LEAST_SWEEP_SECONDS = 15, 1
END_SECONDS = 8

HANDLERS_OF = [importing, reviewing]
"""Modules whose jobs this app does: importing them has registered their handlers."""


@shared_task(name=waking.TASK)
def wake():
    drain()


def drain():
    try:
        work.drain()
    finally:
        connection.close()


class Sweeper(threading.Thread):
    """Sweeps every 15 seconds, and when the next lease ends, if that is sooner. What there is to do then is done beside
    it, so that a long job holds up no sweep."""

    def __init__(self):
        super().__init__(name="sweeper", daemon=True)
        self.ending = threading.Event()
        self.drainer = None
        self.told = set()

    def run(self):
        while not self.ending.is_set():
            pause = SWEEP_SECONDS
            try:
                self.sweep()
                pause = pause_before_next(work.seconds_to_next_end())
            except Exception:
                log.exception("A sweep failed; the next one comes in %s seconds.", SWEEP_SECONDS)
            finally:
                connection.close()
            self.ending.wait(pause)

    def sweep(self):
        swept = work.sweep()
        pools.take_back_expired()
        for kind in set(swept.unknown_kinds) - self.told:
            log.warning("Jobs of the kind %s wait, and nothing here does them.", kind)
            self.told.add(kind)
        if swept.n_claimable and not (self.drainer and self.drainer.is_alive()):
            self.drainer = threading.Thread(target=drain, name="drainer", daemon=True)
            self.drainer.start()

    def end(self):
        self.ending.set()
        for thread in (self, self.drainer):
            if thread and thread.is_alive():
                thread.join(END_SECONDS)


def pause_before_next(seconds_to_end):
    """A job whose lease is short is taken over as soon as that is over."""
    if seconds_to_end is None:
        return SWEEP_SECONDS
    return min(max(seconds_to_end + 0.2, LEAST_SWEEP_SECONDS), SWEEP_SECONDS)


SWEEPER = Sweeper()


@signals.worker_init.connect
def begin(**_):
    """Before the broker is asked for, so that a worker whose broker is away still does what there is to do."""
    waking.make_broker_folders()
    SWEEPER.start()


@signals.worker_shutting_down.connect
def hear_of_the_end(**_):
    work.STOPPING.set()


class ClaimNoMore(bootsteps.StartStopStep):
    """Celery breaks down on SIGQUIT, as it cannot cancel what threads do, and says nothing of its end. It waits for
    these threads then, and they would do all jobs there are."""

    requires = {"celery.worker.components:Pool"}

    def stop(self, worker):
        hear_of_the_end()


current_app.steps["worker"].add(ClaimNoMore)


@signals.worker_shutdown.connect
def end(**_):
    SWEEPER.end()
