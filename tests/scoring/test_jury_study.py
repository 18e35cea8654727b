"""A jury and detectors on a project that experts labelled, with a scripted model: every outcome, what is asked of whom,
what is not judged, and the report beside the experts."""

import json
from dataclasses import replace

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotate import work
from annotate.errors import Refused
from annotate.models import Item
from annotate.releasing import seal_release
from scoring import driving
from scoring.asking import Cap
from scoring.estimating import estimate_run
from scoring.jury_sealing import seal_jury
from scoring.material import drawn
from scoring.material_queries import Sealed
from scoring.method_reports import as_plain, shown_method
from scoring.methods.tables import words_of
from scoring.models import Run, Verdict
from scoring.running import Asking, cancel_run, run_progress, start_run
from tests import judge_server
from tests.factories import make_endpoint, make_member, make_protocol, make_run, make_verdict
from tests.judge_server import JudgeServer, garbage, half_pairs, repeated, right
from tests.scoring.trajectories import make_study, make_trajectory, say, triplet

pytestmark = pytest.mark.django_db(transaction=True)
HANDLERS_OF = [driving]
FAST = {"n_resamples": 100}
DUPLICATE = triplet(1, "DUP", [2, 3])
MODELS = ("alpha", "beta", "gamma")


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch):
    cache.clear()
    monkeypatch.setattr(work.waking, "wake", lambda: None)


@pytest.fixture
def study(db):
    """Eight trajectories of two domains; in every one the calls differ, so that nothing is redundant but what a result
    says of an error."""
    project = make_study(seed=7)
    make_protocol(project, guideline_en="GUIDELINE-EN", guideline_zh="GUIDELINE-ZH")
    for place in range(8):
        area = ("airline", "retail")[place % 2]
        told = {"area": area, "cluster": f"{area} task {place // 2}"}
        item = make_trajectory(project, 3, metadata={"needed_calls": [{"name": f"plan-{place}"}]}, **told)
        item.trace.messages.filter(role="tool", index=5).update(text="Error: no such flight")
        item.trace.messages.filter(index=1).update(text=f"Cancel flight {place}.")
    return project


def items_of(project):
    return list(Item.objects.filter(project=project).order_by("pk"))


def labelled(project, *people):
    """Three experts say of each trajectory that the call at 4 is incorrect; of the last one that there is nothing."""
    items = items_of(project)
    for item in items:
        for one in people:
            say(one, item, *([] if item == items[-1] else [triplet(1, "INC")]))
    return items


def sealed(project):
    people = [make_member(project, name) for name in ("ana", "ben", "cai")]
    labelled(project, *people)
    return seal_release(person=None, project=project, rule="consensus", agreement={}, now=timezone.now())


def asking(project, server, model, **fields):
    endpoint = make_endpoint(project, server, model=model, concurrency=2, per_minute=100_000, **fields)
    return Asking(endpoint, Cap(calls=10_000))


def judged(project, judge, ask=None, **values):
    run = start_run(person=None, project=project, judge=judge, asking=ask, **values)
    work.drain()
    assert run_progress(run).state == "done"
    return run


def verdicts(run):
    return {one.item_id: one for one in Verdict.objects.filter(run=run)}


def by_model(plays):
    """A script that plays for each model and number of a trajectory what `plays` says, and right otherwise."""

    def script(asked):
        number = int(asked.blocks["trajectory"].split("Cancel flight ")[1].split(".")[0])
        return plays.get((asked.body["model"], number), right())

    return script


NOTHING = replace(right(), name="nothing", text=lambda asked: "[]")
OTHER = replace(
    right(),
    name="other",
    text=lambda asked: json.dumps(
        [{"redundant_step_idx": [2, 3], "redundant_step_type": "Exploratory Step", "evidence_step_idx": [1]}]
    ),
)
PLAYS = {
    # 0: all agree; 1: two agree; 2: none agrees; 3: two are not covered; 4: two find nothing
    ("gamma", 1): NOTHING,
    ("beta", 2): NOTHING,
    ("gamma", 2): OTHER,
    ("alpha", 3): garbage(),
    ("beta", 3): half_pairs(),
    ("alpha", 4): NOTHING,
    ("beta", 4): NOTHING,
}
OUTCOMES = ["retained", "retained", "no_agreement", "too_few_covered", "empty", "retained", "retained", "retained"]


