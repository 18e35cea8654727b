"""Marked passages as W3C Web Annotations (https://www.w3.org/TR/annotation-model/): where a span begins and ends, what
it quotes, and its type. Offsets are code points of the canonical text, as the recommendation counts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONTEXT = "http://www.w3.org/ns/anno.jsonld"


def web_annotation(
    span: Mapping[str, Any], *, item_hash: str, content_hash: str, place: int, annotator: str | None
) -> dict[str, Any]:
    """One span of an annotator, or of the label of the release where there is none. `place` counts the spans of one
    label from 0."""
    whose = f"annotator:{annotator}" if annotator else "label"
    return {
        "@context": CONTEXT,
        "id": f"urn:sightline:release:{content_hash}:{item_hash}:{whose}:{place}",
        "type": "Annotation",
        "motivation": "classifying",
        **({"creator": {"type": "Person", "nickname": annotator}} if annotator else {}),
        "body": {"type": "TextualBody", "purpose": "classifying", "format": "text/plain", "value": span["type"]},
        "target": {
            "source": f"urn:sightline:item:{item_hash}",
            "selector": [
                {"type": "TextPositionSelector", "start": span["start"], "end": span["end"]},
                {"type": "TextQuoteSelector", "exact": span["quote"]},
            ],
        },
    }
