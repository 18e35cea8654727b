"""Signing in and out, the interface language, one's own account, and links that set up an account or a password."""

import contextlib
import html
import re
from datetime import timedelta

import pytest
from django.contrib.auth import SESSION_KEY
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import NoReverseMatch, URLPattern, get_resolver, reverse
from django.utils import timezone

from annotate import accounts, setting_up
from annotate.models import Event, Invite, Person, Session
from tests.factories import make_cast, make_member, make_person, make_project

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough sentence"
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
    assert f'href="{reverse("annotate:new_project")}"' in client.get(HOME).content.decode()


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
    dead = client.get(link("no-such-secret"))
    assert "This link does not work" in dead.content.decode()
    for response in (client.get(link(bad)), make_account(client, bad)):
        assert (response.status_code, response.content) == (404, dead.content)
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


def test_few_pages_are_open_to_who_is_not_signed_in():
    """The API asks for a token of its own instead."""
    open_names = {
        pattern.name
        for pattern in get_resolver("annotate.urls").url_patterns
        if isinstance(pattern, URLPattern) and getattr(pattern.callback, "is_open_to_all", False)
    }
    open_names -= {name for name in open_names if reverse_of(name).startswith("/api/")}
    assert open_names == {"sign_in", "sign_out", "set_language", "set_up", "join_project", "new_password"}


def reverse_of(name):
    with contextlib.suppress(NoReverseMatch):
        return reverse(f"annotate:{name}")
    return ""


# One's own account


ACCOUNT = reverse("annotate:show_account")
NEW = "seven yellow kettles"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
ACTIONS = ("change_preferences", "change_password", "sign_out_elsewhere", "close_account")


@pytest.fixture
def page(client, ana):
    """Ana's browser, in which she has signed in."""
    assert sign_in(client).status_code == 302
    return client


@pytest.fixture
def elsewhere(ana):
    """Another browser of ana's."""
    other = Client(headers={"user-agent": FIREFOX})
    assert sign_in(other).status_code == 302
    return other


def act(client, name, **fields):
    return client.post(reverse(f"annotate:{name}"), fields)


def words(response):
    return html.unescape(response.content.decode())


def test_the_head_of_every_page_leads_to_ones_account(page):
    assert f'<a class="person" href="{ACCOUNT}"' in words(page.get(HOME))
    assert f'href="{ACCOUNT}"' not in words(Client().get(reverse("annotate:sign_in")))


def test_the_account_page_lists_where_one_is_signed_in(page, elsewhere):
    response = page.get(ACCOUNT)
    assert response.status_code == 200
    rows = re.findall(r"<tr>\s*<td>(.*?)</td>\s*<td>(.*?)</td>\s*<td>(.*?)</td>", words(response), re.DOTALL)
    assert [(browser, mark) for browser, _, mark in rows] == [
        ("a browser that does not say its name", "<strong>this one</strong>"),
        ("Firefox, Linux", ""),
    ]
    for session, (_, time, _) in zip(page.get(ACCOUNT).context["sessions"], rows, strict=True):
        assert f'datetime="{session.signed_in_at.isoformat()}" data-clock="date"' in time
    for client in (page, elsewhere):
        assert client.cookies["sessionid"].value not in words(response)
    assert f'href="{reverse("annotate:show_tokens")}"' in words(response)


def test_the_account_page_takes_three_statements_however_many_sessions(page):
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            page.get(ACCOUNT)
        assert len(captured) == 3  # the session, the person, the sessions
        for _ in range(5):
            sign_in(Client())


@pytest.mark.parametrize("name", ACTIONS)
def test_reading_the_address_of_an_action_does_nothing(page, name):
    assert page.get(reverse(f"annotate:{name}")).status_code == 405
    assert Client().post(reverse(f"annotate:{name}")).status_code == 302


def test_language_and_time_zone_are_chosen_here(page, ana):
    response = act(page, "change_preferences", interface_language="zh-hans", time_zone="Asia/Shanghai")
    assert (response.status_code, response["Location"]) == (302, f"{ACCOUNT}?said=preferences")
    ana.refresh_from_db()
    assert (ana.interface_language, ana.time_zone) == ("zh-hans", "Asia/Shanghai")
    answer = page.get(response["Location"])
    assert answer["Content-Language"] == "zh-hans"
    assert '<html lang="zh-hans" data-zone="Asia/Shanghai">' in words(answer)
    assert '<option value="zh-hans" selected>' in words(answer)
    assert '<option value="Asia/Shanghai" selected>' in words(answer)
    page.post(reverse("annotate:sign_out"))
    assert page.get(reverse("annotate:sign_in"))["Content-Language"] == "zh-hans"


