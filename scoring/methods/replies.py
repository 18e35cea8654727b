"""Replies: whether who reads only an agent's last message can use it. All figures of the method over records made
anywhere, with intervals over collaborations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.methods.records import Records
from scoring.methods.replies_categories import classifier_plan
from scoring.methods.replies_people import people_plans
from scoring.methods.replies_points import checker_plan, point_plans
from scoring.methods.replies_read import Texts, texts_of
from scoring.methods.replies_reader import reader_plans, work_plans
from scoring.methods.replies_schema import SCHEMA
from scoring.methods.replies_sentences import SENTENCES
from scoring.methods.replies_standing import standing_plans
from scoring.methods.tables import Method, MethodReport, Parameter, drawing_of, drawn

CLUSTER = gettext_noop("collaboration")
TITLE = gettext_noop("Replies: usable by who reads nothing else?")
PARAMETERS = (
    Parameter(
        "tie_rule",
        "text",
        "fail",
        "what a text is whose people tie, and a majority of the others that ties; the two other rules stand beside",
        "A-01",
        allowed=("fail", "pass", "exclude"),
    ),
    Parameter("quote_check", "truth", True, "the reader's verdict with its quotes looked up in the text", "A-02"),
    Parameter("min_panel", "whole", 2, "labels that a majority needs at least", least=1, most=1000),
    Parameter("min_common", "whole", 20, "texts that a pair of annotators needs in common", least=1, most=10**6),
    Parameter("min_span_annotators", "whole", 3, "annotators who make a span a majority's", "A-21", least=1, most=1000),
    Parameter(
        "epsilon",
        "number",
        0.2,
        "what a person costs in the alternative-annotator test: 0.2 experts, 0.15 skilled people, 0.1 a crowd",
        least=0,
        most=1,
    ),
    Parameter("min_items", "whole", 30, "texts of an annotator to be tested against the reader", least=1, most=10**6),
    Parameter(
        "picked",
        "text",
        "random",
        "how texts came to be labelled: score takes the failure rate of all texts away",
        allowed=("random", "score"),
    ),
    Parameter("independent_judgments", "whole", 2, "judgments that must accept a sample", "A-17", least=1, most=100),
    Parameter("most_samples", "whole", 16, "pass@k is worked out for k from 1 to this", least=1, most=1000),
    Parameter("min_clusters", "whole", 2, "no interval with fewer collaborations", least=2, most=1000),
)
NOTES = (
    gettext_noop("Reasons and categories of failed texts overlap, so their shares add up to more than one."),
    gettext_noop("Overlap of a gap and a span is one common character; an early gap starts in the first third."),
    gettext_noop("How gaps, quotes, languages and answers were judged was decided where the records were made."),
)


def report(records: Records, settings: Mapping[str, Any]) -> MethodReport:
    """Every table that the records can fill.

    Parameters
    ----------
    records : as SCHEMA says.
    settings : a value for every parameter of METHOD.

    Returns
    -------
    MethodReport: figures with the reason where they have no value; what was left out is counted, errors of a judge are
        never a verdict. Intervals over collaborations, replies of one drawn together.
    """
    replies, written = texts_of(records, settings)
    plans = [
        *work_plans(replies),
        *reader_plans(replies),
        *people_plans(replies, settings),
        *standing_plans(replies, settings, CLUSTER),
        *classifier_plan(Texts([*replies.all, *written.all]), records),
        *point_plans(written, settings),
        checker_plan(replies, written),
    ]
    return MethodReport(METHOD.name, METHOD.title, settings, drawn(plans, drawing_of(settings, CLUSTER)), NOTES)


METHOD = Method("replies", TITLE, SCHEMA, report, PARAMETERS, kind="reply", joins="reply_joins", sentences=SENTENCES)
