"""`manage.py import_predictions PROJECT FILE`: what a system without prompts predicts becomes a run of its own."""

import hashlib
from dataclasses import replace
from pathlib import Path

from django.utils.translation import gettext

from annotate import importing
from annotate.errors import Refused
from annotate.kinds.base import LabelError
from annotate.management.said import SaidCommand, project_called
from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.strict_json import parse
from scoring import prediction_imports
from scoring.judges.imported import SETTINGS


class Command(SaidCommand):
    help = "Bring predictions of redundant steps that were made elsewhere in as a run: all of a file or nothing."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("file", type=Path, metavar="FILE", help="JSON, by the id of the trace")
        parser.add_argument("--system", required=True, metavar="NAME", help="what predicted, as the report names it")
        parser.add_argument("--setting", required=True, help=f"what it was asked: {', '.join(SETTINGS)}")
        parser.add_argument("--variant", default="", metavar="V", help="which variant of it (default)")
        parser.add_argument("--release", type=int, metavar="N", help="whose redundant steps it was asked about")

    def act(self, *, project, file, system, setting, variant, release, **options):
        project = project_called(project)
        try:
            raw = file.read_bytes()
        except OSError as error:
            raise Refused(unreadable_file(file, error)) from None
        found = parse(raw, Place(str(file)), caps=importing.import_caps())
        if found.problems:
            raise Refused(found.problems[0])
        try:
            run = prediction_imports.import_predictions(
                person=None,
                project=project,
                data=found.value,
                sha256=hashlib.sha256(raw).hexdigest(),
                system=system,
                setting=setting,
                variant=variant,
                release=release,
            )
        except LabelError as error:
            self.refuse([replace(one, file=str(file)) for one in error.problems], as_json=options["json"])
        return {
            "project": project.slug,
            "run": run.number,
            **{name: run.judge.settings[name] for name in ("system", "variant", "setting", "release", "sha256")},
            "items": run.n_items,
            "named": len(found.value),
        }

    def words(self, result):
        yield gettext(
            "Run %(run)s of %(project)s holds what %(system)s predicts: %(named)s of %(items)s trajectories."
        ) % result
        yield gettext("A worker writes the verdicts; its page says how far it is.")


def unreadable_file(path, error) -> Problem:
    return Problem(
        code="unreadable_file",
        file=str(path),
        expected=gettext_noop("A file that can be read: %(why)s."),
        remedy=gettext_noop("Check the path."),
        params={"why": error.strerror or type(error).__name__},
    )
