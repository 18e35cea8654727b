"""`manage.py run_judge PROJECT JUDGE`: a run from its start to its end, here and in every worker there is."""

import json
import re
import time
from argparse import ArgumentTypeError
from decimal import Decimal, InvalidOperation
from functools import partial

from django.utils.translation import gettext
from tqdm import tqdm

from annotate import work
from annotate.management.said import SaidCommand, project_called
from annotate.models import Phase
from scoring import call_queries, driving
from scoring.asking import Cap
from scoring.estimating import estimate_run
from scoring.judges.registry import all_judges
from scoring.running import Asking, judge_for, problem_of, run_progress, start_run

LOOK_SECONDS = 0.5


def amount(word) -> Decimal:
    """The type of an option: a sum of money."""
    try:
        return Decimal(word)
    except InvalidOperation:
        raise ArgumentTypeError(f"a cost is a number, not {word!r}") from None


def version(word) -> tuple[str, str, int]:
    """The type of an option: a prompt's key, language and number."""
    found = re.fullmatch(r"([^:=]+):([^:=]+)=([1-9][0-9]{0,8})", word)
    if found is None:
        raise ArgumentTypeError(f"a version of a prompt is KEY:LANGUAGE=NUMBER, such as checker:en=2, not {word!r}")
    return found[1], found[2], int(found[3])


