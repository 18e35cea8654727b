"""`manage.py agreement PROJECT`, or `agreement --csv FILE` for people who have a spreadsheet."""

from pathlib import Path

from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called
from annotate.traces.base import Problem, gettext_noop
from scoring import words
from scoring.comparing import PHASES, agreement_report, table_agreement
from scoring.spreadsheet import read_table

CSV_SEED = 1


class Command(SaidCommand):
    help = "Agreement of the annotators of a project, or of the raters in a CSV, with intervals over clusters."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project", nargs="?")
        parser.add_argument("--measure", help="only this measure of the project's kind")
        parser.add_argument("--phase", choices=PHASES, default="main")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="ratings in a CSV instead, one row a rating")
        parser.add_argument("--item", default="item", metavar="COL")
        parser.add_argument("--rater", default="rater", metavar="COL")
        parser.add_argument("--label", default="label", metavar="COL")
        parser.add_argument("--cluster", metavar="COL", help="without it each item is its own cluster")
        parser.add_argument("--categories", nargs="+", metavar="LABEL", help="the labels there are, in their order")
        parser.add_argument("--seed", type=int, default=CSV_SEED, help="of the resamples of a CSV")

    def act(self, *, project, measure, phase, csv, **options):
        if (project is None) == (csv is None):
            raise Refused(
                Problem(
                    code="missing_field",
                    field="PROJECT",
                    expected=gettext_noop("Either a project or a file."),
                    remedy=gettext_noop("Give PROJECT, or --csv FILE."),
                )
            )
        if csv is None:
            self.report = agreement_report(project_called(project), phase=phase, measure=measure)
            return self.report.as_dict()
        columns = {name: options[name] for name in ("item", "rater", "label", "cluster", "categories")}
        self.panel = table_agreement(read_table(csv, **columns), seed=options["seed"])
        return {
            "file": csv.name,
            "clusters": options["cluster"] or "each item its own",
            "agreement": self.panel.as_dict(),
        }

    def words(self, result):
        if "agreement" in result:
            yield f"{result['file']}; clusters: {result['clusters']}"
            yield from panel_lines(self.panel)
            return
        if result["is_synthetic"]:
            yield gettext("Demo: these figures rest on synthetic labels. They say nothing about people.")
        if not result["is_result"]:
            yield gettext("Pilot, not a result.")
        for part in self.report.measures:
            yield ""
            yield gettext(part.measure.title)
            yield from panel_lines(part.panel)


def panel_lines(panel):
    """A panel's figures, one a line."""
    yield f"  n: {panel.n_items} items, {panel.n_raters} raters, {panel.n_ratings} ratings, {panel.n_clusters} clusters"
    figures = ("percent_item", "percent_pair", "fleiss_kappa", "krippendorff_alpha", "mean_kappa")
    for name in figures:
        yield figure_line(name, getattr(panel, name))
    for rater in panel.raters:
        yield figure_line(f"{rater.rater} against the others", rater.kappa)
    for pair in panel.pairs:
        yield figure_line(f"{pair.first} and {pair.second}", pair.kappa)
    yield f"  intervals: {panel.n_resamples} resamples, unit {panel.unit}, seed {panel.seed}; ties: {panel.tie_rule}"


def figure_line(name, figure):
    interval = words.interval_words(figure)
    parts = [words.value_words(figure), f"[{interval}]" if interval else "", f"n={figure.n_items}", words.notes(figure)]
    return f"  {name:28} " + "  ".join(part for part in parts if part)
