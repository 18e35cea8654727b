"""Statements whose SQL is made once. Django makes the SQL of a query anew at each call, which for the small statements
of a page takes several times as long as the database needs to answer them."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection
from django.db.models import Field, IntegerField, Model, QuerySet
from django.db.models.constants import OnConflict
from django.db.models.expressions import RawSQL
from django.db.models.sql import InsertQuery, UpdateQuery


class Place:
    """Stands in the parameters of a prepared statement for a value that each call brings."""

    def __init__(self, name: str, field: Field) -> None:
        self.name, self.field = name, field


def place(name: str, field: Field | None = None) -> RawSQL:
    """An expression for a value that is not known yet, a whole number unless another field is named."""
    field = field or IntegerField()
    return RawSQL("%s", [Place(name, field)], output_field=field)


class Prepared:
    """A statement with places. `build` makes its query, once for each kind of database, when it is first needed; the
    values of a call are handed over as parameters, like those of any query."""

    def __init__(self, build: Callable[[], Any]) -> None:
        self.build = build
        self.made: dict[str, tuple] = {}

    def execute(self, cursor, sql: str, params: tuple[Any, ...], values: dict[str, Any]) -> None:
        filled = [
            one.field.get_db_prep_value(values[one.name], connection) if isinstance(one, Place) else one
            for one in params
        ]
        cursor.execute(sql, filled)


class PreparedRead(Prepared):
    """A `values_list` query: `PreparedRead(build).rows(annotator=7)`."""

    def rows(self, **values: Any) -> list[tuple]:
        sql, params, convert = self.made.get(connection.vendor) or self.make()
        with connection.cursor() as cursor:
            self.execute(cursor, sql, params, values)
            return convert(cursor.fetchall())

    def row(self, **values: Any) -> tuple | None:
        return next(iter(self.rows(**values)), None)

    def make(self):
        queryset: QuerySet = self.build()
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column[0] for column in compiler.select])

        def convert(rows):
            return list(map(tuple, compiler.apply_converters(rows, converters))) if converters else rows

        return self.made.setdefault(connection.vendor, (sql, params, convert))


class PreparedUpdate(Prepared):
    """A query and the fields it sets: `PreparedUpdate(build).count(assignment=7)` says how many rows it changed."""

    def count(self, **values: Any) -> int:
        sql, params = self.made.get(connection.vendor) or self.make()
        with connection.cursor() as cursor:
            self.execute(cursor, sql, params, values)
            return cursor.rowcount

    def make(self):
        queryset, fields = self.build()
        query = queryset.query.chain(UpdateQuery)
        query.add_update_values(fields)
        return self.made.setdefault(connection.vendor, query.get_compiler(connection=connection).as_sql())


class PreparedInsert:
    """New rows whose statements are made before the transaction that writes them: a few times as long as the database
    needs to write them, during which nobody has to wait. The rows do not learn their keys."""

    def __init__(self, rows: Sequence[Model]) -> None:
        self.statements = [statement for part in parts_of(rows) for statement in insert_of(part)]

    def execute(self) -> None:
        with connection.cursor() as cursor:
            for sql, params in self.statements:
                cursor.execute(sql, params)


def insert_unless_there(row: Model) -> bool:
    """Write one row; False where a unique constraint has another one in its place, which breaks off nothing."""
    query = InsertQuery(type(row), on_conflict=OnConflict.IGNORE)
    query.insert_values(fields_of(type(row)), [row])
    ((sql, params),) = query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return bool(cursor.rowcount)


def fields_of(model: type[Model]) -> list[Field]:
    return [field for field in model._meta.concrete_fields if not field.primary_key]


def parts_of(rows: Sequence[Model]) -> list[Sequence[Model]]:
    """As many rows a statement as the database takes."""
    if not rows:
        return []
    size = connection.ops.bulk_batch_size(fields_of(type(rows[0])), rows)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def insert_of(rows: Sequence[Model]) -> list[tuple[str, tuple[Any, ...]]]:
    query = InsertQuery(type(rows[0]))
    query.insert_values(fields_of(type(rows[0])), rows)
    return query.get_compiler(connection=connection).as_sql()
