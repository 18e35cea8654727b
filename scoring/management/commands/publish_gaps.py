"""`manage.py publish_gaps FROM TO --run N`: gaps that a reader found become items that people put into categories."""

from dataclasses import asdict

from django.utils import timezone
from django.utils.translation import gettext

from annotate.management.said import SaidCommand, project_called, seed_word
from annotate.models import Phase
from scoring.publishing import USUAL, publish_gaps


class Command(SaidCommand):
    help = "Publish a sample of the gaps that a run of the reader found into a project of gap categories."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("source", metavar="FROM", help="project of replies whose reader found them")
        parser.add_argument("target", metavar="TO", help="project of gap categories")
        parser.add_argument("--run", type=int, required=True, metavar="N", help="run of the reader")
        parser.add_argument("--n", type=int, default=USUAL, metavar="N", help=f"gaps to draw ({USUAL}), over models")
        parser.add_argument("--seed", type=seed_word, metavar="N", help="of the draw; that of FROM without")
        parser.add_argument("--phase", choices=Phase.values, default=Phase.MAIN, help="of the replies")

    def act(self, *, source, target, run, n, seed, phase, **options):
        source, target = project_called(source), project_called(target)
        published = publish_gaps(
            person=None, source=source, target=target, run=run, n=n, seed=seed, phase=phase, now=timezone.now()
        )
        return {"source": source.slug, "target": target.slug, "run": run, **asdict(published)}

    def words(self, result):
        yield gettext("Run %(run)s of %(source)s found %(n_found)s gaps; %(n_drawn)s were drawn.") % result
        yield gettext("New in %(target)s: %(n_new)s; there already: %(n_present)s.") % result
        if result["n_nowhere"]:
            yield gettext("Left out, as their words are not in the reply: %(n_nowhere)s.") % result
