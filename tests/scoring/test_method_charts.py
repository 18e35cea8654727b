"""What of a method's report is drawn: figures that belong side by side, once for each table, and nothing else."""

import pytest

from scoring.charts import AxisRow, axis
from scoring.method_charts import MOST, drawn_rows, method_chart
from scoring.methods.tables import Grid, Row, Table, counted, without
from scoring.stats.results import Figure, Interval

BASE = "texts"


def figure(value, low=None, high=None, n=9):
    interval = None if low is None else Interval(low, high, 0.95, "text", 9, 100, 1, 0.0, "drawn")
    return Figure(value, None, n, n, 1, interval=interval)


def row(metric, value, by=(), unit="share", **ends):
    return Row(metric, metric.replace("_", " "), figure(value, **ends), BASE, by, unit)


def table(*rows):
    return Table("some", "Some", rows)


def by_model(*values):
    return [row("fail", value, (("model", f"m{number}"),)) for number, value in enumerate(values)]


def test_a_measure_that_is_broken_down_is_drawn_and_named_by_what_it_is_broken_down_by():
    chart = method_chart(table(*by_model(0.2, 0.4, 0.9), row("gap", 0.1, (("model", "m0"),))))
    assert [dot.row.name for dot in chart.axis.dots] == ["m0", "m1", "m2"]
    assert [dot.place for dot in chart.axis.dots] == ["20.00%", "40.00%", "90.00%"]
    assert chart.title.startswith("fail. ")


def test_several_measures_of_a_table_are_drawn_beside_each_other_by_their_names():
    chart = method_chart(table(row("fail", 0.2), row("have_a_gap", 0.4, low=0.3, high=0.5), row("n", 7, unit="count")))
    assert [dot.row.name for dot in chart.axis.dots] == ["fail", "have a gap"]
    assert [(dot.low, dot.high) for dot in chart.axis.dots] == [("", ""), ("30.00%", "50.00%")]


def test_different_units_are_never_on_one_axis():
    assert drawn_rows(table(row("fail", 0.2), row("kappa", 0.4, unit="kappa"))) == ()


@pytest.mark.parametrize(
    "nothing",
    [
        table(row("fail", 0.2)),
        table(row("n", 3, unit="count"), row("m", 4, unit="count")),
        table(Row("fail", "fail", without("empty"), BASE), Row("gap", "gap", without("empty"), BASE)),
        table(*by_model(*[0.5] * (MOST + 1))),
        Grid("g", "G", "r", "c", ("a",), ("b",), ((1,),)),
    ],
    ids=["one", "counts", "undefined", "too many", "grid"],
)
def test_what_is_no_comparison_is_not_drawn(nothing):
    assert drawn_rows(nothing) == ()
    assert method_chart(nothing) is None


def test_an_undefined_figure_among_others_is_said_and_has_no_dot():
    chart = method_chart(table(*by_model(0.2, 0.4), Row("fail", "fail", without("empty"), BASE, (("model", "x"),))))
    assert [dot.row.name for dot in chart.axis.dots] == ["m0", "m1"]
    assert [one.name for one in chart.axis.sentences] == ["x"]


def test_of_k_one_by_one_only_doublings_are_drawn():
    rows = [row("pass_at_k", k / 16, (("k", str(k)),)) for k in range(1, 17)]
    assert [dot.row.name for dot in method_chart(table(*rows)).axis.dots] == ["1", "2", "4", "8", "16"]


def test_shares_run_to_a_hundred_and_differences_about_zero():
    shares = method_chart(table(*by_model(0.2, 0.4))).axis
    assert [tick.words for tick in shares.ticks] == ["0", "20", "40", "60", "80", "100"]
    values = {"a": -0.1, "b": 0.3}
    differences = [row("fewer", value, (("condition", name),), "difference") for name, value in values.items()]
    ticks = method_chart(table(*differences)).axis.ticks
    assert [tick.words for tick in ticks] == ["\u221210", "\u22125", "0", "5", "10", "15", "20", "25", "30"]
    assert [tick.words for tick in ticks if tick.is_chance] == ["0"]


@pytest.mark.parametrize("ends", [(0.0, 0.0), (0.013, 0.02), (-1.0, 1.0), (-0.33, -0.01), (0.7, 0.95)])
def test_any_difference_lies_on_its_axis_and_so_does_zero(ends):
    chart = axis([AxisRow("a", "dot", ends[0], *ends, 3, "")], "difference")
    places = [float(one.rstrip("%")) for dot in chart.dots for one in (dot.low, dot.place, dot.high)]
    assert all(0 <= place <= 100 for place in places)
    assert 2 <= len(chart.ticks) <= 9
    assert "0" in [tick.words for tick in chart.ticks]


def test_counts_have_no_axis():
    assert drawn_rows(table(*(Row(name, name, counted(3), "", (), "count") for name in "nm"))) == ()
