import json

import numpy as np
import pytest

from scoring.stats import panel as panel_module
from scoring.stats.agreement import (
    annotator_vs_majority,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from scoring.stats.panel import panel_agreement
from scoring.stats.ratings import MISSING, Ratings
from scoring.stats.results import Figure

PASS, FAIL = 0, 1


def panel_of(codes, categories=("pass", "fail")):
    codes = np.asarray(codes)
    names = ("ana", "ben", "cy", "dee", "eve", "flo")
    raters = names[: codes.shape[1]] if codes.shape[1] <= 6 else tuple(range(codes.shape[1]))
    return Ratings(tuple(range(len(codes))), raters, tuple(categories), codes)


def codes_of(n_items=60, n_raters=5, q=2, *, seed=3, gaps=0.2):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, q, (n_items, 1))
    codes = np.where(rng.random((n_items, n_raters)) < 0.6, base, rng.integers(0, q, (n_items, n_raters)))
    return np.where(rng.random(codes.shape) < gaps, MISSING, codes)


def agreement_of(ratings, clusters=None, **options):
    options = {"level": "nominal", "tie": "exclude", "min_others": 2, "unit": "run", "seed": 1} | options
    return panel_agreement(ratings, clusters, **options)


def without_interval(figure):
    names = ("value", "reason", "n_items", "n_ratings", "n_raters", "left_out", "observed", "expected")
    return {name: getattr(figure, name) for name in names}


CODES = codes_of()
RUNS = [item // 3 for item in range(60)]
PANEL = agreement_of(panel_of(CODES), RUNS, tie=("toward", "fail"))


def test_the_figures_of_the_whole_panel_are_those_of_the_single_functions():
    alone = {
        "percent_agreement": percent_agreement(CODES, n_categories=2),
        "percent_agreement_pair": percent_agreement(CODES, n_categories=2, weighting="pair"),
        "fleiss_kappa": fleiss_kappa(CODES, n_categories=2),
        "krippendorff_alpha": krippendorff_alpha(CODES, n_categories=2, level="nominal"),
    }

    for name, figure in alone.items():
        found, expected = without_interval(getattr(PANEL, name)), without_interval(figure)
        for part in ("value", "observed", "expected"):
            assert found.pop(part) == pytest.approx(expected.pop(part), abs=1e-12)
        assert found == expected


def test_the_figures_carry_the_names_of_the_case_files():
    said = PANEL.as_dict()
    figures = [name for name, value in said.items() if isinstance(value, dict) and "reason" in value]
    assert figures == [
        "percent_agreement",
        "percent_agreement_pair",
        "fleiss_kappa",
        "krippendorff_alpha",
        "mean_cohen_kappa",
    ]
    assert "cohen_kappa" in said["pairs"][0]
    for one in (said["raters"][0], *said["raters"][0]["other_rules"]):
        assert {"annotator_vs_majority", "annotator_vs_majority_kappa"} < one.keys()


def test_every_pair_has_its_kappa_its_common_items_and_its_table():
    assert [(pair.first, pair.second) for pair in PANEL.pairs][:2] == [("ana", "ben"), ("ana", "cy")]
    assert len(PANEL.pairs) == 10
    for pair in PANEL.pairs:
        a, b = (CODES[:, PANEL_RATERS.index(name)] for name in (pair.first, pair.second))
        assert without_interval(pair.cohen_kappa) == without_interval(cohen_kappa(a, b, n_categories=2))
        assert pair.n_common == sum(map(sum, pair.confusion)) == pair.cohen_kappa.n_items
        assert pair.confusion[1][0] == ((a == 1) & (b == 0)).sum()


PANEL_RATERS = ("ana", "ben", "cy", "dee", "eve")


def test_every_rater_is_set_against_the_others_under_every_rule():
    rules = {"exclude": "exclude", "fractional": "fractional", "toward:pass": ("toward", PASS)}

    for column, rater in enumerate(PANEL.raters):
        declared = {"n_categories": 2, "rater": column, "ties": ("toward", FAIL)}
        share, kappa = rater.annotator_vs_majority, rater.annotator_vs_majority_kappa
        assert without_interval(share) == without_interval(annotator_vs_majority(CODES, **declared))
        assert without_interval(kappa) == without_interval(annotator_vs_majority(CODES, **declared, stat="kappa"))
        assert [other.rule for other in rater.other_rules] == list(rules)
        for other in rater.other_rules:
            ties = rules[other.rule]
            assert other.annotator_vs_majority == annotator_vs_majority(CODES, n_categories=2, rater=column, ties=ties)
            if ties == "fractional":
                assert other.annotator_vs_majority_kappa is None
            else:
                kappa = annotator_vs_majority(CODES, n_categories=2, rater=column, ties=ties, stat="kappa")
                assert other.annotator_vs_majority_kappa == kappa
    assert PANEL.tie_rule == "toward:fail"


def test_ties_are_counted_whatever_the_rule():
    """Of ana's items the others tie on two; on one more only ben speaks. One she left though the others tie on it."""
    codes = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, MISSING], [MISSING, 0, 1]]
    counted = {}
    for tie in ("exclude", ("toward", "fail")):
        panel = agreement_of(panel_of(codes), tie=tie)
        first = panel.raters[0]
        counted[tie] = (first.n_ties, first.n_few_others, first.annotator_vs_majority.left_out)

    assert counted["exclude"] == (2, 1, {"not_rated": 1, "few_others": 1, "tie": 2})
    assert counted["toward", "fail"] == (2, 1, {"not_rated": 1, "few_others": 1})
    assert agreement_of(panel_of([[0, 1], [0, 0], [1, MISSING]])).n_tied_items == 1


