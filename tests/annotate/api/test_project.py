"""A lead's script does what the pages of a project do."""

import json
from types import SimpleNamespace

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.test.utils import CaptureQueriesContext

from annotate import inviting, tasks, uploading, work
from annotate.models import Assignment, Event, ImportBatch, Item, Membership, Protocol, Role, Work
from tests.annotate.api.asking import Script, codes
from tests.factories import (
    NOW,
    make_cast,
    make_item,
    make_member,
    make_plan,
    make_protocol,
    make_submitted,
    make_trace,
)

pytestmark = pytest.mark.django_db
assert tasks.HANDLERS_OF  # they are registered as in a worker
TRACE = {
    "format": "sightline/1",
    "id": "run-1",
    "messages": [{"role": "user", "text": "Which?"}, {"role": "assistant", "text": "The first."}],
}


@pytest.fixture
def cast(db):
    cache.clear()
    return make_cast()


@pytest.fixture
def lea(cast):
    return Script(cast.lea)


def of(cast, what=""):
    return f"projects/{cast.project.slug}/{what}"


# The project


def test_a_lead_sees_the_project(cast, lea):
    shown = lea.get(of(cast)).json()
    assert shown.pop("created_at").endswith("Z")
    assert shown == {
        "slug": cast.project.slug,
        "title_en": cast.project.title_en,
        "title_zh": cast.project.title_zh,
        "kind": "reply",
        "languages": ["en", "zh"],
        "seed": 7,
        "show": "light",
        "text_beside_calls": "private",
        "open_lead": False,
        "assigning": "panel",
        "overlap": 3,
        "person_cap": None,
        "lease_minutes": 30,
        "suggestions_off": 0,
        "open_phase": "main",
        "closed_at": None,
        "show_settled": False,
        "is_synthetic": False,
    }


@pytest.mark.parametrize(
    "what", ["", "people/", "items/", "protocols/", "events/", "imports/", "agreement/", "imports/1/"]
)
@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_nobody_else_sees_anything_of_it(cast, who, what):
    missing = Script(getattr(cast, who)).get("never-was/")
    response = Script(getattr(cast, who)).get(of(cast, what))
    assert (response.status_code, response.content) == (404, missing.content)


def test_what_is_sent_is_changed_and_the_rest_stays(cast, lea):
    response = lea.patch(of(cast), {"title_zh": "新名", "show": "plain", "open_phase": "main"})
    assert response.status_code == 200
    assert (response.json()["title_zh"], response.json()["show"]) == ("新名", "plain")
    assert response.json()["title_en"] == cast.project.title_en
    assert lea.get(of(cast)).json() == response.json()
    assert Event.objects.get(action="project_changed").person == cast.lea.person


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ({"slug": "another"}, 400, ("slug", "unknown_field")),
        ({"seed": 9}, 400, ("seed", "unknown_field")),
        ({"kind": "choice"}, 400, ("kind", "unknown_field")),
        ({"title_en": 7}, 422, ("title_en", "wrong_type")),
        ({"title_en": ""}, 422, ("title_en", "empty_value")),
        ({"title_en": "x" * 201}, 422, ("title_en", "too_many")),
        ({"languages": "en"}, 422, ("languages", "wrong_type")),
        ({"languages": ["en", "fr"]}, 422, ("languages", "unknown_value")),
        ({"languages": ["en"]}, 422, ("languages", "in_use")),
        ({"show": "Light"}, 422, ("show", "unknown_value")),
        ({"open_lead": "yes"}, 422, ("open_lead", "wrong_type")),
        ({"open_phase": "last"}, 422, ("open_phase", "unknown_value")),
    ],
    ids=str,
)
def test_a_change_that_cannot_be_made_changes_nothing(cast, lea, body, status, problem):
    before = lea.get(of(cast)).json()
    response = lea.patch(of(cast), {"title_zh": "新名", **body})
    assert response.status_code == status
    assert codes(response) == {problem}
    assert lea.get(of(cast)).json() == before


def test_a_phase_that_was_shown_stays_open_and_the_rest_of_the_change_is_undone(cast, lea):
    make_submitted(cast.ana)
    response = lea.patch(of(cast), {"title_zh": "新名", "open_phase": "practice"})
    assert response.status_code == 422
    assert codes(response) == {("open_phase", "in_use")}
    assert lea.get(of(cast)).json()["title_zh"] == cast.project.title_zh


