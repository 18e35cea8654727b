"""What people do with their own account: each action whole or not at all, and what it leaves behind."""

import re
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.hashers import make_password
from django.utils import timezone, translation

from annotate import accounts
from annotate.errors import Refused, TooBusy
from annotate.models import Annotation, Assignment, Event, Invite, Membership, Person, Session, Token
from annotate.setting_up import hash_of
from tests.annotate.meeting import at_once
from tests.factories import NOW, make_cast, make_member, make_person, make_plan, make_project, make_submitted

pytestmark = pytest.mark.django_db
OLD, NEW = "a long enough sentence", "seven yellow kettles"
State = Assignment.State


@pytest.fixture
def ana(db):
    return make_person("ana", OLD, interface_language="zh-hans", time_zone="Asia/Shanghai")


def make_session(person, key):
    Session.objects.create(session_key=key, person=person, expire_date=timezone.now() + timedelta(days=1))


def keys_of(person):
    return {row.pk for row in Session.objects.filter(person=person)}


def events():
    return [(event.action, event.person and event.person.pk, event.detail) for event in Event.objects.order_by("pk")]


def link_for(person, now=None):
    return accounts.make_password_link(person=person, now=now or timezone.now())


# Settings, password, sessions


def test_preferences_are_kept_and_written_down(ana):
    accounts.change_preferences(person=ana, interface_language="en", time_zone="")
    ana.refresh_from_db()
    assert (ana.interface_language, ana.time_zone) == ("en", "")
    assert events() == [("preferences_changed", ana.pk, {})]


def test_a_new_password_ends_other_sessions_and_links(ana):
    ben = make_person("ben", OLD)
    for person, key in ((ana, "this-session"), (ana, "that-session"), (ben, "his-session")):
        make_session(person, key)
    secret = link_for(ana)
    assert accounts.change_password(person=ana, password=NEW, session_key="this-session", now=timezone.now())
    ana.refresh_from_db()
    assert ana.check_password(NEW)
    assert (keys_of(ana), keys_of(ben)) == ({"this-session"}, {"his-session"})
    assert accounts.person_of_link(secret, now=timezone.now()) is None
    assert events()[-1] == ("password_changed", ana.pk, {"sessions_ended": 1})


def test_a_password_that_changed_since_it_was_checked_is_not_changed_again(ana):
    make_session(ana, "that-session")
    checked = Person.objects.get()
    Person.objects.update(password=make_password("changed meanwhile"))
    assert not accounts.change_password(person=checked, password=NEW, session_key=None, now=timezone.now())
    assert Person.objects.get().check_password("changed meanwhile")
    assert keys_of(ana) == {"that-session"}
    assert events() == []


def test_signing_out_elsewhere_says_how_many(ana):
    for key in ("this-session", "that-session", "old-session"):
        make_session(ana, key)
    assert accounts.sign_out_elsewhere(person=ana, session_key="this-session") == 2
    assert keys_of(ana) == {"this-session"}
    assert events() == [("signed_out_elsewhere", ana.pk, {"sessions_ended": 2})]


# A forgotten password


def test_a_link_sets_a_password_once_and_ends_every_session(ana):
    make_session(ana, "some-session")
    secret = link_for(ana)
    assert len(secret) >= 43
    assert not Invite.objects.filter(token_hash__contains=secret[:10]).exists()
    assert accounts.person_of_link(secret, now=timezone.now()) == ana
    assert accounts.set_password_by_link(secret=secret, password=NEW, now=timezone.now()) == ana
    ana.refresh_from_db()
    assert ana.check_password(NEW)
    assert keys_of(ana) == set()
    link = Invite.objects.get()
    assert (link.spent_by, link.token_hash) == (ana, hash_of(secret))
    assert events() == [
        ("password_link_made", None, {"person": ana.pk, "invite": link.pk}),
        ("password_set_by_link", ana.pk, {"invite": link.pk, "sessions_ended": 1}),
    ]
    assert secret not in str(events())
    assert accounts.person_of_link(secret, now=timezone.now()) is None
    assert accounts.set_password_by_link(secret=secret, password="another one", now=timezone.now()) is None
    assert Person.objects.get().check_password(NEW)


