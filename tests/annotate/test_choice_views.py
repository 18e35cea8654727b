"""The pages on which leads set a question up, without script, and the page of who answers it."""

import html
import re

import pytest
from django.urls import reverse

from annotate.models import Event, Project
from tests.annotate.choice_study import QUESTION, import_texts, make_study
from tests.factories import make_cast, make_person

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"
PROJECT = {
    "title_en": "Tone",
    "title_zh": "",
    "slug": "tone",
    "kind": "choice",
    "languages": "en",
    "seed": "1",
    "text_beside_calls": "private",
    "show": "light",
    "open_phase": "main",
}
FIELDS = {
    "schema_form": "choice",
    "judged": "text",
    "parts-0-id": "+1",
    "parts-0-type": "one",
    "parts-0-title-en": "How calm?",
    "parts-0-title-zh": "多平静？",
    "parts-0-required": "on",
    "parts-0-labels-0-id": "+2",
    "parts-0-labels-0-title-en": "calm",
    "parts-0-labels-1-id": "+3",
    "parts-0-labels-1-title-en": "angry",
}
TEXTS = {"guideline_en": "Read it.", "guideline_zh": "读它。", "change_note": "other labels", "after": "1"}


def words(response):
    return html.unescape(response.content.decode())


@pytest.fixture
def lead(client):
    person = make_person("lee", may_create_projects=True)
    client.force_login(person)
    return person


def first_values(client):
    """What a browser would send of the page as it is."""
    page = client.get(reverse("annotate:new_project")).content.decode()
    found = re.findall(r'<input type="(?:number|text|hidden)" name="([a-z_]+)"[^>]* value="([^"]*)"', page)
    found += re.findall(r'<input type="number" name="([a-z_]+)" value="([^"]*)"', page)
    chosen = re.findall(r'<input type="radio" name="([a-z_]+)" value="([^"]*)"[^>]* checked', page)
    return {name: value for name, value in [*found, *chosen] if name != "csrfmiddlewaretoken"}


def make(client, **fields):
    return client.post(reverse("annotate:new_project"), {**first_values(client), **PROJECT, **fields})


def write(client, slug, **fields):
    return client.post(reverse("annotate:new_protocol", args=[slug]), {**TEXTS, **fields})


def test_choosing_the_kind_shows_what_to_set_up_and_makes_nothing_yet(client, lead):
    response = make(client)
    assert response.status_code == 200
    page = words(response)
    assert 'name="parts-0-title-en"' in page
    assert "Say below what labels are to say" in page
    assert 'value="Tone"' in page
    assert not Project.objects.exists()


def test_a_question_is_made_with_its_project(client, lead):
    response = make(client, **FIELDS)
    assert response.status_code == 302, words(response)
    project = Project.objects.get()
    (part,) = project.protocols.get().label_schema["parts"]
    assert (project.kind, part["id"]) == ("choice", "how_calm")
    assert [label["id"] for label in part["labels"]] == ["calm", "angry"]
    assert "多平静" in project.protocols.get().label_schema["parts"][0]["title"]["zh"]


def test_a_button_draws_the_page_again_with_all_that_was_typed(client, lead):
    page = words(make(client, **FIELDS, do="label-0", title_zh="语气", languages=["zh"], open_lead="on"))
    assert 'name="parts-0-labels-2-title-en"' in page
    assert re.search(r'name="parts-0-labels-2-title-en"[^>]* autofocus', page)
    assert 'value="语气"' in page
    assert re.search(r'name="languages" value="zh"[^>]*checked', page)
    assert not re.search(r'name="languages" value="en"[^>]*checked', page)
    assert re.search(r'name="open_lead"[^>]*checked', page)
    assert "How calm?" in page.split('id="labels-preview"')[1]
    assert "多平静" in page.split('id="labels-preview"')[1]
    assert not Project.objects.exists()


def test_what_is_wrong_is_said_at_its_field_and_nothing_typed_is_lost(client, lead):
    response = make(client, **{**FIELDS, "parts-0-labels-1-title-en": "", "parts-0-labels-0-key": "z"}, title_zh="语气")
    page = words(response)
    assert response.status_code == 422
    assert 'href="#labels-parts-0-labels-1-title-en"' in page
    assert 'id="labels-parts-0-labels-1-title-en"' in page
    assert "Part 1: the key “z” is taken by the page." in page
    assert 'value="语气"' in page
    assert 'value="z"' in page
    assert not Project.objects.exists()
    response = make(client, **FIELDS, slug="no way")
    assert (response.status_code, 'value="angry"' in words(response)) == (422, True)


def test_a_character_that_cannot_be_stored_is_refused(client, lead):
    response = make(client, **{**FIELDS, "parts-0-title-en": "a\0b"})
    assert response.status_code == 422
    assert "cannot be stored" in words(response)


def test_a_name_of_a_model_in_a_title_has_to_be_confirmed(client, lead):
    named = {**FIELDS, "parts-0-labels-0-title-en": "ChatGPT"}
    response = make(client, **named)
    assert response.status_code == 422
    assert "names ChatGPT" in words(response)
    assert make(client, **named, confirm_names="ChatGPT").status_code == 302


