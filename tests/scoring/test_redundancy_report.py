"""The report of the method of redundant steps over a project: rows become records, and the tables of the method."""

import csv
import io
import json

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from annotate.errors import Refused
from annotate.models import Assignment, Settlement
from scoring import method_reports
from scoring.method_reports import as_plain, shown_method
from scoring.methods.tables import words_of
from tests.annotate.api.asking import Script
from tests.factories import (
    NOW,
    make_assignment,
    make_cast,
    make_member,
    make_protocol,
    make_round,
    make_submitted,
)
from tests.scoring.trajectories import CANNOT, make_trajectory, say, triplet

pytestmark = pytest.mark.django_db
FAST = {"n_resamples": 100}
A, B = triplet(1, "DUP", [2, 3]), triplet(2, "INC")
A_OTHER_EVIDENCE, A_OTHER_TYPE = triplet(1, "DUP", [-1]), triplet(1, "EXP", [2, 3])


@pytest.fixture
def cast(db):
    cast = make_cast(kind="redundancy", seed=11)
    cast_cai = make_member(cast.project, "cai")
    return cast, (cast.ana, cast.ben, cast_cai)


def shown(project, **asked):
    return shown_method(project, given=FAST, **asked).report


def value(report, metric, table=None, **by):
    return report.row(metric, table, **by).figure.value


def notes(report):
    return [words_of(one) for one in report.notes]


def all_say(people, item, *labels, **told):
    for who, steps in zip(people, labels, strict=True):
        say(who, item, *steps, **told)


def settle(item, how, label=None):
    Settlement.objects.create(item=item, how=how, label=label)
    item.project.events.create(action="item_settled", detail={})


def known_differences(project, people):
    """Five common trajectories: one agreed, one empty for all, one with other evidence, one with another type, one with
    a step that one does not name; and one of ana's own."""
    items = [make_trajectory(project, cluster=f"task-{place}") for place in range(6)]
    all_say(people, items[0], [A, B], [A, B], [A, B])
    all_say(people, items[1], [], [], [])
    all_say(people, items[2], [A], [A], [A_OTHER_EVIDENCE])
    all_say(people, items[3], [A], [A], [A_OTHER_TYPE])
    all_say(people, items[4], [A, B], [A, B], [A])
    say(people[0], items[5], B)
    return items


def test_a_fixture_with_known_differences_gives_the_expected_counts(cast):
    cast, people = cast
    known_differences(cast.project, people)
    report = shown(cast.project)
    assert [value(report, one, "experts") for one in ("annotated", "common")] == [6, 5]
    differ = report.row("trajectory_disagreement", "experts")
    assert (differ.k, differ.n) == (3, 5)
    steps = report.row("step_disagreement", "experts")
    assert (steps.k, steps.n) == (3, 6)
    assert report.row("severe_disagreement", "experts").k == 2
    assert report.row("minor_disagreement", "experts").k == 1


def test_gold_is_what_the_kind_settles_and_a_unique_one_is_its_experts(cast):
    """Minor is closed by two of three; severe is open; the empty one is in the pool and not in gold."""
    cast, people = cast
    items = known_differences(cast.project, people)
    report = shown(cast.project)
    found = [value(report, one, "dataset") for one in ("trajectories", "unresolved", "pool", "empty", "gold", "steps")]
    assert found == [6, 2, 4, 1, 3, 4]
    settle(items[3], "reviewer", {"outcome": "steps", "steps": [A]})
    report = shown(cast.project)
    found = [value(report, one, "dataset") for one in ("unresolved", "pool", "empty", "gold", "steps")]
    assert found == [1, 5, 1, 4, 5]
    settle(items[0], "unresolved")
    report = shown(cast.project)
    assert [value(report, one, "dataset") for one in ("unresolved", "pool", "gold")] == [2, 4, 3]


