"""Releases by the API are those of the pages and the commands."""

import pytest
from django.core.cache import cache

from annotate.models import Release, Role
from scoring import comparing
from tests.annotate.api.asking import Script, codes
from tests.annotate.releases import VOTES, export, lines_of, make_voted, seal
from tests.factories import make_member

pytestmark = pytest.mark.django_db
RELEASES = "projects/ours/releases/"


@pytest.fixture
def voted(monkeypatch):
    cache.clear()
    monkeypatch.setattr(comparing, "N_RESAMPLES", 20)
    return make_voted(slug="ours")


@pytest.fixture
def lea(voted):
    return Script(make_member(voted, "lea", Role.LEAD, code="l1"))


def test_a_release_is_sealed_and_has_an_address(voted, lea):
    response = lea.post(RELEASES, {"rule": "consensus", "protocol": 1})
    release = Release.objects.get()
    assert response.status_code == 201
    assert response["Location"] == f"/api/v1/{RELEASES}1/"
    said = response.json()
    assert (said["number"], said["rule"], said["n_items"]) == (1, "consensus", 4)
    assert said["content_hash"] == release.content_hash
    whole = lea.get(response["Location"]).json()
    assert whole == {**said, "manifest": whole["manifest"]}
    assert whole["manifest"]["counts"]["unresolved"] == 3
    assert whole["manifest"]["sealed_by"] == "l1"


def test_without_a_word_it_is_the_majority_of_the_newest_protocol_with_labels(voted, lea):
    assert lea.post(RELEASES, {}).json()["rule"] == "majority"


def test_the_list_is_newest_first(voted, lea):
    for rule in ("majority", "consensus"):
        seal(voted, rule)
    page = lea.get(RELEASES + "?limit=1").json()
    assert [row["number"] for row in page["rows"]] == [2]
    assert [row["number"] for row in lea.get(f"{RELEASES}?cursor={page['next']}").json()["rows"]] == [1]


def test_its_items_are_the_lines_of_the_export_page_by_page(voted, lea, tmp_path):
    folder = export(seal(voted), tmp_path / "out")
    rows, cursor = [], ""
    while cursor is not None:
        page = lea.get(f"{RELEASES}1/items/?limit=3&cursor={cursor}").json()
        rows, cursor = rows + page["rows"], page["next"]
    assert rows == lines_of(folder / "labels.jsonl")
    assert len(rows) == len(VOTES)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"rule": "best"}, ("rule", "unknown_value")),
        ({"protocol": 9}, ("protocol", "unknown_protocol")),
        ({"protocol": "1"}, ("protocol", "wrong_type")),
        ({"agreement": {}}, ("agreement", "unknown_field")),
    ],
)
def test_a_wrong_body_is_named_and_nothing_is_sealed(voted, lea, body, expected):
    response = lea.post(RELEASES, body)
    assert 400 <= response.status_code < 500
    assert expected in codes(response)
    assert not Release.objects.exists()


def test_for_others_and_where_there_is_none_it_is_404(voted, lea):
    seal(voted)
    ana = Script(voted.memberships.get(code="a1"))
    assert ana.get(RELEASES).status_code == ana.get(f"{RELEASES}1/").status_code == 404
    assert ana.post(RELEASES, {}).status_code == 404
    assert lea.get(f"{RELEASES}2/").status_code == lea.get(f"{RELEASES}{10**20}/items/").status_code == 404
