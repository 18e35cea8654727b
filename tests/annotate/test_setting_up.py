"""Projects, people and the first lead's link come to be whole or not at all."""

from datetime import timedelta

import pytest

from annotate import setting_up
from annotate.errors import Refused
from annotate.kinds.reply.kind import KIND
from annotate.models import Assignment, Event, Invite, Membership, Person, Project, Protocol, Role, Round
from tests.factories import NOW, make_cast, make_item, make_person, make_project

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough sentence"


def new(slug="replies", **fields):
    return setting_up.NewProject(slug=slug, title_en="Replies", title_zh="回复", seed=11, **fields)


def create(slug="replies", **fields):
    return setting_up.create_project(new=new(slug, **fields), by=None, now=NOW)


def refusal_of(call, *args, **kwargs):
    with pytest.raises(Refused) as refusal:
        call(*args, **kwargs)
    return refusal.value.problem


def test_a_new_project_has_its_first_protocol_an_open_round_and_an_event():
    project = create()
    assert (project.slug, project.title_zh, project.seed, project.languages) == ("replies", "回复", 11, ["en", "zh"])
    assert project.settings == {"text_beside_calls": "private", "show": "light"}
    assert (project.open_lead, project.is_synthetic) == (False, False)
    protocol = project.protocols.get()
    assert (protocol.number, protocol.guideline_en, protocol.guideline_zh) == (1, KIND.guideline_en, KIND.guideline_zh)
    assert protocol.label_schema == KIND.schema
    assert project.rounds.values_list("number", "purpose", "informed", "closed_at").get() == (1, "first", False, None)
    assert Event.objects.get().action == "project_created"


def test_a_name_that_is_taken_is_refused_and_leaves_nothing_behind():
    create()
    problem = refusal_of(create)
    assert (problem.code, problem.field) == ("duplicate_id", "slug")
    assert problem.as_dict()["expected"] == "There is a project replies already."
    assert [model.objects.count() for model in (Project, Protocol, Round, Event)] == [1, 1, 1, 1]


def test_an_unknown_kind_is_refused_with_those_there_are():
    problem = refusal_of(create, kind="Reply")
    assert (problem.code, problem.field) == ("unknown_kind", "kind")
    assert "reply" in problem.as_dict()["expected"]
    assert not Project.objects.exists()
    assert create(kind="reply").kind == "reply"


def test_an_annotator_who_joins_gets_their_plan():
    project = create()
    items = [make_item(project) for _ in range(3)]
    member = setting_up.add_member(project=project, person=make_person(), role=Role.ANNOTATOR, by=None, now=NOW)
    assert set(member.assignments.values_list("item", flat=True)) == {item.pk for item in items}
    assert sorted(member.assignments.values_list("state", flat=True)) == ["locked", "locked", "open"]
    event = Event.objects.get(action="member_added")
    assert event.detail == {"code": "a1", "role": "annotator"}


def test_an_annotator_has_their_place_and_their_plan_or_neither(monkeypatch):
    project = create()
    make_item(project)

    def cut_off(**options):
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr("annotate.setting_up.assigning.extend_plan", cut_off)
        with pytest.raises(KeyboardInterrupt):
            setting_up.add_member(project=project, person=make_person(), role=Role.ANNOTATOR, by=None, now=NOW)
    assert not Membership.objects.exists()
    assert not Event.objects.filter(action="member_added").exists()


def test_a_lead_who_joins_gets_none():
    project = create()
    make_item(project)
    setting_up.add_member(project=project, person=make_person("lea"), role=Role.LEAD, by=None, now=NOW)
    assert not Assignment.objects.exists()


def test_codes_count_by_role_and_can_be_chosen():
    project = create()
    for name, role, code in (("ana", Role.ANNOTATOR, ""), ("ben", Role.ANNOTATOR, ""), ("lea", Role.LEAD, "boss")):
        setting_up.add_member(project=project, person=make_person(name), role=role, code=code, by=None, now=NOW)
    assert list(Membership.objects.order_by("pk").values_list("code", flat=True)) == ["a1", "a2", "boss"]


