"""A lead's list and preview of items."""

import re

import pytest
from django.urls import reverse

from annotate import blind
from annotate.models import Assignment, Item
from tests.factories import (
    NOW,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_protocol,
    make_submitted,
    make_trace,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    return make_cast()


@pytest.fixture
def page(client, cast):
    client.force_login(cast.lea.person)
    return client


def address(name, *args):
    return reverse(f"annotate:{name}", args=args)


def test_a_preview_shows_what_the_annotator_is_shown_and_no_form(page, client, cast):
    trace = make_trace(cast.project)
    item = make_item(trace=trace, reply=5)
    assignment = make_assignment(cast.ana, item)
    shown = blind.show_item(cast.ana.person, assignment.public_id)
    looked_at = blind.preview_item(cast.project.pk, item.pk)
    for part in ("files", "messages", "pieces", "language", "phase", "kind", "protocol"):
        assert getattr(looked_at, part) == getattr(shown, part)
    said = page.get(address("preview_item", cast.project.slug, item.pk)).content.decode()
    client.force_login(cast.ana.person)
    theirs = client.get(address("label_item", assignment.public_id)).content.decode()
    parts = [re.search(r'<div class="reading">.*?</section>\s*</div>', text, re.S)[0] for text in (said, theirs)]
    assert parts[0] == parts[1]
    assert "<form id=" not in said
    assert "prices" not in said


def test_nobody_but_leads_and_no_item_of_elsewhere(client, cast):
    item, foreign = make_item(cast.project), make_item(cast.other_project)
    staged = make_item(trace=make_trace(cast.project, is_staged=True))
    slug = cast.project.slug
    client.force_login(cast.lea.person)
    assert client.get(address("preview_item", slug, item.pk)).status_code == 200
    for pk in (foreign.pk, staged.pk, 10**6):
        assert client.get(address("preview_item", slug, pk)).status_code == 404
    for somebody in (cast.ana, cast.rita, cast.zoe):
        client.force_login(somebody.person)
        for name, args in (("preview_item", [item.pk]), ("list_items", []), ("list_practice", [])):
            assert client.get(address(name, slug, *args)).status_code == 404


def test_items_are_listed_by_pages_and_phases(page, cast, monkeypatch):
    monkeypatch.setattr("annotate.views.items.N_ITEMS", 2)
    items = [make_item(cast.project, phase=phase) for phase in ("practice", "main", "main", "main")]
    make_submitted(cast.ana, items[1])
    make_submitted(cast.ben, items[1])
    base = address("list_items", cast.project.slug)
    first = page.get(base).content.decode()
    assert f">{items[0].trace.source_id}<" in first
    assert f"after={items[1].pk}" in first
    assert items[2].trace.source_id in page.get(f"{base}?after={items[1].pk}").content.decode()
    only = page.get(f"{base}?phase=practice").content.decode()
    assert items[0].trace.source_id in only
    assert items[1].trace.source_id not in only
    assert '<td class="number">2</td>' in first
    for wrong in ("phase=other", "after=x", "after=-1", f"after={'9' * 30}"):
        assert page.get(f"{base}?{wrong}").status_code == 404


def test_an_empty_project_says_what_to_do_first(page, cast):
    for name in ("list_items", "list_practice"):
        assert address("list_imports", cast.project.slug) in page.get(address(name, cast.project.slug)).content.decode()


@pytest.mark.parametrize("n", [1, 30])
def test_the_pages_take_a_fixed_number_of_statements(page, cast, django_assert_max_num_queries, n):
    for _ in range(n):
        make_submitted(cast.ana, make_item(cast.project, phase="practice"))
    item = Item.objects.first()
    for name, args, most in (
        ("list_items", [], 4),
        ("list_practice", [], 8),
        ("preview_item", [item.pk], 7),
        ("answer_practice", [item.pk], 8),
    ):
        with django_assert_max_num_queries(most):
            page.get(address(name, cast.project.slug, *args))


def test_older_labels_are_opened_again_by_a_post(page, cast):
    item = make_item(cast.project)
    done = make_assignment(cast.ana, item, state=Assignment.State.SUBMITTED)
    make_annotation(done)
    make_protocol(cast.project)
    response = page.post(address("reopen_items", cast.project.slug))
    assert response.url == address("show_protocols", cast.project.slug)
    again = cast.ana.assignments.get(round__purpose="protocol")
    assert (again.item, again.state, again.round.opened_at > NOW) == (item, Assignment.State.OPEN, True)
