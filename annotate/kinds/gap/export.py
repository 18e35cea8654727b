"""A label as a row of a table."""

from annotate.kinds.gap.label import GapLabel

COLUMNS = ("category", "comment")


def rows(label: GapLabel) -> list[dict[str, object]]:
    return [{"category": label.category, "comment": label.comment}]
