from dataclasses import dataclass

from annotate.rules.votes import last_of_each


@dataclass(frozen=True)
class Row:
    item: int
    rater: str
    round_purpose: str


def test_the_label_of_a_round_that_a_new_protocol_opened_takes_the_place_of_the_first():
    first, later, other = Row(1, "a1", "first"), Row(1, "a1", "protocol"), Row(1, "a2", "first")
    assert last_of_each([first, later, other]) == [later, other]


def test_two_first_labels_both_stay():
    rows = [Row(1, "a1", "first"), Row(1, "a1", "first"), Row(2, "a1", "first")]
    assert last_of_each(rows) == rows
