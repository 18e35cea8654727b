"""The wire to a real model, a small one that runs on this machine. What it says is no result of anything: a grammar
makes its answers JSON, and nothing is asked of what stands in them."""

import json

import pytest
from django.urls import reverse

from annotate import work
from annotate.models import Work
from scoring import driving, llm
from scoring.asking import Cap
from scoring.endpoints import TRIED, TRIED_SCHEMA
from scoring.judges.reader_questions import SCHEMA
from scoring.method_reports import as_plain, shown_method
from scoring.models import Call, Endpoint, Verdict
from scoring.running import Asking, run_progress, start_run
from tests import local_model
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace

pytestmark = pytest.mark.skipif(not local_model.is_installed(), reason=local_model.MISSING)


@pytest.fixture(scope="module")
def address():
    with local_model.local_model() as address:
        yield address


@pytest.fixture
def place(address, settings):
    settings.LLM_ALLOW_LOOPBACK = True
    return {"address": address, "model": local_model.NAME, "knows_schema": True, "deadline_seconds": 600}


def test_a_real_model_answers_through_the_one_door(place):
    request = llm.Request(
        messages=({"role": "user", "content": TRIED},),
        model=local_model.NAME,
        temperature=0.0,
        max_output_tokens=60,
        seed=1,
        schema=TRIED_SCHEMA,
    )
    reply = llm.ask(Endpoint(**place), request)
    assert not reply.refused
    assert reply.tokens_in > 10
    assert 0 < reply.tokens_out <= 60
    assert set(json.loads(reply.text)) == {"answer"}


def test_the_limit_ends_its_answer_and_is_told(place):
    message = {"role": "user", "content": "Count to one thousand, in words."}
    reply = llm.ask(Endpoint(**place), llm.Request((message,), local_model.NAME, 0.0, max_output_tokens=5))
    assert reply.cut


def test_a_schema_with_everything_a_reader_asks_for_is_kept_to(place):
    content = "Answer with the JSON that was described, about this message: The run R03 took 5 minutes."
    request = llm.Request(({"role": "user", "content": content},), local_model.NAME, 0.0, 120, schema=SCHEMA)
    reply = llm.ask(Endpoint(**place), request)
    if not reply.cut:
        assert set(json.loads(reply.text)) == set(SCHEMA["required"])


@pytest.mark.django_db(transaction=True)  # what keeps a lease has a connection of its own
def test_a_run_of_the_reader_goes_to_its_end(place, client):
    """As proof of the wire alone: every item ends with a verdict, or with an answer that is kept and was not read."""
    assert driving.drive in work.HANDLERS.values()
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    item = make_item(cast.project, trace=trace, reply=3)
    place |= {"concurrency": 1, "per_minute": 1000, "max_output_tokens": 60}
    endpoint = make_endpoint(cast.project, name="here", is_proof=True, **place)
    asking = Asking(endpoint, Cap(calls=20))
    run = start_run(person=None, project=cast.project, judge="reader", asking=asking, items=[item.pk])
    work.drain()
    progress = run_progress(run)
    assert (progress.state, progress.n_left, progress.n_dead) == ("done", 0, 0), Work.objects.values_list("error")
    assert Verdict.objects.get().item_id == item.pk
    assert 1 <= Call.objects.count() <= 12
    assert set(Call.objects.values_list("state", flat=True)) == {"answered"}
    client.force_login(cast.lea.person)
    page = client.get(reverse("scoring:show_run", args=[cast.project.slug, run.number]))
    assert "Proof of the wire" in page.content.decode()
    assert as_plain(shown_method(cast.project))["reader"] is None
