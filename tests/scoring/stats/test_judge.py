"""A judge against the majority of people, by hand."""

import pytest

from scoring.stats.judge import Verdicts, judge_agreement
from scoring.stats.panel import panel_agreement
from scoring.stats.ratings import UnknownLabel, ratings_from_triples

P, F = "pass", "fail"
# Item: what three people said, and the judge.
SAID = {
    1: ((P, P, P), P),
    2: ((P, P, F), F),
    3: ((F, F, P), F),
    4: ((F, F, F), F),
    5: ((P, F, None), P),  # people tie
    6: ((P, None, None), P),  # too few
    7: ((P, P, P), None),  # no verdict
    8: ((F, F, F), None),  # unreadable
}
PEOPLE = ratings_from_triples(
    [(item, name, label) for item, (labels, _) in SAID.items() for name, label in zip("abc", labels, strict=True)],
    (P, F),
)
VERDICTS = Verdicts(3, "lexical", {**{item: verdict for item, (_, verdict) in SAID.items()}, 99: P}, frozenset({8}))


def judged(verdicts=VERDICTS, people=PEOPLE, tie="exclude", clusters=None, **options):
    options = {"min_raters": 2, "unit": "run", "seed": 1, "n_resamples": 500} | options
    return judge_agreement(people, verdicts, clusters, tie=tie, **options)


def test_the_figures_are_those_of_the_table_of_majority_and_judge():
    judge = judged()
    # Items 1 to 4: pass pass, pass fail, fail fail, fail fail.
    assert judge.confusion == ((1, 1), (0, 2))
    assert judge.accuracy.value == pytest.approx(3 / 4)
    # Chance: pass 1/2 * 1/4, fail 1/2 * 3/4, so 1/2; kappa (3/4 - 1/2) / (1/2).
    assert judge.kappa.value == pytest.approx(1 / 2)
    assert (judge.run, judge.judge, judge.tie_rule) == (3, "lexical", "exclude")


def test_every_item_of_people_is_compared_or_counted_as_left_out():
    judge = judged()
    counts = (judge.n_items, judge.n_ties, judge.n_few, judge.n_missing, judge.n_unreadable, judge.n_unlabelled)
    assert counts == (8, 1, 1, 2, 1, 1)
    assert judge.accuracy.n_items == 8 - 1 - 1 - 2


def test_a_tie_is_what_the_measure_declares_and_the_other_rules_stand_beside():
    judge = judged(tie=("toward", F))
    assert judge.confusion == ((1, 1), (1, 2))
    assert judge.accuracy.value == pytest.approx(3 / 5)
    shares = {one.rule: one.annotator_vs_majority.value for one in judge.other_rules}
    assert shares == {"exclude": pytest.approx(3 / 4), "fractional": pytest.approx(3.5 / 5), "toward:pass": 4 / 5}


def test_a_judge_changes_no_figure_of_people_and_its_draw_is_theirs():
    options = {"level": "nominal", "tie": "exclude", "min_others": 2, "unit": "run", "seed": 1, "n_resamples": 500}
    before = panel_agreement(PEOPLE, None, **options)
    judged()
    assert panel_agreement(PEOPLE, None, **options) == before
    assert PEOPLE.codes.shape == (8, 3)


def test_two_votes_of_people_make_no_third_with_the_judge():
    people = ratings_from_triples([(1, "a", P), (1, "b", F)], (P, F))
    judge = judged(Verdicts(1, "lexical", {1: P}), people)
    assert (judge.accuracy.reason, judge.kappa.reason, judge.n_ties) == ("no_comparable_items",) * 2 + (1,)


@pytest.mark.parametrize(
    ("people", "said", "reason"),
    [
        ([], {1: P}, "empty"),
        ([(1, "a", P), (1, "b", P)], {}, "no_comparable_items"),
        ([(1, "a", P)], {1: P}, "no_comparable_items"),
        ([(1, "a", P), (1, "b", P)], {1: P}, "one_category"),
    ],
)
def test_what_cannot_be_computed_says_why(people, said, reason):
    judge = judged(Verdicts(1, "lexical", said), ratings_from_triples(people, (P, F)))
    assert (judge.kappa.value, judge.kappa.reason) == (None, reason)


def test_clusters_make_the_interval_and_too_few_make_none():
    people = ratings_from_triples(
        [(item, name, P if item % 3 else F) for item in range(40) for name in "ab"], (P, F)
    )
    said = {item: F if item % 4 == 0 else P for item in range(40)}
    judge = judged(Verdicts(1, "lexical", said), people, clusters=[item // 2 for item in range(40)])
    assert judge.kappa.interval.low < judge.kappa.value < judge.kappa.interval.high
    assert judge.kappa.interval.n_clusters == 20
    few = judged(Verdicts(1, "lexical", said), people, clusters=[item // 10 for item in range(40)])
    assert (few.kappa.interval, few.kappa.interval_reason) == (None, "too_few_clusters")


def test_a_word_that_no_category_has_is_refused_with_its_item():
    with pytest.raises(UnknownLabel) as error:
        judged(Verdicts(3, "lexical", {1: "odd"}))
    assert (error.value.item, error.value.rater) == (1, "lexical 3")
