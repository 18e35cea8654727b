"""Figures in words: rounded as the sources print them, or the reason why there is none."""

import re

import pytest
from django.utils import translation

from annotate.kinds.base import Measure
from annotate.kinds.reply.measures import measures
from scoring import metric_words, words
from scoring.comparing import CLUSTER, ITEM
from scoring.stats.compute import compute, metrics
from scoring.stats.results import FLAGS, INTERVAL_REASONS, LEFT_OUT, REASONS, Figure, Interval

FAIL, LABEL, _ = measures({})


def figure(value=0.5, reason=None, **fields):
    return Figure(value=value, reason=reason, n_items=10, n_ratings=20, n_raters=2, **fields)


def interval(low, high):
    return Interval(low, high, 0.95, "item", 10, 100, 1, 0.0, "drawn")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.82, "0.82"), (0.599901, "0.60"), (1.0, "1.00"), (0.0, "0.00"), (-0.125, "−0.13"), (0.125, "0.13"),
        (0.005, "0.01"), (0.995, "1.00"), (2 / 3, "0.67"), (0.285, "0.29"), (0.1 + 0.2 - 0.175, "0.13"), (None, "–"),
    ],
)  # fmt: skip
def test_values_are_rounded_half_away_from_zero(value, text):
    assert words.shown(value) == text


def test_digits_can_be_asked_for():
    assert words.shown(0.599901, 4) == "0.5999"
    assert words.shown(12.5, 0) == "13"


def test_a_value_that_rounds_to_zero_has_no_sign():
    assert words.shown(-0.001) == "0.00"


def test_a_value_or_the_reason():
    assert words.value_words(figure(0.41)) == "0.41"
    assert words.value_words(figure(None, "empty")) == "No ratings yet."
    assert "no variation" in words.value_words(figure(None, "one_category"))


def test_an_interval_or_why_there_is_none():
    assert words.interval_words(figure(interval=interval(0.41, 0.78))) == "0.41 to 0.78"
    assert words.interval_words(figure(interval=interval(-0.2, 0.78))) == "−0.20 to 0.78"
    assert words.interval_words(figure(interval_reason="too_few_clusters")) == "too few clusters for an interval"
    assert words.interval_words(figure(None, "empty", interval_reason="empty")) == ""
    assert words.interval_words(figure()) == ""


def test_notes_hold_flags_and_what_was_left_out():
    noted = figure(flags=("few_clusters", "rater_constant"), left_out={"tie": 3, "few_others": 0, "not_rated": 2})
    assert words.notes(noted) == (
        "few clusters: likely too narrow; one rater used one category only; items whose others tie: 3; "
        "items this rater did not rate: 2"
    )
    assert words.notes(figure()) == ""


def test_there_are_words_for_everything_a_statistic_may_say():
    assert words.REASONS.keys() == {*REASONS, *INTERVAL_REASONS}
    assert words.FLAGS.keys() == set(FLAGS)
    assert words.LEFT_OUT.keys() == set(LEFT_OUT)
    for reason in INTERVAL_REASONS:
        assert words.interval_words(figure(interval_reason=reason))


def test_categories_and_tie_rules_are_told_by_their_titles():
    assert words.category_words("fail", FAIL) == "fails"
    assert words.category_words("needs_information", LABEL) == "needs information"
    assert words.rule_words("exclude", FAIL) == "left out"
    assert words.rule_words("fractional", FAIL) == "counted in parts"
    assert words.rule_words("toward:pass", FAIL) == "counted as “passes”"


def test_without_a_measure_a_category_is_its_own_word_and_a_scale_needs_no_texts():
    assert words.category_words("yes", None) == "yes"
    assert words.rule_words("toward:yes", None) == "counted as “yes”"
    scale = Measure("ease", "Ease", "interval", (1, 2), ("hard", "easy"), rate=len)
    assert words.category_words(2, scale) == "easy"
    assert words.rule_words("toward:1", scale) == "counted as “hard”"


def test_a_unit_of_ours_is_translated_and_the_name_of_a_column_is_not():
    with translation.override("zh-hans"):
        assert words.unit_words(ITEM) == "条目"
        assert words.unit_words(CLUSTER) == "协作或重复任务"
        assert words.unit_words("lead") == "lead"


