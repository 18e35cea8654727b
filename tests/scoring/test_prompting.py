import pytest

from annotate.errors import NotYours, Refused
from annotate.models import Event, ReleaseItem
from scoring import prompting, report_queries, running
from scoring.asking import Cap
from scoring.judges.prompts import SHIPPED
from scoring.models import Prompt, Run, Trial
from scoring.prompting import PromptRefused
from tests.factories import make_cast, make_endpoint, make_item, make_release, make_trace, make_verdict

pytestmark = pytest.mark.django_db

KEY = "reader.questions"
TEXT = SHIPPED[KEY, "en"]
OTHER = TEXT.replace("normal pace", "slow pace")
TELLING = "The level of the well on the hill falls by a fifth each day."


@pytest.fixture
def cast():
    return make_cast()


def written(cast, text=OTHER, **fields):
    given = {"person": cast.lea.person, "project": cast.project, "key": KEY, "language": "en", "text": text}
    return prompting.write_prompt(**{**given, **fields})


def sealed(cast, n=6, **fields):
    trace = make_trace(cast.project, language="en", cluster="a")
    items = [make_item(trace=trace, text=f"Reply {number}.", cluster=f"c{number // 2}") for number in range(n)]
    return items, make_release(cast.project, items, **fields)


def add_to(release, item):
    values = {"position": 99, "item_hash": "f" * 64, "label": {"label": "readable"}, "how": "consensus"}
    ReleaseItem.objects.create(release=release, item=item, **values)


def started(cast, **fields):
    given = {"person": cast.lea.person, "project": cast.project, "key": KEY, "language": "en"}
    given |= {"new": 2, "old": 1, "cap": Cap(calls=100), "n_items": 4, "seed": 7}
    if "endpoint" not in fields:
        fields["endpoint"] = make_endpoint(cast.project)
    return prompting.start_trial(**{**given, **fields})


def code_of(refusal):
    return refusal.value.problem.code


# Versions


def test_the_first_text_somebody_writes_is_number_2_behind_the_shipped_one(cast):
    prompt = written(cast)
    assert (prompt.number, prompt.text, len(prompt.sha256)) == (2, OTHER, 64)
    first = Prompt.objects.get(project=cast.project, key=KEY, language="en", number=1)
    assert (first.text, first.person) == (TEXT, None)
    assert written(cast, TEXT).number == 3
    event = Event.objects.filter(action="prompt_written").first()
    assert event.detail == {"prompt": KEY, "language": "en", "number": 2}


def test_what_a_page_does_to_line_ends_makes_no_other_text(cast):
    with pytest.raises(PromptRefused) as refused:
        written(cast, TEXT.replace("\n", "\r\n") + "\r\n")
    assert code_of(refused) == "same_text"
    assert not Prompt.objects.filter(project=cast.project, number=2).exists()


def test_unknown_and_missing_placeholders_are_refused_by_name(cast):
    with pytest.raises(PromptRefused) as refused:
        written(cast, TEXT.replace("{{reply}}", "{{replay}}"))
    assert [(one.code, one.params["name"]) for one in refused.value.problems] == [
        ("unknown_placeholder", "{{replay}}"),
        ("missing_placeholder", "{{reply}}"),
    ]
    assert not Prompt.objects.filter(project=cast.project).exists()


@pytest.mark.parametrize("fields", [{"key": "reader"}, {"language": "fr"}, {"key": "../x"}])
def test_a_prompt_that_there_is_not_is_refused(cast, fields):
    with pytest.raises(Refused) as refused:
        written(cast, **fields)
    assert code_of(refused) == "unknown_prompt"


def test_who_does_not_lead_the_project_writes_nothing(cast):
    for member in (cast.ana, cast.rita, cast.zoe):
        with pytest.raises(NotYours):
            written(cast, person=member.person)
    assert not Prompt.objects.exists()


def test_examples_have_to_be_items_of_the_project(cast):
    item, foreign = make_item(cast.project), make_item(cast.other_project)
    assert written(cast, examples=[item.pk, item.pk]).examples == [item.pk]
    for examples in ([foreign.pk], [10**15], [item.pk, *range(10**6, 10**6 + 101)]):
        with pytest.raises(PromptRefused) as refused:
            written(cast, TEXT + "more", examples=examples)
        assert code_of(refused) == "unknown_item"


def test_texts_are_found_by_number_and_the_shipped_one_from_the_start(cast):
    assert prompting.text_of(cast.project, KEY, "zh") == prompting.text_of(cast.project, KEY, "zh", 1)
    written(cast)
    assert prompting.text_of(cast.project, KEY, "en") == OTHER
    assert prompting.text_of(cast.project, KEY, "en", 1) == TEXT
    assert prompting.text_of(cast.project, KEY, "en", 9) is None


# Trials


def test_a_trial_runs_both_versions_over_the_same_sealed_items(cast):
    items, release = sealed(cast)
    written(cast)
    trial = started(cast)
    assert (trial.number, trial.release, len(trial.items), trial.n_examples) == (1, release, 4, 0)
    assert set(trial.items) <= {item.pk for item in items}
    old, new = trial.run_old, trial.run_new
    assert (old.n_items, new.n_items, old.judge_id) == (4, 4, new.judge_id)
    assert (old.prompts[KEY]["en"], new.prompts[KEY]["en"]) == (trial.prompt_old_id, trial.prompt_new_id)
    assert old.prompts["reader.answers"] == new.prompts["reader.answers"]
    assert old.prompts[KEY]["zh"] == new.prompts[KEY]["zh"]
    assert old.cap_calls == new.cap_calls == 100
    assert Event.objects.filter(action="trial_started").count() == 1


