"""The frame of the reports: settings read strictly, figures drawn together over clusters, plain dictionaries."""

import json

import numpy as np
import pytest

from scoring.methods.records import Field, RecordType, Schema, records_of
from scoring.methods.tables import (
    Asked,
    BadSetting,
    Grid,
    Method,
    MethodReport,
    Parameter,
    Plan,
    Said,
    Table,
    coded,
    count_row,
    drawn,
    median_row,
    methods,
    rows_of,
    words_of,
)
from scoring.stats.agreement import fleiss_kappa
from scoring.stats.answers import Drawing
from scoring.stats.chance import FleissKappa
from scoring.stats.sums import difference, mean, ratio_of_sums, share, with_intervals

DRAWING = Drawing(unit="run", seed=3, min_clusters=2, n_resamples=500)
RNG = np.random.default_rng(5)


def asked(statistic, clusters, metric="m"):
    return Asked(metric, "name", statistic, clusters, "items")


def explicit(values, clusters, statistic, n=20_000):
    """The percentile interval of resampling clusters one by one."""
    rng = np.random.default_rng(11)
    names = sorted(set(clusters))
    places = {name: [at for at, its in enumerate(clusters) if its == name] for name in names}
    found = []
    for _ in range(n):
        rows = [at for name in rng.choice(names, len(names)) for at in places[name]]
        found.append(statistic(values[rows]))
    return np.quantile(found, [0.025, 0.975])


def test_intervals_are_those_of_resampling_whole_clusters():
    clusters = [f"c{n % 8}" for n in range(80)]
    yes = RNG.random(80) < np.repeat([0.2, 0.8], 40)
    drawing = Drawing(unit="run", seed=3, n_resamples=20_000)
    (row,) = rows_of([asked(share(yes), clusters)], drawing)
    low, high = explicit(yes, clusters, np.mean, n=4_000)
    assert row.figure.interval.low == pytest.approx(low, abs=0.02)
    assert row.figure.interval.high == pytest.approx(high, abs=0.02)
    assert row.figure.n_clusters == 8
    assert (row.k, row.n) == (int(yes.sum()), 80)


def test_few_clusters_are_enumerated_as_the_items_themselves_would_be():
    clusters = [n % 4 for n in range(20)]
    yes = RNG.random(20) < 0.5
    (row,) = rows_of([asked(share(yes), clusters)], DRAWING)
    (figure,) = with_intervals([share(yes)], clusters, DRAWING)
    assert row.figure == figure


def test_items_of_different_sorts_share_the_draw_of_their_clusters():
    """30 texts and 90 gaps of the same ten clusters: gaps that are the texts three times over have the very same
    interval, which two draws would not give; so have they with anything else asked beside them."""
    texts, gaps = [n % 10 for n in range(30)], [n % 10 for n in range(90)]
    one, other = RNG.random(30), RNG.random(90) < 0.4
    rows = rows_of([asked(mean(one), texts), asked(mean(np.tile(one, 3)), gaps), asked(share(other), gaps)], DRAWING)
    first, second, third = (row.figure for row in rows)
    assert first.value == pytest.approx(second.value)
    assert (first.interval.low, first.interval.high) == pytest.approx((second.interval.low, second.interval.high))
    assert third.interval.low < other.mean() < third.interval.high


def test_a_difference_is_paired_on_its_draw():
    clusters = [n % 12 for n in range(60)]
    one = RNG.random(60)
    (row,) = rows_of([asked(difference(mean(one), mean(one + 0.25)), clusters)], DRAWING)
    assert row.figure.value == pytest.approx(0.25)
    assert row.figure.interval_reason == "all_resamples_equal"


def test_a_part_is_resampled_over_its_own_clusters():
    clusters = [n % 20 for n in range(100)]
    inside = np.array([n % 20 < 3 for n in range(100)])
    (row,) = rows_of([asked(share(np.array(clusters) == 0, inside), clusters)], DRAWING)
    assert row.figure.n_clusters == 3
    assert row.figure.flags == ("very_few_clusters",)


