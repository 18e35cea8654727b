"""The audit trail: what happened, by whom, in the order of its ids. Rows are only ever added."""

from django.db import models

from annotate.models.project import Person, Project


class Event(models.Model):
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="events")
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT)
    action = models.CharField(max_length=60)
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return self.action
