"""`manage.py import_release PROJECT DIR`: a release that was exported elsewhere, into a project of the same traces."""

from pathlib import Path

from django.utils.translation import gettext

from annotate import releasing
from annotate.management.said import SaidCommand, project_called
from annotate.release_reading import FolderRefused
from annotate.rules.release_shape import JURY


class Command(SaidCommand):
    help = "Bring an exported release in: every hash is checked and every item found again, or nothing is stored."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--as-known", action="store_true", help="its labels of practice items become known answers")

    def act(self, *, project, folder, as_known, **options):
        found = project_called(project)
        try:
            done = releasing.import_release(person=None, project=found, folder=folder, as_known=as_known)
        except FolderRefused as refusal:
            self.refuse(refusal.problems, as_json=options["json"])
        return {
            "project": found.slug,
            "number": done.release.number,
            "made_by": done.release.made_by,
            "content_hash": done.release.content_hash,
            "n_items": done.release.n_items,
            "is_new": done.is_new,
            "n_known": done.n_known,
            "n_had_known": done.n_had_known,
        }

    def words(self, result):
        if result["made_by"] == JURY:
            yield gettext("The labels are of models and not of people.")
        if result["is_new"]:
            yield gettext("Imported as release %(number)s of %(project)s, with %(n_items)s items.") % result
        else:
            yield gettext("It is there already, as release %(number)s of %(project)s.") % result
        if result["n_known"] or result["n_had_known"]:
            yield gettext(
                "Practice items that have a known answer now: %(n_known)s; that had one, which stays: %(n_had_known)s."
            ) % result
