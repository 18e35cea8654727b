"""Signing in and out, the interface language, the first lead's link; and what holds for every write of every route."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth import SESSION_KEY
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.utils import timezone

from annotate import setting_up
from annotate.models import Annotation, Assignment, Event, Invite, Membership, Person, Post
from tests.factories import make_assignment, make_cast, make_person, make_plan, make_submitted

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough sentence"
HTMX = {"HX-Request": "true"}
HOME = reverse("annotate:home")
ELSEWHERE = [
    "//evil.example", "/\\evil.example", "\\\\evil.example", "https:evil.example", "https://evil.example/label/",
    "http:///evil.example", "javascript:alert(1)", "javascript:x", "data:text/html,x", " //evil.example",
    "\t//evil.example", "evil.example", "annotate:home", "", "x",
]  # fmt: skip


@pytest.fixture
def ana(db):
    return make_person("ana", PASSWORD)


def sign_in(client, username="ana", password=PASSWORD, **fields):
    return client.post(reverse("annotate:sign_in"), {"username": username, "password": password, **fields})


# Signing in and out


def test_name_and_password_open_the_first_page(client, ana):
    response = sign_in(client)
    assert (response.status_code, response["Location"]) == (302, HOME)
    assert client.session[SESSION_KEY] == str(ana.pk)
    assert client.get(HOME).status_code == 200


@pytest.mark.parametrize(("username", "password"), [("ana", "wrong"), ("nobody", PASSWORD), ("ana", "")])
def test_a_wrong_name_and_a_wrong_password_are_told_alike(client, ana, username, password):
    response = sign_in(client, username, password)
    assert response.status_code == 200
    assert "Name and password do not belong together. Try again." in response.content.decode()
    assert SESSION_KEY not in client.session


def test_an_account_without_a_password_and_one_that_is_off_cannot_sign_in(client, ana):
    make_person("ben")
    for password in ("", "None", "!"):
        sign_in(client, "ben", password)
        assert SESSION_KEY not in client.session
    Person.objects.filter(pk=ana.pk).update(is_active=False)
    sign_in(client)
    assert SESSION_KEY not in client.session


def test_signing_in_leads_back_to_the_page_one_came_for(client, ana):
    wanted = reverse("annotate:own_annotations", args=["replies"])
    response = client.get(wanted)
    assert (response.status_code, response["Location"]) == (302, f"{reverse('annotate:sign_in')}?next={wanted}")
    assert sign_in(client, next=wanted)["Location"] == wanted


@pytest.mark.parametrize("address", ELSEWHERE)
def test_signing_in_never_leads_off_the_site(client, ana, address):
    response = client.get(reverse("annotate:sign_in"), {"next": address})
    assert response.status_code == 200
    response = sign_in(client, next=address)
    assert response.status_code == 302
    assert is_ours(response["Location"]), response["Location"]
    assert SESSION_KEY in client.session


def is_ours(address):
    """Read as a browser does: backslashes are slashes, and two at the beginning name a host."""
    plain = address.strip().replace("\\", "/")
    return not plain.startswith("//") and ":" not in plain.split("/")[0]


def test_signing_out_ends_the_session_and_has_the_browser_forget(client, ana):
    sign_in(client)
    response = client.post(reverse("annotate:sign_out"))
    assert (response.status_code, response["Location"]) == (302, reverse("annotate:sign_in"))
    assert response["Clear-Site-Data"] == '"cache", "storage"'
    assert SESSION_KEY not in client.session


def test_reading_the_sign_out_address_signs_nobody_out(client, ana):
    sign_in(client)
    assert client.get(reverse("annotate:sign_out")).status_code == 405
    assert SESSION_KEY in client.session


# Language


def test_the_language_of_a_person_is_kept_with_their_account(client, ana):
    client.force_login(ana)
    response = client.post(reverse("annotate:set_language"), {"language": "zh-hans", "next": "/projects/x/guideline/"})
    assert (response.status_code, response["Location"]) == (302, "/projects/x/guideline/")
    ana.refresh_from_db()
    assert ana.interface_language == "zh-hans"
    page = client.get(HOME)
    assert page["Content-Language"] == "zh-hans"
    assert '<html lang="zh-hans">' in page.content.decode()


def test_before_signing_in_the_language_is_kept_by_the_browser(client):
    client.post(reverse("annotate:set_language"), {"language": "zh-hans"})
    assert client.get(reverse("annotate:sign_in"))["Content-Language"] == "zh-hans"
    client.post(reverse("annotate:set_language"), {"language": "en"})
    assert client.get(reverse("annotate:sign_in"))["Content-Language"] == "en"


@pytest.mark.parametrize("language", ["", "de", "zh", "en\x00", "../en"])
def test_a_language_there_is_not_changes_nothing(client, ana, language):
    client.force_login(ana)
    assert client.post(reverse("annotate:set_language"), {"language": language}).status_code == 404
    ana.refresh_from_db()
    assert ana.interface_language == ""


@pytest.mark.parametrize("address", ELSEWHERE)
def test_changing_the_language_never_leads_off_the_site(client, ana, address):
    response = client.post(reverse("annotate:set_language"), {"language": "zh-hans", "next": address})
    assert (response.status_code, response["Location"]) == (302, HOME)


# The first lead's link


def link(secret):
    return reverse("annotate:set_up", args=[secret])


@pytest.fixture
def secret(db):
    return setting_up.first_lead_secret(now=timezone.now())


def make_account(client, secret, **fields):
    return client.post(link(secret), {"username": "lea", "password": PASSWORD, **fields})


def test_the_link_makes_the_first_lead_and_signs_them_in(client, secret):
    assert client.get(link(secret)).status_code == 200
    response = make_account(client, secret)
    assert (response.status_code, response["Location"]) == (302, HOME)
    person = Person.objects.get()
    assert person.may_create_projects
    assert client.session[SESSION_KEY] == str(person.pk)
    assert "create_project" in client.get(HOME).content.decode()


def test_reading_the_page_spends_nothing(client, secret):
    before = Invite.objects.values().get()
    for _ in range(3):
        assert client.get(link(secret)).status_code == 200
        client.head(link(secret))
    assert Invite.objects.values().get() == before
    assert not Person.objects.exists()


@pytest.mark.parametrize("how", ["used twice", "expired", "edited", "for another purpose"])
def test_a_link_that_is_not_good_any_more_is_404_and_makes_no_account(client, secret, how):
    bad, n_people = secret, 0
    if how == "used twice":
        make_account(Client(), secret, username="first")
        n_people = 1
    elif how == "expired":
        Invite.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "edited":
        bad = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    else:
        project = make_cast().project
        n_people = Person.objects.count()
        Invite.objects.update(purpose="project", project=project, role="lead")
    n_events = Event.objects.count()
    missing = client.get("/no/such/page/")
    for response in (client.get(link(bad)), make_account(client, bad)):
        assert (response.status_code, response.content) == (404, missing.content)
    assert Person.objects.count() == n_people
    assert Event.objects.count() == n_events
    assert SESSION_KEY not in client.session


@pytest.mark.parametrize(
    ("field", "fields", "sentence"),
    [
        ("username", {"username": "ANA"}, "This name is taken. Choose another."),
        ("username", {"username": "<b>lea</b>"}, "Enter a valid value."),
        ("username", {"username": ""}, "This field is required."),
        ("username", {"username": "x" * 151}, "at most 150 characters"),
        ("password", {"password": "xkcd-936"}, "A password has at least 10 characters."),
        ("password", {"password": "password123"}, "too common"),
        ("password", {"username": "lea-of-the-lab", "password": "lea-of-the-lab"}, "too similar"),
    ],
)
def test_a_refused_name_or_password_leaves_the_link_good(client, ana, secret, field, fields, sentence):
    response = make_account(client, secret, **fields)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert "<b>lea" not in response.content.decode()
    assert Invite.objects.get().spent_at is None
    assert Person.objects.count() == 1
    assert make_account(client, secret).status_code == 302


def test_the_link_is_open_to_who_has_no_account_and_so_are_few_others(client, secret, ana):
    open_names = {name for name, address in every_route(None).items() if client.get(address).status_code != 302}
    assert open_names == {"annotate:sign_in", "annotate:set_up", "annotate:sign_out", "annotate:set_language"}


# Every write of every route


def every_route(assignment, secret="there-is-no-such-secret"):
    """An address for every route there is, by its name; a route with an argument we do not know fails here."""
    values = {
        "public_id": assignment.public_id if assignment else "no-such-item",
        "project": assignment.annotator.project.slug if assignment else "no-such-project",
        "assignment_id": assignment.pk if assignment else 1,
        "secret": secret,
    }
    addresses = {}
    for resolver in get_resolver().url_patterns:
        for pattern in resolver.url_patterns:
            assert isinstance(pattern, URLPattern)
            name = f"{resolver.namespace}:{pattern.name}"
            arguments = {key: values[key] for key in pattern.pattern.converters}
            addresses[name] = reverse(name, kwargs=arguments)
    return addresses


@pytest.fixture
def world(secret):
    """One open and one reported item of ana's, one submitted, and the people who may write to them."""
    cast = make_cast()
    make_submitted(cast.ana)
    return make_plan(cast.ana, 2)[0]


