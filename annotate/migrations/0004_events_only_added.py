"""The audit trail is append-only, whoever writes: the database itself refuses to change or remove an event."""

from django.db import migrations

SQLITE = [
    f"""CREATE TRIGGER event_no_{action.lower()} BEFORE {action} ON annotate_event
    BEGIN SELECT RAISE(ABORT, 'events are only added'); END"""
    for action in ("UPDATE", "DELETE")
]
POSTGRESQL = [
    """CREATE FUNCTION annotate_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '% is only added to', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation'; END $$""",
    """CREATE TRIGGER event_no_change BEFORE UPDATE OR DELETE ON annotate_event
    FOR EACH ROW EXECUTE FUNCTION annotate_refuse_change()""",
]
SQLITE_BACK = ["DROP TRIGGER event_no_update", "DROP TRIGGER event_no_delete"]
POSTGRESQL_BACK = ["DROP TRIGGER event_no_change ON annotate_event", "DROP FUNCTION annotate_refuse_change"]


def run(sqlite, postgresql):
    def act(apps, schema_editor):
        for statement in sqlite if schema_editor.connection.vendor == "sqlite" else postgresql:
            schema_editor.execute(statement, params=None)  # a % in it is meant

    return act


class Migration(migrations.Migration):
    dependencies = [("annotate", "0003_browser_time_zone")]
    operations = [migrations.RunPython(run(SQLITE, POSTGRESQL), run(SQLITE_BACK, POSTGRESQL_BACK))]
