"""The golden numbers whose formula names a helper, each through the product's own statistic of that name."""

import json

import pytest

from scoring.stats.compute import compute
from tests.scoring.stats.tables import ROOT, shared

COPY = ROOT / "fixtures" / "reference" / "golden-numbers.json"
GOLDEN = json.loads(COPY.read_text(encoding="utf-8"))


def value(metric, data, **params):
    return compute(metric, data, params).value


def kappa2x2(tp, fn, fp, tn):
    return value("cohen_kappa", {"confusion": [[tp, fn], [fp, tn]]})


def fleiss(table):
    return value("fleiss_kappa", {"counts": table})


def pass_at_k(n, c, k):
    return value("pass_at_k", [["task", "n", n], ["task", "c", c]], k=k)


def f1(p, r):
    """Of groups: so many were right, predicted and there; both shares to a part in a thousand."""
    n_right, n_predicted, n_there = round(10_000 * p * r), round(10_000 * r), round(10_000 * p)
    predicted = [[n] for n in range(n_predicted)]
    there = [[n] for n in range(n_right)] + [[-n] for n in range(1, n_there - n_right + 1)]
    data = [["item", "reference", there], ["item", "predicted", predicted]]
    return value("group_set_agreement", data, reference="reference", predicted="predicted", stat="f1")


def holm(p_values):
    data = [[f"c{n}", "p", p] for n, p in enumerate(p_values)]
    return [value("holm", data, comparison=name) for name, _, _ in data]


def shapley_psc(a, b):
    arms = (("before", a), ("after", b))
    data = [[factor, arm, number] for arm, numbers in arms for factor, number in zip("psc", numbers, strict=True)]
    data += [["u", "before", 0.05], ["u", "after", 0.05]]
    return [value("shapley_acc", data, factor=factor) for factor in "psc"]


def multiset_tp(pred, gold):
    data = [["item", "reference", gold], ["item", "predicted", pred]]
    names = {"reference": "reference", "predicted": "predicted", "repeats": "each", "ordered_within": False}
    return value("group_set_agreement", data, stat="precision", **names) * len(pred)


HELPERS = {one.__name__: one for one in (kappa2x2, fleiss, pass_at_k, f1, holm, shapley_psc, multiset_tp)}
ELSEWHERE = {"prec_at_k"}  # of the runs of a detector, with the methods


def helper(entry):
    return next((name for name in {**HELPERS, **dict.fromkeys(ELSEWHERE)} if f"{name}(" in entry["formula"]), None)


HERE = [entry for entry in GOLDEN if helper(entry) in HELPERS]


@pytest.mark.parametrize("entry", HERE, ids=lambda entry: entry["id"])
def test_a_golden_number_comes_out_of_the_product(entry):
    found = eval(entry["formula"], {"__builtins__": {"sum": sum}}, {**HELPERS, **entry["inputs"]})

    assert found == pytest.approx(entry["expected"], abs=entry["tolerance"])


def test_every_helper_is_tried():
    assert {helper(entry) for entry in HERE} == set(HELPERS)
    assert len(HERE) == 26


@pytest.mark.shared
def test_our_copy_of_the_golden_numbers_is_the_original():
    assert COPY.read_bytes() == shared("data", "golden-numbers.json").read_bytes()
