"""A lead's pages of runs that ask a model: what one will take, its cap, and what it has asked."""

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate import work
from annotate.models import Work
from annotate.traces.base import Problem
from scoring import running
from scoring.asking import Cap
from scoring.llm import ProviderError
from scoring.models import Call, Prompt, Run, Verdict
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.scoring.asking_here import ASKER, Model, answered_by, started
from tests.scoring.judges_here import known

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db, client):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    endpoint = make_endpoint(cast.project, name="here", concurrency=1, per_minute=100_000, price_in=1, price_out=2)
    client.force_login(cast.lea.person)
    with known(ASKER):
        yield SimpleNamespace(
            project=cast.project,
            lea=cast.lea.person,
            ana=cast.ana.person,
            items=items,
            client=client,
            endpoint=endpoint,
        )


def address(name, cast, *args):
    return reverse(f"scoring:{name}", args=[cast.project.slug, *args])


CHOSEN = {"judge": "asker", "endpoint": "here", "phases": ["main"]}


def start(cast, **posted):
    return cast.client.post(address("start_run", cast), {**CHOSEN, **posted})


def driven(monkeypatch, plays=lambda request: '{"n": 0}'):
    with answered_by(monkeypatch, Model(plays)) as model:
        work.drain()
    return model


def test_what_a_run_will_take_is_shown_before_anything_is_sent_or_written(cast):
    response = start(cast)
    assert response.status_code == 302
    page = cast.client.get(response.headers["Location"]).content.decode()
    assert "The figures rest on the first questions about 2 items." in page
    assert "calls, about</dt><dd>2<" in page
    assert 'name="cap_calls" inputmode="numeric" maxlength="18" value="10"' in page
    assert not any(table.objects.exists() for table in (Run, Call, Prompt, Work))


WITH_SETTINGS = {"judge": "checker", "endpoint": "here", "phases": ["main"]}


def test_settings_of_the_judge_s_own_are_asked_for_reckoned_with_and_started_with(cast):
    query = {**WITH_SETTINGS, "set-include_memory": "yes"}
    page = cast.client.get(address("plan_run", cast), query).content.decode()
    assert '<option value="yes" selected>' in page
    assert '<input type="hidden" name="set-include_memory" value="yes">' in page
    response = start(cast, **query, cap_calls="10")
    assert response.status_code == 302
    assert Run.objects.get().judge.settings["include_memory"] is True


def test_settings_that_are_left_empty_are_as_the_judge_has_them(cast):
    assert start(cast, **WITH_SETTINGS, **{"set-include_memory": ""}, cap_calls="10").status_code == 302
    assert Run.objects.get().judge.settings["include_memory"] is False


@pytest.mark.parametrize("show", ["plan", "start"])
def test_a_setting_that_is_none_is_said_on_the_page_that_asks_for_it(cast, show):
    query = {"judge": "reader", "endpoint": "here", "phases": ["main"], "set-scopes": "backwards"}
    if show == "plan":
        response = cast.client.get(address("plan_run", cast), query)
    else:
        response = start(cast, **query, cap_calls="10")
    page = response.content.decode()
    assert response.status_code == 422
    assert 'role="alert"' in page
    assert 'name="set-scopes"' in page
    assert not Run.objects.exists()


def test_a_run_is_started_under_its_cap_and_shown_to_its_end(cast, monkeypatch):
    assert start(cast, cap_calls="10").headers["Location"] == address("show_run", cast, 1)
    driven(monkeypatch)
    page = cast.client.get(address("show_run", cast, 1)).content.decode()
    assert "Done: 2 verdicts." in page
    assert "calls answered</dt><dd>4<" in page
    assert "requests sent</dt><dd>4 / 10<" in page
    assert "cost</dt><dd>0.0005<" in page
    assert "checker en 1, checker zh 1" in page
    assert "endpoint: model" in page
    Run.objects.update(number=9)
    start(cast, cap_calls="10")
    assert not driven(monkeypatch).asked
    assert b"4 recorded answers used again" in cast.client.get(address("show_run", cast, 10)).content


