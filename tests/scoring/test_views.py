"""The agreement page: the command's figures, for leads only."""

import csv
import html
import io
import re
from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.models import Membership, Person, Project
from scoring import comparing
from scoring.comparing import agreement_report
from scoring.models import Report
from scoring.words import shown
from tests.factories import (
    NOW,
    make_cast,
    make_item,
    make_member,
    make_round,
    make_run,
    make_submitted,
    make_trace,
    make_verdict,
)

pytestmark = pytest.mark.django_db
READABLE, FAILS = "readable", "unrepairable_or_no_answer"
COLD, WARM = 31, 15
"""Statements of the page where the report has to be computed, and where it is stored."""


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(comparing, "N_RESAMPLES", 200)


@pytest.fixture
def cast(db):
    cast = make_cast()
    for place in range(12):
        item = make_item(trace=make_trace(cast.project, cluster=f"task-{place // 2}"))
        make_submitted(cast.ana, item, FAILS if place % 3 == 0 else READABLE)
        make_submitted(cast.ben, item, FAILS if place % 4 == 0 else READABLE)
    return cast


def show(client, cast, who="lea", **query):
    client.force_login(getattr(cast, who).person)
    return client.get(reverse("scoring:show_agreement", args=[cast.project.slug]), query)


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def test_the_page_shows_the_figures_of_the_report_with_their_intervals(client, cast):
    text = words(show(client, cast))
    panel = agreement_report(cast.project).measures[0].panel
    for figure in (panel.percent_agreement, panel.fleiss_kappa, panel.krippendorff_alpha, panel.pairs[0].cohen_kappa):
        assert figure.interval is not None
        assert f"{shown(figure.value)} {shown(figure.interval.low)} to {shown(figure.interval.high)}" in text
    for title in ("fails or passes", "the three labels", "states no result or answer"):
        assert title in text
    assert "24 ratings of 12 items by 2 raters, in 6 clusters." in text
    assert f"seed {cast.project.seed}" in text
    assert "a1 · a2" in text
    assert "Everyone chose the same" in text  # nobody ticked "states no result"


def test_a_measure_that_cannot_be_estimated_says_why_in_place_of_a_number(client, cast):
    text = words(show(client, cast))
    assert "chance-corrected agreement cannot be estimated because there is no variation" in text
    assert "nan" not in text.lower().split()


def test_an_empty_project_has_a_page_too(client):
    text = words(show(client, make_cast()))
    assert "No ratings yet." in text
    assert "0 ratings of 0 items by 0 raters, in 0 clusters." in text


def test_the_pilot_is_headed_as_no_result(client, cast):
    assert "not a result" not in words(show(client, cast))
    assert "Pilot, not a result." in words(show(client, cast, phase="pilot"))


@pytest.mark.parametrize("phase", ["practice", "Main", "", "main'--"])
def test_a_phase_that_never_enters_is_404(client, cast, phase):
    assert show(client, cast, phase=phase).status_code == 404
    assert show(client, cast, phase="main").status_code == 200


@pytest.mark.parametrize("who", ["ana", "ben", "rita", "zoe"])
def test_for_everybody_else_the_page_is_not_there(client, cast, who):
    response = show(client, cast, who)
    missing = client.get(reverse("scoring:show_agreement", args=["no-such-project"]))
    assert (response.status_code, response.content) == (404, missing.content)


def test_a_lead_who_left_sees_no_figures_any_more(client, cast):
    Membership.objects.filter(pk=cast.lea.pk).update(left_at=NOW)
    assert show(client, cast).status_code == 404


def test_synthetic_labels_and_an_open_lead_are_said(client, cast):
    text = words(show(client, cast))
    assert "synthetic" not in text
    assert "open lead" not in text
    Project.objects.update(is_synthetic=True, open_lead=True)
    text = words(show(client, cast, measure="fail"))  # nothing is stored of this one yet
    assert "Demo: these figures rest on synthetic labels. They say nothing about people." in text
    assert "A lead labels in this project (open lead)." in text