# People


def test_people_are_listed_with_how_far_they_are(cast, lea):
    make_submitted(cast.ana)
    make_plan(cast.ana, 2)
    page = lea.get(of(cast, "people/")).json()
    assert page["next"] is None
    assert [row["name"] for row in page["rows"]] == ["ana", "ben", "rita", "lea"]
    assert page["rows"][0] == {
        **{"code": cast.ana.code, "name": "ana", "role": "annotator", "languages": ["en", "zh"]},
        **{"paused_at": None, "left_at": None},
        **{"n_assigned": 3, "n_submitted": 1, "n_problem": 0, "n_withdrawn": 0},
    }


def test_a_link_is_made_and_its_secret_told_once(cast, lea):
    response = lea.post(of(cast, "invites/"), {"role": "annotator", "languages": ["zh"], "note": "for max"})
    assert response.status_code == 201
    made = response.json()
    assert made["address"] == f"http://testserver/join/{made['secret']}/"
    assert (made["role"], made["languages"], made["note"]) == ("annotator", ["zh"], "for max")
    invite = inviting.find_invite(made["secret"], NOW)
    assert (invite.project, invite.role, invite.created_by) == (cast.project, "annotator", cast.lea.person)
    assert made["secret"] not in repr(list(Event.objects.values()))
    assert made["secret"] not in lea.get(of(cast, "events/")).content.decode()


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ({}, 422, ("role", "missing_field")),
        ({"role": "owner"}, 422, ("role", "unknown_value")),
        ({"role": "annotator"}, 422, ("languages", "unknown_value")),
        ({"role": "annotator", "languages": ["fr"]}, 422, ("languages", "unknown_value")),
        ({"role": "lead", "days": 61}, 422, ("days", "out_of_range")),
        ({"role": "lead", "days": "7"}, 422, ("days", "wrong_type")),
        ({"role": "lead", "note": "x" * 201}, 422, ("note", "too_many")),
        ({"role": "lead", "secret": "my-own"}, 400, ("secret", "unknown_field")),
    ],
    ids=str,
)
def test_a_link_that_cannot_be_made_is_refused(cast, lea, body, status, problem):
    response = lea.post(of(cast, "invites/"), body)
    assert response.status_code == status
    assert codes(response) == {problem}


def test_a_part_is_paused_ended_and_given_back(cast, lea):
    make_plan(cast.ana, 2)
    address = of(cast, f"people/{cast.ana.code}/")
    assert lea.patch(address, {"paused": True}).json()["paused_at"]
    assert Script(cast.ana).get(of(cast, "next/")).json()["standing"] == "paused"
    assert lea.patch(address, {"paused": False}).json()["paused_at"] is None
    ended = lea.patch(address, {"left": True}).json()
    assert ended["left_at"]
    assert ended["n_withdrawn"] == 2
    assert not Membership.objects.filter(pk=cast.ana.pk, left_at=None).exists()
    assert lea.patch(address, {"left": False, "languages": ["zh"]}).json()["languages"] == ["zh"]
    actions = list(Event.objects.filter(action__startswith="member_").order_by("pk").values_list("action", flat=True))
    assert actions == [f"member_{what}" for what in ("paused", "resumed", "retired", "brought_back", "languages_set")]


def test_nothing_of_a_change_is_made_where_part_of_it_cannot_be(cast, lea):
    address = of(cast, f"people/{cast.ana.code}/")
    response = lea.patch(address, {"paused": True, "languages": ["fr"]})
    assert response.status_code == 422
    assert codes(response) == {("languages", "unknown_value")}
    assert not Membership.objects.filter(paused_at__isnull=False).exists()
    own = lea.patch(of(cast, f"people/{cast.lea.code}/"), {"left": True, "knowingly": True})
    assert codes(own) == {("member", "last_lead")}


def test_ones_own_part_ends_only_knowingly(cast, lea):
    make_member(cast.project, "leo", Role.LEAD)
    address = of(cast, f"people/{cast.lea.code}/")
    assert codes(lea.patch(address, {"left": True})) == {("knowingly", "own_part")}


