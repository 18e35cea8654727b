"""What the reader and the checker say of texts: how many fail and why, gaps and where they are, the work before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.replies_read import Mask, Text, Texts
from scoring.methods.replies_schema import CATEGORIES, ORIGINS
from scoring.methods.tables import Asked, By, Plan, Row, Words, count_row, counted, median_row, without
from scoring.stats.sums import mean, share

JUDGED, FAILED = gettext_noop("judged texts"), gettext_noop("failed texts")
CATEGORY_WORDS = {
    "pointer": gettext_noop("pointer to what was not seen"),
    "coined": gettext_noop("coined label"),
    "term": gettext_noop("term of the field"),
    "background": gettext_noop("missing background"),
}
ORIGIN_WORDS = {
    "agent_file": gettext_noop("file of the agent"),
    "project_memory": gettext_noop("project memory"),
    "tool_args": gettext_noop("tool arguments"),
    "tool_output": gettext_noop("tool output"),
    "compaction_summary": gettext_noop("compaction summary"),
    "earlier_reply": gettext_noop("earlier reply"),
    "requester": gettext_noop("the requester"),
    "reply_itself": gettext_noop("the reply itself"),
}
PRIVATE = ("agent_file", "project_memory", "tool_args")
EARLY_PART = 3
"""A gap is early where it starts in the first third of the text."""

BREAK_DOWNS: dict[str, tuple[Words, Callable[[Text], Any]]] = {
    gettext_noop("model"): (gettext_noop("Reader, by model"), lambda one: one.collaboration["model"]),
    gettext_noop("family"): (gettext_noop("Reader, by family of models"), lambda one: one.collaboration["family"]),
    gettext_noop("project"): (gettext_noop("Reader, by project"), lambda one: one.collaboration["project"]),
    gettext_noop("area"): (gettext_noop("Reader, by area"), lambda one: one.collaboration["area"]),
    gettext_noop("language"): (gettext_noop("Reader, by language"), lambda one: one.collaboration["language"]),
    gettext_noop("tool turns"): (gettext_noop("Reader, by tool-calling turns"), lambda one: turn_class(one)),
    gettext_noop("after a compaction"): (
        gettext_noop("Reader, after a compaction or not"),
        lambda one: yes_no(one.values.get("after_compaction")),
    ),
    gettext_noop("first in its session"): (
        gettext_noop("Reader, first in its session or not"),
        lambda one: yes_no(one.values.get("first_in_session")),
    ),
}


def turn_class(text: Text) -> str | None:
    n = text.values.get("n_tool_turns")
    if n is None:
        return None
    return "0" if n == 0 else "1-2" if n <= 2 else "3+"


def yes_no(value: bool | None) -> str | None:
    return None if value is None else ("true" if value else "false")


def reader_plans(replies: Texts) -> Iterator[Plan]:
    """Every table of the reader over the replies."""
    if not replies.judged.any() and not replies.n_errors:
        return
    yield Plan(
        "reader",
        gettext_noop("Reader: how many replies fail, and why"),
        [*verdict_rows(replies), *without_quotes(replies)],
    )
    yield Plan("gaps", gettext_noop("Information gaps"), gap_rows(replies))
    if has_categories(replies):
        yield Plan("categories", gettext_noop("Categories of gaps"), category_rows(replies))
        yield Plan("origins", gettext_noop("Where coined labels came up first"), origin_rows(replies))
    for what, (title, value) in BREAK_DOWNS.items():
        rows = [row for by, part in parts(replies, what, value) for row in verdict_rows(part, by)]
        yield Plan(f"reader_by_{what.replace(' ', '_')}", title, rows)


def has_categories(texts: Texts) -> bool:
    """Whether any gap was put into one; without a classifier there is nothing to count, and no share is 0."""
    return any(gap["category"] is not None for one in texts.all for gap in one.gaps)


def parts(texts: Texts, what: str, value: Callable[[Text], Any]) -> Iterator[tuple[By, Texts]]:
    """The texts by each value that their records name."""
    found = [value(one) for one in texts.all]
    for one in sorted({known for known in found if known is not None}):
        yield ((what, one),), Texts([text for text, its in zip(texts.all, found, strict=True) if its == one])


def verdict_rows(texts: Texts, by: By = ()) -> list[Asked | Row]:
    """The failure rate, and shares of the failed by each reason; they overlap."""
    judged, failed = texts.judged, texts.failed
    lost = {"unreadable": texts.n_errors}
    reasons: tuple[tuple[str, Words, Callable[[Text], Any]], ...] = (
        ("reason_gap", gettext_noop("failed with an information gap"), lambda one: one.n_gaps),
        ("reason_no_answer", gettext_noop("failed without an answer"), lambda one: one.said("fail_answer")),
        ("reason_language", gettext_noop("failed by the language"), lambda one: one.said("fail_language")),
    )
    rows: list[Asked | Row] = [
        texts.asked("failure_rate", gettext_noop("fail"), share(failed, judged, left_out=lost), JUDGED, by),
        texts.asked(
            "gap_rate",
            gettext_noop("have an information gap"),
            share(texts.where(lambda one: one.n_gaps), judged, left_out=lost),
            JUDGED,
            by,
        ),
    ]
    rows += [
        texts.asked(metric, name, share(texts.where(is_so), failed), FAILED, by) for metric, name, is_so in reasons
    ]
    has_gaps = texts.where(lambda one: one.n_gaps)
    rows.append(
        count_row(
            "failed_without_gap",
            gettext_noop("failed without an information gap"),
            int((failed & ~has_gaps).sum()),
            FAILED,
            by,
        )
    )
    if has_categories(texts):
        rows += category_shares(texts, by)
    return rows


def without_quotes(texts: Texts) -> list[Asked | Row]:
    """The other verdict, where records have it."""
    told = texts.where(lambda one: one.judgment and one.judgment["failed_without_quote_check"] is not None)
    if not told.any():
        return []
    return [
        texts.asked(
            "failure_rate_without_quote_check",
            gettext_noop("fail if quotes are not looked up"),
            share(texts.where(lambda one: one.said("failed_without_quote_check")), told),
            JUDGED,
        )
    ]


def gap_rows(texts: Texts) -> list[Asked | Row]:
    """How many gaps texts have, and how early the first is."""
    judged, n_gaps = texts.judged, texts.numbers(lambda one: one.n_gaps)
    n_gaps = np.where(judged, n_gaps, 0)
    has = judged & (n_gaps > 0)
    classes: tuple[tuple[str, Words, Mask], ...] = (
        ("gaps_0", gettext_noop("replies without a gap"), judged & (n_gaps == 0)),
        ("gaps_1", gettext_noop("replies with 1 gap"), n_gaps == 1),
        ("gaps_2", gettext_noop("replies with 2 gaps"), n_gaps == 2),
        ("gaps_3plus", gettext_noop("replies with 3 gaps or more"), n_gaps >= 3),
        ("gaps_any", gettext_noop("replies with a gap"), has),
        ("gaps_2plus", gettext_noop("replies with 2 gaps or more"), n_gaps >= 2),
    )
    rows: list[Asked | Row] = [count_row(metric, name, int(are.sum()), JUDGED) for metric, name, are in classes]
    rows.append(count_row("gaps_all", gettext_noop("gaps"), int(n_gaps.sum()), JUDGED))
    with_gap = gettext_noop("replies with a gap")
    rows.append(
        texts.asked(
            "gaps_per_reply", gettext_noop("gaps per reply with a gap"), mean(n_gaps, has), with_gap, unit="mean"
        )
    )
    most = counted(float(n_gaps.max()), of=int(has.sum())) if has.any() else without("empty")
    rows.append(Row("gaps_most", gettext_noop("most gaps of a reply"), most, with_gap, unit="count"))
    firsts = [first_gap(one) for one in texts.all]
    placed = has & np.array([one is not None for one in firsts])
    is_early = np.array([one is not None and one for one in firsts])
    rows.append(
        texts.asked(
            "early_gap",
            gettext_noop("first gap in the first third"),
            share(is_early, placed, left_out={"not_observed": int((has & ~placed).sum())}),
            gettext_noop("replies with a gap whose place is known"),
        )
    )
    return rows


def first_gap(text: Text) -> bool | None:
    """Whether the first gap starts early; None where no place or no length is known."""
    starts = [gap["start"] for gap in text.gaps if gap["start"] is not None]
    length = text.values["n_chars"]
    if not starts or not length:
        return None
    return bool(EARLY_PART * min(starts) < length)


def category_shares(texts: Texts, by: By = ()) -> list[Asked | Row]:
    """Of the failed, those with at least one gap of a category. A failed text whose gaps are not in the records, or not
    classified, is left out."""
    known = texts.where(lambda one: len(one.gaps) == one.n_gaps and all(gap["category"] for gap in one.gaps))
    failed = texts.failed
    lost = {"not_observed": int((failed & ~known).sum())}

    def has(category: str) -> Mask:
        return texts.where(lambda one: any(gap["category"] == category for gap in one.gaps))

    return [
        texts.asked(
            f"category_{one}", CATEGORY_WORDS[one], share(has(one), failed & known, left_out=lost), FAILED, by
        )
        for one in CATEGORIES
    ]


def category_rows(texts: Texts) -> list[Asked | Row]:
    """Gaps of each category, and the failed texts that have one."""
    gaps = [gap for one in texts.all for gap in one.gaps]
    rows: list[Asked | Row] = [
        count_row(
            f"gaps_{one}", CATEGORY_WORDS[one], sum(gap["category"] == one for gap in gaps), gettext_noop("gaps")
        )
        for one in CATEGORIES
    ]
    return [*rows, *category_shares(texts)]


def origin_rows(texts: Texts) -> list[Asked | Row]:
    """Coined labels by where they came up first; the agent's files, the memory and tool arguments together."""
    gaps = [(one.cluster, gap) for one in texts.all for gap in one.gaps if gap["category"] == "coined"]
    clusters = [cluster for cluster, _ in gaps]
    known = np.array([gap["origin"] is not None for _, gap in gaps], dtype=bool)
    lost = {"not_observed": int((~known).sum())}
    coined = gettext_noop("coined labels")

    def row(metric: str, name: Words, origins: Sequence[str]) -> Asked:
        is_so = np.array([gap["origin"] in origins for _, gap in gaps], dtype=bool)
        return Asked(metric, name, share(is_so, known, left_out=lost), clusters, coined)

    rows: list[Asked | Row] = [row(f"origin_{one}", ORIGIN_WORDS[one], [one]) for one in ORIGINS]
    rows.append(row("origin_private", gettext_noop("file, memory and tool arguments together"), PRIVATE))
    return rows


