"""Endpoints from a shell; the key comes from the environment or from standard input, never from the command line."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from scoring.endpoint_keys import unseal
from scoring.models import Endpoint
from tests import judge_server as judge
from tests.factories import make_project
from tests.judge_server import JudgeServer

pytestmark = pytest.mark.django_db

KEY = "sk-live-4f9b1c77d2a04e1b8c5d"
WHERE = ("--address", "https://host.example/v1", "--model", "small")


@pytest.fixture
def call(capsys):
    project = make_project()

    def called(*words):
        call_command("set_endpoint", project.slug, *words, "--json")
        return json.loads(capsys.readouterr().out)

    called.project, called.capsys = project, capsys
    return called


def test_an_endpoint_is_made_and_then_changed_by_what_is_said(call):
    said = call("lab", *WHERE, "--seed", "7", "--price-in", "0.25", "--thinking", "no", "--knows-schema", "yes")
    assert said == {"project": call.project.slug, "endpoint": "lab", "is_new": True}
    assert call("lab", "--model", "larger", "--key-variable", "SIGHTLINE_LLM_KEY_LAB")["is_new"] is False
    row = Endpoint.objects.get()
    assert (row.model, row.seed, row.thinking, row.knows_schema) == ("larger", 7, False, True)
    assert (row.key_source, row.key_variable, str(row.price_in)) == ("environment", "SIGHTLINE_LLM_KEY_LAB", "0.2500")


def test_the_key_is_read_from_standard_input(call, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    call("lab", *WHERE, "--key-from-input")
    assert unseal(Endpoint.objects.get().key_sealed) == KEY
    call("lab", "--model", "larger")
    assert unseal(Endpoint.objects.get().key_sealed) == KEY


def test_it_is_tried_and_says_what_was_answered_or_is_wrong(call, settings):
    with JudgeServer(judge.in_turn(judge.right(), judge.down())) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        said = call("lab", "--address", server.url, "--model", "small", "--try")
        assert said["answer"] == '{"answer": "ready"}'
        with pytest.raises(SystemExit):
            call("lab", "--try")
    assert json.loads(call.capsys.readouterr().out)["problems"][0]["code"] == "endpoint_down"


def test_what_does_not_go_is_refused(call):
    with pytest.raises(SystemExit):
        call("lab", "--address", "http://10.0.0.5/v1", "--model", "small")
    assert json.loads(call.capsys.readouterr().out)["problems"][0]["code"] == "address_not_allowed"
    with pytest.raises(CommandError, match="not both"):
        call("lab", *WHERE, "--key-from-input", "--key-variable", "SIGHTLINE_LLM_KEY")
    assert not Endpoint.objects.exists()
