"""The road from practice over the pilot into the main phase, as an annotator walks it in pages."""

import pytest
from django.urls import reverse
from django.utils import translation

from annotate import assigning, blind
from annotate.errors import NotYours
from annotate.models import Assignment, Membership, Project, Settlement
from tests.factories import NOW, make_assignment, make_cast, make_item, make_round

pytestmark = pytest.mark.django_db
State = Assignment.State
HTMX = {"HX-Request": "true"}
LABEL = {"label": "unrepairable_or_no_answer", "states_no_result": False, "spans": [], "comment": ""}


@pytest.fixture
def cast(db):
    """One item a phase, and the annotators' plans."""
    cast = make_cast()
    for phase in ("practice", "pilot", "main"):
        make_item(cast.project, phase=phase)
    assigning.extend_panel(project=cast.project, now=NOW)
    return cast


@pytest.fixture
def page(client, cast):
    client.force_login(cast.ana.person)
    return client


def know(cast, **reasons):
    item = cast.project.items.get(phase="practice")
    values = {"reason_en": "BECAUSE-EN", "reason_zh": "BECAUSE-ZH", **reasons}
    return Settlement.objects.create(item=item, how="known", label=LABEL, **values)


def open_phase(cast, phase):
    Project.objects.filter(pk=cast.project.pk).update(open_phase=phase)


def current(cast, phase):
    return cast.ana.assignments.get(item__phase=phase)


def go(page, cast):
    return page.get(reverse("annotate:next_item", args=[cast.project.slug]), follow=True)


def answer(page, assignment, label="readable", headers=None, number=0, key="key-of-this-answer-00"):
    form = {"key": key, "label": label, "protocol": "1", "number": str(number), "spans": "[]"}
    return page.post(reverse("annotate:submit_annotation", args=[assignment.public_id]), form, headers=headers)


def test_practice_waits_until_each_of_its_items_has_a_known_answer(page, cast):
    practice = current(cast, "practice")
    assert practice.state == State.OPEN
    assert "practice of this project is not ready" in go(page, cast).content.decode()
    assert blind.standing(cast.ana.person, cast.project.slug) == "practice_not_ready"
    with pytest.raises(NotYours):
        blind.show_item(cast.ana.person, practice.public_id)
    assert page.get(reverse("annotate:label_item", args=[practice.public_id])).status_code == 404
    know(cast)
    assert go(page, cast).redirect_chain[0][0].endswith(f"/label/{practice.public_id}/")


@pytest.mark.parametrize("headers", [None, HTMX], ids=["plain", "htmx"])
def test_the_expected_answer_is_told_after_the_submit_and_never_before(page, cast, headers):
    know(cast)
    practice = current(cast, "practice")
    before = page.get(reverse("annotate:label_item", args=[practice.public_id]))
    assert b"BECAUSE" not in before.content
    response = answer(page, practice, headers=headers)
    if headers is None:
        assert response.status_code == 302
        response = page.get(response.url)
    words = response.content.decode()
    assert "BECAUSE-EN" in words
    assert "BECAUSE-ZH" not in words
    assert "The expected answer is another one." in words
    assert "the label" in words
    assert "Saved" in words or headers is None


def test_the_right_label_is_told_so_in_the_language_of_the_interface(page, cast):
    know(cast)
    cast.ana.person.interface_language = "zh-hans"
    cast.ana.person.save()
    response = answer(page, current(cast, "practice"), LABEL["label"], headers=HTMX)
    assert "BECAUSE-ZH" in response.content.decode()
    item = blind.show_item(cast.ana.person, current(cast, "practice").public_id)
    assert (item.feedback.is_right, item.feedback.differing) == (True, ())


def test_differing_parts_are_joined_as_the_language_joins_them(page, cast):
    know(cast)
    known = {**LABEL, "states_no_result": True}
    Settlement.objects.update(label=known)
    cast.ana.person.interface_language = "zh-hans"
    cast.ana.person.save()
    response = answer(page, current(cast, "practice"), "readable", headers=HTMX)
    differing = blind.show_item(cast.ana.person, current(cast, "practice").public_id).feedback.differing
    assert len(differing) == 2
    with translation.override("zh-hans"):
        assert "、".join(map(translation.gettext, differing)) in response.content.decode()


def test_the_next_item_is_not_taken_for_shown_while_the_answer_is_read(page, cast):
    know(cast)
    answer(page, current(cast, "practice"), headers=HTMX)
    pilot = current(cast, "pilot")
    assert (pilot.state, pilot.first_shown_at) == (State.OPEN, None)
    go(page, cast)
    assert current(cast, "pilot").first_shown_at is not None


