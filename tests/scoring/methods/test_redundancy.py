"""Redundant steps: printed figures from records with the printed counts, and small cases worked by hand."""

import json
import random
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest

from scoring.methods.records import RecordsRefused, records_of
from scoring.methods.redundancy import METHOD
from scoring.methods.redundancy_detection import Ranked, precision_at, precision_at_ties
from scoring.methods.redundancy_experts import step_disagreements
from scoring.methods.redundancy_schema import SCHEMA, TYPES
from scoring.methods.tables import BadSetting
from scoring.stats.groups import triplet

REFERENCE = Path(__file__).parents[3] / "fixtures" / "reference"
ROWS = {row["id"]: row for row in json.loads((REFERENCE / "golden-numbers.json").read_text(encoding="utf-8"))}


def report_of(values, **settings):
    return METHOD.of(records_of(values, SCHEMA), {"n_resamples": 100, "n_resamples_costs": 100, **settings})


def value(report, metric, table=None, **by):
    return report.row(metric, table, **by).figure.value


def reproduced(figures, name):
    """Whether a figure read out of a report is the printed one, within the tolerance of its last digit."""
    row = ROWS[name]
    return figures[name] == pytest.approx(row["expected"], abs=row["tolerance"] + 1e-9)


def trajectory(name, domain="airline", **more):
    return {"record": "trajectory", "id": name, "domain": domain, **more}


def step(at, kind="DUP", evidence=(-1,)):
    return {"step": [2 * at, 2 * at + 1], "type": kind, "evidence": list(evidence)}


def gold(name, steps):
    return {"record": "gold", "trajectory": name, "steps": steps}


def jury(name, juror, steps):
    answer = {} if steps is None else {"steps": steps}
    return {"record": "jury", "trajectory": name, "juror": juror, "covered": steps is not None, **answer}


def detector(name, who, setting, answers, **more):
    return {"record": "detector", "trajectory": name, "detector": who, "setting": setting, "answers": answers, **more}


def spread(items, names):
    """Items dealt to names in turn; every name has an entry."""
    dealt = {name: [] for name in names}
    for name, one in zip(cycle(names), items, strict=False):
        dealt[name].append(one)
    return dealt


@cache
def of_the_data_set():
    phases = {
        "phase1": (189, {"DUP": 203, "ABN": 88, "INC": 150, "EXP": 216}),
        "phase2": (1731, {"DUP": 220, "ABN": 17, "INC": 641, "EXP": 2078}),
    }
    records = []
    for phase, (n, types) in phases.items():
        kinds = [kind for kind, times in types.items() for _ in range(times)]
        for name, found in spread(kinds, [f"{phase}-{i}" for i in range(n)]).items():
            records.append(trajectory(name, split=phase))
            records.append(gold(name, [step(at, kind) for at, kind in enumerate(found)]))
    for i in range(4):
        records += [trajectory(f"empty-{i}", split="phase1"), gold(f"empty-{i}", [])]
    records += [trajectory(f"open-{i}", split="phase1", state="unresolved") for i in range(3)]
    records += [trajectory(f"dropped-{i}", split="phase2", state="dropped") for i in range(2693)]
    report = report_of(records)
    first, second = {"split": "phase1"}, {"split": "phase2"}
    return {
        "r-unresolved": 100 * value(report, "unresolved_share", **first),
        "r-gold-size": value(report, "gold", **first),
        "r-validated-pool": value(report, "pool", **first),
        "r-total-traj": value(report, "gold"),
        "r-total-steps": value(report, "steps"),
        "r-retained-share": 100 * value(report, "kept_share", **second),
        "r-discarded": value(report, "dropped", **second),
        "r-steps-per-traj": value(report, "steps_per_gold"),
        "r-steps-per-traj-p2": value(report, "steps_per_gold", **second),
        "r-steps-per-traj-p1-189": value(report, "steps_per_gold", **first),
        "r-steps-per-traj-p1-193": value(report, "steps_per_pool", **first),
        "r-p1-traj-share-189": 100 * value(report, "share_of_gold", **first),
        "r-p1-traj-share-193": 100 * value(report, "share_of_pool", **first),
        "r-p1-step-share": 100 * value(report, "share_of_steps", **first),
        "r-type-shares-sum": sum(round(100 * value(report, f"type_{kind.lower()}"), 1) for kind in TYPES),
        "r-p1-dup": 100 * value(report, "type_dup", **first),
        "r-p1-abn": 100 * value(report, "type_abn", **first),
    }


