"""The figures that are sealed with a release: human agreement of the main phase, as it is at that moment."""

from typing import Any

from annotate.models import Project
from scoring.comparing import agreement_report


def agreement_to_seal(project: Project, protocol: int) -> dict[str, Any]:
    return agreement_report(project, protocol=protocol).as_dict()
