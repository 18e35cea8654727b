"""May a judge stand in for a person? Worked by hand, at the limits, and the published rows."""

import json

import numpy as np
import pytest
from scipy import stats

from scoring.stats.alternative import all_signs_below, alternative_annotator_test
from scoring.stats.answers import Drawing
from scoring.stats.compute import compute
from scoring.stats.ratings import DuplicateRating, UnknownLabel
from scoring.stats.registry import BadParams
from scoring.stats.results import FLAGS, LEFT_OUT, REASONS
from tests.scoring.stats.tables import ROOT, shared

DRAWING = Drawing(unit="item", seed=1, n_resamples=500)
OWN = json.loads((ROOT / "fixtures" / "reference" / "alternative-annotator.json").read_text(encoding="utf-8"))


def stood_in(people, judge, clusters=None, **options):
    people = np.asarray(people)
    settings = {"annotators": [f"h{n}" for n in range(people.shape[1])], "scoring": "nominal", "epsilon": 0.2}
    return alternative_annotator_test(people, np.asarray(judge), clusters, drawing=DRAWING, **settings | options)


def by_definition(people, judge, epsilon, *, numeric, missing):
    """The paper's procedure item by item: (share beaten, mean advantage), with the t-test and its family."""
    p_values, wins = [], []
    for j in range(people.shape[1]):
        v, w = [], []
        for row, verdict in zip(people, judge, strict=True):
            others = [one for k, one in enumerate(row) if k != j and not missing(one)]
            if missing(row[j]) or missing(verdict) or not others:
                continue
            if numeric:
                own, his = (-np.sqrt(np.mean([(a - one) ** 2 for one in others])) for a in (row[j], verdict))
            else:
                own, his = (np.mean([a == one for one in others]) for a in (row[j], verdict))
            v.append(own >= his)
            w.append(his >= own)
        if len(w) >= 30:
            d = np.array(v, float) - np.array(w, float)
            p_values.append(stats.ttest_1samp(d, epsilon, alternative="less").pvalue)
            wins.append(np.mean(w))
    order = np.sort(p_values)
    m = len(order)
    limits = 0.05 * np.arange(1, m + 1) / (m * (1 / np.arange(1, m + 1)).sum())
    beaten = np.flatnonzero(order <= limits)
    return (beaten[-1] + 1 if len(beaten) else 0) / m, float(np.mean(wins))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("numeric", [False, True])
def test_it_is_what_the_paper_says_item_by_item(numeric, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, size=80)
    people = np.array([np.where(rng.random(80) < 0.7, truth, rng.integers(0, 4, size=80)) for _ in range(4)], float).T
    judge = np.where(rng.random(80) < 0.75, truth, rng.integers(0, 4, size=80)).astype(float)
    gap = np.nan if numeric else -1
    people[rng.random(people.shape) < 0.2] = gap
    judge[rng.random(80) < 0.1] = gap

    found = stood_in(people, judge, scoring="numeric" if numeric else "nominal", epsilon=0.15)

    missing = np.isnan if numeric else (lambda value: value < 0)
    rate, advantage = by_definition(people, judge, 0.15, numeric=numeric, missing=missing)
    assert found.winning_rate.value == pytest.approx(rate, abs=1e-12)
    assert found.advantage.value == pytest.approx(advantage, abs=1e-12)


