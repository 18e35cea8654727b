"""A label as rows of a table: one for each part that was answered or noted, and one for the marks."""

from annotate.kinds.choice.label import ChoiceLabel, dump
from annotate.kinds.choice.question import MARKS

COLUMNS = ("part", "value", "note", "n_spans", "spans")


def rows(label: ChoiceLabel) -> list[dict[str, object]]:
    data = dump(label)
    nothing: dict[str, object] = dict.fromkeys(COLUMNS)
    found = [{**nothing, "part": part, "value": value, "spans": []} for part, value in data["answers"].items()]
    found += [{**nothing, "part": part, "note": text, "spans": []} for part, text in data["notes"].items()]
    if label.spans:
        found.append({**nothing, "part": MARKS, "n_spans": len(label.spans), "spans": data["spans"]})
    return found
