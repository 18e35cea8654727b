"""Every route of the resolver, asked by everybody in every way, and what is wrong with the answers.

Every person asks at every address of a route, own, other, ended and malformed, by reading, posting and two of the other
methods; bodies, headers (HX-Request, Accept) and query strings rotate, so that every two values of two axes meet. Where
the route serves the person, every body and every query string follows, each with and without htmx or with each Accept.
"""

import contextlib
import itertools
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, urlencode

from django.db import transaction
from django.http import HttpResponse
from django.test.client import ClientHandler, RequestFactory
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve

from tests.guards.canary import PASSWORD, Viewer
from tests.guards.net import Catch
from tests.guards.world import World, key_of

OTHER_METHODS = ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE")
HEADERS = tuple(
    {"HTTP_ACCEPT": accept, **htmx}
    for htmx in ({}, {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "item"})
    for accept in ("text/html", "application/json", "text/csv", "*/*")
)
PAGE, PIECE = HEADERS[0], HEADERS[4]
QUERIES = (
    "",
    "format=json&fields=*&expand=trace&include=all&ordering=-trace&search=a&page=1&q=a&debug=1&before=9&phase=pilot",
    "format=csv",
    "format=api&debug=true",
    "fields=id,trace,arm,label",
    "expand=item.trace,annotator",
    "include=trace",
    "ordering=item__trace__metadata",
    "search=a&q=a",
    "page=999999999",
    "page=last",
    "before=0",
    "before=-1",
    "before=99999999999999999999",
    "phase=pilot",
    "phase=practice",
    "next=/",
    "next=//elsewhere.example/",
)
UNSAFE_SOURCES = ("unsafe-inline", "unsafe-eval")
BETRAYING_HEADERS = ("ETag", "Last-Modified", "Server-Timing", "X-Powered-By", "Age")

AUDIENCE = {
    "annotate:home": "everybody signed in",
    "annotate:sign_in": "everybody",
    "annotate:sign_out": "everybody",
    "annotate:set_language": "everybody",
    "annotate:set_up": "who has the link",
    "annotate:keep_alive": "everybody signed in",
    "annotate:label_item": "whose assignment it is",
    "annotate:correct_item": "whose assignment it is",
    "annotate:submit_annotation": "whose assignment it is",
    "annotate:save_draft": "whose assignment it is",
    "annotate:report_problem": "whose assignment it is",
    "annotate:next_item": "members",
    "annotate:own_annotations": "members",
    "annotate:guideline": "members",
    "annotate:show_project": "leads",
    "annotate:give_back": "leads",
    "scoring:show_agreement": "leads",
}
"""Whom each route serves; for anybody else there is the one 404. A new route says it here."""


@dataclass(frozen=True)
class Route:
    name: str
    pattern: str
    arguments: tuple[str, ...]

    def path(self, values: list[str]) -> str:
        """Its address with these values, in their order, in place of the arguments."""
        left = iter(values)
        return "/" + re.sub("<[^>]+>", lambda _: next(left), self.pattern)