def test_a_small_example_by_hand():
    # Three people, four items; the judge says what h0 does, so beside h0 every item is a tie: v = w = 1.
    # Beside h1 (others h0, h2): items 0 and 2 tie; on item 1 h1 agrees with h2 (1/2), the judge with h0 (1/2), a tie;
    # on item 3 h1 agrees with nobody, the judge with both: w = 1, v = 0. So w = 1, v = 3/4, d = -1/4.
    # Beside h2: item 3 has h2 and the judge at 1/2 each (with h0), item 1 one each: ties throughout.
    people = [[0, 0, 0], [0, 1, 1], [1, 1, 1], [0, 1, 0]]

    found = stood_in(people, [0, 0, 1, 0], min_items=4)

    assert [one.judge_wins for one in found.annotators] == [1, 1, 1]
    assert [one.own_wins for one in found.annotators] == [1, 0.75, 1]
    assert [one.difference for one in found.annotators] == [0, -0.25, 0]
    assert found.advantage.value == 1
    assert found.advantage.flags == ("small_sample", "no_variance")
    # Where d is 0 throughout, d - 0.2 is -0.2 four times: of 16 sign flips one has so low a sum. h1: -0.2 three times
    # and -1.2, also one of 16.
    assert [one.p_exact for one in found.annotators] == [1 / 16] * 3
    assert {one.test for one in found.annotators} == {"exact"}
    assert not any(one.beaten for one in found.annotators)  # 1/16 is more than 0.05
    assert (found.winning_rate.value, found.passes) == (0, False)
    # The judge's shares of the others: items 1, 0, 1, 1/2 beside h0; 1, 1/2, 1, 1 beside h1; 1, 1/2, 1, 1/2 beside h2.
    assert found.place.judge == pytest.approx((2.5 / 4 + 3.5 / 4 + 3 / 4) / 3)
    assert (found.place.low, found.place.high) == (2.5 / 4, 3 / 4)
    assert (found.place.n_below, found.place.n_equal, found.place.n_above) == (2, 1, 0)


def test_all_sign_flips_are_those_of_enumeration():
    rng = np.random.default_rng(3)
    for n in (1, 2, 7, 12):
        values = rng.choice([-1.2, -0.2, 0.8], size=n)
        signs = np.array(np.meshgrid(*[[-1, 1]] * n)).reshape(n, -1)
        sums = np.abs(values) @ signs

        assert all_signs_below(values) == pytest.approx((sums <= values.sum() + 1e-12).mean(), abs=1e-12)


def noisy(n, seed=0, good=0.8):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, size=n)

    def heard():
        return np.where(rng.random(n) < good, truth, rng.integers(0, 3, size=n))

    return np.array([heard() for _ in range(3)]).T, heard(), truth


def test_a_judge_who_knows_beats_everyone_and_one_who_guesses_nobody():
    people, _, truth = noisy(200)

    assert stood_in(people, truth).winning_rate.value == 1
    assert stood_in(people, np.random.default_rng(1).integers(0, 3, size=200)).winning_rate.value == 0


def test_an_annotator_with_few_items_is_not_tested_and_counted():
    people, judge, _ = noisy(100)
    people[20:, 2] = -1

    found = stood_in(people, judge)

    assert [one.annotator for one in found.annotators] == ["h0", "h1"]
    assert found.too_few == {"h2": 20}
    assert found.winning_rate.flags == ("few_annotators",)


def test_few_items_in_all_are_tested_on_all_signs_and_flagged():
    people, _, truth = noisy(25)

    found = stood_in(people, truth)

    assert {one.test for one in found.annotators} == {"exact"}
    assert "small_sample" in found.winning_rate.flags
    assert all(one.p_t is not None and one.p_exact is not None for one in found.annotators)


@pytest.mark.parametrize(("epsilon", "beaten"), [(0.1, True), (0.0, False)])
def test_without_variance_the_difference_itself_decides(epsilon, beaten):
    people = np.repeat(np.arange(40)[:, None] % 3, 3, axis=1)  # everyone agrees, so every d is 0

    found = stood_in(people, people[:, 0], epsilon=epsilon)

    assert {(one.test, one.p_t, one.beaten) for one in found.annotators} == {("no_variance", None, beaten)}
    assert "no_variance" in found.winning_rate.flags


def test_with_clusters_their_signs_decide_and_the_t_test_stands_beside():
    people, _, truth = noisy(200, good=0.7)
    clusters = np.repeat(np.arange(20), 10).tolist()

    one = stood_in(people, truth, clusters).annotators[0]
    own = stood_in(people, truth, list(range(200))).annotators[0]

    assert (one.test, one.n_clusters) == ("sign_flip", 20)
    assert 0 < one.p_clusters != one.p_t
    assert own.test == "t"


