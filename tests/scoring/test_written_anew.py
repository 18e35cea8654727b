"""A writer and a rewriter over points, from the first question to the texts."""

import json

import pytest

from annotate import work
from scoring import driving
from scoring.asking import Cap
from scoring.models import Verdict
from scoring.pointing import choose_points
from scoring.running import Asking, start_run
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.judge_server import JudgeServer

HANDLERS_OF = [driving]
pytestmark = pytest.mark.django_db


def test_default_replies_are_written_and_then_revised(settings):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    points = choose_points(person=None, project=cast.project, seed=5, quota=8)
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        endpoint = make_endpoint(cast.project, server, concurrency=1, per_minute=100_000)
        texts = {}
        for judge, own in (("writer", {"condition": "default"}), ("writer", {"condition": "notice"}), ("rewriter", {})):
            run = start_run(
                person=None,
                project=cast.project,
                judge=judge,
                settings=own or {"default_run": 1},
                points=points.number,
                asking=Asking(endpoint, Cap(calls=50)),
            )
            work.drain()
            found = Verdict.objects.filter(run=run, is_unreadable=False).order_by("item")
            texts[run.number] = [verdict.finding["values"]["text"] for verdict in found]
            assert set(found.values_list("item", "label")) == {(item.pk, None) for item in items}
    assert all(new.startswith(old) for old, new in zip(texts[1], texts[3], strict=True))
    assert texts[1] != texts[2]
    assert "is draft" in json.dumps(texts)
