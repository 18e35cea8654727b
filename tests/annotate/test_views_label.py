"""The annotator's pages: what they answer, what they cost, what they keep, what they never do."""

import gzip
import html
import json
import posixpath
import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate import labeling
from annotate.models import Annotation, Assignment, Membership, Person, Post, Settlement
from annotate.traces import base
from tests.factories import (
    NOW,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_plan,
    make_protocol,
    make_round,
    make_submitted,
    make_trace,
)

pytestmark = pytest.mark.django_db
State = Assignment.State
HTMX = {"HX-Request": "true"}
KEY = "key-of-the-first-answer"
OTHER_KEY = "key-of-another-answer"
FAMILY = "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


@pytest.fixture
def cast(db):
    return make_cast()


@pytest.fixture
def ana(cast):
    return cast.ana


@pytest.fixture
def page(client, ana):
    """Ana's browser."""
    client.force_login(ana.person)
    return client


def form(key=KEY, **fields):
    return {"key": key, "label": "readable", "protocol": "1", "number": "0", "spans": "[]", "comment": "", **fields}


def url(name, assignment):
    return reverse(f"annotate:{name}", args=[assignment.public_id])


def submit(page, assignment, *, headers=None, **fields):
    return page.post(url("submit_annotation", assignment), form(**fields), headers=headers)


def words(response):
    return html.unescape(response.content.decode())


def span(start, end, quote, type="reference"):
    return {"start": start, "end": end, "type": type, "quote": quote}


class Elements(HTMLParser):
    """Elements of a page with their attributes, and the text in each element with an id."""

    def __init__(self, response):
        super().__init__(convert_charrefs=True)
        self.found, self.texts, self.open = [], {}, []
        self.feed(response.content.decode())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.found.append((tag, attributes))
        if tag not in {"input", "meta", "link", "br", "hr", "img"}:
            self.open.append((tag, attributes.get("id") or (tag == "textarea" and attributes.get("name")) or None))
            if tag == "textarea":
                self.texts[attributes["name"]] = ""
        if "id" in attributes:
            self.texts.setdefault(attributes["id"], "")

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, name in self.open:
            if name is not None:
                self.texts[name] += data

    def all(self, tag, **wanted):
        return [found for one, found in self.found if one == tag and wanted.items() <= found.items()]

    def field(self, name):
        """What stands in a field of the label form."""
        fields = [a for tag, a in self.found if tag == "input" and a.get("name") == name]
        if not fields:
            return self.texts[name]
        if fields[0]["type"] in {"radio", "checkbox"}:
            return next((a.get("value", "on") for a in fields if "checked" in a), None)
        return fields[0]["value"]


# The road through a plan


def test_a_submit_by_htmx_answers_with_the_next_item_as_a_piece(page, ana):
    plan = make_plan(ana, 2)
    response = submit(page, plan[0], headers=HTMX)
    assert response.status_code == 200
    assert response.content.startswith(b'<div id="item"')
    assert b"<html" not in response.content
    elements = Elements(response)
    assert elements.all("div", id="item")[0]["data-item"] == plan[1].public_id
    assert elements.texts["reply-text"] == "Answer 2."
    assert re.fullmatch(r"Saved \d\d:\d\d", elements.texts["save-state"])
    assert response["HX-Push-Url"] == url("label_item", plan[1])


def test_a_plain_submit_answers_with_a_redirect_to_the_next_item(page, ana):
    plan = make_plan(ana, 2)
    response = page.post(url("submit_annotation", plan[0]), form(), follow=True)
    assert [status for _, status in response.redirect_chain] == [302, 302]
    assert response.request["PATH_INFO"] == url("label_item", plan[1])
    assert Elements(response).texts["reply-text"] == "Answer 2."
    assert plan[0].annotations.get().key == KEY


@pytest.mark.parametrize("headers", [HTMX, None])
def test_after_the_last_item_the_page_says_so(page, ana, headers):
    response = page.post(url("submit_annotation", make_plan(ana, 1)[0]), form(), headers=headers, follow=True)
    assert response.status_code == 200
    assert "There is nothing left for you to read in this project." in words(response)


def test_both_ways_of_answering_are_told_apart_by_caches(page, ana):
    plan = make_plan(ana, 2)
    for headers in (HTMX, None):
        response = submit(page, plan[0], headers=headers)
        assert "HX-Request" in response["Vary"]
        assert response["Cache-Control"] == "no-store"
        assert "ETag" not in response
        assert "Last-Modified" not in response


def test_the_form_carries_what_a_submit_needs_and_every_page_another_key(page, ana):
    assignment = make_plan(ana, 1)[0]
    first, second = (Elements(page.get(url("label_item", assignment))) for _ in range(2))
    assert (first.field("protocol"), first.field("number"), first.field("draft_number")) == ("1", "0", "0")
    assert len(first.field("key")) >= 16
    assert first.field("key") != second.field("key")


def test_looking_at_an_item_says_when_it_was_first_shown(page, ana):
    assignment = make_plan(ana, 1)[0]
    page.get(url("label_item", assignment))
    assignment.refresh_from_db()
    assert assignment.first_shown_at is not None


