"""Annotators' browsers, many in this one process: connections that are kept, and one loop that waits for all."""

import gzip
import re
import selectors
import socket
import time
from dataclasses import dataclass
from urllib.parse import urlencode

from benchmarks.installations import PASSWORD, PROJECT
from tests.answers import encoded_answer, form_in

LENGTH = re.compile(rb"\ncontent-length: *(\d+)", re.IGNORECASE)
COOKIE = re.compile(rb"\nset-cookie: *([^=;]+=[^;]*)", re.IGNORECASE)
LOCATION = re.compile(rb"\nlocation: *([^\r]+)", re.IGNORECASE)
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')
SAVED = b">Saved <time"
LONGEST_WAIT = 60
BROWSER = "Accept: */*\r\nAccept-Encoding: gzip, deflate\r\nAccept-Language: en\r\nUser-Agent: Mozilla/5.0\r\n"
HTMX = "HX-Request: true\r\nHX-Target: item\r\nHX-Current-URL: {origin}/\r\nOrigin: {origin}\r\n"
FORM_TYPE = "Content-Type: application/x-www-form-urlencoded\r\n"


@dataclass(frozen=True, slots=True)
class Page:
    """An answer as it came over the line."""

    status: int
    head: bytes
    body: bytes

    @property
    def n_bytes(self):
        return len(self.head) + len(self.body)

    @property
    def is_compressed(self):
        return b"\ncontent-encoding: gzip" in self.head.lower()

    @property
    def plain(self):
        return gzip.decompress(self.body) if self.is_compressed else self.body

    def redirect(self):
        found = LOCATION.search(self.head)
        return found and found[1].decode()


class Visitor:
    """One annotator's browser with the form it has open, and what became of the answers it gave."""

    def __init__(self, port, name):
        self.port, self.name = port, name
        self.cookies = {}
        self.socket = None
        self.received = bytearray()
        self.expected = None  # bytes of the answer under way, once its head is there
        self.form = None
        self.acknowledged = []
        self.errors = []
        self.seconds = []
        self.set_headers()

    def connect(self):
        """A new connection: the server closes those that were idle for a while."""
        if self.socket:
            self.socket.close()
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=LONGEST_WAIT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def set_headers(self):
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        always = f"Host: 127.0.0.1:{self.port}\r\nCookie: {cookies}\r\n{BROWSER}"
        self.get_headers = f"{always}\r\n".encode()
        self.post_headers = f"{always}{FORM_TYPE}".encode()
        self.htmx_headers = self.post_headers + HTMX.format(origin=f"http://127.0.0.1:{self.port}").encode()

    def send_get(self, path):
        self.socket.sendall(b"GET %s HTTP/1.1\r\n%s" % (path.encode(), self.get_headers))

    def send_post(self, path, body, headers):
        head = b"POST %s HTTP/1.1\r\nContent-Length: %d\r\n%s\r\n" % (path.encode(), len(body), headers)
        self.socket.sendall(head + body)

    def receive(self):
        """Take what has come; the page once it is whole, else None."""
        came = self.socket.recv(1 << 18)
        if not came:
            raise ConnectionError("The server closed the connection.")
        self.received += came
        if self.expected is None:
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return None
            length = LENGTH.search(self.received, 0, end + 2)
            self.expected = end + 4 + (int(length[1]) if length else 0)
        return self.page() if len(self.received) >= self.expected else None

    def page(self):
        whole, self.received, self.expected = bytes(self.received), bytearray(), None
        head, _, body = whole.partition(b"\r\n\r\n")
        return Page(int(head[9:12]), head + b"\r\n\r\n", body)

    def wait(self):
        while (page := self.receive()) is None:
            pass
        return page

    def get(self, path):
        self.send_get(path)
        return self.wait()

    def sign_in(self):
        self.connect()
        page = self.keep_cookies(self.get("/sign-in/"))
        fields = {"csrfmiddlewaretoken": TOKEN.search(page.body)[1], "username": self.name, "password": PASSWORD}
        self.send_post("/sign-in/", urlencode(fields).encode(), self.post_headers)
        if self.keep_cookies(self.wait()).status != 302:
            raise SystemExit(f"{self.name} could not sign in.")

    def keep_cookies(self, page):
        self.cookies |= dict(cookie.decode().split("=", 1) for cookie in COOKIE.findall(page.head))
        self.set_headers()
        return page

    def open_next(self):
        """The next item as a page; its address is asked for first, as the link on the first page does."""
        page = self.get(self.get(f"/projects/{PROJECT}/label/").redirect())
        self.form = form_in(page.body)
        return page

    def send_answer(self):
        self.began = time.perf_counter()
        self.send_post(f"{self.form.item}submit/", encoded_answer(self.form), self.htmx_headers)

    def take_answer(self, page):
        """Note what became of an answer. Only a page that says it is saved, and has another item or none, takes it."""
        self.seconds.append(time.perf_counter() - self.began)
        given, self.form = self.form, form_in(page.body)
        if page.status == 200 and SAVED in page.body and (self.form is None or self.form.item != given.item):
            self.acknowledged.append((given.item, given.key))
        else:
            self.errors.append(f"status {page.status} for {given.item}")
            self.form = None
        return page

    def submit(self):
        self.send_answer()
        return self.take_answer(self.wait())

    def timed(self, act):
        """Seconds until the answer is here and its form found, which takes well under a millisecond."""
        began = time.perf_counter()
        act()
        return time.perf_counter() - began


def gather(visitors):
    """Each opens the page of its next item."""
    for visitor in visitors:
        visitor.connect()
        visitor.open_next()
        visitor.seconds.clear()


def crowd(visitors, seconds):
    """All answer at once, each as soon as it has the next item, until the time is up; gives how long that took. All
    have a form open."""
    with selectors.DefaultSelector() as selector:
        began = time.perf_counter()
        for visitor in visitors:
            visitor.connect()
            selector.register(visitor.socket, selectors.EVENT_READ, visitor)
            visitor.send_answer()
        while selector.get_map():
            ready = selector.select(LONGEST_WAIT)
            if not ready:
                raise SystemExit(f"No answer within {LONGEST_WAIT} seconds.")
            for key, _ in ready:
                if not go_on(key.data, until=began + seconds):
                    selector.unregister(key.fileobj)
        return time.perf_counter() - began


def go_on(visitor, *, until):
    """Take what came for this visitor and send the next answer. False when it is done, by time or by an error."""
    try:
        page = visitor.receive()
        if page is None:
            return True
        visitor.take_answer(page)
        if visitor.form is None or time.perf_counter() >= until:
            return False
        visitor.send_answer()
    except OSError as error:
        visitor.errors.append(str(error))
        return False
    return True