@pytest.mark.parametrize("how", ["expired", "taken back", "replaced", "account closed", "edited", "for a project"])
def test_a_dead_link_sets_nothing(ana, how):
    secret = link_for(ana)
    if how == "expired":
        Invite.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "taken back":
        Invite.objects.update(revoked_at=NOW)
    elif how == "replaced":
        link_for(ana)
    elif how == "account closed":
        accounts.deactivate(person=ana, now=timezone.now())
    elif how == "edited":
        secret = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    else:
        Invite.objects.update(purpose="project", project=make_project(), role="lead", person=None)
    before = Person.objects.values().get()
    assert accounts.person_of_link(secret, now=timezone.now()) is None
    assert accounts.set_password_by_link(secret=secret, password=NEW, now=timezone.now()) is None
    assert Person.objects.values().get() == before


def test_a_link_is_good_for_a_day(ana):
    now = timezone.now()
    secret = link_for(ana, now)
    assert accounts.person_of_link(secret, now=now + timedelta(hours=23, minutes=59)) == ana
    assert accounts.person_of_link(secret, now=now + timedelta(days=1)) is None


@pytest.mark.parametrize("account", [{"is_active": False, "password": OLD}, {"password": None}])
def test_an_account_that_nobody_can_sign_in_to_gets_no_link(account):
    person = make_person("ben", **account)
    with pytest.raises(Refused) as refusal:
        link_for(person)
    assert refusal.value.problem.code == "no_password"
    assert "Nobody can sign in with the account ben" in str(refusal.value)
    assert not Invite.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_a_link_at_once_one_does():
    for _ in range(5):
        person = make_person(f"ana{Person.objects.count()}", OLD)
        secret = link_for(person)
        spend = partial(accounts.set_password_by_link, secret=secret, now=timezone.now())
        results = at_once(partial(spend, password=NEW), partial(spend, password="nine green bottles"))
        assert sorted(results, key=bool) == [None, person]
        person.refresh_from_db()
        assert person.check_password(NEW if results[0] else "nine green bottles")


def test_a_password_that_cannot_be_hashed_now_leaves_the_link_good(ana, monkeypatch):
    def too_busy(password):
        raise TooBusy

    secret = link_for(ana)
    monkeypatch.setattr(accounts, "make_password", too_busy)
    with pytest.raises(TooBusy):
        accounts.set_password_by_link(secret=secret, password=NEW, now=timezone.now())
    assert accounts.person_of_link(secret, now=timezone.now()) == ana


# The end of an account


def make_token(member, **fields):
    return Token.objects.create(
        person=member.person,
        project=member.project,
        role=member.role,
        name="mine",
        token_hash=hash_of(f"{member.pk} {member.person_id}"),
        **fields,
    )


def test_a_closed_account_keeps_its_labels_and_codes_and_nothing_to_be_known_by():
    cast = make_cast()
    ana = cast.ana.person
    Person.objects.filter(pk=ana.pk).update(
        password=make_password(OLD), time_zone="Asia/Shanghai", interface_language="zh-hans", last_login=NOW
    )
    ana.refresh_from_db()
    submitted = make_submitted(cast.ana)
    plan = make_plan(cast.ana, 3)
    bens = make_plan(cast.ben, 2)
    token, his = make_token(cast.ana), make_token(cast.ben)
    make_session(ana, "some-session")
    secret = link_for(ana)
    labels = list(Annotation.objects.values())

    accounts.deactivate(person=ana, now=NOW)

    ana.refresh_from_db()
    assert not ana.is_active
    assert not ana.has_usable_password()
    assert re.fullmatch("closed-[0-9a-f]{16}", ana.username)
    assert (ana.time_zone, ana.interface_language, ana.last_login, ana.may_create_projects) == ("", "", None, False)
    member = Membership.objects.get(pk=cast.ana.pk)
    assert (member.code, member.left_at, member.person) == (cast.ana.code, NOW, ana)
    assert list(Annotation.objects.values()) == labels
    assert Assignment.objects.get(pk=submitted.pk).state == State.SUBMITTED
    assert {Assignment.objects.get(pk=row.pk).state for row in plan} == {State.WITHDRAWN}
    assert [Assignment.objects.get(pk=row.pk).state for row in bens] == [State.OPEN, State.LOCKED]
    assert keys_of(ana) == set()
    token.refresh_from_db()
    his.refresh_from_db()
    assert (token.revoked_at, his.revoked_at) == (NOW, None)
    assert accounts.person_of_link(secret, now=timezone.now()) is None
    assert events()[-2:] == [("member_left", ana.pk, {"code": cast.ana.code}), ("account_closed", ana.pk, {})]
    assert [event.project for event in Event.objects.order_by("pk")][-2:] == [cast.project, None]


