"""What the load says of its rows, without measuring any."""

import json

import pytest

from benchmarks import arrivals
from benchmarks.figures import Figure
from benchmarks.load import ORDER, ROWS, Row, left_out, lines_of, measured_row, worst
from benchmarks.load_bench import FULL, HOUR, QUICK, Bench
from benchmarks.load_people import of_loads, spread
from tests.prove_load import load_line, load_lines


def row_of(*figures, then=None):
    def measure(bench):
        yield from figures
        if then:
            raise then

    return measured_row(Row("told", measure, "{labels:,} labels", "labels"), Bench(HOUR, "unused", None))


def test_every_row_is_measured_once():
    assert sorted(ORDER) == sorted(ROWS)


@pytest.mark.parametrize("plan", [FULL, HOUR, QUICK])
def test_every_row_says_its_sizes_and_the_full_one_is_the_table(plan):
    for row in ROWS.values():
        assert "{" not in row.said_sizes(plan)
        assert plan is not FULL or row.factor(plan) == "1"


def test_a_smaller_size_is_said_as_a_part_of_the_table():
    assert Row("", None, scale="burst_seconds").factor(HOUR) == "5/12"


def test_a_row_is_met_where_all_its_figures_are():
    assert row_of(Figure("one", 2, "x", 3), Figure("told", 9))["met"]
    assert not row_of(Figure("one", 2, "x", 3), Figure("two", 4, "x", 3))["met"]
    assert not row_of()["met"]


@pytest.mark.parametrize("error", [ValueError("away"), SystemExit("away")])
def test_a_row_that_breaks_keeps_its_figures_and_says_why(error):
    found = row_of(Figure("one", 2, "x", 3), then=error)
    assert (found["met"], len(found["figures"])) == (False, 1)
    assert found["said"].endswith("away")
    assert any("broke" in line for line in lines_of(1, found))


def test_a_row_for_which_there_is_no_time_says_so():
    found = measured_row(left_out(ROWS[1]), Bench(HOUR, "unused", None))
    assert not found["met"]
    assert "time" in found["said"]


def test_ending_all_of_it_is_not_a_row_that_breaks():
    with pytest.raises(SystemExit):
        row_of(then=SystemExit(143))


def test_the_ratio_of_a_row_is_its_worst():
    assert worst([Figure("near", 2.9, "x", 3), Figure("over", 1, "", 0), Figure("told", 99)])["of"] == "over"
    assert worst([Figure("near", 2.9, "x", 3), Figure("far", 1, "x", 3)])["ratio"] == 2.9


def test_what_is_due_comes_at_its_rate_and_the_same_each_time():
    due = list(arrivals.due_times(50, 20))
    assert due == sorted(due) == list(arrivals.due_times(50, 20))
    assert 900 < len(due) < 1100
    assert max(due) < 20


def test_a_load_is_well_when_it_is_answered_or_refused_in_time():
    def load(status, seconds, is_told=False):
        return arrivals.Load(0.0, None, status=status, seconds=seconds, is_told_when=is_told)

    loads = [load(200, 0.5), load(503, 0.1, True), load(429, 0.1), load(200, 3.0), load(0, None)]
    late, untold = of_loads(loads, 1)
    assert (late.measured, untold.measured) == (40, 1)
    assert not late.is_met
    assert all(figure.is_met for figure in of_loads(loads[:2], 1))


def test_who_is_furthest_from_the_mean_is_found_on_either_side():
    assert spread([10, 10, 10]).measured == 0
    assert spread([9, 10, 11]).is_met
    assert not spread([8, 11, 11]).is_met
    assert not spread([9, 9, 12]).is_met


def test_the_proof_has_a_line_a_row_and_says_what_was_missed():
    rows = {"1": row_of(Figure("one", 2, "x", 3), Figure("two", 4, "x", 3)), "2": row_of(then=OSError("a | b"))}
    lines = load_lines(json.loads(json.dumps(rows)))
    table = [line for line in lines if line.startswith("| ")]
    assert len({line.count("|") for line in table}) == 1
    assert "**two 4 x**" in table[1]
    assert "**missed**" in table[1]
    assert "broke" in load_line(2, rows["2"])
    assert load_lines({})[2].startswith("Not measured")
