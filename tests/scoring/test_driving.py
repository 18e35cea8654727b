"""Runs that ask a model: stored before it is sent, recorded before it is read, paid once, bounded, and held whole."""

from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.db.models.functions import Now

from annotate import work
from annotate.models import Event, Work
from annotate.traces.base import Problem
from scoring import call_queries, driving, running
from scoring.asking import MOST_TRIES, Cap
from scoring.llm import ProviderError
from scoring.models import Call, Run, Verdict
from scoring.running import pause_run, resume_run, run_progress, try_again
from tests.annotate.leases import end_lease
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.scoring.asking_here import Model, answered_by, reply, started

pytestmark = pytest.mark.django_db
PROBLEM = Problem(code="busy", field="endpoint", expected="Wait.", remedy="Wait.")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """What is to be asked again later is due at once."""
    monkeypatch.setattr(driving, "wait_behind", lambda n_tries, retry_after, draw: 0.0)
    monkeypatch.setattr(work, "pause_after", lambda attempts: timedelta(0))


@pytest.fixture
def cast(db):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    return SimpleNamespace(project=cast.project, lea=cast.lea.person, ana=cast.ana.person, items=items)


def driven(monkeypatch, model):
    with answered_by(monkeypatch, model):
        work.drain()
    return model


def error(kind, **fields):
    return ProviderError(kind, PROBLEM, **fields)


def asked(run):
    return call_queries.asked_by([run.pk])[run.pk]


def test_every_item_is_asked_about_until_its_verdict_and_the_run_ends(cast, monkeypatch):
    run = started(cast.project)
    model = driven(monkeypatch, Model(lambda request: '{"n": 1}'))
    assert run_progress(run) == running.RunProgress("done", 2, 2, 0, 0, 0)
    assert {verdict.label["label"] for verdict in Verdict.objects.all()} == {"needs_information"}
    assert len(model.asked) == Call.objects.count() == 4
    assert set(Call.objects.values_list("state", "n_tries", "response")) == {("answered", 1, '{"n": 1}')}
    run.refresh_from_db()
    assert run.ended_at is not None
    assert asked(run).n_calls == 4
    assert (asked(run).tokens_in, asked(run).tokens_out, asked(run).cost) == (400, 40, None)


def test_a_call_is_stored_before_it_is_sent_and_its_answer_before_it_is_read(cast, monkeypatch):
    seen = []

    def plays(request):
        row = Call.objects.order_by("pk").last()
        seen.append((row.state, row.n_tries, row.request["messages"][0]["content"] == request.text, row.response))
        return "not read yet"

    monkeypatch.setattr("tests.scoring.asking_here.number_of", lambda answer: 1 / 0)
    started(cast.project)
    driven(monkeypatch, Model(plays))
    assert seen == [("sent", 1, True, None)] * 2
    assert set(Call.objects.values_list("state", "response")) == {("answered", "not read yet")}


@pytest.mark.fault(17)
def test_an_answer_that_cannot_be_read_is_asked_for_three_times_and_kept(cast, monkeypatch):
    run = started(cast.project)
    model = driven(monkeypatch, Model(lambda request: f"<html>{request.attempt}"))
    assert len(model.asked) == 6
    assert set(Verdict.objects.values_list("is_unreadable", "finding__unreadable", "label")) == {
        (True, "<html>3", None)
    }
    assert run_progress(run).n_unreadable == 2


@pytest.mark.fault(16)
def test_what_is_turned_away_for_now_is_the_same_call_tried_again(cast, monkeypatch):
    def plays(request):
        return error(("busy", "down")[request.n % 2]) if request.n % 3 else '{"n": 0}'

    run = started(cast.project)
    model = driven(monkeypatch, Model(plays))
    assert run_progress(run) == running.RunProgress("done", 2, 2, 0, 0, 0)
    assert (Call.objects.count(), len(model.asked)) == (4, 12)
    assert (asked(run).n_requests, asked(run).n_calls, asked(run).n_lost) == (12, 4, 4)
    assert set(Work.objects.filter(kind=running.ASKED).values_list("error", flat=True)) == {""}


