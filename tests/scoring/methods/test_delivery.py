"""Delivery of long tool outputs: printed figures from records with the printed counts, and small cases by hand; and the
list of printed figures that no counts give."""

import json
from functools import cache

import pytest

from scoring.methods.delivery import METHOD
from scoring.methods.delivery_schema import SCHEMA
from scoring.methods.records import RecordsRefused, records_of
from scoring.methods.tables import BadSetting
from scoring.stats.significance import holm
from tests.scoring.methods import test_redundancy, test_revision
from tests.scoring.methods.test_redundancy import REFERENCE, ROWS, in_another_order, reproduced, value

P_VALUES = "p values, not counts: scoring.stats.significance.holm gives it (below)"
PRINTED_PARTS = "sums of printed, rounded parts whose counts are not known: the parts are checked to add up (below)"
IMPLIED = "implied by a printed, rounded gain; the runs behind it are not known: checked as arithmetic (below)"
NOT_FROM_COUNTS = {
    "p-holm-gpt52": P_VALUES,
    "p-holm-gpt51": P_VALUES,
    "p-holm-rest": P_VALUES,
    "p-report-vs-round-52": PRINTED_PARTS,
    "p-report-vs-round-51": PRINTED_PARTS,
    "p-resid-52": PRINTED_PARTS,
    "p-resid-51": PRINTED_PARTS,
    "p-resid-54": PRINTED_PARTS,
    "p-54-evidence-loss": PRINTED_PARTS,
    "p-54-toc-pooled": IMPLIED,
    "p-54-inline2": IMPLIED,
    "i-si-not-youden": "a wrong definition of selectivity; test_revision shows that no report prints it",
}
"""Every other row of r-, i- and p- is read out of a report over records with its counts."""


def report_of(values, **settings):
    return METHOD.of(records_of(values, SCHEMA), {"n_resamples": 100, "n_flips": 100, **settings})


def item(name, kind="numeric", **more):
    return {"record": "item", "id": name, "kind": kind, **more}


def run(name, item_, condition, correct, model="m", **more):
    return {"record": "run", "id": name, "item": item_, "model": model, "condition": condition, "correct": correct,
            **more}  # fmt: skip


ITEMS = 158
CONDITIONS = {"direct": "direct", "cot": "cot", "toc": "toc", "inline": "raw100k", "tocreport": "toc_report"}


def answered(model, condition, n_right, n=ITEMS, **more):
    return [run(f"{model}-{condition}-{i}", f"v{i}", condition, i < n_right, model, **more) for i in range(n)]


@cache
def of_accuracy():
    """One headline run of each model and condition over 158 items, of which the same letter is right on 52."""
    records = [item(f"v{i}", key="B" if i < 52 else "ACD"[i % 3]) for i in range(ITEMS)]
    cells = {}
    for id_, row in ROWS.items():
        if id_.startswith("p-acc-") and id_ != "p-acc-majority-class":
            model, short = id_.removeprefix("p-acc-").split("-")
            cells[id_] = (model, CONDITIONS[short])
            records += answered(*cells[id_], row["inputs"]["k"], headline=True)
    report = report_of(records)
    figures = {
        id_: 100 * value(report, "accuracy_headline", model=model, condition=condition)
        for id_, (model, condition) in cells.items()
    }
    figures["p-acc-majority-class"] = 100 * value(report, "majority_class")
    figures["p-majority-gap"] = 100 * value(report, "over_majority_class", model="opus", condition="direct")
    figures["p-gain-min"] = 100 * value(report, "difference", model="gpt51", contrast="toc - direct")
    figures["p-gain-max"] = 100 * value(report, "difference", model="sonnet", contrast="toc - cot")
    figures["p-opus-diff"] = 100 * value(report, "difference", model="opus", contrast="toc - raw100k")
    return figures