def test_without_a_zone_times_are_left_to_the_browser(page, ana):
    Person.objects.filter(pk=ana.pk).update(time_zone="Asia/Shanghai")
    act(page, "change_preferences", interface_language="en", time_zone="")
    answer = page.get(ACCOUNT)
    assert '<html lang="en">' in words(answer)
    assert '<option value="" selected>That of the browser</option>' in words(answer)


def test_the_language_in_the_head_is_the_one_on_the_account_page(page, ana):
    page.post(reverse("annotate:set_language"), {"language": "zh-hans", "next": ACCOUNT})
    assert '<option value="zh-hans" selected>' in words(page.get(ACCOUNT))


@pytest.mark.parametrize(
    "fields",
    [
        {"interface_language": "tlh", "time_zone": ""},
        {"interface_language": "", "time_zone": ""},
        {"interface_language": "en", "time_zone": "Elsewhere/City"},
        {"interface_language": "en", "time_zone": "../etc/passwd"},
        {"interface_language": "en", "time_zone": "Asia/Shanghai\0"},
    ],
)
def test_a_language_or_zone_there_is_not_is_refused_by_name(page, ana, fields):
    response = act(page, "change_preferences", **fields)
    assert response.status_code == 422
    bad = "time_zone" if fields["interface_language"] == "en" else "interface_language"
    assert set(response.context["preferences"].errors) == {bad}
    assert f'id="id_{bad}_error"' in words(response)
    ana.refresh_from_db()
    assert (ana.interface_language, ana.time_zone) == ("", "")


def test_a_new_password_keeps_this_browser_and_ends_the_others(page, elsewhere, ana):
    before = page.cookies["sessionid"].value
    response = act(page, "change_password", password=PASSWORD, new_password=NEW, again=NEW)
    assert (response.status_code, response["Location"]) == (302, f"{ACCOUNT}?said=password")
    assert "Your password is changed. Every other browser was signed out." in words(page.get(response["Location"]))
    assert page.cookies["sessionid"].value != before
    assert elsewhere.get(HOME).status_code == 302
    assert Session.objects.get().pk == page.cookies["sessionid"].value
    assert sign_in(Client()).status_code == 200
    assert sign_in(Client(), password=NEW).status_code == 302


@pytest.mark.parametrize(
    ("field", "fields", "sentence"),
    [
        ("password", {"password": "wrong"}, "This is not your password."),
        ("password", {"password": ""}, "This field is required."),
        ("new_password", {"new_password": "short", "again": "short"}, "A password has at least 10 characters."),
        ("new_password", {"new_password": "password123", "again": "password123"}, "too common"),
        ("again", {"again": "six yellow kettles"}, "The two differ. Type the new password twice."),
        ("again", {"again": ""}, "This field is required."),
    ],
)
def test_a_password_that_cannot_be_changed_names_the_field_and_ends_nothing(page, elsewhere, field, fields, sentence):
    response = act(page, "change_password", **{"password": PASSWORD, "new_password": NEW, "again": NEW, **fields})
    assert response.status_code == 422
    assert set(response.context["password"].errors) == {field}
    assert re.search(f'id="id_{field}_error".*?{sentence}', words(response), re.DOTALL)
    assert NEW not in words(response)
    assert page.get(HOME).status_code == elsewhere.get(HOME).status_code == 200
    assert sign_in(Client()).status_code == 302


def test_signing_out_everywhere_else_keeps_this_browser(page, elsewhere):
    response = act(page, "sign_out_elsewhere")
    assert (response.status_code, response["Location"]) == (302, f"{ACCOUNT}?said=elsewhere")
    assert page.get(HOME).status_code == 200
    assert elsewhere.get(HOME).status_code == 302
    assert "<button disabled>Sign out everywhere else</button>" in words(page.get(ACCOUNT))


def test_a_closed_account_is_signed_out_everywhere_and_cannot_come_back(page, elsewhere, ana):
    response = act(page, "close_account", password=PASSWORD)
    assert (response.status_code, response["Location"]) == (302, f"{reverse('annotate:sign_in')}?said=closed")
    assert response["Clear-Site-Data"] == '"cache", "storage"'
    assert "Your account is closed." in words(page.get(response["Location"]))
    for client in (page, elsewhere):
        assert client.get(HOME).status_code == 302
    assert sign_in(Client()).status_code == 200
    assert not Person.objects.get(pk=ana.pk).is_active
    make_person("ana", PASSWORD)  # the name is free again, and tells nothing of who had it
    assert sign_in(Client()).status_code == 302


@pytest.mark.parametrize("password", ["wrong", ""])
def test_an_account_is_closed_with_its_password_only(page, ana, password):
    response = act(page, "close_account", password=password)
    assert response.status_code == 422
    assert "<details open>" in words(response)
    assert 'id="closing_password_error"' in words(response)
    assert Person.objects.get(pk=ana.pk).is_active
    assert page.get(HOME).status_code == 200