def test_the_next_page_leads_to_the_first_open_item(page, ana):
    plan = make_plan(ana, 2)
    response = page.get(reverse("annotate:next_item", args=[ana.project.slug]))
    assert (response.status_code, response["Location"]) == (302, url("label_item", plan[0]))


def test_a_label_with_spans_a_note_and_times_is_stored_as_posted(page, ana):
    text = f"So {FAMILY} it is.\nAs in run 12."
    assignment = make_assignment(ana, make_item(ana.project, text=text.replace("\n", "\r\n")))
    Assignment.objects.filter(pk=assignment.pk).update(first_shown_at=timezone.now() - timedelta(minutes=1))
    spans = [span(text.index("run"), len(text) - 1, "run 12"), span(3, 8, FAMILY, "definition")]
    response = submit(
        page,
        assignment,
        label="needs_information",
        states_no_result="on",
        spans=json.dumps(spans),
        comment="one\r\ntwo",
        raw_ms="9000",
        active_ms="7000",
        hidden_ms="1000",
    )
    assert response.status_code == 302
    annotation = assignment.annotations.get()
    assert annotation.label == {
        "label": "needs_information",
        "states_no_result": True,
        "spans": spans[::-1],
        "comment": "one\ntwo",
    }
    assert (annotation.active_ms, annotation.hidden_ms) == (7000, 1000)
    assert 60_000 <= annotation.raw_ms < 120_000, "the server's own time, not the page's"


# The opening rule


def test_reply_5_can_be_neither_read_nor_submitted_before_reply_4(page, ana):
    plan = make_plan(ana, 5)
    for place in range(3):
        submit(page, plan[place], key=f"key-of-answer-number-{place}")
    missing = page.get(reverse("annotate:label_item", args=["there-is-no-such-item"]))
    assert missing.status_code == 404
    for response in (page.get(url("label_item", plan[4])), submit(page, plan[4], key=OTHER_KEY)):
        assert (response.status_code, response.content) == (404, missing.content)
    assert Annotation.objects.count() == 3
    submit(page, plan[3], key="key-of-answer-number-3")
    assert page.get(url("label_item", plan[4])).status_code == 200
    assert submit(page, plan[4], key=OTHER_KEY).status_code == 302
    assert Annotation.objects.count() == 5


@pytest.mark.parametrize("headers", [HTMX, None])
def test_readable_with_states_no_result_is_refused(page, ana, headers):
    assignment = make_plan(ana, 1)[0]
    response = submit(page, assignment, states_no_result="on", headers=headers)
    assert response.status_code == 422
    assert Elements(response).all("li", **{"data-field": "states_no_result"})
    assert "A reply that states no result or answer is not readable as it is." in words(response)
    assert not Annotation.objects.exists()
    assert submit(page, assignment, headers=headers).status_code in (200, 302)
    assert Annotation.objects.count() == 1


# Keys and windows


@pytest.mark.parametrize("headers", [HTMX, None])
def test_the_same_submit_twice_is_one_answer_and_both_are_told_it_is_saved(page, ana, headers):
    plan = make_plan(ana, 3)
    first, second = (submit(page, plan[0], headers=headers) for _ in range(2))
    assert first.status_code == second.status_code
    assert Annotation.objects.count() == 1
    if headers:
        assert Elements(first).texts["save-state"] == Elements(second).texts["save-state"]
        assert Elements(first).all("div", id="item") == Elements(second).all("div", id="item")


def test_a_known_key_is_answered_before_any_check(page, ana):
    plan = make_plan(ana, 3)
    submit(page, plan[0])
    submit(page, plan[1], key=OTHER_KEY)
    Assignment.objects.filter(pk=plan[0].pk).update(state=State.WITHDRAWN)
    assert submit(page, plan[0], label="no label at all", spans="no JSON").status_code == 302
    assert Annotation.objects.count() == 2


@pytest.mark.parametrize("phase", ["practice", "main"])
@pytest.mark.parametrize("headers", [HTMX, None])
@pytest.mark.parametrize("how", ["paused", "left"])
def test_a_known_key_gets_its_receipt_whatever_has_become_of_ones_part(page, ana, how, headers, phase):
    assignment = make_assignment(ana, make_item(ana.project, phase=phase))
    label = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
    Settlement.objects.create(item=assignment.item, how="known", label=label, reason_en="So.", reason_zh="如此。")
    if phase == "main":
        ana.project.open_phase = "main"
        ana.project.save(update_fields=["open_phase"])
    make_annotation(assignment, key=KEY)
    Assignment.objects.filter(pk=assignment.pk).update(state=State.SUBMITTED, ended_at=NOW, first_shown_at=NOW)
    Membership.objects.filter(pk=ana.pk).update(**{f"{how}_at": NOW})
    response = page.post(url("submit_annotation", assignment), form(), headers=headers, follow=True)
    assert response.status_code == 200
    said = words(response)
    told = "Your part in this project is paused" if how == "paused" else "You have no part in this project any more."
    assert told in said
    assert reverse("annotate:home") in said
    if headers or how == "left":
        assert f'Saved <time datetime="{NOW.isoformat()}' in said
    if headers:
        assert b"<html" not in response.content
    assert submit(page, assignment, key=OTHER_KEY, headers=headers).status_code == 404


