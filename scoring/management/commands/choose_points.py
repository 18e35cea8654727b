"""`manage.py choose_points PROJECT`: the replies that are written anew, chosen once and kept under a number."""

import secrets
from collections import Counter

from django.utils.translation import gettext

from annotate.management.said import SaidCommand, project_called, seed_word
from scoring.pointing import choose_points


class Command(SaidCommand):
    help = "Choose the replies that judges write anew: behind compactions and first in later sessions, then any."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("--quota", type=int, default=8, metavar="N", help="most replies of a collaboration (8)")
        parser.add_argument("--n", type=int, metavar="N", help="most replies in all")
        parser.add_argument("--at-random", action="store_true", help="any replies, without a quota and none first")
        parser.add_argument("--seed", type=seed_word, help="of the draw; random without")

    def act(self, *, project, quota, n, seed, at_random, **options):
        found = project_called(project)
        seed = secrets.randbits(31) if seed is None else seed
        points = choose_points(person=None, project=found, seed=seed, quota=quota, n=n, at_random=at_random)
        classes = Counter(one["class"] for one in points.items)
        return {
            "project": found.slug,
            "points": points.number,
            "seed": seed,
            "quota": points.quota,
            "items": len(points.items),
            "priority": classes["priority"],
            "random": classes["random"],
        }

    def words(self, result):
        yield gettext(
            "Points %(points)s of %(project)s, drawn with the seed %(seed)s: %(items)s replies, %(priority)s of them "
            "behind a compaction or first in a later session, %(random)s at random."
        ) % result
