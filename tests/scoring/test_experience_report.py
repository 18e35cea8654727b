"""What redundancy costs, and what a workflow saves, in the report of a project. All numbers are made up but those that
are printed elsewhere (fixtures/reference)."""

import io
import json
from pathlib import Path
from random import Random

import pytest
from django.core.management import call_command

from annotate.traces.base import Trace
from annotate.traces.reading import Reading
from scoring.method_reports import shown_method
from scoring.methods.outcomes import OUTCOME
from scoring.methods.records import records_of
from scoring.methods.redundancy import METHOD
from scoring.methods.redundancy_schema import SCHEMA
from scoring.methods.tables import words_of
from scoring.redundancy_joins import JOINS
from tests.factories import make_cast, message_row
from tests.scoring.test_outcomes import bring, lines, outcome
from tests.scoring.trajectories import make_trajectory, say, triplet

pytestmark = pytest.mark.django_db
REFERENCE = Path(__file__).parents[2] / "fixtures" / "reference"
FAST = {"n_resamples": 100, "n_resamples_costs": 100}


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy", seed=11)


def shown(project):
    return shown_method(project, given=FAST).report


def value(report, metric, table=None, **by):
    return report.row(metric, table, **by).figure.value


def used(**counts):
    """What the reader of a file keeps by message: so many tokens written at each index."""
    return {"messages": {at.strip("m"): {"usage": {"completion_tokens": count}} for at, count in counts.items()}}


# The cost of redundancy


def test_tokens_of_messages_with_a_gold_redundant_call_stand_against_all(cast):
    item = make_trajectory(cast.project, 3, metadata=used(m2=10, m4=20, m6=30, m8=40), cluster="t1")
    say(cast.ana, item, triplet(1), triplet(2))
    report = shown(cast.project)
    row = report.row("token_share", "costs", domain="airline")
    assert (row.k, row.n, row.figure.value) == (50, 100, 0.5)


def test_calls_of_one_message_count_its_tokens_once(cast):
    item = make_trajectory(cast.project, 2, metadata=used(m2=10, m4=20, m6=30), cluster="t1")
    trace = item.trace
    first, second = trace.messages.get(index=2), trace.messages.get(index=4)
    first.calls = [*first.calls, *second.calls]
    first.save(update_fields=["calls"])
    trace.messages.filter(index=5).update(answers_index=2, answers_call=1)
    trace.messages.filter(index=4).update(calls=[])
    say(cast.ana, item, {**triplet(0), "step": [2, 3]}, {**triplet(0), "step": [2, 5]})
    row = shown(cast.project).row("token_share", "costs", domain="airline")
    assert (row.k, row.n) == (10, 60)


def test_a_trajectory_with_a_missing_count_is_no_part_of_the_costs(cast):
    whole = make_trajectory(cast.project, 1, metadata=used(m2=10, m4=30), cluster="t1")
    part = make_trajectory(cast.project, 1, metadata=used(m2=1000), cluster="t1")
    none = make_trajectory(cast.project, 1, cluster="t1")
    for item in (whole, part, none):
        say(cast.ana, item, triplet(0))
    row = shown(cast.project).row("token_share", "costs", domain="airline")
    assert (row.k, row.n) == (10, 40)


def test_without_a_count_there_is_no_table_of_costs(cast):
    say(cast.ana, make_trajectory(cast.project, cluster="t1"), triplet(0))
    assert "costs" not in {table.name for table in shown(cast.project).tables}


def test_groups_of_one_trajectory_say_nothing_and_the_order_of_tasks_neither(cast):
    """Check B11: r over deviations from the mean of the task."""
    rng = Random(5)
    for task in range(6):
        for _ in range(3 if task else 1):
            redundant, rest = rng.randrange(10, 90), rng.randrange(100, 900)
            metadata = used(m2=redundant, m4=0, m6=rest + 4 * redundant)
            say(cast.ana, make_trajectory(cast.project, 2, metadata=metadata, cluster=f"t{task}"), triplet(0))
    report = shown(cast.project)
    pearson = report.row("cost_pearson", "costs", domain="airline").figure
    assert pearson.n_items == 15
    assert pearson.n_clusters == 5

    values = [dict(one) for one in records_in(cast.project)]
    alone = [one for one in values if one["task"] != "t0"]
    renamed = {f"t{task}": f"t{(task * 5 + 3) % 6}" for task in range(6)}
    turned = [{**one, "task": renamed[one["task"]]} for one in reversed(values)]
    for others in (alone, turned):
        again = report_of(others)
        for metric in ("cost_pearson", "cost_spearman"):
            expected = report.row(metric, "costs", domain="airline").figure.value
            assert again.row(metric, "costs", domain="airline").figure.value == pytest.approx(expected)


