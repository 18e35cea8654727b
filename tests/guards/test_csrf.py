"""No other site can have a signed-in browser write anything: every route, every writing method, by htmx or not.

Pages want the token that they were served with. The API wants a token of its own in a header, which no browser sends by
itself; a session opens nothing there, so it needs no such protection.
"""

import contextlib

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, resolve, reverse

from tests.guards import canary
from tests.guards.crawl import Crawl, bodies_of, routes
from tests.guards.world import make_world

pytestmark = pytest.mark.django_db
WRITING = ("POST", "PUT", "PATCH", "DELETE")
HTMX = {"HX-Request": "true", "HX-Target": "item"}
BOTH = pytest.mark.parametrize("htmx", [{}, HTMX], ids=["page", "piece"])
WHO = pytest.mark.parametrize("who", ["ana", "lea", "anonymous"])
API = "/api/"
ROUTES = tuple(routes())
ADDRESSES_OF_EACH = 2


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


def browser_of(world, who):
    client = Client(enforce_csrf_checks=True)
    if world.cookies[who]:
        name, _, value = world.cookies[who].partition("=")
        client.cookies[name] = value
    return client


def token_for(client):
    """The token of a page that this browser was served, and the cookie with it."""
    client.get(reverse("annotate:show_account"), follow=True)
    return client.cookies["csrftoken"].value


def writes(world, who, *, api=False):
    """A few addresses of every route, those first that serve this person, each with a body that is right."""
    crawl = Crawl(world)
    for route in ROUTES:
        places = sorted(crawl.places(route), key=lambda place: not crawl.is_theirs(who, place[0], route))
        body = next(iter(bodies_of(world, route.name).values()), {})
        for path in [path for _, path in places if is_there(path)][:ADDRESSES_OF_EACH]:
            if path.startswith(API) == api:
                yield route.name, path, body


def is_there(path):
    with contextlib.suppress(Resolver404):
        return bool(resolve(path))
    return False


def rows():
    return {model: list(model.objects.order_by("pk").values()) for model in canary.own_models()}


def send(client, method, path, body, headers):
    """A form as a browser posts it; the body of another method is as good as any."""
    if method == "POST":
        return client.post(path, body, headers=headers)
    return client.generic(method, path, "a=b", "application/x-www-form-urlencoded", headers=headers)


@WHO
@BOTH
def test_a_write_without_a_token_is_403_and_changes_nothing(world, who, htmx):
    client, before = browser_of(world, who), rows()
    answers = {
        (name, path, method): send(client, method, path, body, htmx)
        for name, path, body in writes(world, who)
        for method in WRITING
    }
    assert {key: one.status_code for key, one in answers.items() if one.status_code != 403} == {}
    assert {one.content for one in answers.values()} == {next(iter(answers.values())).content}
    assert "This form has expired" in next(iter(answers.values())).content.decode()
    assert len({name for name, _, _ in answers}) > 20
    assert rows() == before


@WHO
@BOTH
def test_a_write_with_the_token_of_another_browser_or_only_a_cookie_is_403(world, who, htmx):
    client, other = browser_of(world, who), browser_of(world, "ben")
    own, token = token_for(client), token_for(other)
    assert own != token
    before = rows()
    for name, path, body in writes(world, who):
        for method, fields, headers in (
            ("POST", {}, {}),
            ("POST", {"csrfmiddlewaretoken": token}, {}),
            *((method, {}, {"X-CSRFToken": token}) for method in WRITING),
        ):
            answer = send(client, method, path, {**body, **fields}, {**htmx, **headers})
            assert answer.status_code == 403, (name, path, method)
    assert rows() == before


EVERYBODYS = {"change_preferences", "change_password", "sign_out_elsewhere", "set_language", "set_up", "new_password"}
ANAS = {"submit_annotation", "save_draft", "report_problem", "close_account"}
LEAS = {"give_back", "answer_practice"}


@pytest.mark.parametrize(("who", "theirs"), [("ana", EVERYBODYS | ANAS), ("lea", EVERYBODYS | LEAS)])
def test_the_same_writes_with_their_own_token_are_not_refused_for_it(world, who, theirs):
    """So the 403 above is for the missing token alone; each is undone before the next."""
    client, changed = browser_of(world, who), set()
    token, before = token_for(client), rows()
    for name, path, body in writes(world, who):
        with transaction.atomic():
            answer = browser_with(client).post(path, body, headers={"X-CSRFToken": token})
            assert answer.status_code != 403, (name, path)
            if name.partition(":")[2] in theirs and rows() != before:
                changed.add(name.partition(":")[2])
            transaction.set_rollback(True)
    assert changed == theirs


def browser_with(client):
    """The same browser once more: what one answer does to its cookies is not for the next."""
    again = Client(enforce_csrf_checks=True)
    again.cookies.load({name: morsel.value for name, morsel in client.cookies.items()})
    return again


# The API


def test_only_the_api_goes_without_the_token_of_a_page(world):
    crawl, exempt = Crawl(world), set()
    for route in ROUTES:
        for _, path in crawl.places(route):
            if is_there(path) and getattr(resolve(path).func, "csrf_exempt", False):
                exempt.add(path.startswith(API))
    assert exempt == {True}


@WHO
@BOTH
def test_a_session_opens_nothing_in_the_api(world, who, htmx):
    client = browser_of(world, who)
    token, before = token_for(client), rows()
    asked = list(writes(world, who, api=True))
    assert asked
    for name, path, body in asked:
        for method in ("GET", *WRITING):
            for headers in (htmx, {**htmx, "X-CSRFToken": token}):
                answer = client.generic(method, path, "{}", "application/json", headers=headers)
                assert answer.status_code in (401, 403), (name, path, method, body)
    assert rows() == before
