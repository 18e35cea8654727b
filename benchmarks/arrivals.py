"""Requests that come when they come, whatever has become of the earlier ones; seconds count from when each was due."""

import random
import selectors
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass

from benchmarks.visitors import LONGEST_WAIT

STEP = 0.005


def due_times(rate, seconds, seed=1):
    """Moments at random, so many a second on average."""
    rng, at = random.Random(seed), 0.0
    while (at := at + rng.expovariate(rate)) < seconds:
        yield at


def answers(people, rate, seconds):
    """People who answer at a rate, each the next one who is idle; how many answers came due. What took how long is
    with each of them."""
    idle, waiting = deque(person for person in people if person.form), deque(due_times(rate, seconds))
    began, n_due = time.perf_counter(), len(waiting)
    with selectors.DefaultSelector() as selector:
        while (waiting and idle) or selector.get_map():
            while waiting and idle and began + waiting[0] <= time.perf_counter():
                send(idle.popleft(), selector, began + waiting.popleft())
            for key, _ in selector.select(STEP):
                if take(key.data, selector) and key.data.form:
                    idle.append(key.data)
    return n_due


def send(person, selector, due):
    person.connect()
    selector.register(person.socket, selectors.EVENT_READ, person)
    person.send_answer()
    person.began = due


def take(person, selector):
    """Take what came; True once the answer is whole, or is none."""
    try:
        page = person.receive()
        if page is None:
            return False
        person.take_answer(page)
    except OSError as error:
        person.errors.append(str(error))
        person.form = None
    selector.unregister(person.socket)
    return True


# Page loads without end


@dataclass(slots=True)
class Load:
    """One page load on a connection of its own. `seconds` is None, and `status` 0, where nothing came."""

    due: float
    socket: socket.socket
    received: bytes = b""
    status: int = 0
    seconds: float | None = None
    is_told_when: bool = False

    def take(self):
        """What came; True once the other side has closed."""
        try:
            came = self.socket.recv(1 << 18)
        except OSError:
            came = b""
        if came and not self.received:
            self.seconds = time.perf_counter() - self.due
        self.received = (self.received + came)[:400]
        if came:
            return False
        self.socket.close()
        if self.received.startswith(b"HTTP/1.1 "):
            self.status = int(self.received[9:12])
            self.is_told_when = b"\nretry-after:" in self.received.lower()
        return True


class Flood(threading.Thread):
    """Loads of one page at a rate. `is_sent` is set when the last one went out; the thread ends when all are answered,
    or nothing has come for long."""

    def __init__(self, port, path, cookie, rate, seconds):
        super().__init__(name="flood", daemon=True)
        self.port, self.rate, self.seconds = port, rate, seconds
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n"
        self.request = f"{head}Accept: */*\r\nAccept-Language: en\r\n\r\n".encode()
        self.loads, self.is_sent = [], threading.Event()

    def run(self):
        waiting, began = deque(due_times(self.rate, self.seconds)), time.perf_counter()
        last = began
        with selectors.DefaultSelector() as selector:
            while waiting or (selector.get_map() and time.perf_counter() - last < LONGEST_WAIT):
                while waiting and began + waiting[0] <= time.perf_counter():
                    self.begin(selector, began + waiting.popleft())
                if not waiting:
                    self.is_sent.set()
                for key, mask in selector.select(STEP):
                    last = time.perf_counter()
                    self.go_on(selector, key, mask)

    def begin(self, selector, due):
        load = Load(due, socket.socket())
        load.socket.setblocking(False)
        load.socket.connect_ex(("127.0.0.1", self.port))
        self.loads.append(load)
        selector.register(load.socket, selectors.EVENT_WRITE, load)

    def go_on(self, selector, key, mask):
        load = key.data
        if mask & selectors.EVENT_WRITE:
            try:
                load.socket.sendall(self.request)
                selector.modify(load.socket, selectors.EVENT_READ, load)
            except OSError:
                selector.unregister(load.socket)
                load.socket.close()
        else:
            descriptor = load.socket.fileno()
            if load.take():
                selector.unregister(descriptor)
