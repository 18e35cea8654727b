"""Actions that meet: each in a thread with a connection of its own, as in two windows or two processes.

For tests marked `django_db(transaction=True)`; what an action raised stands in its place among the results.
"""

import threading
import time

from django.db import connection, transaction

LONGEST_WAIT = 5


def at_once(*actions):
    """Run the actions in threads that start together; what each returned or raised."""
    ready = threading.Barrier(len(actions))
    return in_threads(*((lambda action=action: (ready.wait(), action())[1]) for action in actions))


def under_way(first, second):
    """Run `second` when `first` has done all but its commit, which follows when `second` waits for it or has ended."""
    done, ended = threading.Event(), threading.Event()

    def run_first():
        try:
            with transaction.atomic():
                result = first()
                done.set()
                until_waiting(ended)
        finally:
            done.set()
        return result

    def run_second():
        try:
            done.wait()
            return second()
        finally:
            ended.set()

    return in_threads(run_first, run_second)


def until_waiting(ended):
    """PostgreSQL says who waits for a lock; on SQLite whoever writes waits, so a moment is enough."""
    if connection.vendor != "postgresql":
        ended.wait(0.2)
        return
    limit = time.monotonic() + LONGEST_WAIT
    while not ended.wait(0.01) and time.monotonic() < limit:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return


def in_threads(*actions):
    results = [None] * len(actions)

    def run(place, action):
        try:
            results[place] = action()
        except Exception as error:
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