def test_a_second_window_is_told_in_words_and_nothing_is_taken_over(page, ana):
    plan = make_plan(ana, 2)
    submit(page, plan[0])
    at = plan[0].annotations.get().submitted_at
    sentence = f"stored already, from here or from another window, since <time datetime=\"{at.isoformat()}"
    piece = submit(page, plan[0], key=OTHER_KEY, label="unrepairable_or_no_answer", headers=HTMX)
    whole = submit(page, plan[0], key=OTHER_KEY, label="unrepairable_or_no_answer")
    assert (piece.status_code, whole.status_code) == (409, 409)
    assert (piece["HX-Retarget"], piece["HX-Reswap"]) == ("#notice", "innerHTML")
    assert b"<html" in whole.content
    for response in (piece, whole):
        assert sentence in words(response)
        assert url("correct_item", plan[0]) in words(response)
    assert plan[0].annotations.get().label["label"] == "readable"


def test_an_item_of_somebody_else_answers_like_one_that_never_was(page, cast):
    assignment = make_plan(cast.ben, 1)[0]
    before = Assignment.objects.filter(pk=assignment.pk).values().get()
    for headers in (HTMX, None):
        missing = page.post(reverse("annotate:submit_annotation", args=["no-such-item"]), form(), headers=headers)
        theirs = submit(page, assignment, headers=headers)
        assert (missing.status_code, theirs.status_code) == (404, 404)
        assert theirs.content == missing.content
        assert dict(theirs.headers) == dict(missing.headers)
    assert Assignment.objects.filter(pk=assignment.pk).values().get() == before
    assert not Annotation.objects.exists()


# What is refused keeps what was typed

TYPED = {
    "label": "readable",
    "states_no_result": "on",
    "spans": json.dumps([span(0, 6, "Answer", "background")]),
    "comment": 'A "note" <b>',
    "raw_ms": "1234",
    "active_ms": "1000",
    "hidden_ms": "34",
}


def test_a_plain_refusal_keeps_everything_typed(page, ana):
    response = submit(page, make_plan(ana, 1)[0], **TYPED)
    assert response.status_code == 422
    elements = Elements(response)
    assert {name: elements.field(name) for name in TYPED if name != "spans"} == {
        name: value for name, value in TYPED.items() if name != "spans"
    }
    assert json.loads(elements.field("spans")) == json.loads(TYPED["spans"])
    assert elements.field("key") == KEY
    assert {item["data-field"] for item in elements.all("li", **{}) if "data-field" in item} == {
        "states_no_result",
        "spans",
    }
    assert not Annotation.objects.exists()


def test_a_refusal_by_htmx_touches_the_words_only(page, ana):
    response = submit(page, make_plan(ana, 1)[0], headers=HTMX, **TYPED)
    assert response.status_code == 422
    assert (response["HX-Retarget"], response["HX-Reswap"]) == ("#problems", "outerHTML")
    elements = Elements(response)
    assert [tag for tag, _ in elements.found] == ["div", "ul", "li", "li"]
    assert elements.all("div", id="problems", role="alert")


def test_a_refused_correction_keeps_its_reason_and_stays_a_correction(page, ana):
    plan = make_plan(ana, 2)
    submit(page, plan[0])
    submit(page, plan[1], key=OTHER_KEY)
    response = submit(page, plan[0], key="key-of-a-correction", number="1", reason="because", **{"label": ""})
    elements = Elements(response)
    assert response.status_code == 422
    assert (elements.field("reason"), elements.field("number")) == ("because", "1")
    assert plan[0].annotations.get().key == KEY


def test_the_key_of_a_refused_answer_is_good_for_the_next_try(page, ana):
    assignment = make_plan(ana, 1)[0]
    submit(page, assignment, states_no_result="on")
    assert submit(page, assignment).status_code == 302
    assert assignment.annotations.get().key == KEY


@pytest.mark.parametrize("key", ["", "short", "x" * 65, "with spaces in it, sixteen", "<script>alert(1)</script>"])
def test_an_answer_without_a_key_of_the_page_is_refused_with_a_new_one(page, ana, key):
    response = submit(page, make_plan(ana, 1)[0], key=key)
    assert response.status_code == 422
    assert Elements(response).all("li", **{"data-field": "key"})
    assert re.fullmatch(r"[\w-]{16,64}", Elements(response).field("key"))
    assert not Annotation.objects.exists()


TEXT = "x" * 100
OK = [span(0, 1, "x")]


