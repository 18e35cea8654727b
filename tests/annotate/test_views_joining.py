"""What a link to a project shows and does, for somebody new, for somebody with an account, and when it is dead."""

import html
import logging
import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import inviting, setting_up
from annotate.models import Event, Invite, Membership, Person, Project
from config.logs import WithoutSecrets
from tests.factories import make_cast, make_item, make_person
from tests.guards.crawl import routes

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough sentence"
HOME = reverse("annotate:home")


@pytest.fixture
def cast(db):
    cast = make_cast(title_en="Replies of the night", title_zh="夜间回复")
    make_item(cast.project)
    return cast


def secret_of(cast, role="annotator", project=None, **more):
    project = project or cast.project
    more = {"languages": ["en"], "note": "for Rosa", "by": None, "now": timezone.now(), **more}
    return inviting.make_invite(project=project, role=role, **more)[1]


@pytest.fixture
def secret(cast):
    return secret_of(cast)


def link(secret):
    return reverse("annotate:join_project", args=[secret])


def words(response):
    return html.unescape(response.content.decode())


def make_account(client, secret, **fields):
    return client.post(link(secret), {"username": "rosa", "password": PASSWORD, **fields})


# Reading it


def test_somebody_new_reads_what_it_is_and_gets_a_form(client, secret):
    said = words(client.get(link(secret)))
    assert "Replies of the night" in said
    assert "as an annotator" in said
    assert 'name="password"' in said
    assert f"{reverse('annotate:sign_in')}?next=%2Fjoin%2F" in said


def test_the_title_is_in_the_language_of_the_interface(client, secret):
    said = words(client.get(link(secret), headers={"Accept-Language": "zh-hans"}))
    assert "夜间回复" in said
    assert "Replies of the night" not in said


@pytest.mark.parametrize(("role", "sentence"), [
    ("annotator", "as an annotator"), ("reviewer", "as a reviewer"), ("lead", "as a lead"),
])  # fmt: skip
def test_the_part_is_said_in_words(client, cast, role, sentence):
    assert sentence in words(client.get(link(secret_of(cast, role=role))))


def test_nothing_else_is_told_of_the_project(client, cast, secret):
    for person in (None, make_person("rosa")):
        if person:
            client.force_login(person)
        said = words(client.get(link(secret)))
        assert "for Rosa" not in said
        told = set(re.findall(r"[\w-]+", said))
        assert not told & {cast.project.slug, "lea", "ana", cast.ana.code, cast.lea.code, "reply"}


@pytest.mark.parametrize("method", ["get", "head"])
@pytest.mark.parametrize("who", [None, "rosa", "ana"])
def test_reading_spends_nothing(client, cast, secret, method, who):
    if who:
        client.force_login(Person.objects.filter(username=who).first() or make_person(who))
    before = list(Invite.objects.values()), Membership.objects.count(), Person.objects.count(), Event.objects.count()
    for _ in range(3):
        assert getattr(client, method)(link(secret)).status_code == 200
    after = list(Invite.objects.values()), Membership.objects.count(), Person.objects.count(), Event.objects.count()
    assert after == before


# Joining


def test_somebody_new_makes_an_account_joins_and_is_signed_in(client, cast, secret):
    response = make_account(client, secret)
    assert (response.status_code, response["Location"]) == (302, HOME)
    member = Membership.objects.get(person__username="rosa")
    assert (member.project, member.role, member.languages) == (cast.project, "annotator", ["en"])
    assert member.assignments.count() == 1
    assert client.session[SESSION_KEY] == str(member.person_id)
    assert "Replies of the night" in words(client.get(HOME))


def test_who_is_signed_in_joins_with_one_button(client, cast, secret):
    rosa = make_person("rosa", PASSWORD)
    client.force_login(rosa)
    said = words(client.get(link(secret)))
    assert "Join as rosa" in said
    assert 'name="password"' not in said
    response = client.post(link(secret))
    assert (response.status_code, response["Location"]) == (302, HOME)
    assert Membership.objects.get(person=rosa).project == cast.project


def test_who_has_an_account_signs_in_and_is_back_at_the_link(client, secret):
    make_person("rosa", PASSWORD)
    address = link(secret)
    page = client.get(reverse("annotate:sign_in"), {"next": address})
    assert f'name="next" value="{address}"' in words(page)
    fields = {"username": "rosa", "password": PASSWORD, "next": address}
    response = client.post(reverse("annotate:sign_in"), fields)
    assert response["Location"] == address
    assert "Join as rosa" in words(client.get(address))