@cache
def of_the_experts():
    records = []
    for i in range(40 + 3 * 52):
        records.append(trajectory(f"t{i}"))
        people = ("ana", "ben", "cy") if i < 40 else (("ana", "ben", "cy")[(i - 40) // 52],)
        for who in people:
            steps = [step(1)] + ([step(2)] if who == "ana" and i < 34 else [])
            records.append({"record": "expert", "trajectory": f"t{i}", "expert": who, "steps": steps})
    report = report_of(records)
    return {
        "r-subsets": value(report, "annotated"),
        "r-per-expert": value(report, "annotated_by", expert="ben"),
        "r-initial-disagree": 100 * value(report, "trajectory_disagreement"),
    }


@cache
def of_given_steps():
    """3,613 steps of 1,920 trajectories; each system right on as many as were printed."""
    names = [f"t{i}" for i in range(1920)]
    places = [(name, at) for name in names for at in range(1 + (int(name[1:]) < 3613 - 1920))]
    by_setting = {"classification": {}, "retrieval": {}}
    for id_, row in ROWS.items():
        for prefix, setting in (("r-acc-stepcls-", "classification"), ("r-acc-evret-", "retrieval")):
            if id_.startswith(prefix):
                by_setting[setting][id_.removeprefix(prefix)] = row["inputs"]["k"]
    at_of = spread([], names)
    for name, at in places:
        at_of[name].append(at)
    records = []
    for name in names:
        records += [trajectory(name), gold(name, [step(at) for at in at_of[name]])]
    for setting, systems in by_setting.items():
        for who, n_right in systems.items():
            right = set(places[:n_right])
            for name in names:
                answers = [step(at, "DUP" if (name, at) in right else "EXP") for at in at_of[name]]
                records.append(detector(name, who, setting, answers))
    report = report_of(records, reference="jev", cluster="trajectory")
    figures = {
        f"r-acc-{prefix}-{who}": 100 * value(report, f"{prefix}_accuracy", detector=who)
        for setting, prefix in (("classification", "stepcls"), ("retrieval", "evret"))
        for who in by_setting[setting]
    }
    figures["r-jev-lead"] = -100 * value(report, "stepcls_difference", detector="deepseek")
    figures["r-jev-trail"] = 100 * value(report, "stepcls_difference", detector="claude")
    return figures


@cache
def of_one_type():
    figures = {}
    for id_, kind in (("r-abn-98.01", "ABN"), ("r-abn-201a", "ABN"), ("r-abn-201b", "ABN"), ("r-dup-99.88", "DUP")):
        n_right, n = ROWS[id_]["inputs"]["k"], ROWS[id_]["inputs"]["n"]
        steps = [step(at, kind) for at in range(n)]
        answers = [one if at < n_right else {**one, "type": "INC"} for at, one in enumerate(steps)]
        records = [trajectory("t"), gold("t", [*steps, step(n, "EXP")]), detector("t", "d", "classification", answers)]
        figures[id_] = 100 * value(report_of(records), "stepcls_accuracy", detector="d", type=kind)
    return figures


RANKED = {
    "gpt-5.4-mini": "gpt-5.4-mini",
    "qwen3.8-27b": "qwen-1920",
    "glm-5.3": "glm-5.3",
    "deepseek-v4.1-flash": "deepseek",
    "gpt-5.4": "gpt-5.4",
    "claude-opus-5": "claude",
    "no-policy": "nopolicy",
    "few-shot": "fewshot",
    "oracle-plan": "oracle",
}


@cache
def of_ranked_steps():
    """Ten predictions in each of 1,920 trajectories, with so many hits at the first place, at five and at ten."""
    names = [f"t{i}" for i in range(1920)]
    records = []
    for name in names:
        records += [trajectory(name), gold(name, [step(at) for at in range(10)])]
    for who, short in RANKED.items():
        printed = ROWS[f"r-mean-{who}"]["inputs"]
        one = ROWS[f"r-p1-{short}"]["inputs"]["k"]
        five, ten = round(printed["p5"] / 100 * 1920 * 5), round(printed["p10"] / 100 * 1920 * 10)
        hits = {(i, 0) for i in range(one)}
        hits |= {(i // 4, 1 + i % 4) for i in range(five - one)} | {(i // 5, 5 + i % 5) for i in range(ten - five)}
        for i, name in enumerate(names):
            answers = [
                {**step(at, "DUP" if (i, at) in hits else "EXP"), "confidence": 1 - at / 10} for at in range(10)
            ]
            records.append(detector(name, who, "detection", answers))
    report = report_of(records, cluster="trajectory")
    figures = {f"r-mean-{who}": 100 * value(report, "prec_mean", detector=who) for who in RANKED}
    return figures | {f"r-p1-{short}": 100 * value(report, "prec_at_1", detector=who) for who, short in RANKED.items()}


@cache
def of_a_run_with_a_failed_call():
    records = []
    for i in range(1920):
        records += [trajectory(f"t{i}"), gold(f"t{i}", [step(1)])]
        if i < 1919:
            answers = [{**step(1, "DUP" if i < 500 else "EXP"), "confidence": 0.5}]
            records.append(detector(f"t{i}", "qwen", "detection", answers))
    report = report_of(records, missing_answers="left_out", cluster="trajectory")
    return {"r-p1-qwen-1919": 100 * value(report, "prec_at_1", detector="qwen")}


@cache
def of_worked_rankings():
    figures = {}
    for id_ in ("r-predk-worked-a", "r-predk-worked-b", "r-predk-worked-c", "r-predk-worked-d"):
        hits, k = ROWS[id_]["inputs"]["hits"], ROWS[id_]["inputs"]["k"]
        answers = [{**step(at, "DUP" if hit else "EXP"), "confidence": 0.5} for at, hit in enumerate(hits)]
        records = [trajectory("t"), gold("t", [step(at) for at in range(8)]), detector("t", "d", "detection", answers)]
        figures[id_] = value(report_of(records), f"prec_at_{k}", detector="d")
    return figures


@cache
def of_prices():
    prices = {"low": 2.46, "high": 4.92, "claude": 212.82, "cheapest": 0.81}
    records = [trajectory("t"), gold("t", [step(1)])]
    records += [detector("t", who, "classification", [step(1)], cost=price) for who, price in prices.items()]
    report = report_of(records)
    return {
        f"r-cost-{who}": value(report, "cost_ratio", detector=who, setting="classification")
        for who in ("low", "high", "claude")
    }


@cache
def of_experiences():
    names = {"original": "original", "llm": "llm", "gold": "gold"}
    totals = {}
    for id_, row in ROWS.items():
        if id_.startswith("r-tok-"):
            _, _, domain, condition = id_.split("-")
            totals[domain, "none"], totals[domain, condition] = row["inputs"]["base"], row["inputs"]["cond"]
    records = []
    for (domain, condition), total in totals.items():
        for run in range(30):
            tokens = total // 30 + (run < total % 30)
            records.append(
                {"record": "outcome", "domain": domain, "task": str(run // 3), "repeat": run % 3,
                 "condition": condition, "success": run < 26 - (condition == "llm"), "tokens": tokens}
            )  # fmt: skip
    report = report_of(records)
    assert value(report, "success_difference", domain="airline", experience="llm") == -1
    assert report.row("success", domain="airline", experience="llm").k == 25
    figures = {
        f"r-tok-{domain}-{name}": 100 * value(report, "token_reduction", domain=domain, experience=name)
        for domain in ("airline", "retail", "telecom")
        for name in names
    }
    return figures | {"r-replay-runs": value(report, "runs", domain="airline", experience="none")}


@cache
def of_lengths():
    records = []
    for i, length in enumerate((8, 31, 54, 77, 122)):
        records += [trajectory(f"t{i}", n_steps=length), gold(f"t{i}", [step(1)])]
    bins = [dict(row.by)["length"] for row in report_of(records).table("dataset").rows if "length" in dict(row.by)]
    widths = {int(high) - int(low) + 1 for low, high in (one.split("-") for one in bins)}
    assert len(set(bins)) == 5
    return {"r-lenbins": widths.pop() if len(widths) == 1 else None}


# The jury, by domain: its steps, those of the experts on the same trajectories and on all, those that both named, and
# those with one type.
JURY = {"airline": (66, 65, 134, 65, 62), "retail": (43, 50, 99, 43, 38), "telecom": (65, 81, 424, 64, 63)}
RETAINED = {"airline": 20, "retail": 16, "telecom": 30}
DROPPED = {"airline": 30, "retail": 20, "telecom": 73}
RIGHT = [("DUP", "DUP")] * 74 + [("ABN", "ABN")] * 28 + [("INC", "INC")] * 11 + [("EXP", "EXP")] * 50
WRONG = [("DUP", "INC")] + [("INC", "EXP")] * 8


@cache
def jury_report():
    right, wrong = iter(RIGHT), iter(WRONG)
    kinds = iter(["joint"] * 17 + ["other"] * 8 + ["same"] * 147)
    records, outcomes = [], iter(["too_few"] * 3 + ["empty"] + ["no_agreement"] * 119)
    for domain, (predicted, expected, every, matched, typed) in JURY.items():
        names = [f"{domain}-{i}" for i in range(RETAINED[domain])]
        found = {name: ([], []) for name in names}
        for number, name in zip(range(max(predicted, expected + predicted - matched)), cycle(names), strict=False):
            experts, jurors = found[name]
            if number < matched:
                mine, theirs = next(right) if number < typed else next(wrong)
                kind = next(kinds)
                evidence = {"joint": ([900, 901, 902, 903], [900, 901]), "other": ([900, 901], [-1])}.get(
                    kind, ([900, 901], [900, 901])
                )
                experts.append(step(number, mine, evidence[0]))
                jurors.append(step(number, theirs, evidence[1]))
            elif number < expected:
                experts.append(step(number, "EXP"))
            else:
                jurors.append(step(number, "EXP"))
        for name, (experts, jurors) in found.items():
            records += [trajectory(name, domain), gold(name, experts)]
            records += [jury(name, "a", jurors), jury(name, "b", jurors[::-1]), jury(name, "c", [step(450)])]
        rest = [step(at, "INC") for at in range(every - expected)]
        for name, experts in spread(rest, [f"{domain}-dropped-{i}" for i in range(DROPPED[domain])]).items():
            sets = {
                "too_few": ([step(1)], None, None),
                "empty": ([], [], [step(1)]),
                "no_agreement": ([step(1)], [step(2)], []),
            }[next(outcomes)]
            records += [trajectory(name, domain), gold(name, experts)]
            records += [jury(name, juror, one) for juror, one in zip("abc", sets, strict=True)]
    for i in range(4):
        records += [trajectory(f"none-{i}"), gold(f"none-{i}", []), *(jury(f"none-{i}", who, []) for who in "abc")]
    return report_of(records)


@cache
def of_the_jury():
    report = jury_report()
    figures = {}
    metrics = {"P": ("group_precision", "retained"), "R": ("group_recall", "retained"),
               "Rtype": ("group_recall_type", "retained"), "E2E": ("group_recall", "all")}  # fmt: skip
    for short, (metric, scope) in metrics.items():
        figures[f"r-t8-{short}"] = 100 * value(report, metric, scope=scope)
        for domain in JURY:
            figures[f"r-t8-{domain}-{short}"] = 100 * value(report, metric, scope=scope, domain=domain)
    figures["r-t10-F1-cond"] = value(report, "group_f1", scope="retained")
    figures["r-t10-F1-e2e"] = value(report, "group_f1", scope="all")
    grid = report.table("jury_types").counts
    figures["r-t9-total"] = sum(sum(row) for row in grid)
    figures["r-t9-colsum"] = sum(sum(column) for column in zip(*grid, strict=True))
    figures["r-t9-typeacc"] = 100 * value(report, "type_accuracy")
    figures["r-inc-exp"] = 100 * grid[2][3] / sum(grid[2])
    some = {"trajectories": "with expert steps"}
    figures["r-drop-reasons"] = value(report, "jury_dropped", **some)
    figures["r-retained-p1"] = value(report, "jury_retained", **some)
    figures["r-evidence-agree"] = 100 * value(report, "evidence_agreement")
    figures["r-evidence-agree-matchable"] = 100 * value(report, "evidence_agreement_single")
    return figures


@cache
def of_single_jurors():
    """From rounded precision and recall; of 1,000 expert steps so many found, of so many named."""
    counts = {"deepseek": (889, 931), "glm": (867, 925), "luna": (578, 652)}
    names = [f"t{i}" for i in range(10)]
    records = []
    for at, name in enumerate(names):
        records += [trajectory(name), gold(name, [step(i) for i in range(100)])]
        for who, (right, named) in counts.items():
            mine = [step(i % 100) for i in range(right) if i // 100 == at]
            mine += [step(200 + i) for i in range(named - right) if i % 10 == at]
            records.append(jury(name, who, mine))
    report = report_of(records)
    for who, (right, named) in counts.items():
        assert report.row("group_precision", juror=who).k == right
        assert report.row("group_precision", juror=who).n == named
    return {f"r-t10-F1-{who}": value(report, "group_f1", juror=who) for who in counts}


@cache
def of_consensus_levels():
    """657 expert steps, each named by so many of three jurors: the step, its type too, and the evidence as well."""
    levels = {"pos": (594, 468, 214), "type": (568, 394, 174), "full": (456, 330, 150)}

    def n_jurors(level, place):
        return sum(place < at_least for at_least in levels[level])

    domains = ["airline"] * 102 + ["retail"] * 66 + ["telecom"] * 226
    domains += ["airline"] * (134 - 102) + ["retail"] * (99 - 66) + ["telecom"] * (424 - 226)
    records = []
    for start in range(0, 657, 9):
        for domain in JURY:
            places = [at for at in range(start, min(start + 9, 657)) if domains[at] == domain]
            if not places:
                continue
            name = f"{domain}-{start}"
            records += [trajectory(name, domain), gold(name, [step(at, "DUP", [2000, 2001]) for at in places])]
            for number in range(3):
                said = [
                    step(
                        at,
                        "DUP" if number < n_jurors("type", at) else "EXP",
                        [2000, 2001] if number < n_jurors("full", at) else [-1],
                    )
                    for at in places
                    if number < n_jurors("pos", at)
                ]
                records.append(jury(name, f"juror-{number}", said))
    report = report_of(records)
    words = {"pos": "step", "type": "step_type", "full": "triplet"}
    figures = {
        f"r-t11-{level}-{m}": 100 * value(report, f"consensus_{words[level]}_{m}")
        for level in levels
        for m in (1, 2, 3)
    }
    for domain in JURY:
        figures[f"r-t11-{domain}-postype"] = 100 * value(report, "consensus_step_type_2", domain=domain)
    return figures


@cache
def of_a_multiset():
    inputs = ROWS["r-multiset-worked"]["inputs"]
    steps = {
        side: [{"step": pair, "type": kind, "evidence": [-1]} for pair, kind in zip(inputs[side], kinds, strict=True)]
        for side, kinds in (("pred", ("DUP", "INC", "DUP")), ("gold", ("DUP", "DUP", "DUP")))
    }
    report = report_of([trajectory("t"), gold("t", steps["gold"]), jury("t", "a", steps["pred"])])
    return {"r-multiset-worked": report.row("group_recall", juror="a").k}


SOURCES = (
    of_the_data_set, of_the_experts, of_given_steps, of_one_type, of_ranked_steps, of_a_run_with_a_failed_call,
    of_worked_rankings, of_prices, of_experiences, of_lengths, of_the_jury, of_single_jurors, of_consensus_levels,
    of_a_multiset,
)  # fmt: skip


def reproduced_here():
    return {name: figure for source in SOURCES for name, figure in source().items()}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_printed_figures_are_read_out_of_the_report(source):
    figures = source()
    wrong = {name: (figures[name], ROWS[name]["expected"]) for name in figures if not reproduced(figures, name)}
    assert not wrong
    assert figures


def test_the_jury_table_has_the_printed_margins():
    counts = jury_report().table("jury_types").counts  # ABN, DUP, INC, EXP
    assert [sum(row) for row in counts] == [28, 75, 19, 50]
    assert [sum(column) for column in zip(*counts, strict=True)] == [28, 74, 12, 58]


def test_every_trajectory_of_the_pool_has_one_outcome_and_an_empty_one_is_rightly_empty():
    report = jury_report()
    kinds = ("retained", "no_agreement", "too_few_covered", "empty")
    for group, n in (("with expert steps", 189), ("without expert steps", 4)):
        assert sum(value(report, f"jury_{kind}", trajectories=group) for kind in kinds) == n
        assert value(report, "jury_pool", trajectories=group) == n
    assert value(report, "true_negative") == 1.0
    assert value(report, "jury_too_few_covered", trajectories="with expert steps") == 3


def test_precision_is_the_same_in_both_scopes():
    report = jury_report()
    assert value(report, "group_precision", scope="all") == value(report, "group_precision", scope="retained")


def test_ties_keep_the_order_of_the_model_and_a_second_figure_averages_over_orders():
    ranked = Ranked.of([{**step(1), "confidence": 0.5}, {**step(2), "confidence": 0.5}], [triplet([2, 3], "DUP", [-1])])
    assert precision_at(ranked, 1) == 1.0
    assert precision_at_ties(ranked, 1) == 0.5
    records = [trajectory("t"), gold("t", [step(1)])]
    answers = [{**step(1), "confidence": 0.5}, {**step(2), "confidence": 0.5}]
    report = report_of([*records, detector("t", "d", "detection", answers)])
    assert value(report, "prec_at_1", detector="d") == 1.0
    assert value(report, "prec_at_1_ties", detector="d") == 0.5
    assert "1 pp" in report.table("stepdet").notes[0].words()


def test_a_step_predicted_twice_counts_once_and_is_counted_as_dropped():
    answers = [{**step(1, "EXP"), "confidence": 0.2}, {**step(1), "confidence": 0.9}]
    report = report_of([trajectory("t"), gold("t", [step(1)]), detector("t", "d", "detection", answers)])
    assert value(report, "prec_at_5", detector="d") == 1.0
    assert value(report, "detection_repeated", detector="d") == 1


def test_precision_over_gold_steps_is_the_other_reading():
    answers = [{**step(1), "confidence": 0.9}]
    records = [trajectory("t"), gold("t", [step(1), step(2)]), detector("t", "d", "detection", answers)]
    assert value(report_of(records), "prec_at_5", detector="d") == 1.0
    assert value(report_of(records, precision_of="gold"), "prec_at_5", detector="d") == 0.5


def test_an_unreadable_answer_is_wrong_and_stays_in_the_denominator():
    records = [trajectory("t"), gold("t", [step(1), step(2)])]
    records += [detector("t", "d", setting, None, failed=True) for setting in ("classification", "detection")]
    report = report_of(records)
    row = report.row("stepcls_accuracy", detector="d")
    assert (row.k, row.n, row.figure.value) == (0, 2, 0.0)
    assert value(report, "stepcls_unreadable", detector="d") == 1.0
    assert value(report, "prec_at_1", detector="d") == 0.0
    assert value(report, "detection_failed", detector="d") == 1


def test_the_order_of_evidence_pairs_plays_no_part_in_retrieval():
    records = [trajectory("t"), gold("t", [step(1, "DUP", [4, 5, 8, 9])])]
    report = report_of([*records, detector("t", "d", "retrieval", [step(1, "DUP", [9, 8, 5, 4])])])
    assert value(report, "evret_accuracy", detector="d") == 1.0


def test_examples_are_not_scored_unless_it_is_asked_for():
    records = [trajectory("t"), gold("t", [step(1)]), trajectory("shown", exemplar=True), gold("shown", [step(1)])]
    records.append(detector("t", "d", "classification", [step(1)]))
    assert report_of(records).row("stepcls_accuracy", detector="d").n == 1
    assert report_of(records, score_exemplars=True).row("stepcls_accuracy", detector="d").n == 2
    assert "1 trajectories were shown" in report_of(records).notes[0].words()


def test_severity_of_a_disagreement_is_about_step_and_type():
    def said(*steps):
        return [triplet([2, 3], kind, evidence) for kind, evidence in steps]

    same, other_evidence = said(("DUP", [4, 5])), said(("DUP", [6, 7]))
    assert step_disagreements({"a": same, "b": same, "c": same}) == ["same"]
    assert step_disagreements({"a": same, "b": same, "c": other_evidence}) == ["minor"]
    assert step_disagreements({"a": same, "b": same, "c": said(("INC", [4, 5]))}) == ["severe"]
    assert step_disagreements({"a": same, "b": same, "c": []}) == ["severe"]


def test_correlations_leave_out_tasks_with_one_trajectory_and_do_not_hang_on_the_order_of_tasks():
    records = []
    for task in range(6):
        for i, tokens in enumerate((10, 20 + task)):
            name = f"{task}-{i}"
            records += [
                trajectory(name, task=str(task), tokens_redundant=tokens, tokens_total=3 * tokens + 100 * task),
                gold(name, [step(1)]),
            ]
    alone = [trajectory("alone", task="alone", tokens_redundant=1, tokens_total=9999), gold("alone", [step(1)])]
    row = report_of([*records, *alone]).row("cost_pearson", domain="airline")
    assert row.figure.value == pytest.approx(1.0)
    assert row.figure.left_out == {"alone_in_group": 1}
    turned = report_of([*reversed(records), *alone]).row("cost_pearson", domain="airline")
    assert turned.figure.value == pytest.approx(row.figure.value)


def test_a_report_without_detectors_or_jury_has_no_such_tables():
    report = report_of([trajectory("t"), gold("t", [])])
    assert [one.name for one in report.tables] == ["dataset"]
    assert value(report, "empty") == 1
    assert report_of([]).tables == ()


def test_the_example_file_fills_every_table_and_gives_every_undefined_figure_its_reason():
    lines = (REFERENCE / "records-redundancy.jsonl").read_text(encoding="utf-8").splitlines()
    report = METHOD.of(records_of(map(json.loads, lines), SCHEMA))
    assert {one.name for one in report.tables} >= {
        "dataset", "experts", "stepcls", "evret", "stepdet", "detector_costs", "jury_outcomes", "jury_groups",
        "jury_matched", "jury_types", "jury_consensus", "jurors", "costs", "experience",
    }  # fmt: skip
    assert report.settings["precision_of"] == "predictions"
    assert report.settings["seed"] == 1
    assert any("ynthetic" in str(note) for note in report.notes)
    json.dumps(report.as_dict(), allow_nan=False)
    assert report.as_dict() == METHOD.of(records_of(map(json.loads, lines), SCHEMA)).as_dict()


def cells(report):
    """Every figure of a report with its interval, by table, metric and break-down. Sums in another order differ in the
    last digit of a float."""

    def ends(row):
        bounds = row["interval"] or {"low": None, "high": None}
        numbers = (row["value"], bounds["low"], bounds["high"], row["k"], row["n"])
        return (row["reason"], row["interval_reason"], *(one if one is None else round(one, 9) + 0 for one in numbers))

    return {
        (table["name"], row["metric"], *row["by"].items()): ends(row)
        for table in report.as_dict()["tables"]
        for row in table.get("rows", ())
    }


def in_another_order(method, file, **settings):
    """The figures of a file, and of the same file with its lines shuffled."""
    lines = [json.loads(line) for line in (REFERENCE / file).read_text(encoding="utf-8").splitlines()]
    shuffled = random.Random(3).sample(lines, len(lines))
    small = {"n_resamples": 100, **settings}
    return [cells(method.of(records_of(records, method.schema), small)) for records in (lines, shuffled)]


def test_the_order_of_records_changes_no_figure():
    one, other = in_another_order(METHOD, "records-redundancy.jsonl", reference="detector-1")
    assert one == other


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (gold("t", [{"step": [4], "type": "DUP", "evidence": [-1]}]), "step"),
        (gold("t", [step(1), step(1)]), "step"),
        (gold("t", [step(1, "DUP", [3, 2])]), "evidence"),
        (gold("t", [step(1, "DUP", [4, 5, 6])]), "evidence"),
        (gold("t", [step(1, "DUP", [-1, 5])]), "evidence"),
        (gold("t", [step(1, "duplicated")]), "type"),
        (gold("unknown", []), "trajectory"),
        (jury("t", "a", None) | {"steps": []}, "steps"),
        (detector("t", "d", "detection", [step(1)]), "confidence"),
        (detector("t", "d", "detection", [{**step(1), "confidence": 1.5}]), "confidence"),
        (detector("t", "d", "classification", None), "answers"),
        (detector("t", "d", "retrieval", [{"step": [2, 3], "type": "DUP"}]), "type"),
    ],
)
def test_a_record_against_the_contract_is_refused_with_its_place(record, field):
    with pytest.raises(RecordsRefused) as refused:
        records_of([trajectory("t"), record], SCHEMA)
    assert refused.value.problems[0].field == field
    assert refused.value.problems[0].line == 2


def test_an_answer_about_a_step_that_is_not_gold_is_refused():
    with pytest.raises(RecordsRefused) as refused:
        report_of([trajectory("t"), gold("t", [step(1)]), detector("t", "d", "classification", [step(2)])])
    assert refused.value.problems[0].line == 3
    assert refused.value.problems[0].code == "unknown_step"


def test_bins_that_are_none_are_refused_by_name():
    with pytest.raises(BadSetting) as refused:
        report_of([], length_bins="8 to 30")
    assert refused.value.problem.field == "length_bins"
