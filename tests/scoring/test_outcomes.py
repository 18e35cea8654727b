"""Outcomes of experience replays come in whole or not at all, from the command, the page and the API."""

import json
from io import StringIO

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from annotate.errors import NotYours, Refused
from annotate.models import Event
from scoring.experience import BroughtIn, import_outcomes, in_text
from scoring.methods.records import RecordsRefused
from scoring.models import Outcome, OutcomeBatch
from tests.annotate.api.asking import Script
from tests.factories import make_cast, make_project

pytestmark = pytest.mark.django_db
NAMES = ("domain", "task", "repeat", "condition", "success", "tokens")


@pytest.fixture
def cast(db):
    cache.clear()
    return make_cast(kind="redundancy", seed=11)


def outcome(task="1", repeat=1, condition="none", **told):
    values = {"domain": "airline", "task": task, "repeat": repeat, "condition": condition}
    return {**values, "success": True, "tokens": 90, **told}


def lines(*outcomes):
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in outcomes)


def bring(project, text, person=None, name="replays.jsonl"):
    return import_outcomes(person=person, project=project, documents=in_text(text, name), file_name=name)


def refusals(project, text):
    """Code, line and field of what is wrong; and nothing of the file is there."""
    before = list(Outcome.objects.order_by("pk").values())
    n_events = Event.objects.count()
    with pytest.raises(RecordsRefused) as refused:
        bring(project, text)
    assert list(Outcome.objects.order_by("pk").values()) == before
    assert Event.objects.count() == n_events
    for one in refused.value.problems:
        assert one.expected
        assert one.remedy
    return [(one.code, one.line, one.field) for one in refused.value.problems]


def test_json_lines_are_brought_in_with_who_and_when(cast):
    about = {"record": "about", "text": "Made up for a test.", "synthetic": True}
    text = lines(about, outcome(), {"record": "outcome", **outcome(condition="gold", success=False, tokens=81.5)})
    assert bring(cast.project, text, cast.lea.person) == BroughtIn(2, 0)
    batch = OutcomeBatch.objects.get()
    assert (batch.person, batch.file_name, batch.n_outcomes) == (cast.lea.person, "replays.jsonl", 2)
    assert (batch.about, batch.is_synthetic) == ("Made up for a test.", True)
    found = Outcome.objects.order_by("condition").values_list(*NAMES, "project", "batch")
    assert list(found) == [
        ("airline", "1", 1, "gold", False, 81.5, cast.project.pk, batch.pk),
        ("airline", "1", 1, "none", True, 90.0, cast.project.pk, batch.pk),
    ]
    event = cast.project.events.get(action="outcomes_imported")
    assert event.detail == {"file": "replays.jsonl", "n_new": 2, "n_present": 0}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_is_read_alike(cast, separator):
    rows = [NAMES, ("零售", "7", "2", "llm", "False", "1e3"), ("airline", "1", "1", "none", "1", "90")]
    assert bring(cast.project, "\ufeff" + "\r\n".join(map(separator.join, rows))) == BroughtIn(2, 0)
    found = set(Outcome.objects.values_list(*NAMES))
    assert found == {("零售", "7", 2, "llm", False, 1000.0), ("airline", "1", 1, "none", True, 90.0)}


def test_the_same_file_again_adds_nothing_and_a_longer_one_what_is_new(cast):
    first = [outcome(), outcome(repeat=2)]
    bring(cast.project, lines(*first))
    assert bring(cast.project, lines(*first)) == BroughtIn(0, 2)
    assert OutcomeBatch.objects.count() == 1
    assert bring(cast.project, lines(*first, outcome(repeat=3))) == BroughtIn(1, 2)
    assert list(OutcomeBatch.objects.order_by("pk").values_list("n_outcomes", flat=True)) == [2, 1]


def test_what_contradicts_an_outcome_that_is_there_is_refused_with_all_of_its_file(cast):
    bring(cast.project, lines(outcome(), outcome(repeat=2)))
    said = lines(outcome(task="new"), outcome(tokens=91), outcome(repeat=2, success=False, tokens=1))
    assert refusals(cast.project, said) == [
        ("contradicts", 2, "tokens"), ("contradicts", 3, "success"), ("contradicts", 3, "tokens"),
    ]  # fmt: skip
    with pytest.raises(RecordsRefused) as refused:
        bring(cast.project, said)
    assert refused.value.problems[0].as_dict()["expected"] == (
        "90, as brought in earlier for airline, task 1, repeat 1, condition none."
    )


