"""The report of replies: the counts a study prints, fed as records, give its figures; and cases worked by hand."""

import json
from functools import cache
from pathlib import Path

import pytest

from scoring.methods.records import RecordsRefused, records_of
from scoring.methods.replies import METHOD
from scoring.methods.tables import Grid
from tests.scoring.methods import replies_counts as counts
from tests.scoring.methods.replies_counts import annotation, collaboration, judgment, reply, written

GOLDEN = Path(__file__).resolve().parents[3] / "fixtures" / "reference" / "golden-numbers.json"
FAST = {"n_resamples": 100}


def golden():
    entries = json.loads(GOLDEN.read_text("utf-8"))
    entries = entries if isinstance(entries, list) else entries["entries"]
    return {one["id"]: one for one in entries if one["id"].startswith("u-")}


def report_of(records, **settings):
    return METHOD.of(records_of(records, METHOD.schema), {**FAST, **settings})


@cache
def world(name):
    return report_of(getattr(counts, name)())


@cache
def samples(n, *usable):
    return report_of(counts.sampled(n, usable))


def value(report, metric, table=None, **by):
    return report.row(metric, table, **by).figure.value


def of_480(metric, table="reader", times=1, **by):
    return lambda: times * value(world("read_480"), metric, table, **by)


def of_300(metric, table="people_gold", **by):
    return lambda: value(world("labelled_300"), metric, table, **by)


def of_256(metric, table="conditions", **by):
    return lambda: value(world("written_256"), metric, table, **by)


def of_83(metric, table="blind", **by):
    return lambda: value(world("compared_83"), metric, table, **by)


def summed(*parts):
    return lambda: sum(one() for one in parts)


def passed(n, c, k):
    return lambda: value(samples(n, c), "pass_at_k", condition="default", k=str(k))


