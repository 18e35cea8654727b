"""The report of a project's method: rows become records, and the tables of the method are worked out of them."""

from datetime import timedelta

import pytest

from annotate.errors import Refused
from annotate.models import Annotation, Assignment, Item
from annotate.traces import base
from scoring.method_reports import shown_method
from scoring.models import Report
from tests.factories import (
    CONVERSATION,
    NOW,
    make_annotation,
    make_cast,
    make_item,
    make_member,
    make_project,
    make_protocol,
    make_submitted,
    make_trace,
    make_verdict,
    make_work,
)
from tests.scoring.readings import (
    answered,
    checker_run,
    make_checking,
    make_reading,
    make_unreadable,
    question,
    reader_run,
)

pytestmark = pytest.mark.django_db
FAST = {"n_resamples": 100}
TEXT = "Run r7 of the lower zone is done; see table 2."


@pytest.fixture
def cast(db):
    return make_cast(seed=11)


def shown(project, **asked):
    return shown_method(project, given=FAST, **asked).report


def value(report, metric, table=None, **by):
    return report.row(metric, table, **by).figure.value


def spans_of(text, *marks):
    return [
        {"start": text.index(words), "end": text.index(words) + len(words), "type": type_, "quote": words}
        for words, type_ in marks
    ]


def needy(text, *marks, **values):
    return {"label": "needs_information", "states_no_result": False, "spans": spans_of(text, *marks), **values}


def test_failures_reasons_and_gaps_are_counted_from_what_the_reader_said(cast):
    run = reader_run(cast.project)
    items = [make_item(cast.project, text=TEXT) for _ in range(5)]
    make_reading(run, items[0], question("r7", TEXT), question("table 2", TEXT))
    make_reading(run, items[1], no_answer=True)
    make_reading(run, items[2], language=True, unchecked=False)
    make_reading(run, items[3], answered("r7", TEXT, "the run of May"))
    make_unreadable(run, items[4])
    report = shown(cast.project)
    assert value(report, "failure_rate", "reader") == 3 / 4
    assert report.row("failure_rate", "reader").figure.left_out == {"unreadable": 1}
    assert value(report, "failure_rate_without_quote_check") == 2 / 4
    reasons = [value(report, f"reason_{one}", "reader") for one in ("gap", "no_answer", "language")]
    assert reasons == pytest.approx([1 / 3] * 3)
    assert (value(report, "gaps_2"), value(report, "gaps_all"), value(report, "early_gap")) == (1, 2, 1)
    assert report.n_records == {
        **dict.fromkeys(report.n_records, 0), "collaboration": 5, "reply": 5, "judgment": 5, "gap": 2,
    }  # fmt: skip


def test_a_job_that_was_given_up_is_an_error_and_what_waits_is_none(cast):
    run = reader_run(cast.project)
    items = [make_item(cast.project, text=TEXT) for _ in range(3)]
    make_reading(run, items[0])
    for item, state in zip(items[1:], ("dead", "waiting"), strict=True):
        payload = {"item": item.pk, "sample": 0}
        make_work(cast.project, kind="verdict", group=run.group, payload=payload, state=state)
    report = shown(cast.project)
    assert report.row("failure_rate", "reader").figure.left_out == {"unreadable": 1}
    assert report.row("failure_rate", "reader").figure.n_items == 1
    said = [one.words() if not isinstance(one, str) else one for one in report.notes]
    assert "Run 1 is not through: 1 verdicts are missing." in said
    assert "Run 1 gave up 1 verdicts; they count as errors." in said


