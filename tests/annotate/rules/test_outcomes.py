"""What trace files say of success."""

import pytest

from annotate.rules.outcomes import succeeded


@pytest.mark.parametrize("said", [True, 1, 1.0, "success", " PASSED", "C", "resolved"])
def test_success(said):
    assert succeeded(said) is True


@pytest.mark.parametrize("said", [False, 0, 0.0, 0.5, "failure", "I", "error"])
def test_failure(said):
    assert succeeded(said) is False


@pytest.mark.parametrize("said", [None, "", "max_steps", {"reward": 1}, [1]])
def test_what_says_neither(said):
    assert succeeded(said) is None
