"""Every page speaks the language of who reads it, whatever they read."""

import re

import pytest
from django.db import transaction
from django.test import Client

from annotate.models import Person
from tests.guards.crawl import Crawl, routes
from tests.guards.world import make_world

pytestmark = pytest.mark.django_db
API = "/api/"
HTMX = {"HX-Request": "true"}
OWN = {"annotate:label_item", "annotate:own_annotations", "annotate:guideline"}
LEADS = {"annotate:show_project", "annotate:list_items", "annotate:show_people", "scoring:show_agreement"}
EVERYBODYS = {"annotate:home", "annotate:set_up", "annotate:new_password", "annotate:show_account"}


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


def pages(world, who):
    """The addresses at which each route serves this person, and one at which it does not."""
    crawl = Crawl(world)
    for route in routes():
        places = crawl.places(route)
        theirs = [path for what, path in places if crawl.is_theirs(who, what, route)]
        others = [path for what, path in places if not crawl.is_theirs(who, what, route)]
        for path in theirs[:3] + others[:1]:
            if not path.startswith(API):
                yield route.name, path


@pytest.mark.parametrize(
    ("who", "expected", "never"),
    [("ana", OWN | EVERYBODYS, LEADS), ("lea", LEADS | EVERYBODYS, set()), ("rita", EVERYBODYS, LEADS)],
)
def test_every_page_answers_in_the_chinese_interface(world, who, expected, never):
    Person.objects.filter(pk=world.people[who].pk).update(interface_language="zh-hans")
    client, answered = Client(headers={"accept-language": "en"}), set()
    client.cookies.load(world.cookies[who])
    for name, path in pages(world, who):
        for headers in (None, HTMX):
            response = client.get(path, headers=headers)
            assert response.status_code in (200, 302, 404, 405, 409), path  # 409: a release that is no release
            assert response["Content-Language"] == "zh-hans", path
            page = b"".join(response) if response.streaming else response.content
            assert set(re.findall(rb'<html lang="([^"]*)"', page)) <= {b"zh-hans"}, path
            if response.status_code == 200:
                answered.add(name)
    assert expected <= answered
    assert not answered & never
