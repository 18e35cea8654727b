"""Time passes for jobs: by the database's clock, as in the product."""

from datetime import timedelta

from django.db.models.functions import Now

from annotate.models import Work


def end_lease(row):
    """As if nothing had been heard of a job's worker for a while."""
    assert Work.objects.filter(pk=row.pk, state="running").update(lease_until=Now() - timedelta(seconds=1))


def be_due():
    """As if every job that waits for its next attempt had waited long enough."""
    Work.objects.filter(state="waiting").update(not_before=Now() - timedelta(seconds=1))


def seconds_until(row, field):
    ((at, now),) = Work.objects.filter(pk=row.pk).values_list(field, Now())
    return (at - now).total_seconds()