FAILING = {"ties": "ties fail"}
TURNS = ("0", "1-2", "3+")
REDUCTION = {"condition": "requirements", "compared with": "default"}
REPRODUCED = {
    "u-reader-acc": of_300("reader_accuracy", "people_reader", **FAILING),
    "u-reader-kappa": of_300("reader_kappa", "people_reader", **FAILING),
    "u-reader-recall": of_300("reader_recall", "people_reader", **FAILING),
    "u-reader-precision": of_300("reader_precision", "people_reader", **FAILING),
    "u-gold-failed": of_300("gold_failed"),
    "u-gold-total": summed(of_300("gold_failed"), of_300("gold_passed")),
    "u-gold-annotations": of_300("n_annotations"),
    "u-noanswer-agree": of_300("no_answer_agreement", "people_reader"),
    "u-collabs": of_480("n_collaborations", "work"),
    "u-replies": of_480("n_replies", "work"),
    "u-replies-per-model": of_480("n_replies", "work", model="opus"),
    "u-replies-per-project": of_480("n_replies", "work", project="x"),
    "u-fail-rate": of_480("failure_rate"),
    "u-gap-share": of_480("gap_rate", times=100),
    "u-gap-hist-sum": summed(*(of_480(f"gaps_{n}", "gaps") for n in ("0", "1", "2", "3plus"))),
    "u-gap-hist-any": of_480("gaps_any", "gaps"),
    "u-gap-hist-2plus": of_480("gaps_2plus", "gaps"),
    "u-gaps-per-gapreply": of_480("gaps_per_reply", "gaps"),
    "u-failed-without-gap": of_480("failed_without_gap"),
    "u-firstthird": of_480("early_gap", "gaps"),
    "u-t3-noanswer": of_480("reason_no_answer", times=100),
    "u-t3-language": of_480("reason_language", times=100),
    "u-t3-pointer": of_480("category_pointer", times=100),
    "u-t3-coined": of_480("category_coined", times=100),
    "u-t3-term": of_480("category_term", times=100),
    "u-t3-background": of_480("category_background", times=100),
    "u-turngroups-sum": summed(*(of_480("n_replies", "work", **{"tool turns": one}) for one in TURNS)),
    "u-turngroups-rate": lambda: sum(
        world("read_480").row("failure_rate", "reader_by_tool_turns", **{"tool turns": one}).k for one in TURNS
    ),
    "u-sol-rate": of_480("failure_rate", "reader_by_model", model="sol"),
    "u-sol-term": of_480("category_term", "reader_by_model", 100, model="sol"),
    "u-sol-noanswer": of_480("reason_no_answer", "reader_by_model", 100, model="sol"),
    "u-opus-rate": of_480("failure_rate", "reader_by_model", model="opus"),
    "u-opus-pointer": of_480("category_pointer", "reader_by_model", 100, model="opus"),
    "u-opus-coined": of_480("category_coined", "reader_by_model", 100, model="opus"),
    "u-origin-file": of_480("origin_agent_file", "origins", 100),
    "u-origin-toolargs": of_480("origin_tool_args", "origins", 100),
    "u-origin-memory": of_480("origin_project_memory", "origins", 100),
    "u-origin-sum": of_480("origin_private", "origins", 100),
    "u-origin-sum-counts": of_480("origin_private", "origins", 100),
    "u-points": of_256("n_points"),
    "u-req-reduction": of_256("reduction", "differences", **REDUCTION),
    "u-default-rate": of_256("point_failure_rate", condition="default"),
    "u-req-rate": of_256("point_failure_rate", condition="requirements"),
    "u-sepreq-rate": of_256("point_failure_rate", condition="separate with requirements"),
    "u-sepreq-diff": of_256(
        "reduction", "differences", **{"condition": "separate with requirements", "compared with": "requirements"}
    ),
    "u-rewrite-rate": of_256("point_failure_rate", condition="rewrite"),
    "u-rewrite-reduction": of_256(
        "reduction", "differences", **{"condition": "rewrite", "compared with": "default"}
    ),
    "u-pt-opus-default": of_256("point_failure_rate", "conditions_by_model", model="opus", condition="default"),
    "u-pt-opus-req": of_256("point_failure_rate", "conditions_by_model", model="opus", condition="requirements"),
    "u-pt-opus-rewrite": of_256("point_failure_rate", "conditions_by_model", model="opus", condition="rewrite"),
    "u-pt-sol-default": of_256("point_failure_rate", "conditions_by_model", model="sol", condition="default"),
    "u-pt-sol-rewrite": of_256("point_failure_rate", "conditions_by_model", model="sol", condition="rewrite"),
    "u-faith-default": of_256("errors_and_omissions", "checker", condition="default"),
    "u-faith-req": of_256("errors_and_omissions", "checker", condition="requirements"),
    "u-faith-rewrite": of_256("errors_and_omissions", "checker", condition="rewrite"),
    "u-ab-annotations": of_83("n_annotations"),
    "u-ab-replies": of_83("n_texts"),
    "u-ab-default-annots": of_83("n_annotations", condition="default"),
    "u-ab-reader-default": of_83("blind_reader_failure_rate", condition="default"),
    "u-ab-reader-rewrite": of_83("blind_reader_failure_rate", condition="rewrite"),
    "u-ab-diff": of_83("contrast", **{"condition": "rewrite", "compared with": "default"}),
    "u-ab-collabs": of_83("n_collaborations"),
    "u-ab-feasible-kappa": of_83("reader_kappa", "blind_reader", **FAILING),
    "u-ab-feasible-acc": of_83("reader_accuracy", "blind_reader", **FAILING),
    "u-passk-n16c1k1": passed(16, 1, 1),
    "u-passk-n16c1k4": passed(16, 1, 4),
    "u-passk-n16c8k4": passed(16, 8, 4),
    "u-passk-n16c0k16": passed(16, 0, 16),
    "u-passk-n16c3k14": passed(16, 3, 14),
    "u-pass1-total": lambda: value(hundred(), "n_usable", condition="default"),
    "u-pass16-points": lambda: value(hundred(), "points_with_usable", condition="default"),
}
NO_COUNTS = {
    "u-class-kappa-mean": "the mean of two printed kappas; the labels behind them are printed nowhere",
}


def hundred():
    """100 points of 16 samples: 832 usable, and 97 points with at least one."""
    return samples(16, *[9] * 56, *[8] * 41, *[0] * 3)


@pytest.mark.parametrize("name", sorted(REPRODUCED))
def test_a_printed_figure_comes_out_of_its_counts(name):
    entry = golden()[name]
    assert abs(REPRODUCED[name]() - entry["expected"]) <= entry["tolerance"] + 1e-9


def test_every_row_is_reproduced_or_listed_with_its_reason():
    assert set(REPRODUCED) | set(NO_COUNTS) == set(golden())
    assert not set(REPRODUCED) & set(NO_COUNTS)


