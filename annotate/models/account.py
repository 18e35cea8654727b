"""How a person gets in: sessions of a browser, and tokens of a script."""

from django.contrib.sessions.base_session import AbstractBaseSession, BaseSessionManager
from django.db import models
from django.db.models import Q

from annotate.models.project import Person, Project, Role


class Session(AbstractBaseSession):
    """A browser's session with the person it belongs to, so that one can see and end one's own."""

    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.CASCADE, related_name="sessions")
    agent = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BaseSessionManager()


class Token(models.Model):
    """A key to the API, stored as a hash: for one person, one project and the part they have in it."""

    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="tokens")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tokens")
    role = models.CharField(max_length=10, choices=Role)
    name = models.CharField(max_length=100)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(role__in=Role.values), name="token_role_known")]

    def __str__(self):
        return self.name