def test_a_jury_labels_by_consensus_and_stands_beside_the_experts(study, settings):
    sealed(study)
    items = items_of(study)
    with JudgeServer(by_model(PLAYS)) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        runs = [judged(study, "juror", asking(study, server, model)) for model in MODELS]
        texts = [one.text for one in server.asked]
    assert all("GUIDELINE-EN" in text and "GOLD" not in text for text in texts)
    unreadable = [[one.is_unreadable for one in verdicts(run).values()].count(True) for run in runs]
    assert unreadable == [1, 1, 0]

    jury = judged(study, "jury", settings={"runs": [run.number for run in runs]})
    found = verdicts(jury)
    said = [found[item.pk].finding["values"] for item in items]
    assert [one["outcome"] for one in said] == OUTCOMES
    assert said[1]["agreeing"] == [runs[0].number, runs[1].number]
    assert [found[item.pk].label is not None for item in items] == [one in ("retained", "empty") for one in OUTCOMES]

    report = shown_method(study, given=FAST).report
    rows = {one: report.row(f"jury_{one}", trajectories="with expert steps").figure.value for one in set(OUTCOMES)}
    assert rows == {"retained": 4, "no_agreement": 1, "too_few_covered": 1, "empty": 1}
    recall = report.row("group_recall_type", "jury_groups", scope="all")
    assert (recall.k, recall.n) == (4, 7)
    recall = report.row("group_recall_type", "jury_groups", scope="retained")
    assert (recall.k, recall.n) == (4, 4)
    assert report.row("covered", "jurors", juror="alpha").k == 7
    notes = [words_of(note) for note in report.notes]
    assert f"Run {jury.number} of the judge jury, version 1." in notes
    assert f"Run {runs[0].number}: alpha as juror." in notes
    assert as_plain(shown_method(study, given=FAST))["jury"]["number"] == jury.number


def test_what_the_jury_agreed_on_is_gold_where_that_is_asked_for(study, settings):
    with JudgeServer(by_model(PLAYS)) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        runs = [judged(study, "juror", asking(study, server, model)) for model in MODELS]
    judged(study, "jury", settings={"runs": [run.number for run in runs]})
    assert shown_method(study, given=FAST).report.row("pool", "dataset").figure.value == 0
    report = shown_method(study, given={**FAST, "jury_gold": True}).report
    assert report.row("pool", "dataset").figure.value == 6
    assert report.row("gold", "dataset").figure.value == 5


def test_detectors_in_three_settings_and_four_variants(study, settings):
    release = sealed(study)
    items = items_of(study)
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        ask = asking(study, server, "alpha", price_in="1", price_out="1")
        for judge in ("stepdet", "stepcls", "evidenceret"):
            for variant in ("default", "no_policy", "few_shot", "oracle_plan"):
                told = {"variant": variant, "release": release.number, "n_examples": 1}
                run = judged(study, judge, ask, settings=told)
                assert run_progress(run).n_dead == 0
                shown = run.judge.settings["examples"]
                assert len(shown) == (2 if variant == "few_shot" else 0)
                with_gold = items if judge == "stepdet" else items[:-1]
                assert set(verdicts(run)) == {item.pk for item in with_gold} - set(shown)
        plans = [one.text for one in server.asked if "plan-0" in one.text]
        assert plans
        assert len({one.body["model"] for one in server.asked}) == 1
    examples = set(Run.objects.filter(project=study).latest("pk").judge.settings["examples"]) or set(shown)
    report = shown_method(study, given=FAST).report
    for table, metric in (("stepcls", "stepcls_accuracy"), ("evret", "evret_accuracy"), ("stepdet", "prec_at_1")):
        for variant in ("default", "no_policy", "few_shot", "oracle_plan"):
            row = report.row(metric, table, detector="alpha", variant=variant)
            assert row.figure.value == 1, (table, variant)
            assert row.n == 7 - 2
    assert report.row("cost", detector="alpha", variant="default", setting="detection").figure.value > 0
    whole = shown_method(study, given={**FAST, "score_exemplars": True}).report
    assert whole.row("stepcls_accuracy", detector="alpha", variant="default").n == 7
    row = whole.row("stepcls_accuracy", detector="alpha", variant="few_shot")
    assert (row.k, row.n) == (5, 7)
    assert examples <= {item.pk for item in items}