def test_the_counts_behind_a_share_and_its_base_are_named():
    row = world("read_480").row("reason_no_answer", "reader")
    assert (row.k, row.n, row.denominator) == (73, 258, "failed texts")
    interval = row.figure.interval
    assert interval.n_clusters == 32
    assert interval.unit == "collaboration"
    assert interval.low < row.figure.value < interval.high


def test_the_table_of_reader_and_majority_has_gold_in_rows():
    grid = world("labelled_300").table("people_confusion")
    assert isinstance(grid, Grid)
    assert grid.counts == ((171, 20), (34, 75))


# By hand.

LABEL = {"p": "readable", "f": "needs_information", "u": "unrepairable_or_no_answer"}


def labelled(*votes, verdicts=None, **values):
    """One reply for each text of votes, by ana, ben and so on; `.` is no label. The reader fails those with `f`."""
    records = [collaboration("c1"), collaboration("c2")]
    for n, said in enumerate(votes):
        records.append(reply(f"r{n}", f"c{1 + n % 2}", n_chars=100))
        if verdicts:
            records.append(judgment(f"r{n}", int(verdicts[n] == "f")))
        records += [
            annotation(f"r{n}", who, LABEL[one], **values)
            for who, one in zip(counts.PEOPLE, said, strict=False)
            if one != "."
        ]
    return records


def test_a_tie_fails_and_the_other_rules_stand_beside():
    # majorities fail, tie, pass; the reader says fail, fail, pass
    report = report_of(labelled("ffp", "fp", "ppf", verdicts="ffp"))
    assert value(report, "gold_ties") == 1
    assert value(report, "gold_failed") == 2
    assert value(report, "gold_failure_rate", ties="ties fail") == 2 / 3
    assert value(report, "gold_failure_rate", ties="ties pass") == 1 / 3
    assert value(report, "gold_failure_rate", ties="ties left out") == 1 / 2
    assert value(report, "reader_accuracy", ties="ties fail") == 1
    assert value(report, "reader_accuracy", ties="ties pass") == 2 / 3
    out = report.row("reader_accuracy", ties="ties left out").figure
    assert (out.value, out.n_items, dict(out.left_out)) == (1, 2, {"tie": 1})


def test_the_rule_for_ties_is_a_parameter_and_stands_first():
    report = report_of(labelled("fp", "pp", verdicts="fp"), tie_rule="pass")
    assert report.settings["tie_rule"] == "pass"
    assert value(report, "gold_failed") == 0
    assert dict(report.table("people_reader").rows[0].by)["ties"].text == "ties pass"


def test_of_two_failing_labels_the_stronger_needs_more_votes():
    report = report_of(labelled("uuffp", "uuufp", "fffup"))
    assert value(report, "gold_needs_information") == 2
    assert value(report, "gold_unrepairable") == 1


def test_one_label_is_no_majority():
    report = report_of(labelled("f", "fp", "pp"))
    assert value(report, "gold_few") == 1
    assert value(report, "gold_total") == 2


def test_each_annotator_stands_against_the_majority_of_the_other_four():
    # text 1: others of ana fffp; text 2: ffpp, a tie; text 3: pppp
    report = report_of(labelled("ffffp", "pffpp", "ppppp"))
    ana = {"annotator": "ana"}
    assert value(report, "others_ties", **ana) == 1
    assert value(report, "others_equal", **ana, ties="ties fail") == 2 / 3
    assert value(report, "others_equal", **ana, ties="ties pass") == 1
    assert report.row("others_equal", **ana, ties="ties left out").figure.n_items == 2


def test_errors_of_the_reader_are_left_out_and_counted():
    records = [collaboration("c"), *(reply(f"r{n}", "c") for n in range(3))]
    records += [judgment("r0", 1), judgment("r1"), {"record": "judgment", "target": "r2", "status": "error"}]
    row = report_of(records).row("failure_rate", "reader")
    assert (row.k, row.n, dict(row.figure.left_out)) == (1, 2, {"unreadable": 1})
    assert row.figure.interval_reason == "too_few_clusters"


def test_nothing_failed_leaves_reasons_without_a_value():
    report = report_of([collaboration("c"), reply("r", "c"), judgment("r")])
    assert value(report, "failure_rate", "reader") == 0
    assert report.row("reason_gap", "reader").figure.reason == "empty"
    assert report.row("gaps_per_reply").figure.reason == "empty"


