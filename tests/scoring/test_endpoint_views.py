"""A lead's pages of endpoints: made, changed, tried and archived in the browser, without a key in any of them."""

from types import SimpleNamespace

import pytest
from django.urls import reverse

from scoring.endpoint_keys import seal, unseal
from scoring.models import Endpoint
from tests import judge_server as judge
from tests.factories import make_cast, make_endpoint, make_project
from tests.judge_server import JudgeServer

pytestmark = pytest.mark.django_db

KEY = "sk-live-4f9b1c77d2a04e1b8c5d"
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def cast(client):
    cast = make_cast()
    client.force_login(cast.lea.person)
    return SimpleNamespace(project=cast.project, lea=cast.lea.person, ana=cast.ana.person, client=client)


def address(name, cast, *args):
    return reverse(f"scoring:{name}", args=[cast.project.slug, *args])


def typed(**changed):
    """The form as a browser sends it with its first values."""
    values = {"name": "small model", "provider": "openai", "address": "https://host.example/v1", "model": "small"}
    values |= {"temperature": "0.0", "max_output_tokens": "3000", "limit_field": "max_tokens", "thinking": ""}
    values |= {"thinking_form": "reasoning_effort", "seed": "", "key_source": "none", "key_variable": "", "key": ""}
    values |= {"price_in": "", "price_out": "", "concurrency": "4", "per_minute": "60"}
    return {**values, "deadline_seconds": "120", "most_bytes": "2000000", **changed}


def test_an_endpoint_is_made_and_changed_in_the_browser(cast):
    assert b"There is none yet" in cast.client.get(address("list_endpoints", cast)).content
    assert cast.client.get(address("new_endpoint", cast)).status_code == 200
    response = cast.client.post(
        address("new_endpoint", cast), typed(key_source="stored", key=KEY, thinking="no", price_in="0.25")
    )
    row = Endpoint.objects.get()
    assert response.headers["Location"] == address("show_endpoint", cast, row.pk)
    assert (row.thinking, str(row.price_in), unseal(row.key_sealed)) == (False, "0.2500", KEY)
    page = cast.client.get(response.headers["Location"]).content.decode()
    assert "A key is stored, encrypted." in page
    assert KEY not in page
    assert row.key_sealed not in page
    changed = typed(key_source="stored", model="larger", thinking="yes")
    assert cast.client.post(address("show_endpoint", cast, row.pk), changed).status_code == 302
    row.refresh_from_db()
    assert (row.model, row.thinking, row.price_in, unseal(row.key_sealed)) == ("larger", True, None, KEY)
    assert b"larger" in cast.client.get(address("list_endpoints", cast)).content


def test_what_is_refused_stands_at_its_field_and_what_was_typed_is_kept_but_for_the_key(cast):
    response = cast.client.post(
        address("new_endpoint", cast), typed(address="http://10.0.0.5/v1", key_source="stored", key=KEY)
    )
    page = response.content.decode()
    assert response.status_code == 422
    assert "have the operator add 10.0.0.5:80 to LLM_ALLOWED_HOSTS" in page
    assert "small model" in page
    assert KEY not in page
    response = cast.client.post(address("new_endpoint", cast), typed(concurrency="many", name=""))
    assert response.status_code == 422
    assert not Endpoint.objects.exists()


def test_a_key_of_the_environment_is_said_to_be_there_or_not(cast, monkeypatch):
    row = make_endpoint(cast.project, key_source="environment", key_variable="SIGHTLINE_LLM_KEY_LAB")
    place = address("show_endpoint", cast, row.pk)
    assert b"SIGHTLINE_LLM_KEY_LAB is not set on this server." in cast.client.get(place).content
    monkeypatch.setenv("SIGHTLINE_LLM_KEY_LAB", KEY)
    page = cast.client.get(place).content
    assert b"SIGHTLINE_LLM_KEY_LAB is set on this server." in page
    assert KEY.encode() not in page


@pytest.mark.parametrize("sent", [{}, HTMX], ids=["page", "piece"])
def test_trying_shows_the_answer_or_what_is_wrong(cast, settings, sent):
    script = judge.in_turn(judge.right(), judge.Act("tag", lambda asked: "<b>bold</b>"), judge.no_key())
    with JudgeServer(script) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        row = make_endpoint(cast.project, server, key_source="stored", key_sealed=seal(KEY))
        pages = [
            cast.client.post(address("try_endpoint", cast, row.pk), **sent).content.decode() for _ in range(3)
        ]
    assert "&quot;answer&quot;: &quot;ready&quot;" in pages[0]
    assert "&lt;b&gt;bold" in pages[1]
    assert "it does not take this one (status 401)" in pages[2].replace("&#x27;", "'")
    assert not any(KEY in page for page in pages)
    assert ("<html" in pages[0]) is (not sent)


def test_an_archived_one_leaves_the_list_and_has_no_page(cast):
    row = make_endpoint(cast.project, name="old one")
    assert cast.client.post(address("archive_endpoint", cast, row.pk)).status_code == 302
    assert cast.client.get(address("show_endpoint", cast, row.pk)).status_code == 404
    page = cast.client.get(address("list_endpoints", cast)).content.decode()
    assert "Archived" in page
    assert "old one" in page


def test_only_leads_of_the_project_see_any_of_it(cast):
    row, other = make_endpoint(cast.project), make_endpoint(make_project())
    assert cast.client.get(address("show_endpoint", cast, other.pk)).status_code == 404
    cast.client.force_login(cast.ana)
    for name, args in (("list_endpoints", []), ("new_endpoint", []), ("show_endpoint", [row.pk])):
        assert cast.client.get(address(name, cast, *args)).status_code == 404
        assert cast.client.post(address(name, cast, *args), typed()).status_code in (404, 405)


def test_the_list_takes_a_fixed_number_of_statements(cast, django_assert_num_queries):
    for _ in range(2):
        make_endpoint(cast.project)
    with django_assert_num_queries(5):
        cast.client.get(address("list_endpoints", cast))
    for _ in range(20):
        make_endpoint(cast.project)
    with django_assert_num_queries(5):
        cast.client.get(address("list_endpoints", cast))