def test_gold_that_changed_since_is_left_out_and_counted(study, settings):
    release = sealed(study)
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        judged(study, "stepcls", asking(study, server, "alpha"), settings={"release": release.number})
    item = items_of(study)[0]
    item.settlements.create(how="reviewer", label={"outcome": "steps", "steps": [triplet(0, "EXP")]})
    report = shown_method(study, given=FAST).report
    assert "and so are left out: 1." in " ".join(words_of(note) for note in report.notes)
    row = report.row("stepcls_accuracy", detector="alpha", variant="default")
    assert (row.k, row.n) == (6, 7)


BAD = (
    *("half_pairs", "unknown_types", "from_one", "in_prose", "garbage", "above_one", "repeated"),
    *("cut", "empty", "refusal", "refusal_in_words", "wrong_ids", "twice_the_keys", "tool_call", "obeys"),
)


@pytest.mark.parametrize("act", [getattr(judge_server, name) for name in BAD], ids=BAD)
def test_answers_that_break_the_contract_are_no_coverage_and_stop_no_other(act, study, settings):
    plays = {("alpha", 2): act()}
    with JudgeServer(by_model(plays)) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        juror = judged(study, "juror", asking(study, server, "alpha"))
        stepdet = judged(study, "stepdet", asking(study, server, "alpha"))
    item = items_of(study)[2].pk
    for run, fine in ((juror, ()), (stepdet, (repeated,))):
        found = verdicts(run)
        assert len(found) == 8
        assert [pk for pk, one in found.items() if one.is_unreadable] == ([] if act in fine else [item])
        n_calls = run.calls.filter(item=item).count()
        assert n_calls == (1 if act in fine else 3)


def test_what_a_jury_is_not_made_of(study, settings):
    release = sealed(study)
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        endpoints = [asking(study, server, model) for model in MODELS]
        runs = [judged(study, "juror", one).number for one in endpoints]
        again = judged(study, "juror", endpoints[0]).number
        other = judged(study, "juror", endpoints[2], settings={"single_pair_only": True}).number
        examples = judged(study, "juror", endpoints[2], settings={"release": release.number}).number
        stepdet = judged(study, "stepdet", endpoints[0]).number
        waiting = start_run(person=None, project=study, judge="juror", asking=endpoints[2])
    refused = {
        "no_such_run": [[runs[0], runs[1], 99], [runs[0], runs[1], stepdet], [runs[0], runs[1], waiting.number], []],
        "same_judge_twice": [[runs[0], again, runs[1]]],
        "not_alike": [[runs[0], runs[1], other], [runs[0], runs[1], examples]],
        "no_jurors": [runs[:2]],
    }
    for code, those in refused.items():
        for numbers in those:
            with pytest.raises(Refused) as refusal:
                start_run(person=None, project=study, judge="jury", settings={"runs": numbers})
            assert refusal.value.problem.code == code
    cancel_run(person=None, run=waiting)


def test_a_jury_over_a_proof_of_the_wire_is_one_itself(study, settings):
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        ask = [asking(study, server, model, is_proof=model == "beta") for model in MODELS]
        runs = [judged(study, "juror", one).number for one in ask]
    assert judged(study, "jury", settings={"runs": runs}).is_proof
    report = shown_method(study, given=FAST).report
    assert "jury_outcomes" not in {table.name for table in report.tables}


def test_examples_of_a_jury_are_not_judged_unless_asked_for(study, settings):
    release = sealed(study)
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        ask = [asking(study, server, model) for model in MODELS]
        told = {"release": release.number, "n_examples": 2}
        runs = [judged(study, "juror", one, settings=told) for one in ask]
        examples = runs[0].judge.settings["examples"]
        texts = {one.text for one in server.asked}
        everything = judged(study, "juror", ask[0], settings={**told, "judge_examples": True})
    assert len(examples) == 4
    assert all(run.judge.settings["examples"] == examples for run in runs)
    assert all("as experts agreed on them" in text for text in texts)
    assert set(verdicts(runs[0])) == {item.pk for item in items_of(study)} - set(examples)
    assert len(verdicts(everything)) == 8
    jury = judged(study, "jury", settings={"runs": [run.number for run in runs]})
    assert len(verdicts(jury)) == 4
    report = shown_method(study, given=FAST).report
    assert "4 trajectories were shown as examples and are not scored." in [words_of(note) for note in report.notes]


