"""`python -m annotate.parquet LABELS_JSONL PARQUET RULE`: the lines of a release as the rows of a Parquet file.

A program of its own, started as a child, so that nobody else has to load what it takes. It needs the extra `parquet`.
"""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

ROWS = 2_000
TEXT, WHOLE = pyarrow.string(), pyarrow.int64()
VOTE = pyarrow.struct([("annotator", TEXT), ("round", WHOLE), ("number", WHOLE), ("protocol", WHOLE), ("label", TEXT)])
RUN = pyarrow.struct([("run", WHOLE)])
SOURCE = ("format", "id", "trace_hash", "anchor", "text_hash", "cluster", "area", "language")


def schema_of(rule: str) -> pyarrow.Schema:
    """The columns; a jury's labels rest on runs in place of votes."""
    return pyarrow.schema(
        [
            ("item_hash", TEXT),
            *((f"source_{name}", WHOLE if name == "anchor" else TEXT) for name in SOURCE),
            ("label", TEXT),
            ("how", TEXT),
            ("is_tie", pyarrow.bool_()),
            ("rests_on", pyarrow.list_(RUN if rule == "jury" else VOTE)),
        ]
    )


def main(words: list[str]) -> None:
    source, target, rule = Path(words[0]), Path(words[1]), words[2]
    schema = schema_of(rule)
    with source.open("rb") as lines, pyarrow.parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        while rows := list(islice(rows_of(lines), ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


def rows_of(lines: Any) -> Iterator[dict[str, Any]]:
    """Labels, whose form is their kind's, are JSON in one spelling; everything else has a column."""
    for line in lines:
        row = json.loads(line)
        source = row.pop("source")
        yield {
            **row,
            **{f"source_{name}": source[name] for name in SOURCE},
            "label": None if row["label"] is None else spelled(row["label"]),
            "rests_on": [
                {**vote, "label": spelled(vote["label"])} if "label" in vote else vote for vote in row["rests_on"]
            ],
        }


def spelled(label: dict[str, Any]) -> str:
    return json.dumps(label, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main(sys.argv[1:])
