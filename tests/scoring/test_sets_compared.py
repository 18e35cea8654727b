"""Measures of sets beside the others: on the agreement page, in its files, over the API, from the command, and with a
judge that asks no model."""

import csv
import html
import io
import json
import re

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from annotate import releasing, reviewing
from annotate.models import Person
from scoring import comparing
from scoring.models import Verdict
from scoring.reports import recompute, shown_report
from scoring.sealing import agreement_to_seal
from tests.annotate.api.asking import Script
from tests.factories import NOW, make_cast, make_run, make_verdict
from tests.scoring.trajectories import label, make_trajectory, say, triplet

pytestmark = pytest.mark.django_db
A, B = triplet(1, "DUP", [2, 3]), triplet(2, "INC")
OTHER = triplet(1, "EXP", [2, 3])


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    cache.clear()
    monkeypatch.setattr(comparing, "N_RESAMPLES", 200)


@pytest.fixture
def cast(db):
    """Ana and ben on six trajectories: equal, none by both, another type, a step more, equal, equal."""
    cast = make_cast(kind="redundancy")
    said = [([A], [A]), ([], []), ([A], [OTHER]), ([A, B], [A]), ([B], [B]), ([A], [A])]
    for place, (mine, theirs) in enumerate(said):
        item = make_trajectory(cast.project, cluster=f"task-{place}")
        say(cast.ana, item, *mine)
        say(cast.ben, item, *theirs)
    return cast


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def show(client, cast, name="show_agreement", **query):
    client.force_login(cast.lea.person)
    return client.get(reverse(f"scoring:{name}", args=[cast.project.slug]), query)


def test_the_page_has_each_with_its_value_pairs_and_what_was_left_out(client, cast):
    page = show(client, cast)
    text = words(page)
    assert page.status_code == 200
    for title in ("the redundant steps", "the steps with their types", "whole triplets", "the set of triplets"):
        assert title in text
    code = f"{cast.ana.code} · {cast.ben.code}"
    # steps: 6 and 5 named, 5 of them by both; sets: equal on 4 of 6
    assert re.search(r"mean of all pairs 0\.91 [\d.]+ to [\d.]+ 5", text)
    assert re.search(rf"{re.escape(code)} 0\.67 [\d.]+ to [\d.]+ 6", text)
    assert "items where both found nothing: 1" in text
    assert f"/projects/{cast.project.slug}/settling/?state=all&amp;measure=location" in page.content.decode()


def test_one_of_them_can_be_chosen_and_stands_alone(client, cast):
    page = show(client, cast, measure="location")
    assert '<option value="location" selected>' in page.content.decode()
    assert "whole triplets" not in re.sub(r"<select.*?</select>", "", page.content.decode(), flags=re.DOTALL)
    assert show(client, cast, measure="nothing").status_code == 409
    assert show(client, cast, "list_compared_items", measure="location").status_code in (404, 409)


def test_the_file_has_one_row_a_pair_and_one_for_the_mean(client, cast):
    rows = list(csv.DictReader(io.StringIO(show(client, cast, "agreement_csv").content.decode())))
    mean, pair = (row for row in rows if row["measure"] == "location")
    assert (mean["who"], mean["statistic"]) == ("panel", "mean_set_f1")
    assert (pair["who"], pair["against"], pair["statistic"]) == (cast.ana.code, cast.ben.code, "set_f1")
    assert float(pair["value"]) == pytest.approx(10 / 11)
    assert pair["left_out"] == "both_empty=1"
    assert {row["statistic"] for row in rows if row["measure"] == "set"} == {"mean_equal_sets", "equal_sets"}


def test_api_and_command_say_the_same(cast, capsys):
    said = Script(cast.lea).get(f"projects/{cast.project.slug}/agreement/").json()
    sets = {one["measure"]: one for one in said["sets"]}
    assert sets["set"]["agreement"]["mean"]["value"] == pytest.approx(4 / 6)
    assert sets["set"]["judge"] is None
    call_command("agreement", cast.project.slug, "--json")
    assert json.loads(capsys.readouterr().out) == said
    call_command("agreement", cast.project.slug, "--measure", "set")
    text = capsys.readouterr().out
    assert "the set of triplets, as a whole" in text
    assert "mean of all pairs" in text
    assert "Fleiss" not in text


def test_a_stored_report_comes_out_the_same_again(cast):
    stored = shown_report(cast.project)
    assert recompute(stored.row) == stored.row.payload
    again = shown_report(cast.project)
    assert (again.is_new, again.report) == (False, shown_report(cast.project).report)
    only = shown_report(cast.project, measure="triplet")
    assert [one.measure for one in only.report.sets] == ["triplet"]
    assert only.report.measures == ()
    assert recompute(only.row) == only.row.payload