def test_what_was_left_out_is_counted(client, cast):
    assert "Left out before any figure: 0 items reported as problems; practice; known answers." in words(
        show(client, cast)
    )


def test_a_project_whose_rows_make_no_table_says_so_in_place_of_figures(client, cast):
    make_submitted(cast.ana, cast.project.items.first(), FAILS, round=make_round(cast.project, closed_at=NOW))
    response = show(client, cast)
    assert response.status_code == 409
    assert "a1 has a current label of item" in words(response)
    assert "Left out before" not in words(response)


def test_the_page_answers_in_chinese(client, cast):
    Person.objects.filter(pk=cast.lea.person_id).update(interface_language="zh-hans")
    response = show(client, cast)
    assert (response.status_code, response["Content-Language"]) == (200, "zh-hans")
    assert cast.project.title_zh in words(response)


@pytest.mark.parametrize("more", [0, 30])
def test_the_page_takes_as_many_statements_whatever_there_is(client, cast, django_assert_num_queries, more):
    for _ in range(more):
        make_submitted(cast.ana)
    client.force_login(cast.lea.person)
    address = reverse("scoring:show_agreement", args=[cast.project.slug])
    with django_assert_num_queries(COLD):
        client.get(address)
    with django_assert_num_queries(WARM):
        client.get(address)


# The judge beside people, charts, files


@pytest.fixture
def judged(cast):
    """Three people and a judge: 12 items, on which the judge passes all but the first."""
    cleo = make_member(cast.project, "cleo")
    items = list(cast.project.items.order_by("pk"))
    for place, item in enumerate(items):
        make_submitted(cleo, item, FAILS if place < 4 else READABLE)
    run = make_run(cast.project)
    for place, item in enumerate(items):
        make_verdict(run, item, READABLE if place else FAILS)
    return SimpleNamespace(cast=cast, items=items, run=run)


def links_of(response, pattern):
    return [html.unescape(found) for found in re.findall(rf'href="([^"]*{pattern}[^"]*)"', response.content.decode())]


def test_people_judge_and_panel_stand_on_one_axis(client, judged):
    page = show(client, judged.cast, measure="fail").content.decode()
    (chart,) = re.findall(r'<figure class="axis">.*?</figure>', page, re.DOTALL)
    assert re.findall(r'<text class="axis-name"[^>]*>([^<]*)<', chart) == ["a1", "a2", "a5", "judge", "panel"]
    assert [chart.count(f"axis-row is-{shape}") for shape in ("dot", "diamond", "square")] == [3, 1, 1]
    assert "style=" not in page
    report = agreement_report(judged.cast.project, measure="fail").measures[0]
    for name, figure in (("judge", report.judge.kappa), ("panel", report.panel.fleiss_kappa)):
        assert f'aria-label="{name}: {shown(figure.value)}' in chart
    assert chart.count("axis-whisker") + chart.count("interval shown</li>") == 5


def test_what_is_undefined_is_a_sentence_beside_the_axis(client, judged):
    page = show(client, judged.cast, measure="no_result").content.decode()
    assert "axis-marker" not in page
    assert "a1</a>: Everyone chose the same" in page


def test_every_figure_leads_to_as_many_items_as_it_says(client, judged):
    page = show(client, judged.cast, measure="fail")
    cells = re.findall(
        r'<td class="number heat-\d[^"]*"><a href="([^"]*)">(\d+)</a>', page.content.decode()
    )
    assert cells
    for address, n in cells:
        text = words(client.get(html.unescape(address)))
        assert re.search(rf"· {n} items?\b", text), address
    for address in {*links_of(page, "agreement/items/")}:
        assert client.get(address).status_code == 200, address


def test_links_name_the_run_and_protocol_the_figures_rest_on(client, judged):
    for address in links_of(show(client, judged.cast), "agreement/items/"):
        assert "protocol=1" in address
        assert f"run={judged.run.number}" in address


