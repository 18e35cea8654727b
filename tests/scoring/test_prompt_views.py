import pytest
from django.urls import reverse

from scoring.judges.prompts import SHIPPED
from scoring.models import Prompt, Run, Trial
from tests.factories import make_cast, make_endpoint, make_item, make_prompt, make_release, make_trace, make_trial

pytestmark = pytest.mark.django_db

KEY = "reader.questions"
TEXT = SHIPPED[KEY, "en"]


@pytest.fixture
def cast():
    return make_cast()


@pytest.fixture
def page(client, cast):
    client.force_login(cast.lea.person)
    return client


def at(cast, name, *rest):
    return reverse(f"scoring:{name}", args=[cast.project.slug, *rest])


def sealed(cast, n=6):
    trace = make_trace(cast.project, language="en")
    items = [make_item(trace=trace, text=f"Reply {number}.", cluster=f"c{number}") for number in range(n)]
    return items, make_release(cast.project, items)


def body(answer):
    return answer.content.decode()


def test_every_prompt_is_listed_with_the_shipped_version_before_anything_was_written(page, cast):
    said = body(page.get(at(cast, "list_prompts")))
    for key in ("reader.questions", "reader.answers", "checker"):
        for language in ("en", "zh"):
            assert at(cast, "show_prompt", key, language, 1) in said
    assert not Prompt.objects.exists()


def test_the_shipped_text_is_shown_and_starts_the_next_version(page, cast):
    assert "{{reply}}" in body(page.get(at(cast, "show_prompt", KEY, "en", 1)))
    said = page.get(at(cast, "write_prompt", KEY, "en"))
    assert said.context["text"] == TEXT


def test_a_new_version_is_kept_and_shown(page, cast):
    answer = page.post(at(cast, "write_prompt", KEY, "en"), {"text": TEXT + "Be brief.", "examples": ""})
    assert answer.status_code == 302
    assert answer.url == at(cast, "show_prompt", KEY, "en", 2)
    said = body(page.get(answer.url))
    assert "Be brief." in said
    assert Prompt.objects.get(number=2).sha256 in said
    assert "lea" in said


def test_what_is_wrong_is_said_by_name_and_the_text_is_kept(page, cast):
    text = TEXT.replace("{{reply}}", "{{replay}}")
    answer = page.post(at(cast, "write_prompt", KEY, "en"), {"text": text, "examples": "12"})
    assert answer.status_code == 422
    said = body(answer)
    assert "There is no {{replay}}." in said
    assert "The placeholder {{reply}}, which is missing." in said
    assert answer.context["text"] == text
    assert not Prompt.objects.filter(number=2).exists()


@pytest.mark.parametrize("examples", ["999999", "x", "1; drop", "9" * 30])
def test_examples_that_are_no_items_are_refused(page, cast, examples):
    answer = page.post(at(cast, "write_prompt", KEY, "en"), {"text": TEXT + "x", "examples": examples})
    assert answer.status_code == 422
    assert "Numbers of items of this project" in body(answer)


@pytest.mark.parametrize("rest", [("reader", "en"), (KEY, "fr"), ("reader.questions.en", "txt"), ("..", "en")])
def test_there_are_only_the_prompts_there_are(page, cast, rest):
    assert page.get(at(cast, "write_prompt", *rest)).status_code == 404
    assert page.get(at(cast, "show_prompt", *rest, 1)).status_code == 404
    assert page.get(at(cast, "show_prompt", KEY, "en", 7)).status_code == 404


def test_a_text_of_the_prompt_is_shown_as_text(page, cast):
    make_prompt(cast.project, 2, text="<script>alert(1)</script> {{reply}}")
    said = body(page.get(at(cast, "show_prompt", KEY, "en", 2)))
    assert "<script>alert" not in said
    assert "&lt;script&gt;alert" in said


def test_the_form_of_a_trial_says_what_is_missing_first(page, cast):
    url = at(cast, "list_prompts")
    assert "Write another version first." in body(page.get(url))
    make_prompt(cast.project, 2)
    assert "Seal a release first" in body(page.get(url))
    sealed(cast)
    assert "Set up where to ask a model first." in body(page.get(url))
    make_endpoint(cast.project, name="small")
    assert 'name="new"' in body(page.get(url))


def posted(**fields):
    given = {"new": f"{KEY} en 2", "old": f"{KEY} en 1", "endpoint": "small", "release": "1"}
    return {**given, "n_items": "4", "cap_calls": "50", **fields}


@pytest.fixture
def ready(cast):
    sealed(cast)
    make_prompt(cast.project, 2)
    make_endpoint(cast.project, name="small")


def test_a_trial_is_started_and_shown(page, cast, ready):
    answer = page.post(at(cast, "start_trial"), posted())
    assert answer.status_code == 302
    trial = Trial.objects.get()
    assert answer.url == at(cast, "show_trial", trial.number)
    said = body(page.get(answer.url))
    for run in (trial.run_old, trial.run_new):
        assert at(cast, "show_run", run.number) in said
    assert "version 2 beside version 1" in said
    assert at(cast, "show_trial", trial.number) in body(page.get(at(cast, "list_prompts")))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"old": f"{KEY} zh 1"}, "Two versions of one prompt"),
        ({"new": ""}, "Two versions of one prompt"),
        ({"new": f"{KEY} en 1"}, "Two different versions"),
        ({"n_items": "many"}, "A whole number from 2"),
        ({"release": "x"}, "A release of this project"),
        ({"endpoint": "x"}, "endpoint"),
        ({"cap_calls": ""}, "cap"),
        ({"new": "checker en 2", "old": "checker en 1"}, "A prompt of a judge that gives labels"),
    ],
)
def test_what_cannot_be_tried_is_said(page, cast, ready, fields, sentence):
    answer = page.post(at(cast, "start_trial"), posted(**fields))
    assert answer.status_code == 422
    assert sentence in body(answer)
    assert not Run.objects.exists()


def test_the_figures_of_a_trial_stand_beside_each_other(page, cast):
    items, release = sealed(cast)
    trial = make_trial(cast.project, release, items)
    answer = page.get(at(cast, "show_trial", trial.number))
    assert answer.context["figures"].n_compared == 6
    assert [side["share"].value for side in answer.context["sides"]] == ["1.00", "1.00"]
    assert page.get(at(cast, "show_trial", 9)).status_code == 404


def test_the_pages_take_the_same_statements_however_much_there_is(page, cast, django_assert_max_num_queries):
    items, release = sealed(cast, 30)
    for _ in range(3):
        trial = make_trial(cast.project, release, items)
    for number in range(3, 9):
        make_prompt(cast.project, number)
    with django_assert_max_num_queries(14):
        page.get(at(cast, "list_prompts"))
    with django_assert_max_num_queries(16):
        page.get(at(cast, "show_trial", trial.number))


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_nobody_else_sees_or_does_any_of_it(client, cast, ready, who):
    client.force_login(getattr(cast, who).person)
    for name, rest in (("list_prompts", ()), ("write_prompt", (KEY, "en")), ("show_prompt", (KEY, "en", 1))):
        assert client.get(at(cast, name, *rest)).status_code == 404
    assert client.post(at(cast, "write_prompt", KEY, "en"), {"text": TEXT + "x"}).status_code == 404
    assert client.post(at(cast, "start_trial"), posted()).status_code == 404
    assert not Run.objects.exists()
