"""`manage.py publish_texts FROM TO --runs 3,4,5`: texts that judges wrote become items of another project, to be read
and judged there without what wrote them."""

import re
from argparse import ArgumentTypeError

from django.utils import timezone
from django.utils.translation import gettext

from annotate.management.said import SaidCommand, project_called
from scoring import publishing_texts


def numbers(word) -> list[int]:
    """The type of an option: numbers with commas."""
    if not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9})*", word, re.ASCII):
        raise ArgumentTypeError(f"runs are numbers with commas, such as 3,4,5, not {word!r}")
    return [int(part) for part in word.split(",")]


class Command(SaidCommand):
    help = "Bring texts that runs of a writer or rewriter wrote into another project, as items for readers and people."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("source", metavar="FROM", help="the project whose runs wrote")
        parser.add_argument("target", metavar="TO", help="a project of replies that they come into")
        parser.add_argument("--runs", type=numbers, required=True, metavar="NUMBERS", help="with commas")

    def act(self, *, source, target, runs, **options):
        source, target = project_called(source), project_called(target)
        made = publishing_texts.publish_texts(
            person=None, source=source, target=target, runs=runs, now=timezone.now()
        )
        for warning in made.warnings:
            self.say(warning.sentence(gettext))
        return {
            **{"from": source.slug, "to": target.slug, "runs": sorted(set(runs))},
            **{"texts": made.n_new, "present": made.n_present, "traces": made.n_traces, "points": made.n_points},
            "without_text": made.n_none,
            "warnings": [warning.as_dict(gettext) for warning in made.warnings],
        }

    def words(self, result):
        yield gettext(
            "Texts brought into %(to)s: %(texts)s, of %(points)s points; there already: %(present)s; new traces: "
            "%(traces)s."
        ) % result
        if result["without_text"]:
            yield gettext("Verdicts without a text that can be used: %(without_text)s.") % result