def test_the_same_seed_draws_the_same_items(cast):
    sealed(cast, 20)
    written(cast)
    endpoint = make_endpoint(cast.project)
    first, second, other = [started(cast, endpoint=endpoint, seed=seed).items for seed in (7, 7, 8)]
    assert first == second != other


def test_items_that_a_version_has_as_examples_are_never_drawn(cast):
    items, _ = sealed(cast, 4)
    told = make_item(trace=items[0].trace, text=f"Yes. {TELLING}")
    add_to(cast.project.releases.get(), told)
    written(cast, f"{TEXT}\nExample: {TELLING}\n", examples=[items[0].pk])
    trial = started(cast, n_items=5)
    assert trial.items == sorted(item.pk for item in items[1:])
    assert trial.n_examples == 2


def test_only_items_in_the_language_of_the_prompt_are_drawn(cast):
    items, release = sealed(cast, 3)
    chinese = make_item(trace=make_trace(cast.project, language="zh"))
    add_to(release, chinese)
    written(cast)
    assert started(cast, n_items=4).items == [item.pk for item in items]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"new": 1}, "same_version"),
        ({"new": 9}, "unknown_version"),
        ({"n_items": 1}, "bad_number"),
        ({"n_items": 501}, "bad_number"),
        ({"release": 5}, "no_release"),
        ({"cap": Cap()}, "no_cap"),
        ({"endpoint": "nowhere"}, "no_endpoint"),
        ({"key": "checker"}, "gives_no_labels"),
    ],
)
def test_what_cannot_be_tried_is_refused_and_leaves_nothing(cast, fields, code):
    sealed(cast)
    written(cast)
    with pytest.raises(Refused) as refused:
        started(cast, **fields)
    assert code_of(refused) == code
    assert not Trial.objects.exists()
    assert not Run.objects.exists()


def test_a_model_that_only_proves_the_wire_tries_no_prompts(cast):
    sealed(cast)
    written(cast)
    make_endpoint(cast.project, name="small", is_proof=True)
    with pytest.raises(Refused) as refused:
        started(cast, endpoint="small")
    assert code_of(refused) == "proof_only"
    assert not Run.objects.exists()


def test_too_few_items_are_refused(cast):
    items, _ = sealed(cast, 3)
    written(cast, examples=[item.pk for item in items[:2]])
    with pytest.raises(Refused) as refused:
        started(cast)
    assert code_of(refused) == "too_few_items"


def test_who_does_not_lead_the_project_tries_nothing(cast):
    sealed(cast)
    written(cast)
    with pytest.raises(NotYours):
        started(cast, person=cast.rita.person)
    assert not Run.objects.exists()


def test_a_run_of_a_trial_is_no_judge_of_the_phase(cast):
    sealed(cast)
    written(cast)
    trial = started(cast)
    make_verdict(trial.run_new, trial.project.items.first())
    assert report_queries.runs_with_verdicts(cast.project, phase="main") == []
    assert trial.run_new in running.queries.runs_of(cast.project)


# Figures


def judged(trial, old, new):
    """Verdicts by place: p passes, f fails, u cannot be read, a blank is none."""
    for run, said in ((trial.run_old, old), (trial.run_new, new)):
        for item, one in zip(trial.items, said, strict=True):
            if one == "u":
                make_verdict(run, trial.project.items.get(pk=item), None, is_unreadable=True)
            elif one != " ":
                label = {"p": "readable", "f": "unrepairable_or_no_answer"}[one]
                make_verdict(run, trial.project.items.get(pk=item), label)


def test_agreement_with_the_sealed_labels_stands_side_by_side(cast):
    sealed(cast, 12)
    written(cast)
    trial = started(cast, n_items=12)
    judged(trial, "ppppppffffff", "pppppppppfff")  # all twelve are sealed as readable
    figures = prompting.trial_figures(trial)
    assert (figures.n_items, figures.n_compared, figures.measure.name) == (12, 12, "fail")
    assert (figures.old.share.value, figures.new.share.value) == (0.5, 0.75)
    assert figures.difference.value == 0.25
    assert figures.new.share.interval.n_clusters == figures.difference.interval.n_clusters == 6
    assert (figures.new.kappa.value, figures.new.kappa.reason) == (0.0, None)
    again = prompting.trial_figures(trial)
    assert (again.old, again.new, again.difference) == (figures.old, figures.new, figures.difference)


def test_only_items_that_both_have_judged_are_compared(cast):
    sealed(cast, 6)
    written(cast)
    trial = started(cast, n_items=6)
    judged(trial, "pppuf ", "ppf up")
    figures = prompting.trial_figures(trial)
    assert figures.n_compared == 3
    assert (figures.old.n_judged, figures.old.n_unreadable) == (5, 1)
    assert (figures.new.n_judged, figures.new.n_unreadable) == (5, 1)
    assert figures.old.share.value == 1.0
    assert figures.new.share.value == pytest.approx(2 / 3)


def test_before_anything_is_judged_there_is_a_reason_and_no_figure(cast):
    sealed(cast)
    written(cast)
    figures = prompting.trial_figures(started(cast))
    assert (figures.n_compared, figures.new.share.value, figures.difference.value) == (0, None, None)
    assert figures.new.share.reason is not None


def test_figures_take_three_statements(cast, django_assert_num_queries):
    sealed(cast, 8)
    written(cast)
    trial = started(cast, n_items=8)
    judged(trial, "ppppffff", "ppppppff")
    trial = prompting.prompt_queries.trials_of(cast.project).get()
    trial.project = cast.project
    with django_assert_num_queries(3):
        prompting.trial_figures(trial)
