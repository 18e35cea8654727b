"""Projects, people and the first lead's link come to be whole or not at all."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from annotate import assigning, people, setting_up
from annotate.errors import NotYours, Refused
from annotate.kinds.reply.kind import KIND
from annotate.models import Assignment, Event, ImportBatch, Invite, Membership, Person, Project, Protocol, Role, Round
from tests.annotate.meeting import at_once, under_way
from tests.factories import (
    NOW,
    make_assignment,
    make_batch,
    make_cast,
    make_item,
    make_member,
    make_person,
    make_project,
    make_submitted,
    make_trace,
)

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


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"slug": "two words"}, "wrong_type", "slug"),
        ({"slug": "-_"}, "wrong_type", "slug"),
        ({"slug": "x" * 61}, "wrong_type", "slug"),
        ({"languages": ()}, "unknown_value", "languages"),
        ({"languages": ("en", "de")}, "unknown_value", "languages"),
        ({"text_beside_calls": "shown"}, "unknown_value", "text_beside_calls"),
        ({"show": "Light"}, "unknown_value", "show"),
        ({"open_phase": "later"}, "unknown_value", "open_phase"),
    ],
)
def test_a_value_that_is_none_there_is_is_refused_by_name(fields, code, field):
    problem = refusal_of(create, **fields)
    assert (problem.code, problem.field) == (code, field)
    assert not Project.objects.exists()
    assert create().slug == "replies"


@pytest.mark.parametrize(("title", "code"), [(" ", "missing_field"), ("x" * 201, "too_many")])
def test_a_project_has_titles_that_fit(title, code):
    one = replace(new(), title_zh=title)
    problem = refusal_of(setting_up.create_project, new=one, by=None, now=NOW)
    assert (problem.code, problem.field) == (code, "title_zh")
    assert not Project.objects.exists()


def test_a_project_can_begin_otherwise():
    project = create(text_beside_calls="visible", show="plain", open_lead=True, open_phase="practice")
    assert project.settings == {"text_beside_calls": "visible", "show": "plain"}
    assert (project.open_lead, project.open_phase) == (True, "practice")


def test_who_makes_a_project_leads_it():
    lea = make_person("lea", may_create_projects=True)
    project = setting_up.create_project(new=new(languages=("zh",)), by=lea, now=NOW)
    member = project.memberships.get()
    assert (member.person, member.role, member.code, member.languages) == (lea, "lead", "l1", ["zh"])
    assert list(Event.objects.order_by("pk").values_list("action", "person")) == [
        ("project_created", lea.pk),
        ("member_added", lea.pk),
    ]


def test_a_project_and_its_lead_are_made_both_or_neither(monkeypatch):
    lea = make_person("lea", may_create_projects=True)

    def cut_off(**options):
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr("annotate.setting_up.add_member", cut_off)
        with pytest.raises(KeyboardInterrupt):
            setting_up.create_project(new=new(), by=lea, now=NOW)
    assert not Project.objects.exists()
    assert not Event.objects.exists()


def test_who_may_not_create_projects_makes_none():
    with pytest.raises(NotYours):
        setting_up.create_project(new=new(), by=make_person("ana"), now=NOW)
    assert not Project.objects.exists()


def test_a_lead_who_joins_where_leads_label_gets_a_plan():
    project = create(open_lead=True)
    item = make_item(project)
    member = setting_up.add_member(project=project, person=make_person("lea"), role=Role.LEAD, by=None, now=NOW)
    assert member.assignments.get().item == item


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


# Settings of a project that is there


def change(cast, by=None, **fields):
    settings = replace(setting_up.settings_of(Project.objects.get(pk=cast.project.pk)), **fields)
    return setting_up.update_project(project=cast.project, new=settings, by=by or cast.lea.person, now=NOW)


def now_of(cast):
    return Project.objects.get(pk=cast.project.pk)


def test_a_lead_changes_the_settings_and_the_log_says_which():
    cast = make_cast(settings={"text_beside_calls": "private", "show": "light"})
    seed, kind = cast.project.seed, cast.project.kind
    change(cast, title_en="New", show="plain", text_beside_calls="visible")
    project = now_of(cast)
    assert (project.title_en, project.settings) == ("New", {"text_beside_calls": "visible", "show": "plain"})
    assert (project.seed, project.kind) == (seed, kind)
    event = Event.objects.get(action="project_changed")
    assert (event.project, event.person) == (cast.project, cast.lea.person)
    assert event.detail == {
        "changed": ["title_en", "show", "text_beside_calls"],
        "show": "plain",
        "text_beside_calls": "visible",
    }


def test_a_change_that_changes_nothing_is_no_event():
    cast = make_cast()
    change(cast)
    assert not Event.objects.exists()


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_only_a_lead_changes_a_project(who):
    cast = make_cast()
    for act in (
        lambda by: change(cast, by=by, show="plain"),
        lambda by: open_phase(cast, "pilot", by=by),
        lambda by: next_protocol(cast, by=by),
    ):
        with pytest.raises(NotYours):
            act(getattr(cast, who).person)
    assert not Event.objects.exists()


def test_a_value_that_is_none_there_is_changes_nothing():
    cast = make_cast()
    for field, value in (("show", "bold"), ("languages", ()), ("title_en", ""), ("text_beside_calls", "")):
        assert refusal_of(change, cast, **{field: value}).field == field
    assert not Event.objects.exists()


@pytest.mark.parametrize("state", ["a trace", "a file on its way in"])
def test_what_traces_were_read_with_cannot_be_changed_any_more(state):
    cast = make_cast()
    if state == "a trace":
        make_trace(cast.project)
    else:
        make_batch(cast.project, state=ImportBatch.State.STAGED)
    problem = refusal_of(change, cast, text_beside_calls="visible", show="plain")
    assert (problem.code, problem.field) == ("decided_at_import", "text_beside_calls")
    assert now_of(cast).settings == cast.project.settings
    change(cast, show="plain")
    assert now_of(cast).settings["show"] == "plain"


def test_what_a_refused_file_was_read_with_can_be_changed():
    cast = make_cast()
    make_batch(cast.project, state=ImportBatch.State.REFUSED)
    change(cast, text_beside_calls="visible")
    assert now_of(cast).settings["text_beside_calls"] == "visible"


def test_a_language_that_traces_or_people_use_is_not_removed():
    cast = make_cast()
    make_trace(cast.project, language="zh")
    Membership.objects.filter(pk=cast.ana.pk).update(languages=["en"])
    problem = refusal_of(change, cast, languages=("en",))
    assert (problem.code, problem.field) == ("in_use", "languages")
    assert problem.params == {"language": "zh", "traces": 1, "members": 3}
    assert now_of(cast).languages == ["en", "zh"]


def test_a_language_that_nobody_uses_is_removed_and_one_is_added_freely():
    cast = make_cast()
    make_trace(cast.project, language="en")
    Membership.objects.filter(project=cast.project).exclude(pk=cast.rita.pk).update(languages=["en"])
    Membership.objects.filter(pk=cast.rita.pk).update(left_at=NOW)
    change(cast, languages=("en",))
    assert now_of(cast).languages == ["en"]
    change(cast, languages=("en", "zh"))
    assert now_of(cast).languages == ["en", "zh"]


def test_leads_get_their_plans_when_they_may_label_and_lose_them_again():
    cast = make_cast()
    item = make_item(cast.project)
    lee = make_member(cast.project, "lee", Role.LEAD)
    gone = make_member(cast.project, "gone", Role.LEAD, left_at=NOW)
    change(cast, open_lead=True)
    for lead in (cast.lea, lee):
        assert lead.assignments.values_list("item", "state").get() == (item.pk, "open")
    assert not gone.assignments.exists()
    assert not cast.ana.assignments.exists()
    change(cast, open_lead=False)
    assert set(Assignment.objects.values_list("state", flat=True)) == {"withdrawn"}
    change(cast, open_lead=True)
    assert set(Assignment.objects.values_list("state", flat=True)) == {"open"}


def test_where_a_lead_has_labelled_it_stays_so():
    cast = make_cast(open_lead=True)
    make_submitted(cast.lea)
    waiting = make_assignment(cast.lea)
    problem = refusal_of(change, cast, open_lead=False)
    assert (problem.code, problem.field, problem.params) == ("in_use", "open_lead", {"n": 1})
    assert now_of(cast).open_lead
    waiting.refresh_from_db()
    assert waiting.state == "open"
    make_submitted(cast.ana)
    Assignment.objects.filter(annotator=cast.lea, state="submitted").update(state="problem")
    change(cast, open_lead=False)
    assert not now_of(cast).open_lead


# Phases


def open_phase(cast, phase, by=None):
    setting_up.open_phase(project=cast.project, phase=phase, by=by or cast.lea.person, now=NOW)


def test_phases_open_one_after_the_other_and_each_opening_is_an_event():
    cast = make_cast(open_phase="practice")
    for phase in ("pilot", "main"):
        open_phase(cast, phase)
        assert now_of(cast).open_phase == phase
    events = Event.objects.filter(action="phase_opened").order_by("pk")
    assert [event.detail for event in events] == [
        {"phase": "pilot", "before": "practice"},
        {"phase": "main", "before": "pilot"},
    ]
    open_phase(cast, "main")
    assert events.count() == 2


def test_a_phase_that_is_none_is_refused():
    cast = make_cast()
    assert refusal_of(open_phase, cast, "later").field == "phase"
    assert now_of(cast).open_phase == "main"


@pytest.mark.parametrize("how", ["shown", "submitted", "reported"])
def test_a_phase_of_which_something_was_shown_stays_open(how):
    cast = make_cast()
    pilot = make_item(cast.project, phase="pilot")
    make_assignment(cast.ben, pilot, "locked")
    if how == "shown":
        make_assignment(cast.ana, pilot, first_shown_at=NOW)
    else:
        make_assignment(cast.ana, pilot, {"submitted": "submitted", "reported": "problem"}[how])
    problem = refusal_of(open_phase, cast, "practice")
    assert (problem.code, problem.field, problem.params) == ("in_use", "phase", {"n": 1})
    assert now_of(cast).open_phase == "main"
    open_phase(cast, "pilot")
    assert now_of(cast).open_phase == "pilot"


def test_a_phase_of_which_nothing_was_shown_can_be_closed():
    cast = make_cast()
    make_assignment(cast.ana, make_item(cast.project, phase="practice"), "submitted")
    make_assignment(cast.ana, make_item(cast.project, phase="pilot"))
    open_phase(cast, "practice")
    assert now_of(cast).open_phase == "practice"


# Protocols


def next_protocol(cast, by=None, **fields):
    values = {"guideline_en": "Read it twice.", "guideline_zh": "读两遍。", "change_note": "twice", "after": 1}
    return setting_up.new_protocol(project=cast.project, by=by or cast.lea.person, now=NOW, **{**values, **fields})


def test_the_next_protocol_takes_over_the_label_schema():
    cast = make_cast()
    first = cast.project.protocols.get()
    Protocol.objects.filter(pk=first.pk).update(label_schema={"labels": ["a"]})
    made = next_protocol(cast, guideline_en="Read\r\nit twice.  \r\n\r\n", change_note=" twice ")
    assert (made.number, made.label_schema, made.change_note) == (2, {"labels": ["a"]}, "twice")
    assert (made.guideline_en, made.guideline_zh) == ("Read\nit twice.\n", "读两遍。\n")
    first.refresh_from_db()
    assert first.guideline_en == "Read it (1)."
    event = Event.objects.get()
    assert (event.action, event.person, event.detail) == ("protocol_opened", cast.lea.person, {"number": 2})


def test_one_language_may_be_left_to_the_other():
    cast = make_cast()
    assert next_protocol(cast, guideline_en=" ").guideline_en == ""


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"guideline_en": "Read it (1).\r\n", "guideline_zh": "读它（1）。"}, "nothing_changed", "guideline_en"),
        ({"guideline_en": "", "guideline_zh": "\n"}, "missing_field", "guideline_en"),
        ({"change_note": " "}, "missing_field", "change_note"),
        ({"change_note": "x" * 1001}, "too_many", "change_note"),
        ({"guideline_zh": "字" * 50_001}, "too_many", "guideline_zh"),
        ({"after": 0}, "opened_meanwhile", "after"),
        ({"after": 2}, "opened_meanwhile", "after"),
    ],
)
def test_a_protocol_that_is_none_is_refused(fields, code, field):
    cast = make_cast()
    problem = refusal_of(next_protocol, cast, **fields)
    assert (problem.code, problem.field) == (code, field)
    assert Protocol.objects.filter(project=cast.project).count() == 1
    assert not Event.objects.exists()
    assert next_protocol(cast).number == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_leads_at_once_one_opens_the_protocol_and_the_other_is_told_its_number():
    cast = make_cast()
    lee = make_member(cast.project, "lee", Role.LEAD)
    results = at_once(
        lambda: next_protocol(cast, guideline_en="one"), lambda: next_protocol(cast, by=lee.person, guideline_en="two")
    )
    (made,) = [one for one in results if isinstance(one, Protocol)]
    (refused,) = [one for one in results if isinstance(one, Refused)]
    assert made.number == 2
    assert (refused.problem.code, refused.problem.params) == ("opened_meanwhile", {"number": 2})
    assert Event.objects.filter(action="protocol_opened").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_lead_who_comes_to_label_while_items_are_planned_gets_them_once():
    cast = make_cast(settings={"text_beside_calls": "private", "show": "light"})
    item = make_item(cast.project)
    results = at_once(
        lambda: change(cast, open_lead=True, show="plain"),
        lambda: assigning.extend_panel(project=cast.project, now=NOW),
    )
    assert not [one for one in results if isinstance(one, Exception)]
    project = now_of(cast)
    assert (project.open_lead, project.settings["show"]) == (True, "plain")
    assert [row.item for row in cast.lea.assignments.all()] == [item]


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


def test_nobody_waits_for_the_hash_of_its_password(monkeypatch):
    before, hash_ = len(connection.savepoint_ids), setting_up.make_password
    deep = []
    monkeypatch.setattr(
        setting_up, "make_password", lambda word: deep.append(len(connection.savepoint_ids)) or hash_(word)
    )
    monkeypatch.setattr(Person, "set_password", lambda *words: pytest.fail("hashed inside the transaction"))
    assert set_up(setting_up.first_lead_secret(now=NOW)).password.startswith("md5$")
    assert deep == [before]


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["settings", "phase", "protocol"])
def test_a_lead_who_is_retired_meanwhile_changes_nothing_any_more(what):
    cast = make_cast()
    kim = make_member(cast.project, "kim", Role.LEAD)
    common = {"project": cast.project, "by": kim.person, "now": NOW}
    changed = replace(setting_up.settings_of(cast.project), title_en="Kim's", show="plain")
    words = {"guideline_en": "a", "guideline_zh": "b", "change_note": "c", "after": 1}

    def act():
        if what == "settings":
            return setting_up.update_project(new=changed, **common)
        if what == "phase":
            return setting_up.open_phase(phase="practice", **common)
        return setting_up.new_protocol(**words, **common)

    def retire():
        return people.retire_member(project=cast.project, member_id=kim.pk, by=cast.lea.person, now=NOW)

    is_retired, refused = under_way(retire, act)
    assert is_retired is True
    assert isinstance(refused, NotYours)
    project = Project.objects.get(pk=cast.project.pk)
    assert (project.title_en, project.open_phase) == (cast.project.title_en, cast.project.open_phase)
    assert project.protocols.count() == 1
    Membership.objects.filter(pk=kim.pk).update(left_at=None)
    assert not isinstance(act(), Exception)
