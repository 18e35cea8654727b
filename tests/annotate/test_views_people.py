"""The people of a project on the lead's page: the table, what can be done about each, links for more."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import inviting
from annotate.models import Assignment, Event, Invite, Membership, Person, Role
from tests.factories import (
    NOW,
    make_assignment,
    make_cast,
    make_member,
    make_person,
    make_plan,
    make_project,
    make_submitted,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
State = Assignment.State
ACTIONS = ["retire_member", "bring_back_member", "pause_member", "resume_member", "set_languages"]


@pytest.fixture
def cast(client, db):
    cast = make_cast()
    client.force_login(cast.lea.person)
    return cast


def page_of(cast):
    return reverse("annotate:show_people", args=[cast.project.slug])


def show(client, cast, **query):
    return client.get(page_of(cast), query)


def words(response):
    return html.unescape(response.content.decode())


def line(response, code):
    """The cells of a member's line, as text."""
    (row,) = [row for row in words(response).split("<tr") if f"<td>{code}</td>" in row]
    return [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<td.*?</td>", row, re.S)]


def act(client, cast, name, member, fields=None, headers=None):
    address = reverse(f"annotate:{name}", args=[cast.project.slug, member.pk])
    return client.post(address, fields or {}, headers=headers)


def invite(client, cast, headers=None, **fields):
    values = {"role": "annotator", "languages": ["en"], "note": "for Rosa", "days": "7", **fields}
    return client.post(reverse("annotate:make_invite", args=[cast.project.slug]), values, headers=headers)


# The table


def test_a_lead_sees_who_works_on_it_and_how_far_they_are(client, cast):
    make_submitted(cast.ana)
    make_plan(cast.ana)
    make_assignment(cast.ben, state=State.PROBLEM)
    response = show(client, cast)
    assert response.status_code == 200
    assert line(response, cast.ana.code)[:8] == [
        cast.ana.code, "ana", "annotator", "English, Chinese", "1", "4", "0", "active",
    ]  # fmt: skip
    assert line(response, cast.ben.code)[4:8] == ["0", "1", "1", "active"]
    assert line(response, cast.lea.code)[1:3] == ["lea", "lead"]
    assert "zoe" not in words(response)


def test_who_left_stays_on_the_list_as_partial_and_who_was_through_does_not_count_as_that(client, cast):
    make_submitted(cast.ana)
    make_plan(cast.ana)
    make_submitted(cast.ben)
    act(client, cast, "retire_member", cast.ana)
    act(client, cast, "retire_member", cast.ben)
    Membership.objects.filter(pk=cast.ana.pk).update(left_at=NOW)
    response = show(client, cast)
    assert line(response, cast.ana.code)[4:8] == ["1", "4", "0", "left on 2024-05-06 07:08 partial: 1 of 4"]
    assert line(response, cast.ben.code)[7].startswith("left ")
    assert "partial" not in line(response, cast.ben.code)[7]


def test_who_left_was_given_what_makes_them_partial_and_nothing_else(client, cast):
    make_submitted(cast.ana)
    make_plan(cast.ana, 2, language="zh")
    act(client, cast, "set_languages", cast.ana, {"languages": ["en"]})
    act(client, cast, "retire_member", cast.ana)
    found = line(show(client, cast), cast.ana.code)
    assert found[4:6] == ["1", "1"]
    assert "partial" not in found[7]


def test_what_was_withdrawn_with_a_language_is_not_assigned_any_more(client, cast):
    make_plan(cast.ana, 3, language="en")
    act(client, cast, "set_languages", cast.ana, {"languages": ["zh"]})
    assert line(show(client, cast), cast.ana.code)[3:6] == ["Chinese", "0", "0"]


def test_a_pause_and_a_closed_account_are_said(client, cast):
    act(client, cast, "pause_member", cast.ana)
    Membership.objects.filter(pk=cast.ana.pk).update(paused_at=NOW)
    Person.objects.filter(username="ben").update(is_active=False)
    response = show(client, cast)
    assert line(response, cast.ana.code)[7] == "paused since 2024-05-06 07:08"
    assert "account closed" in line(response, cast.ben.code)[7]


def test_an_empty_project_says_what_to_do_first(client):
    project = make_project()
    client.force_login(make_member(project, "lea", Role.LEAD).person)
    address = reverse("annotate:show_people", args=[project.slug])
    sentence = "Nobody labels here yet. Make a link below and send it to the first annotator."
    assert sentence in words(client.get(address))
    ana = make_member(project, "ana")
    assert sentence not in words(client.get(address))
    Membership.objects.filter(pk=ana.pk).update(left_at=NOW)
    assert sentence in words(client.get(address))


@pytest.mark.parametrize("n", [1, 12])
def test_the_number_of_statements_does_not_grow(client, cast, n, django_assert_num_queries):
    for place in range(n):
        member = make_member(cast.project, f"more-{place}")
        make_submitted(member)
        secret = inviting.make_invite(
            project=cast.project, role="annotator", languages=["en"], note="", by=cast.lea.person, now=timezone.now()
        )[1]
        if place % 2:
            inviting.join_project(secret=secret, person=make_person(f"new-{place}"), now=timezone.now())
    show(client, cast)
    with django_assert_num_queries(6):  # session, person, project, who left, members, links
        show(client, cast, member=cast.ana.pk)


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_nobody_but_a_lead_of_the_project_sees_or_changes_anything(client, cast, who):
    client.force_login(getattr(cast, who).person)
    missing = client.get("/no/such/page/")
    answers = [show(client, cast), invite(client, cast)]
    answers += [act(client, cast, name, cast.ben, {"languages": ["zh"]}) for name in ACTIONS]
    for response in answers:
        assert (response.status_code, response.content) == (404, missing.content)
    assert not Event.objects.exists()


# What can be done about a member


def test_the_changes_of_one_member_are_opened_without_script_too(client, cast):
    closed, opened = words(show(client, cast)), words(show(client, cast, member=cast.ana.pk))
    retire = reverse("annotate:retire_member", args=[cast.project.slug, cast.ana.pk])
    assert f"?member={cast.ana.pk}" in closed
    assert retire not in closed
    assert opened.count(f'action="{retire}"') == 1
    for wrong in ("999999", "x", "-1", "9" * 30, "٣"):
        assert words(show(client, cast, member=wrong)).count('<div class="panel">') == 0


@pytest.mark.parametrize("headers", [None, HTMX])
def test_pause_resume_retire_and_bring_back_by_post(client, cast, headers):
    make_plan(cast.ana)
    seen = []
    for name in ("pause_member", "resume_member", "retire_member", "bring_back_member"):
        response = act(client, cast, name, cast.ana, headers=headers)
        if headers:
            assert response.status_code == 200
            assert response.content.decode().strip().startswith('<section id="people">')
            assert "<html" not in response.content.decode()
        else:
            assert (response.status_code, response["Location"]) == (302, page_of(cast))
            response = show(client, cast)
        seen.append(line(response, cast.ana.code)[7].split()[0])
    assert seen == ["paused", "active", "left", "active"]
    actions = list(Event.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["member_paused", "member_resumed", "member_retired", "member_brought_back"]


@pytest.mark.parametrize("headers", [None, HTMX])
def test_languages_are_set_and_none_at_all_is_refused_with_what_was_ticked(client, cast, headers):
    act(client, cast, "set_languages", cast.ana, {"languages": ["zh"]}, headers)
    assert Membership.objects.get(pk=cast.ana.pk).languages == ["zh"]
    for posted in ({}, {"languages": ["tlh", "en"]}):
        response = act(client, cast, "set_languages", cast.ana, posted, headers)
        assert response.status_code == 422
        assert "At least one language of the project: en, zh." in words(response)
        ticked = re.findall(r'name="languages" value="(\w+)" checked', words(response).split('id="invites"')[0])
        assert ticked == [language for language in ("en", "zh") if language in posted.get("languages", [])]
    assert Membership.objects.get(pk=cast.ana.pk).languages == ["zh"]


@pytest.mark.parametrize("headers", [None, HTMX])
def test_the_last_lead_cannot_be_retired(client, cast, headers):
    response = act(client, cast, "retire_member", cast.lea, {"knowingly": "yes"}, headers)
    assert response.status_code == 422
    assert "A project has a lead; this is the last one. Invite another lead first." in words(response)
    assert Membership.objects.get(pk=cast.lea.pk).left_at is None


@pytest.mark.parametrize("headers", [None, HTMX])
def test_a_lead_who_ends_their_own_part_ticks_that_they_know_and_is_led_away(client, cast, headers):
    make_member(cast.project, "leo", Role.LEAD)
    assert 'name="knowingly"' in words(show(client, cast, member=cast.lea.pk))
    assert 'name="knowingly"' not in words(show(client, cast, member=cast.ana.pk))
    response = act(client, cast, "retire_member", cast.lea, headers=headers)
    assert response.status_code == 422
    assert "This is your own part" in words(response)
    response = act(client, cast, "retire_member", cast.lea, {"knowingly": "yes"}, headers)
    assert response.headers.get("HX-Redirect" if headers else "Location") == "/"
    assert "ana" not in words(response)
    assert show(client, cast).status_code == 404


def test_a_member_of_another_project_and_one_who_never_was_are_404(client, cast):
    zack = make_member(cast.other_project, "zack", Role.LEAD)
    for name in ACTIONS:
        for member in (cast.zoe, zack, Membership(pk=999_999)):
            assert act(client, cast, name, member, {"languages": ["zh"]}).status_code == 404


# Links


def link_in(response):
    return re.search(r'id="new-link"[^>]* value="http://testserver(/join/[^"]+/)"', words(response))[1]


@pytest.mark.parametrize("headers", [None, HTMX])
def test_a_link_is_shown_once_and_works(client, cast, headers):
    response = invite(client, cast, headers)
    assert response.status_code == 200
    assert ("<html" in words(response)) == (headers is None)
    assert "Copy it now: it is not shown again." in words(response)
    link = link_in(response)
    assert re.search(r"<input[^>]* readonly[^>]*>", words(response))
    assert link not in words(show(client, cast))
    assert Client().get(link).status_code == 200


def test_a_link_says_how_long_it_works_and_whom_it_is_for(client, cast):
    response = invite(client, cast, role="lead", days="3", note="for Leo <b>")
    made = Invite.objects.get()
    assert abs(made.expires_at - timezone.now() - timedelta(days=3)) < timedelta(minutes=1)
    until = f"{made.expires_at:%Y-%m-%d %H:%M}"
    assert words(response).count(until) == 2
    assert "a part as lead" in words(response)
    assert "for Leo &lt;b&gt;" in show(client, cast).content.decode()
    assert made.created_by == cast.lea.person


@pytest.mark.parametrize("headers", [None, HTMX])
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"role": "boss"}, "Select a valid choice."),
        ({"role": ""}, "This field is required."),
        ({"languages": []}, "This field is required."),
        ({"languages": ["tlh"]}, "Select a valid choice."),
        ({"note": "x" * 201}, "at most 200 characters"),
        ({"note": "a\0b"}, "Null characters are not allowed."),
        ({"note": "two\nlines"}, "A note of one line"),
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "61"}, "less than or equal to 60"),
        ({"days": "9" * 400}, ""),
        ({"days": "soon"}, "Enter a whole number."),
        ({"days": ""}, "This field is required."),
    ],
)
def test_a_refused_link_says_why_and_keeps_what_was_typed(client, cast, fields, sentence, headers):
    response = invite(client, cast, headers, **fields)
    assert response.status_code == 422
    assert sentence in words(response)
    assert 'id="new-link"' not in words(response)
    if "note" not in fields:
        assert 'value="for Rosa"' in words(response)
    assert not Invite.objects.exists()


