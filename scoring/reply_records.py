"""Rows of a project as the records of the method of replies: what its figures are made of, whoever made the records.

Pure joins: the rows come from `reply_queries.py`, and `records` gives one JSON object a record, as `docs/records.md`
has them. A trace is a collaboration, its cluster what is resampled together; raters are their public codes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from scoring.methods.replies_schema import ARMS

BREAK = timedelta(minutes=30)
"""Who was shown a text so long after their last answer comes back to the work, and has to read themselves in again."""

Json = dict[str, Any]
OF_SAMPLES = "#"


def arm_of(condition: str, sample: int | None = None) -> str:
    """The arm of a text of a condition; of one of several samples, which count from 0, with its number from 1."""
    return condition if sample is None else f"{condition}{OF_SAMPLES}{sample + 1}"


def read_arm(arm: str) -> tuple[str, int | None]:
    """The condition of an arm, and which of its samples it is; no condition where it is none that the method knows."""
    condition, mark, number = arm.partition(OF_SAMPLES)
    is_number = number.isascii() and number.isdecimal() and int(number) > 0
    if condition not in ARMS or (mark and not is_number):
        return "", None
    return condition, int(number) if mark else None


@dataclass(frozen=True, slots=True)
class TraceRow:
    id: int
    source: str
    language: str
    area: str
    model: str
    family: str


@dataclass(frozen=True, slots=True)
class TextRow:
    """An item: a recorded reply, or a text that stands in its place. `n_chars` counts code points of canonical text."""

    item: int
    trace: int
    cluster: str
    anchor: int
    n_chars: int | None
    point: str = ""
    arm: str = ""

    @property
    def is_written(self) -> bool:
        """Whether it is one of several texts for a point, under a condition that the method knows."""
        return bool(self.point) and bool(read_arm(self.arm)[0])


@dataclass(frozen=True, slots=True)
class StepRow:
    """A message as the work before a reply is counted by it."""

    trace: int
    index: int
    session: int
    is_request: bool
    is_call: bool
    is_summary: bool


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What somebody said of an item, with the times of their first answer: a correction is not read anew."""

    item: int
    rater: str
    label: Mapping[str, Any]
    active_ms: int | None = None
    raw_ms: int | None = None
    shown_at: datetime | None = None
    answered_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SaidRow:
    """What a run said of an item. `values` are those of the Finding, None for an answer that nobody could read and for
    a job that was given up."""

    item: int
    sample: int
    values: Mapping[str, Any] | None
    verdict: int | None = None


@dataclass(frozen=True, slots=True)
class VoteRow:
    """The category that an annotator gave question `number` about an item, in a project of gaps."""

    item: int
    number: int
    annotator: str
    category: str


