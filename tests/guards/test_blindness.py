"""Nothing hidden reaches anybody: the canary crawl over every route, and the leaks that it has to catch.

The world is made once and every request undone, so that all tests here ask the same world.
"""

import itertools

import pytest
from django.http import HttpResponse
from django.urls import path

from annotate import blind
from tests.guards import canary
from tests.guards.crawl import (
    ACCEPTS,
    AUDIENCE,
    HTMX,
    PAGE,
    PIECE,
    QUERIES,
    Ask,
    Crawl,
    Route,
    Stopped,
    body_of,
    fingerprint,
    routes,
)
from tests.guards.leaks import LEAKS
from tests.guards.world import PEOPLE

pytestmark = pytest.mark.django_db
ROUTES = {route.name: route for route in routes()}


def said(alarms):
    """Each thing that is wrong once, with the first request that shows it."""
    first = {}
    for alarm in alarms:
        first.setdefault((alarm.ask.who, alarm.kind, alarm.words), alarm)
    return "\n".join([f"{len(alarms)} alarms", *map(str, first.values())])


@pytest.mark.parametrize("name", ROUTES)
def test_nothing_hidden_is_sent_to_anybody(name, world):
    crawl = Crawl(world)
    crawl.crawl(ROUTES[name])
    assert not crawl.alarms, said(crawl.alarms)
    assert crawl.reached[name] == set(PEOPLE), "an address of the route for everybody"


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.name)
def test_a_planted_leak_is_caught(leak, world, monkeypatch, record_property):
    record_property("named", leak.name)
    record_property("instead", leak.instead)
    leak.plant(monkeypatch)
    crawl = Crawl(world, stop=lambda alarm: alarm.kind == leak.kind and leak.place in alarm.words)
    with pytest.raises(Stopped):
        (crawl.one_404 if leak.kind == "one 404" else crawl.crawl)(ROUTES[leak.route])


# The crawl itself


def test_every_route_says_whom_it_serves():
    assert set(ROUTES) == set(AUDIENCE), "say in AUDIENCE of tests/guards/crawl.py whom a new route serves"


def test_a_new_route_joins_and_one_that_cannot_be_filled_fails(world):
    class Urls:
        url_patterns = (path("things/<int:thing_id>/", lambda request, thing_id: None, name="thing"),)

    (route,) = routes(Urls)
    assert route == Route("thing", "things/<int:thing_id>/", ("thing_id",))
    with pytest.raises(KeyError, match="thing_id"):
        Crawl(world).crawl(route)


class Listening(Crawl):
    """Serves ana where she is served, and asks nobody."""

    def __init__(self, world):
        super().__init__(world)
        self.asked = []

    def ask(self, ask):
        self.asked.append(ask)
        return HttpResponse(status=200 if ask.who == "ana" else 404)


@pytest.mark.parametrize("name", ["annotate:report_problem", "annotate:home", "annotate:api:draft"])
def test_every_two_values_of_two_axes_meet(name, world):
    crawl, route = Listening(world), ROUTES[name]
    crawl.everybody_everywhere(route, list(PEOPLE))
    rows = [
        (ask.who, ask.what, (ask.method, ask.body_name), ask.headers["HTTP_ACCEPT"], len(ask.headers), ask.query)
        for ask in crawl.asked
    ]
    values = [set(axis) for axis in zip(*rows, strict=True)]
    assert list(map(len, values)) == [
        *(len(PEOPLE), len(crawl.places(route)), len(crawl.deeds(route)), len(ACCEPTS), len(HTMX), len(QUERIES))
    ]
    for a, b in itertools.combinations(range(len(values)), 2):
        assert {(row[a], row[b]) for row in rows} == set(itertools.product(values[a], values[b]))


def test_who_is_served_is_asked_with_every_query_and_every_body(world):
    crawl, route = Listening(world), ROUTES["annotate:report_problem"]
    crawl.everybody_everywhere(route, list(PEOPLE))
    own = [ask for ask in crawl.asked if (ask.who, ask.what) == ("ana", "open of ana")]
    assert {ask.query for ask in own if ask.method == "GET"} == set(QUERIES)
    posted = {(ask.body_name, len(ask.headers)) for ask in own if ask.method == "POST"}
    assert posted == set(itertools.product(crawl.bodies(route), (len(PAGE), len(PIECE))))


def test_every_secret_field_of_every_row_holds_a_token_of_its_own(world):
    assert {token.place for token in world.tokens} == set(canary.PLANTS)
    assert len({token.text for token in world.tokens}) == len(world.tokens)
    for model in canary.own_models():
        places = {place for place in canary.PLANTS if place.split(".")[0] == model.__name__}
        for row in model.objects.all():
            held = {token.place for token in world.tokens if token.row == row}
            empty = {
                f"{model.__name__}.{field.name}"
                for field in model._meta.fields
                if getattr(row, field.attname) in (None, [], "")
            }
            assert places - empty <= held