def test_agreement_is_told_round_by_round_and_the_first_stays_what_it_was(cast):
    cast, people = cast
    items = known_differences(cast.project, people)
    before = shown(cast.project)
    informed = make_round(cast.project, purpose="informed", informed=True)
    for item in items[2:5]:
        all_say(people, item, [A], [A], [A], round=informed)
    report = shown(cast.project)
    for metric in ("location_f1", "type_f1", "evidence_f1", "triplet_f1", "set_equal"):
        assert value(report, metric, "rounds", round="1") == value(before, metric, "rounds", round="1")
        assert value(report, metric, "rounds", round="2") == 1
    assert report.row("trajectory_disagreement", "experts").k == 3
    assert value(report, "compared", "rounds", round="2") == 3
    after = [report.row("differ_after", "rounds", round=one) for one in ("1", "2")]
    assert [(one.k, one.n) for one in after] == [(3, 5), (0, 5)]
    found = [value(report, one, "dataset") for one in ("unresolved", "pool", "gold")]
    assert found == [2, 4, 3]  # what people came to is gold once a reviewer has settled it
    for item in items[3:5]:
        settle(item, "reviewer", {"outcome": "steps", "steps": [A]})
    settled = shown(cast.project)
    assert [value(settled, one, "dataset") for one in ("unresolved", "pool", "gold")] == [0, 6, 5]
    (table,) = (one for one in report.tables if one.name == "rounds")
    assert "Informed, so no agreement of independent labels: round 2." in [words_of(one) for one in table.notes]


def test_the_parts_of_triplets_agree_as_worked_out_by_hand(cast):
    """Ana and ben name the same 6 steps: A B, none, A, A, A B. Cai names 5: A B, none, A, A, A, and of those one with
    other evidence, one with another type."""
    cast, people = cast
    known_differences(cast.project, people)
    report = shown(cast.project)
    pairs = {"location_f1": 2 * 5 / 11, "type_f1": 2 * 4 / 11, "evidence_f1": 2 * 4 / 11, "triplet_f1": 2 * 3 / 11}
    for metric, with_cai in pairs.items():
        assert value(report, metric, "rounds", round="1") == pytest.approx((1 + 2 * with_cai) / 3)
    assert value(report, "set_equal", "rounds", round="1") == pytest.approx((1 + 2 / 5 + 2 / 5) / 3)
    assert report.row("location_f1", "rounds", round="1").figure.left_out == {"both_empty": 1}
    assert report.table("type_confusion").counts == ((0, 0, 0, 0), (0, 10, 0, 2), (0, 0, 4, 0), (0, 0, 0, 0))


def test_figures_are_broken_down_by_domain_and_resample_tasks(cast):
    cast, people = cast
    for place in range(12):
        item = make_trajectory(cast.project, area="retail" if place % 2 else "airline", cluster=f"task-{place // 4}")
        all_say(people, item, [A], [A], [A] if place % 2 else [B])
    report = shown(cast.project)
    assert value(report, "location_f1", "rounds", round="1", domain="retail") == 1
    assert value(report, "location_f1", "rounds", round="1", domain="airline") == pytest.approx(1 / 3)
    assert report.row("location_f1", "rounds", round="1").figure.n_clusters == 6  # a task of two domains is two tasks
    assert value(report, "gold", "dataset", domain="retail") == 6
    assert value(report, "unresolved", "dataset", domain="airline") == 6


def test_what_became_of_suggestions_is_told_by_rule(cast):
    cast, people = cast
    item = make_trajectory(cast.project, suggested=[A, B])
    item.suggestions[1]["rules"] = ["identical", "error_keyword"]
    item.save()
    say(people[0], item, A, decisions=[(1, "keep"), (2, "reject")])
    say(people[1], item, A_OTHER_TYPE, B, decisions=[(1, "change"), (2, "keep")])
    report = shown(cast.project)
    shares = {one: value(report, f"suggestion_{one}", "suggestions") for one in ("keep", "change", "reject")}
    assert shares == {"keep": 1 / 2, "change": 1 / 4, "reject": 1 / 4}
    assert value(report, "suggested", "suggestions") == 2
    assert value(report, "decisions", "suggestions", rule="error_keyword") == 2
    assert value(report, "suggestion_reject", "suggestions", rule="error_keyword") == 1 / 2
    assert value(report, "decisions", "suggestions", rule="identical") == 4


