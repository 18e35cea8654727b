import pytest

from scoring.judges.examples import is_quoted

REPLY = (
    "Yes. The level of the well on the hill falls by a fifth each day.\n**So** we stop here. "
    "观测井的水位在过去三天里每天下降两成。"
)


@pytest.mark.parametrize(
    ("prompt", "is_example"),
    [
        ("Example: The level of the well on the hill falls by a fifth each day. What is it?", True),
        ("Example: the LEVEL of the well on the hill falls by a fifth each day.", False),
        ("例如“观测井的水位在过去三天里每天下降两成。”", True),
        ("Example: Yes. So we stop here.", False),  # any reply may say this
        ("", False),
    ],
)
def test_a_long_sentence_of_the_reply_in_the_prompt_tells_an_example(prompt, is_example):
    assert is_quoted(REPLY, ["Another prompt.", prompt]) is is_example


def test_markup_and_line_ends_hide_no_example():
    assert is_quoted(REPLY, ["The **level** of the\nwell on the hill falls by a fifth each day."])


def test_the_shipped_prompts_quote_nobody():
    assert not is_quoted(REPLY, [])
    assert not is_quoted("", [REPLY])
