"""The items behind a figure are as many as the figure says."""

import pytest

from annotate.errors import Refused
from annotate.models import Project
from scoring import comparing
from scoring.compared_items import compared_items
from scoring.comparing import agreement_report
from tests.factories import make_cast, make_item, make_member, make_run, make_submitted, make_trace, make_verdict

R, F = "readable", "unrepairable_or_no_answer"
SAID = [
    ((R, R, R), R),
    ((R, F, R), F),
    ((F, F, F), F),
    ((F, R, F), R),
    ((F, F, R), None),
    ((R, F, None), F),
    ((F, None, None), R),
]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(comparing, "N_RESAMPLES", 50)


@pytest.fixture
def cast(db):
    cast = make_cast()
    members = [cast.ana, cast.ben, make_member(cast.project, "cem", code="c1")]
    run = make_run(cast.project)
    for number, (labels, verdict) in enumerate(SAID):
        item = make_item(trace=make_trace(cast.project, cluster=f"task-{number}"), reply=3)
        for member, label in zip(members, labels, strict=True):
            if label:
                make_submitted(member, item, label)
        make_verdict(run, item, verdict, is_unreadable=verdict is None)
    return cast


def found(cast, **asked):
    return compared_items(Project.objects.get(pk=cast.project.pk), measure="fail", **asked)


def test_every_cell_of_every_table_has_as_many_items_as_it_counts(cast):
    part = agreement_report(Project.objects.get(pk=cast.project.pk), measure="fail").measures[0]
    tables = [("judge", "majority", part.judge.confusion)]
    tables += [(one.rater, "majority", one.confusion) for one in part.panel.raters]
    tables += [(one.second, one.first, one.confusion) for one in part.panel.pairs]
    for of, against, table in tables:
        for row, cells in zip(("pass", "fail"), table, strict=True):
            for column, n in zip(("pass", "fail"), cells, strict=True):
                assert found(cast, of=of, against=against, row=row, column=column).n == n
        same = found(cast, of=of, against=against, agree=True).n
        differ = found(cast, of=of, against=against, agree=False).n
        assert (same, same + differ) == (table[0][0] + table[1][1], sum(map(sum, table)))


def test_what_a_judge_was_not_compared_on_is_found_as_it_is_counted(cast):
    judge = agreement_report(Project.objects.get(pk=cast.project.pk), measure="fail").measures[0].judge
    counts = {why: found(cast, of="judge", why=why).n for why in ("tie", "few", "missing", "unreadable")}
    assert counts == {
        "tie": judge.n_ties,
        "few": judge.n_few,
        "missing": judge.n_missing,
        "unreadable": judge.n_unreadable,
    }
    assert (judge.n_ties, judge.n_few, judge.n_missing, judge.n_unreadable) == (1, 1, 1, 1)


def test_a_row_says_what_everybody_said_and_pages_follow_each_other(cast):
    first = found(cast, limit=2)
    assert (len(first.rows), first.n) == (2, len(SAID))
    second = first.rows[1]
    assert dict(second.said) == {"a1": "pass", "a2": "fail", "c1": "pass"}
    assert (second.majority, second.judge) == ("pass", "fail")
    rest = found(cast, after=first.after)
    assert len(rest.rows) == len(SAID) - 2
    assert rest.after is None


@pytest.mark.parametrize("asked", [{"of": "zz"}, {"of": "a1", "against": "zz"}, {"column": "odd"}, {"why": "odd"}])
def test_what_is_not_there_is_refused_by_name(cast, asked):
    with pytest.raises(Refused) as refusal:
        found(cast, **asked)
    assert refusal.value.problem.field == list(asked)[-1]