def test_two_collaborations_have_an_interval_that_says_how_few_they_are():
    records = [collaboration("c1"), collaboration("c2")]
    for n in range(4):
        records += [reply(f"r{n}", f"c{1 + n % 2}"), judgment(f"r{n}", int(n in (0, 2, 1)))]
    figure = report_of(records).row("failure_rate", "reader").figure
    # the four resamples of two clusters with 2 of 2 and 1 of 2: 1, .75, .75, .5
    assert figure.flags == ("very_few_clusters",)
    assert figure.interval.method == "enumerated"
    assert (figure.interval.low, figure.interval.high) == pytest.approx((0.51875, 0.98125))
    strict = report_of(records, min_clusters=3).row("failure_rate", "reader").figure
    assert (strict.interval, strict.interval_reason) == (None, "too_few_clusters")


def test_the_verdict_without_quotes_stands_beside_and_can_be_taken_instead():
    records = [collaboration("c")]
    for n, without in enumerate((True, False, False)):
        records += [reply(f"r{n}", "c"), judgment(f"r{n}", int(n < 2), failed_without_quote_check=without)]
    assert value(report_of(records), "failure_rate", "reader") == 2 / 3
    assert value(report_of(records), "failure_rate_without_quote_check") == 1 / 3
    assert value(report_of(records, quote_check=False), "failure_rate", "reader") == 1 / 3


def gap(name, target, start=None, end=None, **values):
    place = {} if start is None else {"start": start, "end": end}
    return {"record": "gap", "id": name, "target": target, **place, **values}


def span(start, end, kind="definition"):
    return {"start": start, "end": end, "type": kind}


def marked_records():
    """One failed text: three people mark passages that touch 10 to 30, two mark 50 to 60, one marks nothing."""
    records = [collaboration("c1"), reply("r", "c1", n_chars=90), judgment("r", 3)]
    records += [gap("g1", "r", 29, 33), gap("g2", "r", 30, 40), gap("g3", "r", 58, 70)]
    marks = ([span(10, 20)], [span(15, 25), span(50, 60)], [span(24, 30), span(55, 56)], [], None)
    return records + [
        annotation("r", who, LABEL["f"] if spans is not None else LABEL["p"], **({"spans": spans} if spans else {}))
        for who, spans in zip(counts.PEOPLE, marks, strict=True)
    ]


def test_gaps_and_marked_spans_meet_on_one_character():
    report = report_of(marked_records())
    on_span = report.row("gap_on_span")
    assert (on_span.k, on_span.n) == (2, 3)  # 30 to 40 begins where the span ends
    found = report.row("majority_spans_found")
    assert (found.k, found.n) == (1, 1)  # 10 to 30, by three; 50 to 60 is of two
    few = report_of(marked_records(), min_span_annotators=2).row("majority_spans_found")
    assert (few.k, few.n) == (2, 2)
    assert value(report, "spans_per_failing") == 5 / 3
    assert dict(report.row("spans_per_failing").figure.left_out) == {"not_observed": 1}


def test_an_early_gap_starts_before_a_third_of_the_length():
    records = [collaboration("c")]
    for n, start in enumerate((29, 30, None)):
        records += [reply(f"r{n}", "c", n_chars=90), judgment(f"r{n}", 1)]
        records.append(gap(f"g{n}", f"r{n}", start, None if start is None else start + 3))
    row = report_of(records).row("early_gap")
    assert (row.k, row.n, dict(row.figure.left_out)) == (1, 2, {"not_observed": 1})


def test_dose_tables_go_both_ways():
    records = labelled("fff", "ffp", "ppp", "ppf", verdicts="ffpp")
    report = report_of(records)
    assert value(report, "dose_failed", gaps="1") == 1
    assert value(report, "dose_annotators", gaps="1") == 2.5
    assert value(report, "dose_annotators", gaps="0") == 0.5
    assert report.row("dose_failed", gaps="2+").figure.reason == "empty"
    assert [value(report, "reverse_dose", **{"people who fail it": str(n)}) for n in range(4)] == [0, 0, 1, 1]


