"""Public tables with published figures, through `compute`; each is read where it lies."""

import csv
import json

import pytest

from scoring.stats.compute import compute
from tests.scoring.stats.tables import shared

pytestmark = pytest.mark.shared


def rows_of(*parts):
    with shared("data", *parts).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def triples(rows, item, raters):
    return [(row[item], rater, row[rater].strip() or None) for row in rows for rater in raters]


def printed(value, digits):
    """Equal to as many digits as were printed."""
    return pytest.approx(value, abs=0.5000001 * 10**-digits)


def test_the_diagnoses_of_fleiss_1971_have_kappa_430():
    rows = rows_of("agreement-irr", "derived", "diagnoses.csv")
    data = triples(rows, "subject", [f"rater{n}" for n in range(1, 7)])

    found = compute("fleiss_kappa", data)

    assert found.value == printed(0.430, 3)
    assert (found.n_items, found.n_raters, found.n_ratings) == (30, 6, 180)


FOUR = ("agreement-irrcac", "inst", "extdata", "cac.raw4raters.csv")


@pytest.mark.parametrize(
    ("metric", "params", "value", "digits"),
    [
        ("percent_agreement", {}, 0.8181818, 7),
        ("gwet_ac", {"categories": ["1", "2", "3", "4", "5"]}, 0.77544, 5),
        ("fleiss_kappa", {}, 0.76117, 5),
        ("krippendorff_alpha", {"level": "nominal"}, 0.74342, 5),
    ],
)
def test_gwets_four_raters_have_the_published_coefficients(metric, params, value, digits):
    data = triples(rows_of(*FOUR), "Units", ["Rater1", "Rater2", "Rater3", "Rater4"])

    assert compute(metric, data, params).value == printed(value, digits)


def test_the_groups_of_raters_have_the_published_coefficients():
    """distrib.6raters holds the first 15 of the patients; cac.dist4cat is read without its column of groups."""
    six = rows_of("agreement-irrcac", "inst", "extdata", "distrib.6raters.csv")
    counts = [[int(n) for name, n in row.items() if name != "Subject"] for row in six]
    four = rows_of("agreement-irrcac", "inst", "extdata", "cac.dist4cat.csv")
    distribution = {"counts": [[int(row[one]) for one in "abc"] for row in four]}

    alpha = compute("krippendorff_alpha", {"counts": counts}, {"level": "nominal"})
    ac1 = compute("gwet_ac", distribution, {"categories": list("abc")})

    assert alpha.value == printed(0.4204384, 7)
    assert ac1.value == printed(0.3518903, 7)


def test_the_two_diagnoses_of_223_patients_have_the_published_pi():
    rows = rows_of("agreement-irrcac", "inst", "extdata", "cont4x4diagnosis.csv")
    names = [row["Diagnosis"] for row in rows]
    data = {"confusion": [[int(row[name]) for name in names] for row in rows]}

    assert compute("scott_pi", data, {"categories": names}).value == printed(0.430, 3)
    assert compute("percent_agreement", data, {"categories": names}).n_items == 223


def test_labels_that_are_blank_are_no_ratings():
    rows = rows_of("agreement-irrcac", "inst", "extdata", "cac.raw.g1g2.csv")
    data = triples(rows, "Units", ["Rater1", "Rater2", "Rater3", "Rater4"])

    found = compute("fleiss_kappa", data)

    assert (found.n_items, found.left_out) == (13, {"one_rating": 1})


BENCH = "agreement-judgebench"
NEWS = ((BENCH, "derived", "newsroom_ratings_only.json"), (BENCH, "results", "regular", "newsroom.json"))
RECIPES = (
    (BENCH, "data", "recipe_crowd_sourcing_data", "meta_evaluation_recipes.json"),
    (BENCH, "results", "regular", "recipe-crowd-sourcing-data.json"),
)


@pytest.mark.parametrize(("ratings", "results"), [NEWS, RECIPES], ids=["newsroom", "recipes"])
def test_the_graded_ratings_have_the_published_alphas(ratings, results):
    """Published beside every model; ordinal, of columns that stand for no one person."""
    said = json.loads(shared("data", *ratings).read_text(encoding="utf-8"))
    published = next(iter(json.loads(shared("data", *results).read_text(encoding="utf-8")).values()))
    for measure in said["annotations"]:
        data = [
            (number, f"column {place}", score)
            for number, one in enumerate(said["instances"])
            for place, score in enumerate(one["annotations"][measure["metric"]]["individual_human_scores"])
        ]
        declared = list(range(measure["worst"], measure["best"] + 1))

        found = compute("krippendorff_alpha", data, {"level": "ordinal", "categories": declared})

        assert found.value == pytest.approx(published[measure["metric"]]["krippendorff_alpha"], abs=1e-10)


def test_all_the_judges_of_spoken_dialogues_have_the_published_kappas_and_f1():
    rows = rows_of("judge-validation-tau-multi", "published_kappa_table.csv")
    assert len(rows) >= 20
    for row in rows:
        tp, fp, fn, tn = (int(row[name]) for name in ("tp", "fp", "fn", "tn"))
        data = {"confusion": [[tp, fn], [fp, tn]]}
        names = {"categories": ["positive", "negative"], "rater_a": "people", "rater_b": "judge"}

        kappa = compute("cohen_kappa", data, names)
        cell = compute("confusion", data, {**names, "cell": ["positive", "positive"]})
        right = compute("judge_vs_majority", data, {**names, "judge": "judge", "min_raters": 1, "stat": "kappa"})

        assert kappa.value == printed(float(row["kappa"]), 3)
        assert right.value == pytest.approx(kappa.value, abs=1e-12)
        assert (kappa.n_items, cell.value) == (int(row["n"]), tp)
        assert 2 * tp / (2 * tp + fp + fn) == printed(float(row["f1"]), 3)
