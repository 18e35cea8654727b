"""`manage.py inspect_traces PATH...`: what trace files hold, and what an import would refuse. Needs no database."""

from pathlib import Path

from django.utils.translation import gettext

from annotate.importing import import_caps
from annotate.management.commands.import_traces import no_file
from annotate.management.said import SaidCommand
from annotate.traces.reading import Reading
from annotate.traces.tally import Tally

ENDINGS = {".json", ".jsonl", ".ndjson"}


class Command(SaidCommand):
    help = "Read trace files without importing them: counts, what is not understood, what would be refused and why."
    requires_system_checks = ()

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder of them")
        parser.add_argument("--format", default="auto", help="auto (by content) or the name of a format")

    def handle(self, *args, **options):
        self.is_refused = False
        super().handle(*args, **options)
        if self.is_refused:
            raise SystemExit(1)

    def act(self, *, paths, format, **options):
        return {"files": [self.inspect(path, format) for given in paths for path in self.files_in(given)]}

    def files_in(self, given):
        """The file, or those of a folder that may hold traces by their names."""
        if not given.is_dir():
            return [given]
        files = sorted(path for path in given.rglob("*") if path.is_file())
        taken = [path for path in files if path.suffix.lower() in ENDINGS]
        if len(taken) < len(files):
            said = gettext("%(folder)s: %(n)s files passed over, whose names end in none of %(endings)s.")
            self.say(said % {"folder": given, "n": len(files) - len(taken), "endings": ", ".join(sorted(ENDINGS))})
        return taken

    def inspect(self, path, format):
        tally, found = Tally(), ""
        if path.is_file():
            with path.open("rb") as file:
                reading = Reading(file, file_name=str(path), format=format, caps=import_caps())
                for _ in tally.traces_in(reading):
                    pass
                found = reading.format
        else:
            tally.add_problem(no_file(path))
        self.is_refused |= tally.n_problems > 0
        for problem in [*tally.problems, *tally.warnings]:
            self.say(problem.sentence(gettext))
        return {
            "path": str(path),
            "format": found,
            "traces": tally.traces,
            "messages": tally.messages,
            "calls": tally.calls,
            "paired": tally.paired,
            "unpaired": tally.unpaired,
            "skipped": dict(tally.skipped),
            "n_refused": tally.n_problems,
            "refused": [problem.as_dict(gettext) for problem in tally.problems],
            "warnings": [problem.as_dict(gettext) for problem in tally.warnings],
        }

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
