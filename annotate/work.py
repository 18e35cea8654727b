"""Jobs of all apps are rows, written in the transaction of their cause. A worker claims one, does it and writes what
came of it; how it is woken does not matter (`waking.py`).

A claim is one conditional UPDATE, by the database's clock, and numbers itself: `attempts` is also the fencing number,
and whoever writes for a job has to hold the newest one. A worker that dies says nothing; its lease ends, and the next
claim or the sweep finds the row. Handlers run outside any transaction and may run again from the beginning, so they
have to be safe to repeat.
"""

import contextlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import islice
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotate import waking
from annotate.errors import JobFailed, Later, LeaseLost, Stopping
from annotate.models import Person, Project, Work, WorkGroup
from annotate.prepared import PreparedInsert, PreparedRead, PreparedUpdate, place
from annotate.traces.base import gettext_noop

log = logging.getLogger(__name__)
State = Work.State

LEASE = timedelta(seconds=60)
CANDIDATES, ADDED_AT_ONCE = 10, 500
WORD_SECONDS = 1
"""So often at most the progress of a job is written."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(minutes=5)

BROKE_DOWN = gettext_noop(
    "It broke down on the way; the reason stands in the server's log, under the number of this job."
)
WORKER_DIED = gettext_noop(
    "Each time, the process that worked on it ended before it was done. The server's log may say why; it may need more "
    "memory than there is."
)

STOPPING = threading.Event()
"""Set once, when this process is to end: jobs under way go back at their next word, and none is claimed any more."""


# Handlers

Handler = Callable[["Job"], dict[str, Any] | None]
"""Returns the result; None where it finished the job itself, in the transaction that recorded what came of it."""
HANDLERS: dict[str, Handler] = {}
DRIVEN: set[str] = set()
"""Kinds whose jobs another job does, which claims them by its own kind and group; nobody else may."""
TIDIERS: list[Callable[[], int]] = []


def handles(kind: str) -> Callable[[Handler], Handler]:
    """Register who does the jobs of a kind: a function of a Job that returns the result."""

    def register(handler: Handler) -> Handler:
        HANDLERS[kind] = handler
        return handler

    return register


def driven(kind: str) -> str:
    """Register a kind whose jobs wait for the job that drives them."""
    DRIVEN.add(kind)
    return kind


def tidies(tidier: Callable[[], int]) -> Callable[[], int]:
    """Register what removes the things that ended jobs left lying; it runs with every sweep."""
    TIDIERS.append(tidier)
    return tidier


# Writing and claiming


def add_work(
    *,
    kind: str,
    key: str,
    payload: dict[str, Any],
    lane: str = "",
    project: Project | None = None,
    person: Person | None = None,
    n_total: int | None = None,
    max_attempts: int = 3,
    priority: int = 0,
) -> Work:
    """A job, as part of the caller's transaction; when that is committed a worker is woken. A key that is there already
    gives the job that has it. What people wait for has priority 0."""
    given = {"kind": kind, "payload": payload, "lane": lane, "project": project, "person": person}
    given |= {"n_total": n_total, "max_attempts": max_attempts, "priority": priority}
    row, _ = Work.objects.get_or_create(key=key, defaults=given)
    transaction.on_commit(waking.wake, robust=True)
    return row


def jobs_of_group(
    *,
    kind: str,
    group: WorkGroup,
    payloads: Mapping[str, dict[str, Any]],
    priority: int,
    project: Project | None = None,
    person: Person | None = None,
    max_attempts: int = 3,
) -> list[PreparedInsert]:
    """The jobs of a group by their keys, for `add_many`: made before the transaction that writes them."""
    given = {"kind": kind, "group": group, "priority": priority, "project": project, "person": person}
    rows = (Work(key=key, payload=payload, max_attempts=max_attempts, **given) for key, payload in payloads.items())
    return [PreparedInsert(some) for some in batched(rows, ADDED_AT_ONCE)]


def add_many(jobs: Iterable[PreparedInsert]) -> None:
    """As part of the caller's transaction, like `add_work`."""
    for some in jobs:
        some.execute()
    transaction.on_commit(waking.wake, robust=True)


