"""The draw of a blind comparison of two versions."""

from django.db import models

from annotate.models.project import Person, Project


class PairsDraw(models.Model):
    """What was drawn in a project whose items are given by pairs, once: its collaborations in the order in which their
    points are counted, of each the points and the codes by slot. Who reads which version stands in the assignments;
    this says how it came to be. Private to leads."""

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="pairs_draw")
    seed = models.BigIntegerField()
    asked = models.JSONField(default=dict)
    collaborations = models.JSONField(default=list)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    drawn_at = models.DateTimeField()

    def __str__(self):
        return f"pairs of {self.project_id}"