def test_the_last_lead_is_told_which_project_needs_another_first(page, ana):
    make_member(make_project(title_en="Kettles <b>"), ana, "lead")
    response = act(page, "close_account", password=PASSWORD)
    assert response.status_code == 422
    assert (
        "A project has a lead, and you are the last one of: Kettles <b>. Invite another lead there first."
        in words(response)
    )
    assert b"Kettles <b>" not in response.content
    assert Person.objects.get(pk=ana.pk).is_active


@pytest.mark.parametrize("address", ELSEWHERE)
@pytest.mark.parametrize("name", ["change_preferences", "change_password", "sign_out_elsewhere", "close_account"])
def test_no_action_on_ones_account_leads_off_the_site(page, name, address):
    fields = {"interface_language": "en", "time_zone": "", "password": PASSWORD, "new_password": NEW, "again": NEW}
    response = act(page, name, **fields, next=address)
    assert response.status_code == 302
    assert response["Location"].split("?")[0] in (ACCOUNT, reverse("annotate:sign_in"))
    assert page.get(ACCOUNT, {"next": address, "said": address}).status_code in (200, 302)


# A forgotten password


@pytest.fixture
def password_secret(ana):
    return accounts.make_password_link(person=ana, now=timezone.now())


def new_password(client, secret, **fields):
    return client.post(reverse("annotate:new_password", args=[secret]), {"new_password": NEW, "again": NEW, **fields})


def test_a_link_sets_a_new_password_and_ends_sessions_and_locks(client, page, password_secret, settings):
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(3):
        locked = sign_in(Client(), password="wrong")
    assert locked.status_code == 429
    other = Client()
    assert other.get(reverse("annotate:new_password", args=[password_secret])).status_code == 200
    response = new_password(other, password_secret)
    assert (response.status_code, response["Location"]) == (302, f"{reverse('annotate:sign_in')}?said=new-password")
    assert "Your new password is set. Sign in with it." in words(other.get(response["Location"]))
    assert page.get(HOME).status_code == 302
    assert sign_in(Client(), password=NEW).status_code == 302


def test_reading_the_page_of_a_new_password_spends_nothing(client, password_secret):
    before = Invite.objects.values().get()
    address = reverse("annotate:new_password", args=[password_secret])
    for _ in range(3):
        assert client.get(address).status_code == client.head(address).status_code == 200
    assert Invite.objects.values().get() == before


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("new_password", {"new_password": "short", "again": "short"}),
        ("new_password", {"new_password": "ana-ana-ana", "again": "ana-ana-ana"}),
        ("again", {"again": "six yellow kettles"}),
    ],
)
def test_a_password_that_may_not_be_leaves_the_link_good(client, password_secret, field, fields):
    Person.objects.update(username="ana-ana-an")
    response = new_password(client, password_secret, **fields)
    assert response.status_code == 422
    assert set(response.context["form"].errors) == {field}
    assert Invite.objects.get().spent_at is None
    assert new_password(client, password_secret).status_code == 302


@pytest.mark.parametrize("how", ["used", "expired", "edited", "for a first lead", "account closed"])
def test_a_dead_link_is_one_page_whatever_it_died_of(client, ana, password_secret, how):
    never = client.get(reverse("annotate:new_password", args=["there-never-was-such-a-secret"]))
    assert never.status_code == 404
    bad = password_secret
    if how == "used":
        new_password(Client(), password_secret)
    elif how == "expired":
        Invite.objects.update(expires_at=timezone.now())
    elif how == "edited":
        bad = password_secret[:-1] + ("A" if password_secret[-1] != "A" else "B")
    elif how == "for a first lead":
        bad = setting_up.first_lead_secret(now=timezone.now())
    else:
        accounts.deactivate(person=ana, now=timezone.now())
    before = Person.objects.values().get()
    for response in (client.get(reverse("annotate:new_password", args=[bad])), new_password(client, bad)):
        assert (response.status_code, response.content) == (404, never.content)
        assert {name: value for name, value in response.headers.items() if name != "Content-Length"} == {
            name: value for name, value in never.headers.items() if name != "Content-Length"
        }
    assert Person.objects.values().get() == before


def test_what_an_address_says_was_done_is_a_sentence_of_ours(page):
    for address in (ACCOUNT, reverse("annotate:sign_in")):
        for said in ("<script>alert(1)</script>", "Call 555-0100 now", "preferences "):
            response = (page if address == ACCOUNT else Client()).get(address, {"said": said})
            assert "role=\"status\"" not in words(response)


# Expired forms


def test_the_expired_form_page_says_what_to_do(ana):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ana)
    response = client.post(reverse("annotate:set_language"), {"language": "en"})
    assert "Go back, reload the page and send it again. What you typed is kept there." in response.content.decode()
