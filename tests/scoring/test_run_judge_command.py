"""`manage.py run_judge` goes through a run to its end, with or without a worker beside it."""

import json
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from annotate import work
from annotate.models import Work
from scoring.models import Verdict
from tests.annotate.leases import be_due
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.scoring.asking_here import Model, answered_by
from tests.scoring.judges_here import FOUND, judge_that, known

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    return SimpleNamespace(project=cast.project, items=items)


def said(capsys, *words):
    call_command("run_judge", *words, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_run_from_start_to_end(cast, capsys):
    assert said(capsys, cast.project.slug, "lexical") == {
        **{"project": cast.project.slug, "run": 1, "judge": "lexical", "state": "done"},
        **{"items": 2, "verdicts": 2, "unreadable": 0, "given_up": 0, "left": 0},
    }
    assert Verdict.objects.count() == 2
    call_command("run_judge", cast.project.slug, "lexical")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"Run 2 of the judge lexical in {cast.project.slug}: done.",
        "Verdicts: 2 on 2 items; answers that could not be read: 0; given up: 0; left: 0.",
    ]


def test_jobs_of_others_are_left_to_others(cast, capsys):
    with work.transaction.atomic():
        other = work.add_work(kind="verdict", key="other", payload={"item": cast.items[0].pk})
    said(capsys, cast.project.slug, "lexical")
    other.refresh_from_db()
    assert other.state == Work.State.WAITING


def test_what_breaks_down_is_tried_again_and_counted_in_the_end(cast, capsys, monkeypatch):
    def step(view):
        if "unit" in view.reply:
            raise RuntimeError("no")
        return FOUND

    monkeypatch.setattr("scoring.management.commands.run_judge.time.sleep", lambda seconds: be_due())
    with known(judge_that(step)):
        result = said(capsys, cast.project.slug, "spoken")
    assert (result["state"], result["verdicts"], result["given_up"]) == ("done", 1, 1)


def test_ctrl_c_leaves_the_rest_to_the_worker(cast, capsys):
    def step(view):
        raise KeyboardInterrupt

    with known(judge_that(step)):
        call_command("run_judge", cast.project.slug, "spoken")
    captured = capsys.readouterr()
    assert "left: 2." in captured.out
    assert "goes on in the worker" in captured.err
    assert set(Work.objects.values_list("state", flat=True)) == {Work.State.WAITING}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nowhere", "lexical"], "unknown_project"),
        (["PROJECT", "nobody"], "unknown_judge"),
        (["PROJECT", "lexical", "--phase", "pilot"], "nothing_to_judge"),
        (["PROJECT", "lexical", "--samples", "0"], "bad_number"),
    ],
)
def test_what_does_not_go_ends_with_1_and_its_problem(cast, capsys, words, code):
    with pytest.raises(SystemExit) as ended:
        said(capsys, *(cast.project.slug if word == "PROJECT" else word for word in words))
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["problems"][0]["code"] == code


@pytest.fixture
def model(cast, monkeypatch):
    make_endpoint(cast.project, name="here", concurrency=1, per_minute=100_000, price_in=1, price_out=2)
    with answered_by(monkeypatch, Model()) as model:
        yield model


def test_a_judge_that_asks_is_driven_to_its_end_under_its_cap(cast, capsys, model):
    words = [cast.project.slug, "asker", "--endpoint", "here"]
    result = said(capsys, *words, "--cap-calls", "20")
    assert result == {
        **{"project": cast.project.slug, "run": 1, "judge": "asker", "state": "done"},
        **{"items": 2, "verdicts": 2, "unreadable": 0, "given_up": 0, "left": 0},
        **{"calls": 4, "recorded_answers": 0, "requests": 4, "lost": 0, "tokens_in": 400, "tokens_out": 40},
        **{"cost": pytest.approx(0.00048), "held_for": None},
    }
    assert said(capsys, *words, "--cap-cost", "0.5")["recorded_answers"] == 4
    assert said(capsys, *words, "--cap-cost", "0.5", "--anew")["calls"] == 4


def test_what_it_would_take_is_said_first_and_with_estimate_alone(cast, capsys, model):
    words = [cast.project.slug, "asker", "--endpoint", "here"]
    assert said(capsys, *words, "--estimate")["calls"] == 2
    assert not model.asked
    call_command("run_judge", *words, "--cap-calls", "1")
    captured = capsys.readouterr()
    assert "It will take about 2 calls for 2 verdicts" in captured.err
    lines = captured.out.splitlines()
    assert lines[0] == f"Run 1 of the judge asker in {cast.project.slug}: paused."
    assert lines[2].startswith("Calls answered: 1, of 1 requests sent;")
    assert lines[4].startswith("The run was held: Another call would go beyond the cap on calls.")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["asker", "--cap-calls", "5"], "no_endpoint"),
        (["asker", "--endpoint", "here"], "no_cap"),
        (["asker", "--endpoint", "here", "--cap-calls", "0"], "bad_cap"),
        (["lexical", "--endpoint", "here"], "asks_nobody"),
        (["lexical", "--estimate"], "asks_nobody"),
    ],
)
def test_a_judge_that_asks_needs_an_endpoint_and_a_cap(cast, capsys, model, words, code):
    with pytest.raises(SystemExit):
        said(capsys, cast.project.slug, *words)
    assert json.loads(capsys.readouterr().out)["problems"][0]["code"] == code
    assert not Work.objects.exists()


def test_a_run_whose_answers_are_pasted_is_left_to_people(cast, capsys, model):
    make_endpoint(cast.project, name="by hand", provider="pasted", address="", concurrency=1)
    result = said(capsys, cast.project.slug, "asker", "--endpoint", "by hand", "--cap-calls", "20")
    assert (result["state"], result["left"], result["requests"]) == ("running", 2, 0)
