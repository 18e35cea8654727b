"""In what the labels of an item differ, where they name things that are on no scale."""

import pytest

from annotate.kinds.redundancy.examples import CANNOT, NOTHING, ONE, OTHER_EVIDENCE, OTHER_TYPE, TWO
from annotate.kinds.redundancy.kind import KIND
from annotate.rules.disagreement import how_far_apart


def apart(*given):
    labels = [KIND.load(data, KIND.schema) for data in given]
    return how_far_apart(labels, KIND.measures(KIND.schema), KIND.distance, KIND.sets(KIND.schema))


@pytest.mark.parametrize(
    ("given", "differing"),
    [
        ((ONE, ONE, ONE), {}),
        ((ONE, OTHER_EVIDENCE), {"evidence": 1, "triplet": 1, "set": 1}),
        ((ONE, OTHER_TYPE), {"type": 1, "triplet": 1, "set": 1}),
        ((ONE, TWO), dict.fromkeys(("location", "type", "evidence", "triplet", "set"), 0.5)),
        ((ONE, NOTHING), dict.fromkeys(("found", "location", "type", "evidence", "triplet", "set"), 1)),
        ((ONE, CANNOT), {"elsewhere": 1}),
    ],
)
def test_the_sets_that_differ_are_named(given, differing):
    assert apart(*given).by_measure == differing


def test_sets_weigh_by_the_distance_of_the_labels_alone():
    assert apart(ONE, OTHER_EVIDENCE).weight == 0.125
    assert apart(ONE, NOTHING).weight == 1