def setting(word) -> tuple[str, object]:
    """The type of an option: a setting of the judge's own, its value JSON or else the text it is."""
    name, sign, value = word.partition("=")
    if not name or not sign:
        raise ArgumentTypeError(f"a setting is NAME=VALUE, such as condition=default, not {word!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


class Command(SaidCommand):
    help = "Let a judge judge the items of a project; what it finds stands beside people's labels, for leads."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("judge", metavar="JUDGE", help=f"one of: {', '.join(sorted(all_judges()))}")
        parser.add_argument("--phase", action="append", choices=Phase.values, help="main without; may be given again")
        parser.add_argument("--samples", type=int, default=1, metavar="N", help="verdicts an item")
        parser.add_argument("--points", type=int, metavar="N", help="the replies of these points, and no phases")
        parser.add_argument(
            "--set",
            type=setting,
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a setting of the judge, its value JSON or text; may be given again",
        )
        asking = parser.add_argument_group("judges that ask a model", "need an endpoint and a cap")
        asking.add_argument("--endpoint", metavar="NAME", help="the endpoint of the project that is asked")
        asking.add_argument("--cap-calls", type=int, metavar="N", help="most requests of the run")
        asking.add_argument("--cap-tokens", type=int, metavar="N", help="most tokens, in and out")
        asking.add_argument("--cap-cost", type=amount, metavar="SUM", help="most cost, by the endpoint's prices")
        asking.add_argument(
            "--prompt",
            type=version,
            action="append",
            default=[],
            metavar="KEY:LANGUAGE=NUMBER",
            help="a version of a prompt, such as checker:en=2, the newest without; may be given again",
        )
        asking.add_argument("--anew", action="store_true", help="use no recorded answers to equal questions")
        asking.add_argument("--estimate", action="store_true", help="say what it would take, and start nothing")

    def act(self, *, project, judge, phase, samples, **options):
        found = project_called(project)
        chosen = {"person": None, "project": found, "judge": judge, "phases": phase or ["main"], "n_samples": samples}
        chosen |= {"points": options["points"], "settings": dict(options["set"])}
        asks = judge_for(found, judge).asks
        if (asks and not options["json"]) or options["estimate"]:
            self.estimated = self.estimate(chosen, options)
            if options["estimate"]:
                return self.estimated
            self.say("\n".join(self.words(self.estimated)))
        run = start_run(**chosen, asking=self.asking(options) if asks or options["endpoint"] else None)
        progress = self.follow(run)
        run.refresh_from_db()
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
            **(self.asked(run) if asks else {}),
        }

    def asking(self, options):
        cap = Cap(options["cap_calls"], options["cap_tokens"], options["cap_cost"])
        prompts = {}
        for key, language, number in options["prompt"]:
            prompts.setdefault(key, {})[language] = number
        return Asking(options["endpoint"] or "", cap, reuse=not options["anew"], prompts=prompts)

    def estimate(self, chosen, options):
        made = estimate_run(**chosen, endpoint=options["endpoint"] or "", reuse=not options["anew"])
        return {
            "verdicts": made.n_judgments,
            "looked_at": made.n_looked_at,
            "calls": made.n_calls,
            "stored_answers": made.n_stored,
            "tokens_in": made.tokens_in,
            "tokens_out": made.tokens_out,
            "cost": None if made.cost is None else float(made.cost),
        }

    def asked(self, run):
        """What a run asked, and why it was held."""
        asked = call_queries.asked_by([run.pk])[run.pk]
        held = problem_of(run.held_for).as_dict(gettext) if run.held_for else None
        return {
            "calls": asked.n_calls,
            "recorded_answers": asked.n_copied,
            "requests": asked.n_requests,
            "lost": asked.n_lost,
            "tokens_in": asked.tokens_in,
            "tokens_out": asked.tokens_out,
            "cost": None if asked.cost is None else float(asked.cost),
            "held_for": held,
        }

    def follow(self, run):
        if run.endpoint_id:
            return self.drive(run)
        return self.work(run)

    def drive(self, run):
        """Drive the run here, or watch the worker that does. Ctrl+C leaves the rest to the workers."""
        with tqdm(total=run_progress(run).n_items, unit="item", file=self.stderr, disable=None) as bar:
            try:
                while self.tell(run, bar).state == "running" and not self.waits_for_people(run):
                    driver = driving.driver_of(run)
                    job = work.claim_this(driver) if driver else None
                    if job is None:
                        work.sweep()
                        time.sleep(LOOK_SECONDS)
                    else:
                        work.run(job, partial(driving.drive, tell=partial(self.tell_now_and_then, run, bar)))
            except KeyboardInterrupt:
                self.say_goes_on(run)
            return self.tell(run, bar)

    def waits_for_people(self, run):
        """Whether there is nothing to do but to paste answers."""
        due = call_queries.seconds_to_next_job(run.group_id)
        return due is not None and due > driving.FAR_SECONDS and driving.driver_of(run) is None

    next_look = 0.0

    def tell_now_and_then(self, run, bar):
        if time.monotonic() >= self.next_look:
            self.next_look = time.monotonic() + LOOK_SECONDS
            self.tell(run, bar)

    def tell(self, run, bar):
        progress = run_progress(run)
        bar.update(progress.n_done + progress.n_dead - bar.n)
        if not bar.disable:
            asked = call_queries.asked_by([run.pk])[run.pk]
            said = {"failed": progress.n_dead, "waiting": progress.n_left, "requests": asked.n_requests}
            bar.set_postfix(said if asked.cost is None else {**said, "cost": f"{asked.cost:.4f}"}, refresh=False)
        return progress

    def say_goes_on(self, run):
        said = gettext("Run %(number)s goes on in the worker of the site; its page says how far it is.")
        self.say(said % {"number": run.number})

    def work(self, run):
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
                self.say_goes_on(run)
            progress = run_progress(run)
            bar.update(progress.n_done + progress.n_dead - bar.n)
        return progress

    def words(self, result):
        if "looked_at" in result:
            yield gettext(
                "It will take about %(calls)s calls for %(verdicts)s verdicts, %(tokens_in)s tokens in and "
                "%(tokens_out)s out; first questions with a recorded answer: %(stored_answers)s."
            ) % result
            if result["cost"] is not None:
                yield gettext("Cost, about: %(cost)s.") % {"cost": f"{result['cost']:.4f}"}
            return
        yield gettext("Run %(run)s of the judge %(judge)s in %(project)s: %(state)s.") % {
            **result,
            "state": STATES[result["state"]](),
        }
        yield gettext(
            "Verdicts: %(verdicts)s on %(items)s items; answers that could not be read: %(unreadable)s; given up: "
            "%(given_up)s; left: %(left)s."
        ) % result
        if "requests" in result:
            yield gettext(
                "Calls answered: %(calls)s, of %(requests)s requests sent; recorded answers used again: "
                "%(recorded_answers)s; tokens: %(tokens_in)s in, %(tokens_out)s out."
            ) % result
            if result["cost"] is not None:
                yield gettext("Cost: %(cost)s.") % {"cost": f"{result['cost']:.4f}"}
            if result["held_for"]:
                yield f"{gettext('The run was held:')} {result['held_for']['expected']} {result['held_for']['remedy']}"


STATES = {
    "running": lambda: gettext("running"),
    "paused": lambda: gettext("paused"),
    "cancelled": lambda: gettext("called off"),
    "done": lambda: gettext("done"),
}
