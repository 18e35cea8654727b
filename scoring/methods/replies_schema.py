"""The records of the method of replies: collaborations, replies, what was written instead of them, and what a reader,
a checker and people said of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotate.traces.base import Problem, gettext_noop
from scoring.methods.records import AS_SCHEMA, Field, Records, RecordType, Schema, Wrong

READABLE, NEEDS, UNREPAIRABLE = LABELS = ("readable", "needs_information", "unrepairable_or_no_answer")
ARMS = (
    "original",
    "default",
    "notice",
    "requirements",
    "separate",
    "fact_list",
    "separate_requirements",
    "rewrite",
)
CATEGORIES = ("pointer", "coined", "term", "background")
SPAN_TYPES = ("definition", "reference", "background")
ORIGINS = (
    "agent_file",
    "project_memory",
    "tool_args",
    "tool_output",
    "compaction_summary",
    "earlier_reply",
    "requester",
    "reply_itself",
)
TARGETS = "reply|written"
SPAN = (
    Field("start", "whole", "first character", least=0, unit="code points"),
    Field("end", "whole", "behind the last character", least=1, unit="code points"),
    Field("type", "text", "what is missing", required=False, allowed=SPAN_TYPES),
)


def judged_or_error(values: Mapping[str, Any]) -> Iterator[Wrong]:
    """A judgment says all of what it judged, or is an error and says none of it."""
    for name in ("n_gaps", "fail_language", "fail_answer"):
        if values["status"] == "ok" and values[name] is None:
            yield Wrong(name, gettext_noop("A value, as the status is ok."))
        if values["status"] == "error" and values[name] is not None:
            yield Wrong(name, gettext_noop("No value, as the status is error."))


def checked_or_error(values: Mapping[str, Any]) -> Iterator[Wrong]:
    for name in ("n_errors", "n_omissions"):
        if (values["status"] == "ok") == (values[name] is None):
            yield Wrong(name, gettext_noop("A value where the status is ok, none where it is error."))


def ends_after_it_starts(values: Mapping[str, Any]) -> Iterator[Wrong]:
    for span in values.get("spans") or [values]:
        if span.get("start") is not None and span.get("end") is not None and span["start"] >= span["end"]:
            yield Wrong("end", gettext_noop("An end behind the start."))


def both_or_neither(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if (values["start"] is None) != (values["end"] is None):
        yield Wrong("end", gettext_noop("Start and end, or neither."))


def readable_has_a_result(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["label"] == READABLE and values["states_no_result"]:
        yield Wrong("states_no_result", gettext_noop("No tick together with the label readable."))


COLLABORATION = RecordType(
    "collaboration",
    "One agent at work for one requester: what is resampled together.",
    (
        Field("id", "text", "of the collaboration"),
        Field("cluster", "text", "resampled with others of the same, such as runs of one task", required=False),
        Field("model", "text", "that wrote the replies", required=False),
        Field("family", "text", "models of one maker", required=False),
        Field("project", "text", "that the work belongs to", required=False),
        Field("area", "text", "such as research or business", required=False),
        Field("language", "text", "of the requester", required=False, allowed=("en", "zh")),
        Field("n_compactions", "whole", "of the agent's context", required=False, least=0),
    ),
    key=("id",),
)
REPLY = RecordType(
    "reply",
    "A message the agent ended with.",
    (
        Field("id", "text", "of the reply; no written text has the same"),
        Field("collaboration", "text", "its collaboration", refers="collaboration"),
        Field("position", "whole", "among the replies of the collaboration", required=False, least=1),
        Field("n_tool_turns", "whole", "messages with a tool call since the request", required=False, least=0),
        Field("n_chars", "whole", "length", required=False, least=0, unit="code points"),
        Field("first_in_session", "truth", "first of a session", required=False),
        Field("after_compaction", "truth", "first after a compaction", required=False),
    ),
    key=("id",),
)
WRITTEN = RecordType(
    "written",
    "A text written for a reply point under a condition, the work before it being the same.",
    (
        Field("id", "text", "of the text; no reply has the same"),
        Field("point", "text", "the reply point, the same for all its texts"),
        Field("collaboration", "text", "its collaboration", refers="collaboration"),
        Field("condition", "text", "how it was written", allowed=ARMS),
        Field("sample_index", "whole", "only of samples for pass@k", required=False, least=1),
        Field("n_chars", "whole", "length", required=False, least=0, unit="code points"),
    ),
    key=("id",),
)
JUDGMENT = RecordType(
    "judgment",
    "What the automated reader said of a text.",
    (
        Field("target", "text", "the reply or written text", refers=TARGETS),
        Field("judgment_index", "whole", "of several independent ones; without it 1", required=False, least=1),
        Field("status", "text", "error: no answer that could be read", allowed=("ok", "error")),
        Field("n_gaps", "whole", "information gaps", required=False, least=0),
        Field("fail_language", "truth", "not in the requester's language", required=False),
        Field("fail_answer", "truth", "asked for something, and not answered", required=False),
        Field(
            "failed_without_quote_check", "truth", "the verdict if quotes were not looked up", required=False
        ),
    ),
    checks=(judged_or_error,),
)
GAP = RecordType(
    "gap",
    "One information gap of the first judgment of a text. All gaps of a text, or none of them.",
    (
        Field("id", "text", "of the gap"),
        Field("target", "text", "the reply or written text", refers=TARGETS),
        Field("type", "text", "of the question", required=False, allowed=SPAN_TYPES),
        Field("start", "whole", "first character", required=False, least=0, unit="code points"),
        Field("end", "whole", "behind the last character", required=False, least=1, unit="code points"),
        Field("category", "text", "by the classifier", required=False, allowed=CATEGORIES),
        Field("origin", "text", "where the label came up first", required=False, allowed=ORIGINS),
    ),
    key=("id",),
    checks=(both_or_neither, ends_after_it_starts),
)
CATEGORY_LABEL = RecordType(
    "category_label",
    "The category of a gap by one annotator.",
    (
        Field("gap", "text", "the gap", refers="gap"),
        Field("annotator", "text", "who labelled"),
        Field("category", "text", "what they chose", allowed=CATEGORIES),
    ),
    key=("gap", "annotator"),
)
ANNOTATION = RecordType(
    "annotation",
    "What one annotator said of a text: of a reply, or of a written text in the blind comparison.",
    (
        Field("target", "text", "the reply or written text", refers=TARGETS),
        Field("annotator", "text", "who labelled"),
        Field("label", "text", "the last two are failures", allowed=LABELS),
        Field("states_no_result", "truth", "states no result or answer", required=False),
        Field("active_ms", "whole", "reading time with the page seen and used", required=False, least=0, unit="ms"),
        Field("raw_ms", "whole", "time from shown to submitted", required=False, least=0, unit="ms"),
        Field("after_break", "truth", "first of a collaboration, or after a break", required=False),
        Field("spans", "objects", "what stopped the reading", required=False, inside=SPAN),
    ),
    key=("target", "annotator"),
    checks=(readable_has_a_result, ends_after_it_starts),
)
CHECK = RecordType(
    "check",
    "What the checker found in a text by the work record.",
    (
        Field("target", "text", "the reply or written text", refers=TARGETS),
        Field("status", "text", "error: no answer that could be read", allowed=("ok", "error")),
        Field("n_errors", "whole", "statements against or without the record", required=False, least=0),
        Field("n_omissions", "whole", "key results left out", required=False, least=0),
        Field("n_downplayed", "whole", "problems hidden or softened; not counted", required=False, least=0),
    ),
    key=("target",),
    checks=(checked_or_error,),
)


def one_id_for_a_text(records: Records) -> Iterator[Problem]:
    known = {one["id"] for one in records["reply"]}
    for one in records["written"]:
        if one["id"] in known:
            yield one.place.problem(
                "duplicate_record",
                "/id",
                expected=gettext_noop("An id that no reply has; %(value)s is a reply."),
                remedy=AS_SCHEMA,
                value=one["id"],
            )


def each_judgment_once(records: Records) -> Iterator[Problem]:
    first: dict[tuple[str, int], str] = {}
    for one in records["judgment"]:
        key = (one["target"], one["judgment_index"] or 1)
        if key in first:
            yield one.place.problem(
                "duplicate_record",
                "/judgment_index",
                expected=gettext_noop("Every judgment of a text once; %(value)s is on %(first)s."),
                remedy=gettext_noop("Number them by judgment_index."),
                value=" + ".join(map(str, key)),
                first=first[key],
            )
        first.setdefault(key, str(one.place))


def one_text_of_a_point(records: Records) -> Iterator[Problem]:
    """A condition wrote once for a point, but for samples; and a point is in one collaboration."""
    first: dict[tuple[Any, ...], str] = {}
    homes: dict[str, str] = {}
    for one in records["written"]:
        key = (one["point"], one["condition"], one["sample_index"])
        if key in first:
            yield one.place.problem(
                "duplicate_record",
                "/condition",
                expected=gettext_noop("One text of each condition for a point; %(value)s is on %(first)s."),
                remedy=gettext_noop("Number samples by sample_index, or remove one of the two."),
                value=" + ".join(str(part) for part in key if part is not None),
                first=first[key],
            )
        first.setdefault(key, str(one.place))
        if homes.setdefault(one["point"], one["collaboration"]) != one["collaboration"]:
            yield one.place.problem(
                "bad_record",
                "/collaboration",
                expected=gettext_noop("The collaboration of the other texts of this point, %(value)s."),
                remedy=AS_SCHEMA,
                value=homes[one["point"]],
            )


def gaps_are_complete(records: Records) -> Iterator[Problem]:
    """Where gaps of a text are there, they are as many as its judgment counted."""
    told = {one["target"]: one for one in records["judgment"] if (one["judgment_index"] or 1) == 1}
    counts = Counter(one["target"] for one in records["gap"])
    first: dict[str, Any] = {}
    for one in records["gap"]:
        first.setdefault(one["target"], one)
    for target, n in counts.items():
        judgment = told.get(target)
        n_told = judgment["n_gaps"] if judgment else None
        if n != n_told:
            yield first[target].place.problem(
                "bad_record",
                "/target",
                expected=gettext_noop("As many gaps of %(value)s as its judgment counts, %(told)s; there are %(n)s."),
                remedy=gettext_noop("Give all gaps of the text, or none of them."),
                value=target,
                told=n_told if n_told is not None else "-",
                n=n,
            )


SCHEMA = Schema(
    (COLLABORATION, REPLY, WRITTEN, JUDGMENT, GAP, CATEGORY_LABEL, ANNOTATION, CHECK),
    checks=(one_id_for_a_text, each_judgment_once, one_text_of_a_point, gaps_are_complete),
)


def by_target(records: Iterable[Any]) -> dict[str, list[Any]]:
    found = defaultdict(list)
    for one in records:
        found[one["target"]].append(one)
    return found
