"""Whether the reader may stand in for people: its place among the annotators, the alternative-annotator test, and the
failure rate of all replies from the labels of some and the verdicts of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.replies_people import RULES, TIES, by_rule, coded_row
from scoring.methods.replies_read import FAIL, PASS, Texts, fails, panel_of
from scoring.methods.tables import Asked, By, Plan, Row, Said, Words, count_row, counted, drawing_of
from scoring.stats.alternative import AlternativeAnnotator, AnnotatorTest, alternative_annotator_test
from scoring.stats.majority import KappaWithMajority
from scoring.stats.powered import prediction_powered
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.results import Figure

READER = gettext_noop("reader")
KAPPA = gettext_noop("kappa with the majority of the others")
ALL = gettext_noop("replies that people labelled or the reader judged")
TESTED = gettext_noop("replies of the annotator that somebody else labelled and the reader judged")
ANNOTATORS = gettext_noop("annotators who were tested")


def standing_plans(replies: Texts, settings: Mapping[str, Any], unit: str) -> Iterator[Plan]:
    """Nothing where no reply has a label and a verdict."""
    labelled = replies.where(lambda one: one.annotations)
    if not (labelled & replies.judged).any():
        return
    both = replies.only(lambda one: one.annotations)
    yield Plan("range", gettext_noop("The reader in the range of the annotators"), range_rows(both, settings))
    tested = tests_of(both, settings, unit)
    yield Plan(
        "alternative",
        gettext_noop("May the reader stand in for an annotator?"),
        [*alternative_rows(tested), *(row for one in tested.annotators for row in annotator_rows(one))],
        (
            gettext_noop(
                "Each annotator in turn is set against the reader, both measured by what the others said. The reader "
                "passes where it beats at least half of them, their advantage being less than epsilon."
            ),
        ),
    )
    yield Plan(
        "powered",
        gettext_noop("Failure rate from the labels of some replies and the verdicts of all"),
        powered_rows(replies, settings, unit),
        (gettext_noop("It takes the labelled replies for a random part of all; say so by the parameter picked."),),
    )


def codes_of(replies: Texts) -> Codes:
    return np.where(replies.judged, np.where(replies.failed, FAIL, PASS), MISSING)


# In the range of the annotators


def range_rows(replies: Texts, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Kappa of the reader and of each annotator with the same majority, that of the other annotators; so on the same
    replies for the two."""
    people, reader = replies.labels(fails), codes_of(replies)
    base = gettext_noop("replies that the annotator, enough others and the reader rated")
    rows: list[Asked | Row] = []
    pairs: list[tuple[float, float]] = []
    for place, name in enumerate(replies.annotators()):
        figures = []
        for who, word in ((people[:, place], gettext_noop("annotator")), (reader, READER)):
            codes = beside_others(people, place, who, reader)
            kappa = KappaWithMajority(codes.shape[1] - 1, 2, TIES[settings["tie_rule"]], settings["min_panel"])
            by: By = ((gettext_noop("annotator"), name), (gettext_noop("rater"), Said(word)))
            row = coded_row(replies, "range_kappa", KAPPA, kappa, codes, by, base)
            rows.append(row)
            figures.append(row.point.value if row.point else None)
        own, readers = figures
        if own is not None and readers is not None:
            pairs.append((own, readers))
    return [*summary_rows(pairs), *rows]


def beside_others(people: Codes, place: int, who: Codes, reader: Codes) -> Codes:
    """The other annotators, and in the last column whose kappa is meant, on what both the annotator and the reader
    rated."""
    both = (people[:, place] >= 0) & (reader >= 0)
    others = np.delete(people, place, axis=1)
    return np.where(both[:, None], np.column_stack([others, who]), MISSING)


def summary_rows(pairs: list[tuple[float, float]]) -> list[Row]:
    """How many annotators agree with the others less, as much, and more than the reader does in their place."""
    base = gettext_noop("annotators with both kappas")
    n = len(pairs)
    near = 1e-12
    less = sum(own < reader - near for own, reader in pairs)
    more = sum(own > reader + near for own, reader in pairs)
    rows = [
        count_row("range_below", gettext_noop("agree less than the reader does in their place"), less, base),
        count_row("range_equal", gettext_noop("agree as much"), n - less - more, base),
        count_row("range_above", gettext_noop("agree more"), more, base),
    ]
    if not pairs:
        return rows
    owns, readers = zip(*pairs, strict=True)
    values: tuple[tuple[str, Words, float], ...] = (
        ("range_lowest", gettext_noop("lowest kappa of an annotator"), min(owns)),
        ("range_highest", gettext_noop("highest kappa of an annotator"), max(owns)),
        ("range_reader", gettext_noop("mean kappa of the reader in their places"), float(np.mean(readers))),
    )
    return [
        *(Row(metric, name, counted(value, of=n), base, (), "kappa") for metric, name, value in values),
        *rows,
    ]