def test_times_are_medians_by_the_verdict_with_and_without_breaks():
    records = labelled("ff", "pp")
    times = iter((10_000, 30_000, 8_000, 9_000))
    for one in records:
        if one["record"] == "annotation":
            one["active_ms"] = next(times)
            one["after_break"] = one["target"] == "r0" and one["annotator"] == "ana"
    report = report_of(records)
    assert value(report, "reading_active_ms", majority="fail") == 20
    assert value(report, "reading_active_ms_settled", majority="fail") == 30
    assert value(report, "reading_active_ms", majority="pass") == 8.5


def test_a_difference_counts_points_with_both_judgments():
    records = [collaboration("c1"), collaboration("c2")]
    for n, (default, rewrite) in enumerate([(1, 0), (1, 1), (0, 0), (1, None)]):
        home = f"c{1 + n % 2}"
        records += [written(f"d{n}", home, f"p{n}", "default"), judgment(f"d{n}", default)]
        records.append(written(f"w{n}", home, f"p{n}", "rewrite"))
        if rewrite is not None:
            records.append(judgment(f"w{n}", rewrite))
    row = report_of(records).row("reduction", "differences", **{"condition": "rewrite", "compared with": "default"})
    assert row.figure.value == pytest.approx(1 / 3)
    assert (row.figure.n_items, dict(row.figure.left_out)) == (3, {"not_in_both": 1})


def test_flips_are_points_that_the_rewrite_turns_and_people_agree_or_not():
    records = [collaboration("c1"), collaboration("c2")]
    for n, (default, rewrite) in enumerate([("ff", "pp"), ("pp", "pp"), ("ff", "ff")]):
        for arm, said, failed in (("default", default, 1), ("rewrite", rewrite, int(n == 2))):
            records += [written(f"{arm}{n}", f"c{1 + n % 2}", f"p{n}", arm), judgment(f"{arm}{n}", failed)]
            records += [
                annotation(f"{arm}{n}", who, LABEL[one])
                for who, one in zip(counts.PEOPLE, said, strict=False)
            ]
    report = report_of(records)
    assert value(report, "flips") == 2
    assert value(report, "flips_agreed") == 1
    assert value(report, "fail_share", condition="default") == pytest.approx(2 / 3)


def test_a_sample_needs_both_judgments_and_a_point_enough_samples():
    records = counts.sampled(3, (2, 3))
    for one in records:  # one judgment of a usable sample turns, another cannot be read
        if one["record"] == "judgment" and (one["target"], one["judgment_index"]) == ("p0/1", 2):
            one["n_gaps"] = 1
        if one["record"] == "judgment" and (one["target"], one["judgment_index"]) == ("p1/3", 1):
            one.update(status="error", n_gaps=None, fail_answer=None, fail_language=None)
    report = report_of(records)
    assert value(report, "n_usable", condition="default") == 3  # 1 of 3, and 2 of 2
    assert value(report, "n_samples_unreadable", condition="default") == 1
    assert value(report, "pass_at_k", condition="default", k="1") == pytest.approx((1 / 3 + 1) / 2)
    assert report.row("pass_at_k", condition="default", k="3").figure.reason == "k_gt_n"
    enough = report.row("pass_at_k_of_enough", condition="default", k="3").figure
    assert (enough.value, enough.n_items, dict(enough.left_out)) == (1, 1, {"few_samples": 1})


def test_the_classifier_stands_beside_each_annotator_and_what_all_chose():
    records = [collaboration("c1"), reply("r", "c1"), judgment("r", 4)]
    machine, ana = ("pointer", "coined", "term", "term"), ("pointer", "coined", "term", "coined")
    ben = ("pointer", "term", "term", "coined")
    for n, (own, one, other) in enumerate(zip(machine, ana, ben, strict=True)):
        records.append(gap(f"g{n}", "r", category=own))
        for who, said in (("ana", one), ("ben", other)):
            records.append({"record": "category_label", "gap": f"g{n}", "annotator": who, "category": said})
    report = report_of(records)
    beside = {"one": "classifier", "other": "ana"}
    assert value(report, "category_equal", **beside) == 3 / 4
    # chance with ana: 1/4 1/4 + 1/4 2/4 + 2/4 1/4 = 5/16; with ben: 1/16 + 1/16 + 4/16 = 6/16
    with_ana, with_ben = (3 / 4 - 5 / 16) / (11 / 16), (2 / 4 - 6 / 16) / (10 / 16)
    assert value(report, "category_kappa", **beside) == pytest.approx(with_ana)
    assert value(report, "classifier_kappa_mean", one="classifier") == pytest.approx((with_ana + with_ben) / 2)
    common = {"one": "classifier", "other": "the category that all annotators chose"}
    assert report.row("category_equal", **common).figure.n_items == 3
    assert value(report, "category_equal", **common) == 2 / 3