def work_plans(replies: Texts) -> Iterator[Plan]:
    """How much there is, and the work before a reply."""
    if not replies.all:
        return
    homes = {one.collaboration["id"]: one for one in replies.all}
    all_replies = gettext_noop("replies")
    rows: list[Asked | Row] = [
        count_row("n_collaborations", gettext_noop("collaborations"), len(homes)),
        count_row("n_replies", gettext_noop("replies"), len(replies.all)),
        count_row("n_unreadable", gettext_noop("judgments that are errors"), replies.n_errors, all_replies),
    ]
    turns = [one.values["n_tool_turns"] for one in replies.all if one.values["n_tool_turns"] is not None]
    rows.append(median_row("tool_turns", gettext_noop("median of tool-calling turns"), turns, all_replies, unit="mean"))
    lengths = [one.values["n_chars"] for one in replies.all if one.values["n_chars"] is not None]
    rows.append(median_row("n_chars", gettext_noop("median length"), lengths, all_replies, unit="characters"))
    counted_ = [(one.cluster, one.collaboration["n_compactions"]) for one in homes.values()]
    told = [(cluster, n) for cluster, n in counted_ if n is not None]
    rows.append(
        Asked(
            "compactions",
            gettext_noop("mean number of compactions"),
            mean([n for _, n in told]),
            [name for name, _ in told],
            gettext_noop("collaborations"),
            unit="mean",
        )
    )
    for what in ("model", "project", "tool turns"):
        _, value = BREAK_DOWNS[what]
        rows += [
            count_row("n_replies", gettext_noop("replies"), len(part.all), "", by)
            for by, part in parts(replies, what, value)
        ]
    yield Plan("work", gettext_noop("Records, and the work before a reply"), rows)


def checker_rows(texts: Texts, by: By = ()) -> list[Asked | Row]:
    """Errors and omissions per text, and their sum; problems softened are shown and not counted."""
    checked = texts.where(lambda one: one.check)
    n_lost = int(texts.where(lambda one: one.check_is_error).sum())
    if not checked.any() and not n_lost:
        return []

    def number(*names: str) -> list[float]:
        return [sum(one.check[name] or 0 for name in names) if one.check else 0 for one in texts.all]

    base = gettext_noop("checked texts")
    listed: tuple[tuple[str, Words, tuple[str, ...]], ...] = (
        ("errors", gettext_noop("errors"), ("n_errors",)),
        ("omissions", gettext_noop("omissions"), ("n_omissions",)),
        ("errors_and_omissions", gettext_noop("errors and omissions"), ("n_errors", "n_omissions")),
        ("downplayed", gettext_noop("hidden or softened, not counted"), ("n_downplayed",)),
    )
    return [
        texts.asked(metric, name, mean(number(*names), checked, left_out={"unreadable": n_lost}), base, by, "mean")
        for metric, name, names in listed
    ]
