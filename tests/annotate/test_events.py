"""The audit trail is only added to, whoever tries: the database refuses."""

import pytest
from django.db import DatabaseError, transaction

from annotate.models import Event

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "change", [lambda rows: rows.update(action="another"), lambda rows: rows.delete()], ids=["changed", "removed"]
)
def test_an_event_cannot_be_changed_or_removed(change):
    Event.objects.create(action="done")
    with pytest.raises(DatabaseError, match="only added"), transaction.atomic():
        change(Event.objects.all())
    assert [event.action for event in Event.objects.all()] == ["done"]
