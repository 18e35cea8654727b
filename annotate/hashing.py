"""Passwords are hashed one at a time in each process, in a thread that stands back for all others.

A hash is slow on purpose, a quarter of a second of one processor. When everybody signs in at once, requests of people
who label must find a processor, and a thread of the server, all the same.
"""

import contextlib
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from annotate.errors import TooBusy

N_WAITING = 3
"""Requests that may be at it in a process, of the four that a process of `./run` answers at a time: one thread stays
with people who label. Who comes meanwhile is refused at once, as waiting would take that one too."""
NICENESS = 5

PLACES = threading.BoundedSemaphore(N_WAITING)
ONE = threading.Lock()


class PasswordHasher(PBKDF2PasswordHasher):
    """Django's own, with its strength and its format; only when and how fast it works is ours."""

    def encode(self, password, salt, iterations=None):
        if not PLACES.acquire(blocking=False):
            raise TooBusy
        try:
            with ONE, ThreadPoolExecutor(1, initializer=stand_back) as aside:
                return aside.submit(super().encode, password, salt, iterations).result()
        finally:
            PLACES.release()


def stand_back():
    """Let every other thread of this machine go first. Where priorities belong to whole processes, it would slow down
    the web server itself, so nothing is done there."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):  # where it may not be asked for, passwords are checked all the same
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
