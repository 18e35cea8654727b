"""Judges that live in the tests, for a test at a time."""

import contextlib

from annotate.kinds.base import Finding, Span
from scoring.judges import registry
from scoring.judges.base import JudgeSpec, reply_view

FOUND = Finding(values={}, spans=())


def judge_that(step, name="spoken", version="1", kinds=("reply",)):
    return JudgeSpec(
        name=name,
        title=name,
        describe="",
        version=version,
        kinds=kinds,
        view=reply_view,
        step=lambda view, settings: step(view),
    )


@contextlib.contextmanager
def known(*judges):
    """The registry knows these too."""
    judges_there = registry.all_judges()
    before = dict(judges_there)
    judges_there.update({judge.name: judge for judge in judges})
    try:
        yield
    finally:
        judges_there.clear()
        judges_there.update(before)


def first_words(view):
    """A gap at the first four characters of every reply."""
    return Finding(values={}, spans=(Span(0, 4, "reference", view.reply[:4]),))
