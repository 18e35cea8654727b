"""The lead's review of jury and detectors: every prediction of a run against the gold, filters, files and the API."""

import csv
import html
import io
import re

import pytest
from django.urls import reverse

from annotate.models import Settlement
from scoring.predictions import Asked, predictions
from tests.annotate.api.asking import Script
from tests.factories import make_assignment, make_cast, make_release, make_run, make_verdict
from tests.scoring.trajectories import label, make_trajectory, say, triplet

pytestmark = pytest.mark.django_db
DUP, INC = triplet(1, "DUP", [2, 3]), triplet(2, "INC")


@pytest.fixture
def cast(db, client):
    cast = make_cast(kind="redundancy", seed=11)
    client.force_login(cast.lea.person)
    return cast


def named(run, item, *steps):
    return make_verdict(run, item, label(*steps), finding={"values": {"steps": list(steps)}, "spans": []})


def answered(run, item, *answers):
    return make_verdict(run, item, None, finding={"values": {"answers": list(answers)}, "spans": []})


def unreadable(run, item):
    return make_verdict(run, item, None, finding={"values": {}, "spans": [], "unreadable": "{"}, is_unreadable=True)


def with_gold(cast, *steps, **fields):
    item = make_trajectory(cast.project, **fields)
    for who in (cast.ana, cast.ben):
        say(who, item, *steps)
    return item


def address(cast, name="list_predictions"):
    return reverse(f"scoring:{name}", args=[cast.project.slug])


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def found(cast, **asked):
    return [
        (row.item, row.match.step and row.match.step[0], row.match.state)
        for row in predictions(cast.project, Asked(**asked)).rows
    ]


@pytest.fixture
def judged(cast):
    """A juror on two trajectories of two domains: one exact, one of another type, one no gold, one missed."""
    one, two = with_gold(cast, DUP, INC), with_gold(cast, INC, area="retail")
    run = make_run(cast.project, "juror")
    named(run, one, DUP, {**INC, "type": "EXP"})
    named(run, two, triplet(3))
    return cast, run, one, two


def test_every_prediction_of_the_newest_run_stands_against_the_gold_of_the_report(judged):
    cast, _, one, two = judged
    assert found(cast) == [
        (one.pk, 4, "exact"), (one.pk, 6, "type_differs"), (two.pk, 8, "not_gold"), (two.pk, 6, "missed"),
    ]  # fmt: skip


def test_the_filters_narrow_by_state_type_domain_and_run(judged):
    cast, run, one, two = judged
    assert found(cast, state="missed") == [(two.pk, 6, "missed")]
    assert found(cast, type="INC") == [(one.pk, 6, "type_differs"), (two.pk, 6, "missed")]
    assert found(cast, domain="retail") == [(two.pk, 8, "not_gold"), (two.pk, 6, "missed")]
    later = make_run(cast.project, "stepdet")
    named(later, one, {**DUP, "confidence": 0.5})
    assert found(cast) == [(one.pk, 4, "exact"), (one.pk, 6, "missed")]
    assert len(found(cast, run=run.number)) == 4


def test_counts_are_of_what_the_other_filters_leave(judged):
    cast, *_ = judged
    assert predictions(cast.project, Asked(state="exact")).counts == {
        "exact": 1, "type_differs": 1, "not_gold": 1, "missed": 1,
    }  # fmt: skip
    assert predictions(cast.project, Asked(domain="retail")).counts == {"not_gold": 1, "missed": 1}


def test_gold_is_settled_or_made_by_all_and_there_is_none_while_somebody_has_still_to_label(cast):
    settled, open_, waiting = (make_trajectory(cast.project) for _ in range(3))
    for item in (settled, open_):
        say(cast.ana, item, DUP)
        say(cast.ben, item, INC)
    Settlement.objects.create(item=settled, how="reviewer", label=label(DUP))
    say(cast.ana, waiting, DUP)
    make_assignment(cast.ben, waiting)
    run = make_run(cast.project, "juror")
    for item in (settled, open_, waiting):
        named(run, item, DUP)
    assert found(cast) == [(settled.pk, 4, "exact"), (open_.pk, 4, "no_gold"), (waiting.pk, 4, "no_gold")]


