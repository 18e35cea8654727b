"""Judges that build on what an earlier run found."""

import json
from types import SimpleNamespace

import pytest

from annotate import work
from annotate.errors import JobFailed, Refused
from annotate.models import Work, WorkGroup
from scoring import queries, running
from scoring.asking import Cap
from scoring.estimating import estimate_run
from scoring.judges.registry import judge_called
from scoring.models import Judge, Verdict
from scoring.running import Asking, start_run
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_run, make_trace, make_verdict
from tests.scoring.asking_here import Model, answered_by

pytestmark = pytest.mark.django_db
QUESTION = {"question": "What is it?", "type": "reference", "about": "The", "start": 0, "end": 3, "is_gap": True}


@pytest.fixture
def cast(db):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    endpoint = make_endpoint(cast.project, concurrency=1, per_minute=100_000)
    return SimpleNamespace(project=cast.project, items=items, endpoint=endpoint)


def make_reader(cast, questions, **fields):
    run = make_run(cast.project, "reader", **fields)
    for item, asked in zip(cast.items, questions, strict=False):
        make_verdict(run, item, None, finding={"values": {"questions": asked}, "spans": []})
    return run


def start(cast, number):
    asking = Asking(cast.endpoint, Cap(calls=100))
    settings = {} if number is None else {"reader_run": number}
    return start_run(person=None, project=cast.project, judge="classifier", settings=settings, asking=asking)


def test_each_gap_of_the_earlier_run_is_classified_and_no_gap_takes_no_call(cast, monkeypatch):
    reader = make_reader(cast, [[QUESTION, {**QUESTION, "is_gap": False}], []])
    run = start(cast, reader.number)
    with answered_by(monkeypatch, Model(lambda request: json.dumps({"category": "coined"}))) as model:
        work.drain()
    found = {verdict.item_id: verdict.finding["values"]["gaps"] for verdict in Verdict.objects.filter(run=run)}
    assert found == {cast.items[0].pk: [{"question": 0, "category": "coined"}], cast.items[1].pk: []}
    assert len(model.asked) == 1
    assert set(Verdict.objects.filter(run=run).values_list("label", flat=True)) == {None}


def test_an_item_of_which_the_earlier_run_has_nothing_fails_with_a_sentence_and_no_other(cast, monkeypatch):
    reader = make_reader(cast, [[]])
    make_verdict(reader, cast.items[1], None, is_unreadable=True)
    run = start(cast, reader.number)
    with answered_by(monkeypatch, Model()):
        work.drain()
    assert [verdict.item_id for verdict in Verdict.objects.filter(run=run)] == [cast.items[0].pk]
    (dead,) = Work.objects.filter(group=run.group, state=Work.State.DEAD)
    assert "no verdict that can be read" in dead.error
    assert dead.payload["item"] == cast.items[1].pk


def test_a_run_that_is_not_there_of_another_judge_or_not_through_is_refused_at_the_start(cast):
    checker = make_run(cast.project, "checker")
    under_way = make_reader(cast, [[]])
    Work.objects.create(kind="verdict", key="left", group=under_way.group)
    elsewhere = make_run(make_cast().project, "reader")
    for number in (None, 77, checker.number, under_way.number):
        for act in (start, estimate):
            with pytest.raises(Refused) as refused:
                act(cast, number)
            assert (refused.value.problem.code, refused.value.problem.field) == ("no_such_run", "reader_run")
    assert elsewhere.number == checker.number  # of another project, and not found under that number here
    assert not WorkGroup.objects.filter(state=WorkGroup.State.HELD).exists()


def estimate(cast, number):
    settings = {} if number is None else {"reader_run": number}
    return estimate_run(
        person=None, project=cast.project, judge="classifier", endpoint=cast.endpoint, settings=settings
    )


def test_a_run_is_reckoned_by_the_gaps_there_are(cast):
    reader = make_reader(cast, [[QUESTION], []])
    assert estimate(cast, reader.number).n_looked_at == 1


def test_what_the_earlier_run_found_is_one_statement(cast, django_assert_num_queries):
    reader = make_reader(cast, [[QUESTION], []])
    with django_assert_num_queries(1):
        assert queries.found_by(cast.project.pk, reader.number, cast.items[0].pk) == {"questions": [QUESTION]}


def test_the_rewriter_builds_on_a_writers_run_without_additions_and_names_a_point_without_text(cast):
    spec = judge_called("rewriter")
    default, notice = (make_writer(cast, condition) for condition in ("default", "notice"))
    running.check_earlier(spec, cast.project, {"default_run": default.number})
    for number in (notice.number, make_reader(cast, []).number):
        with pytest.raises(Refused) as refused:
            running.check_earlier(spec, cast.project, {"default_run": number})
        assert (refused.value.problem.code, refused.value.problem.field) == ("no_such_run", "default_run")
    first, second = (queries.judged_item(item.pk) for item in cast.items)
    make_verdict(default, cast.items[0], None, finding={"values": {"text": "Draft."}, "spans": []})
    make_verdict(default, cast.items[1], None, finding={"values": {"text": "Half"}, "spans": []}, is_unreadable=True)
    trace, settings = queries.whole_trace(first.trace), {"default_run": default.number}
    assert running.seen_by(spec, cast.project, settings, trace, first).message == "Draft."
    with pytest.raises(JobFailed, match="no_default_text"):
        running.seen_by(spec, cast.project, settings, trace, second)


def make_writer(cast, condition):
    run = make_run(cast.project, "writer")
    settings = {"condition": condition}
    values = {"name": "writer", "settings": settings, "settings_hash": running.hash_of(settings)}
    run.judge = Judge.objects.create(project=cast.project, **values)
    run.save()
    return run
