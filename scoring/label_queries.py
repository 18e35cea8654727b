"""The labels that enter human agreement, by column: rows of 100,000 labels would cost more than all their figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
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
    project: Project,
    *,
    phase: str,
    leave: Sequence[str] = (),
    among: Numbers | None = None,
    round: int | None = None,
) -> Labels:
    """Labels of a phase that enter human agreement, current and not informed, from first rounds and from those that a
    new protocol opened; five statements. Settled, known and suggested rows live in other tables and cannot join; what
    an annotator said of an item with a known answer is a label like any other. `among` names labels by their ids
    instead: then those that have been corrected or withdrawn since count as they did. `leave` are fields of a label
    that are not wanted. `round` names one round instead of all blind ones: its labels alone, which are informed where
    the round is.

    The statement of the labels joins no items: the databases would begin with them and take twice as long.
    """
    clusters = dict(Item.objects.filter(project=project, phase=phase).values_list("pk", "cluster"))
    codes = dict(Membership.objects.filter(project=project).order_by("code").values_list("pk", "code"))
    columns_of_round = ("pk", "number", "purpose", "informed")
    rounds = {pk: rest for pk, *rest in Round.objects.filter(project=project).values_list(*columns_of_round)}
    wanted = [
        pk for pk, (number, why, _) in rounds.items() if (why in RATING_ROUNDS if round is None else number == round)
    ]
    is_informed = any(rounds[pk][2] for pk in wanted)
    protocols = dict(Protocol.objects.filter(project=project).values_list("pk", "number"))
    raters = {pk: place for place, pk in enumerate(codes)}
    texts: dict[str, int] = {}
    parts = [numbers_of(rows, texts) for rows in rows_said(project, leave, among, is_informed=is_informed)]
    columns = np.hstack([np.zeros((6, 0), dtype=np.int64), *parts])
    item, member, label, protocol, in_round, annotation = columns
    found = Labels(
        item=item,
        rater=translated(member, raters),
        label=label,
        protocol=translated(protocol, protocols),
        is_again=np.isin(in_round, [pk for pk, (_, why, _) in rounds.items() if why == Round.Purpose.PROTOCOL]),
        annotation=annotation,
        raters=tuple(codes.values()),
        texts=tuple(texts),
        clusters=clusters,
    )
    counts = np.isin(in_round, wanted)
    counts &= np.isin(item, list(clusters))
    order = np.lexsort((translated(in_round, {pk: number for pk, (number, *_) in rounds.items()}), found.rater, item))
    chosen = found.where(order[counts[order]])
    return chosen if among is None else chosen.where(np.isin(chosen.annotation, among))


PART = 10_000
"""Rows that are held at a time: more of them would keep the garbage collector busy."""


def rows_said(
    project: Project, leave: Sequence[str], among: Numbers | None, *, is_informed: bool = False
) -> Iterator[list[tuple[Any, ...]]]:
    """Parts of what members of a project have said, in any round: item, member, label, protocol, round and id; one
    statement."""
    then: dict[str, Any] = {"assignment__state": Assignment.State.SUBMITTED, "is_current": True}
    if among is not None:
        then = {"pk__range": (int(among.min(initial=0)), int(among.max(initial=0)))}
    said = Annotation.objects.filter(**then, informed=is_informed, assignment__annotator__project=project).order_by()
    rows = said.values_list(
        *("assignment__item_id", "assignment__annotator_id", WithoutFields(F("label"), leave)),
        *("protocol_id", "assignment__round_id", "pk"),
    ).iterator(chunk_size=PART)
    while part := list(islice(rows, PART)):
        yield part


def numbers_of(rows: Sequence[tuple[Any, ...]], texts: dict[str, int]) -> Numbers:
    """These rows as columns of numbers; `texts` learns the number of each label that is new."""
    item, member, label, *others = zip(*rows, strict=True)
    return np.array([item, member, [texts.setdefault(one, len(texts)) for one in label], *others], dtype=np.int64)


def translated(numbers: Numbers, to: Mapping[int, int]) -> Numbers:
    """Each number as what it stands for. Few differ."""
    different, which = np.unique(numbers, return_inverse=True)
    return np.array([to[one] for one in different.tolist()], dtype=np.int64)[which]
