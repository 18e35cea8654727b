"""Which items people look at again, and what stands in for names."""

from annotate.rules.looking_again import in_random_order, is_chosen, numbers_of
from annotate.rules.qualification import PassRule, pass_rule


def same(a, b):
    return a == b


def test_one_label_is_nothing_to_look_at_again():
    assert not any(is_chosen(which, {1: "x"}, raters={1}, same=same) for which in ("all", "common", "disagreeing"))


def test_common_is_what_all_raters_labelled_and_disagreeing_what_they_labelled_differently():
    assert is_chosen("common", {1: "x", 2: "x"}, raters={1, 2}, same=same)
    assert not is_chosen("common", {1: "x", 2: "x"}, raters={1, 2, 3}, same=same)
    assert is_chosen("disagreeing", {1: "x", 2: "x", 3: "y"}, raters=set(), same=same)
    assert not is_chosen("disagreeing", {1: "x", 2: "x"}, raters=set(), same=same)
    assert is_chosen("all", {1: "x", 2: "x"}, raters={1, 2, 3}, same=same)


def test_orders_differ_by_who_looks_and_numbers_do_not():
    addresses = [f"address-{place}" for place in range(8)]
    assert sorted(in_random_order(addresses, seen_from="one")) == addresses
    assert len({tuple(in_random_order(addresses, seen_from=f"seen from {place}")) for place in range(20)}) == 20
    assert in_random_order(addresses[::-1], seen_from="one") == in_random_order(addresses, seen_from="one")
    assert numbers_of(addresses[::-1]) == {address: place for place, address in enumerate(addresses, 1)}


def test_the_pass_rule_waits_for_enough_answers_and_looks_at_the_last_ones():
    rule = PassRule(last=4, percent=75)
    assert not rule.is_failed([False, False, False])
    assert rule.is_failed([True, True, False, False])
    assert not rule.is_failed([True, True, True, False])
    assert not rule.is_failed([True, True, True, False, False, False])
    assert pass_rule({}) is None
    assert pass_rule({"known_last": 4, "known_percent": 75}) == rule