def test_hostile_titles_are_text_on_every_page(client, lead, tmp_path):
    titles = {name: HOSTILE for name in FIELDS if "title" in name}
    fields = FIELDS | titles
    assert HOSTILE.encode() not in make(client, **fields, do="draw").content
    assert make(client, **fields).status_code == 302
    for name in ("show_protocols", "new_protocol"):
        response = client.get(reverse(f"annotate:{name}", args=["tone"]))
        assert HOSTILE.encode() not in response.content
        assert HOSTILE in words(response)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_is_there_in_both_languages(client, lead, language):
    post = {**PROJECT, **FIELDS, "do": "add-scale"}
    page = words(client.post(reverse("annotate:new_project"), post, HTTP_ACCEPT_LANGUAGE=language))
    assert 'name="parts-1-lowest"' in page


def test_the_next_protocol_changes_titles_and_keeps_ids(client):
    project = make_study(names=())
    client.force_login(project.memberships.get().person)
    page = words(client.get(reverse("annotate:new_protocol", args=["tone"])))
    assert 'value="terse"' in page
    assert "As annotators will see it" in page
    fields = {
        **{"schema_form": "choice", "judged": "text", "parts-0-id": "tone", "parts-0-type": "one"},
        **{"parts-0-title-en": "Mood", "parts-0-labels-0-id": "calm", "parts-0-labels-0-title-en": "serene"},
        **{"parts-0-labels-1-id": "angry", "parts-0-labels-1-title-en": "angry"},
    }
    assert write(client, "tone", **fields, do="add-note").status_code == 200
    assert project.protocols.count() == 1
    assert write(client, "tone", **fields).status_code == 302
    schema = project.protocols.get(number=2).label_schema
    assert [label["id"] for label in schema["parts"][0]["labels"]] == ["calm", "angry"]
    assert "terse" in {one["id"] for one in schema["removed"]}
    assert Event.objects.filter(action="protocol_opened").count() == 1
    page = words(client.get(reverse("annotate:show_protocols", args=["tone"])))
    assert "Not asked any more" in page
    assert "serene" in page
    assert "terse" in words(client.get(reverse("annotate:show_protocols", args=["tone"]) + "?number=1"))


def test_a_protocol_without_fields_of_the_question_keeps_it(client):
    project = make_study(names=())
    client.force_login(project.memberships.get().person)
    assert write(client, "tone").status_code == 302
    assert project.protocols.get(number=2).label_schema == project.protocols.get(number=1).label_schema


def test_what_is_wrong_with_the_next_question_keeps_the_guideline(client):
    project = make_study(names=())
    client.force_login(project.memberships.get().person)
    response = write(client, "tone", schema_form="choice", judged="text", guideline_en="Read it *slowly*.")
    assert response.status_code == 422
    assert "A question asks at least one thing beside notes." in words(response)
    assert "Read it *slowly*." in words(response)
    assert project.protocols.count() == 1


def test_the_preview_of_a_guideline_keeps_the_question(client):
    project = make_study(names=())
    client.force_login(project.memberships.get().person)
    fields = {"schema_form": "choice", "judged": "last", "parts-0-id": "tone", "parts-0-title-en": "Mood"}
    page = words(client.post(reverse("annotate:preview_guideline", args=["tone"]), {**TEXTS, **fields}))
    assert 'value="Mood"' in page


def test_a_kind_with_labels_of_its_own_has_no_such_fields(client):
    cast = make_cast()
    client.force_login(cast.lea.person)
    page = words(client.get(reverse("annotate:new_protocol", args=[cast.project.slug])))
    assert "schema_form" not in page


def test_annotators_answer_without_script(client, tmp_path):
    schema = {**QUESTION, "parts": [*QUESTION["parts"]]}
    schema["parts"][4] = {**schema["parts"][4], "when": {"part": "tone", "label": "angry"}}
    project = make_study(names=("ana",), schema=schema)
    import_texts(project, tmp_path)
    ana = project.memberships.get(role="annotator")
    client.force_login(ana.person)
    row = ana.assignments.get(state="open")
    page = words(client.get(reverse("annotate:label_item", args=[row.public_id])))
    assert "where “Tone” is “angry”" in page
    assert "<dt><kbd>t</kbd></dt><dd>Gaps · term</dd>" in page
    own = {"key": "key-of-the-first-answer", "protocol": "1", "number": "0"}
    address = reverse("annotate:submit_annotation", args=[row.public_id])
    refused = client.post(address, {**own, "scale.clarity": "7", "note.more": "kept"})
    assert refused.status_code == 422
    assert "“Tone” has no answer." in words(refused)
    assert "from 1 to 5" in words(refused)
    assert client.post(address, {**own, "one.tone": "calm", "note.more": "not asked"}).status_code == 302
    assert ana.assignments.get(pk=row.pk).annotations.get().label == {
        "answers": {"tone": "calm", "faults": []},
        "notes": {},
        "spans": [],
    }
