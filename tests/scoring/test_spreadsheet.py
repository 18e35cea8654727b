"""A CSV of ratings is read strictly; whatever cannot be read is named by file, line and field."""

import pytest

from annotate.errors import Refused
from scoring.comparing import ITEM, Table
from scoring.spreadsheet import read_table

GOOD = "item,rater,label\n1,ana,yes\n1,ben,no\n2,ana,yes\n2,ben,yes\n"


@pytest.fixture
def read(tmp_path):
    def read(content, **columns):
        path = tmp_path / "ratings.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        options = {"item": "item", "rater": "rater", "label": "label", "cluster": None, "categories": None}
        return read_table(path, **{**options, **columns})

    return read


def refusal(read, content, **columns):
    with pytest.raises(Refused) as refused:
        read(content, **columns)
    assert read(GOOD, **{name: value for name, value in columns.items() if name == "categories"})
    return refused.value.problem


def test_rows_become_ratings_in_their_order(read):
    assert read(GOOD) == Table(
        [("1", "ana", "yes"), ("1", "ben", "no"), ("2", "ana", "yes"), ("2", "ben", "yes")], ("yes", "no"), None
    )


def test_columns_can_have_any_name_and_others_are_left_alone(read):
    table = read("when,who,what,said\n9,ana,1,yes\n", item="what", rater="who", label="said")
    assert table.triples == [("1", "ana", "yes")]


def test_an_empty_label_is_no_rating(read):
    table = read("item,rater,label\n1,ana,\n1,ben,no\n")
    assert table.triples == [("1", "ana", None), ("1", "ben", "no")]
    assert table.categories == ("no",)


@pytest.mark.parametrize("blank", ["", " ", "\u3000"])
@pytest.mark.parametrize(("row", "field"), [("{},ben,no,r1", "item"), ("3,{},no,r1", "rater"), ("3,ben,no,{}", "run")])
def test_any_other_empty_cell_is_refused_with_its_line_and_field(read, row, field, blank):
    before = "item,rater,label,run\n1,ana,yes,r1\n"
    with pytest.raises(Refused) as refused:
        read(before + row.format(blank) + "\n", cluster="run")
    problem = refused.value.problem
    assert (problem.code, problem.file, problem.line, problem.field) == ("empty_value", "ratings.csv", 3, field)
    assert problem.as_dict()["expected"] == f"A cell of column {field} is empty; only a label may be."
    assert read(before + row.format("x") + "\n", cluster="run")


def test_a_label_declared_twice_is_refused(read):
    with pytest.raises(Refused) as refused:
        read(GOOD, categories=["yes", "no", "yes"])
    problem = refused.value.problem
    assert (problem.code, problem.field) == ("duplicate_label", "--categories")


def test_words_that_look_like_nothing_are_labels(read):
    assert read("item,rater,label\n1,ana,nan\n1,ben,None\n1,cem,0\n").categories == ("nan", "None", "0")


def test_declared_labels_are_kept_in_their_order_also_if_nobody_chose_them(read):
    assert read(GOOD, categories=["no", "perhaps", "yes"]).categories == ("no", "perhaps", "yes")


def test_clusters_are_read_from_their_column(read):
    table = read("item,rater,label,run\n1,ana,yes,r1\n1,ben,no,r1\n2,ana,yes,r2\n", cluster="run")
    assert table.cluster_of == {"1": "r1", "2": "r2"}
    assert table.unit == "run"
    assert read(GOOD).unit == ITEM


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(),
        GOOD.rstrip("\n").encode(),
        GOOD.replace("ana,yes", '"ana","yes"').encode(),
        GOOD.replace("\n2,", "\n\n2,").encode(),
    ],
    ids=["byte-order mark", "CRLF", "both", "no last line end", "quotes", "an empty line"],
)
def test_what_spreadsheets_write_is_accepted(read, content):
    assert read(content) == read(GOOD)


def test_a_cell_may_hold_commas_quotes_and_line_ends(read):
    table = read('item,rater,label\n"a,b",ana,"say ""yes""\nor no"\n')
    assert table.triples == [("a,b", "ana", 'say "yes"\nor no')]