def test_neither_pilot_nor_main_phase_tells_an_answer(page, cast):
    know(cast)
    answer(page, current(cast, "practice"))
    for phase in ("pilot", "main"):
        item = cast.project.items.get(phase=phase)
        Settlement.objects.create(item=item, how="known", label=LABEL, reason_en="SECRET", reason_zh="SECRET")
        go(page, cast)
        answer(page, current(cast, phase), key=f"key-of-the-{phase}-item-1")
        assert blind.show_item(cast.ana.person, current(cast, phase).public_id).feedback is None
        assert b"SECRET" not in page.get(reverse("annotate:label_item", args=[current(cast, phase).public_id])).content


def test_the_next_phase_waits_until_the_lead_has_opened_it(page, cast):
    know(cast)
    open_phase(cast, "practice")
    answer(page, current(cast, "practice"))
    pilot = current(cast, "pilot")
    assert "has not been opened yet" in go(page, cast).content.decode()
    assert page.get(reverse("annotate:label_item", args=[pilot.public_id])).status_code == 404
    open_phase(cast, "pilot")
    assert go(page, cast).redirect_chain[0][0].endswith(f"/label/{pilot.public_id}/")
    response = answer(page, pilot, headers=HTMX, key="key-of-the-pilot-item")
    assert "has not been opened yet" in response.content.decode()
    assert current(cast, "main").first_shown_at is None


def test_what_was_shown_stays_open_when_a_new_practice_item_comes_without_an_answer(page, cast):
    know(cast)
    practice = current(cast, "practice")
    go(page, cast)
    make_item(cast.project, phase="practice")
    assert page.get(reverse("annotate:label_item", args=[practice.public_id])).status_code == 200
    assert answer(page, practice).status_code == 302


def test_who_is_paused_is_told_so_in_a_fixed_text(page, cast):
    know(cast)
    Membership.objects.filter(pk=cast.ana.pk).update(paused_at=NOW)
    words = go(page, cast).content.decode()
    assert "Your part in this project is paused" in words
    assert page.get(reverse("annotate:label_item", args=[current(cast, "practice").public_id])).status_code == 404


def test_who_has_no_part_in_the_project_is_told_nothing(cast):
    with pytest.raises(NotYours):
        blind.standing(cast.zoe.person, cast.project.slug)


def test_all_done_is_said_only_when_all_is_done(page, cast):
    know(cast)
    for phase in ("practice", "pilot", "main"):
        answer(page, current(cast, phase), key=f"key-of-the-{phase}-item-1")
    assert "nothing left for you to read" in go(page, cast).content.decode()
    assert blind.standing(cast.ana.person, cast.project.slug) == "done"


def test_an_answer_lets_nobody_into_a_practice_item_that_is_not_ready(page, cast):
    know(cast)
    for phase in ("practice", "pilot"):
        answer(page, current(cast, phase), key=f"key-of-the-{phase}-item-1")
    go(page, cast)
    late = make_item(cast.project, phase="practice")
    assigning.extend_panel(project=cast.project, now=NOW)
    response = answer(page, current(cast, "main"), key="key-of-the-main-item-1", headers=HTMX)
    assert "practice of this project is not ready" in response.content.decode()
    assignment = cast.ana.assignments.get(item=late)
    assert (assignment.state, assignment.first_shown_at) == (State.OPEN, None)
    assert answer(page, assignment, key="key-of-the-late-item-1").status_code == 404


def test_a_practice_item_that_waits_holds_up_no_other_round(page, cast):
    know(cast)
    make_item(cast.project, phase="practice")
    again = make_assignment(cast.ana, make_item(cast.project), round=make_round(cast.project, purpose="protocol"))
    assert go(page, cast).redirect_chain[0][0].endswith(f"/label/{again.public_id}/")


def test_undo_is_for_the_last_answer_of_all_rounds(page, cast):
    know(cast)
    answer(page, current(cast, "practice"))
    again = make_assignment(cast.ana, make_item(cast.project), round=make_round(cast.project, purpose="protocol"))
    answer(page, again, key="key-of-the-later-round")
    assert blind.show_item(cast.ana.person, again.public_id).undo_id == again.public_id
    refused = answer(page, current(cast, "practice"), number=1, key="key-of-a-correction-1")
    assert refused.status_code == 422
    assert answer(page, again, number=1, key="key-of-the-undo-00001").status_code == 302


def test_nothing_is_corrected_in_a_closed_round(page, cast):
    know(cast)
    practice = current(cast, "practice")
    answer(page, practice)
    address = reverse("annotate:correct_item", args=[practice.public_id])
    assert address in page.get(reverse("annotate:label_item", args=[practice.public_id])).content.decode()
    cast.project.rounds.update(closed_at=NOW)
    assert address not in page.get(reverse("annotate:label_item", args=[practice.public_id])).content.decode()
    assert page.get(address).url == reverse("annotate:label_item", args=[practice.public_id])
    assert answer(page, practice, number=1, key="key-of-a-correction-1").status_code == 404
