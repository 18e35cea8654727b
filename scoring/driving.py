"""The job that drives a run whose judge asks a model: it claims the run's items, asks with as many threads as the
endpoint allows at once and no faster than it allows in a minute, and records what comes of each.

One driver an endpoint works at a time (their lane), so no bound is exceeded, however many workers there are. Its lease
is short: of a worker that was killed another one takes over within seconds, knows that nobody else works on the items,
and goes on from the answers that are recorded. A driver gives way where others wait for its worker or its endpoint.
"""

import logging
import queue
import random
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from django.db import connection, transaction

from annotate import work
from annotate.errors import JobFailed, Later, LeaseLost, Stopping
from annotate.models import Work, WorkGroup
from annotate.traces.base import Problem
from scoring import call_queries, calling, queries, running
from scoring.asking import MOST_TRIES, Amount, Cap, Pace, Prices, cap_reached, wait_behind
from scoring.judges.base import MOST_ATTEMPTS, Answer, Ask
from scoring.llm import ProviderError, Reply
from scoring.models import Call, Endpoint, Run

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=8)
BEAT_SECONDS, LOOK_SECONDS, WAY_SECONDS, TURN_SECONDS, END_SECONDS = 2.0, 0.25, 5.0, 30.0, 5.0
FAR_SECONDS = 3600.0
"""Jobs that are not due for so long wait for a person, and nobody waits for them."""
UNTIL_PASTED = timedelta(days=36500)
MOST_STEPS = 2000
"""Questions of one judgment; of a trajectory there is one for each step of its gold."""
MOST_THREADS = 64
Tell = Callable[[], None]


@work.handles(running.DRIVER)
def drive(job: work.Job, tell: Tell = lambda: None) -> None:
    """Drive a run until none of its items is left, it is held, or others are to have their turn."""
    run = running.run_that_asks(job.row.payload["run"])
    job.lease = LEASE
    job.extend()
    driver = Driver(job, run, tell)
    if (problem := driver.unfit()) is not None:
        running.hold_run(run=run, problem=problem)
        job.finish({})
        return
    driver.drive()
    with transaction.atomic():
        job.finish({})
        if driver.gives_way:
            running.go_on(run)


def driver_of(run: Run) -> Work | None:
    """The oldest job that is to drive a run, or does."""
    unfinished = [Work.State.WAITING, Work.State.RUNNING]
    jobs = Work.objects.filter(kind=running.DRIVER, project=run.project_id, payload__run=run.pk)
    return jobs.filter(state__in=unfinished).order_by("pk").first()