@cache
def of_items():
    records = [item(f"x{i}", excluded="several options match") for i in range(42)]
    records += [
        item(f"v{i}", "numeric" if i < 137 else "other", under_specified=i < 24, report_chars=100_000 + (i < 33))
        for i in range(ITEMS)
    ]
    report = report_of(records)
    assert value(report, "excluded_for", why="several options match") == 42
    return {
        "p-items": value(report, "kept"),
        "p-strict": value(report, "strict"),
        "p-inlineable": value(report, "inlineable"),
        "p-nonnumeric": value(report, "not_numeric"),
    }


@cache
def of_reruns():
    matches = ["identical"] * 4971 + ["line_order_only"] * 38
    records = [{"record": "rerun", "comparable": True, "match": match} for match in matches]
    report = report_of([*records, {"record": "rerun", "comparable": False}])
    assert value(report, "rerun_same") == 1.0
    return {"p-rerun": 100 * value(report, "rerun_identical")}


@cache
def of_audits():
    causes = {"retrieval_channel": 7, "held_value_error": 2, "build_failure": 15}
    records = [item(f"v{i}", "numeric" if i < 58 else "other") for i in range(68)]
    because = [cause for cause, n in causes.items() for _ in range(n)]
    for i in range(68):
        wrong = i < len(because)
        records.append(run(f"r{i}", f"v{i}", "toc", not wrong, built=True, exposed=True))
        said = {"built": True, "exposed": True, "closed": not wrong} if i >= 6 else {"built": True, "exposed": False}
        records.append({"record": "audit", "run": f"r{i}", "auditor": "rita", **said})
        if wrong:
            records[-1]["cause"] = because[i]
    report = report_of(records)
    row = report.row("audit_agreement")
    assert (row.k, row.n) == (52, 58)
    total = sum(one.figure.value for one in report.table("audits").rows if one.metric == "cause")
    assert total == value(report, "losses")
    return {"p-audit": total, "p-audit-agree": 100 * row.figure.value}


@cache
def of_traps():
    figures = {}
    for id_, row in ROWS.items():
        if id_.startswith("p-trap-"):
            n_fell, n = row["inputs"]["k"], row["inputs"]["n"]
            records = [item(f"v{i}") for i in range(n)]
            records += [
                run(f"r{i}", f"v{i}", "toc", False, built=True, exposed=True, seen_precision="more_digits", trap=True,
                    chose_truncated_neighbour=i < n_fell)
                for i in range(n)
            ]  # fmt: skip
            found = report_of(records).row("trap", model="m", condition="toc")
            assert (found.k, found.n) == (n_fell, n)
            figures[id_] = 100 * found.figure.value
    return figures


def staged(condition, p, s, c, u, n=1000):
    """n items: built, of these exposed, of these right; and some right without."""
    n_built, n_seen, n_right = round(n * p), round(n * p * s), round(n * p * s * c)
    n_lucky = round(n * u)
    return [
        run(f"{condition}-{i}", f"v{i}", condition, i < n_right or n_seen <= i < n_seen + n_lucky, built=i < n_built,
            exposed=i < n_seen)
        for i in range(n)
    ]  # fmt: skip


def decomposed(before, after, **settings):
    records = [item(f"v{i}") for i in range(1000)]
    return report_of([*records, *staged("raw100k", *before), *staged("toc", *after)], **settings)


@cache
def of_decomposition():
    by = {"model": "m", "contrast": "toc - raw100k"}
    figures = {}
    for id_, before, after in (
        ("p-shapley-worked1", (0.8, 0.95, 0.95, 0.05), (0.8, 0.9, 0.85, 0.04)),
        ("p-shapley-worked2", (0.7, 0.9, 0.9, 0.02), (0.8, 0.8, 0.75, 0.02)),
    ):
        report = decomposed(before, after)
        parts = {stage: value(report, f"share_{stage}", **by) for stage in ("build", "exposure", "closure")}
        figures |= {f"{id_}-{stage}": share for stage, share in parts.items()}
        unsupported = value(report, "share_unsupported", **by)
        assert unsupported == pytest.approx(after[3] - before[3])
        figures[f"{id_}-sum"] = sum(parts.values()) + unsupported - value(report, "change", **by)
        for condition, factors in (("raw100k", before), ("toc", after)):
            found = [value(report, factor, model="m", condition=condition) for factor in stage_metrics()]
            assert found == pytest.approx(factors)
            p, s, c, u = found
            assert value(report, "accuracy_judged", model="m", condition=condition) == pytest.approx(p * s * c + u)
    assert figures.pop("p-shapley-worked1-sum") == pytest.approx(0, abs=1e-12)
    return figures


