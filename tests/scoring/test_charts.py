"""Figures as shapes: where a dot, its whisker and its tick are drawn, and how hot a cell is."""

import pytest

from scoring.charts import AxisRow, axis, confusion, heat


def row(value, low=None, high=None, name="a1", **fields):
    values = {"shape": "dot", "n": 12, "words": "0.5 (0.4 to 0.6)", "url": "/items/"}
    return AxisRow(name=name, value=value, low=low, high=high, **{**values, **fields})


def numbers(chart):
    return [tick.words for tick in chart.ticks]


def test_the_axis_runs_from_chance_to_one():
    chart = axis([row(0.5, 0.25, 0.75)])
    assert numbers(chart) == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert [tick.words for tick in chart.ticks if tick.is_chance] == ["0"]
    (dot,) = chart.dots
    assert (dot.low, dot.place, dot.high) == ("25.00%", "50.00%", "75.00%")


def test_left_of_zero_is_allowed_and_moves_the_axis_not_the_scale():
    chart = axis([row(-0.1, -0.15, 0.2), row(1.0)])
    assert numbers(chart) == ["\u22120.2", "0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert [dot.place for dot in chart.dots] == ["8.33%", "100.00%"]


def test_far_below_zero_the_ticks_are_fewer():
    assert numbers(axis([row(-0.9, -1.2, 0.4)])) == ["\u22121.5", "\u22121", "\u22120.5", "0", "0.5", "1"]


@pytest.mark.parametrize("low", [-0.2, -0.4, -1.0])
def test_a_value_on_a_tick_needs_no_further_one(low):
    ticks = axis([row(low)]).ticks
    assert (float(ticks[0].words.replace("\u2212", "-")), ticks[0].place) == (low, "0.00%")


def test_a_row_without_a_value_has_a_sentence_and_no_dot():
    chart = axis([row(0.5), row(None, name="a2", words="Needs a second rater.")])
    assert [dot.row.name for dot in chart.dots] == ["a1"]
    assert [(one.name, one.words) for one in chart.sentences] == [("a2", "Needs a second rater.")]


def test_a_value_without_an_interval_has_a_dot_and_no_whisker():
    (dot,) = axis([row(0.5)]).dots
    assert (dot.place, dot.low, dot.high) == ("50.00%", "", "")


def test_without_any_value_there_is_an_empty_axis():
    chart = axis([])
    assert chart.dots == ()
    assert numbers(chart)[0] == "0"


def test_rows_stand_under_each_other_and_over_the_numbers():
    chart = axis([row(0.5, name=name) for name in "abc"])
    tops = [dot.top for dot in chart.dots]
    assert tops == sorted(set(tops))
    assert tops[-1] < chart.dots[-1].middle < chart.floor < chart.height


def test_each_cell_has_its_count_its_share_of_the_row_as_heat_and_its_items():
    table = confusion([[30, 10], [0, 5]], ["passes", "fails"], lambda row, column: f"?{row}-{column}")
    assert [[cell.n for cell in one.cells] for one in table.rows] == [[30, 10], [0, 5]]
    assert [[cell.heat for cell in one.cells] for one in table.rows] == [[6, 2], [0, 8]]
    assert [[cell.url for cell in one.cells] for one in table.rows] == [["?0-0", "?0-1"], ["", "?1-1"]]
    assert [[cell.is_same for cell in one.cells] for one in table.rows] == [[True, False], [False, True]]
    assert ([one.n for one in table.rows], table.sums, table.n) == ([40, 5], (30, 15), 45)


def test_any_item_at_all_is_to_be_seen():
    assert (heat(0, 0), heat(0, 9), heat(1, 10_000), heat(9, 9)) == (0, 0, 1, 8)