NOBODY_IS = {
    "left, languages": (("ana", True), {"languages": ["zh"]}, "languages"),
    "left, paused": (("ana", True), {"paused": True}, "paused"),
    "left and to be another": (("ana", True), {"left": True, "languages": ["zh"]}, "languages"),
    "leaves and is paused, who never is": (("rita", False), {"left": True, "paused": True}, "paused"),
    "reviewer": (("rita", False), {"paused": True}, "paused"),
    "lead": (("lea", False), {"paused": True}, "paused"),
    "reviewer, and languages that can be": (("rita", False), {"languages": ["zh"], "paused": True}, "paused"),
    "brought back, who is never paused": (("rita", True), {"left": False, "paused": True}, "paused"),
}


@pytest.mark.parametrize("name", NOBODY_IS)
def test_what_cannot_be_so_is_refused_and_nothing_is_done(cast, lea, name):
    (who, has_left), body, field = NOBODY_IS[name]
    member = getattr(cast, who)
    if has_left:
        Membership.objects.filter(pk=member.pk).update(left_at=NOW)
    before = list(Membership.objects.order_by("pk").values()), Event.objects.count()
    response = lea.patch(of(cast, f"people/{member.code}/"), body)
    assert response.status_code == 422
    assert {found for found, _ in codes(response)} == {field}
    assert (list(Membership.objects.order_by("pk").values()), Event.objects.count()) == before


@pytest.mark.parametrize(
    ("who", "body"),
    [
        ("ana", {"paused": False, "left": False, "languages": ["zh", "en"]}),
        ("rita", {"paused": False}),
        ("lea", {"languages": ["en", "zh"]}),
        ("ana", {}),
    ],
)
def test_what_is_so_already_is_no_mistake_and_no_change(cast, lea, who, body):
    before = Event.objects.count()
    assert lea.patch(of(cast, f"people/{getattr(cast, who).code}/"), body).status_code == 200
    assert Event.objects.count() == before


@pytest.mark.parametrize("code", ["a9", "x" * 30, "%C3%A9", "1", "a%00b", "%00", "a%0Ab", "%E2%80%A8", "x" * 3000])
def test_a_code_that_nobody_has_is_the_one_404(cast, lea, code):
    response = lea.patch(of(cast, f"people/{code}/"), {"paused": True})
    assert (response.status_code, response.content) == (404, lea.get("never-was/").content)


def test_no_database_is_asked_for_a_code_with_a_character_that_it_cannot_hold(cast, lea):
    with CaptureQueriesContext(connection) as captured:
        lea.patch(of(cast, f"people/{cast.ana.code}%00/"), {"paused": True})
    assert len(captured) == 1  # whose token it is


# Items, protocols, events: pages


def test_items_come_by_pages_that_miss_and_repeat_nothing(cast, lea):
    trace = make_trace(cast.project)
    items = [make_item(trace=trace, reply=3), make_item(trace=trace, reply=5)]
    items += [make_item(cast.project, phase="pilot") for _ in range(3)]
    make_item(cast.other_project)
    staged = make_item(trace=make_trace(cast.project, is_staged=True))
    make_submitted(cast.ana, items[1])
    found, cursor = [], ""
    while cursor is not None:
        page = lea.get(of(cast, f"items/?limit=2&cursor={cursor}")).json()
        assert len(page["rows"]) <= 2
        found += page["rows"]
        cursor = page["next"]
        if len(found) == 2:  # what comes in meanwhile comes at the end
            items.append(make_item(cast.project))
    assert [row["id"] for row in found] == [one.pk for one in items]
    assert staged.pk not in {row["id"] for row in found}
    assert found[1] == {
        **{"id": items[1].pk, "source": trace.source_id, "anchor": 5, "phase": "main", "language": "en"},
        **{"cluster": trace.cluster, "n_submitted": 1, "has_known": False},
    }
    pilot = lea.get(of(cast, "items/?phase=pilot")).json()
    assert [row["phase"] for row in pilot["rows"]] == ["pilot"] * 3


def test_a_page_has_a_hundred_rows_unless_more_are_asked_for_and_never_above_five_hundred(cast, lea):
    trace = make_trace(cast.project)
    Item.objects.bulk_create(Item(project=cast.project, trace=trace, anchor=place, cluster="c") for place in range(600))
    assert len(lea.get(of(cast, "items/")).json()["rows"]) == 100
    page = lea.get(of(cast, "items/?limit=500")).json()
    assert len(page["rows"]) == 500
    assert len(lea.get(of(cast, f"items/?limit=500&cursor={page['next']}")).json()["rows"]) == 100
    assert lea.get(of(cast, "items/?limit=501")).status_code == 400


