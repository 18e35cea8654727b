"""The report of a blind comparison from the rows of its project, held against numbers that were worked out by hand.

Four points in two collaborations. Of each the labels of who read the default, then of who read the rewrite; F fails:

    first    a F  c F  e P | b P  d P          the reader fails the default and passes the rewrite
    second   b F  d P      | a P  c P  e F     the reader fails both
    third    a P  c P  e P | b F  d P          the reader fails the default
    fourth   b F  d F      | a P  c P  e P     the reader fails the default
"""

import pytest

from annotate import pairing
from annotate.models import Assignment, Item
from scoring.method_reports import shown_method
from scoring.publishing_texts import publish_texts
from scoring.reply_records import arm_of, read_arm
from tests.factories import NOW, make_annotation, make_member, make_project, make_submitted, make_trace
from tests.scoring.readings import checker_run, make_checking, make_reading, make_unreadable, question, reader_run
from tests.scoring.writing import LONG, make_points, make_written

pytestmark = pytest.mark.django_db
LABELS = {
    "first": {"default": {"a": "F", "c": "F", "e": "P"}, "rewrite": {"b": "P", "d": "P"}},
    "second": {"default": {"b": "F", "d": "P"}, "rewrite": {"a": "P", "c": "P", "e": "F"}},
    "third": {"default": {"a": "P", "c": "P", "e": "P"}, "rewrite": {"b": "F", "d": "P"}},
    "fourth": {"default": {"b": "F", "d": "F"}, "rewrite": {"a": "P", "c": "P", "e": "P"}},
}
READER_FAILS = {("first", "default"), ("second", "default"), ("second", "rewrite"), ("third", "default")} | {
    ("fourth", "default")
}
AGAINST = {"condition": "rewrite", "compared with": "default"}
RULES = ("ties fail", "ties pass", "ties left out")


@pytest.fixture
def report(db):
    project = make_project(assigning="pairs")
    people = {code: make_member(project, f"reads-{code}", code=code) for code in "abcde"}
    en, zh = (
        make_trace(project, LONG, language=language, metadata={"model": f"m-{language}"})
        for language in ("en", "zh")
    )
    homes = {"first": (en, 4), "second": (en, 7), "third": (zh, 4), "fourth": (zh, 7)}
    reader, checker = reader_run(project, n_samples=2), checker_run(project)

    def text(point, arm, **fields):
        trace, anchor = homes[point]
        return Item.objects.create(
            project=project, trace=trace, anchor=anchor, cluster=trace.cluster, text=f"{arm} of {point}",
            point=point, arm=arm, **fields,
        )  # fmt: skip

    def judged(item, fails, sample=0):
        verdict = make_reading(reader, item, *([question("of", item.text)] if fails else ()))
        verdict.sample = sample
        return verdict

    for point, arms in LABELS.items():
        for arm, labels in arms.items():
            item = text(point, arm)
            judged(item, (point, arm) in READER_FAILS)
            make_checking(checker, item, errors=["x"] * (arm == "rewrite"), omissions=["y", "z"])
            for code, label in labels.items():
                words = f"{item.text}"
                spans = [{"start": 0, "end": 7, "type": "reference", "quote": words[:7]}]
                failing = {"label": "needs_information", "states_no_result": False, "spans": spans, "comment": ""}
                make_submitted(people[code], item, "readable" if label == "P" else failing)
    for point in ("first", "second", "third"):
        judged(text(point, "notice", is_planned=False), point == "first")
    make_unreadable(reader, text("fourth", "notice", is_planned=False))
    for point, accepted in {"first": ("PP", "PF"), "second": ("FF", "FP")}.items():
        for sample, verdicts in enumerate(accepted):
            item = text(point, arm_of("default", sample), is_planned=False)
            for number, one in enumerate(verdicts):
                verdict = make_reading(reader_run(project), item, *([question("of", item.text)] if one == "F" else ()))
                verdict.run, verdict.sample = reader, number
                verdict.save()
    given = {"n_resamples": 100, "min_common": 4}
    return shown_method(project, given=given, run=reader.number, checker_run=checker.number).report


def value(report, metric, table=None, **by):
    return report.row(metric, table, **by).figure.value


def test_shares_of_annotators_who_fail_a_version_and_their_contrast(report):
    assert value(report, "fail_share", "blind", condition="default") == pytest.approx(13 / 24)
    assert value(report, "fail_share", "blind", condition="rewrite") == pytest.approx(5 / 24)
    contrast = report.row("contrast", "blind", **AGAINST)
    assert contrast.figure.value == pytest.approx(1 / 3)
    assert (contrast.figure.n_items, contrast.figure.n_clusters) == (4, 2)
    for language, part in {"en": 5 / 12, "zh": 1 / 4}.items():
        assert value(report, "contrast", "blind", **AGAINST, language=language) == pytest.approx(part)
    assert [value(report, f"n_{name}", "blind") for name in ("collaborations", "points", "texts")] == [2, 4, 8]
    counts = [value(report, "n_annotations", "blind", condition=arm) for arm in ("default", "rewrite")]
    assert counts == [10, 10]