def stage_metrics():
    return ("build", "exposure", "closure", "unsupported")


@cache
def of_tokens():
    records = [item(f"v{i}") for i in range(10)]
    for condition, thousands in (("hybrid", 59.7), ("raw100k", 65.7), ("toc", 61.8)):
        records += answered("m", condition, 5, 10, tokens_in=1000 * thousands)
    report = report_of(records, contrasts="hybrid/toc")
    return {
        "p-hybrid-token-saving": 100 * value(report, "tokens_saved", model="m", contrast="hybrid - raw100k"),
        "p-hybrid-token-saving-toc": 100 * value(report, "tokens_saved", model="m", contrast="hybrid - toc"),
    }


SOURCES = (of_accuracy, of_items, of_reruns, of_audits, of_traps, of_decomposition, of_tokens)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_printed_figures_are_read_out_of_the_report(source):
    figures = source()
    wrong = {name: (figures[name], ROWS[name]["expected"]) for name in figures if not reproduced(figures, name)}
    assert not wrong
    assert figures


def test_every_printed_figure_of_the_three_methods_is_reproduced_or_listed_with_a_reason():
    here = {name for source in SOURCES for name in source()}
    found = here | set(test_redundancy.reproduced_here()) | set(test_revision.reproduced_here())
    asked = {name for name in ROWS if name.split("-")[0] in ("r", "i", "p")}
    assert found & set(NOT_FROM_COUNTS) == set()
    assert found | set(NOT_FROM_COUNTS) == asked
    assert all(NOT_FROM_COUNTS.values())


def test_figures_that_no_counts_give_follow_from_the_printed_parts():
    for name in NOT_FROM_COUNTS:
        row = ROWS[name]
        scope = {"__builtins__": {}, "holm": lambda p: holm(p).adjusted}
        assert eval(row["formula"], scope, row["inputs"]) == pytest.approx(row["expected"], abs=row["tolerance"])


def test_every_item_weighs_the_same_whatever_its_number_of_runs():
    records = [item("v0"), item("v1")]
    records += [run(f"a{i}", "v0", "toc", True) for i in range(9)]
    records.append(run("b", "v1", "toc", False))
    report = report_of(records)
    assert value(report, "accuracy", model="m", condition="toc") == 0.5
    assert value(report, "runs", model="m", condition="toc") == 10


def test_a_difference_is_over_items_with_runs_of_both_and_items_of_one_are_counted():
    records = [item(f"v{i}", setup="s1" if i < 3 else "s2") for i in range(6)]
    records += [run(f"a{i}", f"v{i}", "raw100k", i < 2) for i in range(6)]
    records += [run(f"b{i}", f"v{i}", "toc", i < 4) for i in range(5)]
    report = report_of(records)
    row = report.row("difference", model="m", contrast="toc - raw100k")
    assert row.figure.value == pytest.approx(2 / 5)
    assert row.figure.n_items == 5
    assert row.figure.left_out == {"not_in_both": 1}
    over_setups = report.row("difference_by_setup", model="m", contrast="toc - raw100k")
    assert over_setups.figure.value == row.figure.value
    assert (over_setups.figure.n_clusters, over_setups.figure.interval_reason) == (2, "too_few_clusters")
    p = report.row("p", model="m", contrast="toc - raw100k")
    assert p.figure.value == 0.5  # two differences of one, so 2 of 4 signs
    assert p.figure.details["unit"] == "item"
    assert p.figure.details["mode"] == "exact"


