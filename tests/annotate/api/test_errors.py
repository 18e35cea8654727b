"""Whatever goes wrong has one form, says what, and tells nobody more than they may know."""

import json

import pytest
from django.core.cache import cache
from django.test import Client

from annotate import blind, tokens
from annotate.api.authentication import TokenThrottle
from annotate.api.reading import MAX_BODY_BYTES
from annotate.kinds.reply.label import MAX_COMMENT, MAX_SPANS
from annotate.models import Annotation, Assignment, Event, Membership, Role, Token
from annotate.setting_up import MAX_GUIDELINE
from annotate.traces.base import MOST_PROBLEMS, Problem
from tests.annotate.api.asking import Script, codes
from tests.factories import NOW, make_assignment, make_cast, make_item, make_plan
from tests.guards.arrows import ROOT

pytestmark = pytest.mark.django_db
CASE_FILE = ROOT / "fixtures" / "reference" / "bad-input.jsonl"
CASES = {case["id"]: case for case in map(json.loads, CASE_FILE.read_text("utf-8").splitlines())}


@pytest.fixture
def cast(db):
    cache.clear()
    return make_cast()


@pytest.fixture
def plan(cast):
    return make_plan(cast.ana, 3)


@pytest.fixture
def ana(cast, plan):
    return Script(cast.ana)


def answer(**fields):
    return {"key": "key-of-an-answer-1", "protocol": 1, "label": {"label": "readable"}, **fields}


def annotations(assignment):
    return f"items/{assignment.public_id}/annotations/"


def next_of(cast):
    return f"projects/{cast.project.slug}/next/"


# Who asks


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Token"},
        {"Authorization": "Token not-a-token"},
        {"Authorization": "Token not a token"},
        {"Authorization": "Token \xe9\xff"},
        {"Authorization": "Bearer {secret}"},
        {"Authorization": "{secret}"},
        {"X-Token": "{secret}"},
    ],
    ids=str,
)
def test_without_a_good_token_there_is_one_401(cast, ana, headers):
    headers = {name: value.format(secret=ana.secret) for name, value in headers.items()}
    response = Script(**headers).get(next_of(cast))
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Token"
    assert codes(response) == {("Authorization", "not_authenticated")}
    assert response.content == Script().get(next_of(cast)).content
    assert ana.get(next_of(cast)).status_code == 200


def test_a_token_in_the_address_or_body_is_none(cast, ana, plan):
    for response in (
        Script().get(f"{next_of(cast)}?token={ana.secret}"),
        Script().get(f"{next_of(cast)}?Authorization=Token%20{ana.secret}"),
        Script().post(annotations(plan[0]), answer(token=ana.secret)),
    ):
        assert response.status_code == 401


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_browser_that_is_signed_in_opens_nothing(cast, plan, method):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.ana.person)
    for address in (f"/api/v1/{next_of(cast)}", f"/api/v1/{annotations(plan[0])}", "/api/v1/", "/api/never-was/"):
        response = browser.generic(method, address, json.dumps(answer()), "application/json")
        assert response.status_code == 401, address
        assert response["WWW-Authenticate"] == "Token"
    assert not Annotation.objects.exists()


def test_a_write_needs_no_csrf_token_as_no_cookie_counts(ana, plan):
    ana.client = Client(enforce_csrf_checks=True)
    assert ana.post(annotations(plan[0]), answer()).status_code == 201


@pytest.mark.parametrize(
    "end",
    [
        lambda cast: Membership.objects.filter(pk=cast.ana.pk).update(left_at=NOW),
        lambda cast: Membership.objects.filter(pk=cast.ana.pk).update(role=Role.LEAD),
        lambda cast: Token.objects.update(revoked_at=NOW),
    ],
    ids=["left", "another part", "revoked"],
)
def test_rights_are_looked_up_at_every_request(cast, ana, end):
    assert ana.get(next_of(cast)).status_code == 200
    end(cast)
    response = ana.get(next_of(cast))
    assert (response.status_code, response.content) == (401, Script().get(next_of(cast)).content)