def routes(resolver=None, prefix: str = "", space: str = "") -> Iterator[Route]:
    """Every address the site answers to, in whichever app it stands."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{space}{entry.namespace}:" if entry.namespace else space
            yield from routes(entry, prefix + str(entry.pattern), inner)
        elif isinstance(entry, URLPattern):
            pattern = prefix + str(entry.pattern)
            yield Route(f"{space}{entry.name or entry.lookup_str}", pattern, tuple(entry.pattern.converters))


ABSENT = "neverwas-Any_thing-1"


def values_of(world: World, argument: str) -> dict[str, str]:
    """What the crawl puts in the place of an argument, by what it is. KeyError for an argument it does not know."""
    one_each = {f"{row.state} of {name}": row for (name, item), row in world.assignments.items()}
    return {
        "public_id": {
            **{what: row.public_id for what, row in one_each.items()},
            "rewritten of ana": world.public_id("ana", "rewritten"),
            **{"absent": ABSENT, "long": "x" * 300, "other letters": "%C3%A9%F0%9F%99%82", "NUL": "a%00b"},
            **{"quotes": "'%20or%201=1", "number": "1"},
        },
        "project": {
            **{"ours": world.ours.slug, "other": world.other.slug, "absent": ABSENT, "long": "x" * 300},
            **{"other letters": "%C3%A9", "number": "1"},
        },
        "assignment_id": {
            **{what: str(one_each[what].pk) for what in ("problem of ana", "open of ana", "open of zoe")},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "secret": {"unspent": world.set_up_secret, "absent": ABSENT, "long": "x" * 300, "NUL": "a%00b"},
    }[argument]


def bodies_of(world: World, route: str) -> dict[str, dict[str, str]]:
    """What is posted to a route, by name: whatever its form can hold, and what breaks it. A route that takes posts and
    is not here is a problem of its own."""
    fresh = {"key": "a-fresh-key-0123456789", "protocol": "2", "number": "0", "draft_number": "5"}
    times = {"raw_ms": "5000", "active_ms": "4000", "hidden_ms": "0"}
    readable = {**fresh, **times, "label": "readable", "spans": "[]"}
    needy = {**readable, "label": "needs_information"}
    span = {"start": 0, "end": 4, "type": "definition", "quote": "nope"}
    draft = {"number": 0, "draft_number": 9, "fields": {"label": "readable", "comment": "so far"}}
    return {
        "annotate:submit_annotation": {
            "an answer": readable,
            "a correction": {**readable, "number": "1", "reason": "because"},
            "a correction without a reason": {**readable, "number": "1"},
            "a correction of a correction": {**readable, "number": "2", "reason": "because"},
            "nothing": {},
            "no label": {**fresh, "label": ""},
            "no protocol": {**readable, "protocol": "99"},
            "a wrong quote": {**needy, "spans": json.dumps([span])},
            "a span beyond the end": {**needy, "spans": json.dumps([{**span, "end": 10**9}])},
            "spans that are no JSON": {**needy, "spans": "[{"},
            "spans that are no spans": {**needy, "spans": json.dumps({"a": [None]})},
            "numbers beyond the columns": {**readable, **dict.fromkeys(["draft_number", "raw_ms"], "9" * 15)},
            "numbers that are none": {**readable, "number": "-1", "draft_number": "x"},
            "a character that cannot be stored": {**readable, "comment": "a\0b"},
            "the key of an own answer": {**readable, "key": key_of(world.assignments["ana", "first"])},
            "the key of ben's answer": {**readable, "key": key_of(world.assignments["ben", "first"])},
        },
        "annotate:save_draft": {
            "a draft": {"draft": json.dumps(draft)},
            "a draft of a correction": {"draft": json.dumps({**draft, "number": 1})},
            "a late draft": {"draft": json.dumps({**draft, "draft_number": 0})},
            "nothing": {},
            "no JSON": {"draft": "{"},
            "no numbers": {"draft": "{}"},
            "numbers beyond the columns": {"draft": json.dumps({**draft, "draft_number": 2**31})},
            "a character that cannot be stored": {"draft": json.dumps({**draft, "fields": {"comment": "a\0b"}})},
        },
        "annotate:report_problem": {"words": {"problem": "It is cut off."}, "nothing": {}, "NUL": {"problem": "\0"}},
        "annotate:give_back": {"nothing": {}},
        "annotate:keep_alive": {"nothing": {}},
        "annotate:sign_out": {"nothing": {}},
        "annotate:set_language": {
            "a language": {"language": "zh-hans", "next": "/"},
            "another site": {"language": "en", "next": "//elsewhere.example/"},
            "no language": {"language": "tlh"},
        },
        "annotate:sign_in": {
            "the right password": {"username": world.usernames()["ana"], "password": PASSWORD},
            "a wrong password": {"username": world.usernames()["ana"], "password": "x"},
            "nobody": {"username": "nobody", "password": "x"},
            "nothing": {},
        },
        "annotate:set_up": {
            "a new lead": {"username": "lee", "password": "seven yellow kettles"},
            "a name that is taken": {"username": world.usernames()["ben"], "password": "seven yellow kettles"},
            "a bad password": {"username": "lee", "password": "1"},
            "nothing": {},
        },
    }.get(route, {})


# Asking


@dataclass(frozen=True)
class Ask:
    route: Route
    who: str
    what: str
    path: str
    method: str = "GET"
    body_name: str = ""
    body: dict[str, str] = field(default_factory=dict, hash=False)
    headers: dict[str, str] = field(default_factory=dict, hash=False)
    query: str = ""

    def sent(self) -> str:
        """All that the asking side says, and so knows."""
        return f"{self.path}?{self.query} {' '.join(self.body.values())}".lower()

    def __str__(self):
        words = [self.who, self.method, self.route.name, f"({self.what})" if self.what else "", self.body_name]
        return " ".join([*filter(None, words), *self.headers.values(), self.query]).strip()


class Browser(RequestFactory):
    """Sends requests through all middleware, without what the test client keeps for tests."""

    def __init__(self):
        super().__init__()
        self.handler = ClientHandler(enforce_csrf_checks=False)

    def request(self, **environ):
        return self.handler(self._base_environ(**environ))


@dataclass(frozen=True)
class Alarm:
    ask: Ask
    kind: str
    words: str

    def __str__(self):
        return f"{self.ask}: {self.kind}: {self.words}"


class Stopped(Exception):
    """The alarm that was waited for."""


class Crawl:
    """`stop` ends the crawl at an alarm by raising Stopped."""

    def __init__(self, world: World, stop=lambda alarm: False):
        self.world = world
        self.stop = stop
        self.browser = Browser()
        self.alarms: list[Alarm] = []
        self.n_asked = 0

    def ask(self, ask: Ask) -> HttpResponse:
        """One request, looked at while its changes are there, which are then undone."""
        with transaction.atomic():
            response = self.send(ask)
            self.look(ask, response)
            transaction.set_rollback(True)
        self.n_asked += 1
        return response

    def send(self, ask: Ask) -> HttpResponse:
        environ = {**ask.headers, "HTTP_COOKIE": self.world.cookies[ask.who], "HTTP_ACCEPT_LANGUAGE": "en"}
        data = urlencode(ask.body) if ask.method not in ("GET", "HEAD", "OPTIONS") else ""
        address = f"{ask.path}?{ask.query}" if ask.query else ask.path
        # 404 and 405 are what is asked for here; each would be a line in the log.
        logging.disable(logging.CRITICAL)
        try:
            return self.browser.generic(ask.method, address, data, "application/x-www-form-urlencoded", **environ)
        finally:
            logging.disable(logging.NOTSET)

    def look(self, ask: Ask, response: HttpResponse) -> None:
        for catch in self.caught(ask, response):
            self.alarm(ask, "token", f"{catch.token} {catch.how}")
        if response.status_code >= 500:
            self.alarm(ask, "broken", f"status {response.status_code}")
        for words in wrong_headers(response):
            self.alarm(ask, "header", words)
        if ask.method == "POST" and not is_refusal(response) and not bodies_of(self.world, ask.route.name):
            self.alarm(ask, "no body", "takes posts; say in bodies_of what its form holds and what breaks it")

    def caught(self, ask: Ask, response: HttpResponse) -> list[Catch]:
        """Tokens in status line, headers, cookies and body that this person may not see. What one has sent oneself may
        come back."""
        person = self.world.people[ask.who]
        viewer = Viewer(person.pk if person else None)
        head = [f"{response.status_code} {response.reason_phrase}", response.cookies.output()]
        head += [f"{name}: {value}" for name, value in response.headers.items()]
        found = {
            catch: None
            for part in ["\n".join(head).encode(), body_of(response)]
            for catch in self.world.net.catch(part)
        }
        sent = ask.sent() if found else ""
        return [catch for catch in found if catch.token.text not in sent and not catch.token.may_reach(viewer)]

    def alarm(self, ask: Ask, kind: str, words: str) -> None:
        self.alarms.append(Alarm(ask, kind, words))
        if self.stop(self.alarms[-1]):
            raise Stopped

    # What is asked

    def crawl(self, route: Route) -> None:
        for ask in self.everybody_everywhere(route):
            self.every_way(ask)
        self.one_404(route)

    def everybody_everywhere(self, route: Route) -> list[Ask]:
        """Every person at every address, reading and posting and with two of the other methods. Returns what those whom
        the route serves were answered."""
        bodies, answered = list(self.bodies(route).items()), []
        for i, (who, (what, path)) in enumerate(itertools.product(self.world.cookies, self.places(route))):
            name, body = bodies[i % len(bodies)]
            for j, method in enumerate(("GET", "POST", OTHER_METHODS[i % 5], OTHER_METHODS[(i + 2) % 5])):
                headers, query = HEADERS[(i + j) % len(HEADERS)], QUERIES[(i + 3 * j) % len(QUERIES)]
                ask = Ask(route, who, what, path, method, name, body, headers, query)
                if not is_refusal(self.ask(ask)) and j < 2 and self.is_theirs(who, what, route):
                    answered.append(ask)
        return answered

    def every_way(self, ask: Ask) -> None:
        """Every query with some header and every header with some query; every body with and without htmx."""
        if ask.method == "GET":
            for place, query in enumerate(QUERIES):
                self.ask(replace(ask, query=query, headers=HEADERS[place % len(HEADERS)]))
        else:
            for (name, body), place in itertools.product(self.bodies(ask.route).items(), (0, 4)):
                headers = HEADERS[place + self.n_asked % 4]
                self.ask(replace(ask, body_name=name, body=body, headers=headers))

    def places(self, route: Route) -> list[tuple[str, str]]:
        """Every address of a route: what it stands for, and the path."""
        known = [values_of(self.world, argument).items() for argument in route.arguments]
        return [
            ("; ".join(what for what, _ in chosen), route.path([value for _, value in chosen]))
            for chosen in itertools.product(*known)
        ]

    def bodies(self, route: Route) -> dict[str, dict[str, str]]:
        return bodies_of(self.world, route.name) or {"nothing": {}}

    # The one 404

    def one_404(self, route: Route) -> None:
        """Whatever is not one's own is told apart by nothing: the same bytes for foreign, locked, ended and missing."""
        first, *others = self.bodies(route).items()
        for who in self.world.cookies:
            places = [place for place in self.places(route) if not self.is_theirs(who, place[0], route)]
            if who == "anonymous" or not places:  # anonymous is sent to sign in from everywhere
                continue
            if who == "ana":
                bodies, headers = [first, *others], [PAGE, PIECE]
            else:
                bodies, headers = [first], [PIECE if who in ("gone", "rita", "zoe") else PAGE]
            asked = [("GET", *first), *[("POST", *body) for body in bodies]]
            for (method, name, body), kind in itertools.product(asked, headers):
                self.compare([Ask(route, who, *place, method, name, body, kind) for place in places])

    def is_theirs(self, who: str, what: str, route: Route) -> bool:
        """Whether the route serves this person at the place."""
        audience = AUDIENCE.get(route.name, "")
        if audience == "whose assignment it is":
            # One's own report, sent again because its answer was lost, is answered like the first.
            reported = [f"problem of {who}"] if route.name == "annotate:report_problem" else []
            own = [f"open of {who}", f"submitted of {who}", f"rewritten of {who}", *reported]
            return who != "gone" and what in own
        if audience not in ("members", "leads"):
            return True
        return who in (LEADS if audience == "leads" else MEMBERS).get(what.split(";")[0], ())

    def compare(self, asks: list[Ask]) -> None:
        """The same answer to all; the 404, unless the route does not take the method or refused a bad body unread."""
        answers = {ask: fingerprint(self.ask(ask)) for ask in asks if reaches(ask)}
        (first_ask, first), *others = answers.items()
        if first[0] == 404:
            others += [(ask, fingerprint(self.ask(ask))) for ask in asks if ask not in answers]
        elif first[0] != 405 and first_ask.body_name == next(iter(self.bodies(first_ask.route))):
            self.alarm(first_ask, "one 404", f"answers {first[0]} to somebody it is not for")
        for ask, answer in others:
            if answer != first:
                self.alarm(ask, "one 404", f"answers {answer[0]}, and {first[0]} or other bytes for {first_ask.what}")