@pytest.mark.parametrize(
    ("field", "posted"),
    [
        ("end", {"spans": [span(20, 10, "x")]}),
        ("start", {"spans": [span(-1, 5, "xxxxxx")]}),
        ("end", {"spans": [span(90, 101, "x" * 11)]}),
        *[("start", {"spans": [span(start, 5, "xxxx")]}) for start in ("1", 1.5, True, None, [1])],
        ("quote", {"spans": [span(0, 2, "no")]}),
        ("type", {"spans": [span(0, 2, "xx", "Reference")]}),
        ("label", {"label": "READABLE"}),
        ("label", {"label": "error"}),
        ("label", {"label": ""}),
        ("spans", {"spans": OK * 501}),
        ("spans", {"spans": {}}),
        ("spans", {"spans": []}),
        ("comment", {"comment": "x" * 4001}),
        ("comment", {"comment": "a\x00b"}),
        ("protocol", {"protocol": "2"}),
        ("protocol", {"protocol": ""}),
        ("number", {"number": "-1"}),
        ("number", {"number": str(2**31)}),
        ("draft_number", {"draft_number": str(2**31)}),
        ("raw_ms", {"raw_ms": "1e9"}),
    ],
)
def test_a_field_that_cannot_be_accepted_is_named_and_nothing_is_stored(page, ana, field, posted):
    assignment = make_assignment(ana, make_item(ana.project, text=TEXT))
    labeling.save_draft(
        annotator=ana.person,
        assignment_id=assignment.public_id,
        draft={"number": 0, "draft_number": 1, "fields": {"comment": "a draft"}},
        draft_number=1,
        number=0,
        now=NOW,
    )
    good = {"label": "needs_information", "spans": json.dumps(OK)}
    bad = good | posted | ({"spans": json.dumps(posted["spans"])} if "spans" in posted else {})
    response = submit(page, assignment, headers=HTMX, **bad)
    assert response.status_code == 422
    assert Elements(response).all("li", **{"data-field": field}), words(response)
    assert not Annotation.objects.exists()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.draft["fields"]["comment"]) == (State.OPEN, "a draft")
    assert submit(page, assignment, headers=HTMX, **good).status_code == 200
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize("headers", [HTMX, None])
def test_an_answer_of_100000_spans_is_refused_whole_with_the_limit(page, ana, headers, settings):
    assignment = make_assignment(ana, make_item(ana.project, text=TEXT))
    response = submit(page, assignment, headers=headers, label="needs_information", spans=json.dumps(OK * 100_000))
    assert response.status_code == 413
    assert f"An answer may hold {settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 2**20}.0\xa0MB." in words(response)
    assert not Annotation.objects.exists()
    assert submit(page, assignment, headers=headers).status_code in (200, 302)


@pytest.mark.parametrize("name", ["submit_annotation", "save_draft", "report_problem", "set_language"])
@pytest.mark.parametrize("deep", ["[" * 300_000, '{"a":' * 60_000, "NaN", "1" * 5000])
def test_json_that_would_break_a_reader_is_refused_and_never_our_fault(page, ana, name, deep):
    assignment = make_plan(ana, 1)[0]
    address = reverse("annotate:set_language") if name == "set_language" else url(name, assignment)
    fields = form(label="needs_information", spans=deep, draft=deep, problem="", language=deep)
    assert page.post(address, fields, headers=HTMX).status_code in (404, 422)
    nested = json.dumps({"number": 0, "draft_number": 1, "fields": {"comment": [[]]}}).replace("[[]]", deep[:9000])
    assert page.post(address, {**fields, "draft": nested}, headers=HTMX).status_code in (404, 422)
    assert not Annotation.objects.exists()
    assert not Assignment.objects.exclude(draft=None).exists()


# Signed out, expired, wrong place


@pytest.mark.parametrize("name", ["submit_annotation", "save_draft", "report_problem", "label_item", "correct_item"])
def test_who_is_signed_out_gets_401_in_a_piece_and_the_way_to_sign_in_else(client, ana, name):
    assignment = make_plan(ana, 1)[0]
    method = client.get if name in ("label_item", "correct_item") else client.post
    piece = method(url(name, assignment), form(), headers=HTMX)
    assert (piece.status_code, piece.json()) == (401, {"code": "signed_out"})
    whole = method(url(name, assignment), form())
    assert whole.status_code == 302
    assert whole["Location"].startswith(reverse("annotate:sign_in") + "?next=")
    assert not Annotation.objects.exists()
    client.force_login(ana.person)
    assert method(url(name, assignment), form(draft="{}")).status_code not in (401, 403, 404)


def test_an_expired_session_loses_nothing_the_same_answer_goes_through_afterwards(page, ana):
    plan = make_plan(ana, 2)
    page.logout()
    assert submit(page, plan[0], headers=HTMX).status_code == 401
    assert not Annotation.objects.exists()
    page.force_login(ana.person)
    assert page.post(reverse("annotate:keep_alive"), headers=HTMX).status_code == 204
    assert submit(page, plan[0], headers=HTMX).status_code == 200
    assert plan[0].annotations.get().key == KEY


@pytest.mark.parametrize("how", ["paused", "left"])
def test_a_part_that_has_ended_opens_nothing(page, ana, how):
    assignment = make_plan(ana, 1)[0]
    assert page.get(url("label_item", assignment)).status_code == 200
    Membership.objects.filter(pk=ana.pk).update(**{f"{how}_at": NOW})
    assert page.get(url("label_item", assignment)).status_code == 404
    assert submit(page, assignment).status_code == 404
    assert not Annotation.objects.exists()


# Drafts


def save(page, assignment, *, draft_number=1, number=0, **fields):
    draft = {"number": number, "draft_number": draft_number, "fields": fields}
    return page.post(url("save_draft", assignment), {"draft": json.dumps(draft)}, headers=HTMX)


def test_a_draft_comes_back_with_the_page(page, ana):
    assignment = make_plan(ana, 1)[0]
    spans = json.dumps([span(0, 6, "Answer")])
    fields = {"label": "needs_information", "states_no_result": "on", "spans": spans, "comment": "half", "raw_ms": "70"}
    assert save(page, assignment, draft_number=4, **fields).json() == {"saved": True}
    elements = Elements(page.get(url("label_item", assignment)))
    assert {name: elements.field(name) for name in fields} == fields
    assert elements.field("draft_number") == "4"