def test_a_new_protocol_is_opened_and_listed(cast, lea):
    body = {"guideline_en": "Read all of it.", "guideline_zh": "全部阅读。", "change_note": "clearer", "after": 1}
    response = lea.post(of(cast, "protocols/"), body)
    assert response.status_code == 201
    assert (response.json()["number"], response.json()["guideline_zh"]) == (2, "全部阅读。\n")
    rows = lea.get(of(cast, "protocols/")).json()["rows"]
    assert [row["number"] for row in rows] == [2, 1]
    assert rows[0] == response.json()
    again = lea.post(of(cast, "protocols/"), body)
    assert again.status_code == 422
    assert codes(again) == {("after", "opened_meanwhile")}
    assert Protocol.objects.filter(project=cast.project).count() == 2


@pytest.mark.parametrize(
    ("fields", "status", "problem"),
    [
        ({"change_note": ""}, 422, ("change_note", "empty_value")),
        ({"after": "1"}, 422, ("after", "wrong_type")),
        ({"guideline_en": "x" * 50_001}, 422, ("guideline_en", "too_many")),
        ({"label_schema": {}}, 422, ("label_schema", "fixed_schema")),
        ({"number": 7}, 400, ("number", "unknown_field")),
    ],
    ids=["no note", "text", "long", "schema", "number"],
)
def test_a_protocol_that_cannot_be_is_refused(cast, lea, fields, status, problem):
    body = {"guideline_en": "Read.", "guideline_zh": "读。", "change_note": "clearer", "after": 1, **fields}
    response = lea.post(of(cast, "protocols/"), body)
    assert response.status_code == status
    assert codes(response) == {problem}
    assert Protocol.objects.filter(project=cast.project).count() == 1


def test_events_are_listed_newest_first_with_who_did_them(cast, lea):
    for number in range(3):
        Event.objects.create(project=cast.project, person=cast.lea.person, action="done", detail={"number": number})
    Event.objects.create(project=cast.other_project, action="done")
    first = lea.get(of(cast, "events/?action=done&limit=2")).json()
    second = lea.get(of(cast, f"events/?action=done&limit=2&cursor={first['next']}")).json()
    found = [*first["rows"], *second["rows"]]
    assert [row["detail"]["number"] for row in found] == [2, 1, 0]
    assert second["next"] is None
    assert {(row["person"], row["action"]) for row in found} == {("lea", "done")}
    nobody = Event.objects.create(project=cast.project, action="by_nobody")
    row = lea.get(of(cast, "events/?action=by_nobody")).json()["rows"]
    assert [(one["id"], one["person"]) for one in row] == [(nobody.pk, None)]


# Imports


@pytest.fixture
def uploads(settings, tmp_path):
    settings.UPLOADS_FOLDER = tmp_path / "uploads"
    return settings.UPLOADS_FOLDER


def lines(*traces):
    return "\n".join(map(json.dumps, traces)).encode()


def upload_form(script, cast, content, *, name="runs.jsonl", query="", **more):
    file = SimpleUploadedFile(name, content)
    body = encode_multipart(BOUNDARY, {"file": file, **more})
    return script.post(of(cast, f"imports/{query}"), body, content_type=MULTIPART_CONTENT)


def upload_raw(script, cast, content, *, query="?file_name=runs.jsonl", kind="application/octet-stream"):
    return script.post(of(cast, f"imports/{query}"), content, content_type=kind)


@pytest.mark.parametrize("upload", [upload_form, upload_raw])
def test_an_upload_is_taken_at_once_and_imported_in_the_background(cast, lea, uploads, upload):
    content = lines(TRACE)
    response = upload(lea, cast, content)
    assert response.status_code == 202
    taken = response.json()
    assert (taken["state"], taken["file"], taken["phase"]) == ("waiting", "runs.jsonl", "main")
    assert (taken["n_done"], taken["n_total"], taken["error"]) == (0, len(content), "")
    address = response["Location"]
    assert address == f"/api/v1/{of(cast)}imports/{taken['id']}/"
    assert lea.get(address).json() == {**taken, "report": None}
    assert not Item.objects.exists()
    work.drain()
    done = lea.get(address).json()
    assert done["state"] == "imported"
    assert (done["report"]["format"], done["report"]["counts"]["new"]) == ("sightline", 1)
    assert done["report"]["problems"] == []
    assert Item.objects.get().trace.source_id == "run-1"
    assert ImportBatch.objects.get().person == cast.lea.person
    listed = lea.get(of(cast, "imports/")).json()["rows"]
    assert [(row["id"], row["state"]) for row in listed] == [(taken["id"], "imported")]


