"""A prepared statement does what the query it was made from would do, with the values of each call."""

from datetime import timedelta

import pytest
from django.db.models import CharField, DateTimeField

from annotate.models import Assignment, Protocol
from annotate.prepared import PreparedInsert, PreparedRead, PreparedUpdate, place
from tests.factories import NOW, make_assignment, make_cast

pytestmark = pytest.mark.django_db


def by_address():
    rows = Assignment.objects.filter(public_id=place("public_id", CharField()))
    return rows.values_list("pk", "state", "first_shown_at")


def test_each_call_reads_by_its_own_values():
    cast = make_cast()
    one, other = make_assignment(cast.ana, first_shown_at=NOW), make_assignment(cast.ben)
    read = PreparedRead(by_address)
    assert read.row(public_id=one.public_id) == (one.pk, one.state, NOW)
    assert read.row(public_id=other.public_id) == (other.pk, other.state, None)
    assert read.row(public_id="' OR 1=1 --") is None


def test_json_comes_back_as_values():
    cast = make_cast()
    read = PreparedRead(lambda: Protocol.objects.filter(project=place("project")).values_list("label_schema"))
    expected = list(Protocol.objects.filter(project=cast.project).values_list("label_schema"))
    assert read.rows(project=cast.project.pk) == expected
    assert isinstance(expected[0][0], dict)


def test_an_update_says_how_many_rows_it_changed():
    assignment = make_assignment(make_cast().ana)
    rows = Assignment.objects.filter(first_shown_at=None)
    shown = PreparedUpdate(
        lambda: (rows.filter(pk=place("assignment")), {"first_shown_at": place("now", DateTimeField())})
    )
    assert shown.count(assignment=assignment.pk, now=NOW) == 1
    assert shown.count(assignment=assignment.pk, now=NOW + timedelta(hours=1)) == 0
    assignment.refresh_from_db()
    assert assignment.first_shown_at == NOW


def test_rows_of_a_prepared_insert_are_those_that_django_would_write():
    project = make_cast().project
    rows = [Protocol(project=project, number=number, label_schema={"n": number}) for number in range(2, 503)]
    insert = PreparedInsert(rows)
    assert Protocol.objects.filter(project=project).count() == 1  # nothing is written before it is asked for
    insert.execute()
    written = Protocol.objects.filter(project=project, number__gte=2).order_by("number")
    assert [(one.number, one.label_schema) for one in written] == [(one.number, one.label_schema) for one in rows]
    assert all(one.created_at for one in written)


def test_a_prepared_insert_of_nothing_writes_nothing():
    PreparedInsert([]).execute()
    assert not Protocol.objects.exists()
