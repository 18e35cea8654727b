"""A link gives one person one part, once, in time, or nothing at all."""

from datetime import timedelta
from functools import partial

import pytest

from annotate import accounts, assigning, inviting, people, setting_up
from annotate.errors import NotYours, Refused
from annotate.models import Assignment, Event, Invite, Membership, Person, Role
from tests.annotate.meeting import at_once, under_way
from tests.factories import NOW, make_cast, make_item, make_member, make_person, make_project, make_trace

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough sentence"
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def cast(db):
    return make_cast()


def invite(cast, role="annotator", languages=("en",), note="for Rosa", **more):
    """A link by lea and its secret."""
    more = {"project": cast.project, "by": cast.lea.person, "now": NOW, **more}
    return inviting.make_invite(role=role, languages=languages, note=note, **more)


def secret_of(cast, **more):
    return invite(cast, **more)[1]


def join(secret, name="rosa", now=LATER):
    person = Person.objects.filter(username=name).first() or make_person(name)
    return inviting.join_project(secret=secret, person=person, now=now)


def join_new(secret, name="rosa", now=LATER):
    return inviting.join_with_new_account(secret=secret, username=name, password=PASSWORD, now=now)


def refusal_of(call, *args, **kwargs):
    with pytest.raises(Refused) as refusal:
        call(*args, **kwargs)
    return refusal.value.problem


# Making one


def test_a_link_says_who_made_it_for_whom_and_how_long_it_works(cast):
    made, secret = invite(cast, languages=["zh", "en"])
    assert (made.role, made.languages, made.note, made.created_by) == (
        "annotator", ["en", "zh"], "for Rosa", cast.lea.person,
    )  # fmt: skip
    assert made.expires_at == NOW + timedelta(days=7)
    assert inviting.find_invite(secret, NOW) == made
    event = Event.objects.get()
    assert (event.project, event.person, event.action) == (cast.project, cast.lea.person, "invite_made")
    assert event.detail == {"invite": made.pk, "role": "annotator", "days": 7}


def test_the_secret_is_told_once_and_not_stored(cast):
    made, secret = invite(cast)
    assert len(secret) >= 32
    assert Invite.objects.get().token_hash == setting_up.hash_of(secret)
    stored = [*Invite.objects.values(), *Event.objects.values()]
    assert secret not in str(stored)
    assert secret not in str(vars(made))


@pytest.mark.parametrize("days", [1, 60])
def test_how_many_days_it_works_can_be_chosen(cast, days):
    secret = secret_of(cast, days=days)
    end = NOW + timedelta(days=days)
    assert inviting.find_invite(secret, end - timedelta(seconds=1)) is not None
    assert inviting.find_invite(secret, end) is None


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("role", {"role": "boss"}),
        ("role", {"role": ""}),
        ("languages", {"languages": []}),
        ("languages", {"languages": ["tlh"]}),
        ("languages", {"languages": ["en", "tlh"]}),
        ("note", {"note": "x" * 201}),
        ("note", {"note": "two\nlines"}),
        ("note", {"note": "a\0b"}),
        ("days", {"days": 0}),
        ("days", {"days": 61}),
    ],
)
def test_what_no_link_can_say_is_refused_and_none_is_made(cast, field, more):
    problem = refusal_of(invite, cast, **more)
    assert problem.field == field
    assert problem.as_dict()["expected"]
    assert not Invite.objects.exists()
    assert not Event.objects.exists()
    assert invite(cast)[0].pk


def test_a_note_may_be_in_any_language(cast):
    note = "给罗莎\u3000（周五前）🙂"
    assert invite(cast, note=note)[0].note == note


def test_a_reviewer_or_lead_of_whom_no_language_is_said_has_those_of_the_project(cast):
    for role in ("reviewer", "lead"):
        assert invite(cast, role=role, languages=[])[0].languages == ["en", "zh"]


def test_only_a_lead_of_the_project_makes_one(cast):
    for member in (cast.ana, cast.rita, cast.zoe):
        with pytest.raises(NotYours):
            invite(cast, by=member.person)
    Membership.objects.filter(pk=cast.lea.pk).update(left_at=NOW)
    with pytest.raises(NotYours):
        invite(cast)
    assert not Invite.objects.exists()
    assert invite(cast, by=None)[0].created_by is None  # a command, which nobody in particular gives


# Using it


