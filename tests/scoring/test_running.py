"""Runs of judges: one verdict an item whatever happens, held and called off as a whole."""

from types import SimpleNamespace

import pytest
from django.db import transaction

from annotate import work
from annotate.errors import NotYours, Refused
from annotate.kinds.base import Finding, Span
from annotate.models import Event, Work, WorkGroup
from scoring import running
from scoring.models import Judge, Run, Verdict
from scoring.running import cancel_run, pause_run, resume_run, run_progress, start_run, try_again
from tests.annotate.leases import be_due, end_lease
from tests.factories import CONVERSATION, make_cast, make_item, make_trace
from tests.scoring.judges_here import FOUND, first_words, judge_that, known

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    return SimpleNamespace(project=cast.project, lea=cast.lea.person, ana=cast.ana.person, items=items)


def started(cast, step=lambda view: FOUND, **options):
    with known(judge_that(step)):
        return start_run(person=cast.lea, project=cast.project, judge="spoken", **options)


def judged(run, step=lambda view: FOUND, **spec):
    with known(judge_that(step, **spec)):
        return work.drain(run.group)


def test_every_item_gets_one_verdict_and_the_run_ends(cast):
    run = started(cast)
    assert run_progress(run) == running.RunProgress("running", 2, 0, 0, 0, 2)
    judged(run, first_words)
    assert run_progress(run) == running.RunProgress("done", 2, 2, 0, 0, 0)
    verdicts = Verdict.objects.filter(run=run).order_by("item")
    assert [verdict.item_id for verdict in verdicts] == [item.pk for item in cast.items]
    assert {verdict.label["label"] for verdict in verdicts} == {"needs_information"}
    assert verdicts[0].label["spans"] == [{"start": 0, "end": 4, "type": "reference", "quote": "The "}]
    run.refresh_from_db()
    assert run.ended_at is not None


def test_a_judge_is_shown_the_whole_trace_without_its_metadata(cast):
    seen = []
    trace = cast.items[0].trace
    trace.metadata = {"model": "secret"}
    trace.save()
    run = started(cast)
    judged(run, lambda view: seen.append(view) or FOUND)
    assert [view.reply for view in seen] == ["The first one is cheaper.", "By one unit, as the table says."]
    assert any("A 4, B 5" in text for text in (*seen[0].held, *seen[0].earlier))
    assert "secret" not in repr(seen)


def test_samples_are_verdicts_of_their_own(cast):
    run = started(cast, n_samples=3)
    judged(run)
    assert sorted(Verdict.objects.filter(run=run).values_list("item", "sample")) == [
        (item.pk, sample) for item in cast.items for sample in range(3)
    ]


def test_an_answer_that_cannot_be_read_is_kept_and_is_no_label(cast):
    run = started(cast)
    judged(run, lambda view: Finding(values={}, unreadable="<html>"))
    assert set(Verdict.objects.values_list("label", "is_unreadable", "finding__unreadable")) == {(None, True, "<html>")}
    assert run_progress(run).n_unreadable == 2


def test_a_step_that_breaks_down_costs_its_own_item_alone_and_is_given_up_in_the_end(cast):
    def step(view):
        if "unit" in view.reply:
            raise RuntimeError("no")
        return FOUND

    run = started(cast)
    for _ in range(3):
        judged(run, step)
        be_due()
    assert run_progress(run) == running.RunProgress("done", 2, 1, 0, 1, 0)
    assert Verdict.objects.get().item_id == cast.items[0].pk
    assert Work.objects.get(state="dead").payload["item"] == cast.items[1].pk
    running.end_runs()
    assert Run.objects.get().ended_at is not None
    assert try_again(person=cast.lea, run=run) == 1
    judged(run)
    assert run_progress(run) == running.RunProgress("done", 2, 2, 0, 0, 0)


def test_a_label_that_nobody_could_have_given_is_no_verdict(cast):
    run = started(cast)
    judged(run, lambda view: Finding(values={}, spans=(Span(0, 4, "reference", "else"),)))
    assert not Verdict.objects.exists()
    assert run_progress(run).n_left == 2


def test_who_lost_the_claim_records_nothing(cast):
    def step(view):
        end_lease(Work.objects.get(state="running"))
        with known(judge_that(lambda view: FOUND)):
            work.run(work.claim(run.group))
        return Finding(values={}, unreadable="late")

    run = started(cast)
    with known(judge_that(step)):
        work.run(work.claim(run.group))
    verdict = Verdict.objects.get()
    assert not verdict.is_unreadable
    assert Work.objects.filter(state="done").count() == 1


