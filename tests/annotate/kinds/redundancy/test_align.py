"""Labels of several people side by side, step by step."""

from annotate.kinds.redundancy.examples import CANNOT, NOTHING, label, step
from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.schema import SCHEMA


def aligned(*labels):
    return KIND.align([KIND.load(one, SCHEMA) for one in labels], SCHEMA)


def test_every_step_that_anybody_names_is_a_line_with_a_cell_for_each_label():
    first, second = label(step(9, 10)), label(step(4, 5, "INC", [1]), step(9, 10))
    lines = aligned(first, second, NOTHING)
    assert [(line.name, line.index, [cell is None for cell in line.cells]) for line in lines] == [
        ("4-5", 4, [True, False, True]),
        ("9-10", 9, [False, False, True]),
    ]
    assert all(line.grade.startswith("severe") for line in lines)


def test_what_differs_is_marked_and_nothing_else():
    line = aligned(label(step(9, 10)), label(step(9, 10, evidence=[4, 5])))[0]
    assert line.grade.startswith("minor")
    assert [[(part.title, part.words, part.is_apart) for part in cell] for cell in line.cells] == [
        [("type", "duplicated step", False), ("evidence", "2-3", True)],
        [("type", "duplicated step", False), ("evidence", "4-5", True)],
    ]
    line = aligned(label(step(9, 10)), label(step(9, 10, "EXP")))[0]
    assert [part.is_apart for part in line.cells[0]] == [True, False]


def test_equal_labels_and_who_cannot_annotate_differ_in_nothing():
    line = aligned(label(step(9, 10)), label(step(9, 10)), CANNOT)[0]
    assert (line.grade, line.cells[2]) == ("", None)


def test_reasons_are_the_words_that_were_typed():
    line = aligned(label(step(9, 10, evidence=[-1], reason="type", certainty="low")))[0]
    assert [(part.words, part.is_typed) for part in line.cells[0]][1:] == [
        ("no other step serves", False), ("low", False), ("type", True),
    ]  # fmt: skip
