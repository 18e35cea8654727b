"""People of a project pause, leave, come back and read other languages; what they submitted stays."""

from datetime import timedelta
from functools import partial

import pytest

from annotate import assigning, blind, inviting, labeling, people
from annotate.errors import AlreadySubmitted, NotYours, Refused
from annotate.models import Annotation, Assignment, Event, Invite, Membership, Person, Role
from tests.annotate.meeting import at_once, under_way
from tests.factories import NOW, make_cast, make_item, make_member, make_plan, make_submitted, make_trace

pytestmark = pytest.mark.django_db
State = Assignment.State
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def cast(db):
    """ana has submitted one item and has a plan of three more; in ben's everything is still to come."""
    cast = make_cast()
    make_submitted(cast.ana)
    make_plan(cast.ana)
    make_plan(cast.ben)
    return cast


def act(service, cast, member, by=None, now=LATER, **more):
    by = (by or cast.lea).person
    return service(project=cast.project, member_id=member.pk, by=by, now=now, **more)


retire, bring_back = partial(act, people.retire_member), partial(act, people.bring_back_member)
pause, resume = partial(act, people.pause_member), partial(act, people.resume_member)
set_languages = partial(act, people.set_languages)


def states(member):
    return list(member.assignments.order_by("order").values_list("state", flat=True))


def refusal_of(call, *args, **more):
    with pytest.raises(Refused) as refusal:
        call(*args, **more)
    return refusal.value.problem


def only_event():
    event = Event.objects.get()
    return event.action, event.person.username, event.detail


# Leaving and coming back


def test_who_is_retired_leaves_their_labels_and_nothing_else(cast):
    others = states(cast.ben)
    assert retire(cast, cast.ana)
    cast.ana.refresh_from_db()
    assert cast.ana.left_at == LATER
    assert states(cast.ana) == [State.SUBMITTED] + [State.WITHDRAWN] * 3
    assert Annotation.objects.filter(assignment__annotator=cast.ana, is_current=True).count() == 1
    assert states(cast.ben) == others
    assert only_event() == ("member_retired", "lea", {"code": cast.ana.code})
    with pytest.raises(NotYours):
        blind.own_project(cast.ana.person, cast.project.slug)


def test_a_second_time_changes_nothing(cast):
    retire(cast, cast.ana)
    assert not retire(cast, cast.ana, now=LATER + timedelta(days=1))
    cast.ana.refresh_from_db()
    assert cast.ana.left_at == LATER
    assert Event.objects.count() == 1


def test_who_is_retired_gets_nothing_of_what_is_imported_later(cast):
    retire(cast, cast.ana)
    make_item(cast.project)
    assigning.extend_panel(project=cast.project, now=LATER)
    assert states(cast.ana) == [State.SUBMITTED] + [State.WITHDRAWN] * 3


def test_who_comes_back_goes_on_with_what_was_withdrawn_and_gets_what_came_meanwhile(cast):
    assigning.extend_panel(project=cast.project, now=NOW)
    planned = set(cast.ana.assignments.values_list("item", flat=True))
    Assignment.objects.filter(annotator=cast.ana, state=State.OPEN).update(draft={"number": 0}, draft_number=4)
    retire(cast, cast.ana)
    newer = make_item(cast.project)
    assert bring_back(cast, cast.ana)
    cast.ana.refresh_from_db()
    assert cast.ana.left_at is None
    assert set(cast.ana.assignments.values_list("item", flat=True)) == planned | {newer.pk}
    assert states(cast.ana) == [State.SUBMITTED, State.OPEN] + [State.LOCKED] * (len(planned) - 1)
    assert cast.ana.assignments.get(state=State.OPEN).draft_number == 4
    assert Event.objects.last().action == "member_brought_back"
    assert not bring_back(cast, cast.ana)
    assert Event.objects.count() == 2


def test_who_was_paused_and_left_comes_back_to_work(cast):
    pause(cast, cast.ana)
    retire(cast, cast.ana)
    bring_back(cast, cast.ana)
    cast.ana.refresh_from_db()
    assert (cast.ana.left_at, cast.ana.paused_at) == (None, None)