@pytest.mark.parametrize("kind", ["", "application/json", "application/x-www-form-urlencoded", "text/plain"])
def test_the_body_is_the_file_under_whatever_type_a_script_sends(cast, lea, uploads, kind):
    assert upload_raw(lea, cast, lines(TRACE), kind=kind).status_code == 202
    work.drain()
    assert Item.objects.count() == 1


@pytest.mark.parametrize("upload", [upload_form, upload_raw])
def test_an_upload_without_room_is_refused_with_a_status_of_its_own(cast, lea, uploads, upload, monkeypatch):
    usage = SimpleNamespace(free=uploading.RESERVE_BYTES - 1)
    monkeypatch.setattr(uploading.shutil, "disk_usage", lambda path: usage)
    response = upload(lea, cast, lines(TRACE))
    assert response.status_code == 507
    assert [problem["code"] for problem in response.json()["problems"]] == ["no_space"]
    assert list(uploads.iterdir()) == []
    usage.free += 10_000
    assert upload(lea, cast, lines(TRACE)).status_code == 202


def test_choices_stand_behind_the_question_mark(cast, lea, uploads):
    query = "?file_name=a.jsonl&phase=pilot&format=sightline&skip_bad=true&replace_nul=1"
    response = upload_raw(lea, cast, b'{"id": "\n' + lines(TRACE), query=query)
    assert response.status_code == 202
    work.drain()
    shown = lea.get(response["Location"]).json()
    assert (shown["state"], shown["phase"]) == ("imported", "pilot")
    assert [problem["code"] for problem in shown["report"]["problems"]] == ["malformed_json"]
    assert Item.objects.get().phase == "pilot"
    batch = ImportBatch.objects.get()
    assert (batch.skip_bad, batch.replace_nul) == (True, True)


def test_a_bad_file_is_refused_with_every_problem_in_the_language_asked_for(cast, lea, uploads):
    response = upload_raw(lea, cast, lines(TRACE, {"id": "run-2"}) + b'\n{"id": "\n')
    work.drain()
    shown = lea.get(response["Location"]).json()
    assert shown["state"] == "refused"
    problems = shown["report"]["problems"]
    assert {problem["line"] for problem in problems} == {2, 3}
    assert all({"code", "field", "expected", "remedy", "file"} <= set(problem) for problem in problems)
    assert not any("unfilled" in problem for problem in problems)
    assert not Item.objects.exists()


@pytest.mark.parametrize(
    ("query", "status", "problem"),
    [
        ("?phase=last", 400, ("phase", "unknown_value")),
        ("?skip_bad=perhaps", 400, ("skip_bad", "wrong_type")),
        ("?project=other", 400, ("project", "unknown_filter")),
        ("?format=csv", 422, ("format", "unknown_format")),
    ],
)
@pytest.mark.parametrize("upload", [upload_form, upload_raw])
def test_a_wrong_choice_is_refused_and_no_file_kept(cast, lea, uploads, upload, query, status, problem):
    response = upload(lea, cast, lines(TRACE), query=query)
    assert response.status_code == status
    assert codes(response) == {problem}
    assert not Work.objects.exists()
    assert not uploads.exists() or list(uploads.iterdir()) == []


@pytest.mark.parametrize("more", ["file", "text"])
def test_of_two_parts_of_one_name_neither_is_taken(cast, lea, uploads, more):
    second = SimpleUploadedFile("b.jsonl", lines(TRACE)) if more == "file" else "more"
    parts = [SimpleUploadedFile("a.jsonl", lines(TRACE)), second]
    response = lea.post(
        of(cast, "imports/"), encode_multipart(BOUNDARY, {"file": parts}), content_type=MULTIPART_CONTENT
    )
    assert response.status_code == 400
    assert codes(response) == {("file", "duplicate_key")}
    assert "question mark" not in response.json()["problems"][0]["expected"]
    assert not Work.objects.exists()
    assert list(uploads.iterdir()) == []


