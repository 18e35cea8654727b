"""Every template that people see who must not know more than they are shown is rendered when the crawl asks as they do:
one that nothing renders is one in which nothing hidden would be found."""

import itertools
import re

import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError, transaction
from django.template import engines
from django.test.signals import template_rendered

from annotate import blind
from annotate.errors import TooBusy
from annotate.kinds.registry import all_kinds
from tests.guards.arrows import ROOT
from tests.guards.crawl import AUDIENCE, HTMX, PAGE, PIECE, QUERIES, Ask, Crawl, body_of
from tests.guards.test_blindness import ROUTES
from tests.guards.world import key_of

pytestmark = pytest.mark.django_db

BLIND = ("ana", "zoe", "rita", "anonymous", "ben", "gone")
VIEWS = (
    *(f"annotate/views/{name}.py" for name in ("label", "account", "settling", "joining", "tokens", "errors")),
    *("annotate/middleware.py", "scoring/settled_views.py"),
)
"""What answers them."""
OF_LEADS = {
    "annotate/show_project.html": "a lead closes the project from the page of settling",
    "annotate/_project_nav.html": "over the pages of settling for leads alone",
    "annotate/_previewed.html": "an item that one has not been given, which a lead looks at",
}
NAMED = re.compile(r"""["']([\w/]+\.html)["']""")
TAKEN_IN = re.compile(r"""\{%-?\s*(?:include|extends)\s+["']([\w/]+\.html)["']""")
OF_A_KIND = re.compile(r"""\{%-?\s*include\s+(?:\w+\.)*kind\.(\w+)""")


def used_by(views):
    """The templates that these modules name, and what those take in, by name or as that of a kind."""
    waiting = [name for path in views for name in NAMED.findall((ROOT / path).read_text("utf-8"))]
    found = set()
    while waiting:
        name = waiting.pop()
        if name in found or name in OF_LEADS:
            continue
        found.add(name)
        source = engines["django"].engine.get_template(name).source
        waiting += TAKEN_IN.findall(source)
        waiting += [getattr(kind, one) for one in OF_A_KIND.findall(source) for kind in all_kinds().values()]
        waiting = list(filter(None, waiting))
    return found


# What they are asked


def asks_of_the_blind(crawl):
    """All that is theirs, and links that lead nowhere: reading, then the first body of each form, then the others.
    Further parts of a trace are read with every query string."""
    stages = ("GET", slice(1)), ("POST", slice(1)), ("POST", slice(1, None))
    for (method, which), who, route in itertools.product(stages, BLIND, ROUTES.values()):
        deeds = [deed for deed in crawl.deeds(route) if deed[0] == method and method in route.methods][which]
        queries = QUERIES if route.name.endswith("_entries") and method == "GET" else QUERIES[:1]
        for deed, place, query, htmx in itertools.product(deeds, theirs(crawl, route, who), queries, HTMX):
            yield Ask(route, who, *place, *deed, PAGE | htmx, query)


def theirs(crawl, route, who):
    is_link = AUDIENCE[route.name] == "who has the link"
    return [place for place in crawl.places(route) if is_link or crawl.is_theirs(who, place[0], route)]


def decided(crawl):
    """A reviewer settles with what their page says, and is shown what comes next."""
    route, place = ROUTES["annotate:settle_item"], ["ours", crawl.world.disputes["not settled in ours"].public_id]
    place[0] = crawl.world.ours.slug
    page = body_of(crawl.ask(Ask(route, "rita", "", route.path(place)))).decode()
    sent = {name: re.search(rf'name="{name}" value="([^"]*)"', page)[1] for name in ("base", "seen", "key")}
    sent |= {"answer": "unresolved", "cause": "ambiguous", "confidence": "low", "note": "Both hold."}
    store = ROUTES["annotate:store_settlement"]
    return [Ask(store, "rita", "", store.path(place), "POST", "", sent, PIECE)]


def stored_before_the_end(crawl):
    """Whose part has ended is still told that an answer was stored when it is sent again."""
    row = crawl.world.assignments["gone", "first"]
    route = ROUTES["annotate:submit_annotation"]
    sent = {"key": key_of(row)}
    return [Ask(route, "gone", "", route.path([row.public_id]), "POST", "", sent, htmx) for htmx in (PAGE, PIECE)]


# What is shown where something fails

FAILURES = {
    "400.html": SuspiciousOperation,
    "403.html": PermissionDenied,
    "413.html": RequestDataTooBig,
    "500.html": ValueError,
    "503.html": OperationalError,
    "annotate/busy.html": TooBusy,
}


@pytest.fixture
def rendered():
    """The names of templates rendered since."""
    names = set()

    def note(sender, template, **more):
        names.add(template.name)

    template_rendered.connect(note)
    yield names
    template_rendered.disconnect(note)


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_says_nothing_of_what_failed(name, world, rendered, monkeypatch):
    hidden = world.assignments["ana", "second"].item.trace.source_id
    words = f"database or disk is full: {hidden}" if name == "503.html" else hidden

    def fails(*arguments):
        raise FAILURES[name](words)

    monkeypatch.setattr(blind, "own_projects", fails)
    crawl, route = Crawl(world), ROUTES["annotate:home"]
    for headers in (PAGE, PIECE):
        crawl.ask(Ask(route, "ana", "", "/", headers=headers))
    assert name in rendered
    assert {alarm.kind for alarm in crawl.alarms} <= {"broken"}, crawl.alarms


def test_who_is_locked_out_is_told_nothing_else(world, rendered):
    crawl, route = Crawl(world), ROUTES["annotate:sign_in"]
    wrong = {"username": world.usernames()["ana"], "password": "not this one"}
    ask = Ask(route, "anonymous", "", route.path([]), "POST", "", wrong)
    with transaction.atomic():
        for _ in range(settings.AXES_FAILURE_LIMIT + 1):
            crawl.look(ask, crawl.send(ask))
        transaction.set_rollback(True)
    assert "annotate/locked.html" in rendered
    assert crawl.alarms == []


def test_every_template_of_the_blind_is_rendered(world, rendered):
    crawl = Crawl(world)
    lacking = used_by(VIEWS) - set(FAILURES) - {"annotate/locked.html"}
    for ask in itertools.chain(decided(crawl), stored_before_the_end(crawl), asks_of_the_blind(crawl)):
        if lacking <= rendered:
            break
        crawl.ask(ask)
    assert lacking - rendered == set()
    assert crawl.alarms == []


def test_templates_are_found_by_name_by_what_takes_them_in_and_by_kind():
    found = used_by(("annotate/views/label.py",))
    assert {"annotate/label_item.html", "base.html", "annotate/_item.html", "reply/_form.html"} <= found
    assert "annotate/list_items.html" not in found
