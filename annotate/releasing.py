"""Releases: what items ended with, sealed for good under a number; and releases that were sealed elsewhere, brought in.

Labels are settled by the kind, from votes that come out of the database in one statement and so are of one moment. The
lines are written aside first; what is written in the database then is one short transaction.
"""

import heapq
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import translation
from django.utils.translation import gettext

from annotate import lead_queries, people, release_queries
from annotate.errors import NotYours, Refused
from annotate.kinds.base import Schema, TaskKind
from annotate.kinds.registry import kind_of
from annotate.models import Event, Membership, Person, Phase, Project, Protocol, Release, ReleaseItem, Settlement
from annotate.release_queries import CastVote
from annotate.release_reading import ReadRelease, read_release
from annotate.rules.data_card import data_card
from annotate.rules.release_content import (
    ContentHash,
    Outcome,
    Vote,
    canonical_line,
    header,
    protocol_hash,
    row_of,
    without_judges,
)
from annotate.rules.release_shape import HOWS, JURY, MANIFEST_FORMAT, RULES
from annotate.rules.votes import last_of_each
from annotate.spool import Spool
from annotate.traces.base import Problem, gettext_noop

BATCH = 500
LANGUAGES = {"en": "en", "zh": "zh-hans"}
"""Of data cards, each with the name that the interface has for it."""
Settled = tuple[dict[str, Any] | None, str]


@dataclass(slots=True)
class Counts:
    """What was counted on the way."""

    n_items: int = 0
    hows: Counter[str] = field(default_factory=Counter)
    n_ties: int = 0
    people: Counter[str] = field(default_factory=Counter)
    rounds: Counter[int] = field(default_factory=Counter)
    n_replaced: int = 0

    def add(self, outcome: Outcome) -> None:
        self.n_items += 1
        self.hows[outcome.how] += 1
        self.n_ties += outcome.is_tie
        for vote in outcome.rests_on:
            if "annotator" in vote:
                self.people[vote["annotator"]] += 1
                self.rounds[vote["round"]] += 1

    def as_dict(self) -> dict[str, int]:
        """What a jury labelled is counted where there is some; labels are those of annotators alone."""
        hows = {how: self.hows[how] for how in (*HOWS, *([JURY] if self.hows[JURY] else []))}
        return {"n_items": self.n_items, "n_labels": self.people.total(), **hows, "n_ties": self.n_ties}


@dataclass(frozen=True, slots=True)
class Preview:
    """What a release would hold if it were sealed now."""

    rule: str
    protocol: int
    counts: dict[str, int]
    left_out: dict[str, int]

    @property
    def n_settled(self) -> int:
        return self.counts["n_items"] - self.counts["unresolved"]


def preview_release(
    *, project: Project, rule: str, protocol: int | None = None, earlier: bool = False
) -> Preview:
    """The counts of a release that is not sealed; Refused as sealing would be."""
    chosen, counts = protocol_to_seal(project, rule, protocol), Counts()
    numbers = counting_protocols(chosen, earlier)
    for _, outcome in outcomes(project, chosen, rule, counts, numbers):
        counts.add(outcome)
    if not counts.n_items:
        raise Refused(NOTHING_TO_SEAL)
    return Preview(rule, chosen.number, counts.as_dict(), left_out(project, numbers, counts))


def seal_release(
    *,
    person: Person | None,
    project: Project,
    rule: str,
    protocol: int | None = None,
    earlier: bool = False,
    agreement: Mapping[str, Any],
    now: datetime,
) -> Release:
    """Seal what the labels of the main phase under one protocol make by a rule; the newest protocol that has labels
    where none is named. With `earlier` a label that was given under an earlier one counts too where its annotator gave
    none since, if both have the same label schema: a new guideline may open only some items again. Changes no
    settlement. NotYours for who does not lead the project, Refused where there is
    nothing to seal. `agreement` are the figures to go with it, as JSON has them. Nobody in particular (None) is the
    command line."""
    refuse_stranger(project, person)
    chosen, counts = protocol_to_seal(project, rule, protocol), Counts()
    numbers = counting_protocols(chosen, earlier)
    return seal(
        person=person,
        project=project,
        rule=rule,
        protocol=chosen,
        outcomes=outcomes(project, chosen, rule, counts, numbers),
        counts=counts,
        said=lambda project: {
            **said_of(project, chosen, counts, numbers),
            "agreement": without_judges(agreement),
        },
        now=now,
    )