@pytest.mark.parametrize("headers", [None, HTMX])
def test_open_links_are_listed_and_can_be_taken_back(client, cast, headers):
    link = link_in(invite(client, cast))
    made = Invite.objects.get()
    address = reverse("annotate:revoke_invite", args=[cast.project.slug, made.pk])
    assert address in words(show(client, cast))
    response = client.post(address, headers=headers)
    if headers is None:
        assert (response.status_code, response["Location"]) == (302, page_of(cast))
        response = show(client, cast)
    assert "taken back" in words(response)
    assert address not in words(response)
    assert Client().get(link).status_code == 404


def test_used_links_say_who_used_them_and_expired_ones_that_nobody_did(client, cast):
    now = timezone.now()
    options = {"project": cast.project, "role": "annotator", "languages": ["en"], "by": None, "now": now}
    _, secret = inviting.make_invite(note="used one", **options)
    inviting.join_project(secret=secret, person=make_person("rosa"), now=now)
    expired, _ = inviting.make_invite(note="late one", **options)
    Invite.objects.filter(pk=expired.pk).update(expires_at=NOW)
    used, late = re.findall(r"<tr><td>(?:used|late) one</td>.*?</tr>", words(show(client, cast)), re.S)[::-1]
    assert "used by rosa" in used
    assert "not used in time" in late
    assert "2024-05-06 07:08" in late


def test_a_link_of_another_project_is_not_listed_and_cannot_be_taken_back(client, cast):
    other, secret = inviting.make_invite(
        project=cast.other_project, role="annotator", languages=["en"], note="theirs", by=None, now=timezone.now()
    )
    assert "theirs" not in words(show(client, cast))
    for project in (cast.project, cast.other_project):
        address = reverse("annotate:revoke_invite", args=[project.slug, other.pk])
        assert client.post(address).status_code == 404
    assert inviting.find_invite(secret, timezone.now()) is not None


def test_nothing_is_changed_by_reading(client, cast):
    for name in ACTIONS:
        assert client.get(reverse(f"annotate:{name}", args=[cast.project.slug, cast.ana.pk])).status_code == 405
    assert client.get(reverse("annotate:make_invite", args=[cast.project.slug])).status_code == 405
    assert not Event.objects.exists()