# The one 404


def test_what_is_not_ones_own_is_one_404(cast, ana, plan):
    lead = f"projects/{cast.project.slug}/people/"
    addresses = [
        f"items/{make_plan(cast.ben, 1)[0].public_id}/",
        f"items/{make_plan(cast.zoe, 1)[0].public_id}/",
        f"items/{plan[1].public_id}/",
        *("items/never-was/", "items/a%20b/", "items/%C3%A9/", f"items/{'x' * 300}/", "items/a%00b/", "items/a%0Ab/"),
        *("", "nothing/", "projects", f"items/{plan[0].public_id}", "../../", "/api/", "/api/v2/projects/"),
        *(f"projects/{cast.other_project.slug}/next/", "projects/never-was/next/", lead, "schema/"),
    ]
    answers = {address: ana.get(address) for address in addresses}
    assert {address: one.status_code for address, one in answers.items() if one.status_code != 404} == {}
    assert len({one.content for one in answers.values()}) == 1
    assert len({str(sorted(one.headers.items())) for one in answers.values()}) == 1
    assert codes(answers[""]) == {("", "not_found")}


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "POST", "DELETE", "OPTIONS"])
def test_leads_addresses_are_not_there_for_annotators_whatever_the_method(cast, ana, method):
    address = f"projects/{cast.project.slug}/people/"
    there = ana.ask(method, address, {})
    nowhere = ana.ask(method, "never-was/", {})
    assert (there.status_code, there.content) == (404, nowhere.content)
    assert dict(there.headers) == dict(nowhere.headers)


def test_a_token_of_one_project_opens_no_other_of_the_same_person(cast, ana):
    there = Membership.objects.create(
        project=cast.other_project, person=cast.ana.person, role="annotator", code="a9", languages=["en"]
    )
    (assignment,) = make_plan(there, 1)
    elsewhere = Script(there)
    assert elsewhere.get(f"items/{assignment.public_id}/").status_code == 200
    body = answer()
    assert elsewhere.post(annotations(assignment), body).status_code == 201
    missing = ana.get("items/never-was/").content
    for response in (
        ana.get(f"items/{assignment.public_id}/"),
        ana.post(annotations(assignment), body),
        ana.post(annotations(assignment), answer(key="another-key-of-mine")),
        ana.put(f"items/{assignment.public_id}/draft/", {"number": 0, "draft_number": 1, "fields": {}}),
        ana.post(f"items/{assignment.public_id}/problem/", {"text": "x"}),
        ana.get(f"projects/{cast.other_project.slug}/next/"),
    ):
        assert (response.status_code, response.content) == (404, missing)
    assert [row["slug"] for row in ana.get("projects/").json()["rows"]] == [cast.project.slug]


# Bodies


@pytest.mark.parametrize("case", ["AP-01", "AP-03"])
def test_a_body_of_the_shared_cases_is_refused(case, ana, plan):
    expected = CASES[case]["expect"]
    response = ana.post(annotations(plan[0]), CASES[case]["input"]["text"])
    assert response.status_code in expected["status"]
    assert response["Content-Type"] == "application/json"
    problems = response.json()["problems"]
    assert expected["code"] in {problem["code"] for problem in problems}
    assert {problem["field"] for problem in problems} >= set(expected.get("names", []))
    assert not Annotation.objects.exists()


def test_every_unknown_field_is_named(ana, plan):
    body = answer(annotator=1, is_gold=True, label={"label": "readable"}, project=2)
    assert codes(ana.post(annotations(plan[0]), body)) == {
        (name, "unknown_field") for name in ("annotator", "is_gold", "project")
    }
    assert ana.post(annotations(plan[0]), answer()).status_code == 201


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"key": 1, "key": 2}', "duplicate_key"),
        ('{"key": NaN}', "number_not_finite"),
        ('{"key": 1e999}', "number_not_finite"),
        ('{"key": "a\\u0000b"}', "nul_character"),
        ('{"key": "\\ud800"}', "lone_surrogate"),
        ("[" * 100_000 + "]" * 100_000, "too_deep"),
        (b'{"key": "\xff"}', "not_utf8"),
        (f'{{"key": {"9" * 500}}}', "number_too_long"),
        ("nonsense", "malformed_json"),
    ],
)
def test_json_that_two_programs_could_read_differently_is_refused(ana, plan, body, code):
    response = ana.post(annotations(plan[0]), body)
    assert response.status_code == 400
    assert {found for _, found in codes(response)} == {code}
    assert "import" not in response.json()["problems"][0]["remedy"]


