"""The OpenAPI document says what the API does: each operation is walked through, and every answer held against it."""

import copy
import io
import json

import jsonschema
import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import transaction

from annotate.api.schema import document
from annotate.models import Assignment, Project, Round, Settlement, Work
from annotate.reviewing import open_card, part_of, refresh_queue
from scoring import comparing
from scoring.models import Judge, Run
from scoring.running import start_run
from tests.annotate.api.asking import Script
from tests.annotate.releases import seal
from tests.factories import (
    NOW,
    make_assignment,
    make_cast,
    make_endpoint,
    make_item,
    make_plan,
    make_round,
    make_run,
    make_submitted,
    make_verdict,
)
from tests.scoring.trajectories import triplet

pytestmark = pytest.mark.django_db
METHODS = ("get", "put", "post", "patch", "delete")
OPERATIONS = {
    one["operationId"]: (method.upper(), path, one)
    for path, methods in document()["paths"].items()
    for method, one in methods.items()
}


def test_the_document_is_made_without_a_warning_and_is_valid():
    said = io.StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=said)
    assert said.getvalue().startswith("openapi: 3.1.0")


def test_it_is_for_leads_only():
    cache.clear()
    cast = make_cast()
    lead, annotator = Script(cast.lea), Script(cast.ana)
    assert lead.get("schema/").json() == json.loads(json.dumps(document()))
    for script in (annotator, Script(cast.rita)):
        response = script.get("schema/")
        assert (response.status_code, response.content) == (404, annotator.get("never-was/").content)
    assert Script().get("schema/").status_code == 401


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_says_what_it_is_and_what_it_answers(name):
    method, path, one = OPERATIONS[name]
    assert path.startswith("/api/v1/")
    assert one["summary"]
    assert one["description"]
    assert one["tags"] in (["members"], ["reviewers"], ["leads"])
    assert one["security"] == [{"token": []}]
    assert {"400", "401", "404", "429"} <= set(one["responses"])
    assert any(status.startswith("2") for status in one["responses"])
    assert all(response["description"] for response in one["responses"].values())
    assert ("requestBody" in one) is (method != "GET")


def test_only_addresses_of_version_one_are_in_it_and_each_has_an_id_of_its_own():
    paths = document()["paths"]
    assert len(OPERATIONS) == sum(len(methods) for methods in paths.values()) >= 22
    assert {method for methods in paths.values() for method in methods} <= set(METHODS)


# The walk