def seal_given(
    *,
    person: Person | None,
    project: Project,
    rule: str,
    protocol: Protocol,
    outcomes: Iterable[tuple[int, Outcome]],
    provenance: Mapping[str, Any],
    agreement: Mapping[str, Any],
    now: datetime,
) -> Release:
    """Seal outcomes that no votes of this project made, of items of its main phase in the order of their ids.
    `provenance` says whose they are, and stands in release.json. Otherwise as `seal_release`."""
    refuse_stranger(project, person)
    counts = Counts()
    return seal(
        person=person,
        project=project,
        rule=rule,
        protocol=protocol,
        outcomes=outcomes,
        counts=counts,
        said=lambda project: {
            **given_said(project, protocol, counts),
            "agreement": dict(agreement),
            "provenance": dict(provenance),
        },
        now=now,
    )


def seal(
    *,
    person: Person | None,
    project: Project,
    rule: str,
    protocol: Protocol,
    outcomes: Iterable[tuple[int, Outcome]],
    counts: Counts,
    said: Callable[[Project], Mapping[str, Any]],
    now: datetime,
) -> Release:
    """The release of these outcomes. What it says beside them is asked for behind the lock, when all are counted."""
    with Spool() as spool:
        draft(spool, project, outcomes, counts)
        content = header(kind=project.kind, rule=rule, protocol_hash=hash_of(protocol))
        content_hash = hash_of_lines(spool, content)
        with transaction.atomic():
            project = locked(project, person)
            number = next_number(project)
            manifest = {
                "format": MANIFEST_FORMAT,
                "content_hash": content_hash,
                "content": content,
                "number": number,
                "sealed_at": now.astimezone(UTC).isoformat(timespec="seconds"),
                "sealed_by": code_of(project, person),
                **said(project),
            }
            manifest["data_card"] = data_cards(manifest, project)
            release = Release.objects.create(
                project=project,
                number=number,
                rule=rule,
                protocol=protocol,
                content_hash=content_hash,
                manifest=manifest_text(manifest),
                n_items=len(spool),
                person=person,
                sealed_at=now,
            )
            add_items(release, spool)
            note(release, "release_sealed", person)
    return release


def refuse_stranger(project: Project, person: Person | None) -> None:
    """Looked at before the work, and again behind the lock."""
    if person is not None and not lead_queries.led_projects(person).filter(pk=project.pk).exists():
        raise NotYours


def locked(project: Project, person: Person | None) -> Project:
    """Numbers are given one after the other."""
    return people.lock_people(project) if person is None else people.lock_led(project, person)


def next_number(project: Project) -> int:
    return (Release.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0) + 1


def code_of(project: Project, person: Person | None) -> str | None:
    return Membership.objects.filter(project=project, person=person).values_list("code", flat=True).first()


def note(release: Release, action: str, person: Person | None, **more: Any) -> None:
    detail = {"number": release.number, "rule": release.rule, "content_hash": release.content_hash, **more}
    Event.objects.create(project=release.project, person=person, action=action, detail=detail)


def protocol_to_seal(project: Project, rule: str, number: int | None) -> Protocol:
    if rule not in RULES:
        raise Refused(unknown_rule())
    under = [one.protocol for one in release_queries.labels_by_protocol(project)]
    if number is None and not under:
        raise Refused(NOTHING_TO_SEAL)
    chosen = release_queries.protocol_numbered(project, under[0] if number is None else number)
    if chosen is None:
        raise Refused(unknown_protocol(under))
    return chosen


def counting_protocols(chosen: Protocol, earlier: bool) -> list[int]:
    """The numbers of the protocols whose labels count."""
    if not earlier:
        return [chosen.number]
    before = Protocol.objects.filter(project=chosen.project_id, number__lte=chosen.number).order_by("number")
    return [one.number for one in before.select_related("project") if schema_of(one) == schema_of(chosen)]