def test_what_a_jury_agreed_on_is_gold_for_detectors_and_never_an_example_of_experts(study, settings):
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        ask = [asking(study, server, model) for model in MODELS]
        runs = [judged(study, "juror", one).number for one in ask]
        jury = judged(study, "jury", settings={"runs": runs})
        release = seal_jury(person=None, project=study, run=jury.number, now=timezone.now())
        with pytest.raises(Refused) as refusal:
            start_run(
                person=None, project=study, judge="juror", asking=ask[0], settings={"release": release.number}
            )
        assert refusal.value.problem.code == "jury_release"
        stepcls = judged(study, "stepcls", ask[0], settings={"release": release.number})
    assert len(verdicts(stepcls)) == 8
    report = shown_method(study, given={**FAST, "jury_gold": True}).report
    row = report.row("stepcls_accuracy", detector="alpha", variant="default")
    assert (row.k, row.n) == (8, 8)


def test_what_needs_gold_is_refused_without_a_release(study, settings):
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        ask = asking(study, server, "alpha")
        for judge, told in (
            ("stepcls", {}),
            ("evidenceret", {"release": 9}),
            ("stepdet", {"variant": "few_shot"}),
            ("juror", {"release": 9}),
        ):
            with pytest.raises(Refused) as refusal:
                start_run(person=None, project=study, judge=judge, asking=ask, settings=told)
            assert (refusal.value.problem.code, refusal.value.problem.field) == ("no_release", "release")
            with pytest.raises(Refused):
                estimate_run(person=None, project=study, judge=judge, endpoint=ask.endpoint, settings=told)
        release = sealed(study)
        told = {"release": release.number, "examples": [10**9]}
        with pytest.raises(Refused) as refusal:
            start_run(person=None, project=study, judge="juror", asking=ask, settings=told)
        assert refusal.value.problem.code == "bad_examples"
        with pytest.raises(Refused) as refusal:
            start_run(person=None, project=study, judge="juror", asking=ask, settings={"protocol": 99})
        assert refusal.value.problem.code == "no_protocol"
    assert not server.asked


def test_a_trajectory_whose_plan_nobody_knows_is_given_up_and_the_others_are_judged(study, settings):
    item = items_of(study)[0]
    item.trace.metadata = {}
    item.trace.save()
    with JudgeServer() as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        run = judged(study, "stepdet", asking(study, server, "alpha"), settings={"variant": "oracle_plan"})
    assert run_progress(run).n_dead == 1
    assert len(verdicts(run)) == 7


def test_examples_are_drawn_by_area_those_with_steps_first_and_the_same_for_a_seed():
    areas = [area for number in range(30) for area in ("a", "b") if number % 2 or area == "a"]
    those = [Sealed(area, item, item % 3 > 0) for item, area in enumerate(areas)]
    chosen = drawn(those, 3, seed=5)
    assert chosen == drawn(list(reversed(those)), 3, seed=5) == sorted(chosen)
    by_item = {one.item: one for one in those}
    assert sorted(by_item[item].area for item in chosen) == ["a", "a", "a", "b", "b", "b"]
    assert all(by_item[item].has_steps for item in chosen)
    assert len({tuple(drawn(those, 3, seed=seed)) for seed in range(10)}) > 1
    few = [Sealed("a", 1, False), Sealed("a", 2, True)]
    assert drawn(few, 1, seed=1) == [2]
    assert drawn(few, 3, seed=1) == [1, 2]
    assert drawn(few, 0, seed=1) == []


def test_a_verdict_by_hand_needs_no_model(study):
    """What stands in the report is what the verdict says, whoever wrote it."""
    sealed(study)
    items = items_of(study)
    run = make_run(study, "stepdet", settings={"endpoint": {"model": "m"}, "variant": "default"})
    found = [{"step": [4, 5], "type": "INC", "evidence": [-1], "confidence": 0.5}]
    make_verdict(run, items[0], None, finding={"values": {"steps": found}, "spans": []})
    report = shown_method(study, given=FAST).report
    row = report.row("prec_at_1", "stepdet", detector="m", variant="default")
    assert (row.k, row.n) == (1, 7)