def test_a_cluster_interval_is_wider_where_clusters_are_alike():
    rng = np.random.default_rng(5)
    people, _, _ = noisy(300)
    judge = np.where(np.repeat(rng.random(30) < 0.5, 10), people[:, 0], 2)
    clusters = np.repeat(np.arange(30), 10).tolist()

    alone, together = (stood_in(people, judge, one).advantage.interval for one in (None, clusters))

    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert (together.n_clusters, together.unit) == (30, "item")


def test_the_interval_is_that_of_copying_the_drawn_clusters():
    people, judge, _ = noisy(120, seed=2)
    clusters = np.repeat(np.arange(6), 20)

    found = stood_in(people, judge, clusters.tolist(), min_items=1).advantage

    draws = np.array(np.meshgrid(*[range(6)] * 6)).reshape(6, -1).T
    wins = np.array([one.judge_wins for one in stood_in(people, judge).annotators])
    assert found.value == pytest.approx(wins.mean(), abs=1e-12)
    of_cluster = []
    for cluster in range(6):
        mine = clusters == cluster
        of_cluster.append([one.judge_wins for one in stood_in(people[mine], judge[mine], min_items=1).annotators])
    values = np.array(of_cluster).mean(axis=1)[draws].mean(axis=1)
    low, high = np.quantile(values, [0.025, 0.975])
    assert (found.interval.low, found.interval.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("people", "judge", "reason"),
    [
        ([[-1, -1], [-1, -1]], [0, 1], "empty"),
        ([[0, -1], [1, -1]], [0, 1], "one_rater"),
        ([[0, -1], [-1, 1]], [0, 1], "no_overlap"),
        ([[0, 0], [1, 1]], [-1, -1], "no_overlap"),
    ],
)
def test_what_cannot_be_tested_is_a_reason(people, judge, reason):
    found = stood_in(people, judge)

    assert (found.winning_rate.value, found.winning_rate.reason, found.passes) == (None, reason, None)
    assert found.advantage.reason == reason


def test_items_are_accounted_for():
    people, judge, _ = noisy(100)
    people[:10, 1:] = -1  # one annotator
    judge[10:25] = -1

    figure = stood_in(people, judge).winning_rate

    assert figure.left_out == {"not_rated": 15, "few_others": 10}
    assert figure.n_items + sum(figure.left_out.values()) == 100
    assert set(figure.left_out) <= set(LEFT_OUT)
    assert set(figure.flags) <= set(FLAGS)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_items_and_people_and_the_names_of_labels_play_no_part(seed):
    rng = np.random.default_rng(seed)
    people, judge, _ = noisy(60, seed=seed)
    items, columns, names = rng.permutation(60), rng.permutation(3), rng.permutation(3)

    one = stood_in(people, judge)
    other = stood_in(names[people][items][:, columns], names[judge][items])

    assert other.winning_rate.value == one.winning_rate.value
    assert other.advantage.value == pytest.approx(one.advantage.value, abs=1e-12)
    assert [test.p_t for test in other.annotators] == pytest.approx([one.annotators[j].p_t for j in columns])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 1.5}, "epsilon is 1.5"),
        ({"q": -0.1}, "q is -0.1"),
        ({"scoring": "ordinal"}, "scoring is 'ordinal'"),
        ({"min_items": 0}, "min_items is 0"),
        ({"annotators": ["a"]}, "1 annotators"),
    ],
)
def test_a_wrong_option_is_named(options, words):
    people, judge, _ = noisy(40)
    with pytest.raises(ValueError, match=words):
        stood_in(people, judge, **options)


# By name


def triples(people, judge):
    rows = [[f"i{n}", f"h{j}", label] for n, row in enumerate(people) for j, label in enumerate(row)]
    return rows + [[f"i{n}", "J", label] for n, label in enumerate(judge)]


