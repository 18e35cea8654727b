import json
from dataclasses import replace

import numpy as np
import pytest

from scoring.stats.results import Figure, Interval, plain

FIGURE = Figure(
    value=2 / 3, reason=None, n_items=3, n_ratings=6, n_raters=2, left_out={"tie": 1}, flags=("few_clusters",)
)


@pytest.mark.parametrize(
    ("value", "reason"), [(None, None), (0.5, "empty"), (float("nan"), None), (float("inf"), None)]
)
def test_a_figure_has_either_a_number_or_a_reason(value, reason):
    with pytest.raises(ValueError, match="figure"):
        replace(FIGURE, value=value, reason=reason)


@pytest.mark.parametrize("field", ["observed", "expected"])
def test_no_part_of_a_figure_is_nan(field):
    with pytest.raises(ValueError, match=f"{field} is nan"):
        replace(FIGURE, **{field: float("nan")})


def test_a_figure_becomes_json_with_ten_digits():
    interval = Interval(1 / 3, 1.0, 0.95, "run", 9, 10_000, 4, 0.0, "drawn")

    found = plain(replace(FIGURE, interval=interval, observed=np.float64(0.1) + 0.2))

    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["value"], found["observed"], found["interval"]["low"]) == (0.6666666667, 0.3, 0.3333333333)
    assert (found["left_out"], found["flags"], found["interval_reason"]) == ({"tie": 1}, ["few_clusters"], None)


def test_ids_that_json_does_not_know_become_text_and_others_stay():
    assert plain({3: (1, "1", True, None, frozenset({2}))}) == {"3": [1, "1", True, None, "frozenset({2})"]}