@pytest.mark.parametrize("kind", ["Multipart/Form-Data", "MULTIPART/FORM-DATA ", "multipart/form-data"])
def test_a_form_is_one_in_whatever_letters_its_type_is_written(cast, lea, uploads, kind):
    body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("runs.jsonl", lines(TRACE))})
    response = lea.post(of(cast, "imports/"), body, content_type=f"{kind}; boundary={BOUNDARY}")
    assert (response.status_code, response.json()["file"]) == (202, "runs.jsonl")
    work.drain()
    assert Item.objects.count() == 1


def test_a_json_body_is_one_in_whatever_letters_its_type_is_written(cast, lea):
    assert lea.patch(of(cast), {"show": "plain"}, content_type="Application/JSON; Charset=UTF-8").status_code == 200


def test_an_upload_without_a_file_is_refused(cast, lea, uploads):
    empty_form = lea.post(of(cast, "imports/"), encode_multipart(BOUNDARY, {}), content_type=MULTIPART_CONTENT)
    for response in (empty_form, lea.post(of(cast, "imports/")), lea.post(of(cast, "imports/"), content_type="")):
        assert response.status_code == 422
        assert codes(response) == {("file", "missing_field")}
    empty = upload_form(lea, cast, b"")
    assert (empty.status_code, codes(empty)) == (422, {("file", "empty_file")})
    more = upload_form(lea, cast, lines(TRACE), phase="pilot")
    assert (more.status_code, codes(more)) == (400, {("phase", "unknown_field")})
    assert not Work.objects.exists()
    assert list(uploads.iterdir()) == []


@pytest.mark.parametrize("upload", [upload_form, upload_raw])
def test_a_file_above_the_limit_is_refused_and_not_kept(cast, lea, uploads, upload, settings):
    settings.UPLOAD_MAX_BYTES = 10
    response = upload(lea, cast, lines(TRACE))
    assert response.status_code == 413
    assert codes(response) == {("file", "too_large")}
    assert not Work.objects.exists()
    assert list(uploads.iterdir()) == []


def test_a_file_that_is_larger_than_any_other_body_may_be_is_taken(cast, lea, uploads, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    for upload in (upload_form, upload_raw):
        assert upload(lea, cast, lines(TRACE)).status_code == 202


def test_who_is_no_lead_brings_no_file(cast, uploads):
    for upload in (upload_form, upload_raw):
        assert upload(Script(cast.ana), cast, lines(TRACE)).status_code == 404
        assert upload(Script(), cast, lines(TRACE)).status_code == 401
    assert not uploads.exists() or list(uploads.iterdir()) == []


def test_an_import_that_was_given_up_says_so(cast, lea, uploads):
    response = upload_raw(lea, cast, lines(TRACE))
    Work.objects.update(state=Work.State.DEAD, error=work.WORKER_DIED)
    shown = lea.get(response["Location"]).json()
    assert (shown["state"], shown["error"], shown["report"]) == ("given_up", work.WORKER_DIED, None)


def test_an_import_of_another_project_is_the_one_404(cast, lea, uploads):
    zack = make_member(cast.other_project, "zack", Role.LEAD)
    upload_raw(Script(zack), make_like(cast, cast.other_project), lines(TRACE))
    theirs = Work.objects.get()
    for number in (theirs.pk, 999_999, "9" * 30):
        response = lea.get(of(cast, f"imports/{number}/"))
        assert (response.status_code, response.content) == (404, lea.get("never-was/").content)
    assert lea.get(of(cast, "imports/")).json()["rows"] == []


def make_like(cast, project):
    """The cast as it is for the helpers here, which only ask for its project."""
    return type(cast)(**{**{name: getattr(cast, name) for name in cast.__dataclass_fields__}, "project": project})


# What it costs


@pytest.mark.parametrize("n", [1, 30])
def test_lists_take_a_fixed_number_of_statements(cast, lea, n):
    for number in range(n):
        make_submitted(cast.ana)
        make_member(cast.project, f"max{number}")
        make_protocol(cast.project)
        Event.objects.create(project=cast.project, person=cast.lea.person, action="done")
        Work.objects.create(
            kind="import_traces", key=f"{number}", project=cast.project, payload={"file_name": "a", "phase": "main"}
        )
    counts = {}
    for what in ("people/", "items/", "protocols/", "events/", "imports/", ""):
        with CaptureQueriesContext(connection) as captured:
            assert lea.get(of(cast, what)).status_code == 200
        counts[what] = len(captured)
    assert counts == {"people/": 3, "items/": 3, "protocols/": 3, "events/": 3, "imports/": 3, "": 2}
    assert Assignment.objects.count() == n