def test_how_far_suggestions_move_labels(cast):
    """Shown, both name what the rule points to, in three of four; left off, in one of four."""
    cast, people = cast
    for place in range(4):
        item = make_trajectory(cast.project, suggested=[A], cluster=f"s{place}")
        for who in people[:2]:
            named = [A] if place < 3 else []
            say(who, item, *named, decisions=[(1, "keep" if named else "reject")])
    for place in range(4):
        item = make_trajectory(cast.project, suggested=[A], is_shown=False, cluster=f"o{place}")
        say(people[0], item, *([A_OTHER_TYPE] if place < 1 else []))
        say(people[1], item, *([A_OTHER_TYPE] if place < 1 else []), *([B] if place < 2 else []))
    report = shown(cast.project)
    by = [{"suggestions": one} for one in ("shown", "left off", "shown minus left off")]
    assert [value(report, "suggested_named", "anchoring", **one) for one in by[:2]] == [3 / 4, 1 / 4]
    assert value(report, "suggested_named_difference", "anchoring", **by[2]) == 1 / 2
    assert [value(report, "suggested_just_so", "anchoring", **one) for one in by[:2]] == [3 / 4, 0]
    assert [value(report, "found", "anchoring", **one) for one in by[:2]] == [3 / 4, 3 / 8]
    assert value(report, "steps_per_label_difference", "anchoring", **by[2]) == pytest.approx(3 / 4 - 1 / 2)
    assert [value(report, "set_equal", "anchoring", **one) for one in by[:2]] == [1, 1 / 2]
    figure = report.row("found_difference", "anchoring", **by[2]).figure
    assert (figure.n_items, figure.interval is not None) == (16, True)


def test_where_nothing_was_left_off_it_is_undefined_and_said(cast):
    cast, people = cast
    for place in range(3):
        item = make_trajectory(cast.project, suggested=[A], cluster=f"s{place}")
        all_say(people, item, [A], [A], [], decisions=[])
    report = shown(cast.project)
    for metric in ("found", "steps_per_label", "suggested_named", "set_equal"):
        row = report.row(f"{metric}_difference", "anchoring", suggestions="shown minus left off")
        assert (row.figure.value, row.figure.reason) == (None, "not_observed")
    said = [words_of(one) for one in report.table("anchoring").notes]
    assert said == ["Suggestions were left off nowhere, so nothing tells how far they move labels."]


def test_without_rules_there_is_no_table_of_them(cast):
    cast, people = cast
    known_differences(cast.project, people)
    assert {one.name for one in shown(cast.project).tables} == {"dataset", "experts", "rounds", "type_confusion"}


def test_who_cannot_annotate_says_nothing_of_the_steps_and_is_counted(cast):
    cast, people = cast
    item = make_trajectory(cast.project)
    say(people[0], item, A)
    say(people[1], item, A)
    make_submitted(people[2], item, CANNOT)
    report = shown(cast.project)
    assert report.n_records["expert"] == 2
    assert value(report, "gold", "dataset") == 1
    assert "Labels that say that a trajectory cannot be annotated, and so are left out: 1." in notes(report)


def test_what_somebody_has_still_to_label_has_come_to_nothing_yet(cast):
    cast, people = cast
    item = make_trajectory(cast.project)
    say(people[0], item, A)
    waiting = make_assignment(people[1], item)
    report = shown(cast.project)
    assert (value(report, "pool", "dataset"), value(report, "unresolved", "dataset")) == (0, 0)
    assert "1 trajectories have no gold record and are no part." in notes(report)
    Assignment.objects.filter(pk=waiting.pk).update(state="withdrawn")
    cast.project.events.create(action="round_closed", detail={})
    assert value(shown(cast.project), "gold", "dataset") == 1


def test_labels_under_different_guidelines_are_not_compared_within_a_round(cast):
    cast, people = cast
    first, second = make_trajectory(cast.project), make_trajectory(cast.project)
    all_say(people, first, [A], [A], [B])
    make_protocol(cast.project)
    all_say(people, second, [A], [A], [A])
    report = shown(cast.project)
    assert value(report, "common", "experts") == 2
    assert "Of a trajectory and round only labels under its newest protocol are compared." in notes(report)
    again = make_round(cast.project, purpose="protocol")
    say(people[0], first, A, round=again)
    assert value(shown(cast.project), "common", "experts") == 2
    one = shown(cast.project, protocol=1)
    assert (value(one, "common", "experts"), value(one, "trajectory_disagreement", "experts")) == (1, 1)
    assert any("protocol 1;" in words_of(note) for note in one.notes)


def test_first_rounds_are_one_round_of_the_method(cast):
    cast, people = cast
    items = known_differences(cast.project, people)
    cast.project.rounds.update(closed_at=NOW)
    gone_on = make_round(cast.project)
    say(people[0], make_trajectory(cast.project), A, round=gone_on)
    informed = make_round(cast.project, purpose="informed", informed=True)
    all_say(people, items[4], [A], [A], [A], round=informed)
    report = shown(cast.project)
    assert value(report, "annotated", "experts") == 7
    assert value(report, "compared", "rounds", round="2") == 1
    assert "Round 1 holds round 2 of the project." in notes(report)
    assert "Round 2 holds round 3 of the project." in notes(report)


