"""Every statistic by its name, in the form of the case files."""

import pytest

from scoring.stats.compute import UnknownMetric, compute, metrics
from scoring.stats.ratings import RatingsError
from tests.scoring.stats.tables import reference_cases

CASES = reference_cases()
KNOWN = [case for case in CASES if case["metric"] in metrics()]


def said(case):
    try:
        found = compute(case["metric"], case["data"], case["params"])
    except RatingsError as refusal:
        return f"undefined:{refusal.code}"
    return found.value if found.reason is None else f"undefined:{found.reason}"


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


def test_an_unknown_name_is_refused_with_all_the_names_there_are():
    with pytest.raises(UnknownMetric, match="no statistic 'kappa'; there are: .*cohen_kappa.*fleiss_kappa"):
        compute("kappa", [])