@pytest.mark.parametrize("body", ["[]", "[1]", '"text"', "7", "null", "true"])
def test_a_body_is_an_object(ana, plan, body):
    response = ana.post(annotations(plan[0]), body)
    assert response.status_code == 400
    assert codes(response) == {("", "wrong_type")}


def test_an_empty_body_lacks_what_is_required(ana, plan):
    response = ana.post(annotations(plan[0]))
    assert response.status_code == 422
    assert codes(response) == {(name, "missing_field") for name in ("key", "protocol", "label")}


def test_a_body_beyond_the_limit_is_not_read(ana, plan):
    body = json.dumps(answer()).ljust(MAX_BODY_BYTES)
    response = ana.post(annotations(plan[0]), body + " ")
    assert response.status_code == 413
    assert codes(response) == {("", "too_many")}
    assert str(MAX_BODY_BYTES) in response.json()["problems"][0]["expected"]
    assert ana.post(annotations(plan[0]), body).status_code == 201


def test_the_largest_honest_bodies_are_below_the_limit(cast, ana):
    """As a script may send them: every letter escaped."""
    text = "这句话里有什么读者不明白的词呢？" * 1000
    spans = [
        {"start": at, "end": at + 150, "type": "background", "quote": text[at : at + 150]} for at in range(MAX_SPANS)
    ]
    label = {"label": "needs_information", "spans": spans, "comment": "注" * MAX_COMMENT}
    assignment = make_assignment(cast.ana, make_item(cast.project, text=text))
    assert ana.post(annotations(assignment), answer(label=label)).status_code == 201
    guidelines = dict.fromkeys(("guideline_en", "guideline_zh"), "读" * (MAX_GUIDELINE - 1))
    body = {**guidelines, "change_note": "longer", "after": 1}
    assert Script(cast.lea).post(f"projects/{cast.project.slug}/protocols/", body).status_code == 201


def names(n, value=1):
    return {f"name-{place}": value for place in range(n)}


def draft(fields):
    return {"number": 0, "draft_number": 1, "fields": fields}


def marked(*spans):
    return answer(label={"label": "needs_information", "spans": list(spans)})