def test_outcomes_of_another_project_contradict_nothing(cast):
    bring(cast.project, lines(outcome()))
    other = make_project("other", kind="redundancy")
    assert bring(other, lines(outcome(tokens=7))) == BroughtIn(1, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("empty_file", None, "")),
        ("maybe later", ("unsupported_type", None, "")),
        (lines({"record": "about", "text": "Nothing yet."}), ("no_outcomes", None, "")),
        (lines(outcome(), outcome()), ("duplicate_record", 2, "condition")),
        (lines(outcome(), outcome(repeat=True)), ("wrong_type", 2, "repeat")),
        (lines(outcome(repeat="1")), ("wrong_type", 1, "repeat")),
        (lines(outcome(repeat=-1)), ("out_of_range", 1, "repeat")),
        (lines(outcome(success="yes")), ("wrong_type", 1, "success")),
        (lines(outcome(tokens=-1)), ("out_of_range", 1, "tokens")),
        (lines(outcome(tokens=10**16)), ("out_of_range", 1, "tokens")),
        (lines(outcome(tokens=None)), ("missing_field", 1, "tokens")),
        (lines(outcome(condition=" ")), ("empty_text", 1, "condition")),
        (lines(outcome(task="x" * 256)), ("bad_record", 1, "task")),
        (lines(outcome(token=1)), ("unknown_field", 1, "token")),
        (lines({"record": "gold", "trajectory": "1", "steps": []}), ("unknown_record", 1, "record")),
        (lines(outcome()).replace("airline", "air\\u0000line"), ("nul_character", 1, "domain")),
        (lines(outcome()).replace("90", "NaN"), None),
        ("domain,task,repeat,condition,success,tokens\na,1,one,none,true,9", ("wrong_type", 2, "repeat")),
        ("domain,task,repeat,condition,success,tokens\na,1,1,none,maybe,9", ("wrong_type", 2, "success")),
        ("domain,task,repeat,condition,success,tokens\na,1,1,none,true,", ("missing_field", 2, "tokens")),
        ("domain,task,repeat,condition,success,tokens\na,1,1,none,true,1e999", ("out_of_range", 2, "tokens")),
        ("domain,task,repeat,condition,success\na,1,1,none,true", ("missing_field", 2, "tokens")),
        ("domain,task,repeat,condition,success,tokens\na,1,1,none,true,9\nb", None),
    ],
)
def test_a_bad_file_is_refused_by_line_and_field_and_nothing_of_it_stays(cast, text, expected):
    found = refusals(cast.project, text)
    assert found if expected is None else found == [expected]


def test_everything_that_is_wrong_is_named_up_to_a_bound(cast):
    assert len(refusals(cast.project, lines(*(outcome(repeat=-1) for _ in range(200))))) == 51


def test_only_leads_of_a_project_of_redundant_steps_bring_outcomes_in(cast):
    with pytest.raises(NotYours):
        bring(cast.project, lines(outcome()), cast.ana.person)
    assert not Outcome.objects.exists()


def test_a_project_of_another_kind_has_no_outcomes(db):
    cast = make_cast(kind="reply")
    with pytest.raises(Refused) as refused:
        bring(cast.project, lines(outcome()))
    assert refused.value.problem.code == "other_kind"