def test_the_labels_of_a_release_can_be_the_gold(judged):
    cast, _, one, two = judged
    release = make_release(cast.project)
    release.items.create(item=one, position=0, item_hash="1" * 64, label=label(INC), how="consensus")
    assert found(cast, release=release.number) == [
        (one.pk, 4, "not_gold"), (one.pk, 6, "type_differs"), (two.pk, 8, "no_gold"),
    ]  # fmt: skip


def agreed(run, item, *steps, outcome="retained"):
    values = {"outcome": outcome, "n_covered": 3, "agreeing": [1, 2], **({"steps": list(steps)} if steps else {})}
    return make_verdict(run, item, label(*steps) if steps else None, finding={"values": values, "spans": []})


def test_what_the_jury_agreed_on_is_gold_where_that_is_asked_for_and_experts_ended_nothing(client, cast):
    ended, new, open_ = with_gold(cast, INC), make_trajectory(cast.project), make_trajectory(cast.project)
    jury, run = make_run(cast.project, "jury"), make_run(cast.project, "juror")
    for item in (ended, new):
        agreed(jury, item, DUP)
    agreed(jury, open_, outcome="no_agreement")
    for item in (ended, new, open_):
        named(run, item, DUP)
    left = [(ended.pk, 4, "not_gold"), (ended.pk, 6, "missed")]
    assert found(cast) == [*left, (new.pk, 4, "no_gold"), (open_.pk, 4, "no_gold")]
    assert found(cast, jury_gold=True) == [*left, (new.pk, 4, "exact"), (open_.pk, 4, "no_gold")]
    told = client.get(address(cast, "predictions_json"), {"jury_gold": "true"}).json()
    assert [row["provenance"] for row in told["rows"]] == ["experts", "experts", "jury", None]
    assert "4-5 jury exact" in words(client.get(address(cast), {"jury_gold": "true"}))


def test_a_jury_that_does_not_agree_says_so_and_misses_the_steps(cast):
    item = with_gold(cast, DUP)
    agreed(make_run(cast.project, "jury"), item, outcome="no_agreement")
    assert found(cast) == [(item.pk, None, "no_consensus"), (item.pk, 4, "missed")]


@pytest.mark.parametrize(("setting", "step"), [("classification", 4), ("retrieval", 4), ("detection", None)])
def test_predictions_made_elsewhere_are_read_by_what_was_asked(cast, setting, step):
    item = with_gold(cast, DUP)
    run = make_run(cast.project, "imported")
    type(run.judge).objects.filter(pk=run.judge_id).update(settings={"system": "s", "setting": setting})
    unreadable(run, item)
    assert found(cast) == [(item.pk, step, "unreadable")]


def test_given_steps_are_right_or_say_in_which_field_they_differ(client, cast):
    item, other = with_gold(cast, DUP, INC), with_gold(cast, DUP)
    run = make_run(cast.project, "evidenceret")
    answered(run, item, {**DUP, "evidence": [-1]}, INC)
    unreadable(run, other)
    assert found(cast) == [
        (item.pk, 4, "evidence_differs"), (item.pk, 6, "right"), (other.pk, 4, "unreadable"),
    ]  # fmt: skip
    text = words(client.get(address(cast)))
    assert "evidence differs duplicated step, as gold no other step; gold: 2-3" in text


def test_the_page_says_each_state_in_words_and_links_each_row_to_its_step(client, judged):
    cast, run, one, _ = judged
    page = client.get(address(cast), {"run": run.number})
    text = words(page)
    assert "4-5 exact duplicated step, as gold 2-3, as gold" in text
    assert "6-7 type differs exploratory step; gold: incorrect step no other step, as gold" in text
    assert "8-9 not gold" in text
    assert "6-7 missed gold: incorrect step gold: no other step" in text
    assert "exact: 1" in text
    link = reverse("scoring:show_item", args=[cast.project.slug, one.pk]) + "?from=6"
    assert f'href="{link}"' in page.content.decode()
    for name, args in (("show_run", [run.number]), ("show_method_report", [])):
        leading = client.get(reverse(f"scoring:{name}", args=[cast.project.slug, *args]))
        assert f'href="{address(cast)}' in leading.content.decode()


