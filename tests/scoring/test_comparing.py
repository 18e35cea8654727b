"""The bridge: which rows become a table, and that the figures are those of the table."""

import pytest

from annotate.errors import Refused
from annotate.kinds.base import Measure
from annotate.models import Annotation, Assignment, Membership, Project, Settlement
from scoring import agreement_words, comparing
from scoring.comparing import CLUSTER, ITEM, Table, agreement_report, table_agreement
from scoring.stats.panel import panel_agreement
from scoring.stats.ratings import ratings_from_triples
from tests.factories import (
    NOW,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_protocol,
    make_round,
    make_submitted,
    make_trace,
)

READABLE, NEEDS, FAILS = "readable", "needs_information", "unrepairable_or_no_answer"
State = Assignment.State

# Three readers, eight items in four clusters; cem has read six of them.
SAID = [
    (READABLE, READABLE, READABLE),
    (READABLE, FAILS, READABLE),
    (FAILS, FAILS, FAILS),
    (FAILS, READABLE, FAILS),
    (READABLE, READABLE, READABLE),
    (FAILS, FAILS, READABLE),
    (READABLE, READABLE, None),
    (FAILS, READABLE, None),
]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(comparing, "N_RESAMPLES", 200)


@pytest.fixture
def cast(db):
    return make_cast()