@pytest.mark.parametrize(
    ("who", "secret"),
    [("ana", "Message.text"), ("ana", "File.text"), ("ana", "Annotation.label"), ("lea", "ImportBatch.file_name")],
)
def test_what_may_be_shown_is_shown_and_would_be_caught_elsewhere(who, secret, world):
    """The net is not empty: the same page sent to somebody else is an alarm."""
    crawl = Crawl(world)
    route = ROUTES["annotate:show_project" if who == "lea" else "annotate:label_item"]
    address = route.path([world.ours.slug if who == "lea" else world.public_id("ana", "first")])
    response = crawl.ask(Ask(route, who, "", address))
    assert crawl.alarms == []
    caught = crawl.caught(Ask(route, "zoe", "", "/"), response)
    assert secret in {catch.token.place for catch in caught}


@pytest.mark.parametrize("by_api", [False, True], ids=["page", "API"])
def test_what_rounds_release_is_there_to_be_leaked(by_api, world):
    """Earlier answers and the thread of an informed round, and what was settled in a closed project."""
    crawl = Crawl(world)
    route = ROUTES["annotate:api:item" if by_api else "annotate:label_item"]

    def shown(assignment):
        response = crawl.ask(Ask(route, "ana", "", route.path([assignment.public_id])))
        assert crawl.alarms == [], said(crawl.alarms)
        return [catch.token for catch in crawl.caught(Ask(route, "zoe", "", "/"), response)]

    again = shown(world.again["ana"])
    whose = {token.row.assignment.annotator.person.username for token in again if token.place == "Annotation.label"}
    assert len(whose) == 3
    assert len({token.row.author_id for token in again if token.place == "Post.text"}) == 3
    assert "SentBack.reason" in {token.place for token in shown(world.sent_back)}
    if not by_api:
        assert "Settlement.label" in {token.place for token in shown(world.told["ana"])}


def test_what_the_asking_person_has_sent_may_come_back(world):
    crawl, route = Crawl(world), ROUTES["annotate:next_item"]
    foreign = world.other.slug
    response = crawl.ask(Ask(route, "anonymous", "other", route.path([foreign])))
    assert foreign in response.headers["Location"]
    assert crawl.alarms == []
    assert crawl.caught(Ask(route, "anonymous", "other", "/"), response)


@pytest.mark.parametrize("htmx", [{}, {"HTTP_HX_REQUEST": "true"}], ids=["page", "piece"])
def test_a_broken_page_says_nothing_of_what_broke_it(htmx, world, monkeypatch):
    def broken(person, public_id):
        raise ValueError(world.assignments["ana", "second"].item.trace.source_id)

    monkeypatch.setattr(blind, "show_item", broken)
    crawl, route = Crawl(world), ROUTES["annotate:label_item"]
    response = crawl.ask(Ask(route, "ana", "", route.path([world.public_id("ana", "second")]), headers=htmx))
    assert response.status_code == 500
    assert [alarm.kind for alarm in crawl.alarms] == ["broken"]


def test_a_post_without_its_secret_word_is_refused_without_a_word(world):
    crawl, route = Crawl(world), ROUTES["annotate:submit_annotation"]
    crawl.browser.handler.enforce_csrf_checks = True
    ids = [world.public_id("ana", "third"), world.public_id("ben", "second"), "never-was"]
    answers = [crawl.ask(Ask(route, "ana", "", route.path([public_id]), "POST")) for public_id in ids]
    assert {response.status_code for response in answers} == {403}
    assert len({fingerprint(response) for response in answers}) == 1
    assert crawl.alarms == []


PROBES = (
    *("/admin/", "/schema/", "/docs/", "/health/", "/metrics/", "/debug/", "/__debug__/"),
    *("/static/", "/static/js/", "/static/js/label.js.map", "/static/../manage.py", "/media/", "/uploads/", "/data/"),
    *(
        "/db.sqlite3",
        "/secret-key",
        "/.git/config",
        "/robots.txt",
        "/favicon.ico",
        "/label/",
        "/projects/",
        "/label/..%2F..%2F",
    ),
)


@pytest.mark.parametrize("who", PEOPLE)
def test_nothing_else_is_served(who, world):
    """Addresses that such sites often have: the one 404, for everybody."""
    crawl, route = Crawl(world), Route("probe", "", ())
    answers = {probe: crawl.ask(Ask(route, who, "", probe)) for probe in (*PROBES, "/never-was/")}
    assert {probe: response.status_code for probe, response in answers.items() if response.status_code != 404} == {}
    assert len({fingerprint(response) for response in answers.values()}) == 1
    assert crawl.alarms == [], said(crawl.alarms)
    assert b"<h1>" in body_of(answers["/never-was/"])
