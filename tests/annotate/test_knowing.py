"""Known answers: given by a lead in the annotators' screen, kept when they are changed."""

import json

import pytest
from django.urls import reverse

from annotate import knowing, people, queries
from annotate.errors import NotYours
from annotate.kinds.base import LabelError
from annotate.models import Event, Role, Settlement
from tests.annotate.meeting import under_way
from tests.factories import NOW, make_cast, make_item, make_member

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
LABEL = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}


@pytest.fixture
def cast(db):
    return make_cast()


@pytest.fixture
def item(cast):
    return make_item(cast.project, phase="practice", text="It is \N{WOMAN}\u200d\N{GIRL} R03 again.")


@pytest.fixture
def page(client, cast):
    client.force_login(cast.lea.person)
    return client


def settle(cast, item, by=None, **values):
    known = knowing.Known(**{"label": LABEL, "reason_en": "because", "reason_zh": "因为", **values})
    knowing.settle_known(
        lead=(by or cast.lea).person, project=cast.project, item_id=item.pk, known=known, now=NOW
    )


def address(item):
    return reverse("annotate:answer_practice", args=[item.project.slug, item.pk])


def form(**fields):
    values = {"key": "k" * 20, "label": "readable", "spans": "[]", "comment": ""}
    return {**values, "reason_en": "because", "reason_zh": "因为", **fields}


def test_an_answer_is_current_until_another_is_given_and_kept_after_that(cast, item):
    settle(cast, item)
    settle(cast, item, label={**LABEL, "label": "unrepairable_or_no_answer"}, reason_en="better")
    rows = Settlement.objects.order_by("pk").values_list("label__label", "reason_en", "how", "is_current", "person")
    assert list(rows) == [
        ("readable", "because", "known", False, cast.lea.person_id),
        ("unrepairable_or_no_answer", "better", "known", True, cast.lea.person_id),
    ]
    assert queries.known_answer(item.pk).reason_en == "better"
    assert [event.action for event in Event.objects.all()] == ["known_answer_given"] * 2


@pytest.mark.parametrize("field", ["reason_en", "reason_zh"])
def test_a_reason_in_both_languages_is_needed(cast, item, field):
    with pytest.raises(LabelError) as refused:
        settle(cast, item, **{field: ""})
    assert [problem.field for problem in refused.value.problems] == [field]
    assert not Settlement.objects.exists()


def test_only_a_lead_of_the_project_can_and_only_for_its_items(cast, item):
    for somebody in (cast.ana, cast.rita, cast.zoe):
        with pytest.raises(NotYours):
            settle(cast, item, by=somebody)
    with pytest.raises(NotYours):
        settle(cast, make_item(cast.other_project, phase="practice"))
    assert not Settlement.objects.exists()


# The page


def test_the_lead_answers_in_the_screen_of_the_annotators(page, cast, item):
    shown = page.get(address(item)).content.decode()
    for part in ('id="reply-text"', 'name="label"', 'name="spans"', 'name="reason_en"', 'name="reason_zh"'):
        assert part in shown
    assert 'data-opens="problem"' not in shown
    span = {"start": 10, "end": 13, "type": "reference", "quote": "R03"}
    response = page.post(address(item), form(label="needs_information", spans=json.dumps([span])))
    assert response.url == reverse("annotate:list_practice", args=[cast.project.slug])
    assert queries.known_answer(item.pk).label["spans"] == [span]
    assert "R03" in page.get(address(item)).content.decode().split('name="spans"')[1][:200]
    assert "Practice is ready." in page.get(response.url).content.decode()


def test_a_script_is_told_the_next_practice_item_without_an_answer(page, cast, item):
    another = make_item(cast.project, phase="practice")
    said = page.post(address(item), form(), headers=HTMX).content.decode()
    assert address(another) in said
    assert "practice is ready" in page.post(address(another), form(), headers=HTMX).content.decode()


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({"reason_zh": "  "}, "reason_zh"),
        ({"label": ""}, "label"),
        ({"label": "needs_information"}, "spans"),
        ({"reason_en": "a\0b"}, "reason_en"),
        ({"spans": "[{"}, "spans"),
    ],
)
def test_what_is_wrong_is_named_and_what_was_typed_stays(page, item, posted, field):
    response = page.post(address(item), form(comment="my words", **posted))
    assert response.status_code == 422
    said = response.content.decode()
    assert f'data-field="{field}"' in said
    assert "my words" in said or "spans" in posted
    piece = page.post(address(item), form(**posted), headers=HTMX)
    assert (piece.status_code, piece.headers["HX-Retarget"]) == (422, "#problems")
    assert not Settlement.objects.exists()


def test_other_items_and_other_people_get_the_one_404(client, cast, item):
    foreign = make_item(cast.other_project, phase="practice")
    client.force_login(cast.lea.person)
    slug = cast.project.slug
    for pk in (foreign.pk, 10**6, 10**25):
        assert client.get(f"/projects/{slug}/practice/{pk}/").status_code == 404
        assert client.post(f"/projects/{slug}/practice/{pk}/", form()).status_code == 404
    for somebody in (cast.ana, cast.rita, cast.zoe):
        client.force_login(somebody.person)
        assert client.get(address(item)).status_code == 404
        assert client.post(address(item), form()).status_code == 404
    assert not Settlement.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_lead_who_is_retired_meanwhile_gives_no_answer():
    cast = make_cast()
    kim = make_member(cast.project, "kim", Role.LEAD)
    item = make_item(cast.project, phase="practice")

    def retire():
        return people.retire_member(project=cast.project, member_id=kim.pk, by=cast.lea.person, now=NOW)

    is_retired, refused = under_way(retire, lambda: settle(cast, item, by=kim))
    assert is_retired is True
    assert isinstance(refused, NotYours)
    assert not Settlement.objects.exists()
    settle(cast, item)
    assert Settlement.objects.get().person == cast.lea.person