def test_the_number_of_statements_does_not_grow(cast, django_assert_num_queries):
    cast, people = cast
    known_differences(cast.project, people)
    shown(cast.project)
    say(people[1], make_trajectory(cast.project, suggested=[A]), A)
    with django_assert_num_queries(NEW_STATEMENTS):
        first = shown_method(cast.project, given=FAST)
    for _ in range(3):
        known_differences(cast.project, people)
    informed = make_round(cast.project, purpose="informed", informed=True)
    say(people[1], make_trajectory(cast.project), A, round=informed)
    with django_assert_num_queries(NEW_STATEMENTS):
        second = shown_method(cast.project, given=FAST)
    with django_assert_num_queries(KEPT_STATEMENTS):
        again = shown_method(cast.project, given=FAST)
    assert (first.is_new, second.is_new, again.is_new) == (True, True, False)
    assert again.report == second.report


NEW_STATEMENTS, KEPT_STATEMENTS = 30, 6


def test_what_is_not_there_is_refused_by_name(cast):
    cast, _ = cast
    for asked, code in (({"run": 1}, "unknown_run"), ({"checker_run": 1}, "unknown_checker_run"),
                        ({"protocol": 9}, "unknown_protocol")):  # fmt: skip
        with pytest.raises(Refused) as refused:
            shown(cast.project, **asked)
        assert refused.value.problem.code == code


def test_an_empty_project_says_so(cast):
    cast, _ = cast
    report = shown(cast.project)
    assert report.tables == ()
    assert "Nobody has labelled this phase yet; the tables of people are left away." in notes(report)


def test_as_json_it_has_the_fields_of_every_method(cast):
    cast, people = cast
    known_differences(cast.project, people)
    said = as_plain(shown_method(cast.project, given=FAST))
    assert (said["method"], said["protocol"], said["project"]) == ("redundancy", 1, cast.project.slug)
    assert (said["reader"], said["checker"]) == (None, None)


# The same on the page, over the API and from the command


@pytest.fixture
def few_resamples(monkeypatch):
    cache.clear()
    settings = method_reports.settings_of

    def few(method, project, given):
        return settings(method, project, {**FAST, **given})

    monkeypatch.setattr(method_reports, "settings_of", few)


def test_page_files_and_api_show_the_report(cast, client, few_resamples):
    cast, people = cast
    known_differences(cast.project, people)
    client.force_login(cast.lea.person)
    page = client.get(reverse("scoring:show_method_report", args=[cast.project.slug]))
    text = page.content.decode()
    assert page.status_code == 200
    for said in ("Experts, round by round", "Experts before any discussion", "Gold is what reviewers settled"):
        assert said in text
    assert "reader" not in text.lower().replace("screen-reader", "")
    api = Script(cast.lea).get(f"projects/{cast.project.slug}/report/").json()
    file = client.get(reverse("scoring:method_json", args=[cast.project.slug]))
    assert json.loads(file.content) == api
    assert api["n_records"]["expert"] == 16
    lines = list(csv.DictReader(io.StringIO(client.get(reverse("scoring:method_csv", args=[cast.project.slug]))
                                            .content.decode())))  # fmt: skip
    (line,) = (
        one for one in lines if (one["table"], one["metric"], one["by"]) == ("rounds", "set_equal", "round=1")
    )
    assert float(line["value"]) == pytest.approx((1 + 2 / 5 + 2 / 5) / 3)
    nav = client.get(reverse("annotate:show_project", args=[cast.project.slug])).content.decode()
    assert f"/projects/{cast.project.slug}/report/" in nav


def test_the_command_prints_words_json_csv_and_a_page(cast, capsys):
    cast, people = cast
    known_differences(cast.project, people)
    words = ("report", "redundancy", cast.project.slug, "--set", "n_resamples=100")
    call_command(*words)
    assert "Experts' sets differ" in capsys.readouterr().out
    call_command(*words, "--json")
    assert json.loads(capsys.readouterr().out)["method"] == "redundancy"
    call_command(*words, "--csv")
    assert "rounds,location_f1," in capsys.readouterr().out
    call_command(*words, "--html", "--language", "zh-hans")
    assert '<html lang="zh-hans">' in capsys.readouterr().out
    with pytest.raises(SystemExit):
        call_command("report", "replies", cast.project.slug)
    assert "no_method" in capsys.readouterr().err
