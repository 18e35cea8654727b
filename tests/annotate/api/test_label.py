"""An annotator's script reads and answers what the pages would give its person, and nothing else."""

import json
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.api.reading import MAX_BODY_BYTES
from annotate.kinds.reply import examples
from annotate.models import Annotation, Assignment, Membership, Post, Project, Settlement
from annotate.traces import base
from tests.annotate.api.asking import Script, codes
from tests.annotate.meeting import at_once
from tests.factories import (
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_plan,
    make_protocol,
    make_submitted,
    make_trace,
)
from tests.guards.arrows import ROOT

pytestmark = pytest.mark.django_db
State = Assignment.State
CASE_FILE = ROOT / "fixtures" / "reference" / "bad-input.jsonl"
CASES = {case["id"]: case for case in map(json.loads, CASE_FILE.read_text("utf-8").splitlines())}
KEY, OTHER_KEY = "key-of-an-answer-1", "key-of-an-answer-2"
FAMILY = "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
ITEM_FIELDS = {
    *("public_id", "project", "kind", "phase", "language", "files", "messages", "text", "label_schema", "protocol"),
    *("number", "is_submitted", "submitted_at", "label", "draft", "draft_number", "feedback", "progress"),
    *("sent_back", "settled", "informed", "lease_minutes", "policies", "entries", "suggestions", "question"),
}


@pytest.fixture
def cast(db):
    cache.clear()
    return make_cast()


@pytest.fixture
def ana(cast):
    return Script(cast.ana)


def answer(label="readable", *, key=KEY, spans=(), **fields):
    label = {"label": label, "spans": list(spans)} if isinstance(label, str) else label
    return {"key": key, "protocol": 1, "label": label, **fields}


def span(start, end, quote, type="reference"):
    return {"start": start, "end": end, "type": type, "quote": quote}


def of(cast, what):
    return f"projects/{cast.project.slug}/{what}/"


def item(assignment, what=""):
    return f"items/{assignment.public_id}/{what}"


def submit(script, assignment, body=None, **fields):
    return script.post(item(assignment, "annotations/"), answer(**fields) if body is None else body)


def one_item(cast, text, **fields):
    """ana's only item, with this text to be judged."""
    return make_assignment(cast.ana, make_item(cast.project, text=text), **fields)


# Reading


def test_a_script_sees_its_part_of_the_project_and_no_other_project(cast, ana):
    Membership.objects.create(project=cast.other_project, person=cast.ana.person, role="lead", code="l9")
    assert ana.get("projects/").json() == {
        "rows": [
            {
                "slug": cast.project.slug,
                "title_en": cast.project.title_en,
                "title_zh": cast.project.title_zh,
                "role": "annotator",
                "may_label": True,
                "is_paused": False,
                "is_synthetic": False,
            }
        ]
    }


def test_the_next_item_is_the_blind_item_and_nothing_more(cast, ana):
    messages = [
        base.Message(0, "system", "hidden rules"),
        base.Message(1, "user", "Which one?\r\nSay it."),
        base.Message(2, "assistant", "The **first**.\r\nAs `asked`\u200b."),
    ]
    trace = make_trace(cast.project, messages, files=[base.File("prices.csv", "a,b\r\n1,2")])
    assignment = make_assignment(cast.ana, make_item(trace=trace, reply=2))
    found = ana.get(of(cast, "next")).json()
    assert found["standing"] == "ready"
    shown = found["item"]
    assert set(shown) == ITEM_FIELDS
    assert shown["public_id"] == assignment.public_id
    assert shown["messages"] == [{"speaker": "you", "text": "Which one?\nSay it."}]
    assert shown["files"] == [{"name": "prices.csv", "text": "a,b\n1,2"}]
    assert shown["text"] == "The **first**.\nAs `asked`\u200b."
    assert shown["policies"] == shown["entries"] == shown["suggestions"] == []
    assert (shown["protocol"], shown["number"], shown["draft_number"]) == (1, 0, 0)
    assert shown["label"] is shown["draft"] is shown["feedback"] is shown["submitted_at"] is None
    assert shown["progress"] == {
        "sequence": 1, "place": 1, "n_places": 1, "order": 1, "n_planned": 1, "minutes_left": None
    }  # fmt: skip
    assert ana.get(item(assignment)).json() == shown


