"""The form of the files of a release that are read back: `files.json`, `release.json` and the lines of `labels.jsonl`.
What each field means stands in docs/releases.md."""

from __future__ import annotations

from typing import Any

from annotate.rules.release_content import CONTENT
from annotate.rules.shapes import Hash, Later, Maybe

MANIFEST_FORMAT = "sightline-release/1"
LIST_FORMAT = "sightline-release-files/1"
MANIFEST_NAME, LIST_NAME, LABELS_NAME = "release.json", "files.json", "labels.jsonl"
RULES = ("majority", "consensus", "reviewed")
HOWS = ("majority", "consensus", "reviewer", "unresolved")
"""Of what people said."""
JURY = "jury"
"""Rule of a release whose labels are those of a jury of models, and how its labels came about."""
ALL_RULES = (*RULES, JURY)
ALL_HOWS = (*HOWS, JURY)
SETTLED_BY_JURY, LEFT_BY_JURY = ("retained", "empty"), ("no_agreement", "too_few_covered")
JURY_OUTCOMES = (*SETTLED_BY_JURY, *LEFT_BY_JURY)
"""What a jury ends a trajectory with: those that have a label, and those that have none."""
LINE_FILES = (LABELS_NAME, "annotations.jsonl", "annotations.w3c.jsonl")
FILE_NAMES = (
    *(MANIFEST_NAME, *LINE_FILES, "labels.csv", "annotations.csv", "labels.parquet"),
    *("datacard.en.md", "datacard.zh.md"),
)
"""All that a folder may hold beside `files.json`."""

FILE_LIST: dict[str, Any] = {
    "format": (LIST_FORMAT,),
    "content_hash": Hash(),
    "files": [{"name": FILE_NAMES, "sha256": Hash(), "bytes": int, "rows": Maybe(int)}],
}
COUNTS: dict[str, Any] = {**dict.fromkeys(("n_items", "n_labels", *HOWS, "n_ties"), int), JURY: Later(int)}
PROVENANCE: dict[str, Any] = {
    "made_by": (JURY,),
    **{"run": int, "judge": str, "version": str, "settings_hash": Hash(), "protocol": int},
    "jurors": [
        {
            **{"run": int, "judge": str, "version": str, "model": str, "settings_hash": Hash()},
            "prompts": [{"key": str, "language": str, "number": int, "sha256": Hash()}],
        }
    ],
    "outcomes": dict.fromkeys(JURY_OUTCOMES, int),
}
"""Of a release by a jury: which run of which judges said it."""
MANIFEST: dict[str, Any] = {
    "format": (MANIFEST_FORMAT,),
    "content_hash": Hash(),
    "content": {"format": (CONTENT,), "kind": str, "rule": ALL_RULES, "protocol_hash": Hash()},
    "number": int,
    "sealed_at": str,
    "sealed_by": Maybe(str),
    "project": {
        **dict.fromkeys(("slug", "title_en", "title_zh"), str),
        "languages": [str],
        **dict.fromkeys(("is_synthetic", "open_lead"), bool),
    },
    "protocol": {"number": int, "guideline_en": str, "guideline_zh": str, "label_schema": dict},
    "earlier_protocols": Later([int]),
    "phase": ("main",),
    "rounds": [{"number": int, "purpose": ("first", "informed", "sent_back", "protocol"), "n_labels": int}],
    "people": [
        {
            **{"annotator": str, "n_labels": int, "is_partial": bool, "n_submitted": Maybe(int), "n_given": Maybe(int)},
            "saw_settled": Later(bool),
        }
    ],
    "counts": COUNTS,
    "left_out": dict.fromkeys(("no_label", "problem_reported", "other_protocol", "informed", "replaced"), int),
    "import": dict.fromkeys(("records_skipped", "replaced_nul"), int),
    "agreement": dict,
    "provenance": Later(PROVENANCE),
    "data_card": {"en": str, "zh": str},
}
ROW: dict[str, Any] = {
    "item_hash": Hash(),
    "source": {
        **dict.fromkeys(("format", "id", "trace_hash"), str),
        "anchor": Maybe(int),
        "text_hash": Hash(),
        **dict.fromkeys(("cluster", "area", "language"), str),
    },
    "label": Maybe(dict),
    "how": HOWS,
    "is_tie": bool,
    "rests_on": [{"annotator": str, "round": int, "number": int, "protocol": int, "label": dict}],
}
JURY_ROW: dict[str, Any] = {**ROW, "how": (JURY, "unresolved"), "rests_on": [{"run": int}]}
"""An item of a release by a jury: its label rests on the runs of the jurors that agreed, by number."""


def row_shape(rule: str) -> dict[str, Any]:
    """The form of a line of labels.jsonl under a rule."""
    return JURY_ROW if rule == JURY else ROW