def test_a_job_that_comes_again_behind_its_verdict_doubles_nothing(cast):
    run = started(cast)
    judged(run)
    Work.objects.filter(group=run.group).update(state="waiting", attempts=0)
    judged(run, first_words)
    assert Verdict.objects.count() == 2
    assert {verdict.label["label"] for verdict in Verdict.objects.all()} == {"readable"}


@pytest.mark.parametrize(("kinds", "version"), [(("reply",), "2"), (None, "1")])
def test_a_judge_that_changed_or_went_is_not_asked_for_the_rest(cast, kinds, version):
    run = started(cast)
    if kinds is None:
        work.drain(run.group)
    else:
        judged(run, version=version)
    assert not Verdict.objects.exists()
    assert run_progress(run).n_dead == 2


def test_a_paused_run_begins_nothing_until_it_is_resumed(cast):
    run = started(cast)
    assert pause_run(person=cast.lea, run=run)
    assert not pause_run(person=cast.lea, run=run)
    assert not judged(run)
    assert run_progress(run).state == "paused"
    assert resume_run(person=cast.lea, run=run)
    judged(run)
    assert run_progress(run).state == "done"
    assert list(Event.objects.values_list("action", flat=True)) == ["run_started", "run_paused", "run_resumed"]


def test_what_is_judged_when_a_run_is_called_off_stays(cast):
    run = started(cast)
    with known(judge_that(first_words)):
        work.run(work.claim(run.group))
    assert cancel_run(person=cast.lea, run=run)
    assert not judged(run)
    assert run_progress(run) == running.RunProgress("cancelled", 2, 1, 0, 0, 1)
    assert not resume_run(person=cast.lea, run=run)
    assert Verdict.objects.count() == 1


def test_what_is_through_can_be_neither_held_nor_called_off(cast):
    run = started(cast)
    judged(run)
    assert not pause_run(person=cast.lea, run=run)
    assert not cancel_run(person=cast.lea, run=run)
    assert run_progress(run).state == "done"


def test_people_are_served_before_judges(cast):
    started(cast)
    with transaction.atomic():
        urgent = work.add_work(kind=running.KIND, key="urgent", payload={})
    assert work.claim().row.pk == urgent.pk


def test_runs_are_numbered_and_equal_settings_share_a_judge(cast):
    assert [started(cast).number for _ in range(2)] == [1, 2]
    assert Judge.objects.count() == 1


@pytest.mark.parametrize("act", [pause_run, resume_run, cancel_run, try_again])
def test_only_leads_turn_a_run(cast, act):
    run = started(cast)
    with pytest.raises(NotYours):
        act(person=cast.ana, run=run)
    assert WorkGroup.objects.get().state == "open"


def test_only_leads_start_one_and_nothing_is_left_of_the_attempt(cast):
    with pytest.raises(NotYours), known(judge_that(first_words)):
        start_run(person=cast.ana, project=cast.project, judge="spoken")
    assert not Run.objects.exists()
    assert not Work.objects.exists()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"judge": "nobody"}, "unknown_judge"),
        ({"judge": "other_kind"}, "unknown_judge"),
        ({"phases": ["later"]}, "unknown_phase"),
        ({"phases": []}, "unknown_phase"),
        ({"phases": ["pilot"]}, "nothing_to_judge"),
        ({"n_samples": 0}, "bad_number"),
        ({"settings": {"speed": 1}}, "unknown_field"),
    ],
)
def test_what_does_not_go_is_refused_by_name(cast, options, code):
    judges = judge_that(first_words), judge_that(first_words, name="other_kind", kinds=("gap",))
    with known(*judges), pytest.raises(Refused) as refused:
        start_run(person=cast.lea, project=cast.project, **{"judge": "spoken", **options})
    assert refused.value.problem.code == code
    assert not Work.objects.exists()


def test_how_far_runs_are_takes_three_statements(cast, django_assert_num_queries):
    runs = [started(cast) for _ in range(3)]
    with django_assert_num_queries(3):
        running.progress_of(runs)


def test_the_verdict_of_an_item_takes_few_statements(cast, django_assert_max_num_queries):
    run = started(cast)
    with known(judge_that(first_words)):
        work.run(work.claim(run.group))
        job = work.claim(run.group)
        with django_assert_max_num_queries(11):
            work.run(job)
