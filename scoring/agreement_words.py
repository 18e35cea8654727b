"""A whole agreement report in words: the tables and sentences that are all that the page and the command say of it."""

from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from annotate.kinds.base import Measure
from scoring.comparing import AgreementReport, MeasureReport, SetReport
from scoring.stats.judge import JudgeAgreement
from scoring.stats.panel_results import PanelAgreement, RaterAgreement
from scoring.stats.results import Figure
from scoring.stats.set_panel import SetAgreement
from scoring.words import (
    FLAGS,
    Column,
    FigureTable,
    category_words,
    interval_title,
    interval_words,
    notes,
    rule_words,
    shown,
    unit_words,
    value_words,
)


@dataclass(frozen=True, slots=True)
class PanelWords:
    """Everything said of one panel: what the figures rest on, the figures, and how ties and intervals were made."""

    opening: tuple[str, ...]
    tables: tuple[FigureTable, ...]
    closing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportWords:
    """Everything said of a report; what does not apply is empty."""

    synthetic: str
    pilot: str
    round: str
    open_lead: str
    parts: tuple[tuple[str, PanelWords], ...]
    sets: tuple[tuple[str, PanelWords], ...]
    run: str
    filters: str
    left_out: str
    protocol: str
    partial: tuple[str, ...]


def report_words(report: AgreementReport) -> ReportWords:
    return ReportWords(
        synthetic=gettext("Demo: these figures rest on synthetic labels. They say nothing about people.")
        if report.is_synthetic
        else "",
        pilot="" if report.phase == "main" else gettext("Pilot, not a result."),
        round=round_words(report),
        open_lead=gettext("A lead labels in this project (open lead).") if report.open_lead else "",
        parts=tuple((gettext(one.measure.title), measure_words(one)) for one in report.measures),
        sets=tuple((gettext(one.title), set_words(one)) for one in report.sets),
        run=run_words(report),
        filters=filter_words(report),
        left_out=gettext("Left out before any figure: %(n)s items reported as problems; practice; known answers.")
        % {"n": report.n_problems},
        protocol=protocol_words(report),
        partial=tuple(
            gettext("%(rater)s left and is partial: %(n_submitted)s of %(n_given)s labels given.")
            % {"rater": one.code, "n_submitted": one.n_submitted, "n_given": one.n_given}
            for one in report.partial
        ),
    )


def round_words(report: AgreementReport) -> str:
    """Which round was asked for by itself."""
    if report.round is None:
        return ""
    said = {"number": report.round}
    if report.is_informed:
        return gettext(
            "Round %(number)s, informed: people knew each other's answers, so this is no agreement of independent "
            "labels and no result."
        ) % said
    return gettext("Round %(number)s by itself.") % said


FILTERS = {
    "language": gettext_noop("language %(value)s"),
    "area": gettext_noop("area %(value)s"),
    "cluster": gettext_noop("cluster %(value)s"),
}


def filter_words(report: AgreementReport) -> str:
    """Which items the figures rest on, where some were asked for."""
    if not report.filters:
        return ""
    asked = [gettext(FILTERS[name]) % {"value": value} for name, value in report.filters.items()]
    return gettext("Only items with %(filters)s; %(n)s labels on other items are left out.") % {
        "filters": ", ".join(asked),
        "n": report.n_filtered,
    }


def run_words(report: AgreementReport) -> str:
    """Whose verdicts stand beside the people's labels."""
    if report.run is None:
        return ""
    said = {"judge": report.run.judge, "version": report.run.version, "number": report.run.number}
    words = gettext("Judge: %(judge)s %(version)s, run %(number)s.") % said
    if report.run.n_samples > 1:
        words += " " + gettext("It answered %(n)s times; the first answer is compared.") % {"n": report.run.n_samples}
    return words


def measure_words(report: MeasureReport) -> PanelWords:
    """The panel, and the judge where there is one."""
    people = panel_words(report.panel, report.measure)
    if report.judge is None:
        return people
    tables = (*people.tables, judge_table(report.judge, report.measure), judge_confusion(report.judge, report.measure))
    return PanelWords(people.opening, tables, (*people.closing, judge_sentence(report.judge)))


SET_STATS = {
    "f1": gettext_noop("F1 of what both name, over all items both looked at."),
    "exact": gettext_noop("Share of items on which both name exactly the same."),
}


