"""`manage.py export_workflows PROJECT --run N`: the workflows that a run has written, one JSON object a line."""

import json

from annotate.management.said import SaidCommand, project_called
from scoring.experience import workflow_lines, workflow_run


class Command(SaidCommand):
    help = "Print the workflows of a run of the judge workflow, one JSON object a line, for agents elsewhere."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("--run", type=int, required=True, metavar="N", help="a run of the judge workflow")

    def act(self, *, project, run, **options):
        found = workflow_run(project_called(project), run)
        self.lines = [line.rstrip("\n") for line in workflow_lines(found)]
        return {"project": project, "run": run, "workflows": list(map(json.loads, self.lines))}

    def words(self, result):
        yield from self.lines