@pytest.mark.fault(16)
def test_what_is_always_turned_away_is_given_up_in_the_end_and_can_be_tried_again(cast, monkeypatch):
    run = started(cast.project)
    model = driven(monkeypatch, Model(lambda request: error("busy")))
    assert run_progress(run) == running.RunProgress("done", 2, 0, 0, 2, 0)
    assert len(model.asked) == 2 * MOST_TRIES
    assert set(Call.objects.values_list("state", "n_tries")) == {("failed", MOST_TRIES)}
    assert Call.objects.first().error["expected"] == "Wait."
    assert try_again(person=cast.lea, run=run) == 2
    driven(monkeypatch, Model())
    assert run_progress(run).n_done == 2


@pytest.mark.fault(20)
@pytest.mark.parametrize("kind", ["key", "quota", "bad_address"])
def test_a_run_is_held_whole_when_no_call_can_succeed_and_pays_nothing_twice(cast, monkeypatch, kind):
    run = started(cast.project)
    model = Model(lambda request: error(kind) if request.n >= 2 else '{"n": 0}')
    driven(monkeypatch, model)
    assert len(model.asked) == 2
    assert run_progress(run).state == "paused"
    run.refresh_from_db()
    assert run.held_for["code"] == "busy"
    assert not Verdict.objects.exists()
    assert resume_run(person=cast.lea, run=run)
    again = driven(monkeypatch, Model())
    assert len(again.asked) == 3
    assert run_progress(run).state == "done"
    run.refresh_from_db()
    assert run.held_for is None
    actions = list(Event.objects.values_list("action", flat=True))
    assert actions == ["run_started", "run_held", "run_resumed"]


@pytest.mark.parametrize(
    ("cap", "n_asked"),
    [
        (Cap(calls=3), 3),
        (Cap(tokens=5000), 2),
        (Cap(cost=Decimal("0.02")), 4),
    ],
)
def test_a_cap_holds_the_run_before_the_call_that_might_break_it(cast, monkeypatch, cap, n_asked):
    prices = {"price_in": Decimal(2), "price_out": Decimal(4), "max_output_tokens": 2000}
    endpoint = make_endpoint(cast.project, concurrency=1, per_minute=100_000, **prices)
    run = started(cast.project, endpoint, cap=cap)
    model = driven(monkeypatch, Model(lambda request: reply(tokens_in=1000, tokens_out=500)))
    assert len(model.asked) <= n_asked
    spent = asked(run)
    assert cap.calls is None or spent.n_requests <= cap.calls
    assert cap.tokens is None or spent.tokens_in + spent.tokens_out <= cap.tokens
    assert cap.cost is None or spent.cost <= cap.cost
    run.refresh_from_db()
    assert run_progress(run).state == "paused"
    assert run.held_for["code"] == "cap_reached"
    assert resume_run(person=cast.lea, run=run, cap=Cap(calls=100))
    rest = driven(monkeypatch, Model())
    assert len(model.asked) + len(rest.asked) == 4
    assert run_progress(run).state == "done"


def test_cost_is_counted_by_the_prices_of_the_endpoint(cast, monkeypatch):
    endpoint = make_endpoint(
        cast.project, concurrency=1, per_minute=100_000, price_in=Decimal("1.5"), price_out=Decimal(6)
    )
    run = started(cast.project, endpoint)
    driven(monkeypatch, Model())
    assert asked(run).cost == 4 * (Decimal(100) * Decimal("1.5") + Decimal(10) * 6) / 1_000_000


def test_a_person_pauses_between_two_calls_and_the_run_goes_on_where_it_stopped(cast, monkeypatch):
    run = started(cast.project)

    def plays(request):
        if request.n == 1:
            pause_run(person=cast.lea, run=run)
            monkeypatch.setattr(driving.Driver, "check", closes)
        return '{"n": 0}'

    def closes(driver):
        driver.is_closing = True
        raise driving.Later(timedelta(0))

    check = driving.Driver.check
    assert len(driven(monkeypatch, Model(plays)).asked) == 1
    assert run_progress(run).state == "paused"
    monkeypatch.setattr(driving.Driver, "check", check)
    assert not driven(monkeypatch, Model()).asked
    resume_run(person=cast.lea, run=run)
    assert len(driven(monkeypatch, Model()).asked) == 3
    assert run_progress(run).state == "done"


