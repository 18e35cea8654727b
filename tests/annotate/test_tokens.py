"""Tokens: what they open, what ends them, and the page on which one makes them."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate import tokens
from annotate.errors import NotYours, Refused
from annotate.models import Event, Membership, Person, Role, Token
from tests.factories import NOW, make_cast, make_member, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    return make_cast()


@pytest.fixture
def ana(cast):
    return cast.ana


def make(member, name="my script"):
    return tokens.make_token(person=member.person, project=member.project, name=name)


# What a token opens


def test_a_token_is_found_by_its_secret_with_person_project_and_part(ana):
    token, secret = make(ana)
    found = tokens.find_token(secret)
    assert (found.pk, found.person, found.project, found.role) == (token.pk, ana.person, ana.project, "annotator")
    assert tokens.find_token(secret[:-1]) is None
    assert tokens.find_token("") is None


def test_the_secret_is_stored_nowhere(ana):
    token, secret = make(ana)
    row = Token.objects.filter(pk=token.pk).values().get()
    assert len(secret) >= 40
    assert secret not in repr(row)
    assert tokens.find_token(row["token_hash"]) is None
    assert secret not in repr(list(Event.objects.values()))


def test_two_tokens_of_one_name_have_secrets_of_their_own(ana):
    (_, first), (_, second) = make(ana), make(ana)
    assert first != second
    assert tokens.find_token(first).pk != tokens.find_token(second).pk


@pytest.mark.parametrize(
    "end",
    [
        lambda ana: Membership.objects.filter(pk=ana.pk).update(left_at=NOW),
        lambda ana: Membership.objects.filter(pk=ana.pk).update(role=Role.REVIEWER),
        lambda ana: Person.objects.filter(pk=ana.person_id).update(is_active=False),
        lambda ana: Token.objects.update(revoked_at=NOW),
    ],
    ids=["left", "another part", "account closed", "revoked"],
)
def test_a_token_opens_nothing_once_its_ground_is_gone(ana, end):
    _, secret = make(ana)
    assert tokens.find_token(secret)
    end(ana)
    assert tokens.find_token(secret) is None


def test_a_pause_leaves_the_token_and_who_comes_back_has_it_again(ana):
    _, secret = make(ana)
    Membership.objects.filter(pk=ana.pk).update(paused_at=NOW, left_at=NOW)
    assert tokens.find_token(secret) is None
    Membership.objects.filter(pk=ana.pk).update(left_at=None)
    assert tokens.find_token(secret)


def test_finding_takes_one_statement(ana, django_assert_num_queries):
    _, secret = make(ana)
    with django_assert_num_queries(1):
        found = tokens.find_token(secret)
        assert (found.person.username, found.project.slug) == ("ana", ana.project.slug)


def test_nobody_makes_a_token_for_a_project_of_others(cast):
    for person, project in ((cast.ana.person, cast.other_project), (make_person("max"), cast.project)):
        with pytest.raises(NotYours):
            tokens.make_token(person=person, project=project, name="x")
    Membership.objects.filter(pk=cast.ben.pk).update(left_at=NOW)
    with pytest.raises(NotYours):
        make(cast.ben)
    assert not Token.objects.exists()
    assert not Event.objects.exists()


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb", "a\0b"])
def test_a_name_that_says_nothing_or_cannot_be_shown_is_refused(ana, name):
    with pytest.raises(Refused) as refusal:
        make(ana, name)
    assert refusal.value.problem.field == "name"
    assert not Token.objects.exists()


def test_making_and_revoking_are_in_the_log_without_the_name(ana):
    token, _ = make(ana, "secret plans")
    tokens.revoke_token(person=ana.person, token_id=token.pk, now=timezone.now())
    events = list(Event.objects.order_by("pk").values_list("action", "project", "person", "detail"))
    detail = {"token": token.pk, "role": "annotator"}
    assert events == [
        ("token_made", ana.project_id, ana.person_id, detail),
        ("token_revoked", ana.project_id, ana.person_id, detail),
    ]


def test_revoking_twice_keeps_the_first_time_and_one_event(ana):
    token, _ = make(ana)
    for now in (NOW, timezone.now()):
        tokens.revoke_token(person=ana.person, token_id=token.pk, now=now)
    token.refresh_from_db()
    assert token.revoked_at == NOW
    assert Event.objects.filter(action="token_revoked").count() == 1


def test_nobody_revokes_a_token_of_somebody_else(cast):
    token, secret = make(cast.ana)
    for who in (cast.ben, cast.lea):
        with pytest.raises(NotYours):
            tokens.revoke_token(person=who.person, token_id=token.pk, now=NOW)
    assert tokens.find_token(secret)


# The page


SECRET = re.compile(r'id="new-secret"[^>]* value="([\w-]{40,})"')


def make_on_page(client, project, name="my script", **headers):
    return client.post(reverse("annotate:make_token"), {"project": project.slug, "name": name}, headers=headers)


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "piece"])
def test_a_new_token_shows_its_secret_once(client, ana, headers):
    client.force_login(ana.person)
    response = make_on_page(client, ana.project, **headers)
    assert response.status_code == 200
    html = response.content.decode()
    assert ("<html" in html) is not bool(headers)
    secret = SECRET.search(html)[1]
    assert tokens.find_token(secret).person == ana.person
    again = client.get(reverse("annotate:show_tokens")).content.decode()
    assert "my script" in again
    assert secret not in again


def test_the_page_lists_ones_own_tokens_and_nobody_elses(client, cast):
    make(cast.ana, "the first of ana")
    ended, _ = make(cast.ana, "one that is revoked")
    make(cast.ben, "one of ben")
    tokens.revoke_token(person=cast.ana.person, token_id=ended.pk, now=NOW)
    client.force_login(cast.ana.person)
    html = client.get(reverse("annotate:show_tokens")).content.decode()
    assert "the first of ana" in html
    assert cast.project.slug in html
    assert "annotator" in html
    assert "one of ben" not in html
    assert "one that is revoked" not in html


def test_the_page_says_which_token_opens_nothing_any_more(client, ana):
    make(ana)
    client.force_login(ana.person)
    words = "opens nothing now"
    assert words not in client.get(reverse("annotate:show_tokens")).content.decode()
    Membership.objects.filter(pk=ana.pk).update(role=Role.REVIEWER)
    assert words in client.get(reverse("annotate:show_tokens")).content.decode()


@pytest.mark.parametrize(
    ("project", "name"), [("ours", ""), ("ours", "x" * 101), ("ours", "a\x07b"), ("other", "x"), ("", "x")]
)
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "piece"])
def test_a_form_that_is_wrong_comes_back_with_what_was_typed(client, cast, project, name, headers):
    slug = {"ours": cast.project.slug, "other": cast.other_project.slug}.get(project, "")
    client.force_login(cast.ana.person)
    response = client.post(reverse("annotate:make_token"), {"project": slug, "name": name}, headers=headers)
    assert response.status_code == 422
    assert not Token.objects.exists()
    html = response.content.decode()
    assert "new-secret" not in html
    assert name == "" or f'value="{name}"' in html


def test_revoking_on_the_page_ends_the_token_at_once(client, ana):
    token, secret = make(ana)
    client.force_login(ana.person)
    response = client.post(reverse("annotate:revoke_token", args=[token.pk]))
    assert (response.status_code, response["Location"]) == (302, reverse("annotate:show_tokens"))
    assert tokens.find_token(secret) is None
    piece = client.post(reverse("annotate:revoke_token", args=[token.pk]), headers={"HX-Request": "true"})
    assert piece.content.strip().startswith(b'<section id="tokens">')


def test_a_token_of_somebody_else_is_the_one_404(client, cast):
    token, secret = make(cast.ben)
    client.force_login(cast.ana.person)
    answers = [client.post(reverse("annotate:revoke_token", args=[pk])) for pk in (token.pk, 999_999)]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    assert tokens.find_token(secret)


def test_a_person_without_a_part_is_told_so(client):
    client.force_login(make_person("max"))
    html = client.get(reverse("annotate:show_tokens")).content.decode()
    assert "You have no part in any project" in html
    assert "<select" not in html


def test_a_token_can_be_made_for_each_of_ones_projects(client, cast):
    zoe = make_member(cast.project, "zoe", Role.LEAD)
    client.force_login(zoe.person)
    html = make_on_page(client, cast.project).content.decode()
    found = tokens.find_token(SECRET.search(html)[1])
    assert (found.project, found.role) == (cast.project, "lead")
    assert f'value="{cast.other_project.slug}"' in html


@pytest.mark.parametrize("n", [1, 20])
def test_the_page_takes_a_fixed_number_of_statements(client, ana, django_assert_num_queries, n):
    for _ in range(n):
        make(ana)
    client.force_login(ana.person)
    with django_assert_num_queries(4):
        client.get(reverse("annotate:show_tokens"))
