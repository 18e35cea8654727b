"""A whole run of the reader over files as they are: brought in, judged by a scripted model that is at times busy, down
or talks garbage, with a worker killed in the middle, and reported."""

import io
import json

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate import importing, work
from annotate.models import Assignment, Item, Work
from scoring import call_queries, running
from scoring.asking import Cap
from scoring.models import Call, Verdict
from scoring.running import Asking, run_progress, start_run
from tests.annotate.children import wait_until
from tests.annotate.leases import end_lease
from tests.conftest import ROOT
from tests.factories import make_annotation, make_cast, make_endpoint
from tests.judge_server import JudgeServer, mix
from tests.scoring.faults.workers import once_each, workers

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE, N_LABELLED = 8, 6
TROUBLE = {"busy": 0.10, "down": 0.03, "garbage": 0.02}


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch):
    monkeypatch.setattr(work.waking, "wake", lambda: None)


@pytest.fixture
def ours():
    return [ROOT / "fixtures" / "traces" / "tau2_bench.json"]


@pytest.fixture
def real(shared_data):
    return sorted((shared_data / "tau2-retail-and-human" / "evaluations").rglob("*.json"))


def brought_in(project, paths):
    for path in paths:
        report = importing.import_traces(project=project, path=path, file_name=path.name)
        assert not report.is_refused
    return list(Item.objects.filter(project=project).order_by("pk"))


def label(member, item, word):
    row, _ = Assignment.objects.get_or_create(annotator=member, item=item, defaults={"order": item.pk})
    make_annotation(row, word)
    Assignment.objects.filter(pk=row.pk).update(state="submitted")


def killed_in_the_middle(run, server, n):
    """Until so many requests a worker works and is killed; another one ends the run."""
    with workers(settings.DATA_FOLDER, LLM_ALLOW_LOOPBACK="1") as those:
        pid = those.fork()
        wait_until(lambda: len(server.times) >= n, those.process)
        those.kill(pid)
        assert run_progress(run).state == "running"
        end_lease(Work.objects.get(kind=running.DRIVER, state="running"))
        assert those.ended(those.fork()) == 0


def report_of(project):
    out = io.StringIO()
    call_command("report", "replies", project.slug, "--json", "--set", "n_resamples=100", stdout=out)
    said = json.loads(out.getvalue())
    return said, {table["name"]: table.get("rows", []) for table in said["tables"]}


@pytest.mark.parametrize("files", ["ours", pytest.param("real", marks=pytest.mark.shared)])
def test_a_reader_reads_every_reply_once_though_its_worker_is_killed_and_its_report_says_so(files, request):
    cast = make_cast()
    items = brought_in(cast.project, request.getfixturevalue(files))
    for item in items[:N_LABELLED]:
        label(cast.ana, item, "readable")
        label(cast.ben, item, "unrepairable_or_no_answer")
    with JudgeServer(mix(latency=0.02, **TROUBLE)) as server:
        endpoint = make_endpoint(cast.project, server, concurrency=AT_ONCE, per_minute=100_000)
        asking = Asking(endpoint, Cap(calls=100 * len(items)))
        run = start_run(person=None, project=cast.project, judge="reader", asking=asking)
        killed_in_the_middle(run, server, n=len(items) // 2)
    assert run_progress(run).state == "done"
    assert once_each(run)
    asked = call_queries.asked_by([run.pk])[run.pk]
    assert 0 <= asked.n_requests - len(server.times) <= AT_ONCE  # written down, and killed before it was out
    assert server.n_answered - Call.objects.filter(state="answered").count() <= AT_ONCE
    assert server.most_at_once <= AT_ONCE

    said, tables = report_of(cast.project)
    read = Verdict.objects.filter(run=run, is_unreadable=False)
    rate = next(row for row in tables["reader"] if row["metric"] == "failure_rate")
    assert (said["reader"]["number"], rate["n"]) == (run.number, read.count())
    assert rate["k"] == sum(one.finding["values"]["verdict"]["failed"] for one in read)
    browser = Client()
    browser.force_login(cast.lea.person)
    assert browser.get(reverse("scoring:show_method_report", args=[cast.project.slug])).status_code == 200
