"""A jury and the requests of detectors over trajectories as they are, with a scripted model: every outcome comes out as
a count by hand has it."""

import hashlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotate import importing, work
from annotate.models import Item
from annotate.releasing import seal_release
from scoring import driving
from scoring.asking import Cap
from scoring.method_reports import shown_method
from scoring.models import Verdict
from scoring.running import Asking, run_progress, start_run
from tests.factories import make_endpoint, make_member, make_protocol
from tests.judge_server import JudgeServer, garbage, in_prose, right, right_text
from tests.scoring.trajectories import make_study, say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.shared]
HANDLERS_OF = [driving]
AIRLINE = "tau-bench-airline-gpt4o/historical_trajectories/gpt-4o-airline.json"
N_TRAJECTORIES = 60
MODELS = ("alpha", "beta", "gamma")


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch):
    cache.clear()
    monkeypatch.setattr(work.waking, "wake", lambda: None)


@pytest.fixture
def study(shared_data):
    project = make_study(seed=3)
    make_protocol(project, guideline_en="GUIDELINE-EN", guideline_zh="GUIDELINE-ZH")
    path = shared_data / AIRLINE
    assert not importing.import_traces(project=project, path=path, file_name=path.name).is_refused
    return project


def first_step(asked):
    return [int(one) for one in asked.blocks["steps"].splitlines()[0].partition("]")[0][1:].split(",")]


def with_another(evidence, *, keeps):
    def text(asked):
        one = {
            "redundant_step_idx": first_step(asked),
            "redundant_step_type": "Exploratory Step",
            "evidence_step_idx": [evidence],
        }
        kept = [said for said in json.loads(right_text(asked)) if said["redundant_step_idx"] != first_step(asked)]
        return json.dumps([*(kept if keeps else []), one])

    return replace(right(), name="another", text=text)


NOTHING = replace(right(), name="nothing", text=lambda asked: "[]")
PLAYS = (
    (right(), right(), right()),
    (right(), with_another(1, keeps=True), right()),
    (right(), with_another(1, keeps=True), with_another(-1, keeps=False)),
    (garbage(), in_prose(), right()),
    (NOTHING, right(), NOTHING),
)


def place_of(asked):
    return hashlib.sha256(asked.blocks["trajectory"].encode()).digest()[0] % len(PLAYS)


def test_each_outcome_of_the_jury_on_real_trajectories(study, settings):
    items = list(Item.objects.filter(project=study).order_by("trace", "pk"))
    assert len(items) == 182
    chosen = [item.pk for item in items[:N_TRAJECTORIES]]
    runs, expected = [], {}

    def script(asked):
        place = place_of(asked)
        is_empty = place < 2 and right_text(asked) == "[]"
        outcome = "empty" if is_empty else ("retained", "retained", "no_agreement", "too_few_covered", "empty")[place]
        expected[asked.blocks["trajectory"]] = outcome
        return PLAYS[place][MODELS.index(asked.body["model"])]

    with JudgeServer(script) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        for model in MODELS:
            endpoint = make_endpoint(study, server, model=model, concurrency=2, per_minute=100_000)
            asking = Asking(endpoint, Cap(calls=1000))
            runs.append(start_run(person=None, project=study, judge="juror", asking=asking, items=chosen))
            work.drain()
            assert run_progress(runs[-1]).n_dead == 0
    assert len(expected) == N_TRAJECTORIES
    jury = start_run(person=None, project=study, judge="jury", settings={"runs": [run.number for run in runs]})
    work.drain()
    found = Verdict.objects.filter(run=jury)
    outcomes = Counter(one["values"]["outcome"] for one in found.values_list("finding", flat=True))
    assert outcomes == Counter(expected.values())
    assert set(outcomes) == {"retained", "no_agreement", "too_few_covered", "empty"}
    report = shown_method(study, given={"n_resamples": 100, "jury_gold": True}).report
    assert report.row("pool", "dataset").figure.value == outcomes["retained"] + outcomes["empty"]


def test_requests_of_detectors_on_a_real_trajectory(study, settings):
    """StepDet sees no mark of the gold; StepCls sees the step and its evidence marked and named."""
    item = next(one for one in Item.objects.filter(project=study).order_by("pk") if one.suggestions)
    suggested = [one for one in item.suggestions if one["evidence"] != [-1]] or item.suggestions
    steps = [{name: one[name] for name in ("step", "type", "evidence")} for one in suggested[:1]]
    say(make_member(study), item, *steps, decisions=[])
    release = seal_release(person=None, project=study, rule="consensus", agreement={}, now=timezone.now())
    texts = {}
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        asking = Asking(make_endpoint(study, server, per_minute=100_000), Cap(calls=100))
        for judge in ("stepdet", "stepcls"):
            told = {"release": release.number} if judge == "stepcls" else {}
            start_run(person=None, project=study, judge=judge, asking=asking, items=[item.pk], settings=told)
            work.drain()
            texts[judge] = server.asked[-1].text
    assert "GOLD" not in texts["stepdet"]
    for index in steps[0]["step"]:
        assert f"[[GOLD REDUNDANT STEP [{index}]]]" in texts["stepcls"]
    for index in steps[0]["evidence"]:
        assert index == -1 or f"[[GOLD EVIDENCE [{index}]]]" in texts["stepcls"]