def test_holm_is_over_the_models_of_a_contrast_without_those_that_are_hard_to_read():
    records = [item(f"v{i}") for i in range(12)]
    for model, n_more, parsed in (("one", 6, "ok"), ("two", 4, "ok"), ("three", 8, "none")):
        records += [run(f"{model}-a{i}", f"v{i}", "raw100k", False, model) for i in range(12)]
        records += [
            run(f"{model}-b{i}", f"v{i}", "toc", i < n_more, model, answer_parse=parsed if i > n_more else "ok")
            for i in range(12)
        ]
    contrast = "toc - raw100k"
    report = report_of(records)
    assert value(report, "p", model="one", contrast=contrast) == 2 / 64
    assert value(report, "p_holm", model="one", contrast=contrast) == 2 * 2 / 64
    assert value(report, "p_holm", model="two", contrast=contrast) == 2 / 16
    assert value(report, "unparseable", model="three", condition="toc") == 3 / 12
    assert report.row("p_holm", model="three", contrast=contrast).figure.flags == ()
    stricter = report_of(records, most_unparseable=0.2)
    assert stricter.row("p", model="three", contrast=contrast).figure.flags == ("not_tested",)
    with pytest.raises(KeyError):
        stricter.row("p_holm", model="three", contrast=contrast)
    assert value(stricter, "p_holm", model="one", contrast=contrast) == 2 * 2 / 64


def test_control_and_headline_runs_can_be_the_reference_of_an_instruction():
    records = [item(f"v{i}") for i in range(4)]
    records += [run(f"c{i}", f"v{i}", "toc", i < 2, control=True) for i in range(4)]
    records += [run(f"o{i}", f"v{i}", "toc", i < 1) for i in range(4)]
    records += [run(f"r{i}", f"v{i}", "toc_report", True) for i in range(4)]
    report = report_of(records)
    assert value(report, "difference", model="m", contrast="toc_report - toc (control)") == 0.5
    assert value(report, "difference", model="m", contrast="toc_report - toc") == 1 - 3 / 8


def test_a_factor_that_an_arm_never_reached_is_borrowed_or_undefined_as_asked():
    by = {"model": "m", "contrast": "toc - raw100k"}
    built_nothing = (0.0, 0.0, 0.0, 0.1)
    report = decomposed((0.8, 0.9, 0.9, 0.0), built_nothing)
    row = report.row("share_exposure", **by)
    assert (row.figure.value, row.figure.flags) == (0.0, ("factor_borrowed",))
    assert value(report, "share_build", **by) == pytest.approx(-0.8 * 0.9 * 0.9)
    assert value(report, "change", **by) == pytest.approx(0.1 - 0.648)
    undefined = decomposed((0.8, 0.9, 0.9, 0.0), built_nothing, missing="undefined")
    for stage in stage_metrics():
        assert undefined.row(f"share_{stage}", **by).figure.reason == "factor_undefined"
    assert value(undefined, "change", **by) == pytest.approx(0.1 - 0.648)
    unseen = decomposed((0.8, 0.9, 0.9, 0.0), (0.8, 0.0, 0.0, 0.1))
    assert value(unseen, "share_closure", **by) == 0.0
    assert value(unseen, "share_exposure", **by) == pytest.approx(-0.8 * 0.9 * 0.9)
    neither = decomposed(built_nothing, built_nothing)
    assert neither.row("share_build", **by).figure.reason == "factor_undefined"


def test_right_without_the_value_is_one_share_of_two_parts():
    records = [item(f"v{i}") for i in range(4)]
    records += [
        run("a", "v0", "toc", True, built=False, exposed=False),
        run("b", "v1", "toc", True, built=True, exposed=False),
        run("c", "v2", "toc", False, built=True, exposed=False, answer_parse="refusal"),
        run("d", "v3", "toc", True, built=True, exposed=True),
    ]
    report = report_of(records)
    by = {"model": "m", "condition": "toc"}
    assert value(report, "unsupported", **by) == 0.5
    assert value(report, "unsupported_unbuilt", **by) == 0.25
    assert value(report, "unsupported_unseen", **by) == 0.25
    row = report.row("right_unsupported", **by)
    assert (row.k, row.n) == (2, 3)
    assert value(report, "no_answer", **by) == 1
    assert value(report, "refusals", **by) == 1