GOOD_SPAN = {"start": 0, "end": 1, "type": "definition", "quote": "A"}
TWICE = ",".join(f'"{n}":1,"{n}":2' for n in range(50_000))
FLOODS = {
    "unknown fields": ("annotations", answer(**names(50_000)), "unknown_field"),
    "an unknown field of a long name": ("annotations", answer(**{"x" * 900_000: 1}), "unknown_field"),
    "fields of a label": ("annotations", answer(label=names(50_000)), "too_many"),
    "unknown fields of a label": ("annotations", answer(label=names(29)), "unknown_field"),
    "an unknown field of a label of a long name": ("annotations", answer(label={"x" * 900_000: 1}), "unknown_field"),
    "spans that are none": ("annotations", marked(*[7] * MAX_SPANS), "wrong_type"),
    "spans that lie nowhere": ("annotations", marked(*[{**GOOD_SPAN, "end": 10**9}] * MAX_SPANS), "span_out_of_range"),
    "unknown fields of spans": ("annotations", marked(*[{**GOOD_SPAN, **names(50)}] * MAX_SPANS), "unknown_field"),
    "unknown fields of a span": ("annotations", marked({**GOOD_SPAN, **names(50_000)}), "unknown_field"),
    "an unknown field of spans of a long name": (
        "annotations",
        marked(*[{**GOOD_SPAN, "x" * 1500: 1}] * MAX_SPANS),
        "unknown_field",
    ),
    "fields of a draft that are no texts": ("draft", draft(names(50_000)), "too_many"),
    "a few of them of long names": ("draft", draft({f"{place}" * 30_000: 1 for place in range(20)}), "wrong_type"),
    "fields of a draft without end": ("draft", draft(names(50_000, "x")), "too_many"),
    "characters that cannot be stored": ("draft", draft({"a": ["\0"] * 100_000}), "nul_character"),
    "the same below a long name": ("draft", {"x" * 900_000: ["\0"] * 10_000}, "nul_character"),
    "halves of characters": ("draft", {"a": ["\ud800"] * 100_000}, "lone_surrogate"),
    "keys that stand there twice": ("draft", "{" + TWICE + "}", "duplicate_key"),
    "numbers that are none": ("draft", "[" + ",".join(["NaN"] * 200_000) + "]", "number_not_finite"),
    "numbers that are too long": ("draft", "[" + ",".join(["9" * 500] * 2000) + "]", "number_too_long"),
    "languages": ("invites", {"role": "annotator", "languages": [1] * 300_000}, "too_many"),
    "names behind the question mark": ("next", "&".join(names(900)), "unknown_filter"),
    "the same name behind it": ("items", "&".join(["limit=1"] * 900), "duplicate_key"),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_however_much_is_wrong_only_the_first_of_it_is_told_and_no_more_is_made(flood, cast, ana, plan, monkeypatch):
    where, body, code = FLOODS[flood]
    project, item = f"projects/{cast.project.slug}", f"items/{plan[0].public_id}"
    lea, made = Script(cast.lea), []
    make = Problem.__init__
    monkeypatch.setattr(Problem, "__init__", lambda *args, **named: made.append(1) or make(*args, **named))
    response = {
        "annotations": lambda: ana.post(f"{item}/annotations/", body),
        "draft": lambda: ana.put(f"{item}/draft/", body),
        "invites": lambda: lea.post(f"{project}/invites/", body),
        "next": lambda: ana.get(f"{project}/next/?{body}"),
        "items": lambda: lea.get(f"{project}/items/?{body}"),
    }[where]()
    assert response.status_code in (400, 422)
    problems = response.json()["problems"]
    assert code in {problem["code"] for problem in problems}
    assert len(problems) <= MOST_PROBLEMS + 1
    assert (problems[-1]["code"] == "more_problems") is (len(problems) > MOST_PROBLEMS)
    assert len(made) <= 3 * (MOST_PROBLEMS + 1)
    assert len(response.content) < 60_000
    assert not Annotation.objects.exists()
    assert Assignment.objects.get(pk=plan[0].pk).draft is None


def test_how_many_more_there_are_is_said_where_it_is_known(ana, plan):
    problems = ana.post(annotations(plan[0]), answer(**names(MOST_PROBLEMS + 7))).json()["problems"]
    assert len(problems) == MOST_PROBLEMS + 1
    assert "7" in problems[-1]["expected"]
    exactly = ana.post(annotations(plan[0]), answer(**names(MOST_PROBLEMS))).json()["problems"]
    assert {problem["code"] for problem in exactly} == {"unknown_field"}
    assert len(exactly) == MOST_PROBLEMS


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]
)
def test_a_body_that_is_no_json_is_415(ana, plan, kind):
    response = ana.post(annotations(plan[0]), json.dumps(answer()), content_type=kind)
    assert response.status_code == 415
    assert codes(response) == {("Content-Type", "unsupported_media_type")}
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("address", ["annotations", "imports"])
def test_a_body_in_chunks_is_told_that_its_length_is_missing(cast, ana, plan, address):
    script = Script(cast.lea) if address == "imports" else ana
    where = f"projects/{cast.project.slug}/imports/" if address == "imports" else annotations(plan[0])
    headers = {"Transfer-Encoding": "chunked"}
    response = script.post(where, headers=headers)
    assert response.status_code == 411
    assert codes(response) == {("Content-Length", "length_required")}


