from dataclasses import replace

import pytest

from annotate.kinds.registry import all_kinds
from scoring.judges import registry
from scoring.judges.lexical import JUDGE
from scoring.judges.prompts import PLACEHOLDERS
from tests.scoring.judges.asked import ENDPOINT


@pytest.fixture
def registered():
    """As found in the folder, also after a test that adds one."""
    yield
    registry.all_judges.cache_clear()


def test_a_judge_is_found_by_its_module():
    assert registry.judge_called("lexical") is JUDGE


def test_an_unknown_judge_is_refused_with_those_there_are():
    with pytest.raises(KeyError, match=r"no judge 'oracle'. There are: .*lexical"):
        registry.judge_called("oracle")


def test_judges_are_told_by_the_kind_they_judge():
    assert JUDGE in registry.judges_for("reply")
    assert registry.judges_for("choice") == ()


def test_a_judge_from_elsewhere_can_be_added(registered):
    other = replace(JUDGE, name="other", kinds=("choice",))
    registry.register(other)
    assert registry.judge_called("other") is other
    assert registry.judges_for("choice") == (other,)


def test_every_judge_judges_kinds_there_are_and_completes_its_settings():
    for judge in registry.all_judges().values():
        assert set(judge.kinds) <= set(all_kinds())
        endpoint = {"endpoint": ENDPOINT} if judge.asks else {}
        assert judge.read_settings(endpoint) == {**judge.settings, **endpoint}
        assert judge.read_settings({**judge.settings, **endpoint}) == {**judge.settings, **endpoint}


def test_every_prompt_of_a_judge_is_one_there_is_and_every_one_is_used():
    assert {key for judge in registry.all_judges().values() for key in judge.prompts} == set(PLACEHOLDERS)


def test_a_judge_that_gives_no_labels_says_so():
    assert registry.gives_labels("lexical")
    assert registry.gives_labels("one that is gone")
    assert not registry.gives_labels("checker")
