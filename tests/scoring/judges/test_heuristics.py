"""The rules of suggestions as a judge: what it finds, and that its findings are labels of the kind."""

import pytest

from annotate.kinds.redundancy.settle import from_finding
from annotate.kinds.redundancy.suggest import suggest
from annotate.kinds.registry import kind_of
from annotate.traces.base import Trace
from scoring.judges.base import SettingsError
from scoring.judges.heuristics import JUDGE
from tests.scoring.trajectories import messages

KIND = kind_of("redundancy")


def trace(*said):
    return Trace(source_id="", format="", messages=tuple(said))


def judged(said, **settings):
    return JUDGE.step(JUDGE.view(trace(*said), 0), JUDGE.read_settings(settings))


def test_it_names_exactly_what_the_rules_suggest():
    said = messages(3, result="Error: not found")
    finding = judged(said)
    suggested = suggest(trace(*said), KIND.schema)
    assert [one["step"] for one in finding.values["steps"]] == [one["step"] for one in suggested] == [
        [2, 3], [4, 5], [6, 7],
    ]  # fmt: skip
    assert (finding.values["n_steps"], finding.values["n_by_rule"]) == (3, {"error_keyword": 3})
    label = from_finding(finding, KIND.schema)
    assert {one.triplet for one in label.steps} == {((at, at + 1), "INC", (-1,)) for at in (2, 4, 6)}


def test_where_the_rules_find_nothing_it_says_that_there_is_none():
    label = from_finding(judged(messages(3)), KIND.schema)
    assert KIND.dump(label)["outcome"] == "none"


def test_its_words_can_be_others():
    words = {"ABN": [], "INC": ["gone"]}
    assert judged(messages(2), keywords=words).values["n_steps"] == 2
    assert JUDGE.read_settings(JUDGE.settings) == dict(JUDGE.settings)


@pytest.mark.parametrize("given", [{"keywords": {"INC": []}}, {"keywords": "error"}, {"words": []}])
def test_settings_that_do_not_go_are_refused(given):
    with pytest.raises(SettingsError):
        JUDGE.read_settings(given)