def test_pairs_of_annotators_are_compared_where_both_read_the_same_version(report):
    kappas = {"a / c": 1, "a / e": -1 / 3, "c / e": -1 / 3, "b / d": 0.2}
    for pair, kappa in kappas.items():
        row = report.row("pair_kappa", "blind_agreement", pair=pair)
        assert (row.figure.value, row.figure.n_items) == (pytest.approx(kappa), 4)
    assert value(report, "pair_kappa", "blind_agreement", pair="a / b") is None
    mean = value(report, "pairwise_kappa", "blind_agreement")
    assert mean == pytest.approx(sum(kappas.values()) / 4)


def test_reader_and_majority_under_the_tie_rule_and_both_others(report):
    assert value(report, "gold_ties", "blind_gold") == 2
    accuracy = [value(report, "reader_accuracy", "blind_reader", ties=rule) for rule in RULES]
    assert accuracy == pytest.approx([5 / 8, 5 / 8, 4 / 6])
    kappa = [value(report, "reader_kappa", "blind_reader", ties=rule) for rule in RULES]
    assert kappa == pytest.approx([1 / 4, 1 / 3, 2 / 5])


def test_flips_of_the_reader_and_those_the_majority_shares(report):
    assert (value(report, "flips", "blind"), value(report, "flips_agreed", "blind")) == (3, 2)
    assert value(report, "blind_reader_reduction", "blind", **AGAINST) == pytest.approx(3 / 4)


def test_conditions_that_nobody_reads_are_judged_and_compared(report):
    assert report.n_records["written"] == 16
    notice = report.row("point_failure_rate", "conditions", condition="notice")
    assert (notice.figure.value, notice.figure.left_out) == (pytest.approx(1 / 3), {"unreadable": 1})
    reduction = report.row("reduction", "differences", condition="notice", **{"compared with": "default"})
    assert (reduction.figure.value, reduction.figure.n_items) == (pytest.approx(2 / 3), 3)
    rewrite = value(report, "reduction", "differences", **AGAINST)
    assert rewrite == pytest.approx(3 / 4)


def test_samples_are_usable_where_two_judgments_accept_them(report):
    assert value(report, "n_usable", "samples", condition="default") == 1
    passed = [value(report, "pass_at_k", "samples", condition="default", k=str(k)) for k in (1, 2)]
    assert passed == pytest.approx([1 / 4, 1 / 2])


def test_errors_and_omissions_of_each_version(report):
    errors = [value(report, "errors", "checker", condition=arm) for arm in ("default", "rewrite")]
    assert errors == [0, 1]
    assert value(report, "errors_and_omissions", "checker", condition="rewrite") == 3


@pytest.mark.parametrize(
    ("arm", "read"),
    [
        ("default", ("default", None)),
        ("default#3", ("default", 3)),
        ("fact_list#16", ("fact_list", 16)),
        ("default#0", ("", None)),
        ("default#", ("", None)),
        ("default#x", ("", None)),
        ("another", ("", None)),
        ("", ("", None)),
    ],
)
def test_an_arm_says_condition_and_sample(arm, read):
    assert read_arm(arm) == read
    if read[1]:
        assert arm_of(read[0], read[1] - 1) == arm


def test_from_texts_that_were_written_to_the_report_of_who_read_them(db):
    """Eight collaborations of four models in two areas: published, drawn, read and judged; the report's counts are
    those of the design, and reader and checker have judged what nobody reads too."""
    source, target = make_project("replies"), make_project("reading", assigning="pairs")
    points = [
        point
        for number in range(8)
        for point in make_points(
            source,
            metadata={"model": f"m{number % 4}"},
            area=("library", "simulator")[number // 4],
            language=("en", "zh")[(number + number // 4) % 2],
        )
    ]
    runs = [make_written(source, points, arm) for arm in ("default", "rewrite", "notice")]
    publish_texts(person=None, source=source, target=target, runs=[run.number for run in runs], now=NOW)
    for code in "abcde":
        make_member(target, f"reads-{code}", code=code)
    drawn = pairing.draw_pairs(lead=None, project=target, seed=5, now=NOW)
    n_points = sum(len(one["points"]) for one in drawn.collaborations)
    assert (len(drawn.collaborations), n_points) == (6, 12)
    for row in Assignment.objects.filter(annotator__project=target):
        Assignment.objects.filter(pk=row.pk).update(state="submitted", first_shown_at=NOW, ended_at=NOW)
        make_annotation(row, "readable" if row.item.arm == "rewrite" else "unrepairable_or_no_answer")
    reader, items = reader_run(target), Item.objects.filter(project=target)
    for item in items:
        make_reading(reader, item, no_answer=item.arm != "rewrite")
    report = shown_method(target, given={"n_resamples": 100, "min_common": 4}, run=reader.number).report
    assert (value(report, "n_points", "blind"), value(report, "n_annotations", "blind")) == (12, 60)
    counts = [value(report, "n_annotations", "blind", condition=arm) for arm in ("default", "rewrite")]
    assert counts == [30, 30]
    assert value(report, "contrast", "blind", **AGAINST) == 1
    assert value(report, "n_collaborations", "blind") == 6
    assert (value(report, "flips", "blind"), value(report, "flips_agreed", "blind")) == (12, 12)
    assert value(report, "point_failure_rate", "conditions", condition="notice") == 1
    assert report.n_records["written"] == 48
    assert report.row("reduction", "conditions_by_model", model="m0", **AGAINST).figure.value == 1
