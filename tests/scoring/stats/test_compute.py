"""Every statistic by its name, in the form of the case files."""

import json
import re

import numpy as np
import pytest

from scoring.stats.agreement import confusion, fleiss_kappa
from scoring.stats.compute import ADAPTERS, UnknownMetric, compute, metrics
from scoring.stats.judge import Verdicts, judge_agreement
from scoring.stats.panel import panel_agreement
from scoring.stats.ratings import DuplicateRating, RatingsError, UnknownLabel, ratings_from_triples
from scoring.stats.registry import BadParams
from scoring.stats.results import REASONS, plain
from tests.scoring.stats.tables import FOUR_CODERS, ROOT, reference_cases

CASES = reference_cases()
KNOWN = [case for case in CASES if case["metric"] in metrics()]
BY_ID = {case["id"]: case for case in CASES}
YES_NO = ["yes", "no"]


def said(case, **more):
    try:
        found = compute(case["metric"], case["data"], {**case["params"], **more})
    except RatingsError as refusal:
        return f"undefined:{refusal.code}"
    return found.value if found.reason is None else f"undefined:{found.reason}"


def panel(n_items=60, raters="ABCD", *, seed=3):
    """Triples of raters who agree on most items, with gaps."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 2, n_items)
    return [
        (f"i{item}", rater, YES_NO[int(base[item] if rng.random() < 0.7 else rng.integers(0, 2))])
        for item in range(n_items)
        for rater in raters
        if rng.random() < 0.8
    ]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case["id"])
def test_a_reference_case_comes_out_as_expected(case):
    found = said(case)

    if isinstance(case["expected"], str):
        assert found == case["expected"]
    else:
        assert found == pytest.approx(case["expected"], abs=case["tolerance"])


def test_no_case_is_left_out():
    assert {case["metric"] for case in CASES} - set(metrics()) == set()
    assert len(KNOWN) == 39


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case["id"])
def test_every_outcome_is_plain_json_without_nan(case):
    try:
        found = compute(case["metric"], case["data"], case["params"])
    except RatingsError:
        return
    json.dumps(plain(found), allow_nan=False)


def test_every_module_of_adapters_is_there():
    there = {path.stem for path in (ROOT / "scoring" / "stats").glob("computed_*.py")}

    assert {module.__name__.rpartition(".")[2] for module in ADAPTERS} == there


def test_an_unknown_name_is_refused_with_all_the_names_there_are():
    with pytest.raises(UnknownMetric, match=r"no statistic 'kappa'; there are: .*cohen_kappa.*fleiss_kappa"):
        compute("kappa", [])


def test_every_statistic_is_in_the_documentation_and_no_other():
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8").split("## 11. ")[1]
    rows = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `")]

    assert {name for row in rows for name in re.findall("`([a-z_0-9]+)`", row)} == set(metrics())


# Data.


def test_a_table_of_labels_counts_and_triples_are_the_same():
    rows = [["a", "a", None], ["a", "b", "b"], ["b", "b", "b"]]
    triples = [(item, rater, label) for item, row in enumerate(rows) for rater, label in zip("xyz", row, strict=True)]
    counts = [[2, 0], [1, 2], [0, 3]]

    of_triples, of_table, of_counts = (
        compute("fleiss_kappa", data, {"categories": ["a", "b"]})
        for data in (triples, {"table": rows}, {"counts": counts})
    )

    assert of_triples.value == of_table.value == of_counts.value
    assert of_triples.n_ratings == of_counts.n_ratings == 8


def test_a_confusion_is_the_items_it_counts_however_many_they_are():
    small, large = ({"confusion": [[171 * n, 20 * n], [34 * n, 75 * n]]} for n in (1, 10**9))

    assert compute("cohen_kappa", large).value == pytest.approx(compute("cohen_kappa", small).value, abs=1e-12)
    assert compute("cohen_kappa", large).n_items == 300 * 10**9
    assert compute("gwet_ac", small, {"categories": YES_NO}).value > 0.6


@pytest.mark.parametrize(
    ("metric", "data", "params", "reason"),
    [
        ("cohen_kappa", [], {"rater_a": "A", "rater_b": "B"}, "empty"),
        ("cohen_kappa", [("i", "A", None), ("i", "B", None)], {}, "empty"),
        ("cohen_kappa", [("i", "A", "x"), ("j", "A", "y")], {"rater_a": "A", "rater_b": "B"}, "one_rater"),
        ("cohen_kappa", [("i", "A", "x"), ("j", "B", "y")], {}, "no_overlap"),
        ("scott_pi", [], {}, "empty"),
        ("fleiss_kappa", [], {}, "empty"),
        ("gwet_ac", [], {"categories": YES_NO}, "empty"),
        ("krippendorff_alpha", [], {"level": "masi"}, "empty"),
        ("krippendorff_alpha", [("i", "A", 1)], {"level": "interval"}, "one_rater"),
        ("mean_pairwise_kappa", [], {}, "empty"),
        ("percent_agreement", {"counts": [[0, 0]]}, {}, "empty"),
        ("percent_agreement", {"confusion": [[0, 0], [0, 0]]}, {}, "empty"),
        ("annotator_vs_majority", [], {"rater": "A"}, "empty"),
        ("judge_vs_majority", [], {"judge": "J"}, "empty"),
        ("judge_vs_majority", [("i", "J", "x")], {"judge": "J"}, "empty"),
        ("confusion", [], {}, "empty"),
        ("annotator_vs_majority", [("i", "A", "x"), ("i", "B", "x")], {"rater": "A"}, "no_comparable_items"),
    ],
)
def test_nothing_to_compare_is_a_reason(metric, data, params, reason):
    found = compute(metric, data, params)

    assert (found.value, found.reason) == (None, reason)
    assert found.reason in REASONS


@pytest.mark.parametrize(
    ("data", "params", "error", "message"),
    [
        ([("i", "A", 1), ("i", "A", "1")], {}, DuplicateRating, "A rated item i twice"),
        ([("i", "A", 1), ("j", "B", "1")], {}, UnknownLabel, "two types: 1 and '1' .item j, rater B."),
        ([("i", "A", True), ("j", "B", 1)], {}, UnknownLabel, "two types"),
        ([("i", "A", "x")], {"categories": ["y"]}, UnknownLabel, "'x' .first: item i, rater A."),
        ([("i", "A", float("nan"))], {}, UnknownLabel, "nan is no label .item i, rater A."),
        ([("i", "A", ["x"])], {}, UnknownLabel, "no label .item i, rater A."),
        ([("i", "A")], {}, BadParams, r"Row 1 of the data is \('i', 'A'\)"),
        ([("i", None, "x")], {}, BadParams, "The rater of row 1 is None"),
        ("text", {}, BadParams, "data is a list"),
        ({"rows": []}, {}, BadParams, "it has table, confusion or counts"),
        ({"table": [["x", "y"], ["x"]]}, {}, BadParams, "Item 2 has 1 cells for 2 raters"),
        ({"counts": [[1, 2], [3]]}, {}, BadParams, "Row 2 of the counts has another length"),
        ({"counts": [[1, -2]]}, {}, BadParams, "Row 1 of the counts holds -2; counts are whole numbers from 0"),
        ({"confusion": [[1, 2]]}, {}, BadParams, "The confusion is 1 x 2, but there are 2 categories"),
        ({"confusion": [[1, 2], [3, 4]]}, {"categories": ["x"]}, BadParams, "there are 1 categories: x"),
        ([], {"categories": "xy"}, BadParams, "categories is 'xy'"),
        ([], {"categories": ["x", "x"]}, BadParams, "declared twice"),
        ([], {"marginal": "pooled"}, BadParams, "takes no param marginal; it takes: categories, marginals"),
        ([], {"marginals": "mean"}, BadParams, "marginals is 'mean'; fleiss_kappa takes one of: item_mean, pooled"),
        ([], {"complete_only": 1}, BadParams, "complete_only is 1; it is true or false"),
        ([], {"seed": -1}, BadParams, "seed is -1; it is a whole number from 0"),
        ([], {"cluster_of": ["g"]}, BadParams, "cluster_of is a mapping"),
        ([("i", "A", "x")], {"cluster_of": {"j": "g"}}, BadParams, "no cluster for item i"),
        ({"counts": [[1, 1]]}, {"cluster_of": {}}, BadParams, "have no name, so they have no cluster"),
    ],
)
def test_what_makes_no_table_is_refused_by_item_and_rater(data, params, error, message):
    with pytest.raises(error, match=message):
        compute("fleiss_kappa", data, params)


@pytest.mark.parametrize(
    ("metric", "data", "params", "message"),
    [
        ("gwet_ac", [], {}, "which categories there are and their order: give categories"),
        ("cohen_kappa", [], {"weights": "linear"}, "give categories"),
        ("cohen_kappa", {"counts": [[1, 1]]}, {}, "Counts tell no rater from another"),
        ("cohen_kappa", panel(), {}, "Name two of the raters as rater_a and rater_b: A, B"),
        ("cohen_kappa", panel(), {"rater_a": "A", "rater_b": "a"}, "There is no rater 'a'; there are: A, B"),
        ("cohen_kappa", panel(), {"rater_a": "A", "rater_b": "A"}, "two different raters"),
        ("cohen_kappa", panel(), {"rater_a": "A", "rater_b": "B", "weights": "x"}, "weights is 'x'"),
        ("krippendorff_alpha", [], {}, "needs the param level"),
        ("krippendorff_alpha", [], {"level": "ratio"}, "level is 'ratio'"),
        ("krippendorff_alpha", [("i", "A", "x")], {"level": "interval", "categories": ["x"]}, "'x' is no number"),
        ("annotator_vs_majority", panel(), {}, "needs the param rater"),
        ("annotator_vs_majority", panel(), {"rater": "A", "ties": "first"}, "ties is 'first'"),
        ("annotator_vs_majority", panel(), {"rater": "A", "stat": "kappa", "ties": "fractional"}, "no.? a kappa|kappa"),
        ("judge_vs_majority", panel(), {"judge": "J"}, "There is no rater 'J'"),
        ("judge_vs_majority", panel(), {"judge": "A", "stat": {"cell": ["yes", "maybe"]}}, "'maybe' is no category"),
        ("judge_vs_majority", panel(), {"judge": "A", "stat": {"cell": YES_NO}, "seed": 1}, "has no interval"),
        ("judge_vs_majority", panel(), {"judge": "A", "min_raters": 0}, "min_raters is 0"),
        ("cluster_bootstrap", panel(), {}, "needs the param bootstrap_of"),
        ("cluster_bootstrap", panel(), {"bootstrap_of": {"metric": "x"}}, "bootstrap_of has metric 'x'; .* takes: "),
        ("cluster_bootstrap", panel(), {"bootstrap_of": {"metric": "fleiss_kappa"}, "level": 0.9}, "level 0.95"),
        ("cohen_kappa_cluster_bootstrap", [], {"bootstrap_of": {"metric": "scott_pi"}}, "takes: cohen_kappa"),
    ],
)
def test_params_that_a_statistic_does_not_take_are_refused(metric, data, params, message):
    with pytest.raises(BadParams, match=message):
        compute(metric, data, params)


# Statistics, beside the functions and reports that have them too.


def test_the_figures_of_a_panel_come_out_one_by_one():
    triples = panel()
    ratings, of_item = ratings_from_triples(triples, YES_NO), clusters(triples, 12)
    named = [of_item[item] for item in ratings.items]
    whole = panel_agreement(ratings, named, level="nominal", tie="exclude", min_others=2, unit="g", seed=5)
    drawn = {"categories": YES_NO, "seed": 5, "cluster_of": of_item, "unit": "g"}

    assert compute("percent_agreement", triples, drawn).interval == whole.percent_agreement.interval
    for name, params, figure in (
        ("fleiss_kappa", drawn, whole.fleiss_kappa),
        ("krippendorff_alpha", {**drawn, "level": "nominal"}, whole.krippendorff_alpha),
    ):
        assert compute(name, triples, params).value == pytest.approx(figure.value, abs=1e-12)
        assert compute(name, triples, params).interval == figure.interval
    assert compute("mean_pairwise_kappa", triples, drawn).value == pytest.approx(whole.mean_cohen_kappa.value)
    assert compute("mean_pairwise_kappa", triples, drawn).interval == whole.mean_cohen_kappa.interval
    first = whole.raters[0]
    for stat, figure in (
        ("share", first.annotator_vs_majority),
        ("kappa", first.annotator_vs_majority_kappa),
    ):
        found = compute("annotator_vs_majority", triples, {"categories": YES_NO, "rater": first.rater, "stat": stat})
        assert (found.value, found.n_items, found.left_out) == (figure.value, figure.n_items, figure.left_out)
        assert found.details["confusion"] == [list(row) for row in first.confusion]
        assert found.details["n_ties"] == first.n_ties


@pytest.mark.parametrize("ties", [{"toward": "no"}, ["toward", "no"], "toward:no"])
def test_a_tie_rule_toward_a_category_is_read_in_every_form(ties):
    found = compute("annotator_vs_majority", panel(), {"categories": YES_NO, "rater": "A", "ties": ties})

    assert found.n_items > compute("annotator_vs_majority", panel(), {"categories": YES_NO, "rater": "A"}).n_items


def test_a_judge_stands_against_the_people_alone():
    triples = [*panel(), ("only the judge", "A", "yes")]
    people = ratings_from_triples([one for one in triples if one[1] != "A"], YES_NO)
    verdicts = Verdicts(1, "A", {item: label for item, rater, label in triples if rater == "A"})
    whole = judge_agreement(people, verdicts, None, tie="exclude", min_raters=2, unit="item", seed=1, n_resamples=50)

    for stat, figure in (("accuracy", whole.accuracy), ("kappa", whole.kappa)):
        found = compute("judge_vs_majority", triples, {"judge": "A", "categories": YES_NO, "stat": stat})
        assert (found.value, found.n_items) == (figure.value, figure.n_items)
        assert (found.details["n_ties"], found.details["n_unlabelled"]) == (whole.n_ties, whole.n_unlabelled)
    for row, name in enumerate(YES_NO):
        cell = {"judge": "A", "categories": YES_NO, "stat": {"cell": [name, "no"]}}
        assert compute("judge_vs_majority", triples, cell).value == whole.confusion[row][1]


def test_the_confusion_of_two_raters_is_beside_its_diagonal():
    triples = panel(raters="AB")
    codes = ratings_from_triples(triples, YES_NO).codes

    found = compute("confusion", triples, {"categories": YES_NO})

    table = confusion(codes[:, 0], codes[:, 1], n_categories=2)
    assert found.details["confusion"] == table.tolist()
    assert found.value == np.trace(table) / table.sum()
    assert compute("confusion", triples, {"categories": YES_NO, "cell": ["no", "yes"]}).value == table[1, 0]


def test_labels_that_are_not_declared_count_as_they_come_where_it_makes_no_difference():
    triples = [(item, rater, int(code)) for item, row in enumerate(FOUR_CODERS) for rater, code in enumerate(row)]
    triples = [(item, rater, None if code < 0 else code) for item, rater, code in triples]

    found = compute("fleiss_kappa", triples)

    assert found.value == pytest.approx(fleiss_kappa(FOUR_CODERS, n_categories=5).value, abs=1e-12)
    interval = compute("krippendorff_alpha", triples, {"level": "interval"})
    assert interval.value == pytest.approx(0.8491071429, abs=1e-9)
    assert compute("krippendorff_alpha", [(0, "a", 1), (0, "b", 1.0)], {"level": "nominal"}).reason == "one_category"


# Intervals.


def clusters(triples, n):
    return {item: f"g{int(item[1:]) % n}" for item, _, _ in triples}


def test_an_interval_is_made_only_where_it_is_asked_for():
    plainly = compute("fleiss_kappa", panel())

    assert (plainly.interval, plainly.interval_reason) == (None, None)
    assert compute("fleiss_kappa", panel(), {"seed": 1}).interval.unit == "item"


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("percent_agreement", {}),
        ("fleiss_kappa", {}),
        ("gwet_ac", {"categories": YES_NO}),
        ("krippendorff_alpha", {"level": "nominal"}),
        ("cohen_kappa", {"rater_a": "A", "rater_b": "B"}),
        ("scott_pi", {"rater_a": "A", "rater_b": "B"}),
        ("annotator_vs_majority", {"rater": "A"}),
        ("judge_vs_majority", {"judge": "A", "stat": "kappa"}),
    ],
)
def test_an_interval_over_clusters_is_that_of_copying_the_drawn_clusters(metric, params):
    """Of four clusters, all 256 resamples."""
    triples = panel(24)
    of_item = clusters(triples, 4)
    names = sorted(set(of_item.values()))

    found = compute(metric, triples, {**params, "cluster_of": of_item, "min_clusters": 2, "unit": "g"})

    values = []
    for drawn in np.ndindex(*[4] * 4):
        copied = [
            ((copy, item), rater, label)
            for copy, which in enumerate(drawn)
            for item, rater, label in triples
            if of_item[item] == names[which]
        ]
        values.append(compute(metric, copied, {**params, "categories": YES_NO}).value)
    defined = [value for value in values if value is not None]
    assert found.interval.method == "enumerated"
    assert found.flags[-1] == "very_few_clusters"
    ends = np.quantile(defined, [0.025, 0.975])
    assert [found.interval.low, found.interval.high] == pytest.approx(ends.tolist(), abs=1e-12)
    assert found.share_undefined == pytest.approx(1 - len(defined) / len(values))


def test_drawing_five_clusters_is_as_near_to_counting_them_as_drawing_allows():
    for name in ("O29-bootstrap-kappa-lower", "O29-bootstrap-kappa-upper"):
        case = BY_ID[name]
        drawn = compute(case["metric"], case["data"], {**case["params"], "mode": "drawn", "seed": 7})
        assert drawn.value == pytest.approx(case["expected"], abs=case["params"]["monte_carlo_tolerance"])
        assert (drawn.interval.method, drawn.interval.n_resamples, drawn.interval.seed) == ("drawn", 10_000, 7)
        assert drawn.details["estimate"] == compute("cohen_kappa", case["data"], {"categories": ["y", "n"]}).value


def test_the_bootstrap_of_any_statistic_gives_its_ends_or_its_value():
    triples, of = panel(), {"metric": "gwet_ac", "categories": YES_NO}
    params = {"bootstrap_of": of, "cluster_of": clusters(triples, 12), "seed": 4}

    whole = compute("cluster_bootstrap", triples, params)
    low, high = (compute("cluster_bootstrap", triples, {**params, "output": end}) for end in ("lower", "upper"))

    assert whole.value == compute("gwet_ac", triples, {"categories": YES_NO}).value
    assert (low.value, high.value) == (whole.interval.low, whole.interval.high)
    assert whole.interval == compute(
        "gwet_ac", triples, {"categories": YES_NO, "cluster_of": params["cluster_of"], "seed": 4}
    ).interval


def test_a_statistic_of_spans_has_the_same_bootstrap():
    case = BY_ID["O24-span-char-micro"]
    of = {"metric": "span_f1", **case["params"]}

    found = compute("cluster_bootstrap", case["data"], {"bootstrap_of": of, "min_clusters": 2, "seed": 1})

    assert found.value == pytest.approx(case["expected"])
    assert found.interval.low <= found.value <= found.interval.high


def test_too_few_clusters_are_the_reason_for_an_end_without_a_value():
    case = BY_ID["O29-bootstrap-kappa-lower"]
    few = {item: "g1" if cluster == "g5" else cluster for item, cluster in case["params"]["cluster_of"].items()}

    assert said(case, cluster_of=few) == "undefined:too_few_clusters"
    assert said(case, cluster_of=dict.fromkeys(few, "g1")) == "undefined:too_few_clusters"


def test_more_clusters_than_can_be_counted_are_refused_where_all_are_asked_for():
    of = {"metric": "fleiss_kappa"}
    with pytest.raises(BadParams, match="counted up to 6 clusters; here are 58"):
        compute("cluster_bootstrap", panel(), {"bootstrap_of": of, "mode": "exact"})
    with pytest.raises(BadParams, match="counted up to 6 clusters"):
        compute("fleiss_kappa", panel(), {"mode": "exact"})


def test_items_of_a_table_of_counts_are_resampled_as_if_they_were_laid_out():
    confusion_of = {"confusion": [[17, 2], [3, 8]]}
    triples = [
        ((a, b, n), rater, YES_NO[code])
        for a, row in enumerate(confusion_of["confusion"])
        for b, count in enumerate(row)
        for n in range(count)
        for rater, code in (("A", a), ("B", b))
    ]
    drawn = {"categories": YES_NO, "seed": 9}

    assert compute("cohen_kappa", confusion_of, drawn).interval == compute("cohen_kappa", triples, drawn).interval


def test_the_seed_is_what_the_draw_hangs_on():
    one, same, other = (compute("fleiss_kappa", panel(), {"seed": seed}).interval for seed in (1, 1, 2))

    assert one == same
    assert one != other
    assert (one.seed, other.seed) == (1, 2)


# What a sentence needs.


def test_circumstances_name_what_was_chosen_and_by_whom():
    apart = compute("cohen_kappa", [("i", "A", "x"), ("j", "A", "x"), ("k", "B", "y")])
    constant = compute("cohen_kappa", {"confusion": [[9, 1], [0, 0]]}, {"categories": YES_NO})
    skewed = compute("cohen_kappa", {"confusion": [[118, 5], [2, 0]]}, {"categories": YES_NO})
    alike = compute("gwet_ac", {"confusion": [[40, 0], [0, 0]]}, {"categories": ["ok", "bad"]})

    assert apart.details["n_rated"] == {"A": 2, "B": 1}
    assert (constant.details["constant"], constant.details["raw_agreement"]) == ({"A": "yes"}, 0.9)
    assert skewed.details["prevalence"] == {"category": "yes", "share": pytest.approx(243 / 250)}
    assert skewed.details["beside"]["gwet_ac"] == pytest.approx(0.9407763376)
    assert (alike.value, alike.details["only"]) == (1.0, "ok")
