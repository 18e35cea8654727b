"""A person at a browser: Debian's Chromium against the project's own server, with the demo loaded."""

import os

import pytest
from django.utils import timezone
from playwright.sync_api import sync_playwright

from annotate.demo import load_demo
from annotate.models import Item, Person

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "quiet-reading-room"


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium():
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright's loop runs in this thread; the tests are not async
    with sync_playwright() as playwright:
        path = os.environ.get("SIGHTLINE_CHROMIUM") or "/usr/bin/chromium"
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def site(live_server):
    """The server's address, with the demo and a known password for its open account and its lead."""
    load_demo(now=timezone.now())
    # Practice tells an answer between two items; its own journey is in test_study.py.
    Item.objects.filter(phase="practice").update(phase="main")
    for name in ("demo", "lea"):
        person = Person.objects.get(username=name)
        person.set_password(PASSWORD)
        person.save()
    return live_server.url


class Visit:
    """One person's window. It fails the test on any script error, and remembers which hosts were asked."""

    def __init__(self, context, site):
        self.context, self.site, self.errors, self.hosts = context, site, [], set()
        self.page = self.open()

    def open(self):
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))
        page.set_default_timeout(10_000)
        return page

    def sign_in(self, name, page=None):
        page = page or self.page
        page.goto(f"{self.site}/sign-in/")
        page.fill("[name=username]", name)
        page.fill("[name=password]", PASSWORD)
        page.click("main button")
        page.wait_for_url(f"{self.site}/")
        return page

    def label(self):
        """Sign in as the open account and open its first item."""
        self.sign_in("demo")
        self.page.goto(f"{self.site}/projects/demo/label/")
        self.page.wait_for_selector("#label-form")
        return self.page


@pytest.fixture
def visit(chromium, site):
    contexts = []

    def begin(**options):
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, **options)
        contexts.append(Visit(context, site))
        return contexts[-1]

    yield begin
    for one in contexts:
        errors, hosts = one.errors, one.hosts
        one.context.close()
        assert errors == []
        assert hosts <= {site.split("/")[2]}, "the page asked another host"


@pytest.fixture
def somebody(chromium, live_server):
    """Opens a window of its own for each person, without the demo; none may ask another host or break a script."""
    visits = []

    def begin(**options):
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
        visits.append(Visit(context, live_server.url))
        return visits[-1]

    yield begin
    for visit in visits:
        visit.context.close()
        assert visit.errors == []
        assert visit.hosts <= {live_server.url.split("/")[2]}