def test_late_and_older_drafts_are_told_what_they_are(page, ana):
    plan = make_plan(ana, 2)
    save(page, plan[0], draft_number=2, comment="newer")
    older = save(page, plan[0], draft_number=1, comment="older")
    assert (older.status_code, older.json()) == (409, {"code": "newer_draft"})
    submit(page, plan[0], draft_number="3")
    late = save(page, plan[0], draft_number=4, comment="late")
    assert (late.status_code, late.json()) == (409, {"code": "already_submitted"})
    plan[0].refresh_from_db()
    assert plan[0].draft is None


@pytest.mark.parametrize(
    "draft",
    [
        {},
        [],
        None,
        {"number": 0, "draft_number": 1},
        {"number": 0, "draft_number": 1, "fields": {"comment": 5}},
        {"number": 0, "draft_number": "1", "fields": {}},
        {"number": True, "draft_number": 1, "fields": {}},
        {"number": 0, "draft_number": -1, "fields": {}},
        {"number": 0, "draft_number": 2**31, "fields": {}},
        {"number": 0, "draft_number": 1, "fields": {"comment": "x" * 400_000}},
        {"number": 0, "draft_number": 1, "fields": {"comment": "\x00"}},
        {"number": 0, "draft_number": 1, "fields": {"\ud800": "x"}},
    ],
)
def test_what_is_no_draft_is_refused(page, ana, draft):
    assignment = make_plan(ana, 1)[0]
    response = page.post(url("save_draft", assignment), {"draft": json.dumps(draft)}, headers=HTMX)
    assert response.status_code == 422
    problem = response.json()["problems"][0]
    assert problem["code"] in {"wrong_type", "nul_character", "lone_surrogate"}
    assert problem["remedy"]
    assignment.refresh_from_db()
    assert assignment.draft is None
    assert save(page, assignment, comment="fine").status_code == 200


def test_a_draft_of_an_older_answer_does_not_come_back_over_a_newer_one(page, ana):
    assignment = make_submitted(ana)
    assert save(page, assignment, number=1, label="unrepairable_or_no_answer").status_code == 200
    assert Elements(page.get(url("correct_item", assignment))).field("label") == "unrepairable_or_no_answer"
    make_annotation(assignment, "readable")
    assert Elements(page.get(url("correct_item", assignment))).field("label") == "readable"


# One's own answers


def test_a_submitted_item_is_shown_read_only_with_its_label(page, ana):
    assignment = make_submitted(ana, label="unrepairable_or_no_answer")
    response = page.get(url("label_item", assignment))
    elements = Elements(response)
    assert "unrepairable or no answer" in elements.texts["own-label"]
    assert not elements.all("form", id="label-form")
    assert not elements.all("input", name="label")
    assert not elements.all("dialog", id="problem")


def test_the_form_of_a_correction_holds_the_stored_answer(page, ana):
    assignment = make_submitted(ana, label="unrepairable_or_no_answer")
    elements = Elements(page.get(url("correct_item", assignment)))
    assert (elements.field("label"), elements.field("number")) == ("unrepairable_or_no_answer", "1")
    assert "required" not in elements.all("input", name="reason")[0]
    make_submitted(ana)
    elements = Elements(page.get(url("correct_item", assignment)))
    assert "required" in elements.all("input", name="reason")[0]


def test_a_late_correction_without_a_reason_is_refused_in_words(page, ana):
    assignment = make_submitted(ana)
    make_submitted(ana)
    response = submit(page, assignment, number="1")
    assert response.status_code == 422
    assert "You have submitted another item since, so this is a correction and needs a reason." in words(response)
    assert submit(page, assignment, number="1", reason=" \t").status_code == 422
    assert assignment.annotations.count() == 1
    assert submit(page, assignment, number="1", reason="I misread it.").status_code == 302
    assert assignment.annotations.get(is_current=True).reason == "I misread it."


def test_an_open_item_cannot_be_corrected_and_leads_to_its_own_page(page, ana):
    assignment = make_plan(ana, 1)[0]
    response = page.get(url("correct_item", assignment))
    assert (response.status_code, response["Location"]) == (302, url("label_item", assignment))


def test_a_correction_in_a_closed_round_is_404(page, ana):
    assignment = make_submitted(ana)
    ana.project.rounds.update(closed_at=NOW)
    assert submit(page, assignment, number="1", reason="I misread it.").status_code == 404
    assert assignment.annotations.count() == 1


def test_the_list_of_ones_own_answers_goes_by_pages(page, ana):
    rows = [make_submitted(ana) for _ in range(52)]
    first = page.get(reverse("annotate:own_annotations", args=[ana.project.slug]))
    links = [a["href"] for a in Elements(first).all("a") if "/label/" in a["href"] and "/projects/" not in a["href"]]
    assert links == [url("label_item", row) for row in rows[:1:-1]]
    rest = page.get(reverse("annotate:own_annotations", args=[ana.project.slug]), {"before": "1.2"})
    assert url("label_item", rows[0]) in words(rest)
    for strange in ("x", "-1", "2", "1.", "1." + "9" * 30, "1.²"):
        address = reverse("annotate:own_annotations", args=[ana.project.slug])
        assert page.get(address, {"before": strange}).status_code == 200


