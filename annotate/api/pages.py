"""Long lists by pages. A page begins behind the last row of the one before, so that rows that come or go meanwhile move
nothing, and costs the same wherever it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.signing import BadSignature, Signer
from rest_framework import serializers

from annotate.api.errors import BadRequest
from annotate.api.fields import Digits, Text
from annotate.api.reading import Query
from annotate.traces.base import Problem, gettext_noop

USUAL, MOST = 100, 500


class PageQuery(Query):
    limit = Digits(min_value=1, max_value=MOST, default=USUAL, help_text="Rows of the page.")
    cursor = Text(default="", allow_blank=True, help_text="The `next` of the page before.")


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and where the next page begins; None after the last one."""

    rows: list[Any]
    next: str | None


def page_of(fetch: Callable[[int | None, int], Any], query, *, name: str) -> Page:
    """One page of a list. `fetch` gives rows behind the one with an id, or the first ones, and at most so many; `name`
    says which list of which project it is, so that the cursor of another one is refused."""
    signer = Signer(salt=f"annotate.api.pages:{name}")
    behind = place_of(signer, query["cursor"]) if query["cursor"] else None
    rows = list(fetch(behind, query["limit"] + 1))
    is_last = len(rows) <= query["limit"]
    rows = rows[: query["limit"]]
    return Page(rows, None if is_last else signer.sign(str(rows[-1].id)))


def place_of(signer: Signer, cursor: str) -> int:
    try:
        return int(signer.unsign(cursor))
    except BadSignature:
        raise BadRequest(WRONG_CURSOR) from None


WRONG_CURSOR = Problem(
    code="wrong_cursor",
    field="cursor",
    expected=gettext_noop("The “next” of an earlier page of this list, as it was sent."),
    remedy=gettext_noop("Begin again without a cursor."),
)


def page_serializer(row: type[serializers.Serializer]) -> type[serializers.Serializer]:
    """A page of such rows."""
    name = row.__name__.removesuffix("Serializer")
    fields = {"rows": row(many=True), "next": serializers.CharField(allow_null=True)}
    return type(f"{name}PageSerializer", (serializers.Serializer,), {"__doc__": f"A page of {name} rows.", **fields})
