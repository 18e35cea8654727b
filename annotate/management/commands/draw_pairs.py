"""`manage.py draw_pairs PROJECT`: who reads which of two versions of a point is drawn, once; or what was drawn is
shown."""

import csv
import io
import secrets

from django.utils import timezone
from django.utils.translation import gettext

from annotate import pair_queries, pairing
from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called, seed_word
from annotate.rules.csv_cells import cell
from annotate.rules.pairs import Wanted
from annotate.traces.base import Problem, gettext_noop

COLUMNS = ("annotator", "collaboration", "point", "arm")


class Command(SaidCommand):
    help = "Draw which collaborations and points five people read, and who reads which version; nobody is told of two."

    def add_arguments(self, parser):
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print one JSON object on one line")
        form.add_argument("--csv", action="store_true", help="of what was drawn: one row an assignment")
        parser.add_argument("project")
        parser.add_argument("--seed", type=seed_word, help="of the draw; drawn and printed when not given")
        parser.add_argument("--annotators", metavar="CODES", help="five codes with commas, where more people annotate")
        points = parser.add_mutually_exclusive_group()
        points.add_argument("--quota", type=int, metavar="N", help="points of each collaboration; all when not given")
        points.add_argument("--points", type=int, metavar="N", help="points in all, as many of each as can be")
        parser.add_argument("--per-area", type=int, metavar="N", help="collaborations an area, one of each model")
        parser.add_argument("--per-language", type=int, metavar="N", help="collaborations a language in all")
        parser.add_argument("--more", type=int, default=1, metavar="N", help="of each language beside those of models")
        parser.add_argument("--take-over", metavar="CODE", help="draw nothing: what this one has not finished goes to")
        parser.add_argument("--by", metavar="CODE", help="this one, who has nothing of the project yet")
        parser.add_argument("--show", action="store_true", help="draw nothing, show who reads what")

    def act(self, *, project, seed, annotators, **options):
        found, self.as_csv = project_called(project), options["csv"]
        if (options["take_over"] is None) != (options["by"] is None):
            raise Refused(WHO_AND_BY_WHOM)
        if options["take_over"] is not None:
            whose, by = options["take_over"], options["by"]
            n = pairing.take_over(lead=None, project=found, code=whose, by_code=by, now=timezone.now())
            return {"project": found.slug, "from": whose, "to": by, "texts": n}
        if not (options["show"] or options["csv"]):
            drawn = self.draw(found, secrets.randbelow(2**31) if seed is None else seed, annotators, options)
            return {
                **{"project": found.slug, "seed": drawn.seed, "annotators": drawn.asked["codes"]},
                "collaborations": len(drawn.collaborations),
                "points": sum(len(one["points"]) for one in drawn.collaborations),
                **pair_queries.n_of_versions(found),
            }
        drawn = pair_queries.draw_of(found)
        if drawn is None:
            raise Refused(NOTHING_DRAWN)
        rows = [
            dict(zip(COLUMNS, (one.code, one.collaboration, one.point, one.arm), strict=True))
            for one in pair_queries.planned_pairs(found)
        ]
        return {"project": found.slug, "seed": drawn.seed, "assignments": rows}

    def draw(self, project, seed, annotators, options):
        numbers = {name: options[name] for name in ("quota", "points", "per_area", "per_language")}
        for name, n in numbers.items():
            if n is not None and n < 1:
                raise Refused(no_number(name, 1))
        if options["more"] < 0:
            raise Refused(no_number("more", 0))
        wanted = Wanted(
            per_area=numbers["per_area"],
            per_language=numbers["per_language"],
            more_per_language=options["more"],
            quota=numbers["quota"],
            n_points=numbers["points"],
        )
        codes = None if annotators is None else [code.strip() for code in annotators.split(",")]
        return pairing.draw_pairs(
            lead=None, project=project, seed=seed, codes=codes, wanted=wanted, now=timezone.now()
        )

    def words(self, result):
        if "texts" in result:
            yield gettext("%(to)s reads what %(from)s has not finished; texts: %(texts)s.") % result
        elif "assignments" not in result:
            yield gettext(
                "Drawn in %(project)s, seed %(seed)s: %(collaborations)s collaborations with %(points)s points for "
                "%(annotators)s; %(default)s times the default is read, %(rewrite)s times the rewrite."
            ) % {**result, "annotators": ", ".join(result["annotators"])}
        elif self.as_csv:
            yield from csv_lines(result["assignments"])
        else:
            yield gettext("Drawn in %(project)s, seed %(seed)s.") % result
            for row in result["assignments"]:
                yield f"{row['annotator']:8} {row['collaboration']:40} {row['point']:24} {row['arm']}"


def csv_lines(rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([cell(row[name]) for name in COLUMNS] for row in rows)
    return text.getvalue().splitlines()


def no_number(name, least):
    return Problem(
        code="out_of_range",
        field=name,
        expected=gettext_noop("A whole number from %(least)s on."),
        remedy=gettext_noop("Correct it."),
        params={"least": least},
    )


WHO_AND_BY_WHOM = Problem(
    code="missing_field",
    field="take_over",
    expected=gettext_noop("Whose rest is taken over and by whom: --take-over and --by."),
    remedy=gettext_noop("Name both, or neither."),
)
NOTHING_DRAWN = Problem(
    code="nothing_drawn",
    field="PROJECT",
    expected=gettext_noop("A project in which pairs were drawn."),
    remedy=gettext_noop("Draw them first: without --show and --csv."),
)
