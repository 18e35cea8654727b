"""`manage.py run_judge` goes through a run to its end, with or without a worker beside it."""

import json
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from annotate import work
from annotate.models import Work
from scoring.models import Verdict
from tests.annotate.leases import be_due
from tests.factories import CONVERSATION, make_cast, make_item, make_trace
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
