"""What experts reach beside detectors and jury, and gold that a jury agreed on; small cases worked by hand."""

import pytest

from scoring.methods.records import RecordsRefused, records_of
from scoring.methods.redundancy_schema import SCHEMA
from tests.scoring.methods.test_redundancy import detector, gold, jury, report_of, step, trajectory, value

EXPERTS = "experts, one against another, round 1"


def expert(name, who, steps, **more):
    return {"record": "expert", "trajectory": name, "expert": who, "steps": steps, **more}


def three_settings(name):
    """Of a detector that is right everywhere."""
    yield detector(name, "d", "classification", [step(1)])
    yield detector(name, "d", "retrieval", [step(1)])
    yield detector(name, "d", "detection", [{**step(1), "confidence": 0.5}])


def of_two_experts():
    records = [record for name in ("t", "u") for record in (trajectory(name), gold(name, [step(1)]))]
    records += [record for name in ("t", "u") for record in three_settings(name)]
    records += [
        expert("t", "ana", [step(1, "DUP", [6]), step(2, "INC"), step(3, "EXP")]),
        expert("t", "ben", [step(1, "DUP", [8]), step(2, "INC"), step(4, "EXP"), step(5, "ABN")]),
        expert("u", "ana", []),
        expert("u", "ben", [step(1)]),
    ]
    return records


def test_experts_stand_beside_detectors_by_the_same_measures():
    report = report_of(of_two_experts())
    types = report.row("stepcls_experts", "stepcls", detector=EXPERTS)
    assert (types.k, types.n) == (2, 2)
    both = report.row("evret_experts", "evret", detector=EXPERTS)
    assert (both.k, both.n) == (1, 2)
    precision = report.row("stepdet_experts", "stepdet", detector=EXPERTS)
    assert precision.figure.value == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert precision.figure.n_items == 1


def test_a_later_round_and_a_trajectory_of_one_expert_change_nothing_of_what_experts_reach():
    more = [
        expert("t", "ana", [step(1)], round=2),
        expert("t", "ben", [step(1)], round=2),
        trajectory("v"),
        expert("v", "ana", [step(1)]),
    ]
    figures = [
        [value(report, f"{table}_experts", detector=EXPERTS) for table in ("stepcls", "evret", "stepdet")]
        for report in (report_of(of_two_experts()), report_of([*of_two_experts(), *more]))
    ]
    assert figures[0] == figures[1]


@pytest.mark.parametrize(
    ("said", "reason"),
    [([], "empty"), ([expert("t", "ana", [step(1)]), expert("u", "ben", [step(1)])], "no_overlap")],
)
def test_where_no_two_experts_read_the_same_there_is_a_reason_and_no_figure(said, reason):
    records = [record for name in ("t", "u") for record in (trajectory(name), gold(name, [step(1)]))]
    records += [*three_settings("t"), jury("t", "a", [step(1)]), *said]
    report = report_of(records)
    for table in ("stepcls", "evret", "stepdet"):
        figure = report.row(f"{table}_experts", table, detector=EXPERTS).figure
        assert (figure.value, figure.reason) == (None, reason)
    assert report.row("experts_f1", "jury_groups", scope=EXPERTS).figure.reason == reason


def test_the_f1_of_experts_stands_beside_that_of_the_jury():
    report = report_of([*of_two_experts(), jury("t", "a", [step(1)])])
    assert value(report, "experts_f1", "jury_groups", scope=EXPERTS) == pytest.approx(2 * 2 / (3 + 4 + 1))
    assert value(report, "experts_f1", scope=EXPERTS) == value(report, "mean_pair_f1")


def of_both_provenances():
    """Experts and jury one trajectory each, with two steps and one; the detector is right of the experts' alone."""
    records = [trajectory("e"), gold("e", [step(1), step(2)]), trajectory("j"), trajectory("open", state="unresolved")]
    records.append({**gold("j", [step(3)]), "provenance": "jury"})
    records += [jury(name, who, steps) for who in "ab" for name, steps in (("e", [step(1)]), ("j", [step(3)]))]
    records += [detector("e", "d", "classification", [step(1), step(2)])]
    return [*records, detector("j", "d", "classification", [step(3, "EXP")])]