def test_who_is_signed_in_as_somebody_else_signs_out_and_is_back_at_the_link(client, cast, secret):
    client.force_login(cast.ana.person)
    address = link(secret)
    assert f'name="next" value="{address}"' in words(client.get(address))
    response = client.post(reverse("annotate:sign_out"), {"next": address})
    assert response["Location"] == address
    assert 'name="password"' in words(client.get(address))


def test_a_session_that_ended_meanwhile_joins_nobody(client, cast, secret):
    client.force_login(make_person("rosa", PASSWORD))
    client.get(link(secret))
    client.logout()
    response = client.post(link(secret))
    assert response.status_code == 422
    assert 'name="password"' in words(response)
    assert not Membership.objects.filter(person__username="rosa").exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"username": "ANA"}, "This name is taken. Choose another."),
        ({"username": "<b>rosa</b>"}, "Enter a valid value."),
        ({"username": ""}, "This field is required."),
        ({"username": "x" * 151}, "at most 150 characters"),
        ({"username": "ro\0sa"}, "Null characters are not allowed."),
        ({"password": "xkcd-936"}, "A password has at least 10 characters."),
        ({"password": "password123"}, "too common"),
        ({"username": "rosa-of-the-lab", "password": "rosa-of-the-lab"}, "too similar"),
    ],
)
def test_a_refused_name_or_password_leaves_the_link_good(client, secret, fields, sentence):
    before = Person.objects.count()
    response = make_account(client, secret, **fields)
    assert response.status_code == 422
    assert sentence in words(response)
    assert "<b>rosa" not in response.content.decode()
    assert Person.objects.count() == before
    assert make_account(client, secret).status_code == 302


def test_a_name_taken_between_form_and_saving_is_said_at_its_field(client, secret, monkeypatch):
    monkeypatch.setattr("annotate.forms.SetUpForm.clean_username", lambda form: form.cleaned_data["username"])
    response = make_account(client, secret, username="ana")
    assert response.status_code == 422
    assert "This name is taken. Choose another." in words(response)
    assert 'value="ana"' in words(response)
    assert Invite.objects.get().spent_at is None


@pytest.mark.parametrize("who", ["ana", "rita", "lea"])
def test_who_has_a_part_is_told_so_and_nothing_is_spent(client, cast, secret, who):
    client.force_login(getattr(cast, who).person)
    for response, status in ((client.get(link(secret)), 200), (client.post(link(secret)), 409)):
        assert response.status_code == status
        assert "You have a part in this project already." in words(response)
        assert "Join as" not in words(response)
    assert Invite.objects.get().spent_at is None
    assert make_account(Client(), secret).status_code == 302


def test_who_left_is_told_to_ask_a_lead(client, cast, secret):
    Membership.objects.filter(pk=cast.ben.pk).update(left_at=timezone.now())
    client.force_login(cast.ben.person)
    for response, status in ((client.get(link(secret)), 200), (client.post(link(secret)), 409)):
        assert response.status_code == status
        assert "Ask a lead to bring you back" in words(response)
    assert Membership.objects.get(pk=cast.ben.pk).left_at is not None
    assert Invite.objects.get().spent_at is None


def test_a_link_opens_its_own_project_whatever_is_sent_beside_it(client, cast):
    secret = secret_of(cast, project=cast.other_project)
    fields = {"project": cast.project.slug, "role": "lead", "languages": "zh"}
    address = f"{link(secret)}?project={cast.project.slug}&role=lead"
    assert client.post(address, {"username": "rosa", "password": PASSWORD, **fields}).status_code == 302
    member = Membership.objects.get(person__username="rosa")
    assert (member.project, member.role, member.languages) == (cast.other_project, "annotator", ["en"])


# A dead link (AU-02)


DEAD = {
    "used twice": lambda cast, secret: make_account(Client(), secret, username="first") and secret,
    "expired": lambda cast, secret: Invite.objects.update(expires_at=timezone.now()) and secret,
    "edited": lambda cast, secret: secret[:-1] + ("A" if secret[-1] != "A" else "B"),
    "cut off": lambda cast, secret: secret[:20],
    "taken back": lambda cast, secret: Invite.objects.update(revoked_at=timezone.now()) and secret,
    "for the first lead": lambda cast, secret: set_up_link("the secret of a set-up link"),
    "never was": lambda cast, secret: "x" * 300,
}


def set_up_link(secret):
    expires_at = timezone.now() + timedelta(days=1)
    Invite.objects.create(token_hash=setting_up.hash_of(secret), purpose="set_up", expires_at=expires_at)
    return secret


