"""The lead's pages of rounds and gaps, and what annotators post beside an item."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Post, Round, Settlement
from tests.annotate.test_rounds import POOR, close, look_again, own_in
from tests.annotate.test_rounds import cast as cast_of_three
from tests.factories import make_protocol, make_submitted

pytestmark = pytest.mark.django_db
cast = cast_of_three
KEY = "a-key-of-sixteen-letters"
HTMX = {"HX-Request": "true"}


def page_of(member):
    browser = Client()
    browser.force_login(member.person)
    return browser


def address(name, *args):
    return reverse(f"annotate:{name}", args=args)


def test_a_lead_closes_the_first_round_and_opens_an_informed_one_on_its_page(cast):
    lead, slug = page_of(cast.lea), cast.project.slug
    shown = lead.get(address("show_rounds", slug)).content.decode()
    assert "Close a blind round first" in shown
    assert lead.post(address("close_round", slug, 1), {"rest": "withdraw"}).url == address("show_rounds", slug)
    shown = lead.get(address("show_rounds", slug)).content.decode()
    assert 'value="disagreeing" checked> those that people labelled differently <span class="quiet">1</span>' in shown
    assert lead.post(address("open_round", slug), {"which": "disagreeing", "phase": "main"}).status_code == 302
    shown = lead.get(address("show_rounds", slug)).content.decode()
    assert "An informed round is open." in shown
    assert lead.post(address("open_round", slug), {"which": "all", "phase": "main"}).status_code == 422
    assert lead.post(address("open_round", slug), {"which": "x", "phase": "main"}).status_code == 422
    assert lead.get(f"{address('show_rounds', slug)}?phase=practice").status_code == 404
    assert lead.post(address("close_round", slug, 9)).status_code == 404


@pytest.mark.parametrize("n", [0, 30])
def test_the_page_takes_a_fixed_number_of_statements(cast, n, django_assert_num_queries):
    for _ in range(n):
        make_submitted(cast.ana)
    lead = page_of(cast.lea)
    lead.get("/")
    with django_assert_num_queries(8):
        lead.get(address("show_rounds", cast.project.slug))
    with django_assert_num_queries(6):
        lead.get(address("list_gaps", cast.project.slug))


def test_a_post_is_answered_by_the_thread_or_by_the_page_and_sent_again_by_the_same(cast):
    opened = look_again(cast)
    own = own_in(cast.ana, opened.number, cast.disputed)
    browser = page_of(cast.ana)
    words = {"key": KEY, "text": "It lacks the unit. <b>"}
    thread = address("post_in_thread", own.public_id)
    for _ in range(2):
        piece = browser.post(thread, words, headers=HTMX)
        assert piece.status_code == 200
        assert "It lacks the unit. &lt;b&gt;" in piece.content.decode()
        assert KEY not in piece.content.decode()
    assert browser.post(thread, words).url == address("label_item", own.public_id)
    assert Post.objects.count() == 1
    other = {"key": "another-key-of-letters"}
    assert browser.post(thread, {**other, "text": " "}, headers=HTMX).status_code == 422
    assert browser.post(thread, {**other, "text": "\0"}).status_code == 302
    assert Post.objects.count() == 1


def test_what_is_stored_is_acknowledged_after_the_round_was_closed(cast):
    opened = look_again(cast)
    own = own_in(cast.ana, opened.number, cast.disputed)
    browser, thread = page_of(cast.ana), address("post_in_thread", own.public_id)
    browser.post(thread, {"key": KEY, "text": "Once."})
    close(cast, opened.number)
    told = browser.post(thread, {"key": KEY, "text": "Once."}, headers=HTMX)
    assert told.status_code == 200
    assert "What you said is stored." in told.content.decode()
    assert browser.post(thread, {"key": "another-key-of-letters", "text": "Twice."}).status_code == 404


def test_the_forms_of_a_page_have_keys_of_their_own_so_that_nothing_is_taken_for_something_sent_before(cast):
    opened = look_again(cast)
    own = own_in(cast.ana, opened.number, cast.disputed)
    browser = page_of(cast.ana)
    shown = browser.get(address("label_item", own.public_id)).content.decode()
    keys = re.findall(r'name="key" value="([^"]+)"', shown)
    assert len(keys) == len(set(keys)) == 3
    for name in ("post_in_thread", "report_gap"):
        browser.post(address(name, own.public_id), {"key": keys.pop(), "text": name})
    assert set(Post.objects.values_list("purpose", "text")) == {("thread", "post_in_thread"), ("gap", "report_gap")}


def test_others_and_items_of_blind_rounds_have_no_thread(cast):
    first = own_in(cast.ana, 1, cast.disputed)
    look_again(cast)
    words = {"key": KEY, "text": "Hello."}
    assert page_of(cast.ana).post(address("post_in_thread", first.public_id), words).status_code == 404
    own = Assignment.objects.filter(annotator=cast.ana, round__informed=True).get()
    for somebody in (cast.ben, cast.lea, cast.zoe):
        assert page_of(somebody).post(address("post_in_thread", own.public_id), words).status_code == 404
    assert not Post.objects.exists()


def test_the_informed_page_shows_answers_thread_and_the_own_form_and_no_code_or_name(cast):
    opened = look_again(cast)
    own = own_in(cast.ana, opened.number, cast.disputed)
    shown = page_of(cast.ana).get(address("label_item", own.public_id)).content.decode()
    for part in ("informed round", "What was answered before", "needs information", 'id="thread"', 'id="label-form"'):
        assert part in shown
    for secret in (cast.ben.code, "ben", cast.project.title_en):
        assert f">{secret}<" not in shown


def test_gaps_lead_to_the_next_protocol(cast):
    browser, first = page_of(cast.ana), own_in(cast.ana, 1, cast.disputed)
    told = browser.post(
        address("report_gap", first.public_id), {"key": KEY, "text": "What of two?", "protocol": "1"}, headers=HTMX
    )
    assert "The lead is told." in told.content.decode()
    browser.post(address("report_gap", first.public_id), {"key": KEY, "text": "What of two?", "protocol": "1"})
    gap = Post.objects.get()
    assert (gap.purpose, gap.protocol.number, gap.item) == ("gap", 1, cast.disputed)
    settled = Settlement.objects.create(
        item=cast.agreed, how="unresolved", cause="guideline", note="Nothing of prices.", person=cast.rita.person
    )
    lead, slug = page_of(cast.lea), cast.project.slug
    shown = lead.get(address("list_gaps", slug)).content.decode()
    assert "What of two?" in shown
    assert "Nothing of prices." in shown
    form = lead.get(f"{address('new_protocol', slug)}?gap={gap.pk}&settled={settled.pk}&gap=x").content.decode()
    assert f"Item {cast.agreed.pk}: Nothing of prices." in form
    assert f"Item {cast.disputed.pk}: What of two?" in form
    assert lead.get(f"{address('list_gaps', slug)}?protocol=1").status_code == 200
    assert lead.get(f"{address('list_gaps', slug)}?protocol=2").status_code == 404
    assert own_in(cast.ana, 1, cast.disputed).state == "submitted"


def test_a_label_type_is_opened_again_to_those_who_gave_it(cast):
    make_protocol(cast.project)
    lead, slug = page_of(cast.lea), cast.project.slug
    assert 'value="label|needs_information"' in lead.get(address("show_protocols", slug)).content.decode()
    lead.post(address("reopen_items", slug), {"label": f"label|{POOR}"})
    given = Assignment.objects.filter(round__purpose="protocol")
    assert [(one.annotator, one.item) for one in given] == [(cast.ben, cast.disputed)]
    assert lead.post(address("reopen_items", slug), {"label": "label|never"}).status_code == 404
    lead.post(address("reopen_items", slug))
    assert Assignment.objects.filter(round__purpose="protocol").count() == 5


def test_a_known_answer_among_main_items_and_the_pass_rule_are_set_on_the_page_of_practice(cast):
    lead, slug = page_of(cast.lea), cast.project.slug
    form = {"label": "readable", "spans": "[]"}
    assert lead.post(address("answer_practice", slug, cast.disputed.pk), form).url == address("list_practice", slug)
    Settlement.objects.create(item=cast.agreed, how="reviewer", label={}, person=cast.rita.person)
    assert lead.post(address("answer_practice", slug, cast.agreed.pk), form).status_code == 422
    assert lead.post(address("set_pass_rule", slug), {"last": "2", "percent": "50"}).status_code == 302
    shown = lead.get(address("list_practice", slug)).content.decode()
    assert 'name="last" value="2"' in shown
    assert f"<td>{cast.ben.code}</td><td class=\"number\">0</td>" in shown
    refused = lead.post(address("set_pass_rule", slug), {"last": "x", "percent": "50"})
    assert refused.status_code == 422
    assert 'value="x"' in refused.content.decode()
    lead.post(address("set_pass_rule", slug), {"last": "", "percent": ""})
    assert 'name="last" value=""' in lead.get(address("list_practice", slug)).content.decode()
    assert page_of(cast.rita).post(address("set_pass_rule", slug), {"last": "2", "percent": "50"}).status_code == 404
    assert Round.objects.count() == 2
