"""What protects pages whoever asks for them: headers of every answer, cookies, signing out, and Django's own list for
deployment. The crawl looks at the same on every answer it is given (`crawl.wrong_headers`)."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse

from tests.factories import make_cast
from tests.guards.arrows import ROOT
from tests.guards.crawl import ALWAYS, PAGE, PIECE, Ask, Crawl, is_refusal, wrong_headers
from tests.guards.test_blindness import ROUTES, said

PACKED = {"HTTP_ACCEPT_ENCODING": "gzip, deflate, br, zstd"}
CONDITIONS = {"HTTP_IF_MODIFIED_SINCE": "Mon, 06 May 2999 07:08:09 GMT", "HTTP_IF_NONE_MATCH": "*"}
POLICY = {
    "default-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    *(f"{name} 'self'" for name in ("script-src", "style-src", "img-src", "font-src", "connect-src", "form-action")),
}
SILENCED = {
    "security.W005": "other names under a team's domain are not ours: HSTS for them could put them out of reach",
    "security.W021": "for the same reason we do not ask browsers to learn the domain by heart",
}
"""Warnings of Django's list for deployment that we let stand, and why."""


@pytest.mark.django_db
@pytest.mark.parametrize("name", ROUTES)
def test_every_answer_has_its_policies(name, world):
    """To everybody, at the first address of theirs or at any, for a browser that would take packed and known pages."""
    crawl, route = Crawl(world), ROUTES[name]
    for who in world.cookies:
        places = sorted(crawl.places(route), key=lambda place: not crawl.is_theirs(who, place[0], route))
        for method, headers in (("GET", PIECE), ("POST", PAGE)):
            body = next(iter(crawl.bodies(route).values()))
            asked = headers | PACKED | CONDITIONS
            answer = crawl.ask(Ask(route, who, *places[0], method, "", body, asked))
            assert set(answer.headers["Content-Security-Policy"].split("; ")) == POLICY
            assert answer.status_code != 304
            assert is_refusal(answer) or "Cookie" in answer.headers["Vary"]
    assert crawl.alarms == [], said(crawl.alarms)


@pytest.mark.parametrize("name", ALWAYS)
def test_a_policy_that_is_missing_is_found(name):
    answer = HttpResponse(headers={**ALWAYS, "Content-Security-Policy": "default-src 'none'"})
    assert list(wrong_headers(answer)) == []
    del answer.headers[name]
    assert list(wrong_headers(answer)) == [f"{name}: None"]


@pytest.mark.parametrize(
    ("name", "flags", "is_right"),
    [
        ("sessionid", {"httponly": True, "samesite": "Lax"}, True),
        ("sessionid", {"httponly": False, "samesite": "Lax"}, False),
        ("sessionid", {"httponly": True, "samesite": "None"}, False),
        ("csrftoken", {"httponly": False, "samesite": "Lax"}, True),
    ],
)
def test_a_cookie_that_scripts_or_other_sites_get_is_found(name, flags, is_right):
    answer = HttpResponse(headers={**ALWAYS, "Content-Security-Policy": "default-src 'none'"})
    answer.set_cookie(name, "x", **flags)
    assert (list(wrong_headers(answer)) == []) == is_right


@pytest.mark.django_db
def test_signing_out_has_the_browser_drop_what_it_kept(client):
    client.force_login(make_cast().ana.person)
    answer = client.post(reverse("annotate:sign_out"))
    assert answer["Clear-Site-Data"] == '"cache", "storage"'
    assert answer.cookies[settings.SESSION_COOKIE_NAME]["max-age"] == 0


def test_nothing_packs_pages_or_answers_by_what_a_browser_has():
    """A page's packed length would tell how like what one has sent it is to what is hidden in it."""
    named = " ".join(settings.MIDDLEWARE)
    assert not [word for word in ("GZip", "ConditionalGet", "CacheMiddleware") if word in named]
    assert not settings.DEBUG


# Where people reach it by https


ASKED = """
import json, django
django.setup()
from django.conf import settings
from django.core.checks import run_checks
from django.test import Client
from config.wsgi import application
found = {
    "warnings": [one.id for one in run_checks(include_deployment_checks=True)],
    "silenced": settings.SILENCED_SYSTEM_CHECKS,
    "cookies": {},
}
browser = Client(SERVER_NAME="localhost")
for name, is_secure in (("http", False), ("https", True)):
    answer = browser.get("/sign-in/", secure=is_secure)
    found[name] = [answer.status_code, dict(answer.headers)]
    found["cookies"] |= {name: cookie.OutputString() for name, cookie in answer.cookies.items()}
found["cookies"]["session"] = str(settings.SESSION_COOKIE_SECURE)
found["cookies"]["httponly"] = str(settings.SESSION_COOKIE_HTTPONLY)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def by_https(tmp_path_factory):
    """What a site says that is started for https: in a process of its own, as settings are read once."""
    data = tmp_path_factory.mktemp("https")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SIGHTLINE_", "DJANGO_"))}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings", "SIGHTLINE_HTTPS": "1", "SIGHTLINE_DATA": str(data)}
    environment.pop("DATABASE_URL", None)
    collecting = [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"]
    for command in (collecting, [sys.executable, "-c", ASKED]):
        ran = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return json.loads(ran.stdout)


def test_djangos_list_for_deployment_has_nothing_to_say(by_https):
    assert set(by_https["warnings"]) == set(SILENCED)
    assert by_https["silenced"] == []


def test_by_https_cookies_go_nowhere_else_and_http_is_left(by_https):
    assert by_https["cookies"]["session"] == by_https["cookies"]["httponly"] == "True"
    assert all(flag in by_https["cookies"]["csrftoken"] for flag in ("Secure", "SameSite=Lax"))
    status, headers = by_https["http"]
    assert (status, headers["Location"]) == (301, "https://localhost/sign-in/")
    status, headers = by_https["https"]
    assert status == 200
    assert int(headers["Strict-Transport-Security"].partition("=")[2].partition(";")[0]) >= 31_536_000
    assert {name: headers[name] for name in ALWAYS} == ALWAYS