def test_asking_again_gives_the_same_item_and_the_first_time_is_when_it_was_shown(cast, ana):
    plan = make_plan(cast.ana, 2)
    first = ana.get(of(cast, "next")).content
    shown_at = Assignment.objects.get(pk=plan[0].pk).first_shown_at
    assert shown_at is not None
    assert ana.get(of(cast, "next")).content == first
    assert ana.get(item(plan[0])).status_code == 200
    assert Assignment.objects.get(pk=plan[0].pk).first_shown_at == shown_at
    assert Assignment.objects.get(pk=plan[1].pk).first_shown_at is None


@pytest.mark.parametrize(
    ("standing", "make_so"),
    [
        ("done", lambda cast: make_submitted(cast.ana)),
        ("paused", lambda cast: Membership.objects.filter(pk=cast.ana.pk).update(paused_at=timezone.now())),
        ("phase_not_open", lambda cast: Project.objects.filter(pk=cast.project.pk).update(open_phase="practice")),
        ("practice_not_ready", lambda cast: practice(cast)),
    ],
)
def test_where_there_is_no_item_the_script_is_told_why(cast, ana, standing, make_so):
    if standing not in ("done", "practice_not_ready"):
        make_plan(cast.ana, 1)
        assert ana.get(of(cast, "next")).json()["standing"] == "ready"
        Assignment.objects.update(first_shown_at=None)
    make_so(cast)
    response = ana.get(of(cast, "next"))
    assert response.status_code == 200
    assert response.json() == {"standing": standing, "item": None}


def practice(cast, *, is_ready=False):
    """ana's practice item; ready when it has its known answer."""
    of_practice = make_item(cast.project, phase="practice")
    if is_ready:
        known = {"label": "unrepairable_or_no_answer", "states_no_result": True, "spans": [], "comment": ""}
        Settlement.objects.create(
            item=of_practice, label=known, how="known", person=cast.lea.person, reason_en="It says nothing.",
            reason_zh="它什么也没说。",
        )  # fmt: skip
    return make_assignment(cast.ana, of_practice)


def test_the_guideline_is_the_newest_one(cast, ana):
    make_protocol(cast.project, guideline_en="# Read *all*", guideline_zh="全部阅读")
    assert ana.get(of(cast, "guideline")).json() == {
        "protocol": 2, "guideline_en": "# Read *all*", "guideline_zh": "全部阅读"
    }  # fmt: skip


# Submitting


def test_an_answer_is_stored_as_it_came_and_the_next_item_opens(cast, ana):
    plan = make_plan(cast.ana, 2)
    label = {
        "label": "needs_information",
        "states_no_result": True,
        "spans": [span(0, 6, "Answer", "definition")],
        "comment": "which?",
    }
    response = submit(ana, plan[0], label=label, draft_number=3, raw_ms=9_000, active_ms=1, hidden_ms=2)
    assert response.status_code == 201
    stored = plan[0].annotations.get()
    assert response.json() == {
        "key": KEY,
        "number": 1,
        "submitted_at": stored.submitted_at.isoformat().replace("+00:00", "Z"),
        "public_id": plan[0].public_id,
        "item": None,
    }
    assert (stored.label, stored.key, stored.protocol.number, stored.is_current) == (label, KEY, 1, True)
    assert ana.get(of(cast, "next")).json()["item"]["public_id"] == plan[1].public_id
    shown = ana.get(item(plan[0])).json()
    assert (shown["label"], shown["number"], shown["is_submitted"]) == (label, 1, True)


