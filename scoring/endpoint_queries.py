"""Named reads of endpoints."""

from django.db.models import QuerySet

from annotate.models import Project
from scoring.models import Endpoint


def endpoints_of(project: Project) -> QuerySet[Endpoint]:
    """Those in use, by name."""
    return Endpoint.objects.filter(project=project, archived_at=None).order_by("name")


def archived_endpoints_of(project: Project) -> QuerySet[Endpoint]:
    """Newest first."""
    return Endpoint.objects.filter(project=project).exclude(archived_at=None).order_by("-archived_at", "-pk")


def endpoint_in_use(project: Project, endpoint_id: int) -> Endpoint | None:
    return endpoints_of(project).filter(pk=endpoint_id).first() if endpoint_id < 2**63 else None