def test_the_list_loses_nothing_where_several_rounds_have_the_same_places(page, ana):
    first = [make_submitted(ana) for _ in range(30)]
    again = make_round(ana.project, purpose="protocol")
    second = [make_submitted(ana, row.item, round=again) for row in first]
    address, found, lines = reverse("annotate:own_annotations", args=[ana.project.slug]), [], ""
    while address:
        response = page.get(address)
        hrefs = [a["href"] for a in Elements(response).all("a")]
        found += [href for href in hrefs if "/label/" in href and "/projects/" not in href]
        earlier = [href for href in hrefs if href.startswith("?before=")]
        lines += words(response)
        address = earlier and reverse("annotate:own_annotations", args=[ana.project.slug]) + earlier[0]
    assert found == [url("label_item", row) for row in (*second[::-1], *first[::-1])]
    assert (lines.count("· round 2"), lines.count("· round 1")) == (30, 0)


def test_who_is_paused_is_not_told_that_there_are_no_answers(page, ana):
    make_submitted(ana)
    Membership.objects.filter(pk=ana.pk).update(paused_at=NOW)
    said = words(page.get(reverse("annotate:own_annotations", args=[ana.project.slug])))
    assert "Your part in this project is paused." in said
    assert "You have submitted nothing yet." not in said


def test_a_protocol_that_is_opened_meanwhile_does_not_change_what_is_stored(page, ana):
    assignment = make_plan(ana, 2)[0]
    shown = Elements(page.get(url("label_item", assignment))).field("protocol")
    make_protocol(ana.project)
    submit(page, assignment, protocol=shown)
    assert assignment.annotations.get().protocol.number == 1
    following = Assignment.objects.get(annotator=ana, state=State.OPEN)
    assert Elements(page.get(url("label_item", following))).field("protocol") == "2"


def test_a_refused_answer_stays_under_the_protocol_its_page_showed(page, ana):
    assignment = make_plan(ana, 1)[0]
    make_protocol(ana.project)
    refused = Elements(submit(page, assignment, protocol="1", label=""))
    assert refused.field("protocol") == "1"
    assert Elements(submit(page, assignment, protocol="7")).field("protocol") == "2"
    submit(page, assignment, protocol=refused.field("protocol"))
    assert assignment.annotations.get().protocol.number == 1


# Problems


@pytest.mark.parametrize("headers", [HTMX, None])
def test_a_problem_is_reported_with_words_and_the_next_item_comes(page, ana, headers):
    plan = make_plan(ana, 2)
    response = page.post(url("report_problem", plan[0]), {"problem": " It is cut off. "}, headers=headers, follow=True)
    assert response.status_code == 200
    assert Elements(response).texts["reply-text"] == "Answer 2."
    assert Post.objects.get().text == "It is cut off."
    plan[0].refresh_from_db()
    assert plan[0].state == State.PROBLEM
    again = page.post(url("report_problem", plan[0]), {"problem": "again"}, headers=headers, follow=True)
    assert Elements(again).texts["reply-text"] == "Answer 2."  # sent twice, answered like the first
    assert Post.objects.count() == 1


@pytest.mark.parametrize("problem", ["", "  ", "\x00"])
def test_an_empty_report_is_refused_and_the_answer_under_way_stays(page, ana, problem):
    assignment = make_plan(ana, 1)[0]
    save(page, assignment, label="unrepairable_or_no_answer", comment="half")
    piece = page.post(url("report_problem", assignment), {"problem": problem}, headers=HTMX)
    assert piece.status_code == 422
    assert "A problem report says what the problem is." in words(piece)
    whole = Elements(page.post(url("report_problem", assignment), {"problem": problem}))
    assert (whole.field("label"), whole.field("comment")) == ("unrepairable_or_no_answer", "half")
    assert not Post.objects.exists()


def test_a_problem_with_a_submitted_item_is_told_in_words(page, ana):
    assignment = make_submitted(ana)
    response = page.post(url("report_problem", assignment), {"problem": "Too late."})
    assert response.status_code == 409
    assert "ended in another window or taken out of your plan. What you typed is kept." in words(response)


# Guideline, home, unused routes


def test_the_guideline_is_a_page_and_a_piece_in_the_readers_language(page, ana):
    address = reverse("annotate:guideline", args=[ana.project.slug])
    whole, piece = page.get(address), page.get(address, headers=HTMX)
    assert "<p>Read it (1).</p>" in words(whole)
    assert "<p>Read it (1).</p>" in words(piece)
    assert b"<html" not in piece.content
    Person.objects.filter(pk=ana.person_id).update(interface_language="zh-hans")
    assert "<p>读它（1）。</p>" in words(page.get(address))


