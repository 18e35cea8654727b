import re

from hypothesis import given
from hypothesis import strategies as st

from annotate.rules.whole_tokens import WholeTokens


def found(names, *texts):
    return WholeTokens(names).found_in(texts)


def test_a_name_is_found_between_blanks_punctuation_and_chinese():
    for text in ("R03", "see R03.", "(R03)", "运行R03的结果", "run-R03-b", "📌R03𠮷", "one\r\nR03\r\ntwo", "a\nR03"):
        assert found(["R03"], text) == {"R03"}, text


def test_a_name_is_not_found_inside_a_longer_one():
    for text in ("XR03", "R03b", "R030", "_R03", "R03_", "r03", ""):
        assert found(["R03"], text) == set(), text


def test_a_name_that_ends_with_punctuation_or_chinese_has_no_word_beside_it_either():
    assert found(["--dry-run", "口径"], "fit --dry-run 口径二") == {"--dry-run", "口径"}
    assert found(["--dry-run", "口径"], "fit--dry-run 口径A") == set()


def test_names_inside_each_other_are_all_found():
    names = ["a.b.c", "b.c", "c", "b", "a.b.d"]
    assert found(names, "a.b.c") == {"a.b.c", "b.c", "c", "b"}


def test_a_name_is_found_although_another_broke_off_before_it():
    assert found(["a.a.b", "a.c"], "a.a.a.b") == {"a.a.b"}
    assert found(["a.a.b", "a.c"], "a.a.c") == {"a.c"}


def test_no_name_runs_over_the_end_of_a_line():
    assert found(["a: b"], "a:\n b") == set()


class Counting(list):
    """How often it was looked into."""

    n = 0

    def __getitem__(self, place):
        self.n += 1
        return super().__getitem__(place)


def test_names_that_end_alike_are_followed_once_however_often_they_stand_there():
    tokens = WholeTokens(".".join("a" * n) for n in range(1, 50))
    tokens.shorter = Counting(tokens.shorter)
    assert len(tokens.found_in([".".join("a" * 1000)])) == 49
    assert tokens.shorter.n < 3 * 2000


def test_nothing_is_found_for_no_names():
    assert found([], "anything") == set()


@given(
    st.lists(st.text("ab_.-二", min_size=1, max_size=5), max_size=12),
    st.lists(st.text("ab_.-二\n", max_size=40), max_size=3),
)
def test_it_finds_what_looking_for_each_name_alone_would_find(names, texts):
    alone = {
        name
        for name in names
        if any(re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) for text in texts)
    }
    assert found(names, *texts) == alone
