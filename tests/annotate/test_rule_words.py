"""A lead says on the pages of a project by which words the rules suggest steps."""

import pytest
from django.urls import reverse

from annotate.kinds.redundancy.schema import SCHEMA
from annotate.models import Project, Protocol
from tests.factories import make_cast, make_person

pytestmark = pytest.mark.django_db
WORDS = {"schema_form": "redundancy", "suggest": "on", "keywords-ABN": "timeout", "keywords-INC": "error\nnot there"}
NEW = {
    **{"title_en": "Steps", "title_zh": "步骤", "slug": "steps", "kind": "redundancy", "languages": "en", "seed": "1"},
    **{"text_beside_calls": "private", "show": "light", "open_phase": "main", "assigning": "panel", "overlap": "5"},
}


def test_a_new_project_asks_for_the_words_and_keeps_them(client):
    client.force_login(make_person("lead", may_create_projects=True))
    page = client.post(reverse("annotate:new_project"), NEW)
    assert "keywords-ABN" in page.content.decode()
    assert not Project.objects.exists()
    answer = client.post(reverse("annotate:new_project"), {**NEW, **WORDS})
    assert answer.status_code == 302, answer.content.decode()
    schema = Protocol.objects.get(project__slug="steps").label_schema
    assert schema["keywords"] == {"ABN": ["timeout"], "INC": ["error", "not there"]}


def test_the_next_protocol_begins_with_the_words_that_there_are(client):
    cast = make_cast(kind="redundancy")
    client.force_login(cast.lea.person)
    address = reverse("annotate:new_protocol", args=[cast.project.slug])
    assert "rate limit" in client.get(address).content.decode()
    texts = {"guideline_en": "Read.", "guideline_zh": "读。", "change_note": "words", "after": "1"}
    refused = client.post(address, {**texts, **WORDS, "keywords-INC": "x" * 100})
    assert refused.status_code == 422
    assert "x" * 100 in refused.content.decode()
    off = {name: value for name, value in WORDS.items() if name != "suggest"}
    assert client.post(address, {**texts, **off}).status_code == 302
    schema = cast.project.protocols.get(number=2).label_schema
    assert (schema["suggest"], schema["types"]) == (False, SCHEMA["types"])
    page = client.get(reverse("annotate:show_protocols", args=[cast.project.slug])).content.decode()
    assert "off" in page
