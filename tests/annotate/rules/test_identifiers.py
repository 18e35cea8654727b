import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotate.rules.identifiers import candidates, names_in


def names(text, **options):
    return [candidate.name for candidate in candidates(text, **options)]


@pytest.mark.parametrize(
    "token",
    [
        *("reader_size", "R03", "70B", "v2b", "v2", "run-12", "readerSize", "ReaderSize", "fleet_mc_12b", "_private_x"),
        *("reader.size", "np.random.default", "ns:mod", "12-B", "5km", "x2", "RUN_7", "9f86d081", "3-x7"),
    ],
)
def test_a_token_with_a_mark_of_an_identifier_is_one(token):
    assert names(f"It rests on {token}, as said.")[:1] == [token]


PLAIN = [
    *("17", "3,803", "-0.5", "1e-5", "95%", "±5.1", "10-20", "2024-05-01", "10:30", "17:00-19:00", "1/2"),
    *("10ms", "3x", "8k", "8K", "2.5h", "16GB", "4pp", "10min", "5-10x", "1990s", "90s", "10am", "9:30pm", "17h30"),
    *("2024-05-01T10:30:00Z", "2024-05-01T10:30:00.5+02:00", "9-May-2024", "12Mar", "May-2024", "2024-Q1"),
    *("1.2", "v1.2", "v10.0.3", "1st", "22nd", "3rd", "20th-century", "mid-2024", "pre-2020"),
    *("https://a.org/run_12?x=R03", "www.a.org/run_12", "a.org", "run_12@lab-3.org"),
    *("notes_2.md", "R03.csv", "run_12/out_3.bin", "/tmp/run_12", "C:\\runs\\run_12", "data/run_12/", "R03/R06"),
    *("24-hour", "3-fold", "10-year-old", "p95", "F1", "GPT-4", "UTF-8", "A/B"),
]
WORDS = ["well-known", "state-of-the-art", "e.g.", "i.e.", "a.m.", "NASA", "word", "naïve2", "Überrun_2"]


@pytest.mark.parametrize("token", [*PLAIN, *WORDS])
def test_numbers_measures_dates_addresses_files_and_words_are_no_identifiers(token):
    assert names(f"It rests on {token} as said.") == []
    assert names(f"依据是{token}，如上。") == []


@pytest.mark.parametrize("token", PLAIN)
def test_neither_are_they_in_a_code_span(token):
    assert names(f"It rests on `{token}` as said.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R03.", ["R03"]),
        ("(R03), “R04”; R05: R06!", ["R03", "R04", "R05: R06", "R05", "R06"]),
        ("运行R03的结果，见R04。", ["R03", "R04"]),
        ("📌set_B2x𠮷R11", ["set_B2x", "R11"]),
        ("R03\r\nR04\r\n", ["R03", "R04"]),
        ("**R03** _R04_ __R05__ ***R06*** *R07*", ["R03", "R04", "R05", "R06", "R07"]),
        ("| R03 | R04 |\n# R05", ["R03", "R04", "R05"]),
        ("R03-R06 and set_B2x-based", ["R03-R06", "R03", "R06", "set_B2x-based", "set_B2x"]),
        ("R03 again R03", ["R03"]),
    ],
)
def test_punctuation_markup_and_neighbours_are_no_part_of_a_token(text, expected):
    assert names(text) == expected


def test_underscores_inside_a_name_and_a_single_one_before_it_belong_to_it():
    assert names("a_b_c and _private_x but _see_this_") == ["a_b_c", "_private_x", "see_this"]
    assert names("`__init__`") == ["__init__"]
    assert names("__init__") == []  # bold


def test_emphasis_does_not_reach_over_the_end_of_a_line():
    assert names("_open_x\nclose_") == ["_open_x", "close_"]


def test_a_code_span_is_a_candidate_whatever_it_looks_like_up_to_60_characters():
    assert names("`temperature` ``深度`` `fit --fast`") == ["temperature", "深度", "fit --fast"]
    assert names(f"`{'x ' * 29}xy`") == [f"{'x ' * 29}xy"]
    assert names(f"`{'x ' * 29}xyz`") == []


def test_a_code_span_needs_a_letter_and_its_marks():
    assert names("`17` `--` ` ` `a\nb` ``` x") == []


def test_tokens_in_a_code_span_and_a_code_block_are_candidates_too():
    assert names("`fit run_12 --fast`\n```\nrun_13\n```") == ["fit run_12 --fast", "run_12", "run_13"]


def test_a_key_with_its_value_is_one_and_so_are_its_parts():
    found = candidates("reader_size: 70B")
    assert [(one.name, one.known_by) for one in found] == [
        ("reader_size: 70B", "reader_size"),
        ("reader_size", ""),
        ("70B", ""),
    ]
    assert names("reader_size:70B") == ["reader_size:70B", "reader_size", "70B"]
    assert names("reader_size: 12") == ["reader_size: 12", "reader_size"]


def test_markup_between_a_key_and_its_value_is_no_part_of_the_name_but_of_the_place():
    text = "so **reader_size**: `70B`."
    found = candidates(text)[0]
    assert found.name == "reader_size: 70B"
    assert text[found.start : found.end] == "reader_size**: `70B"


def test_a_word_before_a_colon_is_no_key():
    assert names("Result: R03") == ["R03"]
    assert names("notes.md:12 and notes_2.md: R03") == ["R03"]


def test_allowed_tokens_are_left_out_with_what_is_known_by_them():
    assert names("R03: 5 and R04, `R03`", allowed={"R03"}) == ["R04"]
    assert names("p95 R03", allowed={"R03"}) == ["p95"]
    assert names("GPT-4o-mini", allowed={"GPT-4o-mini"}) == []


def test_places_count_code_points_of_the_text_as_it_is():
    text = "📌𠮷 **R03**"
    assert [(one.start, one.end) for one in candidates(text)] == [(5, 8)]


@pytest.mark.parametrize(
    "text",
    ["R03", "**R03**", "_R03_", "`R03`", '{"run": "R03"}', '{"text": "# It\\nR03 is"}', "| R03 |", "R03: 5", "按R03"],
)
def test_a_name_is_found_through_markup_and_escapes(text):
    assert names_in(["R03"], [text]) == {"R03"}


@pytest.mark.parametrize("text", ["xR03", "R03b", "r03", "R_03", "R 03", "R\n03"])
def test_a_name_is_not_found_where_only_something_like_it_stands(text):
    assert names_in(["R03"], [text]) == set()


def test_a_key_with_its_value_is_found_through_markup():
    assert names_in(["reader_size: 70B"], ["**reader_size**: `70B`"]) == {"reader_size: 70B"}


def test_a_text_is_read_as_it_stands_too():
    assert names_in(["__init__", "new_run"], ["def __init__(self)", "C:\\new_run"]) == {"__init__", "new_run"}


TEXTS = st.text(st.sampled_from("aR03_.-:`*/ \\n\n中é📌@%TzZ~|"), max_size=60) | st.text(max_size=60)


@given(TEXTS)
@example("`a` `` ``")
def test_every_candidate_stands_where_it_says(text):
    for one in candidates(text):
        inside = text[one.start : one.end]
        assert inside == one.name or all(letter in "`*_:\0 " or letter in one.name for letter in inside)
        assert 0 <= one.start < one.end <= len(text)
        assert "\n" not in one.name


@given(TEXTS)
def test_every_candidate_is_found_in_a_text_that_is_its_name(text):
    for one in candidates(text):
        assert names_in([one.name], [one.name]) == {one.name}
        assert names_in([one.name], [f"see {one.name}, please"]) == {one.name}
