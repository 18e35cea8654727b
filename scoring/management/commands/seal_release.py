"""`manage.py seal_release PROJECT`: what the labels of the main phase make becomes a numbered gold set for good."""

import json

from django.utils import timezone
from django.utils.translation import gettext

from annotate import releasing
from annotate.management.said import SaidCommand, project_called
from annotate.rules.release_shape import RULES
from scoring.sealing import agreement_to_seal


class Command(SaidCommand):
    help = "Seal the settled labels of a project's main phase as a numbered gold set that nobody can change."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("--rule", default="majority", help=f"{', '.join(RULES)} (majority)")
        parser.add_argument("--protocol", type=int, metavar="N", help="labels under this protocol, not the newest")
        parser.add_argument("--earlier", action="store_true", help="earlier ones too, where nobody labelled since")

    def act(self, *, project, rule, protocol, earlier, **options):
        found = project_called(project)
        chosen = releasing.protocol_to_seal(found, rule, protocol).number
        agreement = agreement_to_seal(found, chosen)
        release = releasing.seal_release(
            person=None,
            project=found,
            rule=rule,
            protocol=chosen,
            earlier=earlier,
            agreement=agreement,
            now=timezone.now(),
        )
        manifest = json.loads(release.manifest)
        return {
            "project": found.slug,
            "number": release.number,
            "rule": release.rule,
            "protocol": chosen,
            "content_hash": release.content_hash,
            "counts": manifest["counts"],
            "left_out": manifest["left_out"],
        }

    def words(self, result):
        yield gettext("Release %(number)s of %(project)s, by the rule %(rule)s under protocol %(protocol)s.") % result
        counts = gettext("Items: %(n_items)s; unresolved: %(unresolved)s; ties of the votes: %(n_ties)s.")
        yield counts % result["counts"]
        yield gettext("SHA-256 of the content: %(content_hash)s") % result