def test_nothing_breaks_in_chinese():
    with translation.override("zh-hans"):
        for reason in REASONS:
            assert words.value_words(figure(None, reason))
        assert "0.41" in words.interval_words(figure(interval=interval(0.41, 0.78)))


# One figure in a sentence.


def said(metric, data, **params):
    return metric_words.sentence(compute(metric, data, params), metric)


def pairs(*counts, more=()):
    """Two raters, A and B, from the cells of their table of two labels."""
    cells = [(a, b) for a in ("ok", "bad") for b in ("ok", "bad")]
    each = [cell for cell, n in zip(cells, counts, strict=True) for cell in [cell] * n]
    triples = [(item, rater, label) for item, cell in enumerate(each) for rater, label in zip("AB", cell, strict=True)]
    return [*triples, *more]


ALIKE = (
    "Everyone chose “ok” on all 40 items: 100 % raw agreement; chance-corrected agreement cannot be estimated because "
    "there is no variation."
)


@pytest.mark.parametrize(
    ("metric", "data", "params", "text"),
    [
        ("cohen_kappa", [], {}, "No ratings yet."),
        ("cohen_kappa", [(1, "A", "ok")], {}, "Needs a second rater."),
        (
            "cohen_kappa",
            [(n, "A", "ok") for n in range(12)] + [(-n, "B", "ok") for n in range(1, 10)],
            {},
            "A and B have no item in common (A 12, B 9).",
        ),
        ("fleiss_kappa", [(1, "A", 1), (2, "B", 1), (3, "C", 1)], {}, "No item was rated by two of them."),
        ("cohen_kappa", pairs(40, 0, 0, 0), {}, ALIKE),
        (
            "krippendorff_alpha",
            pairs(40, 0, 0, 0, more=[("x", "B", "bad")]),
            {"level": "nominal"},
            f"{ALIKE} Not used: 1 labels on items with one rating.",
        ),
        (
            "gwet_ac",
            pairs(40, 0, 0, 0),
            {"categories": ["ok", "bad"]},
            "Gwet's AC: 1.00 on 40 items. Everyone chose “ok” on all 40 items, so this says little.",
        ),
        ("percent_agreement", pairs(2, 1, 1, 0), {}, "Percent agreement: 0.50 on 4 items."),
        (
            "cohen_kappa",
            pairs(9, 2, 0, 0),
            {},
            "Cohen's kappa: 0.00 on 11 items. A used one category only; kappa is 0 whatever B did. Raw agreement 82 %. "
            "“ok” has 91 % of the labels, so read together: raw agreement 0.82, kappa 0.00, AC1 0.78.",
        ),
        (
            "cohen_kappa",
            pairs(0, 3, 0, 0),
            {},
            "Cohen's kappa: 0.00 on 3 items. A always “ok”, B always “bad”.",
        ),
        ("scott_pi", pairs(0, 3, 3, 0), {}, "Scott's pi: −1.00 on 6 items. Less agreement than chance."),
        (
            "cohen_kappa",
            pairs(4, 1, 1, 4, more=[("x", "A", "ok"), ("y", "A", None)]),
            {},
            "Cohen's kappa: 0.60 on 10 of 11 items; 1 with one rating; 1 without a rating.",
        ),
    ],
)  # fmt: skip
def test_a_figure_is_said_in_a_sentence_with_the_names_of_its_case(metric, data, params, text):
    assert said(metric, data, **params) == text


def majority(n_alike, n_tied, n_few):
    """Items on which A has three others who agree, two who tie, or one."""
    triples = []
    for item in range(n_alike + n_tied + n_few):
        others = "xxx" if item < n_alike else "xy" if item < n_alike + n_tied else "x"
        triples += [(item, "A", "x"), *((item, f"o{n}", label) for n, label in enumerate(others))]
    return triples