def set_words(report: SetReport) -> PanelWords:
    """People on a measure of sets, and the judge with each of them where there is one."""
    people = report.agreement
    counts = {"items": people.n_items, "raters": people.n_raters}
    closing = [gettext(SET_STATS[people.stat])]
    if people.n_both_empty:
        told = gettext("Times that both of a pair found nothing: %(n)s.") % {"n": people.n_both_empty}
        closing.append(told)
    closing.append(gettext("Intervals are of the same draw as above."))
    tables = [set_table(people, gettext("people"))]
    if report.judge is not None:
        tables.append(set_table(report.judge, gettext("the judge and each annotator")))
    return PanelWords(
        opening=(gettext("%(items)s items, %(raters)s raters.") % counts,),
        tables=tuple(tables),
        closing=tuple(closing),
    )


def set_table(agreement: SetAgreement, who: str) -> FigureTable:
    """The mean of the pairs, then each pair."""
    figures = [(gettext("mean of all pairs"), agreement.mean)]
    figures += [(f"{one.first} · {one.second}", one.agreement) for one in agreement.pairs]
    return FigureTable(
        (
            Column(who),
            Column("F1" if agreement.stat == "f1" else gettext("equal"), is_number=True),
            Column(interval_title()),
            Column(gettext("items"), is_number=True),
            Column(gettext("notes")),
        ),
        tuple(
            (name, value_words(figure), interval_words(figure), str(figure.n_items), notes(figure))
            for name, figure in figures
        ),
    )


def judge_table(judge: JudgeAgreement, measure: Measure) -> FigureTable:
    """The judge against the majority of people."""
    figures = (
        (gettext("share equal to the majority"), judge.accuracy),
        (gettext("Cohen's kappa with the majority"), judge.kappa),
    )
    return FigureTable(
        (
            Column(gettext("judge against the majority of people")),
            Column(gettext("value"), is_number=True),
            Column(interval_title()),
            Column(gettext("items"), is_number=True),
            Column(gettext("other tie rules (share, kappa)")),
            Column(gettext("notes")),
        ),
        tuple(
            (
                name,
                judge_value_words(figure),
                interval_words(figure),
                str(figure.n_items),
                other_rules_words(judge, measure),
                "; ".join(gettext(FLAGS[flag]) for flag in figure.flags),
            )
            for name, figure in figures
        ),
    )


def judge_value_words(figure: Figure) -> str:
    if figure.reason == "no_comparable_items":
        return gettext("People tie, or are too few, on every item the judge judged.")
    return value_words(figure)


def judge_confusion(judge: JudgeAgreement, measure: Measure) -> FigureTable:
    """Rows are the majority of people, columns the judge."""
    titles = [category_words(one, measure) for one in judge.categories]
    return FigureTable(
        (Column(gettext("majority \\ judge")), *(Column(title, is_number=True) for title in titles)),
        tuple((title, *map(str, row)) for title, row in zip(titles, judge.confusion, strict=True)),
    )


def judge_sentence(judge: JudgeAgreement) -> str:
    """What became of the items that people labelled."""
    return gettext(
        "Of %(items)s items that people labelled: people tie on %(ties)s; on %(few)s fewer than %(least)s people; "
        "%(missing)s without a label of the judge, of these %(unreadable)s unreadable. %(extra)s verdicts on items "
        "nobody labelled."
    ) % {
        "items": judge.n_items,
        "ties": judge.n_ties,
        "few": judge.n_few,
        "least": judge.min_raters,
        "missing": judge.n_missing,
        "unreadable": judge.n_unreadable,
        "extra": judge.n_unlabelled,
    }


def protocol_words(report: AgreementReport) -> str:
    """Which labels the figures rest on, where the guideline was changed while people labelled."""
    if len(report.protocols) < 2 and report.protocol in (None, *(one.protocol for one in report.protocols)):
        return ""
    others = [one for one in report.protocols if one.protocol != report.protocol]
    counts = [gettext("protocol %(number)s: %(n)s labels") % {"number": o.protocol, "n": o.n_labels} for o in others]
    return gettext("Only labels given under protocol %(number)s. Kept apart: %(others)s.") % {
        "number": report.protocol,
        "others": "; ".join(counts) or gettext("none"),
    }