@pytest.fixture
def table(cast):
    """The items of SAID with their labels."""
    members = [cast.ana, cast.ben, make_member(cast.project, "cem", code="c1")]
    items = []
    for cluster in range(len(SAID) // 2):
        trace = make_trace(cast.project, cluster=f"task-{cluster}")
        items += [make_item(trace=trace, reply=index) for index in (3, 5)]
    for item, labels in zip(items, SAID, strict=True):
        for member, label in zip(members, labels, strict=True):
            if label is not None:
                make_submitted(member, item, label)
    return items


def report(cast, **options):
    return agreement_report(Project.objects.get(pk=cast.project.pk), **options)


def figures(cast, **options):
    return report(cast, **options).as_dict()


def test_the_figures_are_those_of_the_same_triples_given_to_the_statistics(cast, table):
    codes = ("a1", "a2", "c1")
    triples = [
        (item.pk, code, None if label is None else ("pass" if label == READABLE else "fail"))
        for item, labels in zip(table, SAID, strict=True)
        for code, label in zip(codes, labels, strict=True)
    ]
    direct = panel_agreement(
        ratings_from_triples(triples, ("pass", "fail")),
        [item.cluster for item in table],
        level="nominal",
        tie=("toward", "fail"),
        min_others=2,
        unit=CLUSTER,
        seed=cast.project.seed,
        n_resamples=200,
    )
    (part,) = report(cast, measure="fail").measures
    assert part.panel == direct
    assert (direct.n_items, direct.n_raters, direct.n_ratings, direct.n_clusters) == (8, 3, 22, 4)
    # By hand: ana and ben agree on 1, 3, 5, 6 and 7.
    assert direct.pairs[0].cohen_kappa.observed == pytest.approx(5 / 8)


def test_every_measure_of_the_kind_has_its_table_in_the_kinds_order(cast, table):
    said = figures(cast)
    assert [part["measure"] for part in said["measures"]] == ["fail", "label", "no_result"]
    prevalence = {
        part["measure"]: {one["category"]: one["n_ratings"] for one in part["agreement"]["prevalence"]}
        for part in said["measures"]
    }
    assert prevalence == {
        "fail": {"pass": 13, "fail": 9},
        "label": {READABLE: 13, NEEDS: 0, FAILS: 9},
        "no_result": {"states": 22, "states_none": 0},
    }


def test_one_measure_can_be_asked_for_and_an_unknown_one_is_refused(cast, table):
    assert [part["measure"] for part in figures(cast, measure="label")["measures"]] == ["label"]
    with pytest.raises(Refused) as refusal:
        report(cast, measure="Fail")
    problem = refusal.value.problem
    assert (problem.code, problem.field) == ("unknown_measure", "measure")
    assert problem.as_dict()["expected"] == "One of: fail, label, no_result."


def test_a_tie_of_the_others_fails_and_the_other_rules_stand_beside(cast, table):
    panel = report(cast, measure="fail").measures[0].panel
    assert panel.tie_rule == "toward:fail"
    assert panel.n_tied_items == 1  # the last: ana fails it, ben does not, cem has not read it
    ana = panel.raters[0]
    # Against ben and cem: 1 agrees; 2 is a tie, so it fails and ana is against; 3 agrees; 4 a tie, agrees; 5 agrees;
    # 6 a tie, agrees; 7 and 8 have one other only.
    assert (ana.n_ties, ana.n_few_others) == (3, 2)
    assert ana.annotator_vs_majority.value == pytest.approx(5 / 6)
    shares = {rule.rule: rule.annotator_vs_majority.value for rule in ana.other_rules}
    assert shares == {
        "exclude": pytest.approx(1),
        "fractional": pytest.approx((3 + 3 * 0.5) / 6),
        "toward:pass": pytest.approx(4 / 6),
    }
    assert next(rule for rule in ana.other_rules if rule.rule == "fractional").annotator_vs_majority_kappa is None


def test_two_current_labels_of_one_person_and_item_are_refused_with_words(cast, table):
    again = make_round(cast.project, closed_at=NOW)
    make_submitted(cast.ana, table[0], FAILS, round=again)
    with pytest.raises(Refused) as refusal:
        report(cast)
    problem = refusal.value.problem
    assert (problem.code, problem.field) == ("duplicate_rating", "fail")
    assert problem.as_dict()["expected"] == f"a1 has a current label of item {table[0].pk} in each of two first rounds."


def test_a_label_that_a_measure_does_not_declare_is_refused_with_words(cast, monkeypatch):
    item = make_item(cast.project)
    make_submitted(cast.ana, item)
    narrow = Measure("fail", "Fails", "nominal", ("pass",), ("passes",), lambda label: "fail")
    kind = comparing.kind_of("reply")
    monkeypatch.setattr(comparing, "kind_of", lambda name: Strange(kind, [narrow]))
    with pytest.raises(Refused) as refusal:
        report(cast)
    problem = refusal.value.problem
    assert (problem.code, problem.field) == ("unknown_label", "fail")
    expected = f"a1 gave item {item.pk} a label that the measure fail does not declare."
    assert problem.as_dict()["expected"] == expected


def test_the_three_labels_leave_ties_out(cast, table):
    panel = report(cast, measure="label").measures[0].panel
    assert panel.tie_rule == "exclude"
    assert panel.raters[0].annotator_vs_majority.value == pytest.approx(1)
    assert panel.raters[0].annotator_vs_majority.n_items == 3


# What never enters


def enter_nothing(cast, item):
    """One case for each kind of row that must not enter; every one contradicts what was said, so it would be seen."""
    trace = make_trace(cast.project)
    extra = [make_item(trace=trace, reply=index) for index in (3, 5)]

    def practice():
        for member in (cast.ana, cast.ben):
            make_submitted(member, make_item(cast.project, phase="practice"), FAILS)

    def pilot():
        for member in (cast.ana, cast.ben):
            make_submitted(member, make_item(cast.project, phase="pilot"), FAILS)

    def known_answer():
        make_known(extra[0])

    def settled_answer():
        make_known(item, how="majority")

    def problem():
        make_assignment(cast.ana, extra[0], State.PROBLEM, ended_at=NOW)

    def withdrawn():
        Assignment.objects.filter(pk=make_submitted(cast.ana, extra[0], FAILS).pk).update(state=State.WITHDRAWN)

    def informed():
        assignment = make_submitted(cast.ana, extra[0], FAILS)
        Annotation.objects.filter(assignment=assignment).update(informed=True)

    def later_round():
        informed_round = make_round(cast.project, "informed", informed=True)
        make_submitted(cast.ana, item, FAILS, round=informed_round)

    def older_answer():
        assignment = make_submitted(cast.ana, extra[0], FAILS)
        make_annotation(assignment, READABLE)
        Annotation.objects.filter(assignment=assignment, number=2).delete()

    def draft():
        fields = {"number": 0, "draft_number": 1, "fields": {"label": FAILS}}
        make_assignment(cast.ana, extra[0], State.OPEN, draft=fields)

    def suggestion():
        type(item).objects.filter(pk=item.pk).update(suggestions=[{"label": FAILS}])

    def another_project():
        make_submitted(cast.zoe, label=FAILS)

    return locals()


def make_known(item, how="known"):
    label = {"label": FAILS, "states_no_result": True, "spans": [], "comment": ""}
    Settlement.objects.create(item=item, label=label, how=how)


CASES = [
    *("practice", "pilot", "known_answer", "settled_answer", "problem", "withdrawn", "informed", "later_round"),
    *("older_answer", "draft", "suggestion", "another_project"),
]


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_blind_current_first_round_label_of_the_main_phase_never_enters(cast, table, case):
    before = figures(cast)
    enter_nothing(cast, table[0])[case]()
    after = figures(cast)
    assert after["measures"] == before["measures"]
    assert (after == before) == (case != "problem")


def test_a_label_of_the_main_phase_does_enter(cast, table):
    before = figures(cast)["measures"][0]["agreement"]["n_ratings"]
    make_submitted(cast.ana, label=FAILS)
    assert figures(cast)["measures"][0]["agreement"]["n_ratings"] == before + 1


def test_reported_problems_are_counted_by_phase(cast, table):
    make_assignment(cast.ana, state=State.PROBLEM)
    make_assignment(cast.ana, make_item(cast.project, phase="pilot"), State.PROBLEM)
    make_assignment(cast.zoe, state=State.PROBLEM)
    assert figures(cast)["left_out"] == {"problem_reported": 1, "filtered": 0}
    assert figures(cast, phase="pilot")["left_out"] == {"problem_reported": 1, "filtered": 0}


def test_a_correction_takes_the_place_of_what_it_corrects(cast, table):
    assignment = Assignment.objects.get(annotator=cast.ana, item=table[0])
    make_annotation(assignment, FAILS)
    panel = report(cast, measure="fail").measures[0].panel
    assert {one.category: one.n_ratings for one in panel.prevalence} == {"pass": 12, "fail": 10}


def test_the_pilot_comes_on_request_and_is_no_result(cast):
    item = make_item(cast.project, phase="pilot")
    make_submitted(cast.ana, item, FAILS)
    make_submitted(cast.ben, item, FAILS)
    main, pilot = report(cast), report(cast, phase="pilot")
    assert (main.is_result, pilot.is_result) == (True, False)
    assert (main.measures[0].panel.n_items, pilot.measures[0].panel.n_items) == (0, 1)


def test_an_empty_project_has_reasons_in_place_of_figures(cast):
    panel = report(cast).measures[0].panel
    assert (panel.n_items, panel.n_raters, panel.n_ratings, panel.n_clusters) == (0, 0, 0, 0)
    for figure in (panel.percent_agreement, panel.fleiss_kappa, panel.krippendorff_alpha, panel.mean_cohen_kappa):
        assert (figure.value, figure.reason, figure.interval) == (None, "empty", None)
    assert (panel.pairs, panel.raters) == ((), ())


def test_labels_are_read_by_the_protocol_they_were_given_under(cast, monkeypatch):
    make_submitted(cast.ana)
    make_submitted(cast.ben)
    make_protocol(cast.project, label_schema={"number": 2})
    make_submitted(cast.ana)
    kind, read = comparing.kind_of("reply"), []

    def load(data, schema):
        read.append(schema)
        return kind.load(data, schema)

    monkeypatch.setattr(comparing, "kind_of", lambda name: Strange(kind, kind.measures({}), load))
    assert report(cast).measures[0].panel.n_ratings == 1
    assert report(cast, protocol=1).measures[0].panel.n_ratings == 2
    assert read == [{"number": 2}, dict(kind.schema)]  # the two labels of the second are alike


# Protocols, and people who left


def test_labels_under_different_protocols_are_never_in_one_figure(cast):
    items = [make_item(cast.project) for _ in range(3)]
    for item in items:
        make_submitted(cast.ana, item)
    make_protocol(cast.project)
    for item in items[:2]:
        make_submitted(cast.ben, item)
    said = figures(cast)
    assert said["protocols"] == [{"protocol": 1, "n_labels": 3}, {"protocol": 2, "n_labels": 2}]
    assert said["protocol"] == 2
    assert figures(cast, protocol=1)["measures"][0]["agreement"]["n_ratings"] == 3
    assert "Kept apart: protocol 1: 3 labels" in agreement_words.report_words(report(cast)).protocol
    earlier = agreement_words.report_words(report(cast, protocol=1))
    assert earlier.protocol.startswith("Only labels given under protocol 1.")


def test_one_protocol_needs_no_word(cast):
    make_submitted(cast.ana)
    assert agreement_words.report_words(report(cast)).protocol == ""


def test_a_protocol_that_is_not_there_is_refused(cast):
    with pytest.raises(Refused, match="unknown_protocol"):
        report(cast, protocol=7)


def test_an_item_that_a_new_protocol_opened_again_counts_once_with_its_later_label(cast):
    item = make_item(cast.project)
    make_protocol(cast.project)
    again = make_round(cast.project, purpose="protocol")
    make_submitted(cast.ana, item, "readable")
    make_submitted(cast.ana, item, "unrepairable_or_no_answer", round=again)
    panel = report(cast).measures[0].panel
    assert panel.n_ratings == 1
    assert {one.category: one.share for one in panel.prevalence}["fail"] == 1


def test_of_a_protocol_as_many_labels_are_said_as_there_are_ratings(cast):
    item = make_item(cast.project)
    make_submitted(cast.ana, item)
    make_submitted(cast.ana, item, round=make_round(cast.project, purpose="protocol"))
    make_submitted(cast.ben, item)
    make_protocol(cast.project)
    said = figures(cast)
    assert (said["protocol"], said["protocols"]) == (1, [{"protocol": 1, "n_labels": 2}])
    assert said["measures"][0]["agreement"]["n_ratings"] == 2


def test_who_left_before_the_end_is_listed_as_partial(cast):
    first, second = make_item(cast.project), make_item(cast.project)
    make_submitted(cast.ana, first)
    make_submitted(cast.ben, first)
    make_assignment(cast.ben, second, state="withdrawn")
    assert report(cast).partial == ()
    Membership.objects.filter(person__username__in=["ana", "ben"]).update(left_at=NOW)
    assert figures(cast)["partial_raters"] == [{"rater": "a2", "n_submitted": 1, "n_given": 2}]
    assert agreement_words.report_words(report(cast)).partial == ("a2 left and is partial: 1 of 2 labels given.",)


def test_labels_of_somebody_who_left_stay_in(cast, table):
    before = figures(cast)
    Membership.objects.filter(pk=cast.ben.pk).update(left_at=NOW)
    assert figures(cast) == before


def test_the_report_says_whether_a_lead_may_label_and_whether_labels_are_synthetic(cast):
    assert (report(cast).open_lead, report(cast).is_synthetic) == (False, False)
    Project.objects.update(open_lead=True, is_synthetic=True)
    assert (figures(cast)["open_lead"], figures(cast)["is_synthetic"]) == (True, True)


@pytest.mark.parametrize("n", [1, 40])
def test_a_report_takes_a_fixed_number_of_statements_whatever_there_is(cast, django_assert_num_queries, n):
    for _ in range(n):
        make_submitted(cast.ana)
    project = Project.objects.get(pk=cast.project.pk)
    with django_assert_num_queries(9):
        agreement_report(project)


# Tables that came from elsewhere


def pairs(*counts):
    """Ratings of two raters from the four cells of their table: both yes, first only, second only, both no."""
    said = [pair for pair, n in zip(("yy", "yn", "ny", "nn"), counts, strict=True) for pair in [pair] * n]
    return [(str(item), "ab"[place], label) for item, pair in enumerate(said) for place, label in enumerate(pair)]


def test_a_table_without_clusters_says_that_each_item_is_its_own():
    panel = table_agreement(Table(pairs(40, 5, 5, 50), ("y", "n"), None), seed=1)
    assert (panel.unit, panel.n_clusters, panel.tie_rule, panel.min_others) == (ITEM, 100, "exclude", 2)
    assert panel.pairs[0].cohen_kappa.value == pytest.approx((0.9 - 0.505) / (1 - 0.505))


def test_a_table_with_clusters_resamples_them():
    triples = pairs(40, 5, 5, 50)
    cluster_of = {item: str(int(item) // 10) for item, _, _ in triples}
    panel = table_agreement(Table(triples, ("y", "n"), cluster_of, "run"), seed=1)
    assert (panel.unit, panel.n_clusters, panel.seed) == ("run", 10, 1)
    assert panel.fleiss_kappa.interval.unit == "run"
    alone = table_agreement(Table(triples, ("y", "n"), None), seed=1)
    assert panel.fleiss_kappa.value == alone.fleiss_kappa.value
    assert panel.fleiss_kappa.interval != alone.fleiss_kappa.interval


def test_a_kind_nobody_thought_of_is_compared_by_its_measures_alone(cast, monkeypatch):
    scale = Measure("ease", "Ease", "interval", (1, 2, 3), ("1", "2", "3"), lambda label: len(label.comment) or None)
    kind = comparing.kind_of("reply")
    monkeypatch.setattr(comparing, "kind_of", lambda name: Strange(kind, [scale]))
    for comments in (("x", "x"), ("xx", "xx"), ("xxx", "xx"), ("", "x")):
        item = make_item(cast.project)
        for member, comment in zip((cast.ana, cast.ben), comments, strict=True):
            make_submitted(member, item, {"label": FAILS, "states_no_result": False, "spans": [], "comment": comment})
    panel = report(cast).measures[0].panel
    assert (panel.level, panel.n_ratings) == ("interval", 7)
    assert panel.left_out == {"one_rating": 1}


class Strange:
    """A kind with other measures, or another way to read its labels."""

    def __init__(self, kind, measures, load=None):
        self.schema, self.load, self.measures = kind.schema, load or kind.load, lambda schema: measures
        self.unmeasured, self.sets = (), kind.sets