SESSIONS = (
    base.Message(0, "user", "Look at the plots."),
    base.Message(1, "assistant", "", calls=(base.Call("a", "read", "{}"),)),
    base.Message(2, "tool", "plots", answers=base.Answered(1, 0), answers_id="a", name="read"),
    base.Message(3, "assistant", "Looking on.", calls=(base.Call("b", "read", "{}"),)),
    base.Message(4, "tool", "more", answers=base.Answered(3, 0), answers_id="b", name="read"),
    base.Message(5, "assistant", "Done.\r\nAll of it."),
    base.Message(6, "user", "And the depth?"),
    base.Message(7, "summary", "What was done so far."),
    base.Message(8, "assistant", "", calls=(base.Call("c", "read", "{}"),)),
    base.Message(9, "tool", "depths", answers=base.Answered(8, 0), answers_id="c", name="read"),
    base.Message(10, "assistant", "It is 2 m."),
    base.Message(11, "user", "  ", side="user", calls=(base.Call("d", "open", "{}"),)),
    base.Message(12, "user", "Thanks. And now?", session=2),
    base.Message(13, "assistant", "Now we wait.", session=2),
)


def test_the_work_before_a_reply_is_read_from_the_messages(cast):
    trace = make_trace(
        cast.project, SESSIONS, area="seagrass", metadata={"meta": {"model": "sol", "family": "suns"}}, cluster="task-1"
    )
    items = [make_item(trace=trace, reply=anchor) for anchor in (5, 10, 13)]
    run = reader_run(cast.project)
    make_reading(run, items[0], question("All", "Done.\nAll of it."))
    for item in items[1:]:
        make_reading(run, item)
    report = shown(cast.project)
    rates = {name: value(report, "failure_rate", f"reader_by_{name}", **by) for name, by in BY.items()}
    assert rates == pytest.approx({**dict.fromkeys(("model", "family", "area", "language"), 1 / 3), "tool_turns": 0})
    assert [value(report, "n_replies", "work", **{"tool turns": one}) for one in ("0", "1-2")] == [1, 2]
    first = {"first in its session": "true"}
    assert report.row("failure_rate", "reader_by_first_in_its_session", **first).figure.n_items == 2
    after = {"after a compaction": "true"}
    assert report.row("failure_rate", "reader_by_after_a_compaction", **after).figure.n_items == 1
    assert (value(report, "compactions"), value(report, "n_chars")) == (1, 12)
    assert report.row("failure_rate", "reader").figure.n_clusters == 1


BY = {
    "model": {"model": "sol"}, "family": {"family": "suns"}, "area": {"area": "seagrass"},
    "language": {"language": "en"}, "tool_turns": {"tool turns": "0"},
}  # fmt: skip


def test_runs_of_one_task_are_one_cluster_and_several_collaborations(cast):
    for model in ("sol", "opus"):
        trace = make_trace(cast.project, CONVERSATION, cluster="task-1", metadata={"model": model})
        make_item(trace=trace)
    item = make_item(trace=make_trace(cast.project, CONVERSATION, cluster="task-2"))
    run = reader_run(cast.project, items=())
    for one in Item.objects.all():
        make_reading(run, one, no_answer=one == item)
    report = shown(cast.project)
    assert value(report, "n_collaborations", "work") == 3
    assert report.row("failure_rate", "reader").figure.n_clusters == 2
    assert value(report, "failure_rate", "reader_by_model", model="sol") == 0


def test_people_and_reader_are_held_against_each_other(cast):
    cai = make_member(cast.project, "cai")
    run = reader_run(cast.project)
    items = [make_item(cast.project, text=TEXT) for _ in range(4)]
    for place, item in enumerate(items):
        for who in (cast.ana, cast.ben, cai):
            label = needy(TEXT, ("r7", "reference")) if place < 2 and who != cai else "readable"
            make_submitted(who, item, label)
    make_reading(run, items[0], question("r7", TEXT))
    make_reading(run, items[1], question("table 2", TEXT))
    make_reading(run, items[2])
    make_reading(run, items[3], no_answer=True)
    report = shown(cast.project)
    ties = {"ties": "ties fail"}
    assert (value(report, "gold_failed"), value(report, "reader_accuracy", **ties)) == (2, 3 / 4)
    assert value(report, "gap_on_span") == 1 / 2
    assert report.table("people_confusion").counts == ((2, 0), (1, 1))
    assert value(report, "dose_annotators", gaps="1") == 2
    assert value(report, "reverse_dose", **{"people who fail it": "0"}) == 1 / 2
    assert value(report, "no_answer_agreement") == 3 / 4
    assert value(report, "reading_active_ms", majority="fail") == 6