def test_a_share_of_independent_items_keeps_its_score_interval_and_one_of_clusters_does_not():
    (alone,) = rows_of([asked(share(np.zeros(50)), range(50))], DRAWING)
    assert alone.figure.interval.method == "wilson"
    assert alone.figure.interval.high == pytest.approx(0.0713, abs=1e-4)
    (together,) = rows_of([asked(share(np.zeros(50)), [n // 2 for n in range(50)])], DRAWING)
    assert together.figure.interval_reason == "all_resamples_equal"


def test_a_statistic_of_codes_is_the_one_it_is_elsewhere():
    codes = RNG.integers(0, 2, (40, 5))
    codes[3:9, 2] = -1
    summed, point = coded(FleissKappa(2), codes)
    assert point == fleiss_kappa(codes, n_categories=2)
    one = Asked("m", "name", summed, [n % 10 for n in range(40)], "items", point=point)
    (row,) = rows_of([one], DRAWING)
    assert row.figure.value == point.value
    assert row.figure.interval.low < point.value < row.figure.interval.high


def test_a_figure_of_nothing_has_its_reason_and_no_interval():
    nothing = [asked(ratio_of_sums([], []), []), asked(share([1, 0], [0, 0], left_out={"tie": 2}), [1, 2])]
    for row in rows_of(nothing, DRAWING):
        assert (row.figure.value, row.figure.reason, row.figure.interval_reason) == (None, "empty", "empty")
    assert median_row("m", "name", [], "items").figure.reason == "empty"


def test_clusters_of_another_number_of_items_are_refused():
    with pytest.raises(ValueError, match="2 clusters for 3 items"):
        rows_of([asked(share([1, 0, 1]), [1, 2])], DRAWING)


def test_tables_keep_their_order_and_those_without_a_row_are_left_away():
    grid = Grid("g", "Grid", "rows", "columns", ("a",), ("b",), ((1,),))
    plans = [Plan("one", "One", [count_row("n", "texts", 3), asked(share([1, 0]), [1, 2])]), Plan("no", "No", []), grid]
    one, last = drawn(plans, DRAWING)
    assert [row.metric for row in one.rows] == ["n", "m"]
    assert last is grid


def report_of(records, settings):
    rows = (count_row("n", "things", len(records["thing"]), by=(("model", "<b>"), ("ties", Said("left out")))),)
    return MethodReport("m", "M", settings, (Table("t", Said("%(n)s things", {"n": 1}), rows),))


METHOD = Method(
    "m",
    "M",
    Schema((RecordType("thing", "A thing.", (Field("x", "number"),)),)),
    report_of,
    (
        Parameter("rule", "text", "a", "which", allowed=("a", "b")),
        Parameter("part", "number", 0.5, "how much", least=0, most=1),
        Parameter("all", "truth", False, "whether"),
        Parameter("min_clusters", "whole", 2, "own default", least=2),
    ),
)


def test_settings_are_every_parameter_those_given_in_place():
    assert METHOD.settings({"rule": "b", "all": "TRUE", "part": "0.25", "seed": "9"}) == {
        "rule": "b",
        "part": 0.25,
        "all": True,
        "min_clusters": 2,
        "seed": 9,
        "n_resamples": 10_000,
    }
    assert METHOD.settings({"part": 1})["part"] == 1


@pytest.mark.parametrize(
    "given",
    [
        {"rule": "c"},
        {"part": "2"},
        {"part": "nan"},
        {"part": "inf"},
        {"part": "much"},
        {"all": "yes"},
        {"all": 1},
        {"seed": "1.5"},
        {"seed": True},
        {"seed": -1},
        {"n_resamples": "10"},
        {"rules": "a"},
    ],
)
def test_a_setting_that_is_none_is_named(given):
    (name,) = given
    with pytest.raises(BadSetting) as refused:
        METHOD.settings(given)
    assert refused.value.problem.field == name
    assert refused.value.problem.sentence().startswith(f"{name}: ")


def test_a_report_as_plain_json_has_its_settings_and_what_the_records_say_of_themselves():
    records = records_of(
        [{"record": "about", "text": "100 % made up", "synthetic": True}, {"record": "thing", "x": 1 / 3}],
        METHOD.schema,
    )
    said = METHOD.of(records, {"part": 1 / 3}).as_dict()
    assert said["settings"]["part"] == 0.3333333333
    assert said["n_records"] == {"thing": 1}
    assert said["notes"][0] == "100 % made up"
    assert said["notes"][1].startswith("Synthetic records")
    (table,) = said["tables"]
    assert table["title"] == "1 things"
    (row,) = table["rows"]
    assert row["by"] == {"model": "<b>", "ties": "left out"}
    assert row["value"] == 1
    json.dumps(said, allow_nan=False)


def test_words_of_ours_are_translated_and_those_of_records_are_not():
    def shout(text):
        return text.upper()

    assert words_of(Said("%(n)s things", {"n": "a"}), str) == "a things"
    assert words_of("name", shout) == "NAME"
    assert words_of("", shout) == ""
    row = count_row("n", "things", 1, by=(("model", "left out"), ("ties", Said("left out"))))
    assert row.as_dict(shout)["by"] == {"model": "left out", "ties": "LEFT OUT"}


def test_the_methods_are_found_by_their_modules():
    assert "replies" in methods()
    assert all(method.name == name for name, method in methods().items())
