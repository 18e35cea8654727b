"""How long an answer takes says nothing: somebody else's address against one that there is not, an item a judge has
judged against one it has not, a long hidden part against none. Requests take turns, so that both meet the same noise.

Only `./run prove` runs these: beside other work times are no proof of anything.
"""

import statistics
import time

import pytest
from scipy.stats import mannwhitneyu

from annotate.models import Assignment
from annotate.traces import base
from tests.factories import make_assignment, make_cast, make_item, make_run, make_trace, make_verdict

pytestmark = [pytest.mark.django_db, pytest.mark.prove]

N_PAIRS, WARM_UP, N_ITEMS = 500, 30, 25
WITHIN, SIGNIFICANT = 0.10, 0.001
SAID = [base.Message(0, "user", "What came of it?"), base.Message(1, "assistant", "It is done, in all parts.")]


@pytest.fixture
def cast():
    return make_cast()


def seconds_of(client, address):
    began = time.perf_counter()
    client.get(address)
    return time.perf_counter() - began


def compared(client, ones, others):
    """Both kinds of addresses in turns, each first every other time."""
    times = [], []
    for place in range(N_PAIRS + WARM_UP):
        pair = [(0, ones[place % len(ones)]), (1, others[place % len(others)])]
        for kind, address in pair if place % 2 else reversed(pair):
            took = seconds_of(client, address)
            if place >= WARM_UP:
                times[kind].append(took)
    return times


def no_different(times):
    ratio = statistics.median(times[0]) / statistics.median(times[1])
    p = mannwhitneyu(*times).pvalue
    return abs(ratio - 1) <= WITHIN and p >= SIGNIFICANT, f"medians' ratio {ratio:.3f}, p {p:.4f}"


def item_of(project, *more):
    return make_item(trace=make_trace(project, [*SAID, *more]), reply=1)


def pages(member, items):
    """Their pages, open all at once, as the plan would open them one by one."""
    rows = [make_assignment(member, item, Assignment.State.SUBMITTED, order=n) for n, item in enumerate(items)]
    return [f"/label/{row.public_id}/" for row in rows]


def test_somebody_elses_address_takes_as_long_as_none(client, cast):
    theirs = pages(cast.zoe, [item_of(cast.other_project) for _ in range(N_ITEMS)])
    nobodys = [f"/label/{'x' * 17}{place:03}/" for place in range(N_ITEMS)]
    client.force_login(cast.ana.person)
    is_so, said = no_different(compared(client, theirs, nobodys))
    assert is_so, said


def test_an_item_that_a_judge_has_judged_takes_as_long_as_one_it_has_not(client, cast):
    judged, others = ([item_of(cast.project) for _ in range(N_ITEMS)] for _ in range(2))
    run = make_run(cast.project)
    for item in judged:
        make_verdict(run, item)
    ours = pages(cast.ana, [*judged, *others])
    client.force_login(cast.ana.person)
    is_so, said = no_different(compared(client, ours[:N_ITEMS], ours[N_ITEMS:]))
    assert is_so, said


def test_a_long_hidden_part_takes_as_long_as_none(client, cast):
    hidden = [base.Message(2, "system", "Be brief. " * 50_000)]
    long, short = ([item_of(cast.project, *more) for _ in range(N_ITEMS)] for more in (hidden, ()))
    ours = pages(cast.ana, [*long, *short])
    client.force_login(cast.ana.person)
    is_so, said = no_different(compared(client, ours[:N_ITEMS], ours[N_ITEMS:]))
    assert is_so, said


def test_a_lookup_that_costs_more_is_seen():
    slower = [1.0 + place % 7 / 100 for place in range(N_PAIRS)], [1.02 + place % 7 / 100 for place in range(N_PAIRS)]
    assert not no_different(slower)[0]
