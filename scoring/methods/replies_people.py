"""What people say of texts, and the reader beside their majority: gold labels, agreement, doses, marked spans, time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.records import Record
from scoring.methods.replies_read import FAIL, PASS, Panel, Text, Texts, fails, panel_of
from scoring.methods.replies_schema import LABELS, NEEDS, READABLE, SPAN_TYPES, UNREPAIRABLE
from scoring.methods.tables import Asked, By, Grid, Plan, Row, Said, Words, coded, count_row, median_row
from scoring.stats.chance import CohenKappa, FleissKappa, MeanPairwiseKappa, distances_of
from scoring.stats.majority import KappaWithMajority, ShareWithMajority, Ties
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.spans import marked_together, overlaps
from scoring.stats.statistic import Statistic
from scoring.stats.sums import mean, share

SPAN_WORDS = {
    "definition": gettext_noop("missing definition"),
    "reference": gettext_noop("unresolved reference"),
    "background": gettext_noop("missing background"),
}
VERDICTS = (gettext_noop("pass"), gettext_noop("fail"))
RULES = {
    "fail": gettext_noop("ties fail"),
    "pass": gettext_noop("ties pass"),
    "exclude": gettext_noop("ties left out"),
}
TIES: dict[str, Ties] = {"fail": ("toward", FAIL), "pass": ("toward", PASS), "exclude": "exclude"}
UNWEIGHTED = distances_of("unweighted", n_categories=2, weight_matrix=None)
LABELLED = gettext_noop("labelled texts")
PAIRWISE = gettext_noop("mean pairwise kappa of fail and pass")
MANY_PEOPLE = gettext_noop("More than %(n)s annotators: pairs are not compared one by one.")
MOST_PAIRED = 20
"""Pairs of a larger panel are not compared one by one: 190 of 20 people, thousands of a hundred."""
BOTH_JUDGED = gettext_noop("texts that people and reader judged")


PEOPLE_TITLES: dict[str, Words] = {
    "gold": gettext_noop("Labels of people"),
    "agreement": gettext_noop("Agreement of people"),
    "others": gettext_noop("Each annotator and the majority of the others"),
    "confusion": gettext_noop("Reader and majority of people, texts"),
    "reader": gettext_noop("Reader and majority of people"),
    "doses": gettext_noop("Gaps, and how many people fail it"),
    "spans": gettext_noop("Spans that people marked"),
    "time": gettext_noop("Reading time"),
}
BLIND_TITLES: dict[str, Words] = {
    "gold": gettext_noop("Blind comparison: labels of people"),
    "agreement": gettext_noop("Blind comparison: agreement of people"),
    "others": gettext_noop("Blind comparison: each annotator and the majority of the others"),
    "confusion": gettext_noop("Blind comparison: reader and majority of people, texts"),
    "reader": gettext_noop("Blind comparison: reader and majority of people"),
    "doses": gettext_noop("Blind comparison: gaps, and how many people fail it"),
    "spans": gettext_noop("Blind comparison: spans that people marked"),
    "time": gettext_noop("Blind comparison: reading time"),
}


def people_plans(texts: Texts, settings: Mapping[str, Any], *, is_blind: bool = False) -> Iterator[Plan | Grid]:
    """Every table over texts that people labelled; none where nobody did."""
    texts = texts.only(lambda one: one.annotations)
    if not texts.all:
        return
    titles, head = (BLIND_TITLES, "blind") if is_blind else (PEOPLE_TITLES, "people")
    panel = panel_of(texts, settings)
    many = len(texts.annotators()) > MOST_PAIRED
    note: tuple[Words, ...] = (Said(MANY_PEOPLE, {"n": MOST_PAIRED}),) if many else ()

    def plan(name: str, rows: Sequence[Asked | Row], *notes: Words) -> Plan:
        return Plan(f"{head}_{name}", titles[name], rows, notes)

    yield plan("gold", gold_rows(texts, panel, settings))
    yield plan("agreement", agreement_rows(texts, settings), *note)
    yield plan("others", other_rows(texts, settings))
    if texts.judged.any():
        yield confusion(texts, panel, settings, name=f"{head}_confusion", title=titles["confusion"])
        yield plan("reader", majority_rows(texts, panel, settings))
        yield plan("doses", dose_rows(texts, panel, settings))
    yield plan("spans", span_rows(texts, settings))
    yield plan("time", time_rows(texts, panel, settings))


def gold_label(text: Text, majority: int) -> str | None:
    """Of a failed text the more frequent of the two failing labels; equal counts need information."""
    if majority == MISSING:
        return None
    if majority == PASS:
        return READABLE
    votes = Counter(annotation["label"] for annotation in text.annotations)
    return UNREPAIRABLE if votes[UNREPAIRABLE] > votes[NEEDS] else NEEDS


def gold_rows(texts: Texts, panel: Panel, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """How many texts the majority fails, by label, and how many tie."""
    majority = panel.majority(settings["tie_rule"])
    gold = Counter(gold_label(one, said) for one, said in zip(texts.all, majority.tolist(), strict=True))
    n_votes = int(panel.n_votes.sum())
    with_gold = gettext_noop("texts with a majority")
    rows: list[Asked | Row] = [
        count_row("gold_total", gettext_noop("texts with a majority"), gold.total() - gold[None], LABELLED),
        count_row("gold_failed", gettext_noop("failed"), gold[NEEDS] + gold[UNREPAIRABLE], with_gold),
        count_row("gold_needs_information", gettext_noop("needs information"), gold[NEEDS], with_gold),
        count_row("gold_unrepairable", gettext_noop("unrepairable or no answer"), gold[UNREPAIRABLE], with_gold),
        count_row("gold_passed", gettext_noop("readable"), gold[READABLE], with_gold),
        count_row("gold_ties", gettext_noop("ties"), int(panel.tied.sum()), LABELLED),
        count_row("gold_few", gettext_noop("too few labels for a majority"), int((~panel.enough).sum()), LABELLED),
        count_row("n_annotations", gettext_noop("annotations"), n_votes),
        count_row("n_annotators", gettext_noop("annotators"), len(texts.annotators())),
        count_row("n_collaborations", gettext_noop("collaborations"), texts.n_collaborations),
    ]
    for rule, words in RULES.items():
        said = panel.majority(rule)
        lost = {"tie": int((panel.tied & (said == MISSING)).sum()), "few_others": int((~panel.enough).sum())}
        rate = share(said == FAIL, said != MISSING, left_out=lost)
        rows.append(
            texts.asked("gold_failure_rate", gettext_noop("failed by the majority"), rate, with_gold, by_rule(words))
        )
    return rows


def by_rule(words: str) -> By:
    return ((gettext_noop("ties"), Said(words)),)


def agreement_rows(texts: Texts, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Of fail and pass, and of the three labels; of each pair where the panel is not very large. In a blind comparison
    a pair shares the texts of which both read the same version, as each version is a text of its own."""
    two, three = texts.labels(fails), texts.labels(lambda one: LABELS.index(one["label"]))
    listed: tuple[tuple[str, Words, Statistic, Codes], ...] = (
        ("fleiss", gettext_noop("Fleiss' kappa of fail and pass"), FleissKappa(2), two),
        ("fleiss_labels", gettext_noop("Fleiss' kappa of the three labels"), FleissKappa(len(LABELS)), three),
    )
    rows: list[Asked | Row] = [coded_row(texts, *one) for one in listed]
    names = texts.annotators()
    if len(names) > MOST_PAIRED:
        return rows
    times = np.ones(len(two), dtype=np.int64)
    pairwise = MeanPairwiseKappa.of(two, times, UNWEIGHTED, min_common=settings["min_common"])
    rows.append(coded_row(texts, "pairwise_kappa", PAIRWISE, pairwise, two))
    for kappa in (CohenKappa(UNWEIGHTED, a, b) for a, b in combinations(range(len(names)), 2)):
        by = ((gettext_noop("pair"), f"{names[kappa.first]} / {names[kappa.second]}"),)
        rows.append(coded_row(texts, "pair_kappa", gettext_noop("Cohen's kappa"), kappa, two, by))
    return rows


