"""Items that are given one at a time to whoever asks, instead of in a plan."""

from django.db import models
from django.db.models import F, Q

from annotate.models.item import Item
from annotate.models.project import Project
from annotate.models.trace import Trace


class PoolItem(models.Model):
    """An item in the pool of its project, with how many of its places are free; no places at all: everybody is given
    it. `block` is where it stands in the pool's order for good, `queue` where it waits, nowhere while no place is free.

    What an ask looks through stands here once more, beside the item itself, so that it reads one index."""

    item = models.OneToOneField(Item, on_delete=models.CASCADE, primary_key=True, related_name="pool")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pool_items", db_index=False)
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="+")
    anchor = models.PositiveIntegerField()
    language = models.CharField(max_length=10, blank=True)
    block = models.PositiveBigIntegerField()
    queue = models.PositiveBigIntegerField(null=True, blank=True)
    places = models.PositiveIntegerField(null=True, blank=True)
    n_free = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(places=None, n_free=1) | Q(places__isnull=False, n_free__lte=F("places")),
                name="pool_item_places_exist",
            ),
            models.CheckConstraint(
                condition=Q(queue=None, n_free=0) | Q(queue__isnull=False, n_free__gt=0),
                name="pool_item_waits_while_free",
            ),
        ]
        indexes = [models.Index(fields=["project", "queue"], name="pool_item_next")]

    def __str__(self):
        return f"pool item {self.pk}"