def test_the_panel_says_how_many_there_were_and_what_was_left_out():
    codes = [[0, 0, 1, MISSING], [1, MISSING, MISSING, MISSING], [MISSING] * 4, [1, 1, 1, MISSING]]

    panel = agreement_of(panel_of(codes))

    assert (panel.n_items, panel.n_raters, panel.n_ratings) == (3, 3, 7)
    assert panel.left_out == {"no_rating": 1, "one_rating": 1}
    assert [(one.category, one.n_ratings) for one in panel.prevalence] == [("pass", 2), ("fail", 5)]
    assert panel.prevalence[1].share == pytest.approx(5 / 7)


def test_the_mean_over_pairs_takes_pairs_with_enough_items_and_a_kappa():
    codes = codes_of(30, 4, gaps=0)
    codes[:25, 1] = MISSING  # ben shares 5 items with the others
    codes[:, 3] = 0  # dee is constant: kappa 0 with each
    codes[:, 2] = np.where(np.arange(30) < 25, 0, codes[:, 2])

    panel = agreement_of(panel_of(codes))

    kappas = {(pair.first, pair.second): pair.cohen_kappa.value for pair in panel.pairs}
    used = [kappas["ana", "cy"], kappas["ana", "dee"], kappas["cy", "dee"]]
    assert panel.mean_cohen_kappa.value == pytest.approx(np.mean(used))
    assert panel.mean_cohen_kappa.left_out == {"few_common_items": 3}
    assert panel.mean_cohen_kappa.n_items == 30
    assert agreement_of(panel_of(codes), min_common=31).mean_cohen_kappa.reason == "few_common_items"
    assert agreement_of(panel_of(codes), min_common=31).mean_cohen_kappa.interval_reason == "few_common_items"


def test_pairs_without_a_kappa_leave_the_mean_and_are_counted():
    codes = codes_of(30, 3, gaps=0)
    codes[:, 1:] = 0

    panel = agreement_of(panel_of(codes))

    assert panel.mean_cohen_kappa.value == 0.0
    assert panel.mean_cohen_kappa.left_out == {"undefined": 1}
    assert agreement_of(panel_of(codes[:, 1:])).mean_cohen_kappa.reason == "one_category"


def test_all_intervals_come_from_one_draw():
    """Two raters: percent agreement and the pair's observed agreement are one number, so are their intervals; and the
    mean over one pair is that pair."""
    panel = agreement_of(panel_of(CODES[:, :2]), RUNS, min_common=1)

    assert panel.percent_agreement.interval == panel.percent_agreement_pair.interval
    assert panel.mean_cohen_kappa.interval == panel.pairs[0].cohen_kappa.interval
    assert panel.mean_cohen_kappa.value == panel.pairs[0].cohen_kappa.value
    assert panel.mean_cohen_kappa.interval is not None


def test_every_interval_says_its_clusters_resamples_and_seed():
    interval = PANEL.fleiss_kappa.interval

    assert (interval.unit, interval.n_clusters, interval.n_resamples, interval.seed) == ("run", 20, 10_000, 1)
    assert (PANEL.unit, PANEL.n_clusters, PANEL.n_resamples, PANEL.seed) == ("run", 20, 10_000, 1)
    of_one = PANEL.raters[4].annotator_vs_majority_kappa
    for figure in (PANEL.percent_agreement_pair, PANEL.krippendorff_alpha, PANEL.mean_cohen_kappa, of_one):
        assert figure.interval.low < figure.value < figure.interval.high