@dataclass(frozen=True, slots=True)
class Rows:
    """Everything of a project that its report rests on."""

    traces: Sequence[TraceRow]
    texts: Sequence[TextRow]
    steps: Sequence[StepRow]
    labels: Sequence[LabelRow]
    judgments: Sequence[SaidRow] = ()
    checks: Sequence[SaidRow] = ()
    categories: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """By the classifier: the category of question `number` about an item."""
    origins: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Where the coined labels among them came up first."""
    votes: Sequence[VoteRow] = ()
    about: Sequence[Json] = field(default=())


def records(rows: Rows) -> Iterator[Json]:
    """Every record, in an order of its own: that of items and raters, whatever the database gave first."""
    yield from ({"record": "about", **one} for one in rows.about)
    texts = sorted(rows.texts, key=lambda one: (one.trace, one.anchor, one.item))
    yield from collaborations(rows, texts)
    yield from replies(texts, rows.steps)
    yield from (written(one) for one in texts if one.is_written)
    known = {one.item for one in texts}
    for said in sorted(rows.judgments, key=lambda one: (one.item, one.sample)):
        if said.item in known:
            yield judgment(said)
            yield from gaps(said, rows.categories, rows.origins)
    yield from category_labels(rows)
    firsts = first_of_traces(texts, rows.labels)
    yield from (annotation(one, comes_back=comes_back) for one, comes_back in firsts if one.item in known)
    yield from (check(one) for one in sorted(rows.checks, key=lambda one: one.item) if one.item in known)


def home_of(text: TextRow) -> str:
    """The collaboration of a text: its trace, in a cluster."""
    return f"{text.trace} {text.cluster}"


def collaborations(rows: Rows, texts: Sequence[TextRow]) -> Iterator[Json]:
    traces = {one.id: one for one in rows.traces}
    n_compactions = Counter(step.trace for step in rows.steps if step.is_summary)
    for home, text in {home_of(one): one for one in texts}.items():
        trace = traces[text.trace]
        told = {name: getattr(trace, name) for name in ("model", "family", "area", "language")}
        if told["language"] not in ("en", "zh"):
            told["language"] = ""
        yield {
            "record": "collaboration",
            "id": home,
            "cluster": text.cluster,
            "n_compactions": n_compactions[text.trace],
            **{name: value for name, value in told.items() if value},
        }


def replies(texts: Sequence[TextRow], steps: Sequence[StepRow]) -> Iterator[Json]:
    of_trace: dict[int, list[StepRow]] = defaultdict(list)
    for step in steps:
        of_trace[step.trace].append(step)
    before: dict[int, list[int]] = defaultdict(list)
    for text in (one for one in texts if not one.is_written):
        anchors = before[text.trace]
        work = work_before(of_trace[text.trace], text.anchor, anchors)
        anchors.append(text.anchor)
        place = {"id": str(text.item), "collaboration": home_of(text), "position": len(anchors)}
        yield {"record": "reply", **place, "n_chars": text.n_chars, **work}


def work_before(steps: Sequence[StepRow], anchor: int, replies_before: Sequence[int]) -> Json:
    """What the agent did since the message that it answers, and whether it wrote for the first time in its session or
    after a compaction."""
    sessions = {step.index: step.session for step in steps}
    asked = max((step.index for step in steps if step.is_request and step.index < anchor), default=-1)
    session = sessions.get(anchor)
    last = max((one for one in replies_before if sessions.get(one) == session), default=None)
    since = [step for step in steps if (-1 if last is None else last) < step.index < anchor and step.session == session]
    return {
        "n_tool_turns": sum(step.is_call for step in steps if asked < step.index < anchor),
        "first_in_session": last is None,
        "after_compaction": any(step.is_summary for step in since),
    }


def written(text: TextRow) -> Json:
    condition, sample = read_arm(text.arm)
    place = {"id": str(text.item), "point": text.point, "condition": condition, "collaboration": home_of(text)}
    samples = {} if sample is None else {"sample_index": sample}
    return {"record": "written", **place, **samples, "n_chars": text.n_chars}


def judgment(said: SaidRow) -> Json:
    head = {"record": "judgment", "target": str(said.item), "judgment_index": said.sample + 1}
    if said.values is None:
        return {**head, "status": "error"}
    verdict = said.values["verdict"]
    return {
        **head,
        "status": "ok",
        "n_gaps": said.values["n_gaps"],
        "fail_language": verdict["fail_language"],
        "fail_answer": verdict["fail_answer"],
        "failed_without_quote_check": verdict["failed_without_quote_check"],
    }


def gaps(
    said: SaidRow, categories: Mapping[tuple[int, int], str], origins: Mapping[tuple[int, int], str]
) -> Iterator[Json]:
    """Those of the first judgment, with what is known of each."""
    if said.values is None or said.sample:
        return
    for number, question in enumerate(said.values["questions"]):
        if question["is_gap"]:
            place = {name: question.get(name) for name in ("type", "start", "end")}
            told = {"category": categories.get((said.item, number)), "origin": origins.get((said.item, number))}
            known = {name: value for name, value in told.items() if value is not None}
            yield {"record": "gap", "id": gap_id(said.item, number), "target": str(said.item), **place, **known}


def gap_id(item: int, number: int) -> str:
    return f"{item}/{number}"


def category_labels(rows: Rows) -> Iterator[Json]:
    """What people said of gaps that are there."""
    there = {
        gap_id(said.item, number)
        for said in rows.judgments
        if said.values is not None and not said.sample
        for number, question in enumerate(said.values["questions"])
        if question["is_gap"]
    }
    for vote in sorted(rows.votes, key=lambda one: (one.item, one.number, one.annotator)):
        if (gap := gap_id(vote.item, vote.number)) in there:
            yield {"record": "category_label", "gap": gap, "annotator": vote.annotator, "category": vote.category}


def first_of_traces(texts: Sequence[TextRow], labels: Sequence[LabelRow]) -> Iterator[tuple[LabelRow, bool]]:
    """Every label, and whether its text was the first of its trace that the rater read, or the first after a break."""
    home = {one.item: one.trace for one in texts}
    seen: set[tuple[str, int]] = set()
    last: dict[str, datetime] = {}
    for one in sorted(labels, key=lambda one: (one.rater, one.shown_at is None, one.shown_at or 0, one.item)):
        key = (one.rater, home.get(one.item, 0))
        before = last.get(one.rater)
        paused = before is not None and one.shown_at is not None and one.shown_at - before > BREAK
        yield one, key not in seen or paused
        seen.add(key)
        if one.answered_at is not None:
            last[one.rater] = max(one.answered_at, before) if before else one.answered_at


def annotation(row: LabelRow, *, comes_back: bool) -> Json:
    spans = [{name: span[name] for name in ("start", "end", "type")} for span in row.label.get("spans") or ()]
    return {
        "record": "annotation",
        "target": str(row.item),
        "annotator": row.rater,
        "label": row.label["label"],
        "states_no_result": row.label.get("states_no_result", False),
        "active_ms": row.active_ms,
        "raw_ms": row.raw_ms,
        "after_break": comes_back,
        "spans": spans,
    }


def check(said: SaidRow) -> Json:
    head = {"record": "check", "target": str(said.item)}
    if said.values is None:
        return {**head, "status": "error"}
    lists = ("errors", "omissions", "downplayed")
    return {**head, "status": "ok", **{f"n_{name}": len(said.values[name]) for name in lists}}