def test_the_labelling_page_opens_the_guideline_its_answer_goes_under(page, cast):
    assignment, address = make_plan(cast.ana, 1)[0], reverse("annotate:guideline", args=[cast.project.slug])
    [button] = Elements(page.get(url("label_item", assignment))).all("button", **{"data-opens": "guideline"})
    make_protocol(cast.project)
    assert button["hx-get"] == f"{address}?protocol=1"
    assert "<p>Read it (1).</p>" in words(page.get(button["hx-get"], headers=HTMX))
    assert "<p>Read it (2).</p>" in words(page.get(address))
    [refused] = Elements(submit(page, assignment, label="")).all("button", **{"data-opens": "guideline"})
    assert refused["hx-get"] == f"{address}?protocol=1"
    for strange in ("", "0", "3", "x", "²", "9" * 30):
        assert page.get(address, {"protocol": strange}).status_code == 404
    other = reverse("annotate:guideline", args=[cast.other_project.slug])
    assert page.get(other, {"protocol": "1"}).status_code == 404


def test_home_lists_ones_own_projects_with_the_way_into_each(page, cast):
    response = page.get(reverse("annotate:home"))
    assert cast.project.title_en in words(response)
    assert cast.other_project.title_en not in words(response)
    assert reverse("annotate:next_item", args=[cast.project.slug]) in words(response)
    assert "scoring" not in words(response)


@pytest.mark.parametrize("name", ["next_item", "own_annotations", "guideline"])
def test_the_pages_of_a_project_are_for_its_people(page, cast, name):
    assert page.get(reverse(f"annotate:{name}", args=[cast.project.slug])).status_code in (200, 302)
    missing = page.get(reverse(f"annotate:{name}", args=["no-such-project"]))
    foreign = page.get(reverse(f"annotate:{name}", args=[cast.other_project.slug]))
    assert (foreign.status_code, foreign.content) == (404, missing.content)


@pytest.mark.parametrize(
    ("name", "method"),
    [("submit_annotation", "get"), ("save_draft", "get"), ("report_problem", "get"), ("label_item", "post")],
)
def test_reading_an_action_or_posting_to_a_page_is_not_allowed(page, ana, name, method):
    assert getattr(page, method)(url(name, make_plan(ana, 1)[0])).status_code == 405


# Hostile text

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> &amp; {{ item }} \u202egnp.exe a\u200bb\n"
    '"><svg/onload=alert(3)> `<b>` **</div>**\n# </section><script>\n| <td> |\n```\n</textarea>\n```'
)
IMAGE = "<img src=x onerror=alert(2)>"


def test_hostile_text_is_shown_letter_for_letter_and_never_becomes_markup(page, ana):
    conversation = (
        base.Message(0, "user", HOSTILE),
        base.Message(1, "assistant", HOSTILE),
        base.Message(2, "user", f"And now? {HOSTILE}"),
        base.Message(3, "assistant", HOSTILE),
    )
    trace = make_trace(ana.project, conversation, files=[base.File(IMAGE, HOSTILE)])
    assignment = make_assignment(ana, make_item(trace=trace, reply=3))
    save(page, assignment, comment=HOSTILE, label=IMAGE, spans=json.dumps([span(0, 3, IMAGE, IMAGE)]))
    harmless = Elements(page.get(url("label_item", make_assignment(ana))))
    response = page.get(url("label_item", assignment))
    elements = Elements(response)
    assert elements.texts["reply-text"] == HOSTILE
    assert elements.field("comment") == HOSTILE.replace("\r\n", "\n")
    for tag in ("script", "img", "svg", "b", "td", "textarea"):
        assert len(elements.all(tag)) == len(harmless.all(tag)), tag
    assert response.content.count(HOSTILE.split("\n")[0].encode()) == 0
    names = [a["data-name"] for a in elements.all("span", **{"class": "control"})]
    assert set(names) == {"U+202E", "U+200B"}
    assert len(names) == 2 * 5


def test_hostile_words_of_ones_own_are_escaped_wherever_they_come_back(page, ana, cast):
    label = {
        "label": "needs_information",
        "states_no_result": False,
        "spans": [span(0, 3, IMAGE)],
        "comment": IMAGE,
    }
    assignment = make_submitted(ana, label=label)
    make_submitted(ana)
    answers = [
        page.get(url("label_item", assignment)),
        page.get(url("correct_item", assignment)),
        submit(page, assignment, number="1", reason=IMAGE, comment=IMAGE, label="", spans=json.dumps([IMAGE])),
        page.post(url("report_problem", make_assignment(ana)), {"problem": IMAGE}, follow=True),
    ]
    page.force_login(cast.lea.person)
    answers.append(page.get(reverse("annotate:show_project", args=[cast.project.slug])))
    for response in answers:
        assert IMAGE.encode() not in response.content
        assert not Elements(response).all("img")
    for response in (answers[0], answers[1], answers[2], answers[4]):
        assert IMAGE in words(response)


@pytest.mark.parametrize("path", ["/no/such/page", "/label/%3Cimg%20src=x%3E/", "/projects/<img>/label/"])
def test_a_page_that_is_not_there_says_nothing_of_what_was_asked(page, path):
    response = page.get(path, {"q": IMAGE})
    assert response.status_code == 404
    assert b"img" not in response.content