# Queries


def test_a_filter_that_walks_a_relation_is_refused_like_any_unknown_one(cast, ana):
    expected = CASES["AP-04"]["expect"]
    query = CASES["AP-04"]["input"]["text"]
    name = query[1:].split("=")[0]
    addresses = [next_of(cast), "projects/"]
    lea = Script(cast.lea)
    asked = [(ana, one) for one in addresses] + [
        (lea, f"projects/{cast.project.slug}/{of}/") for of in ("people", "items")
    ]
    for script, address in asked:
        response = script.get(address + query)
        assert response.status_code in expected["status"]
        assert codes(response) == {(name, expected["code"])}
        other = script.get(f"{address}?nothing=1")
        assert response.content.replace(name.encode(), b"nothing") == other.content


ONE_SPELLING = ("x", "", "1.0", "1.", "+5", "%2B5", "-5", "+5+", "5%20", "%205", "%EF%BC%95", "%D9%A5", "5_0", "%00")


@pytest.mark.parametrize("value", ONE_SPELLING)
@pytest.mark.parametrize("query", ["items/?limit", "agreement/?protocol", "imports/?skip_bad", "imports/?replace_nul"])
def test_a_value_of_a_query_has_one_spelling_and_a_refusal_says_which(cast, query, value):
    method = "POST" if query.startswith("imports") else "GET"
    response = Script(cast.lea).ask(method, f"projects/{cast.project.slug}/{query}={value}")
    assert response.status_code == 400
    assert codes(response) == {(query.split("?")[1], "wrong_type")}
    said = "true, false" if method == "POST" else "whole number"
    assert response.json()["problems"][0]["expected"] == f"Expected here: {said}."


@pytest.mark.parametrize(
    "query", ["events/?action=%20done", "agreement/?measure=fail%20", "items/?cursor=%20x", "items/?phase=main%20"]
)
def test_a_text_of_a_query_is_taken_as_it_is(cast, query):
    make_event = {"project": cast.project, "person": cast.lea.person, "action": "done"}
    Event.objects.create(**make_event)
    response = Script(cast.lea).get(f"projects/{cast.project.slug}/{query}")
    assert response.status_code == 400 or response.json()["rows"] == []


@pytest.mark.parametrize("query", ["events/?action", "agreement/?measure", "items/?cursor"])
def test_a_character_of_a_query_that_cannot_be_stored_is_named(cast, query):
    response = Script(cast.lea).get(f"projects/{cast.project.slug}/{query}=a%00b")
    assert response.status_code == 400
    assert codes(response) == {(query.split("?")[1], "nul_character")}


def test_a_name_is_given_once_and_a_value_is_one_of_those_there_are(cast):
    lea, items = Script(cast.lea), f"projects/{cast.project.slug}/items/"
    for query, problem in {
        "limit=1&limit=2": ("limit", "duplicate_key"),
        "limit=0": ("limit", "out_of_range"),
        "limit=501": ("limit", "out_of_range"),
        **{f"limit={value}": ("limit", "wrong_type") for value in ONE_SPELLING},
        "phase=last": ("phase", "unknown_value"),
    }.items():
        response = lea.get(f"{items}?{query}")
        assert response.status_code == 400, query
        assert codes(response) == {problem}


def test_a_cursor_is_taken_back_as_it_was_sent_and_for_its_own_list(cast):
    for _ in range(3):
        make_item(cast.project)
    lea, items = Script(cast.lea), f"projects/{cast.project.slug}/items/"
    cursor = lea.get(f"{items}?limit=1").json()["next"]
    assert lea.get(f"{items}?limit=1&cursor={cursor}").status_code == 200
    elsewhere = f"projects/{cast.project.slug}/people/"
    wrong = ("cursor=x", "cursor=7", f"cursor=9{cursor}", f"cursor={cursor}0", f"phase=main&cursor={cursor}")
    for address in (*(f"{items}?{query}" for query in wrong), f"{elsewhere}?cursor={cursor}"):
        response = lea.get(address)
        assert response.status_code == 400, address
        assert codes(response) == {("cursor", "wrong_cursor")}