def test_who_is_signed_in_gets_the_part_with_its_plan(cast):
    make_item(trace=make_trace(cast.project, language="zh"))
    items = [make_item(trace=make_trace(cast.project, language="en")) for _ in range(3)]
    made, secret = invite(cast)
    member = join(secret)
    assert (member.project, member.role, member.code, member.languages) == (cast.project, "annotator", "a3", ["en"])
    assert set(member.assignments.values_list("item", flat=True)) == {item.pk for item in items}
    assert sorted(member.assignments.values_list("state", flat=True)) == ["locked", "locked", "open"]
    made.refresh_from_db()
    assert (made.spent_at, made.spent_by) == (LATER, member.person)
    event = Event.objects.get(action="member_joined")
    assert (event.person, event.detail) == (
        member.person, {"code": "a3", "role": "annotator", "invite": made.pk},
    )  # fmt: skip


def test_somebody_new_gets_account_and_part_at_once(cast):
    member = join_new(secret_of(cast))
    assert member.person.check_password(PASSWORD)
    assert not member.person.may_create_projects
    assert Invite.objects.get().spent_by == member.person


def test_account_part_plan_and_spending_happen_together_or_not_at_all(cast, monkeypatch):
    secret = secret_of(cast)

    def cut_off(**options):
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr("annotate.inviting.assigning.fit_plan", cut_off)
        with pytest.raises(KeyboardInterrupt):
            join_new(secret)
    assert not Person.objects.filter(username="rosa").exists()
    assert Membership.objects.filter(project=cast.project).count() == 4
    assert inviting.find_invite(secret, LATER) is not None
    assert join_new(secret) is not None


@pytest.mark.parametrize(("role", "open_lead", "is_planned"), [
    ("annotator", False, True), ("reviewer", True, False), ("lead", False, False), ("lead", True, True),
])  # fmt: skip
def test_only_who_labels_gets_a_plan(role, open_lead, is_planned):
    cast = make_cast(open_lead=open_lead)
    make_item(cast.project)
    member = join(secret_of(cast, role=role))
    assert member.role == role
    assert member.assignments.exists() == is_planned


def test_who_joins_later_reads_the_same_items_in_an_order_of_their_own(cast):
    for _ in range(8):
        trace = make_trace(cast.project)
        for reply in (3, 5):
            make_item(trace=trace, reply=reply)
    assigning.extend_panel(project=cast.project, now=NOW)
    members = [cast.ana, join(secret_of(cast), "rosa"), join(secret_of(cast), "tim")]
    ana, rosa, tim = (
        list(member.assignments.order_by("order").values_list("item__trace", "item__anchor")) for member in members
    )
    assert sorted(ana) == sorted(rosa) == sorted(tim)
    assert ana != rosa != tim != ana
    for plan in (rosa, tim):  # inside a collaboration in reading order
        assert [anchor for _, anchor in plan] == [3, 5] * 8


