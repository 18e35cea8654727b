import io
import zipfile

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import exporting
from annotate.models import Release, Role
from annotate.releasing import import_release
from tests.annotate.releases import VOTES, bytes_of, export, make_voted, seal
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def voted():
    return make_voted(slug="ours")


@pytest.fixture
def lea(voted, client):
    """The lead, signed in."""
    member = make_member(voted, "lea", Role.LEAD, code="l1")
    client.force_login(member.person)
    return client


def address(name, *arguments, query=""):
    return reverse(f"scoring:{name}", args=["ours", *arguments]) + query


def text_of(response):
    return response.content.decode()


def test_the_list_says_what_a_release_is_and_offers_rules_and_protocols(voted, lea):
    said = text_of(lea.get(address("list_releases")))
    assert "Protocol 1: 11 labels" in said
    assert said.count('type="radio" name="rule"') == 3
    assert "Seal it" not in said


def test_what_a_release_would_hold_is_shown_before_it_is_sealed(voted, lea):
    said = " ".join(text_of(lea.get(address("list_releases", query="?rule=consensus&protocol=1"))).split())
    for words in ("<dt>items with a label</dt><dd>1</dd>", "<dt>unresolved</dt><dd>3</dd>", "Seal it"):
        assert words in said
    assert not Release.objects.exists()


def test_sealing_leads_to_the_release_with_its_data_card(voted, lea):
    response = lea.post(address("seal_release"), {"rule": "majority", "protocol": "1"}, follow=True)
    release = Release.objects.get()
    assert response.redirect_chain == [(address("show_release", 1), 302)]
    said = text_of(response)
    assert release.content_hash in said
    assert "What is not in it, and why" in said
    assert "Fleiss&#x27; kappa" in said or "Fleiss' kappa" in said
    assert (release.person.username, release.protocol.number) == ("lea", 1)
    assert release.content_hash[:12] in text_of(lea.get(address("list_releases")))


@pytest.mark.parametrize(
    "post", [{}, {"rule": "best"}, *({"rule": "majority", "protocol": number} for number in "9x")], ids=repr
)
def test_what_cannot_be_sealed_is_said_where_it_was_asked(voted, lea, post):
    response = lea.post(address("seal_release"), post)
    assert response.status_code == 422
    assert "One of:" in text_of(response)
    assert not Release.objects.exists()


@pytest.mark.parametrize("query", ["?rule=best", "?rule=majority&protocol=9", "?rule=majority&protocol=x"])
def test_what_cannot_be_looked_at_is_said(voted, lea, query):
    response = lea.get(address("list_releases", query=query))
    assert response.status_code == 409
    assert "One of:" in text_of(response)


def test_every_file_comes_as_it_is_exported(voted, lea, tmp_path):
    folder = export(seal(voted), tmp_path / "out")
    for name, data in bytes_of(folder).items():
        if name == "files.json":
            continue
        response = lea.get(address("release_file", 1, name))
        assert b"".join(response) == data, name
        assert response["Content-Disposition"] == f'attachment; filename="ours-1-{name}"'
        assert response["Cache-Control"] == "no-store"


def test_all_files_come_as_one_zip(voted, lea, monkeypatch):
    monkeypatch.setattr(exporting, "has_parquet", lambda: False)
    seal(voted)
    with zipfile.ZipFile(io.BytesIO(b"".join(lea.get(address("release_file", 1, "release.zip"))))) as file:
        assert {"release.json", "files.json", "labels.csv", "datacard.zh.md"} <= set(file.namelist())


def test_parquet_without_its_extra_says_what_to_install(voted, lea, monkeypatch):
    monkeypatch.setattr(exporting, "has_parquet", lambda: False)
    seal(voted)
    assert "./run setup --extra parquet" in text_of(lea.get(address("show_release", 1)))
    response = lea.get(address("release_file", 1, "labels.parquet"))
    assert response.status_code == 409
    assert "./run setup --extra parquet" in text_of(response)


def test_a_release_that_does_not_come_out_as_sealed_is_not_handed_out(voted, lea):
    seal(voted)
    voted.items.first().trace.messages.filter(index=1).update(text="Forged.")
    response = lea.get(address("release_file", 1, "labels.csv"))
    assert response.status_code == 409
    assert "as it was sealed" in text_of(response)


@pytest.mark.parametrize("arguments", [(2,), (10**20,), (1, "secret-key"), (2, "labels.csv")])
def test_what_there_is_not_is_404(voted, lea, arguments):
    seal(voted)
    name = "release_file" if len(arguments) == 2 else "show_release"
    assert lea.get(address(name, *arguments)).status_code == 404


@pytest.mark.parametrize("who", ["a1", "other"])
def test_who_does_not_lead_the_project_sees_none_of_it(voted, client, who):
    seal(voted)
    other = make_member(make_project(), "zoe", Role.LEAD)
    client.force_login((other if who == "other" else voted.memberships.get(code=who)).person)
    for path in (address("list_releases"), address("show_release", 1), address("release_file", 1, "labels.csv")):
        assert client.get(path).status_code == 404
    assert client.post(address("seal_release"), {"rule": "majority"}).status_code == 404
    assert Release.objects.count() == 1


def test_an_imported_release_says_so_and_the_card_is_in_the_readers_language(voted, lea, tmp_path):
    folder = export(seal(voted), tmp_path / "out")
    release = import_release(person=None, project=voted, folder=folder).release
    assert "sealed elsewhere and brought in" in text_of(lea.get(address("show_release", release.number)))
    said = text_of(lea.get(address("show_release", release.number), headers={"Accept-Language": "zh-hans"}))
    assert voted.title_zh in said


def test_a_synthetic_project_says_so_on_both_pages(lea, voted):
    voted.is_synthetic = True
    voted.save(update_fields=["is_synthetic"])
    seal(voted)
    for path in (address("list_releases"), address("show_release", 1)):
        assert "the labels in this project are synthetic" in text_of(lea.get(path))


def test_pages_take_a_fixed_number_of_statements(client):
    counts = []
    for place, names in enumerate([("one",), tuple(VOTES)]):
        project = make_voted(names, slug=f"project-of-{place}")
        lead = make_member(project, f"lead-{place}", Role.LEAD)
        client.force_login(lead.person)
        seal(project)
        found = []
        for name, arguments in (("list_releases", []), ("show_release", [1])):
            with CaptureQueriesContext(connection) as asked:
                client.get(reverse(f"scoring:{name}", args=[project.slug, *arguments]))
            found.append(len(asked))
        counts.append(found)
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 8