# Methods, formats, languages


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_another_method_is_405_and_says_which_there_are(cast, ana, method):
    response = ana.ask(method, next_of(cast), {})
    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD"
    assert codes(response) == {("", "method_not_allowed")}


def test_head_is_get_without_the_body(cast, ana):
    response = ana.ask("HEAD", next_of(cast))
    assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize("accept", ["text/html", "text/csv", "application/xml", "*/*", ";;", ""])
@pytest.mark.parametrize("address", ["projects/", "never-was/"])
def test_the_answer_is_json_whatever_is_asked_for(ana, accept, address):
    response = ana.get(address, headers={"Accept": accept})
    assert response["Content-Type"] == "application/json"
    assert response.content == ana.get(address).content


def test_sentences_are_in_the_language_asked_for_and_codes_in_none(cast, ana):
    english, chinese = (ana.get("projects/?a=1", headers={"Accept-Language": one}) for one in ("en", "zh-CN"))
    assert codes(english) == codes(chinese)
    assert (english["Content-Language"], chinese["Content-Language"]) == ("en", "zh-hans")


def test_an_answer_is_kept_by_nobody(ana):
    for address in ("projects/", "never-was/"):
        response = ana.get(address)
        assert response["Cache-Control"] == "no-store"
        assert not {"ETag", "Last-Modified", "Set-Cookie", "Allow"} & set(response.headers)


def test_something_that_breaks_says_so_in_json_and_nothing_else(cast, ana, monkeypatch):
    def broken(person, slug):
        raise ValueError("what broke it")

    monkeypatch.setattr(blind, "next_item", broken)
    response = ana.get(next_of(cast))
    assert response.status_code == 500
    assert codes(response) == {("", "server_error")}
    assert b"what broke it" not in response.content


def test_a_host_that_is_not_ours_is_refused_in_json(ana):
    response = ana.get("projects/", headers={"Host": "elsewhere.example"})
    assert response.status_code == 400
    assert codes(response) == {("", "malformed_request")}


# Too many


def test_a_token_that_asks_too_often_is_told_when_to_go_on_and_no_other_one_is(cast, ana, monkeypatch):
    monkeypatch.setattr(TokenThrottle, "rate", "3/min")
    assert [ana.get("projects/").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
    response = ana.get("projects/")
    assert codes(response) == {("", "too_many_requests")}
    assert 1 <= int(response["Retry-After"]) <= 60
    assert response["Retry-After"] in response.json()["problems"][0]["remedy"]
    assert Script(cast.ana).get("projects/").status_code == 200
    assert Script(cast.ben).get("projects/").status_code == 200


def test_asking_for_what_is_not_there_is_counted_too(cast, ana, monkeypatch):
    monkeypatch.setattr(TokenThrottle, "rate", "2/min")
    addresses = ("never-was/", f"projects/{cast.project.slug}/people/", "never-was/")
    assert [ana.get(address).status_code for address in addresses] == [404, 404, 429]


def test_later_it_may_go_on(ana, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(TokenThrottle, "rate", "1/min")
    monkeypatch.setattr(TokenThrottle, "timer", lambda self: now[0])
    assert [ana.get("projects/").status_code for _ in range(2)] == [200, 429]
    now[0] += 61
    assert ana.get("projects/").status_code == 200


def test_the_usual_rate_is_far_above_what_a_person_does():
    assert TokenThrottle().num_requests >= 300
    assert TokenThrottle().duration == 60


def test_a_secret_is_in_no_answer(cast, ana, plan):
    _, secret = tokens.make_token(person=cast.lea.person, project=cast.project, name="x")
    lea = Script(secret=secret)
    for of in ("", "people/", "events/", "items/", "protocols/", "imports/"):
        assert secret.encode() not in lea.get(f"projects/{cast.project.slug}/{of}").content