def test_refusals_of_single_requests_cost_their_items_and_many_in_a_row_hold_the_run(cast, monkeypatch):
    run = started(cast.project)
    driven(monkeypatch, Model(lambda request: error("refused") if request.n == 1 else '{"n": 0}'))
    assert run_progress(run) == running.RunProgress("done", 2, 1, 0, 1, 0)
    assert Call.objects.get(state="failed").n_tries == 1
    trace = cast.items[0].trace
    for number in range(12):
        make_item(cast.project, trace=trace, text=f"Text {number}", reply=5)
    run = started(cast.project, run.endpoint, reuse=False)
    model = driven(monkeypatch, Model(lambda request: error("refused")))
    assert len(model.asked) == driving.REFUSED_IN_A_ROW
    assert run_progress(run).state == "paused"


def test_recorded_answers_to_equal_requests_are_used_again_and_cost_nothing(cast, monkeypatch):
    first = started(cast.project)
    driven(monkeypatch, Model(lambda request: '{"n": 1}'))
    again = started(cast.project, first.endpoint)
    assert not driven(monkeypatch, Model()).asked
    assert {row.label["label"] for row in Verdict.objects.filter(run=again)} == {"needs_information"}
    assert (asked(again).n_copied, asked(again).n_calls, asked(again).n_requests) == (4, 0, 0)
    fresh = started(cast.project, first.endpoint, reuse=False)
    assert len(driven(monkeypatch, Model()).asked) == 4
    assert asked(fresh).n_copied == 0


def test_another_model_or_prompt_is_another_request(cast, monkeypatch):
    first = started(cast.project)
    driven(monkeypatch, Model())
    other = make_endpoint(cast.project, name="other", model="other", concurrency=1, per_minute=100_000)
    started(cast.project, other)
    assert len(driven(monkeypatch, Model()).asked) == 4
    prompt = Call.objects.filter(run=first).first().prompt
    prompt.pk, prompt.number, prompt.text = None, 2, prompt.text + "\nOnce more."
    prompt.save()
    run = started(cast.project, first.endpoint)
    assert run.prompts["checker"]["en"] == prompt.pk
    assert len(driven(monkeypatch, Model()).asked) == 4


def test_samples_are_asked_for_by_themselves(cast, monkeypatch):
    run = started(cast.project, n_samples=2, reuse=True)
    assert len(driven(monkeypatch, Model()).asked) == 8
    assert Verdict.objects.filter(run=run).count() == 4


@pytest.mark.parametrize(("seed", "seeds"), [(7, [7, 8, 9]), (None, [None, 1, 2])])
def test_samples_differ_in_their_seeds_and_take_nothing_from_one_another(cast, monkeypatch, seed, seeds):
    endpoint = make_endpoint(cast.project, concurrency=1, per_minute=100_000, seed=seed)
    run = started(cast.project, endpoint, n_samples=3, items=[cast.items[0].pk])
    driven(monkeypatch, Model())
    calls = list(Call.objects.filter(run=run, step="first").order_by("sample"))
    assert [call.request.pop("seed") for call in calls] == seeds
    assert calls[0].request == calls[1].request == calls[2].request
    assert len({call.request_hash for call in calls}) == 3
    again = started(cast.project, endpoint, n_samples=3, items=[cast.items[0].pk])
    assert not again.reuse
    assert len(driven(monkeypatch, Model()).asked) == 6
    single = started(cast.project, endpoint, items=[cast.items[0].pk])
    driven(monkeypatch, Model())
    copied = Call.objects.filter(run=single).values_list("copied_from__sample", flat=True)
    assert set(copied) == {0}


def test_pasted_answers_are_waited_for_and_the_run_goes_on_from_them(cast, monkeypatch):
    endpoint = make_endpoint(cast.project, provider="pasted", address="", concurrency=1)
    run = started(cast.project, endpoint)
    for n_open in (2, 2):
        assert not driven(monkeypatch, Model()).asked
        calls = list(call_queries.open_calls(run))
        assert len(calls) == n_open
        for call in calls:
            assert driving.calling.record_by_hand(person=cast.lea, call=call, text='{"n": 0}')
            assert not driving.calling.record_by_hand(person=cast.lea, call=call, text="late")
        running.answers_came(run, calls)
    driven(monkeypatch, Model())
    assert run_progress(run) == running.RunProgress("done", 2, 2, 0, 0, 0)