def strict(schema):
    """The document where an object has the fields that are named and no other."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            strict(part)
    elif isinstance(schema, list):
        for part in schema:
            strict(part)
    return schema


@pytest.fixture(scope="module")
def described():
    return strict(copy.deepcopy(document()))


def check(described, one, response):
    """The answer is one of those the document names, and has its form."""
    status = str(response.status_code)
    assert status in one["responses"], f"{one['operationId']} answers {status}: {response.content.decode()[:300]}"
    assert response["Content-Type"] == "application/json"
    schema = one["responses"][status]["content"]["application/json"]["schema"]
    whole = {"components": described["components"], **schema}
    jsonschema.Draft202012Validator(whole).validate(response.json())


@pytest.fixture
def world(db, settings, tmp_path, monkeypatch):
    """A project in use, and what stands in the place of arguments: one's own in each state, other people's, nothing."""
    cache.clear()
    settings.UPLOADS_FOLDER = tmp_path
    monkeypatch.setattr(comparing, "N_RESAMPLES", 20)
    cast = make_cast()
    exercise = make_item(cast.project, phase="practice")
    label = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
    Settlement.objects.create(item=exercise, label=label, how="known", reason_en="So.", reason_zh="如此。")
    practice = make_submitted(cast.ana, exercise)
    item = make_item(cast.project)
    done, _ = make_submitted(cast.ana, item), make_submitted(cast.ben, item)
    plan = make_plan(cast.ana, 4)
    Assignment.objects.filter(pk=plan[1].pk).update(
        state="open", draft={"number": 0, "draft_number": 3, "fields": {"comment": "x"}}, draft_number=3
    )
    theirs = make_plan(cast.ben, 1)[0]
    closed = make_round(cast.project, "protocol", closed_at=NOW)
    earlier, _ = (make_submitted(member, item, round=closed) for member in (cast.ana, cast.ben))
    again = make_assignment(cast.ana, item, round=make_round(cast.project, "informed", informed=True))
    payload = {"file_name": "a.jsonl", "phase": "main"}
    work = [
        Work.objects.create(kind="import_traces", key=state, state=state, project=cast.project, payload=payload, **more)
        for state, more in (("waiting", {}), ("dead", {"error": "It broke."}))
    ]
    seal(cast.project)
    with transaction.atomic():
        start_run(person=None, project=cast.project, judge="lexical")
    make_endpoint(cast.project, name="small", price_in=1, price_out=1)
    values = {
        "project": [cast.project.slug, cast.other_project.slug, "never-was"],
        "public_id": [one.public_id for one in (practice, done, earlier, again, *plan, theirs)]
        + ["never-was"],
        "code": [cast.ben.code, "never-was"],
        "work_id": [*(one.pk for one in work), 999_999],
        "number": [1, 999_999],
    }
    refresh_queue(cast.project)
    values["disagreement_id"] = [item.disagreement.public_id, "never-was"]
    card = open_card(part=part_of(cast.rita.person, cast.project.slug), public_id=item.disagreement.public_id)
    settled = {"base": 0, "seen": card.seen, "cause": "slip", "confidence": "high", "answer": "A"}
    keys = ("key-of-settling-1", "key-of-settling-1", "key-of-settling-2")
    bodies = {"settle_item": [{"key": key, **settled} for key in keys]}
    sent = {"key": "key-of-sending-01", "seen": card.seen, "names": ["A"], "reason": "Look again."}
    bodies["send_back"] = [sent, sent, {**sent, "key": "key-of-sending-02", "seen": "x"}, {**sent, "reason": " "}]
    people = {"annotator": cast.ana, "reviewer": cast.rita, "lead": cast.lea}
    return {**{who: Script(one) for who, one in people.items()}, "values": values, "bodies": bodies}


def something_to_draw(project):
    """A project whose items are given by subsets, with one of the main phase that nobody was shown."""
    Project.objects.update(assigning="subsets")
    project.items.filter(phase="main").update(phase="pilot")
    make_item(project)


def something_written(project):
    """A project whose first run has written a workflow."""
    of_redundant_steps()
    Judge.objects.update(name="workflow")
    values = {"condition": "gold", "removed": [[2, 3]], "n_steps": 4, "text": "1. Look."}
    make_verdict(Run.objects.get(number=1), project.items.first(), None, finding={"values": values, "spans": []})


def of_redundant_steps():
    Project.objects.update(kind="redundancy")


def something_predicted(project):
    """A juror on a trajectory without gold, and one whose answer nobody could read."""
    Project.objects.update(kind="redundancy")
    run = make_run(project, "juror")
    steps = [triplet(1), triplet(2, "INC", [2, 3])]
    make_verdict(run, make_item(project), None, finding={"values": {"steps": steps}, "spans": []})
    make_verdict(run, make_item(project), None, is_unreadable=True)


BEFORE = {
    "list_predictions": lambda: something_predicted(Project.objects.order_by("pk").first()),
    "open_round": lambda: Round.objects.filter(purpose="informed").update(closed_at=NOW),
    "set_overlap_rule": lambda: Project.objects.update(assigning="pool"),
    **dict.fromkeys(("bring_known", "list_outcomes", "import_outcomes"), of_redundant_steps),
    "list_workflows": lambda: something_written(Project.objects.order_by("pk").first()),
    "draw_subsets": lambda: something_to_draw(Project.objects.order_by("pk").first()),
}
"""What has to be so for an operation to have something to do."""


def addresses(path, values):
    filled = [path]
    for argument in [part[1:-1] for part in path.split("/") if part.startswith("{")]:
        filled = [one.replace(f"{{{argument}}}", str(value)) for one in filled for value in values[argument]]
    return filled


ANSWER = {"protocol": 1, "label": {"label": "readable"}}
FILE = json.dumps({"format": "sightline/1", "id": "r", "messages": [{"role": "user", "text": "?"}]})
OUTCOME = {"domain": "airline", "task": "1", "repeat": 1, "condition": "none", "success": True, "tokens": 9}
BODIES = {
    "save_draft": [{"number": 0, "draft_number": 9, "fields": {"comment": "x"}}] * 2,
    "submit_annotation": [{"key": "key-of-an-answer-1", **ANSWER}] * 2
    + [{"key": "key-of-an-answer-2", "number": 1, **ANSWER}, {"key": "key-of-an-answer-3", "number": 7, **ANSWER}],
    "report_problem": [{"text": "Cut."}] * 2,
    "change_project": [{"show": "plain"}, {"languages": ["en"]}],
    "change_member": [{"paused": True}, {"languages": ["fr"]}, {"left": True}],
    "post_in_thread": [{"key": "key-of-a-post-0001", "text": "It lacks the unit."}] * 2,
    "report_gap": [{"key": "key-of-a-post-0002", "text": "What of two?", "protocol": 1}] * 2
    + [{"key": "key-of-a-post-0003", "text": "What of two?", "protocol": 9}],
    "open_round": [{"which": "all"}, {"which": "all"}, {"which": "some"}],
    "close_round": [{"state": "closed"}, {"state": "open"}],
    "bring_known": [
        {"labels": {}},
        {"labels": {"never-was": []}},
        {"labels": {}, "base": 2},
    ],
    "draw_subsets": [
        {"n_common": 1, "n_unique": 0},
        {"n_common": 1, "n_unique": 0, "people": ["nobody"]},
        {"n_common": 0, "n_unique": 9, "only_successful": True},
        {"n_common": -1, "n_unique": 0},
    ],
    "set_pass_rule": [{"last": 10, "percent": 80}, {"last": 10, "percent": None}, {"last": None, "percent": None}],
    "set_overlap_rule": [
        {"measure": "fail", "under": 0.8, "at_most": 5, "each": "item"},
        {"measure": "mood", "under": 0.8, "at_most": 5, "each": "item"},
        {"measure": None, "under": None, "at_most": None, "each": None},
    ],
    "close_project": [{"show_settled": True}, {"show_settled": True, "knowingly": True}],
    "make_invite": [{"role": "annotator", "languages": ["en"]}, {"role": "annotator"}],
    "new_protocol": [{"guideline_en": "Read.", "guideline_zh": "读。", "change_note": "new", "after": 1}] * 2,
    "upload_traces": [FILE, ""],
    "start_run": [
        {"judge": "lexical"},
        {"judge": "nobody"},
        {"judge": "reader", "endpoint": "small", "cap_calls": 9, "cap_cost": 0.5},
        {"judge": "reader", "endpoint": "small"},
    ],
    "choose_points": [{"quota": 2, "n": 3, "seed": 5}, {}, {"quota": 0}],
    "import_outcomes": [{"outcomes": [OUTCOME]}, {"outcomes": [{**OUTCOME, "tokens": 8}], "name": "lab"}],
    "change_run": [{"state": "paused"}, {"state": "paused"}, {"state": "cancelled"}, {"state": "running"}],
    "seal_release": [{"rule": "consensus"}, {"rule": "best"}, {"protocol": 9}],
}
"""Bodies that are taken, some of them only once, and some that are not."""
BAD_BODIES = ("{", "[]", {}, {"nobody": "knows"}, "x" * 3_000_000)
QUERIES = {
    "list_predictions": ("?state=no_gold&type=INC&limit=1", "?run=9999", "?release=9", "?state=x", "?domain=a"),
    "show_agreement": ("?phase=pilot", "?measure=fail", "?measure=x", "?protocol=9"),
    "show_method_report": ("?phase=pilot", "?run=9", "?protocol=9", "?checker_run=x"),
    "estimate_run": ("?judge=reader&endpoint=small", "?judge=reader&endpoint=none", "?judge=lexical&endpoint=small"),
    "list_rounds": ("?phase=pilot", "?phase=practice"),
    "list_gaps": ("?protocol=1&limit=1", "?protocol=0"),
    "show_guideline": ("?protocol=1", "?protocol=9", "?protocol=0"),
    "list_items": ("?phase=main&limit=1", "?limit=0", "?cursor=x"),
    "upload_traces": ("?phase=last", "?format=csv", "?file_name=a.jsonl"),
}


def asked(name, method, world):
    """Queries and bodies that go to an operation."""
    bodies = [*(world["bodies"].get(name) or BODIES[name]), *BAD_BODIES] if method != "GET" else [None]
    yield from (("", body) for body in bodies)
    yield from ((query, bodies[0]) for query in (*QUERIES.get(name, ()), "?nobody=knows"))


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_answer_is_one_that_the_document_describes(name, described, world):
    method, path, _ = OPERATIONS[name]
    one = described["paths"][path][method.lower()]
    seen = set()
    BEFORE.get(name, int)()
    for who in ("annotator", "reviewer", "lead"):
        for address in addresses(path, world["values"]):
            for query, body in asked(name, method, world):
                response = world[who].ask(method, address + query, body)
                check(described, one, response)
                seen.add(response.status_code)
    response = Script().ask(method, addresses(path, world["values"])[0])
    check(described, one, response)
    wanted = {int(status) for status in one["responses"] if status.startswith("2")} | {400}
    assert wanted | ({404} if path.count("{") or "leads" in one["tags"] else set()) <= seen
    assert method == "GET" or name == "upload_traces" or {413, 422} <= seen


def test_the_walk_would_notice_a_field_or_a_status_that_nobody_described(described, world):
    one = described["paths"]["/api/v1/projects/"]["get"]
    response = world["annotator"].get("projects/")
    check(described, one, response)
    rows = response.json()["rows"]
    for wrong in ({"rows": [{**rows[0], "more": 1}]}, {"rows": [{"slug": "x"}]}, {"rows": rows, "more": 1}):
        response.json = lambda wrong=wrong: wrong
        with pytest.raises(jsonschema.ValidationError):
            check(described, one, response)
    response.status_code = 418
    with pytest.raises(AssertionError, match="answers 418"):
        check(described, one, response)
