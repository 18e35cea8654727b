"""A whole small study of experience replays on made-up trajectories, with a scripted model: redundant steps are
labelled, sealed and detected, workflows of three conditions go out, outcomes come back, and the report compares them.
"""

import json
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import work
from annotate.errors import Refused
from annotate.traces.base import Answered, Call, Message
from scoring import driving, experience_queries
from scoring.asking import Cap
from scoring.experience import workflow_run
from scoring.method_reports import shown_method
from scoring.models import Call as AskedCall
from scoring.models import Verdict
from scoring.running import Asking, run_progress, start_run
from tests.annotate.api.asking import Script
from tests.factories import make_cast, make_endpoint, make_item, make_trace
from tests.judge_server import JudgeServer, always, garbage
from tests.scoring.test_outcomes import lines, outcome
from tests.scoring.trajectories import say

pytestmark = pytest.mark.django_db(transaction=True)
HANDLERS_OF = [driving]
FAST = {"n_resamples": 100, "n_resamples_costs": 100}
REPEATED, EXPLORING = [4, 5], [6, 7]
DUPLICATE = {"step": REPEATED, "type": "DUP", "evidence": [2, 3]}
UNUSED = {"step": EXPLORING, "type": "EXP", "evidence": [-1]}


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch):
    cache.clear()
    monkeypatch.setattr(work.waking, "wake", lambda: None)


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy", seed=11)


def messages(who):
    """Looks a user up, does so again, looks at a flight that nobody asked for, and cancels."""
    said = [Message(0, "system", "Be kind."), Message(1, "user", f"I am {who}. Cancel it.")]
    found = ("find_user", who, "found")
    calls = [found, found, ("find_flight", "any", "full"), ("cancel", who, "ok")]
    for place, (tool, argument, result) in enumerate(calls):
        at = 2 + 2 * place
        said.append(Message(at, "assistant", "", calls=(Call(f"c{at}", tool, json.dumps({"name": argument})),)))
        said.append(Message(at + 1, "tool", result, answers=Answered(at, 0), answers_id=f"c{at}", name=tool))
    return [*said, Message(10, "assistant", "Done.")]


def make_runs(project, n=3, **metadata):
    counts = {str(at): {"usage": {"completion_tokens": 10 * at}} for at in (2, 4, 6, 8, 10)}
    told = {"messages": counts, "success": True, "model": "agent-x", **metadata}
    traces = [
        make_trace(project, messages(f"person {n}"), area="airline", cluster=f"airline task {n % 2}", metadata=told)
        for n in range(n)
    ]
    return [make_item(trace=trace, reply=10) for trace in traces]


def judged(project, endpoint, judge, **values):
    run = start_run(person=None, project=project, judge=judge, asking=Asking(endpoint, Cap(calls=1000)), **values)
    work.drain()
    assert run_progress(run).state == "done"
    assert run_progress(run).n_dead == 0
    return run


def tools_in(text):
    return [line.split("`")[1] for line in text.splitlines() if "`" in line]


