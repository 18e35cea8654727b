"""Reply points: what goes first within a collaboration, quotas, and that a seed says all."""

from collections import Counter

from scoring.methods.points import Candidate, chosen_points, points_at_random

MANY = [Candidate(100 * cluster + n, f"c{cluster}", n % 5 == 0) for cluster in range(4) for n in range(20)]
CLUSTER_OF = {one.item: one.cluster for one in MANY}


def items(**options):
    return [point.item for point in chosen_points(MANY, **{"seed": 3, "quota": 8, **options})]


def test_each_collaboration_gives_its_quota_and_prior_replies_first():
    chosen = chosen_points(MANY, seed=3, quota=8)
    assert Counter(CLUSTER_OF[point.item] for point in chosen) == dict.fromkeys(("c0", "c1", "c2", "c3"), 8)
    assert [point.point_class for point in chosen] == [*["priority"] * 4, *["random"] * 4] * 4
    assert {point.item for point in chosen if point.point_class == "priority"} == {o.item for o in MANY if o.prior}
    assert [point.order for point in chosen] == list(range(32))


def test_more_prior_replies_than_the_quota_leave_no_room_for_others():
    chosen = chosen_points(MANY, seed=3, quota=3)
    assert {point.point_class for point in chosen} == {"priority"}
    assert len(chosen) == 12


def test_a_short_collaboration_gives_what_it_has():
    few = [Candidate(1, "a", False), Candidate(2, "a", True)]
    assert [(point.item, point.point_class) for point in chosen_points(few, seed=1, quota=8)] == [
        *[(2, "priority"), (1, "random")]
    ]


def test_a_seed_says_all_whatever_the_order_and_others_differ():
    assert items() == [point.item for point in chosen_points(reversed(MANY), seed=3, quota=8)]
    assert len({tuple(items(seed=seed)) for seed in range(5)}) == 5


def test_one_collaboration_moves_nothing_in_another():
    alone = [one for one in MANY if one.cluster == "c2"]
    assert [point.item for point in chosen_points(alone, seed=3, quota=8)] == items()[16:24]


def test_fewer_in_all_take_from_every_collaboration_in_turn():
    counts = Counter(CLUSTER_OF[item] for item in items(n=10))
    assert sorted(counts.values()) == [2, 2, 3, 3]
    assert set(items(n=10)) <= set(items())


def test_at_random_each_reply_is_as_likely_as_any_other_and_nothing_goes_first():
    drawn = Counter(point.item for seed in range(2000) for point in points_at_random(MANY, seed=seed, n=20))
    assert set(drawn) == {one.item for one in MANY}
    assert max(abs(n - 500) for n in drawn.values()) < 100  # 500 expected of 2,000 draws of a quarter, deviation 19
    chosen = points_at_random(MANY, seed=3, n=20)
    assert chosen == points_at_random(reversed(MANY), seed=3, n=20)
    assert [point.order for point in chosen] == list(range(20))
    assert {point.point_class for point in chosen} == {"random"}
    assert len(points_at_random(MANY, seed=3)) == len(points_at_random(MANY, seed=3, n=1000)) == len(MANY)
