"""Plays a model for judges that ask: every question goes to a function, and what it says goes back."""

import json

from scoring.judges.base import MOST_ATTEMPTS, Answer, Ask

ENDPOINT = {
    "name": "scripted",
    "address": "http://127.0.0.1:1/v1",
    "model": "scripted",
    "temperature": 0,
    "max_output_tokens": 3000,
    "thinking": False,
    "seed": None,
}


def asked(judge, view, model, **settings):
    """The finding, and everything that was asked. `model` gets the Ask; it gives a text, a JSON value or an Answer."""
    complete = judge.read_settings({"endpoint": ENDPOINT, **settings})
    answers, asks = [], []
    while isinstance(said := judge.step(view, complete, tuple(answers)), Ask):
        assert said.attempt <= MOST_ATTEMPTS
        assert (said.step, said.attempt) not in [(ask.step, ask.attempt) for ask in asks]
        asks.append(said)
        answers.append(as_answer(said, model(said)))
    return said, asks


def as_answer(ask, said):
    if isinstance(said, Answer):
        return said
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return Answer(ask.step, ask.attempt, text)


def in_turn(*said):
    """A model that says these, one after the other."""
    waiting = iter(said)
    return lambda ask: next(waiting)