def test_the_same_key_gets_the_same_receipt_whatever_else_is_sent_or_has_happened(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    first = submit(ana, assignment)
    assert first.status_code == 201
    again = {"key": KEY, "protocol": "no number", "nobody": "knows this"}
    for body in (answer(), answer("needs_information"), again):
        response = submit(ana, assignment, body)
        assert (response.status_code, response.json()) == (200, first.json())
    Assignment.objects.filter(pk=assignment.pk).update(state=State.WITHDRAWN)
    response = submit(ana, assignment, again)
    assert (response.status_code, response.json()) == (200, first.json())
    assert Annotation.objects.count() == 1


def test_a_known_key_of_somebody_else_says_nothing(cast, ana):
    (theirs,) = make_plan(cast.ben, 1)
    assert submit(Script(cast.ben), theirs).status_code == 201
    response = submit(ana, theirs)
    assert (response.status_code, response.content) == (404, ana.get("items/never-was/").content)


def test_another_answer_to_a_submitted_item_is_told_when_the_first_one_came(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    submit(ana, assignment)
    response = submit(ana, assignment, key=OTHER_KEY)
    assert response.status_code == 409
    assert codes(response) == {("number", "already_submitted")}
    year = str(timezone.now().year)
    assert year in response.json()["problems"][0]["expected"]
    assert Annotation.objects.count() == 1


def test_undo_needs_no_reason_and_a_later_correction_does(cast, ana):
    plan = make_plan(cast.ana, 3)
    submit(ana, plan[0])
    undo = submit(ana, plan[0], label="unrepairable_or_no_answer", key=OTHER_KEY, number=1)
    assert (undo.status_code, undo.json()["number"]) == (201, 2)
    submit(ana, plan[1], key="key-of-an-answer-3")
    correction = answer(key="key-of-an-answer-4", number=2)
    response = submit(ana, plan[0], correction)
    assert response.status_code == 422
    assert codes(response) == {("reason", "missing_field")}
    assert submit(ana, plan[0], {**correction, "reason": "  I misread it. "}).status_code == 201
    assert [one.reason for one in plan[0].annotations.order_by("number")] == ["", "", "I misread it."]
    assert plan[0].annotations.get(is_current=True).number == 3


def test_a_correction_of_an_answer_that_is_not_the_newest_is_refused(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    submit(ana, assignment)
    submit(ana, assignment, key=OTHER_KEY, number=1)
    response = submit(ana, assignment, key="key-of-an-answer-3", number=1)
    assert response.status_code == 409
    assert codes(response) == {("number", "already_submitted")}


def test_an_answer_keeps_the_protocol_its_item_came_with(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    make_protocol(cast.project)
    assert ana.get(of(cast, "next")).json()["item"]["protocol"] == 2
    for number in (3, 99):
        response = submit(ana, assignment, protocol=number)
        assert response.status_code == 422
        assert codes(response) == {("protocol", "unknown_protocol")}
    assert submit(ana, assignment, protocol=1).status_code == 201
    assert assignment.annotations.get().protocol.number == 1


def test_the_time_is_measured_from_when_the_item_was_shown(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    Assignment.objects.update(first_shown_at=timezone.now() - timedelta(seconds=10))
    submit(ana, assignment, raw_ms=1, active_ms=99_000, hidden_ms=2_000)
    stored = assignment.annotations.get()
    assert 10_000 <= stored.raw_ms < 12_000
    assert (stored.active_ms, stored.hidden_ms) == (stored.raw_ms, 2_000)


def test_a_practice_item_answers_with_the_expected_label_and_only_after_ones_own(cast, ana):
    assignment = practice(cast, is_ready=True)
    before = ana.get(of(cast, "next"))
    assert before.json()["item"]["phase"] == "practice"
    assert before.json()["item"]["feedback"] is None
    assert b"It says nothing" not in before.content
    receipt = submit(ana, assignment, label="needs_information", key=KEY).json()
    assert "problems" in receipt
    receipt = submit(ana, assignment, label="unrepairable_or_no_answer").json()
    feedback = receipt["item"]["feedback"]
    assert feedback["is_right"] is False
    assert feedback["label"]["states_no_result"] is True
    assert (feedback["reason_en"], feedback["reason_zh"]) == ("It says nothing.", "它什么也没说。")
    assert len(feedback["differing"]) == 1
    again = submit(ana, assignment)
    assert (again.status_code, again.json()) == (200, receipt)
    assert ana.get(item(assignment)).json()["feedback"] == feedback


# What is refused


def hundred(cast):
    return one_item(cast, "0123456789" * 10)


OUR_SPAN = {"type": "definition", "quote": "x"}


@pytest.mark.parametrize("name", ["AN-01", "AN-03", "AN-04"])
def test_a_span_of_the_shared_cases_is_refused(name, cast, ana):
    given = json.loads(CASES[name]["input"]["text"])
    refused(cast, ana, name, {"start": given["start"], "end": given["end"], **OUR_SPAN})


@pytest.mark.parametrize("start", ["1", 1.5, True, None, [1]], ids=str)
def test_an_offset_is_a_whole_number(start, cast, ana):
    refused(cast, ana, "AN-06", {"start": start, "end": 5, **OUR_SPAN})


def refused(cast, ana, name, *spans):
    expected = CASES[name]["expect"]
    assignment = hundred(cast)
    draft = {"number": 0, "draft_number": 1, "fields": {"comment": "so far"}}
    assert ana.put(item(assignment, "draft/"), draft).status_code == 200
    response = submit(ana, assignment, label="needs_information", spans=spans)
    assert response.status_code in expected["status"]
    (problem,) = response.json()["problems"]
    assert problem["code"] == expected["code"]
    assert problem["field"] == expected["names"][0]
    assert problem["pointer"] == f"/label/spans/0/{problem['field']}"
    assert all(part in f"{problem['field']} {problem['expected']}" for part in expected["names"])
    assert not Annotation.objects.exists()
    assert ana.get(item(assignment)).json()["draft"] == draft
    good = span(10, 12, "01")
    assert submit(ana, assignment, label="needs_information", spans=[good]).status_code == 201


@pytest.mark.parametrize(("start", "end", "status"), [(0, 2, 201), (1, 4, 201), (0, 5, 201), (0, 8, 422)])
def test_offsets_are_code_points_also_inside_an_emoji(start, end, status, cast, ana):
    """AN-07: what is stored is what the page and the export count."""
    assignment = one_item(cast, FAMILY)
    assert ana.get(of(cast, "next")).json()["item"]["text"] == FAMILY
    mark = span(start, end, FAMILY[start:end])
    assert submit(ana, assignment, label="needs_information", spans=[mark]).status_code == status
    stored = [one.label["spans"] for one in Annotation.objects.all()]
    assert stored == ([[mark]] if status == 201 else [])


@pytest.mark.parametrize("label", ["error", "READABLE", "needs information", 7, ["readable"]], ids=str)
def test_a_label_of_another_project_or_case_is_unknown(label, cast, ana):
    expected = CASES["AN-08"]["expect"]
    response = submit(ana, hundred(cast), {**answer(), "label": {"label": label}})
    assert response.status_code in expected["status"]
    assert codes(response) == {("label", expected["code"])}
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("n", [501, 20_000, 100_000])
def test_far_too_many_spans_are_refused_with_the_limit(n, cast, ana):
    expected = CASES["AN-11"]["expect"]
    mark = span(0, 2, "01")
    response = submit(ana, hundred(cast), label="needs_information", spans=[mark] * n)
    assert response.status_code in expected["status"]
    (problem,) = response.json()["problems"]
    assert problem["code"] == expected["code"]
    assert any(limit in problem["expected"] for limit in ("500", f"{MAX_BODY_BYTES}"))
    assert not Annotation.objects.exists()


def test_there_is_no_call_for_many_labels_at_once(cast, ana):
    response = submit(ana, hundred(cast), [answer()] * 1000)
    assert response.status_code == 400
    assert codes(response) == {("", "wrong_type")}


def test_a_submit_on_somebody_elses_assignment_is_the_one_404(cast, ana):
    (theirs,) = make_plan(cast.ben, 1)
    ours = make_plan(cast.ana, 2)
    bodies = [answer(), answer("needs_information"), {"key": "x"}, answer(more=1)]
    for body in bodies:
        answers = [
            ana.post(f"items/{public_id}/annotations/", body)
            for public_id in (theirs.public_id, ours[1].public_id, "never-was")
        ]
        assert len({(one.status_code, one.content, str(one.headers)) for one in answers}) == 1
        assert (answers[0].status_code == 404) is (body in bodies[:2])
    assert Assignment.objects.filter(state=State.OPEN).count() == 2
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("name", examples.REFUSED)
def test_whatever_the_kind_refuses_the_api_refuses(name, cast, ana):
    label, text, code, field = examples.REFUSED[name]
    response = submit(ana, one_item(cast, text), label=label)
    assert response.status_code in (413, 422)
    assert code in {found for _, found in codes(response)}
    assert response.status_code == 413 or field in {found for found, _ in codes(response)}
    assert not Annotation.objects.exists()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"key": "short"}, ("key", "wrong_type")),
        ({"key": 1234567890123456}, ("key", "wrong_type")),
        ({"key": "x" * 65}, ("key", "wrong_type")),
        ({"key": "sixteen letters and"}, ("key", "wrong_type")),
        ({"protocol": "1"}, ("protocol", "wrong_type")),
        ({"protocol": 1.0}, ("protocol", "wrong_type")),
        ({"protocol": True}, ("protocol", "wrong_type")),
        ({"protocol": None}, ("protocol", "wrong_type")),
        ({"number": -1}, ("number", "out_of_range")),
        ({"number": 2**31}, ("number", "out_of_range")),
        ({"draft_number": "5"}, ("draft_number", "wrong_type")),
        ({"raw_ms": 10**15}, ("raw_ms", "out_of_range")),
        ({"active_ms": [1]}, ("active_ms", "wrong_type")),
        ({"hidden_ms": {"a": 1}}, ("hidden_ms", "wrong_type")),
        ({"reason": 7}, ("reason", "wrong_type")),
        ({"reason": "x" * 2001}, ("reason", "too_many")),
        ({"label": "readable"}, ("label", "wrong_type")),
        ({"label": []}, ("label", "wrong_type")),
        ({"label": {}}, ("label", "missing_field")),
    ],
    ids=str,
)
def test_every_field_is_of_its_own_type(fields, problem, cast, ana):
    assignment = hundred(cast)
    response = submit(ana, assignment, {**answer(), **fields})
    assert response.status_code == 422
    assert codes(response) == {problem}
    assert response.json()["problems"][0]["pointer"].startswith(f"/{problem[0]}")
    assert submit(ana, assignment).status_code == 201


def test_everything_that_is_wrong_is_said_at_once(cast, ana):
    response = submit(ana, hundred(cast), {"key": "x", "protocol": "1", "number": -1})
    assert {field for field, _ in codes(response)} == {"key", "protocol", "number", "label"}


# Drafts


def test_a_draft_is_kept_and_comes_back_with_the_item(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    draft = {"number": 0, "draft_number": 4, "fields": {"label": "readable", "comment": " so far ", "spans": "[]"}}
    response = ana.put(item(assignment, "draft/"), draft)
    assert (response.status_code, response.json()) == (200, {"draft_number": 4})
    shown = ana.get(of(cast, "next")).json()["item"]
    assert (shown["draft"], shown["draft_number"]) == (draft, 4)


def test_a_late_draft_changes_nothing_and_is_told_so(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    newer = {"number": 0, "draft_number": 4, "fields": {"comment": "newer"}}
    assert ana.put(item(assignment, "draft/"), newer).status_code == 200
    for number in (4, 3):
        late = ana.put(item(assignment, "draft/"), {**newer, "draft_number": number, "fields": {}})
        assert late.status_code == 409
        assert codes(late) == {("draft_number", "newer_draft")}
    submit(ana, assignment)
    after = ana.put(item(assignment, "draft/"), {**newer, "draft_number": 9})
    assert after.status_code == 409
    assert codes(after) == {("number", "already_submitted")}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, ("fields", "missing_field")),
        ({"number": 0, "draft_number": 1, "fields": {"a": 1}}, ("a", "wrong_type")),
        ({"number": 0, "draft_number": 1, "fields": ["a"]}, ("fields", "wrong_type")),
        ({"number": 0, "draft_number": 2**31, "fields": {}}, ("draft_number", "out_of_range")),
        ({"number": 0, "draft_number": 1, "fields": {"comment": "x" * 400_001}}, ("fields", "too_many")),
        ({"number": 0, "draft_number": 1, "fields": {"x" * 400_001: ""}}, ("fields", "too_many")),
        ({"number": 0, "draft_number": 1, "fields": {"x" * 200_000: "x" * 200_001}}, ("fields", "too_many")),
        ({"number": 0, "draft_number": 1, "fields": {f"{n}": "" for n in range(31)}}, ("fields", "too_many")),
        ({"number": 0, "draft_number": 1, "fields": None}, ("fields", "wrong_type")),
    ],
    ids=["empty", "number", "list", "beyond the column", "long", "long name", "long together", "many", "null"],
)
def test_a_draft_that_is_none_is_refused(body, problem, cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    response = ana.put(item(assignment, "draft/"), body)
    assert response.status_code == 422
    assert problem in codes(response)
    assert Assignment.objects.get(pk=assignment.pk).draft is None


# Undo and problems


def test_undo_shows_the_answer_given_last(cast, ana):
    plan = make_plan(cast.ana, 3)
    assert ana.get(of(cast, "undo")).json() == {"item": None}
    for assignment, key in zip(plan, (KEY, OTHER_KEY, "key-of-an-answer-3"), strict=True):
        submit(ana, assignment, key=key)
        found = ana.get(of(cast, "undo")).json()["item"]
        assert (found["public_id"], found["number"]) == (assignment.public_id, 1)
        assert found["label"]["label"] == "readable"
    assert ana.get(of(cast, "next")).json()["standing"] == "done"


def test_a_problem_ends_the_item_and_is_answered_alike_when_sent_again(cast, ana):
    plan = make_plan(cast.ana, 2)
    answers = [ana.post(item(plan[0], "problem/"), {"text": " It is cut off. "}) for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200]
    assert answers[0].json() == answers[1].json() == {"public_id": plan[0].public_id, "is_reported": True}
    assert Post.objects.get().text == "It is cut off."
    assert ana.get(of(cast, "next")).json()["item"]["public_id"] == plan[1].public_id
    assert ana.get(item(plan[0])).status_code == 404


@pytest.mark.parametrize(
    ("body", "code"),
    [
        *(({}, "missing_field"), ({"text": "  "}, "empty_value")),
        *(({"text": "x" * 2001}, "too_many"), ({"text": 1}, "wrong_type")),
    ],
    ids=["nothing", "blank", "long", "number"],
)
def test_a_problem_says_what_it_is(body, code, cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    response = ana.post(item(assignment, "problem/"), body)
    assert response.status_code == 422
    assert codes(response) == {("text", code)}
    assert not Post.objects.exists()


def test_a_problem_with_a_submitted_item_is_refused(cast, ana):
    (assignment,) = make_plan(cast.ana, 1)
    submit(ana, assignment)
    response = ana.post(item(assignment, "problem/"), {"text": "Cut."})
    assert response.status_code == 409
    assert codes(response) == {("number", "already_submitted")}


# What it costs


def statements(script, method, address, body=None):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        response = script.ask(method, address, body)
    assert response.status_code in (200, 201), response.content
    return len(captured)


@pytest.mark.parametrize("n", [3, 40])
def test_an_annotators_addresses_take_a_fixed_number_of_statements(n, cast, ana):
    exercise = practice(cast, is_ready=True)
    plan = make_plan(cast.ana, n)
    Assignment.objects.filter(pk=plan[0].pk).update(state=State.OPEN)
    for _ in range(n):
        make_annotation(make_submitted(cast.ana))
    needy = answer("needs_information", spans=[span(0, 6, "Answer")])
    draft = {"number": 0, "draft_number": 1, "fields": {"comment": "x"}}
    counts = {
        "projects": statements(ana, "GET", "projects/"),
        "next, first shown": statements(ana, "GET", of(cast, "next")),
        "next": statements(ana, "GET", of(cast, "next")),
        "item": statements(ana, "GET", item(plan[0])),
        "draft": statements(ana, "PUT", item(plan[0], "draft/"), draft),
        "submit": statements(ana, "POST", item(plan[0], "annotations/"), needy),
        "submit again": statements(ana, "POST", item(plan[0], "annotations/"), needy),
        "submit practice": statements(ana, "POST", item(exercise, "annotations/"), answer(key=OTHER_KEY)),
        "undo": statements(ana, "GET", of(cast, "undo")),
        "problem": statements(ana, "POST", item(plan[1], "problem/"), {"text": "Cut."}),
        "guideline": statements(ana, "GET", of(cast, "guideline")),
    }
    Assignment.objects.exclude(state=State.SUBMITTED).update(state=State.WITHDRAWN)
    counts["next, done"] = statements(ana, "GET", of(cast, "next"))
    counts["undo, done"] = statements(ana, "GET", of(cast, "undo"))
    assert counts == COUNTS
    assert max(counts.values()) <= 15


COUNTS = {
    **{"projects": 2, "next, first shown": 7, "next": 5, "next, done": 4, "item": 6, "draft": 3, "guideline": 2},
    **{"submit": 9, "submit again": 2, "submit practice": 15, "undo": 11, "undo, done": 14, "problem": 8},
}
"""Each with the one for its token, and two where a service opens its transaction."""


# Two at once


@pytest.mark.django_db(transaction=True)
def test_the_same_submit_twice_at_once_is_one_answer_with_one_receipt():
    cache.clear()
    cast = make_cast()
    plan = make_plan(cast.ana, 20)
    scripts = [Script(cast.ana), Script(cast.ana)]
    for place, assignment in enumerate(plan):
        body = answer(key=f"key-of-an-answer-{place:03}")
        answers = at_once(*(lambda script=script: submit(script, assignment, body) for script in scripts))  # noqa: B023
        assert {one.status_code for one in answers} <= {200, 201}
        assert answers[0].json() == answers[1].json()
    assert Annotation.objects.count() == 20