def coded_row(
    texts: Texts,
    metric: str,
    name: Words,
    statistic: Statistic,
    codes: Codes,
    by: By = (),
    denominator: Words = LABELLED,
    unit: str = "kappa",
) -> Asked:
    summed, point = coded(statistic, codes)
    return Asked(metric, name, summed, texts.clusters, denominator, by, unit, point)


def other_rows(texts: Texts, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Under each rule for ties of the others, and how many there are."""
    codes = texts.labels(fails)
    rows: list[Asked | Row] = []
    base = gettext_noop("texts that the annotator and enough others labelled")
    for rater, name in enumerate(texts.annotators()):
        who = (gettext_noop("annotator"), name)
        for rule in sorted(RULES, key=lambda one: one != settings["tie_rule"]):
            by = (who, *by_rule(RULES[rule]))
            against = (rater, 2, TIES[rule], settings["min_panel"])
            kappa, equal = KappaWithMajority(*against), ShareWithMajority(*against)
            rows.append(coded_row(texts, "others_kappa", gettext_noop("kappa"), kappa, codes, by, base))
            rows.append(coded_row(texts, "others_equal", gettext_noop("equal"), equal, codes, by, base, "share"))
        left = ShareWithMajority(rater, 2, "exclude", settings["min_panel"]).figure(codes).left_out
        rows.append(count_row("others_ties", gettext_noop("ties of the others"), left.get("tie", 0), base, (who,)))
    return rows


def against_majority(texts: Texts, majority: np.ndarray[Any, np.dtype[np.int64]]) -> Codes:
    """(n_texts, 2): the majority of people, and the reader."""
    reader = np.where(texts.judged, np.where(texts.failed, FAIL, PASS), MISSING)
    return np.column_stack([majority, reader])


def confusion(texts: Texts, panel: Panel, settings: Mapping[str, Any], *, name: str, title: Words) -> Grid:
    codes = against_majority(texts, panel.majority(settings["tie_rule"]))
    both = codes[(codes >= 0).all(axis=1)]
    order = (FAIL, PASS)
    counts = tuple(tuple(int(((both[:, 0] == a) & (both[:, 1] == b)).sum()) for b in order) for a in order)
    words = tuple(VERDICTS[one] for one in order)
    return Grid(
        name,
        title,
        gettext_noop("majority"),
        gettext_noop("reader"),
        words,
        words,
        counts,
    )


def majority_rows(texts: Texts, panel: Panel, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Accuracy, kappa, and how many of the failures the reader finds, under each rule for ties."""
    rows: list[Asked | Row] = []
    for rule in sorted(RULES, key=lambda one: one != settings["tie_rule"]):
        codes = against_majority(texts, panel.majority(rule))
        people, reader = codes.T
        both = (codes >= 0).all(axis=1)
        lost = {
            "unreadable": int((texts.where(lambda one: one.is_error) & (people >= 0)).sum()),
            "tie": int((panel.tied & (people == MISSING)).sum()),
            "few_others": int((~panel.enough).sum()),
        }
        by = by_rule(RULES[rule])
        shares: tuple[tuple[str, Words, Any, Any, Words], ...] = (
            ("reader_accuracy", gettext_noop("equal"), people == reader, both, BOTH_JUDGED),
            (
                "reader_recall",
                gettext_noop("failed by the reader too"),
                reader == FAIL,
                both & (people == FAIL),
                gettext_noop("texts that the majority fails"),
            ),
            (
                "reader_precision",
                gettext_noop("failed by the majority too"),
                people == FAIL,
                both & (reader == FAIL),
                gettext_noop("texts that the reader fails"),
            ),
        )
        rows.append(
            coded_row(
                texts, "reader_kappa", gettext_noop("Cohen's kappa"), CohenKappa(UNWEIGHTED), codes, by, BOTH_JUDGED
            )
        )
        rows += [
            texts.asked(metric, name, share(yes, of, left_out=lost), base, by) for metric, name, yes, of, base in shares
        ]
    return [*rows, no_answer_row(texts, panel, settings)]


def no_answer_row(texts: Texts, panel: Panel, settings: Mapping[str, Any]) -> Asked:
    """Whether the reader's no-answer verdict is that of the majority of the boxes people ticked."""
    ticks = [[one["states_no_result"] for one in text.annotations] for text in texts.all]
    told = [[tick for tick in of_text if tick is not None] for of_text in ticks]
    boxes = Panel(
        np.array([len(one) for one in told], dtype=np.int64),
        np.array([sum(one) for one in told], dtype=np.int64),
        settings["min_panel"],
    )
    majority = boxes.majority(settings["tie_rule"])
    counted_ = texts.judged & (majority >= 0)
    return texts.asked(
        "no_answer_agreement",
        gettext_noop("same word on whether there is an answer"),
        share(texts.where(lambda one: one.said("fail_answer")) == (majority == FAIL), counted_),
        BOTH_JUDGED,
    )


def dose_rows(texts: Texts, panel: Panel, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """By the reader's gaps what people say, and by how many people fail a text what the reader says."""
    majority = panel.majority(settings["tie_rule"])
    n_gaps, judged = texts.numbers(lambda one: one.n_gaps), texts.judged
    rows: list[Asked | Row] = []
    classes = (("0", n_gaps == 0), ("1", n_gaps == 1), ("2+", n_gaps >= 2))
    for word, is_in in classes:
        by = ((gettext_noop("gaps"), word),)
        of_class = judged & is_in
        base = gettext_noop("texts with so many gaps")
        rows.append(
            texts.asked(
                "dose_failed",
                gettext_noop("failed by the majority"),
                share(majority == FAIL, of_class & (majority >= 0)),
                base,
                by,
            )
        )
        rows.append(
            texts.asked(
                "dose_annotators",
                gettext_noop("mean number who fail it"),
                mean(panel.n_fail, of_class),
                base,
                by,
                "mean",
            )
        )
    for n in range(int(panel.n_votes.max(initial=0)) + 1):
        rows.append(
            texts.asked(
                "reverse_dose",
                gettext_noop("failed by the reader"),
                share(texts.failed, judged & (panel.n_fail == n)),
                gettext_noop("texts that so many people fail"),
                ((gettext_noop("people who fail it"), str(n)),),
            )
        )
    return rows


def marked(text: Text) -> dict[Hashable, list[tuple[int, int, str]]]:
    """The spans of each annotator who fails the text."""
    return {
        one["annotator"]: [(span["start"], span["end"], span["type"] or "") for span in one["spans"] or []]
        for one in text.annotations
        if fails(one) == FAIL
    }


def span_rows(texts: Texts, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Gaps on marked spans, spans of a majority that a gap meets, and how much people mark."""
    gaps: list[tuple[str, bool | None]] = []
    found: list[tuple[str, bool]] = []
    for one in texts.all:
        spans = marked(one)
        every = [span for of_one in spans.values() for span in of_one]
        placed = [(gap["start"], gap["end"]) for gap in one.gaps if gap["start"] is not None]
        gaps += [
            (one.cluster, None if gap["start"] is None else overlaps((gap["start"], gap["end"]), every))
            for gap in one.gaps
        ]
        if one.failed is None or len(placed) != one.n_gaps:
            continue
        found += [
            (one.cluster, overlaps((passage.start, passage.end), placed))
            for passage in marked_together(spans)
            if len(passage.raters) >= settings["min_span_annotators"]
        ]
    known = np.array([is_on is not None for _, is_on in gaps], dtype=bool)
    rows: list[Asked | Row] = [
        Asked(
            "gap_on_span",
            gettext_noop("gap of the reader on a marked span"),
            share([bool(is_on) for _, is_on in gaps], known, left_out={"not_observed": int((~known).sum())}),
            [cluster for cluster, _ in gaps],
            gettext_noop("gaps whose place is known"),
        ),
        Asked(
            "majority_spans_found",
            gettext_noop("met by a gap of the reader"),
            share([is_on for _, is_on in found]),
            [cluster for cluster, _ in found],
            gettext_noop("spans of a majority"),
        ),
    ]
    failing = [(one.cluster, note) for one in texts.all for note in one.annotations if fails(note) == FAIL]
    return [*rows, *spans_per_annotation(failing)]


def spans_per_annotation(failing: list[tuple[str, Record]]) -> list[Asked | Row]:
    clusters = [cluster for cluster, _ in failing]
    n_spans = np.array([len(one["spans"] or []) for _, one in failing], dtype=float)
    told = np.array([one["spans"] is not None for _, one in failing], dtype=bool)
    lost = {"not_observed": int((~told).sum())}
    base = gettext_noop("failing annotations")
    many, several = mean(n_spans, told, left_out=lost), share(n_spans >= 2, told, left_out=lost)
    rows: list[Asked | Row] = [
        Asked("spans_per_failing", gettext_noop("spans per failing annotation"), many, clusters, base, unit="mean"),
        Asked("spans_two_or_more", gettext_noop("two spans or more"), several, clusters, base),
    ]
    spans = [(cluster, span["type"]) for cluster, one in failing for span in one["spans"] or []]
    has_type = [kind is not None for _, kind in spans]
    rows += [
        Asked(
            "span_type",
            gettext_noop("spans of this type"),
            share([kind == one for _, kind in spans], has_type),
            [cluster for cluster, _ in spans],
            gettext_noop("spans with a type"),
            ((gettext_noop("type"), Said(SPAN_WORDS[one])),),
        )
        for one in SPAN_TYPES
    ]
    return rows


def time_rows(texts: Texts, panel: Panel, settings: Mapping[str, Any]) -> list[Asked | Row]:
    """Medians over annotations, by the majority's verdict: time in use first, with and without the first of a
    collaboration and those after a break."""
    majority = panel.majority(settings["tie_rule"]).tolist()
    pairs = [(said, note) for one, said in zip(texts.all, majority, strict=True) for note in one.annotations]
    rows: list[Asked | Row] = []
    clocks = {"active_ms": gettext_noop("median time in use"), "raw_ms": gettext_noop("median time in all")}
    for clock, name in clocks.items():
        if all(note[clock] is None for _, note in pairs):
            continue
        for verdict in (FAIL, PASS):
            of_verdict = [note for said, note in pairs if said == verdict and note[clock] is not None]
            settled = [note for note in of_verdict if not note["after_break"]]
            by: By = ((gettext_noop("majority"), Said(VERDICTS[verdict])),)
            base = gettext_noop("annotations")
            seconds = [note[clock] / 1000 for note in of_verdict]
            rows.append(median_row(f"reading_{clock}", name, seconds, base, by, unit="seconds"))
            if len(settled) < len(of_verdict):
                seconds = [note[clock] / 1000 for note in settled]
                without_breaks = gettext_noop("annotations but first ones and those after a break")
                rows.append(median_row(f"reading_{clock}_settled", name, seconds, without_breaks, by, unit="seconds"))
    return rows