def hash_of(protocol: Protocol) -> str:
    return protocol_hash(protocol.guideline_en, protocol.guideline_zh, schema_of(protocol))


def schema_of(protocol: Protocol) -> Schema:
    return protocol.label_schema or kind_of(protocol.project.kind).schema


def draft(spool: Spool, project: Project, outcomes: Iterable[tuple[int, Outcome]], counts: Counts) -> None:
    """The lines of every item that has something to seal. Both streams come in the order of the items' ids."""
    with closing(release_queries.sources(project)) as sources:
        for item, outcome in outcomes:
            source = next((source for pk, source in sources if pk == item), None)
            if source is None:  # it came in after the items were looked at
                continue
            counts.add(outcome)
            item_hash = source.item_hash()
            spool.add(item_hash, item, canonical_line(row_of(source, item_hash, outcome)).encode() + b"\n")
    if not len(spool):
        raise Refused(NOTHING_TO_SEAL)
    spool.sort()
    if spool.twice():
        raise Refused(ITEMS_NOT_TOLD_APART)


def outcomes(
    project: Project, protocol: Protocol, rule: str, counts: Counts, numbers: Sequence[int]
) -> Iterator[tuple[int, Outcome]]:
    """What each item ends with, in the order of their ids. A stream that is broken off is closed at once: left to the
    garbage collector it may wait for a connection that is busy at that very moment."""
    kind, schema = kind_of(project.kind), schema_of(protocol)
    votes, reviewed = release_queries.votes(project, *numbers), reviewed_by(rule, project, numbers)
    with closing(votes) as cast, closing(reviewed) as made:
        voted = ((item, 0, tuple(of_it)) for item, of_it in groupby(cast, key=lambda vote: vote.item))
        given = ((item, 1, (label, how)) for item, label, how in made)
        both = heapq.merge(voted, given, key=itemgetter(0, 1))
        for item, found in groupby(both, key=itemgetter(0)):
            parts = {which: part for _, which, part in found}
            counted = counting(parts.get(0, ()), counts)
            yield item, outcome_of(counted, kind, schema, rule, parts.get(1))


def reviewed_by(
    rule: str, project: Project, numbers: Sequence[int]
) -> Generator[tuple[int, dict[str, Any] | None, str], None, None]:
    """What reviewers settled, where the rule asks for it."""
    if rule == "reviewed":
        yield from release_queries.settled(project, *numbers)


def counting(votes: Sequence[CastVote], counts: Counts) -> list[CastVote]:
    """One vote of each, in the order of their codes; Refused where nobody can say which one of two counts."""
    found = last_of_each(votes)
    counts.n_replaced += len(votes) - len(found)
    if len({vote.rater for vote in found}) < len(found):
        raise Refused(two_first_labels(found))
    return sorted(found, key=lambda vote: vote.rater)


def outcome_of(
    votes: Sequence[CastVote], kind: TaskKind, schema: Schema, rule: str, settled: Settled | None
) -> Outcome:
    """By the rule, from votes and what a reviewer settled. `is_tie` says that the votes tie, whatever came of it."""
    rests_on = [Vote(one.rater, one.round, one.number, one.protocol, one.label).as_dict() for one in votes]
    made = kind.settle([kind.parse(one.label, schema, None) for one in votes], schema)
    if settled is not None:
        label, how = settled
        return Outcome(label, how, made.is_tie, rests_on)
    if made.label is None or (rule == "consensus" and made.how != "consensus"):
        return Outcome(None, "unresolved", made.is_tie, rests_on)
    return Outcome(kind.dump(made.label), made.how, made.is_tie, rests_on)


def hash_of_lines(spool: Spool, content: Mapping[str, str]) -> str:
    total = ContentHash(content)
    for _, line in spool.lines():
        total.add(line)
    return total.hexdigest()


def add_items(release: Release, spool: Spool) -> None:
    rows: list[ReleaseItem] = []
    for position, (item, line) in enumerate(spool.lines()):
        row = json.loads(line)
        kept = {name: row[name] for name in ("item_hash", "label", "how", "is_tie", "rests_on")}
        rows.append(ReleaseItem(release=release, item_id=item, position=position, **kept))
        if len(rows) == BATCH:
            ReleaseItem.objects.bulk_create(rows)
            rows = []
    ReleaseItem.objects.bulk_create(rows)