def test_pass_at_k_is_undefined_where_an_item_has_fewer_runs_and_stands_beside_on_the_others():
    records = [item("v0"), item("v1")]
    records += [run(f"a{i}", "v0", "toc", i == 0) for i in range(2)]
    records += [run(f"b{i}", "v1", "toc", i < 2) for i in range(4)]
    report = report_of(records, pass_at="1, 3, 8")
    by = {"model": "m", "condition": "toc"}
    assert value(report, "pass_at_k", **by, k="1") == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert report.row("pass_at_k", **by, k="3").figure.reason == "k_gt_n"
    enough = report.row("pass_at_k_enough", **by, k="3")
    assert (enough.figure.value, enough.figure.left_out) == (1.0, {"few_samples": 1})
    with pytest.raises(KeyError):
        report.row("pass_at_k", **by, k="8")


def test_replays_are_paired_by_item_and_split_by_what_fits_and_what_holds_the_key():
    records = [item(f"v{i}") for i in range(3)]
    for i, (inline, toc) in enumerate((((1, 1, 1), (1, 0, 1)), ((1, 1, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 0)))):
        for arm, results in (("inline", inline), ("toc", toc)):
            records += [
                {"record": "replay", "item": f"v{i}", "model": "m", "arm": arm, "repeat": repeat, "correct": bool(yes),
                 "fits_inline": i < 2, "key_present": i < 1}
                for repeat, yes in enumerate(results)
            ]  # fmt: skip
    report = report_of(records)
    assert value(report, "replay", model="m", checkpoints="all checkpoints") == pytest.approx(-1 / 3)
    assert value(report, "replay", model="m", checkpoints="whose report fits inline") == pytest.approx(-1 / 2)
    assert value(report, "replay", model="m", checkpoints="whose report holds the value") == pytest.approx(-1 / 3)


def test_runs_of_excluded_items_are_counted_and_left_out():
    records = [item("v0"), item("x", excluded="unstable"), run("a", "v0", "toc", True), run("b", "x", "toc", False)]
    report = report_of(records)
    assert value(report, "accuracy", model="m", condition="toc") == 1.0
    assert "1 runs of excluded items" in report.notes[0].words()


def test_a_share_of_items_that_are_all_right_has_a_score_interval():
    records = [item(f"v{i}") for i in range(20)] + answered("m", "toc", 20, 20)
    row = report_of(records).row("accuracy", model="m", condition="toc")
    assert (row.k, row.n) == (20, 20)
    assert row.figure.interval.method == "wilson"
    assert row.figure.interval.high == 1.0
    assert row.figure.interval.low == pytest.approx(0.8389, abs=1e-4)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (run("a", "v0", "toc", True, answer_parse="none"), "correct"),
        (run("a", "v0", "toc", True, built=False, exposed=True), "exposed"),
        (run("a", "v0", "toc", True, built=True), "exposed"),
        (run("a", "v0", "toc", True, chose_truncated_neighbour=True), "chose_truncated_neighbour"),
        (run("a", "v9", "toc", True), "item"),
        ({"record": "replay", "item": "v0", "model": "m", "arm": "grep", "repeat": 1, "correct": True}, "arm"),
        ({"record": "item", "id": "v0", "kind": "numeric"}, "id"),
    ],
)
def test_a_record_against_the_contract_is_refused_with_its_place(record, field):
    with pytest.raises(RecordsRefused) as refused:
        records_of([item("v0"), record], SCHEMA)
    assert refused.value.problems[0].field == field
    assert refused.value.problems[0].line == 2


