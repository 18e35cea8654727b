"""A sealed release stays as it was sealed, whoever writes: the database itself refuses to change or remove it."""

from django.db import migrations

TABLES = {"release": "annotate_release", "release_item": "annotate_releaseitem"}

SQLITE = [
    f"""CREATE TRIGGER {name}_no_{action.lower()} BEFORE {action} ON {table}
    BEGIN SELECT RAISE(ABORT, 'releases are sealed'); END"""
    for name, table in TABLES.items()
    for action in ("UPDATE", "DELETE")
]
POSTGRESQL = [
    f"""CREATE TRIGGER {name}_no_change BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION annotate_refuse_change()"""
    for name, table in TABLES.items()
]
SQLITE_BACK = [f"DROP TRIGGER {name}_no_{action}" for name in TABLES for action in ("update", "delete")]
POSTGRESQL_BACK = [f"DROP TRIGGER {name}_no_change ON {table}" for name, table in TABLES.items()]


def run(sqlite, postgresql):
    def act(apps, schema_editor):
        for statement in sqlite if schema_editor.connection.vendor == "sqlite" else postgresql:
            schema_editor.execute(statement, params=None)

    return act


class Migration(migrations.Migration):
    dependencies = [("annotate", "0006_releases_and_groups_of_work")]
    operations = [migrations.RunPython(run(SQLITE, POSTGRESQL), run(SQLITE_BACK, POSTGRESQL_BACK))]