# The alternative-annotator test


def tests_of(replies: Texts, settings: Mapping[str, Any], unit: str) -> AlternativeAnnotator:
    return alternative_annotator_test(
        replies.labels(fails),
        codes_of(replies),
        replies.clusters,
        annotators=replies.annotators(),
        scoring="nominal",
        epsilon=settings["epsilon"],
        drawing=drawing_of(settings, unit),
        min_items=settings["min_items"],
    )


def alternative_rows(tested: AlternativeAnnotator) -> list[Row]:
    n = len(tested.annotators)
    n_beaten = sum(one.beaten for one in tested.annotators)
    rate = replace(tested.winning_rate, interval=None, interval_reason=None)
    rows = [
        Row(
            "winning_rate",
            gettext_noop("annotators whom the reader beats"),
            rate,
            ANNOTATORS,
            k=float(n_beaten) if n else None,
            n=float(n) if n else None,
        ),
        Row(
            "advantage",
            gettext_noop("the reader does at least as well, mean over annotators"),
            tested.advantage,
            TESTED,
        ),
        count_row("alternative_passes", gettext_noop("passes (1) or not (0)"), int(bool(tested.passes)), ANNOTATORS),
        count_row(
            "alternative_too_few", gettext_noop("annotators with too few replies to be tested"), len(tested.too_few)
        ),
    ]
    return rows if tested.passes is not None else [row for row in rows if row.metric != "alternative_passes"]


def annotator_rows(one: AnnotatorTest) -> list[Row]:
    by: By = ((gettext_noop("annotator"), str(one.annotator)),)

    def row(metric: str, name: Words, value: float, unit: str) -> Row:
        figure = replace(counted(value, of=one.n_items), flags=one.flags, n_clusters=one.n_clusters)
        return Row(metric, name, figure, TESTED, by, unit)

    return [
        row("reader_wins", gettext_noop("the reader does at least as well"), one.judge_wins, "share"),
        row("annotator_wins", gettext_noop("the annotator does at least as well"), one.own_wins, "share"),
        row("alternative_difference", gettext_noop("advantage of the annotator"), one.difference, "difference"),
        row("alternative_p", gettext_noop("p, adjusted among the annotators"), one.adjusted, "p"),
        row("beaten", gettext_noop("beaten by the reader (1) or not (0)"), float(one.beaten), "count"),
    ]


# The failure rate of all replies


def powered_rows(replies: Texts, settings: Mapping[str, Any], unit: str) -> list[Row]:
    """Under each rule for ties."""
    panel, verdicts = panel_of(replies, settings), codes_of(replies)
    rows: list[Row] = []
    for rule in sorted(RULES, key=lambda one: one != settings["tie_rule"]):
        by = by_rule(RULES[rule])
        found = prediction_powered(
            as_rate(panel.majority(rule)),
            as_rate(verdicts),
            replies.clusters,
            unit=unit,
            is_rate=True,
            picked=settings["picked"],
            min_clusters=settings["min_clusters"],
        )
        listed: tuple[tuple[str, Words, Figure, Words], ...] = (
            ("powered_rate", gettext_noop("fail, by labels and verdicts together"), found.combined, ALL),
            (
                "people_rate",
                gettext_noop("fail, by the labels alone"),
                found.human_only,
                gettext_noop("replies with a majority"),
            ),
            (
                "verdict_rate",
                gettext_noop("fail, by the verdicts alone"),
                found.judge_only,
                gettext_noop("judged texts"),
            ),
        )
        rows += [Row(metric, name, figure, base, by) for metric, name, figure, base in listed]
        rows.append(
            count_row("verdict_only", gettext_noop("replies with a verdict only"), found.n_verdict_only, "", by)
        )
        if found.labels_saved is not None:
            saved = counted(found.labels_saved, of=found.n_labelled)
            name = gettext_noop("so many more labels would give as narrow an interval")
            rows.append(Row("labels_saved", name, saved, gettext_noop("replies with a majority"), by, "mean"))
    return rows


def as_rate(codes: Codes) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.where(codes >= 0, codes == FAIL, np.nan).astype(float)
