"""Gaps are drawn over models by their numbers, and shown with 200 characters on either side."""

from collections import Counter

import pytest

from scoring.methods.gap_sample import sampled, window

TEXT = "a" * 300 + "run-12" + "b" * 300


def test_a_window_has_the_words_and_200_characters_on_either_side():
    seen = window(TEXT, 300, 306)
    assert seen.text == "a" * 200 + "run-12" + "b" * 200
    assert seen.text[seen.start : seen.end] == "run-12"


@pytest.mark.parametrize(("start", "end"), [(0, 3), (4, 5), (600, 606), (0, 606)])
def test_at_the_ends_of_a_text_it_is_as_long_as_there_is_text(start, end):
    seen = window(TEXT, start, end)
    assert seen.text[seen.start : seen.end] == TEXT[start:end]
    assert seen.text in TEXT


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (4, 2), (600, 607)])
def test_words_that_are_nowhere_have_no_window(start, end):
    with pytest.raises(ValueError, match="No words"):
        window(TEXT, start, end)


def test_signs_of_several_code_points_are_counted_as_such():
    text = "\N{WOMAN}\u200d\N{GIRL}中文 run-12"
    seen = window(text, text.index("run"), len(text), around=4)
    assert seen.text == "\N{GIRL}中文 run-12"


def test_a_hundred_of_475_go_to_models_by_their_numbers():
    models = ["m1"] * 200 + ["m2"] * 150 + ["m3"] * 100 + ["m4"] * 25
    drawn = sampled(models, 100, seed=5)
    assert drawn == sorted(set(drawn))
    assert Counter(models[place] for place in drawn) == {"m1": 42, "m2": 32, "m3": 21, "m4": 5}


def test_the_seed_alone_decides():
    models = ["m1", "m2"] * 50
    assert sampled(models, 20, seed=5) == sampled(models, 20, seed=5)
    assert sampled(models, 20, seed=5) != sampled(models, 20, seed=6)
    assert sampled(models, 1000, seed=5) == list(range(100))
