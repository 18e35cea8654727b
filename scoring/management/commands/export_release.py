"""`manage.py export_release PROJECT --out DIR`: a sealed release as files, all of them or none."""

from pathlib import Path

from django.utils.translation import gettext

from annotate import exporting, release_queries
from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called
from annotate.rules.release_shape import JURY
from annotate.traces.base import Problem, gettext_noop


class Command(SaidCommand):
    help = "Write a sealed release into a new folder: JSONL, CSV, Web Annotations, data cards, Parquet."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument(
            "--number", type=int, metavar="N", help="not the newest release of people's labels; a jury's is named so"
        )
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder that is new or empty")
        parser.add_argument("--method-file", metavar="NAME", help="labels in the form of the method, as DIR/NAME")
        parquet = parser.add_mutually_exclusive_group()
        parquet.add_argument("--parquet", action="store_true", default=None, help="refuse where the extra is missing")
        parquet.add_argument("--no-parquet", action="store_false", dest="parquet", help="never write it")

    def act(self, *, project, number, out, parquet, method_file, **options):
        release = release_queries.release_numbered(project_called(project), number)
        if release is None:
            raise Refused(no_release(project))
        if method_file is not None:
            return self.write_method_file(release, method_file, out)
        exported = exporting.export_release(release, out, with_parquet=parquet)
        for problem in exported.left_out:
            self.say(problem.sentence(gettext))
        return {
            "project": project,
            "number": release.number,
            "made_by": release.made_by,
            "content_hash": release.content_hash,
            "folder": str(exported.folder),
            "files": [one.as_dict() for one in exported.files],
            "left_out": [problem.as_dict(gettext) for problem in exported.left_out],
        }

    def write_method_file(self, release, name, out):
        names = exporting.method_files(release)
        if name not in names:
            raise Refused(exporting.no_method_file(names))
        exporting.refuse_taken(out)
        try:
            out.mkdir(parents=True, exist_ok=True)
            exporting.write_method_file(release, name, out / name)
        except OSError as error:
            raise Refused(exporting.cannot_write(out, error)) from error
        said = {"number": release.number, "made_by": release.made_by, "content_hash": release.content_hash}
        files = [{"name": name, "rows": None}]
        return {"project": release.project.slug, **said, "folder": str(out), "files": files, "left_out": []}

    def words(self, result):
        yield gettext("Release %(number)s of %(project)s is in %(folder)s.") % result
        if result["made_by"] == JURY:
            yield gettext("The labels are of models and not of people.")
        for file in result["files"]:
            rows = "" if file["rows"] is None else gettext("%(n)s rows") % {"n": file["rows"]}
            yield f"  {file['name']:22} {rows}".rstrip()


def no_release(slug) -> Problem:
    return Problem(
        code="unknown_release",
        field="number",
        expected=gettext_noop("There is no such release of %(slug)s."),
        remedy=gettext_noop("Seal one first: seal_release PROJECT. A jury's is named by its number."),
        params={"slug": slug},
    )
