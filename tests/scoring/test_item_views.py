"""The lead's page of one item: what annotators saw, what each of them and the judge said of it."""

import html
import re

import pytest
from django.urls import reverse

from annotate.models import Person, Post
from tests.factories import (
    CONVERSATION,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_round,
    make_run,
    make_submitted,
    make_trace,
    make_verdict,
)

pytestmark = pytest.mark.django_db
HOSTILE = '<b onclick="x()">Table</b> & {{ 4 }} one'


def label_of(*spans, name="needs_information", text="", **fields):
    marks = [{"start": s, "end": e, "type": type_, "quote": text[s:e]} for s, e, type_ in spans]
    return {"label": name, "states_no_result": False, "spans": marks, "comment": "", **fields}


@pytest.fixture
def cast(db, client):
    cast = make_cast()
    client.force_login(cast.lea.person)
    return cast


def show(client, cast, item, **query):
    return client.get(reverse("scoring:show_item", args=[cast.project.slug, item.pk]), query)


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def laned_text(response):
    """The judged text as the page has it, with and without its tags."""
    (found,) = re.findall(r'<div class="text laned[^>]*>(.*?)</div>', response.content.decode(), re.DOTALL)
    return found, html.unescape(re.sub(r"<[^>]+>", "", found))


def test_labels_stand_side_by_side_with_code_protocol_correction_and_comment(client, cast):
    item = make_item(trace=make_trace(cast.project, CONVERSATION))
    make_submitted(cast.ana, item)
    again = make_submitted(cast.ben, item)
    make_annotation(again, label_of(name="unrepairable_or_no_answer", comment="No number."), reason="Misread.")
    text = words(show(client, cast, item))
    assert "a1 readable Protocol 1" in text
    assert "a2 unrepairable or no answer No number. Protocol 1 · corrected: answer 2" in text
    assert "Why it was corrected: Misread." in text
    assert "Times code reading page hidden" in text
    assert "a1 6.0 s 0.0 s 9.0 s" in text


def test_it_shows_what_the_annotators_saw_and_nothing_private(client, cast):
    text = words(show(client, cast, make_item(trace=make_trace(cast.project, CONVERSATION), reply=5)))
    assert "What the requester has seen" in text
    assert "The first one is cheaper." in text
    assert "A 4, B 5" not in text
    assert "Nobody has labelled this item yet." in text
    assert "No judge has said anything of this item yet. Start a run" in text


def test_everybodys_spans_lie_under_the_text_which_stays_as_it_is(client, cast):
    item = make_item(cast.project, text=HOSTILE)
    make_submitted(cast.ana, item, label_of((3, 20, "reference"), text=HOSTILE))
    make_submitted(cast.ben, item, label_of((18, 27, "definition"), text=HOSTILE))
    make_verdict(make_run(cast.project), item, label_of((0, len(HOSTILE), "background"), text=HOSTILE))
    page, text = laned_text(show(client, cast, item))
    assert text == HOSTILE
    assert "<b" not in page
    assert 'data-tag="a1 r"' in page
    assert 'data-tag="a2 d"' in page
    assert 'data-tag="judge b"' in page
    assert 'class="lane lane-2 type-definition"' in page


def test_the_newest_verdict_is_shown_and_others_are_listed(client, cast):
    item = make_item(cast.project)
    make_verdict(make_run(cast.project), item, "readable")
    make_verdict(make_run(cast.project, version="2"), item, "unrepairable_or_no_answer")
    text = words(show(client, cast, item))
    assert text.index("unrepairable or no answer") < text.index("1 other verdict") < text.index("version 1")
    assert "Run 2 · version 2" in text


def test_an_answer_that_nobody_could_read_is_shown_as_it_came(client, cast):
    item = make_item(cast.project)
    finding = {"values": {}, "spans": [], "unreadable": "<script>alert(1)</script>"}
    make_verdict(make_run(cast.project), item, None, finding=finding, is_unreadable=True)
    page = show(client, cast, item).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "Its answer could not be read" in page


def test_a_reported_problem_stands_in_place_of_a_label(client, cast):
    item = make_item(cast.project)
    assignment = make_assignment(cast.ana, item, "problem")
    Post.objects.create(item=item, round=assignment.round, author=cast.ana, purpose="problem", text="It is <cut> off.")
    text = words(show(client, cast, item))
    assert "a1 reported a problem: It is <cut> off." in text


def test_a_later_round_of_the_same_rater_has_a_name_of_its_own(client, cast):
    item = make_item(cast.project)
    make_submitted(cast.ana, item)
    make_submitted(cast.ana, item, "unrepairable_or_no_answer", round=make_round(cast.project, "protocol"))
    assert "a1/2 unrepairable or no answer" in words(show(client, cast, item))


def test_one_goes_on_to_the_items_around_it(client, cast):
    first, second, third = (make_item(cast.project) for _ in range(3))
    make_item(cast.project, phase="pilot")
    page = show(client, cast, second).content.decode()
    for one, way in ((first, "prev"), (third, "next")):
        assert re.search(rf'/items/{one.pk}/labels/"[^>]*rel="{way}"', page)
    assert 'rel="next"' not in show(client, cast, third).content.decode()


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_for_everybody_else_the_page_is_not_there(client, cast, who):
    item = make_item(cast.project)
    client.force_login(getattr(cast, who).person)
    missing = client.get(reverse("scoring:show_item", args=["no-such-project", item.pk]))
    response = show(client, cast, item)
    assert (response.status_code, response.content) == (404, missing.content)


def test_an_item_of_another_project_is_not_there(client, cast):
    assert show(client, cast, make_item(cast.other_project)).status_code == 404
    assert client.get(f"/projects/{cast.project.slug}/items/{2**70}/labels/").status_code == 404


def test_the_page_answers_in_chinese(client, cast):
    Person.objects.filter(pk=cast.lea.person_id).update(interface_language="zh-hans")
    response = show(client, cast, make_item(cast.project))
    assert (response.status_code, response["Content-Language"]) == (200, "zh-hans")


@pytest.mark.parametrize("more", [0, 12])
def test_the_page_takes_thirteen_statements_however_many_labels_and_verdicts(
    client, cast, django_assert_num_queries, more
):
    item = make_item(cast.project)
    make_submitted(cast.ana, item)
    for number in range(more):
        make_submitted(make_member(cast.project, f"n{number}"), item)
        make_verdict(make_run(cast.project), item)
    with django_assert_num_queries(13):
        show(client, cast, item)
