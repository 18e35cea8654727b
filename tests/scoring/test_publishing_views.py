"""The lead's page that publishes gaps and written texts into other projects of theirs."""

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.models import Item
from tests.factories import CONVERSATION, make_cast, make_item, make_member, make_project, make_run, make_trace
from tests.factories import make_verdict as verdict
from tests.scoring.readings import make_reading, question, reader_run

pytestmark = pytest.mark.django_db
TEXT = "Run r7 of the lower zone is done."


@pytest.fixture
def cast(db, client):
    cast = SimpleNamespace(**vars(make_cast()))
    cast.gaps, cast.texts = make_project(kind="gap"), make_project(assigning="pairs")
    for project in (cast.gaps, cast.texts):
        make_member(project, cast.lea.person, "lead")
    cast.run = reader_run(cast.project)
    cast.item = make_item(trace=make_trace(cast.project, CONVERSATION), text=TEXT, reply=3)
    make_reading(cast.run, cast.item, question("r7", TEXT))
    client.force_login(cast.lea.person)
    return cast


def wrote(cast, condition="default", text="Run seven is done."):
    run = make_run(cast.project, "writer", settings={"condition": condition})
    verdict(run, cast.item, None, finding={"values": {"text": text, "condition": condition}})
    return run


def address(name, cast):
    return reverse(f"scoring:{name}", args=[cast.project.slug])


def test_the_page_offers_runs_and_projects_of_the_right_kinds(client, cast):
    wrote(cast)
    page = client.get(address("show_publishing", cast)).content.decode()
    assert f'<option value="{cast.gaps.slug}">' in page
    assert f'<option value="{cast.texts.slug}">' in page
    assert f'<option value="{cast.project.slug}">' not in page
    assert "<code>default</code>" in page


def test_gaps_are_published_and_said_and_again_adds_nothing(client, cast):
    posted = {"run": cast.run.number, "target": cast.gaps.slug, "n": "100", "seed": ""}
    page = client.post(address("publish_gaps", cast), posted)
    assert page.status_code == 200
    assert "Gaps found: 1; drawn: 1; new: 1; there already: 0." in page.content.decode()
    again = client.post(address("publish_gaps", cast), posted).content.decode()
    assert "new: 0; there already: 1." in again
    assert Item.objects.filter(project=cast.gaps).count() == 1


def test_texts_are_published_for_nobody_yet(client, cast):
    run = wrote(cast)
    page = client.post(address("publish_texts", cast), {"runs": [run.number], "target": cast.texts.slug})
    assert page.status_code == 200
    assert "Reply points: 1; new texts: 1;" in page.content.decode()
    item = Item.objects.get(project=cast.texts)
    assert (item.text, item.arm, item.is_planned) == ("Run seven is done.", "default", False)


@pytest.mark.parametrize(
    ("name", "posted"),
    [
        ("publish_gaps", {"run": "77", "n": "5"}),
        ("publish_gaps", {"run": "x", "n": "5"}),
        ("publish_gaps", {"run": "1", "n": "none"}),
        ("publish_texts", {"runs": ["77"]}),
        ("publish_texts", {}),
    ],
)
def test_what_does_not_go_is_said_and_publishes_nothing(client, cast, name, posted):
    wrote(cast)
    target = cast.gaps if name == "publish_gaps" else cast.texts
    page = client.post(address(name, cast), {"target": target.slug, **posted})
    assert page.status_code == 422
    assert 'role="alert"' in page.content.decode()
    assert not Item.objects.filter(project__in=[cast.gaps, cast.texts]).exists()


@pytest.mark.parametrize("name", ["publish_gaps", "publish_texts"])
def test_a_project_of_somebody_else_is_not_there(client, cast, name):
    other = make_project(kind="gap" if name == "publish_gaps" else "reply")
    for target in (other.slug, "nowhere", "", "a\0b", "x" * 400, "名"):
        posted = {"run": cast.run.number, "runs": [1], "n": "5", "target": target}
        assert client.post(address(name, cast), posted).status_code == 404


def test_a_project_of_another_kind_has_no_such_page(client, cast):
    assert client.get(reverse("scoring:show_publishing", args=[cast.gaps.slug])).status_code == 404


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_it_is_for_leads(client, cast, who):
    client.force_login(getattr(cast, who).person)
    assert client.get(address("show_publishing", cast)).status_code == 404
    for name in ("publish_gaps", "publish_texts"):
        assert client.post(address(name, cast), {}).status_code == 404
