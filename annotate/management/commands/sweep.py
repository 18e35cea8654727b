"""`manage.py sweep`: what a worker does every 15 seconds, once and here: give up what died, take back what pools gave
and nobody works on, and do what there is to do."""

from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext

from annotate import pools, work
from annotate.management.said import SaidCommand


class Command(SaidCommand):
    help = "Do the jobs that wait, give up those whose worker died too often, remove files nobody needs any more."

    def act(self, **options):
        autodiscover_modules("tasks")  # jobs of every app are done, as in a worker
        swept = work.sweep()
        n_taken_back = pools.take_back_expired()
        ended = work.drain()
        return {
            "done": ended[work.State.DONE],
            "again_later": ended[work.State.WAITING],
            "given_up": swept.n_dead + ended[work.State.DEAD],
            "removed_files": swept.n_tidied + work.tidy(),
            "places_taken_back": n_taken_back,
            "unknown_kinds": list(swept.unknown_kinds),
        }

    def words(self, result):
        yield (
            gettext(
                "%(done)s jobs done, %(again_later)s to be tried again later, %(given_up)s given up; "
                "%(removed_files)s files removed."
            )
            % result
        )
        if result["places_taken_back"]:
            yield gettext("%(places_taken_back)s items taken back whose lease had ended.") % result
        for kind in result["unknown_kinds"]:
            yield gettext("Jobs of the kind %(kind)s wait, and nothing here does them.") % {"kind": kind}
