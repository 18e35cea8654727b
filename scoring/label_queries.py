"""The labels that enter human agreement, by column: rows of 100,000 labels would cost more than all their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.models import F, Func, TextField

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import Annotation, Assignment, Item, Membership, Project, Protocol, Round

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Labels:
    """Entry i of each column is one label: number `annotation[i]`, of item `item[i]`, by `raters[rater[i]]`, saying
    `texts[label[i]]`, given under protocol `protocol[i]`; `is_again[i]` in a round that a new protocol opened. They
    come by item, code and round. `texts` are JSON, each once: most labels of a project are alike."""

    item: Numbers
    rater: Numbers
    label: Numbers
    protocol: Numbers
    is_again: Mask
    annotation: Numbers
    raters: Sequence[str]
    texts: Sequence[str]
    clusters: Mapping[int, str]
    """Of every item of the phase."""

    def __len__(self) -> int:
        return len(self.item)

    def where(self, chosen: Mask | Numbers) -> Labels:
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(
            self, **{name: value[chosen] for name, value in columns.items() if isinstance(value, np.ndarray)}
        )

    def last_of_each(self) -> Labels:
        """One label of a rater and item: where a new protocol opened the item again, that of the later round."""
        if not len(self):
            return self
        is_followed = (self.item[1:] == self.item[:-1]) & (self.rater[1:] == self.rater[:-1]) & self.is_again[1:]
        return self.where(np.append(~is_followed, True))


class WithoutFields(Func):
    """A stored JSON object as text, without some of its fields: what nobody reads need not leave the database."""

    output_field = TextField()

    def __init__(self, expression: Any, leave: Sequence[str] = (), **extra: Any) -> None:
        super().__init__(expression, **extra)
        self.leave = tuple(leave)

    def as_sqlite(self, compiler, connection, **extra):
        sql, params = compiler.compile(self.source_expressions[0])
        places = [f'$."{name}"' for name in self.leave]
        return f"json_remove({', '.join([sql, *('%s' for _ in places)])})", (*params, *places)

    def as_postgresql(self, compiler, connection, **extra):
        sql, params = compiler.compile(self.source_expressions[0])
        return f"({sql} - %s::text[])::text", (*params, list(self.leave))


def rated_labels(
    project: Project, *, phase: str, leave: Sequence[str] = (), among: Numbers | None = None
) -> Labels:
    """Labels of a phase that enter human agreement, current and not informed, from first rounds and from those that a
    new protocol opened; five statements. Settled, known and suggested rows live in other tables and cannot join; what
    an annotator said of an item with a known answer is a label like any other. `among` names labels by their ids
    instead: then those that have been corrected or withdrawn since count as they did. `leave` are fields of a label
    that are not wanted.

    The statement of the labels joins no items: the databases would begin with them and take twice as long.
    """
    clusters = dict(Item.objects.filter(project=project, phase=phase).values_list("pk", "cluster"))
    codes = dict(Membership.objects.filter(project=project).order_by("code").values_list("pk", "code"))
    rounds = {pk: rest for pk, *rest in Round.objects.filter(project=project).values_list("pk", "number", "purpose")}
    protocols = dict(Protocol.objects.filter(project=project).values_list("pk", "number"))
    raters = {pk: place for place, pk in enumerate(codes)}
    item, rater, label, protocol, in_round, annotation = columns_of(project, leave, among)
    texts: dict[str, int] = {}
    found = Labels(
        item=numbers(item),
        rater=numbers([raters[one] for one in rater]),
        label=numbers([texts.setdefault(one, len(texts)) for one in label]),
        protocol=numbers([protocols[one] for one in protocol]),
        is_again=np.array([rounds[one][1] == Round.Purpose.PROTOCOL for one in in_round], dtype=bool),
        annotation=numbers(annotation),
        raters=tuple(codes.values()),
        texts=tuple(texts),
        clusters=clusters,
    )
    counts = np.array([rounds[one][1] in RATING_ROUNDS for one in in_round], dtype=bool)
    counts &= np.isin(found.item, list(clusters))
    order = np.lexsort((numbers([rounds[one][0] for one in in_round]), found.rater, found.item))
    chosen = found.where(order[counts[order]])
    return chosen if among is None else chosen.where(np.isin(chosen.annotation, among))


def columns_of(project: Project, leave: Sequence[str], among: Numbers | None) -> Sequence[Sequence[Any]]:
    """Item, member, label, protocol, round and id of what members of a project have said, in any round: one
    statement."""
    then: dict[str, Any] = {"assignment__state": Assignment.State.SUBMITTED, "is_current": True}
    if among is not None:
        then = {"pk__range": (int(among.min(initial=0)), int(among.max(initial=0)))}
    rows = Annotation.objects.filter(**then, informed=False, assignment__annotator__project=project).order_by()
    columns = rows.values_list(
        *("assignment__item_id", "assignment__annotator_id", WithoutFields(F("label"), leave)),
        *("protocol_id", "assignment__round_id", "pk"),
    )
    return list(zip(*columns.iterator(chunk_size=10_000), strict=True)) or [()] * 6


def numbers(values: Sequence[int]) -> Numbers:
    return np.array(values, dtype=np.int64)
