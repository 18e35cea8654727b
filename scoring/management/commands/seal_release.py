"""`manage.py seal_release PROJECT`: what the labels of the main phase make becomes a numbered gold set for good; with
`--jury RUN` what a jury of models agrees on, as a release that says so."""

import json

from django.utils import timezone
from django.utils.translation import gettext

from annotate import releasing
from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called
from annotate.rules.release_shape import JURY, RULES
from scoring import jury_sealing
from scoring.sealing import agreement_to_seal


class Command(SaidCommand):
    help = "Seal the settled labels of a project's main phase as a numbered gold set that nobody can change."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("--rule", help=f"{', '.join(RULES)} (majority)")
        parser.add_argument("--protocol", type=int, metavar="N", help="labels under this protocol, not the newest")
        parser.add_argument("--earlier", action="store_true", help="earlier ones too, where nobody labelled since")
        parser.add_argument("--jury", type=int, metavar="RUN", help="what the jury of this run agrees on; no people's")

    def act(self, *, project, rule, protocol, earlier, jury, **options):
        found = project_called(project)
        if jury is not None:
            if rule is not None or protocol is not None or earlier:
                raise Refused(jury_sealing.JURY_STANDS_ALONE)
            return said_of(jury_sealing.seal_jury(person=None, project=found, run=jury, now=timezone.now()))
        rule = rule or RULES[0]
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
        return said_of(release)

    def words(self, result):
        yield gettext("Release %(number)s of %(project)s, by the rule %(rule)s under protocol %(protocol)s.") % result
        counts = gettext("Items: %(n_items)s; unresolved: %(unresolved)s; ties of the votes: %(n_ties)s.")
        yield counts % result["counts"]
        if result["made_by"] == JURY:
            yield gettext("The labels are of models and not of people.")
        yield gettext("SHA-256 of the content: %(content_hash)s") % result


def said_of(release):
    manifest = json.loads(release.manifest)
    return {
        "project": release.project.slug,
        "number": release.number,
        "rule": release.rule,
        "made_by": release.made_by,
        "protocol": release.protocol.number,
        "content_hash": release.content_hash,
        "counts": manifest["counts"],
        "left_out": manifest["left_out"],
    }
