import pytest

from annotate.rules.language import language_of, prose, scripts_of, wanted_language

CHINESE = "结果表明下降了两成"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The level falls by a fifth.", "en"),
        (CHINESE, "zh"),
        ("level falls by half", ""),  # four words
        ("水位下降", ""),  # four characters
        ("level falls by one half", "en"),
        ("水位下降了", "zh"),
        ("水位下降了 level falls by one half", "zh"),  # as many of both
        ("", ""),
        ("12.5 %, 📌", ""),
        ("使用 Transformer、Adam 和 dropout 训练", "zh"),
        ("The word 水位 means water level here.", "en"),
        ("Don't say the reader’s name", "en"),
    ],
)
def test_han_characters_are_set_against_latin_words(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Уровень воды падает каждый день", "cyrillic"),
        ("水位は毎日少しずつ下がっています", "kana"),
        ("수위가 매일 조금씩 낮아집니다", "hangul"),
        ("ينخفض منسوب المياه كل يوم", "arabic"),
        ("Η στάθμη του νερού πέφτει κάθε μέρα", "greek"),
    ],
)
def test_a_further_script_is_a_class_of_its_own(text, language):
    assert language_of(text) == language


def test_single_greek_letters_are_symbols():
    assert language_of("α β γ δ ε ζ") == ""
    assert language_of("With α β γ δ ε ζ the level falls by half") == "en"


@pytest.mark.parametrize(
    "noise",
    [
        "```python\nfor one in all the words of it:\n    print(one)\n```",
        "~~~\nfive more words of code here\n~~~",
        "`one two three four five six`",
        "https://example.org/one-two/three-four/five-six",
        "one/two/three/four/five/six/seven",
        "one_x two_x three_x four_x five_x six_x",
        "one.csv two.csv three.csv four.csv five.csv six.csv",
        "one@two.org three@four.org five@six.org",
        "10ms 20ms 30ms 40ms 50ms 60ms",
    ],
)
def test_code_addresses_and_identifiers_are_in_no_language(noise):
    assert scripts_of(noise).latin == 0
    assert language_of(f"{CHINESE}\n{noise}\n") == "zh"
    assert scripts_of(f"The level falls\n{noise}\nby a fifth.").latin == 6


def test_a_code_block_that_nobody_closes_reaches_to_the_end():
    assert prose("before\n```\ninside").split() == ["before"]


def test_characters_outside_the_first_plane_count_once():
    assert scripts_of("𠮷𠮷𠮷𠮷𠮷").han == 5


def test_chinese_beside_an_identifier_stays():
    assert scripts_of("运行R03的结果，见set_B2x。").han == 6


def test_the_message_that_is_answered_decides_and_else_the_collaboration():
    assert wanted_language("Please write the whole report in short.", "zh") == "en"
    assert wanted_language("请把整份报告写短一点", "en") == "zh"
    assert wanted_language("OK, 谢谢", "en") == "en"
    assert wanted_language("OK", "") == ""