def test_every_part_in_every_project_ends(ana):
    projects = [make_project() for _ in range(3)]
    for project, role in zip(projects, ("annotator", "reviewer", "lead"), strict=True):
        make_member(project, ana, role)
        make_member(project, "lea", "lead")
    accounts.deactivate(person=ana, now=NOW)
    assert {member.left_at for member in ana.memberships.all()} == {NOW}
    assert not Membership.objects.exclude(person=ana).exclude(left_at=None).exists()


@pytest.mark.parametrize("other", ["nobody", "annotates", "left", "closed"])
def test_the_last_lead_of_a_project_cannot_close_their_account(ana, other):
    project = make_project(title_en="Kettles", title_zh="水壶")
    make_member(project, ana, "lead")
    shared = make_project(title_en="Shared")
    make_member(shared, ana, "lead")
    make_member(shared, "lea", "lead")
    if other != "nobody":
        role = "annotator" if other == "annotates" else "lead"
        ben = make_member(project, "ben", role, left_at=NOW if other == "left" else None).person
        Person.objects.filter(pk=ben.pk).update(is_active=other != "closed")
    make_session(ana, "some-session")
    before = Person.objects.filter(pk=ana.pk).values().get()
    for language, title in (("en", "Kettles"), ("zh-hans", "水壶")):
        with translation.override(language), pytest.raises(Refused) as refusal:
            accounts.deactivate(person=Person.objects.get(pk=ana.pk), now=NOW)
        assert refusal.value.problem.params == {"projects": title}
    assert refusal.value.problem.code == "last_lead"
    assert Person.objects.filter(pk=ana.pk).values().get() == before
    assert not ana.memberships.exclude(left_at=None).exists()
    assert keys_of(ana) == {"some-session"}
    assert events() == []


def test_who_led_a_project_they_left_can_close_their_account(ana):
    make_member(make_project(), ana, "lead", left_at=NOW - timedelta(days=1))
    accounts.deactivate(person=ana, now=NOW)
    assert not Person.objects.get(pk=ana.pk).is_active
    assert ana.memberships.get().left_at == NOW - timedelta(days=1)


def test_links_that_a_closed_account_gave_out_work_no_more(ana):
    project = make_project()
    make_member(project, ana, "lead")
    lea = make_member(project, "lea", "lead").person
    values = {"purpose": "project", "project": project, "role": "annotator", "expires_at": timezone.now()}
    mine, hers = (Invite.objects.create(created_by=who, token_hash=str(who.pk), **values) for who in (ana, lea))
    accounts.deactivate(person=ana, now=NOW)
    mine.refresh_from_db()
    hers.refresh_from_db()
    assert (mine.revoked_at, hers.revoked_at) == (NOW, None)


@pytest.mark.django_db(transaction=True)
def test_of_two_last_leads_who_close_their_accounts_at_once_one_stays():
    for _ in range(5):
        one, other = make_project(), make_project()
        people = [make_person(f"lead{Person.objects.count()}", OLD) for _ in range(2)]
        for person in people:
            for project in (one, other):
                make_member(project, person, "lead", code=f"l{person.pk}")
        results = at_once(*(partial(accounts.deactivate, person=person, now=NOW) for person in people))
        assert sorted(isinstance(result, Refused) for result in results) == [False, True], results
        for project in (one, other):
            assert project.memberships.filter(role="lead", left_at=None, person__is_active=True).count() == 1
