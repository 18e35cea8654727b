"""Plans as promises over any material: every readable item once, in phases, whole traces, an order of one's own."""

import random
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from annotate.rules.plans import PHASES, Placed, PlannedItem, panel, shuffled

LANGUAGES = ("en", "zh", "")


@st.composite
def materials(draw, min_traces=0):
    """Traces of one to four items, each in one phase and language, their items in any order."""
    shapes = st.tuples(st.integers(1, 4), st.sampled_from(PHASES), st.sampled_from(LANGUAGES))
    items = []
    for trace, (n_items, phase, language) in enumerate(draw(st.lists(shapes, min_size=min_traces, max_size=12))):
        for place in range(n_items):
            items.append(PlannedItem(len(items) + 1, trace + 100, 2 * place + 1, phase, language))
    return draw(st.permutations(items))


SEEDS = st.integers(-(2**62), 2**62)
CODES = st.text("abr0123456789", min_size=1, max_size=4)
READ = st.sampled_from([["en"], ["zh"], ["en", "zh"]])


def plan(items, languages=("en", "zh"), seed=7, code="a1", **place):
    return panel(items, languages=list(languages), seed=seed, code=code, **place)


@given(materials(), READ, SEEDS, CODES)
def test_every_readable_item_is_planned_once_and_no_other(items, languages, seed, code):
    placed = plan(items, languages, seed, code)
    assert sorted(place.item for place in placed) == sorted(
        item.id for item in items if item.language in languages or not item.language
    )
    assert [place.order for place in placed] == list(range(len(placed)))


@given(materials(), READ, SEEDS, CODES)
def test_phases_come_in_their_order(items, languages, seed, code):
    phase_of = {item.id: PHASES.index(item.phase) for item in items}
    phases = [phase_of[place.item] for place in plan(items, languages, seed, code)]
    assert phases == sorted(phases)


@given(materials(), READ, SEEDS, CODES)
def test_traces_are_read_whole_from_their_beginning_under_one_number(items, languages, seed, code):
    by_id = {item.id: item for item in items}
    placed = plan(items, languages, seed, code)
    runs = [list(run) for _, run in groupby(placed, key=lambda place: by_id[place.item].trace)]
    assert len({by_id[run[0].item].trace for run in runs}) == len(runs)
    for number, run in enumerate(runs, start=1):
        anchors = [by_id[place.item].anchor for place in run]
        assert anchors == sorted(anchors)
        assert {place.sequence for place in run} == {number}


@given(materials(), SEEDS, CODES, st.randoms(use_true_random=False))
def test_the_order_is_decided_by_seed_and_code_alone(items, seed, code, rng):
    other = list(items)
    rng.shuffle(other)
    assert plan(other, seed=seed, code=code) == plan(items, seed=seed, code=code)


@given(materials(), materials(), SEEDS, CODES)
def test_later_items_are_planned_behind_those_there_are(items, later, seed, code):
    later = [PlannedItem(one.id + 1000, one.trace + 1000, one.anchor, one.phase, one.language) for one in later]
    first = plan(items, seed=seed, code=code)
    more = plan(later, seed=seed, code=code, first_order=len(first), first_sequence=50)
    assert [place.order for place in [*first, *more]] == list(range(len(first) + len(more)))
    assert {place.item for place in more} == {item.id for item in later}
    assert all(place.sequence >= 50 for place in more)


def one_item_traces(n):
    return [PlannedItem(number, number, 1, "main", "en") for number in range(1, n + 1)]


def test_different_codes_and_different_seeds_give_different_orders():
    items = one_item_traces(20)
    orders = {tuple(place.item for place in plan(items, code=f"a{number}")) for number in range(1, 51)}
    assert len(orders) == 50
    assert len({tuple(place.item for place in plan(items, seed=seed)) for seed in range(50)}) == 50


def test_every_trace_comes_first_about_equally_often():
    # 3,000 plans of 5 traces: 600 each; five standard deviations of a binomial are 110.
    firsts = [plan(one_item_traces(5), code=f"a{number}")[0].item for number in range(3000)]
    assert all(490 < firsts.count(item) < 710 for item in range(1, 6))


def test_a_plan_stays_the_same_from_release_to_release():
    # Plans are extended years later: an order that changed would show an item again out of turn.
    assert [place.item for place in plan(one_item_traces(10))] == [1, 9, 6, 4, 7, 2, 3, 8, 10, 5]
    assert plan(one_item_traces(1)) == [Placed(1, 0, 1)]


def test_nothing_to_read_is_an_empty_plan():
    assert plan([]) == []
    assert plan([PlannedItem(1, 1, 1, "main", "zh")], languages=["en"]) == []


@given(st.lists(st.integers(), unique=True), SEEDS, st.text())
def test_shuffling_keeps_every_value_and_touches_no_global_state(values, seed, purpose):
    before = random.getstate()
    once = shuffled(values, seed, purpose)
    assert sorted(once) == sorted(values)
    assert once == shuffled(values, seed, purpose)
    assert random.getstate() == before