def batched(rows: Iterable[Work], size: int) -> Iterator[list[Work]]:
    waiting = iter(rows)
    while some := list(islice(waiting, size)):
        yield some


def revive(work: Work, *, more_attempts: int = 3) -> bool:
    """Let a job that was given up be tried again, with its attempts counted on. False when it is given up no more."""
    revived = Work.objects.filter(pk=work.pk, state=State.DEAD).update(
        state=State.WAITING, error="", not_before=None, ended_at=None, max_attempts=F("attempts") + more_attempts
    )
    transaction.on_commit(waking.wake, robust=True)
    return bool(revived)


def revive_group(group: WorkGroup, *, more_attempts: int = 3) -> int:
    """Let every job of a group that was given up be tried again; how many."""
    n = Work.objects.filter(group=group, state=State.DEAD).update(
        state=State.WAITING, error="", not_before=None, ended_at=None, max_attempts=F("attempts") + more_attempts
    )
    transaction.on_commit(waking.wake, robust=True)
    return n


def claimable(kinds: Iterable[str] | None = None) -> QuerySet[Work]:
    """Jobs that are due, and those whose worker let its lease end; in a lane only while no other one runs, and of a
    group only while it is open."""
    is_due = Q(state=State.WAITING) & (Q(not_before=None) | Q(not_before__lte=Now()))
    is_abandoned = Q(state=State.RUNNING, lease_until__lt=Now())
    ahead = Work.objects.filter(lane=OuterRef("lane"), state=State.RUNNING).exclude(pk=OuterRef("pk"))
    held = WorkGroup.objects.filter(pk=OuterRef("group")).exclude(state=WorkGroup.State.OPEN)
    return Work.objects.filter(
        is_due | is_abandoned,
        Q(lane="") | ~Exists(ahead),
        Q(group=None) | ~Exists(held),
        kind__in=list(HANDLERS if kinds is None else kinds),
        attempts__lt=F("max_attempts"),
        state__in=[State.WAITING, State.RUNNING],  # said once more, for the index of what is unfinished
    )


@cache
def candidates(kinds: tuple[str, ...], is_of_group: bool) -> PreparedRead:
    def build() -> QuerySet[Work]:
        jobs = claimable(kinds)
        ours = jobs.filter(group=place("group")) if is_of_group else jobs
        return ours.order_by("priority", "pk").values_list("pk", "attempts")[:CANDIDATES]

    return PreparedRead(build)


@cache
def taking(kinds: tuple[str, ...]) -> PreparedUpdate:
    def build() -> tuple[QuerySet[Work], dict[str, Any]]:
        mine = claimable(kinds).filter(pk=place("work"), attempts=place("attempts"))
        return mine, {"state": State.RUNNING, "attempts": F("attempts") + 1, "lease_until": Now() + LEASE}

    return PreparedUpdate(build)


def claim(group: WorkGroup | None = None, kinds: tuple[str, ...] = ()) -> "Job | None":
    """The oldest of the most urgent jobs that can be claimed, now this worker's; None where there is none. With a
    group only one of its jobs, with kinds only one of these: what is driven is claimed no other way."""
    kinds = kinds or tuple(sorted(HANDLERS))
    waiting = candidates(kinds, group is not None)
    while kinds and (rows := waiting.rows(**({} if group is None else {"group": group.pk}))):
        for pk, attempts in rows:
            if take(pk, attempts, kinds):
                return Job(Work.objects.select_related("project", "person", "group").get(pk=pk), attempts + 1)
    return None


def take(pk: int, attempts: int, kinds: tuple[str, ...]) -> bool:
    """Whether the claim after this many was ours. The database itself lets one job of a lane run."""
    try:
        with transaction.atomic():
            return bool(taking(kinds).count(work=pk, attempts=attempts))
    except IntegrityError:
        return False