def test_filters_stand_in_the_address_and_in_the_form(client, judged):
    other = make_item(trace=make_trace(judged.cast.project, cluster="task-9", language="zh"))
    make_submitted(judged.cast.ana, other)
    response = show(client, judged.cast, language="zh", measure="fail")
    page = response.content.decode()
    assert '<option selected>zh</option>' in page
    assert '<option value="fail" selected>' in page
    assert "1 ratings of 1 items" in words(response)
    for address in links_of(response, "agreement/items/"):
        assert "language=zh" in address


@pytest.mark.parametrize("query", [{"run": "7"}, {"cluster": "nowhere"}, {"measure": "Fail"}, {"protocol": "9"}])
def test_a_filter_that_is_not_there_is_said_above_the_form_which_stays(client, judged, query):
    response = show(client, judged.cast, **query)
    assert response.status_code == 409
    assert b'role="alert"' in response.content
    assert b'<select id="filter-phase"' in response.content


@pytest.mark.parametrize("query", [{"run": "x"}, {"protocol": "-1"}, {"run": "9" * 30}])
def test_a_number_that_is_none_is_404(client, judged, query):
    assert show(client, judged.cast, **query).status_code == 404


def test_an_empty_field_of_the_form_asks_for_nothing(client, judged):
    empty = dict.fromkeys(("measure", "protocol", "run", "language", "area", "cluster"), "")
    assert show(client, judged.cast, **empty).status_code == 200


def test_without_labels_a_second_rater_or_a_run_the_page_says_what_to_do(client):
    cast = make_cast()
    text = words(show(client, cast))
    assert "No ratings yet. Figures stand here once two people have labelled an item. What to do next" in text
    assert "No judge has judged this phase yet. Start a run" in text
    make_submitted(cast.ana)
    assert "Needs a second rater. Make a link for somebody" in words(show(client, cast, measure="fail"))


def test_the_report_says_its_number_and_when_it_was_computed(client, judged):
    text = words(show(client, judged.cast))
    row = Report.objects.get()
    assert f"Report {row.pk}, version {row.version} of the figures, computed" in text
    assert row.settings_hash in text
    show(client, judged.cast)
    assert Report.objects.count() == 1


def read_csv(response):
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def file_of(client, cast, **query):
    client.force_login(cast.lea.person)
    return client.get(reverse("scoring:agreement_csv", args=[cast.project.slug]), query)


def test_the_file_beside_the_axis_has_its_figures(client, judged):
    response = file_of(client, judged.cast, measure="fail")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    rows = read_csv(response)
    panel = agreement_report(judged.cast.project, measure="fail").measures[0].panel
    (fleiss,) = [row for row in rows if row["statistic"] == "fleiss_kappa"]
    assert float(fleiss["value"]) == pytest.approx(panel.fleiss_kappa.value)
    assert float(fleiss["low"]) == pytest.approx(panel.fleiss_kappa.interval.low)
    assert {row["who"] for row in rows} >= {"a1", "a2", "a5", "panel", f"judge: lexical, run {judged.run.number}"}


def test_the_file_beside_the_confusion_table_has_its_cells(client, judged):
    rows = read_csv(file_of(client, judged.cast, measure="fail", chart="confusion"))
    assert sum(int(row["n_items"]) for row in rows) == 12
    assert {(row["majority"], row["judge"]) for row in rows} == {
        (one, other) for one in ("pass", "fail") for other in ("pass", "fail")
    }


def test_no_cell_of_a_file_runs_in_a_spreadsheet(client, cast):
    Membership.objects.filter(pk=cast.ana.pk).update(code="=1+1")
    rows = read_csv(file_of(client, cast))
    assert "'=1+1" in {row["who"] for row in rows}
    assert not [cell for row in rows for cell in row.values() if cell[:1] in ("=", "+", "@")]


@pytest.mark.parametrize("query", [{"chart": "pie"}, {"run": "7"}, {"phase": "practice"}])
def test_a_file_that_is_not_there_is_404(client, judged, query):
    assert file_of(client, judged.cast, **query).status_code == 404