def test_ties_and_too_few_others_are_counted_beside_the_value():
    assert said("annotator_vs_majority", majority(41, 8, 3), rater="A") == (
        "Against the majority of the others: 1.00 on 41 of 52 items; 8 ties; 3 with fewer than 2 others."
    )
    assert said("annotator_vs_majority", majority(0, 6, 0), rater="A") == "6 items, all tied among the others."
    assert said("annotator_vs_majority", majority(0, 6, 2), rater="A") == (
        "The others tie, or are too few, on every item. 6 ties; 2 with fewer than 2 others."
    )
    assert said("annotator_vs_majority", pairs(3, 1, 1, 3), rater="A") == (
        "Two raters have no majority of others; see the kappa of the pair."
    )


def of_clusters(n, data):
    return {str(item): f"g{item % n}" for item, _, _ in data}


def test_an_interval_is_told_with_its_draw_or_why_there_is_none():
    data = pairs(20, 4, 5, 20)
    few = said("fleiss_kappa", data, cluster_of=of_clusters(3, data), seed=1)
    counted = said("fleiss_kappa", data, cluster_of=of_clusters(5, data), seed=1)
    drawn = said("percent_agreement", data, seed=1, n_resamples=2000)
    bare = metric_words.sentence(
        figure(-0.2, interval_reason="degenerate_resamples", share_undefined=0.12), "cohen_kappa"
    )

    assert few.endswith("on 49 items. 3 clusters: too few for an interval.")
    assert re.search(
        r"95 % interval 0\.\d\d to 0\.\d\d, all 3,125 resamples of 5 clusters\. Few clusters: likely too n", counted
    )
    assert re.search(r"95 % interval 0\.\d\d to 0\.\d\d, 2,000 resamples of 49 items\.$", drawn)
    assert bare == (
        "Cohen's kappa: −0.20 on 10 items. 12 % of the resamples have one category; no interval shown. "
        "Less agreement than chance."
    )
    other = figure(0.2, interval_reason="degenerate_resamples", share_undefined=0.12)
    assert "12 % of the resamples have no value; no interval shown." in metric_words.sentence(other, "span_f1")
    everyone = pairs(50, 0, 0, 0)
    assert "95 % interval 0.93 to 1.00, of independent items." in said("percent_agreement", everyone, seed=1)


def test_a_number_in_one_cell_of_a_table_is_told_as_one():
    text = said("confusion", pairs(20, 4, 5, 20), cell=["ok", "bad"])

    assert text == "Row “ok”, column “bad”: 4 of 49 items."


def test_a_task_with_too_few_samples_is_named():
    data = [["7", "n", 4], ["7", "c", 1], ["8", "n", 9], ["8", "c", 1]]

    assert said("pass_at_k", data, k=5).startswith("Task 7 has 4 samples; the largest k that all tasks allow is 4.")


def test_an_end_of_an_interval_is_told_as_the_statistic_it_is_of():
    data = pairs(20, 4, 5, 20)
    of = {"metric": "fleiss_kappa"}
    ends = ("value", "lower", "upper")
    texts = {said("cluster_bootstrap", data, bootstrap_of=of, output=end, seed=1) for end in ends}

    assert len(texts) == 1
    assert texts.pop().startswith("Fleiss' kappa: 0.63 on 49 items. 95 % interval ")


def test_every_statistic_and_every_reason_has_a_sentence_in_every_language():
    for name in metrics():
        for reason in REASONS:
            for text in metric_words.sentences(figure(None, reason), name).values():
                assert text
                assert text.endswith((".", "。"))
        for why in LEFT_OUT:
            assert metric_words.sentence(figure(left_out={why: 3}), name)
        for flag in FLAGS:
            assert metric_words.sentence(figure(flags=(flag,)), name).endswith(".")


def test_sentences_are_whole_in_chinese():
    data = pairs(9, 2, 0, 0, more=[("x", "A", "ok")])
    found = metric_words.sentences(compute("cohen_kappa", data, {"seed": 1}), "cohen_kappa")

    assert list(found) == ["en", "zh-hans"]
    assert found["en"].startswith("Cohen's kappa: 0.00 on 11 of 12 items")
    assert "。" in found["zh-hans"]
    assert not re.search("[a-z]{3,}", re.sub("Cohen|kappa|ok", "", found["zh-hans"]))