def test_another_driver_goes_on_from_what_is_recorded_and_counts_what_was_lost(cast, monkeypatch):
    """A worker that is killed leaves its driver, its items and a call under way."""
    run = started(cast.project)

    class Killed(BaseException):
        pass

    with pytest.raises(Killed):
        driven(monkeypatch, Model(lambda request: Killed() if request.n == 2 else '{"n": 0}'))
    Work.objects.filter(kind=running.ASKED, payload__item=cast.items[0].pk).update(
        state="running", lease_until=Now() + timedelta(minutes=1)
    )
    end_lease(Work.objects.get(kind=running.DRIVER))
    assert Call.objects.get(state="sent").n_tries == 1
    model = driven(monkeypatch, Model())
    assert len(model.asked) == 3
    assert run_progress(run) == running.RunProgress("done", 2, 2, 0, 0, 0)
    assert (asked(run).n_requests, asked(run).n_calls, asked(run).n_lost) == (5, 4, 1)
    assert set(Work.objects.values_list("state", flat=True)) == {"done"}


@pytest.mark.fault(19)
def test_an_answer_that_comes_behind_the_takeover_is_recorded_once(cast, monkeypatch):
    run = started(cast.project)

    def plays(request):
        if request.n == 1:
            call = Call.objects.get()
            driving.calling.lose_tries(run)
            late = Call.objects.get(pk=call.pk)
            driving.calling.begin_try(late)
            driving.calling.record_answer(late, reply('{"n": 1}'), driving.Prices(None, None))
        return '{"n": 0}'

    driven(monkeypatch, Model(plays))
    call = Call.objects.order_by("pk").first()
    assert (call.response, call.n_tries, call.n_lost) == ('{"n": 1}', 2, 1)


def test_runs_of_one_endpoint_share_its_lane(cast):
    runs = [started(cast.project)]
    runs.append(started(cast.project, runs[0].endpoint))
    driver = work.claim(kinds=(running.DRIVER,))
    assert work.claim(kinds=(running.DRIVER,)) is None
    assert work.waits_in_lane(driver.row)


def test_items_of_such_a_run_are_nobodys_but_its_drivers(cast):
    started(cast.project)
    claimed = [work.claim(), work.claim()]
    assert (claimed[0].row.kind, claimed[1]) == (running.DRIVER, None)
    assert work.sweep().unknown_kinds == ()


def test_a_run_whose_endpoint_changed_is_held(cast, monkeypatch):
    run = started(cast.project)
    run.endpoint.model = "another"
    run.endpoint.save()
    assert not driven(monkeypatch, Model()).asked
    run.refresh_from_db()
    assert run.held_for["code"] == "endpoint_changed"


def test_a_lost_driver_is_written_again_and_one_that_was_given_up_holds_the_run(cast, monkeypatch):
    run = started(cast.project)
    Work.objects.filter(kind=running.DRIVER).delete()
    running.drive_on()
    running.drive_on()
    driver = Work.objects.get(kind=running.DRIVER)
    Work.objects.filter(pk=driver.pk).update(state="dead")
    running.drive_on()
    run.refresh_from_db()
    assert run.held_for["code"] == "broke_down"
    assert Work.objects.filter(kind=running.DRIVER).count() == 1
    resume_run(person=cast.lea, run=run)
    driven(monkeypatch, Model())
    assert run_progress(run).state == "done"


def test_a_step_that_breaks_down_costs_its_item(cast, monkeypatch):
    run = started(cast.project)

    def breaks(answer):
        raise RuntimeError("no")

    monkeypatch.setattr("tests.scoring.asking_here.number_of", breaks)
    model = driven(monkeypatch, Model())
    assert run_progress(run) == running.RunProgress("done", 2, 0, 0, 2, 0)
    assert len(model.asked) == 2


def test_the_sums_of_runs_take_one_statement(cast, monkeypatch, django_assert_num_queries):
    runs = [started(cast.project, name) for name in (None,)]
    driven(monkeypatch, Model())
    with django_assert_num_queries(1):
        call_queries.asked_by([run.pk for run in runs])


def test_an_item_takes_few_statements(cast, monkeypatch, django_assert_max_num_queries):
    started(cast.project, reuse=False)
    with django_assert_max_num_queries(75):
        driven(monkeypatch, Model())
    assert Run.objects.get().calls.count() == 4
