"""`manage.py inspect_traces PATH...`: what trace files hold, and what an import would refuse. Needs no database."""

from collections import Counter
from pathlib import Path

from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.importing import import_caps, labels_in, unpack_caps
from annotate.management.commands.import_traces import no_file, said_of_labels
from annotate.management.said import SaidCommand
from annotate.traces.reading import Reading
from annotate.traces.tally import Tally

COUNTED = ("traces", "messages", "calls", "paired", "unpaired", "n_refused")
COLUMNS = ("format", "files", *COUNTED[:-1], "skipped", "n_refused")
PASSED_OVER = frozenset({"unsupported_type"})
"""In a folder, files that hold no data at all are no traces that somebody meant; they are counted and named."""


class Command(SaidCommand):
    help = "Read trace files without importing them: counts, what is not understood, what would be refused and why."
    requires_system_checks = ()

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder of them")
        parser.add_argument("--labels", type=Path, metavar="FILE", help="labels of these runs that lie beside them")
        parser.add_argument("--format", default="auto", help="auto (by content) or the name of a format")

    def handle(self, *args, **options):
        self.is_refused = False
        super().handle(*args, **options)
        if self.is_refused:
            raise SystemExit(1)

    def act(self, *, paths, format, labels, **options):
        if labels and not labels.is_file():
            raise Refused(no_file(labels))
        self.labels = labels_in(labels) if labels else None
        self.n_labelled = Counter()
        files, passed_over = [], []
        for given in paths:
            for path in files_in(given):
                found, tally = self.inspect(path, format)
                if given.is_dir() and tally.problem_codes and tally.problem_codes <= PASSED_OVER:
                    passed_over.append(str(path))
                    continue
                self.is_refused |= tally.n_problems > 0
                for problem in [*tally.problems, *tally.warnings]:
                    self.say(problem.sentence(gettext))
                files.append(found)
        found = {"formats": by_format(files), "files": files, "passed_over": passed_over}
        return {**found, **said_of_labels(self, self.labels, self.n_labelled)}

    def inspect(self, path, format):
        tally, formats = Tally(), {}
        if path.is_file():
            with path.open("rb") as file:
                reading = Reading(
                    file,
                    file_name=str(path),
                    format=format,
                    caps=import_caps(),
                    unpack_caps=unpack_caps(),
                    labels=self.labels,
                )
                for _ in tally.traces_in(reading):
                    pass
                formats = reading.formats
                self.n_labelled.update(reading.n_labelled)
        else:
            tally.add_problem(no_file(path))
        return {
            "path": str(path),
            "format": ", ".join(formats),
            "traces": tally.traces,
            "messages": tally.messages,
            "calls": tally.calls,
            "paired": tally.paired,
            "unpaired": tally.unpaired,
            "skipped": dict(tally.skipped),
            "n_refused": tally.n_problems,
            "refused": [problem.as_dict(gettext) for problem in tally.problems],
            "warnings": [problem.as_dict(gettext) for problem in tally.warnings],
        }, tally

    def words(self, result):
        for file in result["files"]:
            skipped = ", ".join(f"{n} {code}" for code, n in file["skipped"].items())
            more = {"format": file["format"] or gettext("unknown format"), "skipped": skipped or gettext("nothing")}
            yield (
                gettext(
                    "%(path)s (%(format)s): %(traces)s traces, %(messages)s messages, %(calls)s calls, "
                    "%(paired)s paired, %(unpaired)s unpaired; not understood: %(skipped)s; refused: %(n_refused)s."
                )
                % {**file, **more}
            )
        if result["passed_over"]:
            said = gettext("Passed over, as they hold no data that could be traces: %(n)s files (%(names)s).")
            names = ", ".join(Path(path).name for path in result["passed_over"][:5])
            more = ", …" if len(result["passed_over"]) > 5 else ""
            yield said % {"n": len(result["passed_over"]), "names": names + more}
        if len(result["files"]) > 1:
            yield from table(result["formats"])


def files_in(given):
    """The file, or those of a folder, whatever their names end in."""
    return sorted(path for path in given.rglob("*") if path.is_file()) if given.is_dir() else [given]


def by_format(files):
    """A row for each format, those of unknown ones last: how many files, and everything counted in them."""
    rows = {}
    for file in sorted(files, key=lambda file: (not file["format"], file["format"])):
        row = rows.setdefault(
            file["format"], {"format": file["format"], "files": 0, **dict.fromkeys(COUNTED, 0), "skipped": Counter()}
        )
        row["files"] += 1
        row["skipped"].update(file["skipped"])
        for name in COUNTED:
            row[name] += file[name]
    return [{**row, "skipped": dict(row["skipped"])} for row in rows.values()]


def table(rows):
    """The rows under their names, each column as wide as it has to be."""
    cells = [COLUMNS, *([cell(row, name) for name in COLUMNS] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(COLUMNS))]
    for line in cells:
        yield "  ".join(
            text.ljust(width) if place in (0, len(COLUMNS) - 2) else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()


def cell(row, name):
    if name == "skipped":
        return ", ".join(f"{n} {code}" for code, n in row["skipped"].items()) or "-"
    return str(row[name]) or "?"