class Job:
    """A claimed job, as its handler sees it. Every write is refused once the claim is not the newest any more."""

    def __init__(self, row: Work, number: int) -> None:
        self.row, self.number = row, number
        self.lease = LEASE
        """A handler that another worker is to take over from sooner may shorten it."""
        self.next_word = 0.0

    def write(self, **fields: Any) -> None:
        mine = Work.objects.filter(pk=self.row.pk, attempts=self.number, state=State.RUNNING)
        if not mine.update(**fields):
            raise LeaseLost(f"work {self.row.pk}, claim {self.number}")

    def extend(self, **fields: Any) -> None:
        self.write(lease_until=Now() + self.lease, **fields)

    def progress(self, n_done: int, n_total: int | None = None, *, at_once: bool = False) -> None:
        """A word that the job goes on, and how far it is: may be said as often as one likes, and has to be said within
        a lease. Ends the handler where this process is to end or another worker took over."""
        if STOPPING.is_set():
            raise Stopping
        if at_once or time.monotonic() >= self.next_word:
            self.next_word = time.monotonic() + WORD_SECONDS
            self.extend(n_done=n_done, **({} if n_total is None else {"n_total": n_total}))

    def note(self, result: dict[str, Any]) -> None:
        """What the next try has to know, if this one is cut off; stands in `row.result` then."""
        self.extend(result=result)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """For a step that cannot say a word on its way: the lease is extended as long as this process lives."""
        is_over = threading.Event()

        def keep() -> None:
            while not is_over.wait(self.lease.total_seconds() / 3):
                try:
                    self.extend()
                except LeaseLost:  # the next word of the job itself meets it too
                    break
                except Exception:
                    log.exception("The lease of work %s could not be extended; it is tried again.", self.row.pk)
                    connection.close()
            connection.close()

        self.extend()
        keeper = threading.Thread(target=keep, name=f"lease of work {self.row.pk}", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            is_over.set()
            keeper.join()

    def finish(self, result: dict[str, Any]) -> State:
        self.write(state=State.DONE, result=result, error="", lease_until=None, ended_at=Now())
        return State.DONE

    def fail(self, sentence: str, *, again: bool) -> State:
        """Back to wait for its next attempt, longer each time; or given up, where there is none left."""
        if again and self.number < self.row.max_attempts:
            not_before = Now() + pause_after(self.number)
            self.write(state=State.WAITING, lease_until=None, error=sentence, not_before=not_before)
            return State.WAITING
        self.write(state=State.DEAD, lease_until=None, error=sentence, ended_at=Now())
        return State.DEAD

    def give_back(self, after: timedelta = timedelta(0), sentence: str = "") -> State:
        """As it was, to be done after a while; this attempt was no fault of the job, so it may have one more."""
        not_before = Now() + after if after else None
        more = F("max_attempts") + 1
        self.write(state=State.WAITING, lease_until=None, not_before=not_before, error=sentence, max_attempts=more)
        return State.WAITING


def pause_after(attempts: int) -> timedelta:
    """How long a job that failed so often waits: each time twice as long, up to a bound."""
    return min(FIRST_PAUSE * 2 ** min(attempts - 1, 20), LONGEST_PAUSE)


# Doing


def run(job: Job, handler: Handler | None = None) -> State | None:
    """Do a claimed job, one that is driven by the handler that its driver has; the state it is in afterwards, None
    where that is for another worker to say."""
    try:
        return attempt(job, handler or HANDLERS[job.row.kind])
    except LeaseLost as lost:
        log.warning("A job was taken over before it was done: %s.", lost)
        return None


def attempt(job: Job, handler: Handler) -> State:
    try:
        result = handler(job)
        return State.DONE if result is None else job.finish(result)
    except LeaseLost:
        raise
    except Stopping:
        return job.give_back()
    except Later as later:
        return job.give_back(later.after, later.sentence)
    except KeyboardInterrupt:
        job.give_back()
        raise
    except JobFailed as failure:
        return job.fail(failure.sentence, again=failure.again)
    except Exception:
        log.exception("Work %s (%s) failed, attempt %s.", job.row.pk, job.row.kind, job.number)
        close_if_broken()
        return job.fail(BROKE_DOWN, again=True)


def close_if_broken() -> None:
    """A database that went away and came back is asked anew."""
    if connection.errors_occurred and not connection.is_usable():
        connection.close()


def drain(group: WorkGroup | None = None) -> Counter[State | None]:
    """Claim and do jobs, with a group only its own, until there is none to claim; how many ended in which state."""
    ended: Counter[State | None] = Counter()
    while not STOPPING.is_set() and (job := claim(group)):
        ended[run(job)] += 1
    return ended


@dataclass(frozen=True, slots=True)
class Swept:
    """`unknown_kinds` are kinds of waiting jobs that no app here does."""

    n_dead: int
    n_tidied: int
    n_claimable: int
    unknown_kinds: tuple[str, ...]


def give_up_the_dead() -> int:
    """Give up jobs whose last worker died; how many."""
    dead = Work.objects.filter(state=State.RUNNING, lease_until__lt=Now(), attempts__gte=F("max_attempts"))
    return dead.update(state=State.DEAD, error=WORKER_DIED, lease_until=None, ended_at=Now())


def end_leases(group: WorkGroup, kind: str) -> int:
    """Say that nobody works on these jobs of a group any more, which only their one driver can know; how many."""
    jobs = Work.objects.filter(group=group, kind=kind, state=State.RUNNING, lease_until__gte=Now())
    return jobs.update(lease_until=Now() - timedelta(seconds=1))


def extend_all(jobs: Iterable["Job"]) -> None:
    """Extend what is under way in one statement; who was taken over hears of it at its own next word."""
    ids = [job.row.pk for job in jobs]
    if ids:
        Work.objects.filter(pk__in=ids, state=State.RUNNING).update(lease_until=Now() + LEASE)


def is_claimable_before(priority: int) -> bool:
    """Whether a more urgent job waits for a worker."""
    return claimable().filter(priority__lt=priority).exists()


def waits_in_lane(row: Work) -> bool:
    """Whether another job waits for this one's lane."""
    return Work.objects.filter(lane=row.lane, state=State.WAITING).exclude(pk=row.pk).exists()


def claim_this(row: Work) -> "Job | None":
    """This very job, if it can be claimed now."""
    kinds = (row.kind,)
    attempts = claimable(kinds).filter(pk=row.pk).values_list("attempts", flat=True).first()
    if attempts is None or not take(row.pk, attempts, kinds):
        return None
    return Job(Work.objects.select_related("project", "person", "group").get(pk=row.pk), attempts + 1)


def seconds_to_next_end() -> float | None:
    """Until the first lease ends of those that may go on; None where nothing is under way."""
    running = Work.objects.filter(state=State.RUNNING, kind__in=list(HANDLERS))
    left = running.order_by("lease_until").annotate(now=Now()).values_list("lease_until", "now").first()
    return None if left is None or left[0] is None else (left[0] - left[1]).total_seconds()


def sweep() -> Swept:
    """Give up jobs whose last worker died, remove what ended jobs left, and say what there is to do. Several at once do
    no harm."""
    n_dead = give_up_the_dead()
    unknown = Work.objects.filter(state=State.WAITING).exclude(kind__in=[*HANDLERS, *DRIVEN])
    return Swept(
        n_dead=n_dead,
        n_tidied=tidy(),
        n_claimable=claimable().count(),
        unknown_kinds=tuple(unknown.order_by("kind").values_list("kind", flat=True).distinct()),
    )


def tidy() -> int:
    """Remove what ended jobs left lying; how many things. What cannot be removed must not keep jobs from being done."""
    n_removed = 0
    for tidier in TIDIERS:
        try:
            n_removed += tidier()
        except OSError:
            log.exception("What ended jobs left could not be removed.")
    return n_removed