def data_cards(manifest: Mapping[str, Any], project: Project) -> dict[str, str]:
    """In both languages, whoever seals: sealed with the rest, so that they say the same as long as it is there."""
    kind, schema = kind_of(project.kind), manifest["protocol"]["label_schema"]
    titles = {one.name: one.title for one in (*kind.measures(schema), *kind.sets(schema))}
    cards = {}
    for language, interface in LANGUAGES.items():
        with translation.override(interface):
            cards[language] = data_card(manifest, gettext, language=language, measure_titles=titles)
    return cards


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """`release.json`: for people to read too; every installation keeps it letter for letter."""
    return json.dumps(manifest, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def asked_in(project: Project, protocol: Protocol) -> dict[str, Any]:
    """The project and what it asks."""
    return {
        "project": {
            **{name: getattr(project, name) for name in ("slug", "title_en", "title_zh", "languages")},
            **{name: getattr(project, name) for name in ("is_synthetic", "open_lead")},
        },
        "protocol": {
            **{name: getattr(protocol, name) for name in ("number", "guideline_en", "guideline_zh")},
            "label_schema": dict(schema_of(protocol)),
        },
    }


def given_said(project: Project, protocol: Protocol, counts: Counts) -> dict[str, Any]:
    """What a release of given outcomes says beside them: it rests on nobody's labels and on no round."""
    no_label = max(0, release_queries.n_items_there(project) - counts.n_items)
    return {
        **asked_in(project, protocol),
        "phase": Phase.MAIN.value,
        "rounds": [],
        "people": [],
        "counts": counts.as_dict(),
        "left_out": {
            "no_label": no_label,
            **dict.fromkeys(("problem_reported", "other_protocol", "informed", "replaced"), 0),
        },
        "import": release_queries.import_losses(project),
    }


def said_of(project: Project, protocol: Protocol, counts: Counts, numbers: Sequence[int]) -> dict[str, Any]:
    """What a release says beside its labels, by public codes."""
    purposes = release_queries.rounds_of(project)
    return {
        **asked_in(project, protocol),
        **({"earlier_protocols": earlier} if (earlier := sorted(set(numbers) - {protocol.number})) else {}),
        "phase": Phase.MAIN.value,
        "rounds": [
            {"number": number, "purpose": purposes[number], "n_labels": n}
            for number, n in sorted(counts.rounds.items())
        ],
        "people": people_of(project, counts),
        "counts": counts.as_dict(),
        "left_out": left_out(project, numbers, counts),
        "import": release_queries.import_losses(project),
    }


def people_of(project: Project, counts: Counts) -> list[dict[str, Any]]:
    """By code, with how many labels each gave to it; who left before all was labelled is partial, and it is said who
    has seen what was settled."""
    saw = release_queries.saw_settled(project)
    partial = {one.code: one for one in lead_queries.partial_raters(project, phase=Phase.MAIN)}
    return [
        {
            "annotator": code,
            "n_labels": n,
            "is_partial": code in partial,
            "n_submitted": partial[code].n_submitted if code in partial else None,
            "n_given": partial[code].n_given if code in partial else None,
            "saw_settled": code in saw,
        }
        for code, n in sorted(counts.people.items())
    ]


def left_out(project: Project, numbers: Sequence[int], counts: Counts) -> dict[str, int]:
    found = release_queries.left_out(project, *numbers)
    no_label = max(0, found.pop("n_items_there") - counts.n_items)
    return {"no_label": no_label, **found, "replaced": counts.n_replaced}


# Brought in from elsewhere


@dataclass(frozen=True, slots=True)
class Imported:
    """A release that was brought in. `is_new` is False where it was there already."""

    release: Release
    is_new: bool
    n_known: int
    n_had_known: int


def import_release(*, person: Person | None, project: Project, folder: Path, as_known: bool = False) -> Imported:
    """A folder that was exported becomes a release of this project, marked as imported, with the very same content;
    twice brought in it is there once. FolderRefused names all that is wrong with the folder or missing from the
    project. With `as_known` labels of practice items that have no known answer become one; Refused where they are a
    jury's, as known answers teach people."""
    refuse_stranger(project, person)
    with Spool() as spool:
        read = read_release(project, folder, spool)
        if as_known and read.rule == JURY:
            raise Refused(NOT_PEOPLES_ANSWERS)
        with transaction.atomic():
            project = locked(project, person)
            release = same_release(project, read)
            is_new = release is None
            if release is None:
                release = store_read(project, read, spool, person)
            n_known, n_had = add_known(release, read.practice, person) if as_known else (0, 0)
            if is_new or n_known:
                note(release, "release_imported", person, n_known=n_known)
    return Imported(release, is_new, n_known, n_had)


def same_release(project: Project, read: ReadRelease) -> Release | None:
    same = Release.objects.filter(project=project, is_imported=True, content_hash=read.content_hash)
    return next((one for one in same if one.manifest == read.text), None)


def store_read(project: Project, read: ReadRelease, spool: Spool, person: Person | None) -> Release:
    release = Release.objects.create(
        project=project,
        number=next_number(project),
        rule=read.rule,
        protocol_id=read.protocol,
        content_hash=read.content_hash,
        manifest=read.text,
        n_items=len(spool),
        is_imported=True,
        person=person,
        sealed_at=read.sealed_at,
    )
    add_items(release, spool)
    return release


def add_known(release: Release, practice: Sequence[int], person: Person | None) -> tuple[int, int]:
    """Labels of these practice items as known answers: how many, and how many have an answer of a lead's already, which
    stays."""
    have = release_queries.with_known(practice)
    manifest = json.loads(release.manifest)
    place = {"number": manifest["number"], "project": manifest["project"]["slug"]}
    rows = ReleaseItem.objects.filter(release=release, item__in=set(practice) - have, label__isnull=False)
    new = [
        Settlement(
            item_id=row.item_id,
            label=row.label,
            how=Settlement.How.KNOWN,
            person=person,
            reason_en=KNOWN_EN % place,
            reason_zh=KNOWN_ZH % place,
            rests_on=row.rests_on,
        )
        for row in rows.order_by("position")
    ]
    Settlement.objects.bulk_create(new, batch_size=BATCH)
    return len(new), len(have)


KNOWN_EN = "The label of this item in gold release %(number)s of the project %(project)s."
KNOWN_ZH = "这是项目 %(project)s 的金标准发布版 %(number)s 中该条目的标签。"
"""Kept with the answer in both languages, whoever reads it."""


# What is refused

NOTHING_TO_SEAL = Problem(
    code="nothing_to_seal",
    field="project",
    expected=gettext_noop("Labels of the main phase under this protocol; there are none."),
    remedy=gettext_noop("Seal when annotators have submitted some, or choose another protocol."),
)
NOT_PEOPLES_ANSWERS = Problem(
    code="labels_of_models",
    field="as_known",
    expected=gettext_noop("A release of what people said; the labels of this one are those of a jury of models."),
    remedy=gettext_noop("Bring it in without making known answers of it."),
)
ITEMS_NOT_TOLD_APART = Problem(
    code="duplicate_item",
    field="project",
    expected=gettext_noop(
        "Items that differ in what was judged; two have the same text at the same place of the same run."
    ),
    remedy=gettext_noop("Take one of them out of the main phase."),
)


def unknown_rule() -> Problem:
    return Problem(
        code="unknown_rule",
        field="rule",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(RULES)},
    )


def unknown_protocol(numbers: Sequence[int]) -> Problem:
    return Problem(
        code="unknown_protocol",
        field="protocol",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(map(str, sorted(numbers))) or "–"},
    )


def two_first_labels(votes: Sequence[CastVote]) -> Problem:
    counts = Counter(vote.rater for vote in votes)
    return Problem(
        code="duplicate_rating",
        field="project",
        expected=gettext_noop("%(rater)s has a current label of item %(item)s in each of two first rounds."),
        remedy=gettext_noop("One label can be compared; the assignment of the other round has to be withdrawn."),
        params={"rater": counts.most_common(1)[0][0], "item": votes[0].item},
    )