def rows():
    models = (Invite, Person, Membership, Event)
    return [list(model.objects.order_by("pk").values()) for model in models]


@pytest.mark.parametrize("who", [None, "zoe"])
@pytest.mark.parametrize("how", DEAD)
def test_a_link_that_is_not_good_any_more_is_one_and_the_same_404_and_changes_nothing(client, cast, secret, how, who):
    bad = DEAD[how](cast, secret)
    if who:
        client.force_login(getattr(cast, who).person)
    before, reference = rows(), client.get(link("no-such-secret"))
    for response in (client.get(link(bad)), make_account(client, bad), client.post(link(bad))):
        assert response.status_code == 404
        assert response.content == reference.content
        assert response.headers == reference.headers
    assert "This link does not work" in words(reference)
    assert "Ask the person who sent it" in words(reference)
    assert rows() == before
    assert not Membership.objects.filter(project=cast.project, person__username__in=["rosa", "zoe"]).exists()


def test_no_address_takes_a_link_to_another_project(client, cast, secret):
    """AU-02, for another project: the link says which it is, so there is nothing to choose it with."""
    for project in (cast.project, cast.other_project):
        for address in (f"/projects/{project.slug}{link(secret)}", f"{link(secret)}{project.slug}/"):
            response = client.post(address, {"username": "rosa", "password": PASSWORD})
            assert response.status_code in (302, 404)
            assert "/sign-in/" in response.get("Location", "/sign-in/")
    assert not Person.objects.filter(username="rosa").exists()
    assert Invite.objects.get().spent_at is None


def test_the_link_that_sets_up_the_first_lead_is_no_link_to_a_project_and_the_other_way_round(client, secret):
    set_up = set_up_link("the secret of a set-up link")
    assert client.get(link(set_up)).status_code == 404
    assert client.get(reverse("annotate:set_up", args=[secret])).status_code == 404
    assert client.get(link(secret)).status_code == 200


# Where the secret must not be


def test_the_secret_is_in_no_title_and_no_address_of_another_site(client, cast, secret):
    for person in (None, cast.ana.person):
        if person:
            client.force_login(person)
        response = client.get(link(secret))
        title = words(response).split("<title>")[1].split("</title>")[0]
        assert secret not in title
        assert response["Referrer-Policy"] == "same-origin"
        assert response["Cache-Control"] == "no-store"


SECRET_ROUTES = [route for route in routes() if "secret" in route.arguments]


@pytest.mark.parametrize("route", SECRET_ROUTES, ids=lambda route: route.name)
@pytest.mark.parametrize("method", ["get", "post", "put"])
def test_no_log_holds_the_secret_of_a_link(client, caplog, route, method):
    assert {"annotate:join_project", "annotate:set_up"} <= {route.name for route in SECRET_ROUTES}
    secret = "Abc-_" * 8 + "xyz"  # as long as those that are made
    client = Client(enforce_csrf_checks=method == "post")
    assert getattr(client, method)(route.path([secret])).status_code in (403, 404, 405)
    said = [record for record in caplog.records if record.name.startswith("django")]
    assert said
    for record in said:
        assert WithoutSecrets().filter(record)
        assert secret not in record.getMessage()
        assert route.path(["..."]) in record.getMessage()


def test_every_log_is_written_without_secrets():
    handlers = settings.LOGGING["handlers"].values()
    assert all("without_secrets" in handler["filters"] for handler in handlers)
    handler = next(one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler)
    assert [type(one) for one in handler.filters] == [WithoutSecrets]


def test_a_log_still_says_which_page_it_was():
    record = logging.LogRecord("x", logging.WARNING, "", 1, "%s: %s %s", ("Not Found", "/projects/airline/", 3), None)
    WithoutSecrets().filter(record)
    assert record.getMessage() == "Not Found: /projects/airline/ 3"


@pytest.mark.parametrize("is_new", [True, False])
def test_a_link_of_whose_languages_the_project_has_none_any_more_says_so(client, cast, secret, is_new):
    Project.objects.filter(pk=cast.project.pk).update(languages=["zh"])
    if is_new:
        response = make_account(client, secret)
        assert 'value="rosa"' in words(response)
    else:
        client.force_login(make_person("tim"))
        response = client.post(link(secret))
    assert response.status_code == 409
    said = "The project does not have the languages of this invitation any more. Ask a lead for a new one."
    assert words(response).count(said) == 1
    assert Membership.objects.filter(project=cast.project).count() == 4
    assert not Person.objects.filter(username="rosa").exists()