@pytest.mark.parametrize(
    ("name", "text"), [("contrasts", "toc"), ("contrasts", "toc/raw100k@some"), ("pass_at", "0"), ("missing", "guess")]
)
def test_a_setting_that_is_none_is_refused_by_name(name, text):
    records = [item("v0"), *(run(f"a{i}", "v0", "toc", True) for i in range(2))]
    with pytest.raises(BadSetting) as refused:
        report_of(records, **{name: text})
    assert refused.value.problem.field == name


def test_the_example_file_fills_every_table():
    lines = (REFERENCE / "records-delivery.jsonl").read_text(encoding="utf-8").splitlines()
    report = METHOD.of(records_of(map(json.loads, lines), SCHEMA))
    assert {one.name for one in report.tables} == {
        "items", "accuracy", "differences", "stages", "decomposition", "seen", "repeats", "replay", "fidelity",
        "audits", "tokens",
    }  # fmt: skip
    assert any("ynthetic" in str(note) for note in report.notes)
    json.dumps(report.as_dict(), allow_nan=False)
    assert report.as_dict() == METHOD.of(records_of(map(json.loads, lines), SCHEMA)).as_dict()


def test_the_order_of_records_changes_no_figure():
    one, other = in_another_order(METHOD, "records-delivery.jsonl", n_flips=100)
    assert one == other


@pytest.mark.shared
def test_figures_over_recorded_runs_follow_from_their_expected_verdicts(shared_data):
    """16 runs of a scripted agent, with verdicts written down by hand."""
    expected = json.loads((shared_data / "value-runs/expected.json").read_text(encoding="utf-8"))
    with (shared_data / "value-items/items.jsonl").open(encoding="utf-8") as lines:
        known = [json.loads(line) for line in lines]
    records = [
        item(one["id"], one["kind"], setup=one["setup"], key=one["key"], report_chars=one["report_chars"],
             key_occurrences=one["key_occurrences"])
        for one in known
    ]  # fmt: skip
    for name, one in expected.items():
        verdict = one["verdict"]
        records.append(
            run(name, one["item"], "any delivery", verdict["correct"], "scripted", answer_parse=verdict["answer_parse"],
                built=verdict["built"], exposed=verdict["exposed"], seen_precision=verdict["seen_precision"],
                executed=verdict["report_skipped"] is not None, report_part_seen=verdict["report_part_seen"],
                trap=verdict["trap"], chose_truncated_neighbour=verdict["chose_truncated_neighbour"])
        )  # fmt: skip
    report = report_of(records)
    by = {"model": "scripted", "condition": "any delivery"}
    verdicts = [one["verdict"] for one in expected.values()]

    def counts(metric):
        row = report.row(metric, **by)
        return int(row.k), int(row.n)

    skipped = [one["report_skipped"] for one in verdicts if one["report_skipped"] is not None]
    assert counts("report_skipped") == (sum(skipped), len(skipped)) == (5, 15)
    assert counts("trap") == (1, 2)
    for metric, seen in (("closure_report", ("report", "both")), ("closure_more_digits", ("more_digits",))):
        closed = [one["closed"] for one in verdicts if one["seen_precision"] in seen]
        assert counts(metric) == (sum(closed), len(closed))
    numeric = {one["id"] for one in known if one["kind"] == "numeric"}
    of_item = {}
    for one in expected.values():
        if one["item"] in numeric:
            of_item.setdefault(one["item"], []).append(one["verdict"])

    def share(test):
        return sum(sum(map(test, found)) / len(found) for found in of_item.values()) / len(of_item)

    built, exposed = share(lambda one: one["built"]), share(lambda one: one["exposed"])
    closed = share(lambda one: bool(one["closed"]))
    assert value(report, "build", **by) == pytest.approx(built)
    assert value(report, "exposure", **by) == pytest.approx(exposed / built)
    assert value(report, "closure", **by) == pytest.approx(closed / exposed)
    assert value(report, "unsupported", **by) == pytest.approx(share(lambda one: one["correct"]) - closed)
    assert value(report, "refusals", **by) == 1
    assert report.row("right_unsupported", **by).k == sum(one["correct"] and not one["exposed"] for one in verdicts)