def test_one_person_has_one_part_in_a_project_and_may_have_another_elsewhere():
    project, person = create(), make_person()
    setting_up.add_member(project=project, person=person, role=Role.ANNOTATOR, by=None, now=NOW)
    problem = refusal_of(setting_up.add_member, project=project, person=person, role=Role.LEAD, by=None, now=NOW)
    assert (problem.code, problem.field) == ("duplicate_id", "person")
    assert problem.as_dict()["expected"].startswith("ana has a part in this project already")
    assert Membership.objects.get().role == Role.ANNOTATOR
    assert Event.objects.filter(action="member_added").count() == 1
    setting_up.add_member(project=create("other"), person=person, role=Role.LEAD, by=None, now=NOW)
    assert Membership.objects.count() == 2


def test_a_code_that_is_taken_is_refused():
    cast = make_cast()
    problem = refusal_of(
        setting_up.add_member,
        project=cast.project,
        person=make_person("cem"),
        role=Role.ANNOTATOR,
        code=cast.ana.code,
        by=None,
        now=NOW,
    )
    assert (problem.code, problem.field) == ("duplicate_id", "person")
    assert not Membership.objects.filter(person__username="cem").exists()


# The first lead


def set_up(secret, name="lea", now=NOW):
    return setting_up.set_up_first_lead(secret=secret, username=name, password=PASSWORD, now=now)


def test_the_link_makes_one_account_that_may_create_projects():
    secret = setting_up.first_lead_secret(now=NOW)
    assert setting_up.find_set_up(secret, now=NOW) == Invite.objects.get()
    person = set_up(secret)
    assert person.may_create_projects
    assert person.check_password(PASSWORD)
    assert Invite.objects.get().spent_at == NOW
    assert Event.objects.get().action == "first_lead_set_up"


def test_the_secret_is_not_stored():
    secret = setting_up.first_lead_secret(now=NOW)
    invite = Invite.objects.values().get()
    assert len(secret) >= 32
    assert secret not in str(invite)
    assert invite["token_hash"] == setting_up.hash_of(secret)


def test_a_link_works_once():
    secret = setting_up.first_lead_secret(now=NOW)
    assert set_up(secret) is not None
    assert setting_up.find_set_up(secret, now=NOW) is None
    assert set_up(secret, "eve") is None
    assert Person.objects.count() == 1


def test_a_link_lasts_seven_days():
    secret = setting_up.first_lead_secret(now=NOW)
    late = NOW + timedelta(days=setting_up.SET_UP_DAYS)
    assert setting_up.find_set_up(secret, now=late) is None
    assert set_up(secret, now=late) is None
    assert not Person.objects.exists()
    assert set_up(secret, now=late - timedelta(seconds=1)) is not None


def test_an_edited_link_and_one_for_another_purpose_make_no_account():
    secret = setting_up.first_lead_secret(now=NOW)
    Invite.objects.create(
        token_hash=setting_up.hash_of("a place in a project"),
        purpose="project",
        project=make_project(),
        role=Role.LEAD,
        expires_at=NOW + timedelta(days=1),
    )
    for wrong in (secret[:-1], secret + "x", secret.swapcase(), "", setting_up.hash_of(secret), "a place in a project"):
        assert setting_up.find_set_up(wrong, now=NOW) is None
        assert set_up(wrong) is None
    assert not Person.objects.exists()
    assert set_up(secret) is not None


def test_a_new_link_ends_the_older_one():
    older, newer = (setting_up.first_lead_secret(now=NOW) for _ in range(2))
    assert setting_up.find_set_up(older, now=NOW) is None
    assert setting_up.find_set_up(newer, now=NOW) is not None


def test_there_is_no_link_once_somebody_may_create_projects():
    make_person("ana")
    assert setting_up.first_lead_secret(now=NOW) is not None
    make_person("lea", may_create_projects=True)
    before = Invite.objects.count()
    assert setting_up.first_lead_secret(now=NOW) is None
    assert Invite.objects.count() == before