def test_the_reader_stands_among_the_annotators_and_may_be_tested(cast):
    """12 replies; ana and ben agree on all, cai calls every third the other way; the reader sides with ana and ben."""
    cai = make_member(cast.project, "cai")
    run = reader_run(cast.project)
    for n in range(12):
        item, fails = make_item(cast.project, text=TEXT), n % 2 == 0
        for who in (cast.ana, cast.ben, cai):
            differs = who == cai and n % 3 == 0
            make_submitted(who, item, "unrepairable_or_no_answer" if fails != differs else "readable")
        make_reading(run, item, no_answer=fails)
    only_judged = make_item(cast.project, text=TEXT)
    make_reading(run, only_judged, no_answer=True)
    report = shown(cast.project)
    assert value(report, "range_kappa", annotator=cai.code, rater="reader") == 1
    assert value(report, "range_kappa", annotator=cai.code, rater="annotator") == pytest.approx(1 / 3)
    assert [value(report, f"range_{one}") for one in ("below", "equal", "above")] == [1, 2, 0]
    assert value(report, "winning_rate") == 1
    assert value(report, "advantage") == 1
    assert value(report, "alternative_difference", annotator=cai.code) == pytest.approx(-1 / 3)
    ties = {"ties": "ties fail"}
    assert value(report, "people_rate", **ties) == 1 / 2
    assert value(report, "verdict_only", **ties) == 1
    assert 1 / 2 < value(report, "powered_rate", **ties) < value(report, "verdict_rate", **ties)


def test_errors_and_omissions_are_those_of_the_checker(cast):
    run = checker_run(cast.project)
    first, second, third = (make_item(cast.project, text=TEXT) for _ in range(3))
    make_checking(run, first, errors=["a", "b"], omissions=["c"], downplayed=["d"])
    make_checking(run, second)
    make_unreadable(run, third)
    report = shown(cast.project)
    assert [value(report, one) for one in ("errors", "omissions", "errors_and_omissions")] == [1, 0.5, 1.5]
    assert report.row("errors").figure.left_out == {"unreadable": 1}


def test_a_second_sample_is_a_judgment_of_its_own_and_no_gap(cast):
    run = reader_run(cast.project, n_samples=2)
    item = make_item(cast.project, text=TEXT)
    make_reading(run, item)
    second = make_reading(reader_run(cast.project), item, question("r7", TEXT))
    second.run, second.sample = run, 1
    second.save()
    report = shown(cast.project, run=run.number)
    assert (report.n_records["judgment"], report.n_records["gap"]) == (2, 0)
    assert value(report, "failure_rate", "reader") == 0


def test_texts_of_a_point_are_compared_by_condition(cast):
    run, clusters = reader_run(cast.project), [make_trace(cast.project, CONVERSATION) for _ in range(3)]
    for number, trace in enumerate(clusters):
        for arm in ("default", "rewrite"):
            item = make_item(trace=trace, text=f"{arm}", point=f"p{number}", arm=arm)
            make_reading(run, item, no_answer=arm == "default")
    report = shown(cast.project)
    assert report.n_records["written"] == 6
    (reduction,) = (row for table in report.tables for row in getattr(table, "rows", ()) if row.metric == "reduction")
    assert (reduction.figure.value, reduction.figure.n_items) == (1, 3)


