from annotate.traces.base import Place
from annotate.traces.tally import LISTED, Tally


def problem(code, warning=False):
    return Place("x.jsonl", line=1).problem(code, expected="This.", remedy="Do that.", warning=warning)


def tally_of(*problems):
    tally = Tally()
    for one in problems:
        tally.add_problem(one)
    return tally


def test_all_problems_are_counted_and_the_first_ones_listed():
    tally = tally_of(*[problem("broken")] * (LISTED + 5), *[problem("odd", warning=True)] * (LISTED + 7))
    assert (tally.n_problems, tally.skipped) == (LISTED + 5, {"odd": LISTED + 7})
    assert (len(tally.problems), len(tally.warnings), tally.n_unlisted) == (LISTED, LISTED, 12)


def test_the_first_of_every_code_is_listed_however_many_came_before():
    tally = tally_of(*[problem("broken")] * (LISTED + 5), problem("late"), problem("late"))
    assert [one.code for one in tally.problems[LISTED:]] == ["late"]
    assert (tally.n_problems, tally.problem_codes, tally.n_unlisted) == (LISTED + 7, {"broken", "late"}, 6)
    tally = tally_of(*[problem("odd", warning=True)] * (LISTED + 5), problem("late", warning=True))
    assert [one.code for one in tally.warnings[LISTED:]] == ["late"]


def test_where_everything_is_listed_nothing_is_left():
    assert tally_of(problem("broken"), problem("odd", warning=True)).n_unlisted == 0
