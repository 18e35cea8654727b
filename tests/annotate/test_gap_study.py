"""A study of gaps: published questions are shown with just what a classifier gets, and labelled by two people."""

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotate.importing import FORMAT, add_items, import_traces
from annotate.models import Annotation, Assignment, Item
from annotate.staging import NewItem
from annotate.traces import base
from tests.annotate.api.asking import Script
from tests.conftest import ROOT
from tests.factories import make_cast

pytestmark = pytest.mark.django_db
WINDOW = "As in run-12, the GTR fell by a third."
ASKED = {"question": "Which run is <b>run-12</b>?", "type": "reference", "start": 6, "end": 12}


@pytest.fixture
def cast(db):
    cache.clear()
    cast = make_cast(kind="gap")
    messages = (
        base.Message(0, "user", "SECRET request"),
        base.Message(1, "assistant", "SECRET whole reply"),
    )
    trace = base.Trace("t1", FORMAT, messages, cluster="c1", language="en", metadata={"model": "SECRET-model"})
    item = NewItem(1, WINDOW, asked=ASKED, origin={"category": "SECRET"})
    add_items(project=cast.project, source="gaps", traces=[(trace, [item])], by=cast.lea.person, now=timezone.now())
    return cast


def assignment_of(member):
    return Assignment.objects.get(annotator=member)


def page_of(client, member):
    client.force_login(member.person)
    return client.get(reverse("annotate:label_item", args=[assignment_of(member).public_id]))


def test_the_page_shows_what_the_classifier_gets_and_nothing_else(client, cast):
    page = page_of(client, cast.ana).content.decode()
    assert "Which run is &lt;b&gt;run-12&lt;/b&gt;?" in page
    assert "As in <mark>run-12</mark>, the GTR fell by a third." in page
    assert "unresolved reference" in page
    assert [f'value="{name}"' in page for name in ("pointer", "coined", "term", "background")] == [True] * 4
    assert "SECRET" not in page


def test_a_script_gets_the_same(cast):
    shown = Script(cast.ana).get(f"projects/{cast.project.slug}/next/").json()["item"]
    assert shown["text"] == WINDOW
    assert shown["question"] == ASKED
    assert (shown["messages"], shown["files"], shown["entries"]) == ([], [], [])
    assert "SECRET" not in str(shown)


def test_a_category_has_to_be_chosen_and_is_stored(client, cast):
    assert page_of(client, cast.ana).status_code == 200
    assignment = assignment_of(cast.ana)
    address = reverse("annotate:submit_annotation", args=[assignment.public_id])
    fields = {"key": "k" * 20, "protocol": 1, "number": 0, "draft_number": 0, "comment": "a guess"}
    refused = client.post(address, fields)
    assert refused.status_code == 422
    assert "No category is chosen." in refused.content.decode()
    assert "a guess" in refused.content.decode()
    client.post(address, {**fields, "category": "coined"})
    assert Annotation.objects.get().label == {"category": "coined", "comment": "a guess"}


def test_a_category_of_no_such_name_is_refused(cast):
    script = Script(cast.ana)
    shown = script.get(f"projects/{cast.project.slug}/next/").json()["item"]
    body = {"key": "k" * 20, "protocol": shown["protocol"], "label": {"category": "definition"}}
    assert script.post(f"items/{shown['public_id']}/annotations/", body).status_code in (400, 422)
    assert not Annotation.objects.exists()


def test_a_file_of_traces_makes_no_item_and_is_told_so(cast):
    path = ROOT / "fixtures" / "traces" / "sightline.jsonl"
    report = import_traces(project=cast.project, path=path, file_name=path.name)
    assert report.is_refused
    assert [problem.code for problem in report.tally.problems] == ["published_only"]
    assert Item.objects.count() == 1


def test_the_lead_sees_the_question_too(client, cast):
    client.force_login(cast.lea.person)
    address = reverse("annotate:preview_item", args=[cast.project.slug, Item.objects.get().pk])
    assert "Which run is" in client.get(address).content.decode()


def test_a_lead_is_told_where_items_come_from(client, cast):
    client.force_login(cast.lea.person)
    imports = client.get(reverse("annotate:list_imports", args=[cast.project.slug])).content.decode()
    assert "published from a project of replies" in imports
    assert 'type="file"' not in imports
    overview = client.get(reverse("annotate:show_project", args=[cast.project.slug])).content.decode()
    assert "Upload traces" not in overview