@pytest.mark.parametrize("case", OWN["cases"], ids=lambda case: case["id"])
def test_our_own_cases_come_out_as_worked(case):
    found = compute("alternative_annotator", case["data"], case["params"])

    if isinstance(case["expected"], str):
        assert found.reason == case["expected"].removeprefix("undefined:")
        assert found.reason in REASONS
    else:
        assert found.value == pytest.approx(case["expected"], abs=1e-12)


def test_both_figures_stand_beside_each_other_whichever_is_asked_for():
    people, judge, _ = noisy(50)
    data = triples(people.tolist(), judge.tolist())
    params = {"judge": "J", "epsilon": 0.1, "n_resamples": 300, "scoring": "nominal"}

    rate = compute("alternative_annotator", data, params)
    advantage = compute("alternative_annotator", data, params | {"stat": "advantage"})

    assert rate.value == advantage.details["winning_rate"]
    assert advantage.value == rate.details["advantage"].value
    assert advantage.interval.low < advantage.value < advantage.interval.high
    assert advantage.details["place"].n_below <= 3


def test_numbers_are_scored_by_distance_and_texts_by_being_the_same_unless_told():
    people, judge, _ = noisy(40)
    params = {"judge": "J", "epsilon": 0.1, "n_resamples": 10}

    def scoring(change, **more):
        data = triples([[change(one) for one in row] for row in people.tolist()], [change(one) for one in judge])
        return compute("alternative_annotator", data, params | more).details["scoring"]

    assert scoring(int) == "numeric"
    assert scoring(str) == "numeric"  # a spreadsheet knows texts alone
    assert scoring("abc".__getitem__) == "nominal"
    assert scoring(int, scoring="accuracy") == "nominal"
    assert scoring(str, scoring="nominal") == "nominal"


@pytest.mark.parametrize(
    ("change", "params", "error", "words"),
    [
        (["i0", "h0", 1], {}, DuplicateRating, "h0 rated item i0 twice"),
        (["i99", "h0", "x"], {"scoring": "numeric"}, UnknownLabel, "item i99, rater h0"),
        (["i99", "h0", 7], {"categories": [0, 1, 2]}, UnknownLabel, "item i99, rater h0"),
        (["i99", "h0", 1], {"judge": "K"}, BadParams, "no rater 'K'"),
        (["i99", "h0", 1], {"epsilon": None}, BadParams, "needs the param epsilon"),
        (["i99", "h0", 1], {"annotators": ["h0", "J"]}, BadParams, "not the judge among them"),
        (["i99", "h0", 1], {"epsilo": 1}, BadParams, "takes no param epsilo"),
    ],
)
def test_wrong_data_or_params_are_named(change, params, error, words):
    people, judge, _ = noisy(5)
    data = [*triples(people.tolist(), judge.tolist()), change]
    with pytest.raises(error, match=words):
        compute("alternative_annotator", data, {"judge": "J", "epsilon": 0.1} | params)


# Published


def records(row):
    folder = shared("data", "judge-alt-test", row["dataset"])
    people = json.loads((folder / "human_annotations.json").read_text(encoding="utf-8"))
    verdicts = json.loads((folder / "llm_annotations.json").read_text(encoding="utf-8"))[row["judge"]]
    said = {**people, row["judge"]: verdicts}
    return [[item, rater, label] for rater, labels in said.items() for item, label in labels.items()]


@pytest.mark.shared
def test_all_published_rows_are_reproduced():
    rows = json.loads(shared("data", "judge-alt-test", "published.json").read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 36
    for row in rows:
        params = {"judge": row["judge"], "epsilon": row["epsilon"], "n_resamples": 200}

        found = compute("alternative_annotator", records(row), params)

        name = f"{row['dataset']} {row['judge']}"
        scoring = {"accuracy": "nominal", "neg_rmse": "numeric"}[row["scoring"]]
        assert found.details["scoring"] == scoring, name
        assert len(found.details["annotators"]) == row["n_annotators"], name
        assert found.value == pytest.approx(row["winning_rate"], abs=1e-12), name
        assert found.details["advantage"].value == pytest.approx(row["advantage"], abs=1e-12), name
        assert found.details["passes"] == (row["winning_rate"] >= 0.5), name