class Driver:
    """What the threads of one driver share. `changed` guards all of it, `gate` lets out one request after another."""

    def __init__(self, job: work.Job, run: Run, tell: Tell = lambda: None) -> None:
        assert run.endpoint is not None
        self.job, self.run, self.tell = job, run, tell
        self.endpoint: Endpoint = run.endpoint
        self.prices = Prices(self.endpoint.price_in, self.endpoint.price_out)
        self.cap = Cap(run.cap_calls, run.cap_tokens, run.cap_cost)
        self.n_threads = min(self.endpoint.concurrency, MOST_THREADS)
        self.changed, self.gate = threading.Condition(), threading.Lock()
        self.queue: queue.SimpleQueue[work.Job | None] = queue.SimpleQueue()
        self.in_flight: dict[int, work.Job] = {}
        self.is_closing = self.is_lost = self.gives_way = False
        self.over = threading.Event()
        self.reserved, self.spent = Amount(), Amount()
        self.n_recorded = self.n_refused = 0
        self.beaten_at = self.began_at = self.looked_at = time.monotonic()
        self.n_wanted = 0
        self.pace = Pace(self.endpoint.per_minute, time.monotonic())

    # From its beginning to its end

    def unfit(self) -> Problem | None:
        return running.endpoint_problem(self.run)

    def drive(self) -> None:
        self.take_over()
        keeper = threading.Thread(target=self.keep, name=f"lease of work {self.job.row.pk}", daemon=True)
        keeper.start()
        threads = [threading.Thread(target=self.serve, daemon=True) for _ in range(self.n_threads)]
        try:
            if self.n_threads > 1:
                for thread in threads:
                    thread.start()
            while not self.is_over():
                self.step()
            self.wait_for_threads(None)
        finally:
            self.is_closing = True
            for _ in threads:
                self.queue.put(None)
            self.over.set()
            keeper.join()
        if self.is_lost:
            raise LeaseLost(f"work {self.job.row.pk}, claim {self.job.number}")
        if queries.is_through(self.run.group_id):
            running.end_run(self.run)

    def take_over(self) -> None:
        """As the only driver: what its predecessors had under way is nobody's any more."""
        self.versions = calling.prompts_of_run(self.run)
        self.spec = running.same_judge(self.run)
        work.end_leases(self.run.group, running.ASKED)
        work.give_up_the_dead()
        n_lost = calling.lose_tries(self.run)
        asked = call_queries.asked_by([self.run.pk])[self.run.pk]
        lost = self.prices.most(asked.tokens_lost)
        self.spent = Amount(
            asked.n_requests, asked.tokens_reckoned + asked.tokens_lost, (asked.cost or Decimal(0)) + lost
        )
        since = call_queries.seconds_since_last_request(self.endpoint)
        interval = self.pace.interval
        pause = interval if n_lost else max(interval - (interval if since is None else since), 0.0)
        self.pace = Pace(self.endpoint.per_minute, time.monotonic() + pause)

    def is_over(self) -> bool:
        if work.STOPPING.is_set():
            self.wait_for_threads(END_SECONDS)
            raise Stopping
        return self.is_closing

    def step(self) -> None:
        """Begin an item, or wait for what there is to wait for."""
        self.tell()
        self.look_for_others()
        if len(self.in_flight) >= self.n_threads or self.is_stale():
            self.wait(LOOK_SECONDS)
        elif (job := work.claim(self.run.group, (running.ASKED,))) is None:
            self.nothing_to_claim()
        elif job.number > 1 and job.number >= job.row.max_attempts:
            self.alone(job)
        else:
            self.begin(job)

    def nothing_to_claim(self) -> None:
        if self.in_flight:
            return self.wait(LOOK_SECONDS)
        work.give_up_the_dead()
        due = call_queries.seconds_to_next_job(self.run.group_id)
        is_open = queries.group_state(self.run.group_id) == WorkGroup.State.OPEN
        if not is_open or due is None or due > FAR_SECONDS:
            self.is_closing = True
        elif due > 0:
            self.wait(min(due, LOOK_SECONDS))

    def alone(self, job: work.Job) -> None:
        """One that has cost workers their lives before is not to take the others with it."""
        self.wait_for_threads(None)
        self.begin(job)
        self.wait_for_threads(None)

    def begin(self, job: work.Job) -> None:
        with self.changed:
            self.in_flight[job.row.pk] = job
        if self.n_threads == 1:
            self.do(job)
        else:
            self.queue.put(job)

    def wait(self, seconds: float) -> None:
        with self.changed:
            self.changed.wait(seconds)

    def wait_for_threads(self, seconds: float | None) -> None:
        end = None if seconds is None else time.monotonic() + seconds
        while self.in_flight and (end is None or time.monotonic() < end) and not self.is_lost:
            self.tell()
            self.wait(LOOK_SECONDS)

    def look_for_others(self) -> None:
        """Give way where what people wait for finds no worker, or where another run has not had its turn."""
        now = time.monotonic()
        if now - self.looked_at < WAY_SECONDS:
            return
        self.looked_at = now
        self.n_wanted = self.n_wanted + 1 if work.is_claimable_before(self.job.row.priority) else 0
        had_turn = now - self.began_at > TURN_SECONDS
        if self.n_wanted > 1 or (had_turn and work.waits_in_lane(self.job.row)):
            self.gives_way = self.is_closing = True

    def keep(self) -> None:
        """Extend the leases while this process lives, and hear whether the run was held."""
        while not self.over.wait(BEAT_SECONDS):
            began = time.monotonic()
            try:
                with self.changed:
                    jobs, has_recorded = list(self.in_flight.values()), self.n_recorded > 0
                    self.n_recorded = 0
                more = {"max_attempts": self.job.number + running.DRIVER_ATTEMPTS} if has_recorded else {}
                self.job.extend(**more)
                self.beaten_at = began
                work.extend_all(jobs)
                if queries.group_state(self.run.group_id) != WorkGroup.State.OPEN:
                    self.is_closing = True
            except LeaseLost:
                self.is_lost = self.is_closing = True
                break
            except Exception:
                log.exception("The leases of run %s could not be extended; it is tried again.", self.run.pk)
                connection.close()
        connection.close()

    # One item

    def serve(self) -> None:
        try:
            while (job := self.queue.get()) is not None:
                self.do(job)
        finally:
            connection.close()

    def do(self, job: work.Job) -> None:
        try:
            work.run(job, self.judge)
        except Exception:
            log.exception("Work %s could not be ended; its lease will.", job.row.pk)
            work.close_if_broken()
        finally:
            with self.changed:
                self.in_flight.pop(job.row.pk, None)
                self.changed.notify_all()

    def judge(self, job: work.Job) -> None:
        """Ask until the judge has its finding, from the answers that are recorded on, and record the verdict."""
        self.check()
        item, sample = queries.judged_item(job.row.payload["item"]), job.row.payload["sample"]
        if item is None:
            raise JobFailed(running.ITEM_IS_GONE)
        view = running.view_of(self.run, self.spec, item)
        calls = {(call.step, call.attempt): call for call in call_queries.calls_of_judgment(self.run, item.id, sample)}
        answers = [calling.answer_of(call) for call in calls.values() if call.state == Call.State.ANSWERED]
        for _ in range(MOST_STEPS * MOST_ATTEMPTS + 1):
            said = self.spec.step(view, self.run.judge.settings, tuple(answers))
            if not isinstance(said, Ask):
                running.record(self.run, item, sample, said, running.label_of(self.run, item, said), job)
                self.n_recorded += 1
                return
            if any((answer.step, answer.attempt) == (said.step, said.attempt) for answer in answers):
                break
            stored = calls.get((said.step, said.attempt))
            call = stored or calling.new_call(self.run, item.id, sample, said, self.versions)
            answers.append(self.ask(call))
        raise JobFailed(running.ASKS_FOR_EVER)

    def ask(self, call: Call) -> Answer:
        """The recorded answer to an equal request, or that of the model."""
        call.run = self.run
        if self.run.reuse and (answer := calling.copy_recorded(call)) is not None:
            return answer
        if self.endpoint.provider == Endpoint.Provider.PASTED:
            calling.store(call)
            raise Later(UNTIL_PASTED, running.WAITS_FOR_PASTING)
        reserved = self.reserve(call)
        taken = Amount()
        try:
            calling.begin_try(call)
            self.pass_gate(call)
            taken = reserved  # until it is known what it took
            reply = calling.send(call, self.endpoint)
            answer = calling.record_answer(call, reply, self.prices)
            taken = self.taken_by(reply, reserved)
        except ProviderError as error:
            taken = reserved if error.kind in LOST else Amount(calls=1)
            raise self.turned_away(call, error) from None
        finally:
            with self.changed:
                self.reserved, self.spent = self.reserved - reserved, self.spent + taken
                self.changed.notify_all()
        self.pace.was_let_in()
        self.n_refused = 0
        return answer

    def check(self) -> None:
        """Whether another request may go out of here."""
        if self.is_lost or self.is_stale():
            raise Later(timedelta(0))
        if work.STOPPING.is_set():
            raise Stopping
        if self.is_closing:
            raise Later(timedelta(0))

    def is_stale(self) -> bool:
        """Whether another driver may have taken over meanwhile, as far as this process can tell."""
        return time.monotonic() - self.beaten_at > LEASE.total_seconds() - 1

    def reserve(self, call: Call) -> Amount:
        """Room under the cap for the most that a call may take; where only what is under way leaves none, wait for
        it."""
        one = Amount(1, call.tokens_expected, self.prices.most(call.tokens_expected))
        with self.changed:
            while (limit := self.cap.broken_by(self.spent + self.reserved + one)) is not None:
                self.check()
                if self.reserved == Amount():
                    break
                self.changed.wait(LOOK_SECONDS)
            else:
                self.reserved += one
                return one
        self.hold(cap_reached(limit))
        raise Later(timedelta(0))

    def pass_gate(self, call: Call) -> None:
        """Out one after the other, at the endpoint's pace; whoever is to send no more takes the call back."""
        try:
            with self.gate:
                while (left := self.pace.wait(time.monotonic())) > 0:
                    self.check()
                    time.sleep(min(left, LOOK_SECONDS))
                self.check()
                self.pace.went(time.monotonic())
        except BaseException:
            calling.take_back_try(call)
            raise

    def taken_by(self, reply: Reply, reserved: Amount) -> Amount:
        if reply.tokens_in is None or reply.tokens_out is None:
            return reserved
        cost = self.prices.cost(reply.tokens_in, reply.tokens_out) or Decimal(0)
        return Amount(1, reply.tokens_in + reply.tokens_out, cost)

    def turned_away(self, call: Call, error: ProviderError) -> Exception:
        """What becomes of the item: it comes again later, or is given up; the run is held where every other call would
        meet the same."""
        if error.kind in ("busy", "down"):
            return self.try_later(call, error)
        if error.kind in HOLDING or self.meets_all(error):
            calling.turn_away(call, error.sentence)
            self.hold(error.sentence)
            return Later(timedelta(0))
        calling.turn_away(call, error.sentence, is_lost=error.kind in LOST, is_over=True)
        return JobFailed(running.CALL_FAILED)

    def try_later(self, call: Call, error: ProviderError) -> Exception:
        seconds = wait_behind(call.n_tries, error.retry_after, random.random())
        self.pace.turned_away(time.monotonic(), seconds, at_once=self.n_threads)
        is_over = call.n_tries % MOST_TRIES == 0
        calling.turn_away(call, error.sentence, is_lost=error.kind in LOST, is_over=is_over)
        return JobFailed(running.CALL_FAILED) if is_over else Later(timedelta(seconds=seconds), running.TURNED_AWAY)

    def meets_all(self, error: ProviderError) -> bool:
        """Refusals in a row, with nothing answered between them, are not the fault of single items."""
        self.n_refused += error.kind == "refused"
        return self.n_refused >= REFUSED_IN_A_ROW

    def hold(self, problem: Problem) -> None:
        self.is_closing = True
        running.hold_run(run=self.run, problem=problem)


LOST = frozenset({"down", "too_large"})
"""Kinds of errors behind which a model may have answered, and charged for it."""
HOLDING = frozenset({"key", "quota", "bad_address"})
REFUSED_IN_A_ROW = 10