def rows():
    models = (Annotation, Assignment, Post, Event, Invite, Person)
    return [list(model.objects.order_by("pk").values()) for model in models]


BODY = {
    "key": "key-of-the-first-answer", "label": "readable", "protocol": "1", "number": "0", "spans": "[]",
    "problem": "It is cut off.", "draft": json.dumps({"number": 0, "draft_number": 1, "fields": {"comment": "half"}}),
    "language": "zh-hans", "username": "eve", "password": PASSWORD,
}  # fmt: skip


@pytest.mark.parametrize("who", ["ana", "lea", None])
@pytest.mark.parametrize("headers", [None, HTMX])
def test_a_write_without_a_token_is_403_on_every_route_and_changes_nothing(world, secret, who, headers):
    client = Client(enforce_csrf_checks=True)
    if who:
        client.force_login(Membership.objects.get(person__username=who).person)
    before = rows()
    for name, address in every_route(world, secret).items():
        for method in ("post", "put", "patch", "delete"):
            response = getattr(client, method)(address, BODY if method == "post" else "", headers=headers)
            assert response.status_code == 403, (method, name)
            assert "This form has expired" in response.content.decode()
    assert rows() == before


@pytest.mark.parametrize("headers", [None, HTMX])
def test_a_write_with_the_token_of_another_browser_is_403_on_every_route(world, secret, headers):
    client, other = Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)
    client.force_login(world.annotator.person)
    client.get(reverse("annotate:set_up", args=[secret]))  # gives this browser a cookie of its own
    other.get(reverse("annotate:sign_in"))
    token = other.cookies["csrftoken"].value
    assert client.cookies["csrftoken"].value != token
    before = rows()
    for name, address in every_route(world, secret).items():
        for fields, more in (({**BODY, "csrfmiddlewaretoken": token}, {}), (BODY, {"X-CSRFToken": token})):
            response = client.post(address, fields, headers={**(headers or {}), **more})
            assert response.status_code == 403, name
    assert rows() == before