def test_a_judge_stands_beside_each_person(client, cast):
    """The judge names A everywhere. Ana names A on 4 of 6 with 6 steps in all, ben on 3 with 5."""
    run = make_run(cast.project, "heuristics")
    for item in cast.project.items.all():
        make_verdict(run, item, label(A))
    report = shown_report(cast.project).report
    judge = next(one.judge for one in report.sets if one.measure == "triplet")
    assert [(pair.first, pair.second) for pair in judge.pairs] == [
        ("heuristics, run 1", cast.ana.code), ("heuristics, run 1", cast.ben.code),
    ]  # fmt: skip
    values = [pair.agreement.value for pair in judge.pairs]
    assert values == pytest.approx([2 * 4 / (6 + 6), 2 * 3 / (6 + 5)])
    assert judge.mean.value == pytest.approx(sum(values) / 2)
    text = words(show(client, cast))
    assert "the judge and each annotator" in text
    assert f"heuristics, run 1 · {cast.ana.code}" in text
    rows = list(csv.DictReader(io.StringIO(show(client, cast, "agreement_csv").content.decode())))
    (mean,) = (row for row in rows if (row["measure"], row["who"]) == ("triplet", "judge"))
    assert float(mean["value"]) == pytest.approx(judge.mean.value)


def test_the_rules_are_run_as_a_judge_from_start_to_end(cast, capsys):
    call_command("run_judge", cast.project.slug, "heuristics", "--json")
    said = json.loads(capsys.readouterr().out)
    assert (said["state"], said["verdicts"], said["unreadable"], said["given_up"]) == ("done", 6, 0, 0)
    assert {verdict.label["outcome"] for verdict in Verdict.objects.all()} == {"none"}
    report = shown_report(cast.project).report
    assert report.run.judge == "heuristics"
    assert report.measures[0].judge.accuracy.n_items > 0
    location = next(one.judge for one in report.sets if one.measure == "location")
    assert location.mean.value == 0
    assert next(one.judge for one in report.sets if one.measure == "set").mean.value == pytest.approx(1 / 6)


def test_its_pages_open_in_both_languages(client, cast):
    run = make_run(cast.project, "heuristics")
    item = cast.project.items.first()
    make_verdict(run, item, label(A), finding={"values": {"steps": [A], "n_steps": 1}, "spans": []})
    assert client.get(reverse("scoring:show_run", args=[cast.project.slug, 1])).status_code == 302
    for language in ("", "zh-hans"):
        Person.objects.filter(pk=cast.lea.person_id).update(interface_language=language)
        assert show(client, cast).status_code == 200
        assert client.get(reverse("scoring:show_run", args=[cast.project.slug, 1])).status_code == 200
        assert client.get(reverse("scoring:list_runs", args=[cast.project.slug])).status_code == 200


def test_statements_of_the_page_do_not_grow(client, cast, django_assert_num_queries):
    show(client, cast)
    with django_assert_num_queries(STATEMENTS):
        show(client, cast)
    for place in range(5):
        item = make_trajectory(cast.project, cluster=f"more-{place}")
        say(cast.ana, item, A)
        say(cast.ben, item, B)
    show(client, cast)
    with django_assert_num_queries(STATEMENTS):
        show(client, cast)


STATEMENTS = 23


def test_a_card_says_on_which_sets_answers_differ(cast):
    queue = reviewing.show_queue(part=cast.rita, state="all", measure="type", limit=10)
    assert {"location", "type", "evidence", "triplet", "set"} <= set(queue.measures)
    (one, other) = queue.rows  # another type, and a step more
    cards = [reviewing.open_card(part=cast.rita, public_id=row.public_id) for row in (one, other)]
    differing = {frozenset(row.name for row in card.compared if row.differs) for card in cards}
    assert differing == {
        frozenset({"type", "triplet", "set"}), frozenset({"location", "type", "evidence", "triplet", "set"}),
    }  # fmt: skip
    named = [[cell.title for cell in row.cells] for card in cards for row in card.compared if row.name == "location"]
    assert sorted(map(sorted, named)) == [["1", "1"], ["1", "2"]]


def test_a_release_keeps_them_without_the_judge(cast):
    run = make_run(cast.project, "heuristics")
    make_verdict(run, cast.project.items.first(), label(A))
    agreement = agreement_to_seal(cast.project, 1)
    release = releasing.seal_release(person=None, project=cast.project, rule="majority", agreement=agreement, now=NOW)
    manifest = json.loads(release.manifest)
    assert [one["measure"] for one in manifest["agreement"]["sets"]][::4] == ["location", "set"]
    assert "heuristics" not in release.manifest
    assert "### the redundant steps\n" in manifest["data_card"]["en"]