def exported(project, run):
    out = StringIO()
    call_command("export_workflows", project.slug, "--run", str(run.number), stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_whole_study_of_experience_replays(cast, settings, client, tmp_path, capsys):
    project = cast.project
    items = make_runs(project)
    failed = make_runs(project, 1, success=False)[0]
    for item in items:
        say(cast.ana, item, DUPLICATE, UNUSED)
    call_command("seal_release", project.slug, "--rule", "reviewed")
    release = project.releases.get()

    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        endpoint = make_endpoint(project, server, concurrency=2, per_minute=100_000)
        detector = judged(project, endpoint, "stepdet", settings={"release": release.number, "n_examples": 0})
        runs = {
            condition: judged(project, endpoint, "workflow", settings={"condition": condition, **own})
            for condition, own in (
                ("original", {}),
                ("llm", {"steps_run": detector.number}),
                ("gold", {"release": release.number}),
            )
        }
        sent = [asked.text for asked in server.asked if asked.prompt == "workflow"]
    assert len(sent) == 9
    assert not any("agent-x" in text for text in sent)

    written = {condition: exported(project, run) for condition, run in runs.items()}
    expected = {
        "original": ([], ["find_user", "find_user", "find_flight", "cancel"]),
        "llm": ([REPEATED], ["find_user", "find_flight", "cancel"]),
        "gold": ([REPEATED, EXPLORING], ["find_user", "cancel"]),
    }
    for condition, rows in written.items():
        removed, tools = expected[condition]
        assert [row["item"] for row in rows] == [item.pk for item in items]
        assert failed.pk not in {row["item"] for row in rows}
        for row, item in zip(rows, items, strict=True):
            assert (row["condition"], row["removed"], row["n_steps"]) == (condition, removed, 4)
            assert (row["domain"], row["task"], row["success"]) == ("airline", item.trace.cluster, True)
            assert (row["trajectory"], row["model"]) == (item.trace.source_id, endpoint.model)
            assert tools_in(row["workflow"]) == tools
            assert "person" not in row["workflow"]
    assert not Verdict.objects.filter(run__judge__name="workflow").exclude(label=None).exists()

    # the same over the page and the API
    client.force_login(cast.lea.person)
    page = client.get(reverse("scoring:show_experience", args=[project.slug])).content.decode()
    assert "Without the steps that a release names" in page
    place = reverse("scoring:workflows_file", args=[project.slug, runs["gold"].number])
    assert place in page
    answer = client.get(place)
    assert answer["Content-Disposition"].startswith("attachment")
    assert [json.loads(line) for line in answer.content.decode().splitlines()] == written["gold"]
    script, address = Script(cast.lea), f"projects/{project.slug}/runs/{runs['gold'].number}/workflows/"
    first = script.get(f"{address}?limit=2").json()
    rest = script.get(f"{address}?limit=2&cursor={first['next']}").json()
    assert [*first["rows"], *rest["rows"]] == written["gold"]
    assert rest["next"] is None

    # what agents elsewhere did with them comes back
    spent = {"none": 1000, "original": 980, "llm": 900, "gold": 800}
    file = tmp_path / "outcomes.jsonl"
    file.write_text(
        lines(
            {"record": "about", "text": "Outcomes made up for a test.", "synthetic": True},
            *(
                outcome(str(task), repeat, condition, tokens=tokens, success=(task, condition) != (0, "none"))
                for condition, tokens in spent.items()
                for task in range(2)
                for repeat in range(3)
            ),
        ),
        encoding="utf-8",
    )
    call_command("import_outcomes", project.slug, str(file))
    report = shown_method(project, given=FAST).report
    for condition, tokens in spent.items():
        by = {"domain": "airline", "experience": condition}
        assert report.row("runs", "experience", **by).figure.value == 6
        done = report.row("success", "experience", **by)
        assert (done.k, done.n) == ((3, 6) if condition == "none" else (6, 6))
        if condition != "none":
            saved = report.row("token_reduction", "experience", **by).figure.value
            assert saved == pytest.approx((1000 - tokens) / 1000)
            assert report.row("success_difference", "experience", **by).figure.value == 3
    share = report.row("token_share", "costs", domain="airline")
    assert (share.k, share.n) == (3 * 100, 3 * 300)
    capsys.readouterr()
    call_command("report", "redundancy", project.slug, "--set", "n_resamples=100", "--set", "n_resamples_costs=100")
    said = capsys.readouterr().out
    assert "Experience replays" in said
    assert "Outcomes made up for a test." in said


@pytest.fixture
def endpoint(cast, settings):
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        yield make_endpoint(cast.project, server, concurrency=2, per_minute=100_000)


def started(project, endpoint, **own):
    asking = Asking(endpoint, Cap(calls=1000))
    return start_run(person=None, project=project, judge="workflow", asking=asking, settings=own)


def test_what_a_run_of_workflows_cannot_build_on_is_refused(cast, endpoint):
    make_runs(cast.project, 1)
    other = start_run(person=None, project=cast.project, judge="heuristics")
    work.drain()
    for own, code in (
        ({"condition": "llm"}, "no_such_run"),
        ({"condition": "llm", "steps_run": 99}, "no_such_run"),
        ({"condition": "llm", "steps_run": other.number}, "no_such_run"),
        ({"condition": "gold"}, "no_such_release"),
        ({"condition": "gold", "release": 7}, "no_release"),
        ({"condition": "original", "release": 1}, "not_needed"),
    ):
        with pytest.raises(Refused) as refused:
            started(cast.project, endpoint, **own)
        assert refused.value.problem.code == code


def test_trajectories_that_failed_are_left_out_and_those_that_say_nothing_are_not(cast, endpoint):
    make_runs(cast.project, 1, success=False)
    with pytest.raises(Refused) as refused:
        started(cast.project, endpoint)
    assert refused.value.problem.code == "all_failed"
    silent = make_runs(cast.project, 1, success=None)
    run = started(cast.project, endpoint)
    work.drain()
    assert [row["success"] for row in exported(cast.project, run)] == [None]
    assert [row["item"] for row in exported(cast.project, run)] == [item.pk for item in silent]


def test_of_a_jury_only_what_it_agreed_on_is_taken_out(cast, endpoint):
    items = make_runs(cast.project, 3)
    endpoints = [endpoint, *(make_endpoint(cast.project, name=f"other-{n}") for n in range(2))]
    for one in endpoints[1:]:
        type(one).objects.filter(pk=one.pk).update(address=endpoint.address, model=one.name)
        one.refresh_from_db()
    jurors = [judged(cast.project, one, "juror").number for one in endpoints]
    jury = start_run(person=None, project=cast.project, judge="jury", settings={"runs": jurors})
    work.drain()
    verdict = Verdict.objects.get(run=jury, item=items[2])
    told = {"outcome": "no_agreement", "n_covered": 3, "agreeing": []}
    Verdict.objects.filter(pk=verdict.pk).update(finding={"values": told, "spans": []}, label=None)
    run = judged(cast.project, endpoint, "workflow", settings={"condition": "llm", "steps_run": jury.number})
    rows = exported(cast.project, run)
    assert [(row["item"], row["removed"]) for row in rows] == [(item.pk, [REPEATED]) for item in items[:2]]
    (listed,) = experience_queries.workflow_runs(cast.project)
    assert (listed.n_written, listed.n_none) == (2, 1)
    assert AskedCall.objects.filter(run=run).count() == 2


def test_what_nobody_could_read_is_no_workflow(cast, settings):
    make_runs(cast.project, 1)
    with JudgeServer(always(garbage())) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        run = judged(cast.project, make_endpoint(cast.project, server, per_minute=100_000), "workflow")
    assert Verdict.objects.get(run=run).is_unreadable
    assert exported(cast.project, run) == []
    (listed,) = experience_queries.workflow_runs(cast.project)
    assert (listed.n_written, listed.n_none) == (0, 1)


def test_a_run_of_another_judge_or_project_has_no_workflows(cast):
    make_runs(cast.project, 1)
    run = start_run(person=None, project=cast.project, judge="heuristics")
    for number in (run.number, 99, 0, -1, 2**31):
        with pytest.raises(Refused) as refused:
            workflow_run(cast.project, number)
        assert refused.value.problem.code == "unknown_run"
    script = Script(cast.lea)
    assert script.get(f"projects/{cast.project.slug}/runs/{run.number}/workflows/").status_code == 404
    with pytest.raises(SystemExit):
        call_command("export_workflows", cast.project.slug, "--run", "99", stderr=StringIO())


def test_the_page_takes_as_many_statements_for_many_runs(cast, endpoint, client):
    make_runs(cast.project, 1)
    client.force_login(cast.lea.person)
    place = reverse("scoring:show_experience", args=[cast.project.slug])
    counts = []
    for _ in range(2):
        judged(cast.project, endpoint, "workflow")
        client.get(place)
        with CaptureQueriesContext(connection) as captured:
            client.get(place)
        counts.append(len(captured))
    assert counts[0] == counts[1]