def test_a_large_file_takes_as_many_statements_as_a_small_one(cast, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        bring(cast.project, lines(*(outcome(repeat=number) for number in range(400))))


# The command


def said(*words):
    out, err = StringIO(), StringIO()
    code = 0
    try:
        call_command(*words, stdout=out, stderr=err)
    except SystemExit as end:
        code = end.code
    return code, out.getvalue(), err.getvalue()


def test_the_command_brings_a_file_in_or_says_what_is_wrong(cast, tmp_path):
    file = tmp_path / "replays.csv"
    file.write_text("domain,task,repeat,condition,success,tokens\nairline,1,1,none,true,90\n", encoding="utf-8")
    code, out, _ = said("import_outcomes", cast.project.slug, str(file), "--json")
    assert (code, json.loads(out)) == (0, {"project": cast.project.slug, "file": "replays.csv", "new": 1, "present": 0})
    assert said("import_outcomes", cast.project.slug, str(file))[:2] == (
        0, f"Outcomes brought into {cast.project.slug}: 0; there already: 1.\n",
    )  # fmt: skip
    file.write_text("domain,task,repeat,condition,success,tokens\nairline,1,x,none,true,90\n", encoding="utf-8")
    code, out, err = said("import_outcomes", cast.project.slug, str(file))
    assert (code, out) == (1, "")
    assert "replays.csv line 2" in err
    assert "A whole number." in err
    assert said("import_outcomes", cast.project.slug, str(tmp_path / "no.csv"))[0] == 1


# The page


def test_the_page_takes_a_pasted_text_and_lists_what_is_there(cast, client):
    client.force_login(cast.lea.person)
    place = reverse("scoring:show_experience", args=[cast.project.slug])
    assert "No outcomes have been brought in yet." in client.get(place).content.decode()
    post = reverse("scoring:import_outcomes", args=[cast.project.slug])
    answer = client.post(post, {"outcomes": lines(outcome(), outcome(repeat=2)), "name": "Our <agents>"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Outcomes brought in: 2. There already: 0." in page
    assert "Our &lt;agents&gt;" in page
    runs = client.get(reverse("scoring:list_runs", args=[cast.project.slug])).content.decode()
    assert place in runs


def test_the_page_says_what_is_wrong_and_keeps_what_was_typed(cast, client):
    client.force_login(cast.lea.person)
    post = reverse("scoring:import_outcomes", args=[cast.project.slug])
    answer = client.post(post, {"outcomes": lines(outcome(), outcome(tokens=-3)), "name": "Ours"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Line 2:" in page
    assert "<code>tokens</code> A number from 0 to" in page
    assert "-3" in page
    assert 'value="Ours"' in page
    assert not Outcome.objects.exists()


def test_the_page_is_for_leads_of_this_kind_alone(cast, client):
    client.force_login(cast.ana.person)
    for name, args in (("show_experience", ()), ("workflows_file", (1,))):
        assert client.get(reverse(f"scoring:{name}", args=[cast.project.slug, *args])).status_code == 404
    post = reverse("scoring:import_outcomes", args=[cast.project.slug])
    assert client.post(post, {"outcomes": lines(outcome())}).status_code == 404
    assert not Outcome.objects.exists()


def test_a_project_of_replies_has_no_such_page(client):
    cast = make_cast(kind="reply")
    client.force_login(cast.lea.person)
    assert client.get(reverse("scoring:show_experience", args=[cast.project.slug])).status_code == 404
    assert Script(cast.lea).get(f"projects/{cast.project.slug}/outcomes/").status_code == 404


# The API


def test_the_api_brings_outcomes_in_and_lists_their_files(cast):
    script, place = Script(cast.lea), f"projects/{cast.project.slug}/outcomes/"
    answer = script.post(place, {"outcomes": [outcome(), outcome(repeat=2)], "name": "lab"})
    assert (answer.status_code, answer.json()) == (201, {"n_new": 2, "n_present": 0})
    assert script.post(place, {"outcomes": [outcome()]}).json() == {"n_new": 0, "n_present": 1}
    (row,) = script.get(place).json()["rows"]
    assert (row["name"], row["n_outcomes"], row["is_synthetic"], row["about"]) == ("lab", 2, False, "")


def test_the_api_names_what_is_wrong_by_pointer(cast):
    script, place = Script(cast.lea), f"projects/{cast.project.slug}/outcomes/"
    for body, pointer in (
        ({"outcomes": [outcome(), outcome(tokens="9")]}, "/outcomes/1/tokens"),
        ({"outcomes": []}, "/outcomes"),
        ({"outcomes": [1]}, "/outcomes/0"),
        ({}, "/outcomes"),
    ):
        answer = script.post(place, body)
        assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (422, pointer)
    assert Script(cast.ana).post(place, {"outcomes": [outcome()]}).status_code in (403, 404)
    assert not Outcome.objects.exists()
