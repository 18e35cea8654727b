"""A whole study of replies on the demo, with a scripted model: read, gaps put into categories by two people, labels
traced to where they came up first, replies written anew and rewritten, read blind by five, and reported."""

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.utils import timezone

from annotate import pairing, work
from annotate.demo import load_demo
from annotate.models import Assigning, Assignment, Item, Project
from annotate.rules.pairs import Wanted
from scoring import driving
from scoring.asking import Cap
from scoring.judges.writer import CONDITIONS
from scoring.method_reports import shown_method
from scoring.pointing import choose_points
from scoring.publishing import publish_gaps
from scoring.publishing_texts import publish_texts
from scoring.running import Asking, run_progress, start_run
from tests.annotate.api.asking import Script
from tests.factories import make_endpoint, make_member, make_project
from tests.judge_server import JudgeServer

pytestmark = pytest.mark.django_db(transaction=True)
HANDLERS_OF = [driving]
FAST = {"n_resamples": 100}
CATEGORIES = ("pointer", "coined", "term", "background")
FIVE = ("one", "two", "three", "four", "five")


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch):
    cache.clear()
    monkeypatch.setattr(work.waking, "wake", lambda: None)
    monkeypatch.setattr("annotate.api.operations.TokenThrottle.allow_request", lambda *_: True)


def judged(project, endpoint, judge, **values):
    """A run that is through, of a judge that asks."""
    run = start_run(person=None, project=project, judge=judge, asking=Asking(endpoint, Cap(calls=10_000)), **values)
    work.drain()
    assert run_progress(run).state == "done"
    assert run_progress(run).n_dead == 0
    return run


def labelled(member, answer):
    """Everything that a person is given, one after the other, as a script of theirs gets and answers it."""
    script, shown = Script(member), []
    while (item := script.get(f"projects/{member.project.slug}/next/").json()["item"]) is not None:
        shown.append(item)
        body = {"key": f"{len(shown):020}", "protocol": item["protocol"], "label": answer(item)}
        said = script.post(f"items/{item['public_id']}/annotations/", body)
        assert said.status_code == 201, said.content
    return shown


def reading(item):
    """Fails what is short; marks its first word."""
    if len(item["text"]) % 2:
        return {"label": "readable", "spans": []}
    span = {"start": 0, "end": 4, "type": "reference", "quote": item["text"][:4]}
    return {"label": "needs_information", "spans": [span]}


def tables_of(report):
    return {table.name for table in report.tables}


def test_a_whole_study_of_replies_is_run_labelled_and_reported(capsys, settings):
    now = timezone.now()
    load_demo(now=now)
    demo = Project.objects.get(slug="demo")
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        endpoint = make_endpoint(demo, server, concurrency=4, per_minute=100_000)
        reader = judged(demo, endpoint, "reader")

        # gaps, put into categories by the classifier and by two people
        gaps = make_project("gap-study", kind="gap", seed=5)
        two = [make_member(gaps, name) for name in ("gap-one", "gap-two")]
        published = publish_gaps(person=None, source=demo, target=gaps, run=reader.number, now=now)
        assert published.n_new == published.n_drawn > 0
        classifier = judged(demo, endpoint, "classifier", settings={"reader_run": reader.number})
        for place, member in enumerate(two):
            shown = labelled(
                member, lambda item, place=place: {"category": CATEGORIES[(len(item["text"]) + place) % 4]}
            )
            assert len(shown) == published.n_new
            assert all(item["question"]["question"] for item in shown)

        told = shown_method(demo, given=FAST).report
        assert {"categories", "origins", "classifier"} <= tables_of(told)
        assert told.row("n_labelled_gaps").figure.value == published.n_new
        assert any(str(classifier.number) in str(getattr(note, "params", "")) for note in told.notes)

        # the same work, written about under every condition, and rewritten
        points = choose_points(person=None, project=demo, seed=3, quota=2)
        runs = [
            judged(demo, endpoint, "writer", points=points.number, settings={"condition": condition})
            for condition in CONDITIONS
        ]
        runs.append(
            judged(demo, endpoint, "rewriter", points=points.number, settings={"default_run": runs[0].number})
        )

        # into a project of their own, where a reader and a checker judge them all
        pairs = make_project("reply-reading", seed=9, assigning=Assigning.PAIRS)
        five = [make_member(pairs, name) for name in FIVE]
        texts = publish_texts(
            person=None, source=demo, target=pairs, runs=[run.number for run in runs], now=timezone.now()
        )
        assert texts.n_new == len(runs) * len(points.items)
        there = make_endpoint(pairs, server, concurrency=4, per_minute=100_000)
        judged(pairs, there, "reader")
        judged(pairs, there, "checker")

    # five people read one version each, and know of no other
    wanted = Wanted(quota=2)
    pairing.draw_pairs(lead=None, project=pairs, seed=4, wanted=wanted, now=timezone.now())
    n_points = Item.objects.filter(project=pairs, is_planned=True).values("point").distinct().count()
    shown = [item for member in five for item in labelled(member, reading)]
    assert len(shown) == 5 * n_points
    words = {*CONDITIONS, "rewrite", "arm", "point"}
    for item in shown:
        assert not words & {str(value) for value in item.values() if isinstance(value, str)}
    counts = sorted(
        Assignment.objects.filter(item__project=pairs, item__arm=arm).count() for arm in ("default", "rewrite")
    )
    assert sum(counts) == 5 * n_points
    assert counts[1] - counts[0] <= 1

    report = shown_method(pairs, given=FAST).report
    assert {"conditions", "differences", "blind", "blind_reader", "checker"} <= tables_of(report)
    assert report.row("n_points", "blind").figure.value == n_points
    assert report.row("n_annotations", "blind").figure.value == 5 * n_points
    conditions = {dict(row.by)["condition"].text for row in report.table("conditions").rows if row.by}
    assert len(conditions) == len(CONDITIONS) + 1
    call_command("report", "replies", pairs.slug, "--set", "n_resamples=100")
    printed = capsys.readouterr().out
    assert "Blind comparison: default and rewrite" in printed
    assert "was told of no other" in printed