def records_in(project):
    return [one for one in JOINS.gather(project, "main", None, {}).records if one["record"] == "trajectory"]


def report_of(trajectories):
    gold = [{"record": "gold", "trajectory": one["id"], "steps": [triplet(0)]} for one in trajectories]
    return METHOD.of(records_of([*trajectories, *gold], SCHEMA), FAST)


def test_a_file_that_counts_tokens_by_message_keeps_them(cast):
    """As tau2-bench writes them: the greeting of the agent has no count, and no model wrote it."""
    call = {"id": "c1", "name": "find_user", "arguments": {"email": "a@b.c"}, "requestor": "assistant"}
    messages = [
        {"role": "assistant", "content": "Hi! How can I help you?", "turn_idx": 0, "usage": None},
        {"role": "user", "content": "Cancel it.", "turn_idx": 1, "usage": {"completion_tokens": 99}},
        {"role": "assistant", "content": None, "tool_calls": [call], "turn_idx": 2,
         "usage": {"completion_tokens": 12, "prompt_tokens": 800}},
        {"role": "tool", "id": "c1", "content": "none", "requestor": "assistant", "turn_idx": 3},
        {"role": "assistant", "content": "Done.", "turn_idx": 4, "usage": {"completion_tokens": 5, "prompt_tokens": 9}},
    ]  # fmt: skip
    simulation = {"id": "s1", "task_id": "7", "messages": messages, "termination_reason": "user_stop"}
    raw = json.dumps({"info": {"environment_info": {"domain_name": "airline"}}, "simulations": [simulation]}).encode()
    (trace,) = [one for one in Reading(io.BytesIO(raw), file_name="run.json") if isinstance(one, Trace)]
    item = make_trajectory(cast.project, metadata=dict(trace.metadata), area=trace.area)
    item.trace.messages.all().delete()
    item.trace.messages.bulk_create(message_row(item.trace, message) for message in trace.messages)
    say(cast.ana, item, {**triplet(0), "step": [2, 3]})
    row = shown(cast.project).row("token_share", "costs", domain="airline")
    assert (row.k, row.n) == (12, 17)


# Experience replays


def printed():
    """The printed totals of each domain and condition, and the reductions."""
    rows = json.loads((REFERENCE / "golden-numbers.json").read_text(encoding="utf-8"))
    return [row for row in rows if row["id"].startswith("r-tok-")]


def replays():
    """Thirty made-up runs of each domain and condition that add up to the printed totals."""
    totals = {}
    for row in printed():
        _, _, domain, condition = row["id"].split("-")
        totals[domain, "none"] = row["inputs"]["base"]
        totals[domain, condition] = row["inputs"]["cond"]
    for (domain, condition), total in sorted(totals.items()):
        for run in range(30):
            tokens = total // 30 + (run < total % 30)
            yield outcome(str(run // 3), run % 3, condition, domain=domain, tokens=tokens, success=run < 26)


def test_the_nine_printed_reductions_come_out_of_imported_outcomes(cast, tmp_path, capsys):
    """Check B12, second half."""
    file = tmp_path / "replays.jsonl"
    file.write_text(lines(*replays()), encoding="utf-8")
    call_command("import_outcomes", cast.project.slug, str(file))
    report = shown(cast.project)
    assert len(printed()) == 9
    for row in printed():
        _, _, domain, condition = row["id"].split("-")
        saved = 100 * value(report, "token_reduction", "experience", domain=domain, experience=condition)
        assert saved == pytest.approx(row["expected"], abs=row["tolerance"] + 1e-9)
        assert value(report, "runs", "experience", domain=domain, experience=condition) == 30
    assert report.n_records[OUTCOME] == 360


def test_outcomes_make_a_kept_report_a_new_one_and_say_that_they_are_made_up(cast):
    say(cast.ana, make_trajectory(cast.project, cluster="t1"), triplet(0))
    first = shown_method(cast.project, given=FAST)
    assert not shown_method(cast.project, given=FAST).is_new
    about = {"record": "about", "text": "Made up for a test.", "synthetic": True}
    bring(cast.project, lines(about, outcome(), outcome(condition="gold", tokens=45, success=False)))
    second = shown_method(cast.project, given=FAST)
    assert (first.is_new, second.is_new) == (True, True)
    report = second.report
    gold = {"domain": "airline", "experience": "gold"}
    assert value(report, "token_reduction", "experience", **gold) == 0.5
    assert value(report, "success_difference", "experience", **gold) == -1
    assert any("Made up for a test." in words_of(note) for note in report.notes)
    bring(cast.project, lines(outcome(), outcome(condition="gold", tokens=45, success=False)))
    assert not shown_method(cast.project, given=FAST).is_new