def test_a_page_holds_fifty_rows_and_leads_on(client, cast):
    run = make_run(cast.project, "juror")
    for _ in range(13):
        named(run, with_gold(cast, DUP, INC), DUP, triplet(3), triplet(0))
    first, second = (client.get(address(cast), {"page": page}).content.decode() for page in (1, 2))
    assert first.count("<tr>") - 1 == 50
    assert second.count("<tr>") - 1 == 2
    assert "page=2" in first
    assert "page=1" in second
    for page in ("3", "0", "x"):
        assert client.get(address(cast), {"page": page}).status_code == 404


@pytest.mark.parametrize("n", [1, 12])
def test_the_page_takes_a_fixed_number_of_statements(client, cast, django_assert_num_queries, n):
    run = make_run(cast.project, "juror")
    for _ in range(n):
        named(run, with_gold(cast, DUP), DUP, INC)
    client.get(address(cast))
    with django_assert_num_queries(11):
        client.get(address(cast))


@pytest.mark.parametrize(
    "query", [{"state": "fine"}, {"type": "BAD"}, {"phase": "x"}, {"run": "99"}, {"release": "99"}, {"run": "x"}]
)
def test_what_there_is_not_is_not_found(client, judged, query):
    cast, *_ = judged
    for name in ("list_predictions", "predictions_csv", "predictions_json"):
        assert client.get(address(cast, name), query).status_code == 404


def test_without_a_run_the_page_says_what_to_start(client, cast):
    assert "No juror, jury or detector has said anything" in words(client.get(address(cast)))
    assert client.get(address(cast, "predictions_json")).json()["rows"] == []


def test_files_hold_all_that_the_filter_leaves_and_run_in_no_spreadsheet(client, cast):
    item = with_gold(cast, DUP, source_id="=1+1")
    run = make_run(cast.project, "juror")
    named(run, item, {**DUP, "evidence": [-1]}, INC)
    text = client.get(address(cast, "predictions_csv"), {"state": "evidence_differs"}).content.decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["trace"] == "'=1+1"
    assert (row["step"], row["evidence"], row["gold_evidence"]) == ("[4,5]", "[-1]", "[2,3]")
    assert (row["same_type"], row["same_evidence"]) == ("true", "false")
    told = client.get(address(cast, "predictions_json")).json()
    assert told["counts"] == {"evidence_differs": 1, "not_gold": 1}
    assert [one["state"] for one in told["rows"]] == ["evidence_differs", "not_gold"]
    assert (told["run"], told["judge"], told["release"]) == (run.number, "juror", None)


def test_a_script_reads_the_same_by_pages(judged):
    cast, _, _, two = judged
    script = Script(cast.lea)
    root = f"projects/{cast.project.slug}/predictions/"
    page = script.get(f"{root}?limit=3").json()
    rest = script.get(f"{root}?limit=3&cursor={page['next']}").json()
    assert [row["state"] for row in page["rows"] + rest["rows"]] == ["exact", "type_differs", "not_gold", "missed"]
    assert rest["next"] is None
    assert [row["item"] for row in script.get(f"{root}?type=INC&state=missed").json()["rows"]] == [two.pk]
    assert script.get(f"{root}?run=99").status_code == 400
    assert script.get(f"{root}?state=fine").status_code == 400


def test_nobody_but_a_lead_sees_predictions(client, judged):
    cast, *_ = judged
    for who in (cast.ana, cast.ben):
        client.force_login(who.person)
        for name in ("list_predictions", "predictions_csv", "predictions_json"):
            assert client.get(address(cast, name)).status_code == 404
        assert Script(who).get(f"projects/{cast.project.slug}/predictions/").status_code == 404


def test_a_project_of_another_kind_has_no_such_page(client, db):
    cast = make_cast()
    client.force_login(cast.lea.person)
    assert client.get(address(cast)).status_code == 404
    assert Script(cast.lea).get(f"projects/{cast.project.slug}/predictions/").status_code == 404