def test_a_seed_gives_the_same_bytes_and_another_seed_others():
    ratings = panel_of(CODES)

    again = agreement_of(ratings, RUNS, tie=("toward", "fail"), seed=1)

    assert json.dumps(again.as_dict(), allow_nan=False) == json.dumps(PANEL.as_dict(), allow_nan=False)
    other = agreement_of(ratings, RUNS, tie=("toward", "fail"), seed=2).fleiss_kappa.interval
    assert (other.low, other.high) != (PANEL.fleiss_kappa.interval.low, PANEL.fleiss_kappa.interval.high)


def test_the_order_of_items_changes_no_byte():
    order = np.random.default_rng(8).permutation(60)

    shuffled = agreement_of(panel_of(CODES[order]), [RUNS[item] for item in order], tie=("toward", "fail"))

    assert json.dumps(shuffled.as_dict()) == json.dumps(PANEL.as_dict())


def test_json_holds_ten_digits_and_the_categories_as_they_are():
    found = agreement_of(panel_of(CODES, categories=(1, "1")), RUNS).as_dict()

    assert found["fleiss_kappa"]["value"] == float(f"{PANEL.fleiss_kappa.value:.10g}")
    assert [one["category"] for one in found["prevalence"]] == [1, "1"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_level_changes_alpha_alone():
    ratings = panel_of(codes_of(q=3), categories=(1, 2, 9))

    nominal, ordinal, interval = (agreement_of(ratings, level=level) for level in ("nominal", "ordinal", "interval"))

    values = krippendorff_alpha(ratings.codes, n_categories=3, level="interval", values=[1, 2, 9])
    assert interval.krippendorff_alpha.value == pytest.approx(values.value, abs=1e-12)
    assert len({one.krippendorff_alpha.value for one in (nominal, ordinal, interval)}) == 3
    assert nominal.fleiss_kappa == ordinal.fleiss_kappa == interval.fleiss_kappa


def test_an_interval_level_needs_numbers():
    with pytest.raises(ValueError, match="Category 'pass' is no number"):
        agreement_of(panel_of(CODES), level="interval")


def test_a_tie_category_that_is_not_declared_is_refused():
    with pytest.raises(ValueError, match="'failed' is no declared category"):
        agreement_of(panel_of(CODES), tie=("toward", "failed"))


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        (np.zeros((0, 0), dtype=int), "empty"),
        (np.full((3, 2), MISSING), "empty"),
        ([[0], [1]], "one_rater"),
        ([[0, MISSING], [MISSING, 1]], "no_overlap"),
        ([[0, 0], [0, 0]], "one_category"),
    ],
)
def test_a_panel_without_agreement_is_a_report_of_reasons(codes, reason):
    panel = agreement_of(panel_of(codes), min_common=1)

    found = panel.as_dict()
    json.dumps(found, allow_nan=False)
    figures = (panel.fleiss_kappa, panel.krippendorff_alpha, panel.mean_cohen_kappa)
    assert {(figure.value, figure.reason, figure.interval) for figure in figures} == {(None, reason, None)}


def test_two_raters_have_their_kappa_and_no_majority():
    panel = agreement_of(panel_of(CODES[:, :2]), RUNS)

    assert panel.pairs[0].cohen_kappa.value is not None
    assert {rater.annotator_vs_majority.reason for rater in panel.raters} == {"no_comparable_items"}
    assert {rater.annotator_vs_majority_kappa.reason for rater in panel.raters} == {"no_comparable_items"}


def test_few_runs_give_values_without_intervals():
    panel = agreement_of(panel_of(CODES[:9]), RUNS[:9])

    assert panel.fleiss_kappa.value is not None
    assert panel.fleiss_kappa.interval_reason == "too_few_clusters"
    allowed = agreement_of(panel_of(CODES[:9]), RUNS[:9], min_clusters=2)
    assert allowed.percent_agreement.flags == ("very_few_clusters",)
    assert allowed.percent_agreement.interval.n_resamples == allowed.n_resamples == 27


def test_a_very_large_panel_has_pairs_without_intervals(monkeypatch):
    monkeypatch.setattr(panel_module, "MAX_PAIRS_WITH_INTERVALS", 9)

    panel = agreement_of(panel_of(CODES), RUNS)

    assert {pair.cohen_kappa.interval_reason for pair in panel.pairs} == {"too_many_pairs"}
    assert panel.mean_cohen_kappa.interval_reason == "too_many_pairs"
    assert panel.mean_cohen_kappa.value == PANEL.mean_cohen_kappa.value
    assert panel.fleiss_kappa.interval == PANEL.fleiss_kappa.interval
    assert isinstance(panel.raters[0].annotator_vs_majority_kappa, Figure)