def test_the_jury_is_compared_with_gold_of_experts_alone():
    report = report_of(of_both_provenances(), jury_gold=True)
    assert value(report, "jury_pool", trajectories="with expert steps") == 1
    row = report.row("group_recall", "jury_groups", scope="all")
    assert (row.k, row.n) == (1, 2)


def test_detectors_are_scored_on_all_gold_and_by_whose_it_is():
    report = report_of(of_both_provenances(), jury_gold=True)
    assert report.row("stepcls_accuracy", detector="d").n == 3
    of = {who: {"detector": "d", "provenance of gold": who} for who in ("experts", "jury")}
    assert value(report, "stepcls_accuracy", **of["experts"]) == 1.0
    assert value(report, "stepcls_accuracy", **of["jury"]) == 0.0


def test_the_data_set_is_counted_by_whose_gold_it_is():
    report = report_of(of_both_provenances(), jury_gold=True)
    for who, n_steps in (("experts", 2), ("jury", 1)):
        by = {"provenance of gold": who}
        assert value(report, "gold", **by) == 1
        assert value(report, "steps", **by) == n_steps
    assert report.row("unresolved_share").n == 2  # what the jury alone has read is none that experts annotated
    assert report.row("kept_share").n == 1


def test_without_gold_of_a_jury_nothing_is_broken_down_by_it():
    report = report_of([trajectory("t"), gold("t", [step(1)]), trajectory("open", state="unresolved")])
    assert all("provenance of gold" not in dict(row.by) for row in report.table("dataset").rows)


def test_gold_is_of_experts_or_a_jury():
    with pytest.raises(RecordsRefused) as refused:
        records_of([trajectory("t"), {**gold("t", []), "provenance": "model"}], SCHEMA)
    assert refused.value.problems[0].field == "provenance"


def test_messages_that_two_steps_share_count_once():
    parallel = [{"step": [4, 5], "type": "DUP", "evidence": [-1]}, {"step": [4, 6], "type": "DUP", "evidence": [-1]}]
    report = report_of(
        [trajectory("t"), gold("t", parallel), *(jury("t", who, parallel[:1]) for who in "ab")]
    )
    row = report.row("message_recall", scope="retained")
    assert (row.k, row.n) == (2, 3)


def test_both_readings_of_precision_stand_side_by_side():
    records = [trajectory("t"), gold("t", [step(1), step(2)])]
    records.append(detector("t", "d", "detection", [{**step(1), "confidence": 0.9}]))
    report = report_of(records)
    assert value(report, "prec_at_5", detector="d") == 1.0
    assert value(report, "prec_at_5_by_gold", detector="d") == 0.5
    turned = report_of(records, precision_of="gold")
    assert value(turned, "prec_at_5", detector="d") == 0.5
    assert value(turned, "prec_at_5_by_predictions", detector="d") == 1.0


def test_gold_of_the_jury_counts_only_where_that_is_asked_for():
    whole = report_of(of_both_provenances(), jury_gold=True).row("pool", "dataset").figure.value
    experts = report_of(of_both_provenances()).row("pool", "dataset").figure.value
    assert 0 < experts < whole


def test_a_detector_without_a_trajectory_with_gold_steps_has_no_figure_and_no_error():
    settings = ("classification", "retrieval", "detection")
    records = [trajectory("t"), *(detector("t", "d", setting, []) for setting in settings), jury("t", "a", [])]
    for more in ([], [gold("t", [])]):
        report = report_of([*records, *more])
        assert report.row("prec_at_1", detector="d").figure.value is None
        assert report.row("stepdet_type_precision", detector="d", type="DUP").figure.value is None
        assert report.row("stepcls_accuracy", detector="d").figure.value is None
