"""`manage.py run_judge PROJECT JUDGE`: a run from its start to its end, here and in every worker there is."""

import time

from django.utils.translation import gettext
from tqdm import tqdm

from annotate import work
from annotate.management.said import SaidCommand, project_called
from annotate.models import Phase
from scoring.judges.registry import all_judges
from scoring.running import run_progress, start_run

LOOK_SECONDS = 0.5


class Command(SaidCommand):
    help = "Let a judge judge the items of a project; what it finds stands beside people's labels, for leads."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("judge", metavar="JUDGE", help=f"one of: {', '.join(sorted(all_judges()))}")
        parser.add_argument("--phase", action="append", choices=Phase.values, help="main without; may be given again")
        parser.add_argument("--samples", type=int, default=1, metavar="N", help="verdicts an item")

    def act(self, *, project, judge, phase, samples, **options):
        found = project_called(project)
        run = start_run(person=None, project=found, judge=judge, phases=phase or ["main"], n_samples=samples)
        progress = self.follow(run)
        return {
            "project": found.slug,
            "run": run.number,
            "judge": judge,
            "state": progress.state,
            "items": run.n_items,
            "verdicts": progress.n_done,
            "unreadable": progress.n_unreadable,
            "given_up": progress.n_dead,
            "left": progress.n_left,
        }

    def follow(self, run):
        """Do the run's jobs until none is left, beside the workers there are, and say how far it is. Ctrl+C leaves the
        rest to them."""
        progress, next_look = run_progress(run), 0.0
        with tqdm(total=progress.n_items, unit="item", file=self.stderr, disable=None) as bar:
            try:
                while progress.state == "running":
                    job = work.claim(run.group)
                    if job is None:
                        time.sleep(LOOK_SECONDS)  # others have the last ones, or they wait for another try
                    else:
                        work.run(job)
                    if job is None or time.monotonic() >= next_look:
                        next_look = time.monotonic() + LOOK_SECONDS
                        progress = run_progress(run)
                        bar.update(progress.n_done + progress.n_dead - bar.n)
            except KeyboardInterrupt:
                self.say(
                    gettext("Run %(number)s goes on in the worker of the site; its page says how far it is.")
                    % {"number": run.number}
                )
            progress = run_progress(run)
            bar.update(progress.n_done + progress.n_dead - bar.n)
        return progress

    def words(self, result):
        yield gettext("Run %(run)s of the judge %(judge)s in %(project)s: %(state)s.") % {
            **result,
            "state": STATES[result["state"]](),
        }
        yield gettext(
            "Verdicts: %(verdicts)s on %(items)s items; answers that could not be read: %(unreadable)s; given up: "
            "%(given_up)s; left: %(left)s."
        ) % result


STATES = {
    "running": lambda: gettext("running"),
    "paused": lambda: gettext("paused"),
    "cancelled": lambda: gettext("called off"),
    "done": lambda: gettext("done"),
}
