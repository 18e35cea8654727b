"""How every command speaks: one JSON object alone on standard output with `--json`, everything else on standard error,
and exit 1 with the problem when it refuses."""

import json
import os
import sys
from argparse import ArgumentTypeError

from django.core.management.base import BaseCommand
from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.models import Project
from annotate.setting_up import MAX_SEED
from annotate.traces.base import Problem, gettext_noop


def seed_word(word) -> int:
    """The type of an option: a seed that the database keeps and the generator takes."""
    if not (word.isascii() and word.isdecimal() and int(word) <= MAX_SEED):
        raise ArgumentTypeError(f"a seed is a whole number from 0 to {MAX_SEED}, not {word!r}")
    return int(word)


class SaidCommand(BaseCommand):
    """A command whose `act(**options)` returns a dictionary and whose `words(result)` says it in lines."""

    def add_arguments(self, parser):
        parser.add_argument("--json", action="store_true", help="print one JSON object on one line")

    def handle(self, *args, **options):
        try:
            result = self.act(**options)
        except Refused as refusal:
            self.refuse([refusal.problem], as_json=options["json"])
        lines = [json.dumps(result, ensure_ascii=False, allow_nan=False)] if options["json"] else self.words(result)
        try:
            for line in lines:
                self.stdout.write(line)
            self.stdout.flush()
        except BrokenPipeError:  # who reads it, `head` for one, has enough; Python would say so once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def say(self, line):
        """A word on the way, on standard error."""
        self.stderr.write(line, self.style.NOTICE)

    def refuse(self, problems, *, as_json):
        """Say what is wrong and end with exit 1."""
        if as_json:
            said = [problem.as_dict(gettext) for problem in problems]
            self.stdout.write(json.dumps({"problems": said}, ensure_ascii=False))
        for problem in problems:
            self.say(problem.sentence(gettext))
        raise SystemExit(1)


def project_called(slug) -> Project:
    """The project with this slug; Refused where there is none."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise Refused(
            Problem(
                code="unknown_project",
                field="PROJECT",
                expected=gettext_noop("There is no project %(slug)s."),
                remedy=gettext_noop("`list_projects` lists them."),
                params={"slug": slug},
            )
        )
    return project
