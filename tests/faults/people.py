"""People who label through the pages, and the ledger of what they sent and what they were told."""

import http.client
import json
import os
import re
import threading
import time
from urllib.parse import urlencode

from tests.answers import ENCODED_LABEL, ENCODED_READABLE, encoded_answer, form_in

PASSWORD, PROJECT = "only-for-faults", "faults"
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')
COOKIE = re.compile(r"([^=;]+=[^;]*)")
SAVED = b">Saved <time"
FORM_TYPE = {"Content-Type": "application/x-www-form-urlencoded"}
LONGEST_WAIT = 20
PATIENCE = 90
"""Seconds until somebody stops trying the same again."""


class Ledger:
    """A file with a line before each answer is sent and one for what came of it, each on the disk before it counts."""

    def __init__(self, path):
        self.file, self.writing = path.open("ab"), threading.Lock()
        self.sent, self.acknowledged, self.unknown, self.n_failed, self.last = set(), set(), 0, 0, []

    def write(self, state, item, key, **more):
        with self.writing:
            self.file.write(json.dumps({"state": state, "item": item, "key": key, **more}).encode() + b"\n")
            self.file.flush()
            os.fsync(self.file.fileno())
            self.last = [*self.last[-3:], (state, item, more)]
            if state == "sent":
                self.sent.add((item, key))
            elif state == "ok":
                self.acknowledged.add((item, key))
            elif state == "unknown":
                self.unknown += 1
            else:
                self.n_failed += 1


class NotAnswered(Exception):
    """Whether the request was done is not known."""


class Person:
    """One browser without script, which keeps asking until it is told. `port` is where it asks."""

    def __init__(self, port, name, ledger):
        self.port, self.name, self.ledger = port, name, ledger
        self.cookies, self.line, self.form, self.seconds, self.bodies = {}, None, None, [], set()
        self.patience = PATIENCE

    # Requests

    def request(self, method, path, body=None, headers=None):
        """Status, headers and body; NotAnswered where the line broke."""
        if self.line is None:
            self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST_WAIT)
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **(headers or {})}
        try:
            self.line.request(method, path, body, {"Accept": "*/*", "Accept-Language": "en", **sent})
            answer = self.line.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.hang_up()
            raise NotAnswered(str(error)) from error
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, value = COOKIE.match(cookie)[1].split("=", 1)
            self.cookies[name] = value
        self.bodies.add(b"\n".join([str(answer.headers).encode(), said]))
        if answer.headers.get("Connection") == "close":
            self.hang_up()
        return answer.status, answer.headers, said

    def hang_up(self):
        if self.line is not None:
            self.line.close()
        self.line = None

    def insist(self, method, path, body=None, headers=None, until=(200, 302)):
        """Ask again until there is an answer with one of these statuses."""
        limit = time.monotonic() + self.patience
        while True:
            try:
                status, heads, said = self.request(method, path, body, headers)
                if status in until:
                    return status, heads, said
            except NotAnswered:
                status = None
            if time.monotonic() > limit:
                raise TimeoutError(f"{self.name}: {path} was not answered well for long (status {status}).")
            time.sleep(0.05)

    # What is done

    def sign_in(self):
        _, _, page = self.insist("GET", "/sign-in/")
        fields = {"csrfmiddlewaretoken": TOKEN.search(page)[1], "username": self.name, "password": PASSWORD}
        self.insist("POST", "/sign-in/", urlencode(fields), FORM_TYPE, until=(302,))

    def open_next(self):
        """Take up the next item; False where all is done, or one has no part in the project any more."""
        found = (200, 302, 404)
        status, heads, page = self.insist("GET", f"/projects/{PROJECT}/label/", until=found)
        if status == 302:
            _, _, page = self.insist("GET", heads["Location"], until=found)
        self.form = form_in(page)
        return self.form is not None

    def send(self):
        """One try to submit what is open. True once it is acknowledged; NotAnswered where nobody knows."""
        item, key = self.form.item, self.form.key
        self.ledger.write("sent", item, key)
        headers = {**FORM_TYPE, "HX-Request": "true", "Origin": f"http://127.0.0.1:{self.port}"}
        began = time.perf_counter()
        try:
            status, _, page = self.request("POST", f"{item}submit/", encoded_answer(self.form, label_by(key)), headers)
        except NotAnswered as error:
            self.ledger.write("unknown", item, key, why=str(error))
            raise
        following = form_in(page)
        if status == 200 and SAVED in page and (following is None or following.item != item):
            self.ledger.write("ok", item, key)
            self.seconds.append(time.perf_counter() - began)
            self.form = following
            return True
        self.ledger.write("failed", item, key, status=status)
        if status in (404, 409, 422):  # the form is not the newest: it is told, and the page has the new one
            self.form = None
        return False

    def submit(self, pause=0.05):
        """Send the same answer until it is acknowledged."""
        limit = time.monotonic() + self.patience
        while time.monotonic() < limit:
            try:
                if self.send():
                    return
            except NotAnswered:
                pass
            if self.form is None and not self.open_next():
                return
            time.sleep(pause)
        raise TimeoutError(f"{self.name}: an answer was not taken for long: {self.ledger.last}")


def label_by(key):
    """One of two, by the key, so that people differ and a repeated answer does not."""
    return ENCODED_READABLE if ord(key[0]) % 2 else ENCODED_LABEL


class Crowd:
    """People who go on labelling by themselves until told to end; what broke one of them is raised then."""

    def __init__(self, people, think=0.02):
        self.people, self.think, self.is_over, self.broken = people, think, threading.Event(), []
        self.threads = [threading.Thread(target=self.work, args=(person,), daemon=True) for person in people]

    def work(self, person):
        try:
            while not self.is_over.is_set():
                if person.form is None and not person.open_next():
                    return
                person.submit()
                self.is_over.wait(self.think)
        except Exception as error:
            self.broken.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        if kind is None and self.broken:
            raise self.broken[0]
