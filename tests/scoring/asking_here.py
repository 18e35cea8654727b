"""A judge that asks, and a model that is played within the process."""

import contextlib
import json
import threading
import time
from collections import Counter
from types import SimpleNamespace

from annotate.kinds.base import Finding, Span
from scoring import driving, llm
from scoring.asking import Cap
from scoring.judges.base import (
    MOST_ATTEMPTS,
    Answer,
    Ask,
    JudgeSpec,
    SettingsError,
    no_endpoint,
    read_endpoint,
    reply_view,
)
from scoring.running import Asking, start_run
from tests.factories import make_endpoint
from tests.scoring.judges_here import known

HANDLERS_OF = [driving]
STEPS = ("first", "second")


def step(view, settings, answers):
    """Two questions about every reply; each is answered by {"n": whole number}, and a number other than 0 in the
    second is a gap at its beginning."""
    read = {}
    for answer in answers:
        if (number := number_of(answer)) is not None:
            read[answer.step] = number
    for name in STEPS:
        attempts = [answer for answer in answers if answer.step == name]
        if name not in read and len(attempts) >= MOST_ATTEMPTS:
            return Finding(values={}, unreadable=attempts[-1].text)
        if name not in read:
            values = {"record": name, "reply": view.reply}
            return Ask(name, len(attempts) + 1, "checker", view.language or "en", values, {"type": "object"})
    spans = (Span(0, 4, "reference", view.reply[:4]),) if read["second"] else ()
    return Finding(values=read, spans=spans)


def number_of(answer: Answer):
    try:
        number = json.loads(answer.text)["n"]
    except (ValueError, KeyError, TypeError):
        return None
    return number if isinstance(number, int) else None


def read_settings(given):
    if set(given) - {"endpoint"}:
        raise SettingsError(no_endpoint())
    return {"endpoint": read_endpoint(given)}


ASKER = JudgeSpec(
    name="asker",
    title="asker",
    describe="",
    version="1",
    kinds=("reply",),
    view=reply_view,
    step=step,
    read_settings=read_settings,
    asks=True,
    prompts=("checker",),
)


def started(project, endpoint=None, *, person=None, calls=1000, **options):
    """A run of it; options of `Asking` and `start_run`."""
    endpoint = endpoint or make_endpoint(project, per_minute=100_000, concurrency=1)
    asking = {name: options.pop(name) for name in ("reuse", "prompts") if name in options}
    cap = options.pop("cap", Cap(calls=calls))
    with known(ASKER):
        return start_run(
            person=person, project=project, judge="asker", asking=Asking(endpoint, cap, **asking), **options
        )


class Model:
    """Answers in turn what `plays` says for a request: a text, a Reply, or an error to raise. What is asked is kept."""

    def __init__(self, plays=lambda request: '{"n": 0}', seconds=0.0):
        self.plays, self.seconds = plays, seconds
        self.asked, self.times, self.at_once, self.most_at_once = [], [], 0, 0
        self.lock = threading.Lock()

    def ask(self, endpoint, request, *, attempt=1):
        with self.lock:
            self.asked.append(request)
            n = len(self.asked)
            self.times.append(time.monotonic())
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(self.seconds)
            said = self.plays(SimpleNamespace(text=request.messages[0]["content"], n=n, attempt=attempt))
            if isinstance(said, BaseException):
                raise said
            return said if isinstance(said, llm.Reply) else reply(said)
        finally:
            with self.lock:
                self.at_once -= 1

    def counts(self):
        return Counter(request.messages[0]["content"] for request in self.asked)


def reply(text='{"n": 0}', **fields):
    values = {"cut": False, "refused": False, "tokens_in": 100, "tokens_out": 10, "latency_ms": 5, "request_id": "r"}
    return llm.Reply(text=text, **{**values, **fields})


@contextlib.contextmanager
def answered_by(monkeypatch, model):
    monkeypatch.setattr("scoring.llm.ask", model.ask)
    with known(ASKER):
        yield model
