import pytest

from annotate.traces.documents import Documents
from annotate.traces.sniff import readers, recognise, record_lists
from tests.annotate.traces.files import FIXTURES, ROOT, lines, read, record, refusal


def first_record(path):
    with path.open("rb") as file:
        return next(iter(Documents(file, lists=record_lists()))).value


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_every_fixture_is_known_by_its_own_reader_alone(path):
    fitting = [name for name, reader in readers().items() if not reader.sniff(first_record(path)).missing]
    assert fitting == [path.stem]


def test_every_reader_has_a_fixture():
    assert {path.stem for path in FIXTURES.iterdir()} == set(readers())


@pytest.mark.parametrize(
    "value",
    [record(), {"id": "t1", "messages": []}, {"id": 7, "messages": [{"role": "robot"}]}, {"messages": [{"text": "a"}]}],
)
def test_our_own_format_is_known_even_when_it_is_wrong(value):
    assert recognise([value]).FORMAT == "sightline"


@pytest.mark.parametrize(
    "value",
    [
        {"id": "t1", "messages": [{"role": "user", "content": "a"}]},
        {"role": "user", "content": "a"},
        [{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]}],
    ],
)
def test_chat_messages_are_never_taken_for_ours(value):
    assert recognise([value]).FORMAT == "openai_chat"


SAID = [{"role": "user", "content": "a", "turn_idx": 0}]


@pytest.mark.parametrize(
    "value",
    [
        {"task_id": "1", "messages": SAID},
        {"id": "s1", "task_id": "1", "termination_reason": "agent_error", "messages": []},
        {"task_id": 1, "task": {}, "run_info": {}, "reward_info": None, "messages": []},
        {"task_id": "1", "trial": None, "messages": [{"role": "assistant", "tool_calls": [{"id": "", "name": "f"}]}]},
        {"timestamp": "x", "info": {}, "tasks": [], "simulations": []},
        {"simulations": [{"task_id": "1", "messages": SAID}], "tasks": []},
    ],
)
def test_simulations_are_never_taken_for_anything_else(value):
    assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["tau2_bench"]


@pytest.mark.parametrize(
    "value",
    [
        {"task_id": 1, "messages": [{"role": "user", "content": "a"}]},
        {"task_id": 1, "reward_info": {}, "messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
        {"id": "t1", "user_scenario": {}, "evaluation_criteria": {}},
        {"task_id": 1, "reward": 0, "traj": []},
        {"simulations": 3},
    ],
)
def test_other_records_that_name_a_task_are_no_simulations(value):
    assert readers()["tau2_bench"].sniff(value).missing


@pytest.mark.parametrize(
    "value",
    [
        7,
        "text",
        None,
        [],
        {},
        [1],
        {"messages": "x"},
        {"role": ["user"], "content": 1},
        {"role": "user", "content": "a", "parent": "x"},
    ],
)
def test_other_values_are_nothing(value):
    assert recognise([value]) is None


def test_an_unknown_format_names_the_nearest_and_what_is_missing():
    problem = refusal(lines({"task_id": 1, "traj": []}))
    assert problem.code == "unknown_format"
    assert "tau_bench (reward)" in problem.sentence()


def test_an_unknown_record_before_known_ones_does_not_hide_the_format():
    traces, problems, _ = read(lines({"type": "header"}, {"messages": [{"role": "user", "content": "a"}]}))
    assert (len(traces), problems) == (1, [])


def test_a_named_format_is_taken_at_its_word():
    assert refusal(lines(record()), format="tau_bench").code == "no_traces"
    assert refusal(lines(record()), format="docx").code == "unknown_format"


def test_the_guide_lists_every_format():
    guide = (ROOT / "docs" / "trace-format.md").read_text("utf-8")
    listed = {
        line.split("`")[1]: line.split("|")[2].strip()
        for line in guide.splitlines()
        if line.startswith("| `") and "--" not in line
    }
    assert {name: title.split(",")[0] for name, title in listed.items()} == {
        name: reader.TITLE for name, reader in readers().items()
    }