@pytest.mark.parametrize(
    ("posted", "said"),
    [
        ({"cap_calls": ""}, "A cap on what the run may take"),
        ({"cap_calls": "many"}, "Caps are numbers above 0."),
        ({"cap_calls": "0"}, "Caps are numbers above 0."),
        ({"cap_calls": "", "cap_cost": "1e9"}, "Caps are numbers above 0."),
        ({"cap_calls": "", "cap_cost": "NaN"}, "Caps are numbers above 0."),
        ({"cap_calls": "5", "endpoint": "there"}, "The endpoint whose model this judge asks."),
        ({"cap_calls": "5", "n_samples": "0"}, "A whole number from 1 to"),
        ({"cap_calls": "5", "phases": ["pilot"]}, "Items in these phases; there are none."),
    ],
)
def test_what_does_not_go_is_said_and_starts_nothing(cast, posted, said):
    response = start(cast, **posted)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert not Run.objects.exists()


def test_a_cap_on_cost_needs_prices(cast):
    make_endpoint(cast.project, name="free")
    response = start(cast, endpoint="free", cap_calls="", cap_cost="5")
    assert (response.status_code, b"Prices of the endpoint" in response.content) == (422, True)
    assert b'name="cap_cost" inputmode="decimal" maxlength="18" value="5"' in response.content


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_run_that_reached_its_cap_says_so_and_goes_on_under_a_higher_one(cast, monkeypatch, headers):
    start(cast, cap_calls="1")
    driven(monkeypatch)
    page = cast.client.get(address("show_run", cast, 1)).content.decode()
    assert "The run was held: Another call would go beyond the cap on calls." in page
    refused = cast.client.post(address("resume_run", cast, 1), {"cap_calls": "none"}, headers=headers)
    assert (refused.status_code, b"Caps are numbers above 0." in refused.content) == (422, True)
    cast.client.post(address("resume_run", cast, 1), {"cap_calls": "20"}, headers=headers)
    driven(monkeypatch)
    assert Verdict.objects.count() == 2
    assert b"was held" not in cast.client.get(address("show_run", cast, 1)).content


def test_what_the_endpoint_said_stands_with_what_was_given_up(cast, monkeypatch):
    expected, params = "A shorter text, said %(who)s.", {"who": "it"}
    problem = Problem(code="x", field="endpoint", expected=expected, remedy="", params=params)
    start(cast, cap_calls="50")
    driven(monkeypatch, lambda request: ProviderError("refused", problem))
    page = cast.client.get(address("show_run", cast, 1)).content.decode()
    assert page.count("A shorter text, said it.") == 2


def test_questions_to_paste_are_linked(cast, monkeypatch):
    endpoint = make_endpoint(cast.project, name="by hand", provider="pasted", address="", concurrency=1)
    run = started(cast.project, endpoint, cap=Cap(calls=10))
    driven(monkeypatch)
    page = cast.client.get(address("show_run", cast, run.number)).content.decode()
    assert "2 questions wait for their answers." in page
    assert address("list_questions", cast, run.number) in page


def test_statements_do_not_grow_with_calls(cast, monkeypatch, django_assert_num_queries):
    start(cast, cap_calls="50")
    cast.client.get(address("show_run", cast, 1))
    with django_assert_num_queries(10):
        cast.client.get(address("show_run", cast, 1))
    driven(monkeypatch)
    with django_assert_num_queries(10):
        cast.client.get(address("show_run", cast, 1))


def test_annotators_find_nothing_there(cast):
    cast.client.force_login(cast.ana)
    assert cast.client.get(address("plan_run", cast), CHOSEN).status_code == 404
    assert start(cast, cap_calls="5").status_code == 404
    assert not Run.objects.exists()
    assert running.DRIVER not in set(Work.objects.values_list("kind", flat=True))
