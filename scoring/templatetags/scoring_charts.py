"""The charts of pages: one tag a shape. What they draw is worked out in `scoring/charts.py`."""

from collections.abc import Sequence

from django import template

from scoring.charts import AxisRow, Confusion, axis
from scoring.method_charts import MethodChart

register = template.Library()


@register.inclusion_tag("scoring/_axis.html")
def axis_chart(rows: Sequence[AxisRow], name: str, title: str, about: str) -> dict[str, object]:
    """One axis for everybody. `name` tells its parts from those of other charts of the page; `about` says in words
    what is drawn, for who does not see it."""
    return {"chart": axis(rows), "name": name, "title": title, "about": about}


@register.inclusion_tag("scoring/_strips.html")
def method_strips(chart: MethodChart, name: str) -> dict[str, object]:
    """The drawing of a table of a method, a strip a figure: its names are long, and so are texts that wrap."""
    return {"chart": chart, "name": f"chart-{name}"}


@register.inclusion_tag("scoring/_confusion.html")
def confusion_table(table: Confusion, title: str, rows: str, columns: str) -> dict[str, object]:
    """Who said what where the other said what; `rows` and `columns` are whose words stand there."""
    return {"table": table, "title": title, "rows_of": rows, "columns_of": columns}


@register.filter
def seconds(milliseconds: int | None) -> str:
    """`4.9 s`; a dash for what was not measured."""
    return "–" if milliseconds is None else f"{milliseconds / 1000:.1f} s"