@pytest.mark.parametrize("headers", [None, HTMX])
@pytest.mark.parametrize("name", ["submit_annotation", "save_draft", "report_problem", "set_language"])
def test_the_same_write_with_its_own_token_goes_through(world, secret, name, headers):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.annotator.person)
    client.get(reverse("annotate:label_item", args=[world.public_id]))
    token, before = client.cookies["csrftoken"].value, rows()
    address = every_route(world, secret)[f"annotate:{name}"]
    response = client.post(address, BODY, headers={**(headers or {}), "X-CSRFToken": token})
    assert response.status_code in (200, 302)
    assert rows() != before


def test_the_expired_form_page_says_what_to_do(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.annotator.person)
    response = client.post(reverse("annotate:submit_annotation", args=[world.public_id]), BODY)
    assert "Go back, reload the page and send it again. What you typed is kept there." in response.content.decode()


# Every page in Chinese


@pytest.mark.parametrize("who", ["ana", "lea", "rita"])
def test_every_page_answers_in_the_chinese_interface(client, world, secret, who):
    person = Membership.objects.get(person__username=who).person
    Person.objects.filter(pk=person.pk).update(interface_language="zh-hans")
    make_assignment(world.annotator, state=Assignment.State.PROBLEM)
    client.force_login(person)
    answered = set()
    for name, address in every_route(world, secret).items():
        for headers in (None, HTMX):
            response = client.get(address, headers=headers)
            assert response.status_code in (200, 302, 404, 405), name
            assert response["Content-Language"] == "zh-hans", name
            if response.status_code == 200:
                answered.add(name)
    own = {"annotate:label_item", "annotate:own_annotations", "annotate:guideline"}
    lead = {"annotate:show_project", "scoring:show_agreement"}
    everybody = {"annotate:home", "annotate:set_up"}
    expected = {"ana": everybody | own, "lea": everybody | lead, "rita": everybody}[who]
    assert expected <= answered
    assert not answered & {"ana": lead, "lea": {"annotate:label_item"}, "rita": lead | {"annotate:label_item"}}[who]