def test_reading_times_are_of_the_first_answer_and_breaks_are_marked(cast):
    trace = make_trace(cast.project, CONVERSATION)
    at = NOW
    for anchor, pause in ((3, timedelta()), (5, timedelta(minutes=40))):
        item = make_item(trace=trace, reply=anchor)
        at += pause
        for who in (cast.ana, cast.ben):
            assignment = make_submitted(who, item)
            Assignment.objects.filter(pk=assignment.pk).update(first_shown_at=at)
            assignment.annotations.update(submitted_at=at, active_ms=5000)
            if who == cast.ana:
                make_annotation(assignment, active_ms=90_000)
    third = make_submitted(cast.ana, make_item(trace=make_trace(cast.project, CONVERSATION)))
    Assignment.objects.filter(pk=third.pk).update(first_shown_at=at)
    assert Annotation.objects.filter(is_current=True).count() == 5
    report = shown(cast.project)
    assert value(report, "reading_active_ms", majority="pass") == 5
    settled = report.row("reading_active_ms_settled", majority="pass")
    assert settled.figure.reason == "empty"


def test_labels_are_of_one_protocol_and_of_blind_rounds(cast):
    item = make_item(cast.project, text=TEXT)
    make_submitted(cast.ana, item)
    make_protocol(cast.project)
    make_submitted(cast.ben, item)
    assert value(shown(cast.project), "n_annotations", "people_gold") == 1
    assert value(shown(cast.project, protocol=1), "n_annotators", "people_gold") == 1
    notes = [one if isinstance(one, str) else one.words() for one in shown(cast.project).notes]
    assert "There are labels under other protocols too: 1." in notes


def test_a_report_is_kept_until_something_has_come_since(cast, django_assert_num_queries):
    run = reader_run(cast.project)
    make_reading(run, make_item(cast.project, text=TEXT))
    first = shown_method(cast.project, given=FAST)
    with django_assert_num_queries(KEPT_STATEMENTS):
        again = shown_method(cast.project, given=FAST)
    assert (first.is_new, again.is_new, again.row.pk) == (True, False, first.row.pk)
    assert again.report == first.report
    make_reading(run, make_item(cast.project, text=TEXT), no_answer=True)
    assert value(shown_method(cast.project, given=FAST).report, "failure_rate", "reader") == 1 / 2
    assert Report.objects.filter(kind="method").count() == 2


KEPT_STATEMENTS = 8


def test_the_number_of_statements_does_not_grow_with_the_verdicts(cast, django_assert_num_queries):
    run, checks = reader_run(cast.project), checker_run(cast.project)

    def add(n):
        for _ in range(n):
            item = make_item(cast.project, text=TEXT)
            make_reading(run, item, question("r7", TEXT))
            make_checking(checks, item)
            for who in (cast.ana, cast.ben):
                make_submitted(who, item)

    add(2)
    shown(cast.project)
    add(1)
    with django_assert_num_queries(NEW_STATEMENTS):
        shown(cast.project)
    add(7)
    with django_assert_num_queries(NEW_STATEMENTS):
        shown(cast.project)


NEW_STATEMENTS = 37


def test_what_is_not_there_is_refused_by_name(cast):
    make_verdict(make_reading(reader_run(cast.project), make_item(cast.project)).run, make_item(cast.project))
    for asked, code in (
        ({"run": 9}, "unknown_run"),
        ({"checker_run": 1}, "unknown_checker_run"),
        ({"protocol": 9}, "unknown_protocol"),
        ({"given": {"tie_rule": "x"}}, "bad_parameter"),
        ({"given": {"nothing": "x"}}, "unknown_parameter"),
    ):
        with pytest.raises(Refused) as refused:
            shown_method(cast.project, **{"given": FAST, **asked})
        assert refused.value.problem.code == code
    with pytest.raises(Refused) as refused:
        shown_method(make_project(kind="choice"), given=FAST)
    assert refused.value.problem.code == "no_method"


def test_an_empty_project_says_what_is_missing(cast):
    report = shown(cast.project)
    assert report.tables == ()
    notes = [one if isinstance(one, str) else one.words() for one in report.notes]
    assert "No reader has judged this phase yet but as a proof of the wire; its tables are left away." in notes