def test_a_column_that_stands_there_twice_is_refused(read):
    problem = refusal(read, "item,rater,label,label\n1,ana,yes,no\n")
    assert (problem.code, problem.file, problem.line, problem.field) == ("duplicate_column", "ratings.csv", 1, "label")


@pytest.mark.parametrize(
    ("content", "columns", "field"),
    [
        ("item,rater,says\n1,ana,yes\n", {}, "label"),
        (GOOD, {"cluster": "run"}, "run"),
        ("Item,rater,label\n1,ana,yes\n", {}, "item"),
        ("", {}, "item"),
        ("item;rater;label\n1;ana;yes\n", {}, "item"),
    ],
)
def test_a_missing_column_is_named_with_those_there_are(read, content, columns, field):
    problem = refusal(read, content, **columns)
    assert (problem.code, problem.file, problem.line, problem.field) == ("missing_field", "ratings.csv", 1, field)
    assert f"There is no column {field}; there are: " in problem.sentence()
    assert "--cluster" in problem.as_dict()["remedy"]


@pytest.mark.parametrize("row", ["2,ana", "2,ana,yes,more", "2"])
def test_a_row_of_another_length_is_named_by_its_line(read, row):
    problem = refusal(read, f"item,rater,label\n1,ana,yes\n{row}\n3,ana,yes\n")
    assert (problem.code, problem.file, problem.line) == ("ragged_row", "ratings.csv", 3)


def test_a_rating_that_is_there_twice_names_both_lines(read):
    problem = refusal(read, GOOD + "3,ana,yes\n1,ben,no\n")
    assert (problem.code, problem.file, problem.line) == ("duplicate_rating", "ratings.csv", 7)
    assert problem.as_dict()["expected"] == "ben rated item 1 twice, in line 3 and here."


def test_an_item_in_two_clusters_is_refused(read):
    problem = refusal(read, "item,rater,label,run\n1,ana,yes,r1\n1,ben,no,r2\n", cluster="run")
    assert (problem.code, problem.line, problem.field) == ("two_clusters", 3, "run")
    assert "Item 1 stands in another cluster further up" in problem.sentence()


def test_a_label_that_was_not_declared_is_refused_case_counts(read):
    problem = refusal(read, GOOD + "3,ana,Yes\n", categories=["yes", "no"])
    assert (problem.code, problem.file, problem.line, problem.field) == ("unknown_label", "ratings.csv", 6, "label")
    assert problem.as_dict()["expected"] == "Yes is none of the declared labels: yes, no."


@pytest.mark.parametrize("before", ["", "".join(f"{n},ana,yes\n" for n in range(5000))])
def test_what_is_no_utf8_is_named_by_line_and_byte(read, before):
    head = f"item,rater,label\n{before}".encode()
    problem = refusal(read, head + b"x,ana,caf\xe9\n")
    assert (problem.code, problem.file, problem.line) == ("not_utf8", "ratings.csv", head.count(b"\n") + 1)
    assert f"(byte {len(head) + 9})" in problem.as_dict()["expected"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('item,rater,label\n1,ana,"yes\n', 2),
        ('"item"x,rater,label\n', 1),
        ('item,rater,label\n1,ana,yes\n1,"ben"x,no\n2,ana,yes\n', 3),
    ],
)
def test_what_is_no_csv_is_refused_with_its_line(read, content, line):
    problem = refusal(read, content)
    assert (problem.code, problem.file, problem.line) == ("malformed_csv", "ratings.csv", line)


@pytest.mark.parametrize("content", ["item,rater,label\n", "item,rater,label\n1,ana,\n2,ben,\n"])
def test_a_table_without_a_label_is_refused_unless_they_are_declared(read, content):
    problem = refusal(read, content)
    assert (problem.code, problem.file, problem.field) == ("no_rating", "ratings.csv", "label")
    assert read(content, categories=["yes", "no"]).categories == ("yes", "no")


def test_a_file_that_is_not_there_and_a_folder_are_refused_by_name(tmp_path):
    options = {"item": "item", "rater": "rater", "label": "label", "cluster": None, "categories": None}
    for path, why in ((tmp_path / "none.csv", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(Refused) as refused:
            read_table(path, **options)
        problem = refused.value.problem
        assert (problem.code, problem.file) == ("unreadable_file", str(path))
        assert why in problem.as_dict()["expected"]