def test_every_page_allows_no_script_of_its_own(page, ana):
    policy = page.get(url("label_item", make_plan(ana, 1)[0]))["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


# What it costs


def statement_counts(page, ana, size):
    """Statements of each route, for an annotator in the middle of a plan of this size."""
    plan = make_plan(ana, size)
    half = size // 2
    for assignment in plan[:half]:
        make_annotation(assignment)
    pks = [assignment.pk for assignment in plan[:half]]
    Assignment.objects.filter(pk__in=pks).update(state=State.SUBMITTED, ended_at=NOW, first_shown_at=NOW)
    Assignment.objects.filter(pk=plan[half].pk).update(state=State.OPEN)
    project = ana.project.slug
    draft = {"draft": json.dumps({"number": 0, "draft_number": 1, "fields": {"comment": "half"}})}
    steps = {
        "home": lambda: page.get(reverse("annotate:home")),
        "next_item": lambda: page.get(reverse("annotate:next_item", args=[project])),
        "label_item": lambda: page.get(url("label_item", plan[half])),
        "label_item of a submitted one": lambda: page.get(url("label_item", plan[0])),
        "correct_item": lambda: page.get(url("correct_item", plan[0])),
        "save_draft": lambda: page.post(url("save_draft", plan[half]), draft, headers=HTMX),
        "submit_annotation refused": lambda: submit(page, plan[half], label="", headers=HTMX),
        "submit_annotation with the next item": lambda: submit(page, plan[half], headers=HTMX),
        "submit_annotation again": lambda: submit(page, plan[half], headers=HTMX),
        "submit_annotation without script": lambda: submit(page, plan[half + 1], key=OTHER_KEY),
        "submit_annotation of an undo": lambda: submit(
            page, plan[half + 1], key="key-of-an-undo-answer", number="1", headers=HTMX
        ),
        "submit_annotation of a correction": lambda: submit(
            page, plan[half], key=OTHER_KEY, number="1", reason="I misread it.", headers=HTMX
        ),
        "submit_annotation already": lambda: submit(page, plan[half], key="key-of-a-third-answer", headers=HTMX),
        "report_problem": lambda: page.post(url("report_problem", plan[half + 2]), {"problem": "Cut."}, headers=HTMX),
        "own_annotations": lambda: page.get(reverse("annotate:own_annotations", args=[project])),
        "guideline": lambda: page.get(reverse("annotate:guideline", args=[project]), headers=HTMX),
        "keep_alive": lambda: page.post(reverse("annotate:keep_alive"), headers=HTMX),
        "set_language": lambda: page.post(reverse("annotate:set_language"), {"language": "en"}),
    }
    counts = {}
    for name, step in steps.items():
        with CaptureQueriesContext(connection) as captured:
            response = step()
        assert response.status_code < 500, name
        counts[name] = (response.status_code, len(captured))
    return counts


@pytest.mark.parametrize("size", [8, 200])
def test_each_request_takes_a_fixed_number_of_statements(page, ana, size):
    """Two of them are the session and the person; SAVEPOINT and RELEASE, in production BEGIN and COMMIT, count."""
    assert statement_counts(page, ana, size) == {
        "home": (200, 3),
        "next_item": (302, 6),
        "label_item": (200, 7),
        "label_item of a submitted one": (200, 7),
        "correct_item": (200, 7),
        "save_draft": (200, 3),
        "submit_annotation refused": (422, 9),
        "submit_annotation with the next item": (200, 15),
        "submit_annotation again": (200, 7),
        "submit_annotation without script": (302, 11),
        "submit_annotation of an undo": (200, 15),
        "submit_annotation of a correction": (200, 14),
        "submit_annotation already": (409, 13),
        "report_problem": (200, 14),
        "own_annotations": (200, 4),
        "guideline": (200, 4),
        "keep_alive": (204, 2),
        "set_language": (302, 3),
    }


def test_the_last_submit_of_a_plan_takes_no_more_than_any(page, ana, django_assert_max_num_queries):
    assignment = make_plan(ana, 1)[0]
    with django_assert_max_num_queries(15):
        response = submit(page, assignment, headers=HTMX)
    assert "There is nothing left for you to read in this project." in words(response)


def test_the_next_item_is_at_most_20_kb_without_its_content(page, ana):
    plan = make_plan(ana, 5)
    for place, assignment in enumerate(plan[:4]):
        response = submit(page, assignment, key=f"key-of-answer-number-{place}", headers=HTMX)
    shown = sum(len(f"Question {place}?Answer {place}.") for place in range(1, 6))
    assert Elements(response).texts["reply-text"] == "Answer 5."
    assert len(response.content) - shown <= 20_000


def files_of(page_text):
    """Static paths that a page loads, and what its modules import."""
    waiting = re.findall(r'(?:src|href)="?/static/([^" >]+)', page_text)
    found = {}
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = Path(finders.find(path)).read_bytes()
            names = re.findall(r'(?:from|import)\s*\(?"(\.[^"]+\.js)"', found[path].decode())
            waiting += [posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in names]
    return found


def test_the_first_load_of_the_labelling_page_is_at_most_150_kb_without_content(page, ana):
    response = page.get(url("label_item", make_plan(ana, 1)[0]))
    files = files_of(response.content.decode())
    assert {"css/sightline.css", "js/label.js", "js/clock.js", "js/offsets.js"} <= files.keys()
    assert any("htmx" in path for path in files)
    # As WhiteNoise sends them: compressed where that makes them smaller. The page itself is not compressed.
    sent = {path: min(len(data), len(gzip.compress(data, 9))) for path, data in files.items()}
    assert len(response.content) + sum(sent.values()) <= 150_000, sent