def reaches(ask: Ask) -> bool:
    """Whether the path is one of the route's; a malformed argument may make it one of nobody's."""
    with contextlib.suppress(Resolver404):
        resolve(unquote(ask.path))
        return True
    return False


def is_refusal(response: HttpResponse) -> bool:
    return response.status_code in (401, 403, 404, 405) or "/sign-in/" in response.headers.get("Location", "")


LEADS = {"ours": ("lea",), "other": ("zack",)}
MEMBERS = {"ours": ("ana", "ben", "rita", "lea"), "other": ("zoe", "zack")}


def fingerprint(response: HttpResponse) -> tuple[int, str, str, bytes]:
    headers = sorted((name, value) for name, value in response.headers.items() if name != "Date")
    return response.status_code, repr(headers), response.cookies.output(), body_of(response)


def body_of(response: HttpResponse) -> bytes:
    return b"".join(response) if response.streaming else response.content


def wrong_headers(response: HttpResponse) -> Iterator[str]:
    """No page is kept anywhere, says when or of what it was made, or runs a script that is not a file of ours."""
    if response.headers.get("Cache-Control") != "no-store":
        yield f"Cache-Control: {response.headers.get('Cache-Control')}"
    policy = response.headers.get("Content-Security-Policy", "")
    if "default-src 'none'" not in policy or any(word in policy for word in UNSAFE_SOURCES):
        yield f"Content-Security-Policy: {policy or 'none'}"
    yield from (f"{name}: {response.headers[name]}" for name in BETRAYING_HEADERS if name in response.headers)