def panel_words(panel: PanelAgreement, measure: Measure | None = None) -> PanelWords:
    counts = {
        "ratings": panel.n_ratings,
        "items": panel.n_items,
        "raters": panel.n_raters,
        "clusters": panel.n_clusters,
    }
    shares = [f"{category_words(one.category, measure)} {shown(one.share)}" for one in panel.prevalence]
    tie = {"tie": rule_words(panel.tie_rule, measure), "tied": panel.n_tied_items}
    draw = {"n": panel.n_resamples, "unit": unit_words(panel.unit), "seed": panel.seed}
    return PanelWords(
        opening=(
            gettext("%(ratings)s ratings of %(items)s items by %(raters)s raters, in %(clusters)s clusters.") % counts,
            gettext("Share of each label: %(shares)s") % {"shares": " · ".join(shares)},
        ),
        tables=(whole_table(panel), rater_table(panel, measure), pair_table(panel)),
        closing=(
            gettext("Ties of the others: %(tie)s; %(tied)s items have no single majority.") % tie,
            gettext("Intervals: %(n)s resamples of clusters (%(unit)s), one draw for all, seed %(seed)s.") % draw,
        ),
    )


def whole_table(panel: PanelAgreement) -> FigureTable:
    """The figures over all raters."""
    figures = (
        (gettext("percent agreement (item mean)"), panel.percent_agreement),
        (gettext("percent agreement (pairs)"), panel.percent_agreement_pair),
        (gettext("Fleiss' kappa (Gwet's form)"), panel.fleiss_kappa),
        (gettext("Krippendorff's alpha"), panel.krippendorff_alpha),
        (gettext("mean pairwise kappa"), panel.mean_cohen_kappa),
    )
    return FigureTable(
        (
            Column(gettext("panel")),
            Column(gettext("value"), is_number=True),
            Column(interval_title()),
            Column(gettext("items"), is_number=True),
            Column(gettext("notes")),
        ),
        tuple(
            (name, value_words(figure), interval_words(figure), str(figure.n_items), notes(figure))
            for name, figure in figures
        ),
    )


def rater_table(panel: PanelAgreement, measure: Measure | None) -> FigureTable:
    """Each rater against the majority of the others, under the declared tie rule and the others."""
    return FigureTable(
        (
            Column(gettext("against the majority of the others")),
            Column(gettext("kappa"), is_number=True),
            Column(interval_title()),
            Column(gettext("share equal"), is_number=True),
            Column(interval_title()),
            Column(gettext("items"), is_number=True),
            Column(gettext("ties"), is_number=True),
            Column(gettext("other tie rules (share, kappa)")),
            Column(gettext("notes")),
        ),
        tuple(
            (
                str(rater.rater),
                value_words(rater.annotator_vs_majority_kappa),
                interval_words(rater.annotator_vs_majority_kappa),
                shown(rater.annotator_vs_majority.value),
                interval_words(rater.annotator_vs_majority),
                str(rater.annotator_vs_majority.n_items),
                str(rater.n_ties),
                other_rules_words(rater, measure),
                notes(rater.annotator_vs_majority_kappa),
            )
            for rater in panel.raters
        ),
    )


def other_rules_words(rater: RaterAgreement | JudgeAgreement, measure: Measure | None) -> str:
    """`left out: 0.86, 0.71; counted in parts: 0.85`."""
    said = []
    for other in rater.other_rules:
        figures = [other.annotator_vs_majority, other.annotator_vs_majority_kappa]
        values = ", ".join(shown(figure.value) for figure in figures if figure)
        said.append(f"{rule_words(other.rule, measure)}: {values}")
    return "; ".join(said)


def pair_table(panel: PanelAgreement) -> FigureTable:
    return FigureTable(
        (
            Column(gettext("pair")),
            Column(gettext("Cohen's kappa"), is_number=True),
            Column(interval_title()),
            Column(gettext("items in common"), is_number=True),
            Column(gettext("notes")),
        ),
        tuple(
            (
                f"{pair.first} · {pair.second}",
                value_words(pair.cohen_kappa),
                interval_words(pair.cohen_kappa),
                str(pair.n_common),
                notes(pair.cohen_kappa),
            )
            for pair in panel.pairs
        ),
    )