def test_a_part_whose_account_is_closed_is_not_brought_back(cast):
    retire(cast, cast.ana)
    Person.objects.filter(pk=cast.ana.person_id).update(is_active=False)
    assert refusal_of(bring_back, cast, cast.ana).code == "no_account"
    assert set(states(cast.ana)) == {State.SUBMITTED, State.WITHDRAWN}


def test_links_of_a_lead_who_leaves_work_no_more(cast):
    make_member(cast.project, "leo", Role.LEAD)
    theirs, others = (
        inviting.make_invite(project=cast.project, role="lead", languages=[], note="", by=by, now=NOW)[1]
        for by in (cast.lea.person, None)
    )
    retire(cast, cast.lea, by=Membership.objects.get(person__username="leo"))
    assert inviting.find_invite(theirs, LATER) is None
    assert inviting.find_invite(others, LATER) == Invite.objects.last()


# Leads


def test_the_last_lead_stays(cast):
    problem = refusal_of(retire, cast, cast.lea, knowingly=True)
    assert (problem.code, problem.as_dict()["remedy"]) == ("last_lead", "Invite another lead first.")
    leo = make_member(cast.project, "leo", Role.LEAD)
    assert retire(cast, leo)
    assert refusal_of(retire, cast, cast.lea, knowingly=True).code == "last_lead"


def test_a_lead_who_cannot_sign_in_is_no_other_lead(cast):
    leo = make_member(cast.project, "leo", Role.LEAD)
    Person.objects.filter(pk=leo.person_id).update(is_active=False)
    assert refusal_of(retire, cast, cast.lea, knowingly=True).code == "last_lead"
    Person.objects.filter(pk=leo.person_id).update(is_active=True)
    assert retire(cast, cast.lea, knowingly=True)


def test_a_lead_ends_their_own_part_only_knowingly(cast):
    make_member(cast.project, "leo", Role.LEAD)
    problem = refusal_of(retire, cast, cast.lea)
    assert (problem.code, problem.field) == ("own_part", "knowingly")
    cast.lea.refresh_from_db()
    assert cast.lea.left_at is None
    assert retire(cast, cast.lea, knowingly=True)
    with pytest.raises(NotYours):  # and leads no more
        retire(cast, cast.ana)


@pytest.mark.django_db(transaction=True)
def test_of_two_leads_who_retire_each_other_at_the_same_moment_one_stays():
    for _ in range(3):
        cast = make_cast()
        leo = make_member(cast.project, "leo", Role.LEAD)
        at_once(partial(retire, cast, leo), partial(retire, cast, cast.lea, by=leo))
        assert Membership.objects.filter(project=cast.project, role=Role.LEAD, left_at=None).count() == 1


# Pauses


def test_a_paused_annotator_is_shown_nothing_and_goes_on_where_they_were(cast):
    plan = states(cast.ana)
    assert pause(cast, cast.ana)
    cast.ana.refresh_from_db()
    assert cast.ana.paused_at == LATER
    assert blind.next_item(cast.ana.person, cast.project.slug) is None
    assert only_event() == ("member_paused", "lea", {"code": cast.ana.code})
    assert not pause(cast, cast.ana)
    assert resume(cast, cast.ana)
    assert not resume(cast, cast.ana)
    cast.ana.refresh_from_db()
    assert cast.ana.paused_at is None
    assert states(cast.ana)[: len(plan)] == plan
    assert blind.next_item(cast.ana.person, cast.project.slug) is not None
    assert list(Event.objects.order_by("pk").values_list("action", flat=True)) == ["member_paused", "member_resumed"]


def test_nobody_but_annotators_is_paused_and_nobody_who_left(cast):
    assert not pause(cast, cast.rita)
    assert not pause(cast, cast.lea)
    retire(cast, cast.ana)
    assert not pause(cast, cast.ana)
    assert Membership.objects.filter(paused_at=None).count() == 5


# Languages


