"""`python -m tests.records_page` writes docs/records.md: the records and parameters of each method, as it declares
them."""

from pathlib import Path

from scoring.methods.records import ABOUT
from scoring.methods.tables import methods

PAGE = Path(__file__).resolve().parent.parent / "docs" / "records.md"
HEAD = """# Records of the four methods

`./run manage report METHOD --records FILE` prints every table of a method over records made anywhere, with intervals;
`--json`, `--csv` and `--html` give the same as one JSON object (numbers with 10 significant digits), as one row a
figure (safe for spreadsheets) and as a page that stands by itself. `--language zh-hans` says words, page and messages
in Chinese. `--set NAME=VALUE` changes a parameter; the report names all that are in force.

A file holds one JSON object a line (or one array of them). Every object has `record`, its type; the types and their
fields are below. A field that may be absent may be null, which means the same. A field that is not declared, a text
where a number belongs, an id that nothing has, the same record twice: each is named by line and field, all of a file at
once, and nothing is printed. Each text below is what the program itself declares (`scoring/methods/`); a test keeps
them equal, and `python -m tests.records_page` writes this page. `fixtures/reference/records-METHOD.jsonl` are made-up
examples.

## Every method
"""


def page():
    parts = [HEAD, *type_lines(ABOUT)]
    for method in methods().values():
        parts += [f"## `{method.name}`: {method.title}", ""]
        for one in method.schema.types:
            parts += type_lines(one)
        parts += parameter_lines(method)
    return "\n".join(parts).rstrip() + "\n"


def type_lines(one):
    """A record type as a heading, a sentence and a table of its fields."""
    key = f" Once for each {' + '.join(f'`{name}`' for name in one.key)}." if one.key else ""
    head = [f"### `{one.name}`", "", f"{one.about}{key}", "", "| field | type | values | what |", "|---|---|---|---|"]
    return [*head, *(line for field in one.fields for line in field_lines(field)), ""]


def field_lines(field, before=""):
    name = f"`{before}{field.name}`" + ("" if field.required else " (may be absent)")
    unit = f" ({field.unit})" if field.unit else ""
    refers = f"; `id` of a record of type {field.refers.replace('|', ' or ')}" if field.refers else ""
    yield f"| {name} | {field.kind} | {cell(values(field))} | {cell(field.about + unit + refers)} |"
    for inner in field.inside:
        yield from field_lines(inner, f"{before}{field.name}[].")


def values(field):
    if field.allowed:
        return ", ".join(f"`{one}`" for one in field.allowed)
    low, high = field.least, field.most
    if low is None and high is None:
        return ""
    return f"from {low}" if high is None else f"up to {high}" if low is None else f"{low} to {high}"


def parameter_lines(method):
    yield from ["### Parameters", "", "| name | default | values | what | decision |", "|---|---|---|---|---|"]
    for one in method.all_parameters():
        yield f"| `{one.name}` | `{one.default}` | {cell(values(one))} | {cell(one.about)} | {one.decision} |"
    yield ""


def cell(text):
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