def test_codes_are_free_whatever_codes_were_chosen_before(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(code="a4")
    assert [join(secret_of(cast), name).code for name in ("rosa", "tim", "uma")] == ["a3", "a5", "a6"]


def drop(project, *languages):
    project.languages = [language for language in project.languages if language not in languages]
    project.save()


def test_languages_that_the_project_dropped_meanwhile_are_not_given(cast):
    secret = secret_of(cast, languages=["en", "zh"])
    drop(cast.project, "zh")
    assert join(secret).languages == ["en"]


@pytest.mark.parametrize("how", [join, join_new])
def test_a_link_of_whose_languages_the_project_has_none_any_more_is_refused_and_stays(cast, how):
    secret = secret_of(cast, languages=["zh"])
    drop(cast.project, "zh")
    problem = refusal_of(how, secret)
    assert problem.code == "no_language"
    assert problem.as_dict()["expected"] == "The project does not have the languages of this invitation any more."
    assert not Membership.objects.filter(project=cast.project, person__username="rosa").exists()
    assert inviting.find_invite(secret, LATER) is not None


# What makes it work no more


def test_a_link_works_once(cast):
    secret = secret_of(cast)
    assert join(secret) is not None
    assert inviting.find_invite(secret, LATER) is None
    assert join(secret, "tim") is None
    assert join_new(secret, "uma") is None
    assert Membership.objects.filter(project=cast.project).count() == 5
    assert not Person.objects.filter(username="uma").exists()


def test_a_link_that_ran_out_was_taken_back_or_is_for_something_else_opens_nothing(cast):
    late = NOW + timedelta(days=7)
    secret, revoked = secret_of(cast), secret_of(cast)
    inviting.revoke_invite(project=cast.project, invite_id=Invite.objects.last().pk, by=cast.lea.person, now=NOW)
    set_up = "a set-up link of the first lead"
    Invite.objects.create(token_hash=setting_up.hash_of(set_up), purpose="set_up", expires_at=late)
    tries = [(secret, late), (revoked, LATER), (set_up, LATER), (secret[:-1], LATER), (secret + "x", LATER)]
    tries += [(secret.swapcase(), LATER), (setting_up.hash_of(secret), LATER), ("", LATER)]
    before = Person.objects.count()
    for bad, now in tries:
        assert inviting.find_invite(bad, now) is None
        assert join(bad, "zoe", now=now) is None
        assert join_new(bad, now=now) is None
    assert Person.objects.count() == before
    assert Membership.objects.filter(project=cast.project).count() == 4
    assert join(secret, now=late - timedelta(seconds=1)) is not None


def test_a_link_opens_its_own_project_only(cast):
    member = join(secret_of(cast), "zoe")
    assert member.project == cast.project
    assert Membership.objects.filter(person=cast.zoe.person).count() == 2
    assert Membership.objects.filter(project=cast.other_project).count() == 1


@pytest.mark.parametrize("who", ["ana", "rita", "lea"])
def test_who_has_a_part_is_told_so_and_the_link_stays_good(cast, who):
    secret = secret_of(cast, role="lead")
    problem = refusal_of(join, secret, who)
    assert problem.as_dict()["expected"] == "You have a part in this project already."
    assert Membership.objects.get(project=cast.project, person__username=who).role == getattr(cast, who).role
    assert inviting.find_invite(secret, LATER) is not None
    assert join(secret, "rosa").role == "lead"


def test_who_left_comes_back_by_a_lead_and_not_by_a_link(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(left_at=NOW)
    secret = secret_of(cast)
    assert refusal_of(join, secret, "ben").code == "has_left"
    assert Membership.objects.get(pk=cast.ben.pk).left_at == NOW
    assert inviting.find_invite(secret, LATER) is not None


def test_a_name_that_somebody_else_took_meanwhile_is_refused_and_the_link_stays_good(cast):
    secret = secret_of(cast)
    problem = refusal_of(join_new, secret, "ana")
    assert (problem.field, problem.as_dict()["expected"]) == ("username", "This name is taken. Choose another.")
    assert inviting.find_invite(secret, LATER) is not None


# Taking it back


def test_a_lead_takes_a_link_back_once(cast):
    made, secret = invite(cast)
    options = {"project": cast.project, "invite_id": made.pk, "by": cast.lea.person, "now": LATER}
    assert inviting.revoke_invite(**options)
    assert inviting.find_invite(secret, LATER) is None
    assert not inviting.revoke_invite(**options)
    assert Event.objects.filter(action="invite_revoked").count() == 1


def test_a_used_link_cannot_be_taken_back(cast):
    made, secret = invite(cast)
    join(secret)
    assert not inviting.revoke_invite(project=cast.project, invite_id=made.pk, by=cast.lea.person, now=LATER)
    made.refresh_from_db()
    assert made.revoked_at is None


def test_nobody_else_takes_it_back(cast):
    made, secret = invite(cast)
    other = make_project()
    for person, project in ((cast.ana.person, cast.project), (cast.zoe.person, cast.project), (cast.lea.person, other)):
        with pytest.raises(NotYours):
            inviting.revoke_invite(project=project, invite_id=made.pk, by=person, now=LATER)
    Membership.objects.create(project=other, person=cast.lea.person, role=Role.LEAD, code="l1")
    with pytest.raises(NotYours):
        inviting.revoke_invite(project=other, invite_id=made.pk, by=cast.lea.person, now=LATER)
    assert inviting.find_invite(secret, LATER) == made


# At the same moment


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", [join, join_new])
def test_a_link_used_twice_at_the_same_moment_gives_one_part(how):
    for attempt in range(5):
        cast = make_cast()
        make_item(cast.project)
        secret = secret_of(cast)
        names = [f"{name}{attempt}" for name in ("rosa", "tim", "uma")]
        if how is join:
            for name in names:
                make_person(name)
        results = at_once(*(partial(how, secret, name) for name in names))
        assert sum(result is not None for result in results) == 1, results
        (member,) = [result for result in results if result is not None]
        assert Membership.objects.filter(project=cast.project).count() == 5
        assert Person.objects.filter(username__in=names).count() == (3 if how is join else 1)
        assert Assignment.objects.filter(item__project=cast.project).count() == 1
        assert Invite.objects.get(project=cast.project).spent_by == member.person


@pytest.mark.django_db(transaction=True)
def test_the_same_form_sent_twice_at_once_makes_one_account_and_one_part():
    cast = make_cast()
    secret = secret_of(cast)
    results = at_once(*[partial(join_new, secret)] * 3)
    assert sum(result is not None for result in results) == 1, results
    assert Person.objects.filter(username="rosa").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_links_used_at_the_same_moment_give_two_parts_with_codes_of_their_own():
    cast = make_cast()
    secrets = [secret_of(cast) for _ in range(3)]
    results = at_once(*(partial(join_new, secret, f"new{place}") for place, secret in enumerate(secrets)))
    assert sorted(member.code for member in results) == ["a3", "a4", "a5"]


@pytest.mark.django_db(transaction=True)
def test_one_person_with_two_links_at_the_same_moment_gets_one_part():
    cast = make_cast()
    secrets = [secret_of(cast) for _ in range(2)]
    make_person("rosa")
    first, second = under_way(lambda: join(secrets[0]), lambda: join(secrets[1]))
    assert isinstance(first, Membership)
    assert isinstance(second, Refused)
    assert [inviting.find_invite(secret, LATER) is None for secret in secrets] == [True, False]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_link_taken_back_while_it_is_used_is_either_used_or_taken_back(is_first):
    cast = make_cast()
    made, secret = invite(cast)
    make_person("rosa")
    take_back = partial(inviting.revoke_invite, project=cast.project, invite_id=made.pk, by=cast.lea.person, now=LATER)
    use = partial(join, secret)
    if is_first:
        member, is_revoked = under_way(use, take_back)
    else:
        is_revoked, member = under_way(take_back, use)
    assert (member is not None, is_revoked) == (is_first, not is_first)
    made.refresh_from_db()
    assert (made.spent_at is None, made.revoked_at is None) == (not is_first, is_first)


def retire_lead(cast, member):
    return people.retire_member(project=cast.project, member_id=member.pk, by=cast.lea.person, now=LATER)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", ["retired", "closed"])
def test_links_used_while_their_maker_leaves_are_used_or_dead_and_nobody_waits_for_ever(how):
    for attempt in range(8):
        cast = make_cast()
        kim = make_member(cast.project, f"kim{attempt}", Role.LEAD)
        secrets = [secret_of(cast, by=kim.person) for _ in range(4)]
        joins = [partial(inviting.join_project, secret=secret, person=make_person(f"p{attempt}-{place}"), now=LATER)
                 for place, secret in enumerate(secrets)]  # fmt: skip
        leave = {
            "retired": partial(retire_lead, cast, kim),
            "closed": partial(accounts.deactivate, person=kim.person, now=LATER),
        }[how]
        *members, left = at_once(*joins, leave)
        assert left is (True if how == "retired" else None)
        assert all(member is None or isinstance(member, Membership) for member in members), members
        n_used = sum(member is not None for member in members)
        assert Membership.objects.filter(project=cast.project).count() == 5 + n_used
        links = Invite.objects.filter(project=cast.project)
        assert (links.filter(revoked_at=None).count(), links.filter(spent_at=None).count()) == (n_used, 4 - n_used)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", ["lead", "annotator"])
def test_a_lead_who_is_retired_while_making_or_taking_back_a_link_does_neither(role):
    cast = make_cast()
    kim = make_member(cast.project, "kim", Role.LEAD)
    made, _ = invite(cast)
    take_back = partial(inviting.revoke_invite, project=cast.project, invite_id=made.pk, by=kim.person, now=LATER)
    make = partial(invite, cast, by=kim.person, role=role)
    for act in (make, take_back):
        is_retired, refused = under_way(lambda: retire_lead(cast, kim), act)
        assert is_retired is True
        assert isinstance(refused, NotYours)
        Membership.objects.filter(pk=kim.pk).update(left_at=None)
    made.refresh_from_db()
    assert made.revoked_at is None
    assert Invite.objects.count() == 1