def test_items_of_a_language_one_reads_no_more_are_withdrawn_and_come_back_with_it(cast):
    english = list(cast.ben.assignments.values_list("item", flat=True))
    chinese = make_item(trace=make_trace(cast.project, language="zh"))
    assigning.extend_panel(project=cast.project, now=NOW)
    assert set_languages(cast, cast.ben, languages=["zh"])
    waiting = cast.ben.assignments.filter(state__in=[State.OPEN, State.LOCKED])
    assert list(waiting.values_list("item", "state")) == [(chinese.pk, State.OPEN)]
    assert set_languages(cast, cast.ben, languages=["zh", "en"])
    assert set(waiting.values_list("item", flat=True)) >= {*english, chinese.pk}
    cast.ben.refresh_from_db()
    assert cast.ben.languages == ["en", "zh"]
    details = [event.detail for event in Event.objects.order_by("pk")]
    assert details == [{"code": cast.ben.code, "languages": ["zh"]}, {"code": cast.ben.code, "languages": ["en", "zh"]}]


def test_what_was_submitted_in_a_language_stays_when_one_reads_it_no_more(cast):
    assert set_languages(cast, cast.ana, languages=["zh"])
    assert states(cast.ana) == [State.SUBMITTED] + [State.WITHDRAWN] * 3


@pytest.mark.parametrize("languages", [[], ["tlh"], ["en", "tlh"], ["EN"], [""]])
def test_a_member_reads_at_least_one_language_of_the_project_and_none_but_those(cast, languages):
    problem = refusal_of(set_languages, cast, cast.ben, languages=languages)
    assert problem.field == "languages"
    assert "en, zh" in problem.as_dict()["expected"]
    cast.ben.refresh_from_db()
    assert cast.ben.languages == ["en", "zh"]
    assert not Event.objects.exists()


def test_the_same_languages_again_change_nothing(cast):
    assert not set_languages(cast, cast.ben, languages=["zh", "en", "en"])
    assert not Event.objects.exists()


def test_of_who_left_no_language_is_changed(cast):
    retire(cast, cast.ben)
    assert not set_languages(cast, cast.ben, languages=["zh"])
    cast.ben.refresh_from_db()
    assert cast.ben.languages == ["en", "zh"]


# Rights


@pytest.mark.parametrize("service", [
    people.retire_member, people.bring_back_member, people.pause_member, people.resume_member,
    partial(people.set_languages, languages=["zh"]),
])  # fmt: skip
def test_only_a_lead_of_the_project_changes_its_people(cast, service):
    zack = make_member(cast.other_project, "zack", Role.LEAD)
    left = make_member(cast.project, "leo", Role.LEAD, left_at=NOW)
    for by in (cast.ana, cast.ben, cast.rita, cast.zoe, zack, left):
        with pytest.raises(NotYours):
            act(service, cast, cast.ben, by=by)
    for elsewhere in (cast.zoe.pk, 10**6):  # of another project, of none
        with pytest.raises(NotYours):
            service(project=cast.project, member_id=elsewhere, by=cast.lea.person, now=LATER)
    assert not Event.objects.exists()


# At the same moment


def submit(assignment):
    given = blind.open_assignment(assignment.annotator.person, assignment.public_id)
    (protocol,) = labeling.protocols_of(given)
    new = labeling.NewAnnotation(
        label={"label": "readable", "states_no_result": False, "spans": [], "comment": ""},
        protocol=protocol,
        number=0,
        draft_number=1,
        timing=labeling.Timing(0, 0, 0),
        reason="",
    )
    return partial(labeling.submit_annotation, assignment=given, key="k" * 20, new=new, now=LATER)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_first", [True, False])
def test_who_is_retired_while_submitting_has_submitted_or_not_and_nothing_is_left_open(is_first):
    cast = make_cast()
    first, *others = make_plan(cast.ana)
    send = submit(first)
    if is_first:
        receipt, is_retired = under_way(send, partial(retire, cast, cast.ana))
        assert isinstance(receipt, labeling.Receipt)
    else:
        is_retired, refused = under_way(partial(retire, cast, cast.ana), send)
        assert isinstance(refused, AlreadySubmitted)
    assert is_retired is True
    ended = State.SUBMITTED if is_first else State.WITHDRAWN
    assert states(cast.ana) == [ended] + [State.WITHDRAWN] * len(others)
    assert Annotation.objects.count() == is_first