def test_the_order_of_records_and_the_names_of_people_do_not_matter():
    records = counts.labelled_300()
    turned = [*records[:20], *reversed(records[20:])]
    rename = {"ana": "zed", "ben": "yan"}
    renamed = [{**one, "annotator": rename.get(who, who)} if (who := one.get("annotator")) else one for one in records]
    first = report_of(records)
    for metric, by in (("fleiss", {}), ("gold_failed", {}), ("reader_kappa", FAILING), ("pairwise_kappa", {})):
        assert value(report_of(turned), metric, **by) == pytest.approx(value(first, metric, **by))
        assert value(report_of(renamed), metric, **by) == pytest.approx(value(first, metric, **by))


def test_the_same_seed_gives_the_same_report_and_another_another():
    records = counts.labelled_300()
    assert report_of(records).as_dict() == report_of(records).as_dict()
    assert report_of(records, seed=2).as_dict()["tables"] != report_of(records).as_dict()["tables"]


def test_no_records_make_an_empty_report():
    assert report_of([]).tables == ()


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({**judgment("r1"), "n_gaps": None}, "n_gaps"),
        ({"record": "judgment", "target": "r1", "status": "error", "n_gaps": 1}, "n_gaps"),
        (annotation("r1", "ana", states_no_result=True), "states_no_result"),
        (annotation("r1", "ana", LABEL["f"], spans=[span(5, 5)]), "end"),
        (reply("r1", "c"), "id"),
        (written("r1", "c", "p", "default"), "id"),
        (judgment("r1", 1), "target"),  # its gap is missing where another is there
        (judgment("r9"), "target"),
    ],
)
def test_a_wrong_record_is_named_by_field(record, field):
    right = [collaboration("c"), reply("r1", "c")]
    if record.get("target") == "r1" and record.get("n_gaps") == 1 and record["status"] == "ok":
        right += [gap("g1", "r1"), gap("g2", "r1")]
    with pytest.raises(RecordsRefused) as refused:
        records_of([*right, record], METHOD.schema)
    assert field in {one.field for one in refused.value.problems}


def test_two_judgments_of_one_index_and_two_texts_of_one_condition_are_refused():
    records = [collaboration("c"), written("a", "c", "p", "default"), written("b", "c", "p", "default")]
    with pytest.raises(RecordsRefused, match="One text of each condition"):
        records_of(records, METHOD.schema)
    twice = [collaboration("c"), reply("r", "c"), judgment("r"), judgment("r", judgment_index=1)]
    with pytest.raises(RecordsRefused, match="Every judgment of a text once"):
        records_of(twice, METHOD.schema)


def test_pairs_of_a_very_large_panel_are_left_away_and_the_report_says_so():
    records = [collaboration("c1"), collaboration("c2"), reply("r1", "c1"), reply("r2", "c2")]
    records += [annotation(f"r{1 + n % 2}", f"a{n:02}", LABEL["fp"[n % 3 == 0]]) for n in range(42)]
    table = report_of(records).table("people_agreement")
    assert [row.metric for row in table.rows] == ["fleiss", "fleiss_labels"]
    assert [note.params for note in table.notes] == [{"n": 20}]


def test_a_blind_comparison_is_also_split_by_language():
    records = [collaboration("c1", language="en"), collaboration("c2", language="zh")]
    for n, (default, rewrite) in enumerate([("f", "p"), ("p", "p"), ("f", "f")]):
        for arm, said in (("default", default), ("rewrite", rewrite)):
            records.append(written(f"{arm}{n}", f"c{1 + n % 2}", f"p{n}", arm))
            records.append(annotation(f"{arm}{n}", "ana", LABEL[said]))
    report = report_of(records)
    by = {"condition": "rewrite", "compared with": "default"}
    assert value(report, "contrast", **by) == pytest.approx(1 / 3)
    assert value(report, "contrast", **by, language="en") == 1 / 2
    assert value(report, "contrast", **by, language="zh") == 0
