"""Releases whose labels are those of a jury of models. SQLite makes a table anew to change what it may hold, and its
triggers go with the old one: they are taken away before and set again behind it."""

from django.db import migrations, models

TABLES = {"release": "annotate_release", "release_item": "annotate_releaseitem"}
SQLITE = [
    f"""CREATE TRIGGER {name}_no_{action.lower()} BEFORE {action} ON {table}
    BEGIN SELECT RAISE(ABORT, 'releases are sealed'); END"""
    for name, table in TABLES.items()
    for action in ("UPDATE", "DELETE")
]
SQLITE_BACK = [f"DROP TRIGGER {name}_no_{action}" for name in TABLES for action in ("update", "delete")]
RULES = [
    ("majority", "majority"),
    ("consensus", "consensus"),
    ("reviewed", "reviewed"),
    ("jury", "jury of models"),
]
HOWS = [
    ("majority", "majority"),
    ("consensus", "consensus"),
    ("reviewer", "reviewer"),
    ("unresolved", "unresolved"),
    ("jury", "jury of models"),
]


def run_on_sqlite(statements):
    def act(apps, schema_editor):
        if schema_editor.connection.vendor == "sqlite":
            for statement in statements:
                schema_editor.execute(statement, params=None)

    return act


open_tables, seal_tables = run_on_sqlite(SQLITE_BACK), run_on_sqlite(SQLITE)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0014_blind_pairs")]
    operations = [
        migrations.RunPython(open_tables, seal_tables),
        migrations.RemoveConstraint(model_name="release", name="release_rule_known"),
        migrations.AlterField("release", "rule", models.CharField(choices=RULES, max_length=10)),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(("rule__in", ["majority", "consensus", "reviewed", "jury"])),
                name="release_rule_known",
            ),
        ),
        migrations.RemoveConstraint(model_name="releaseitem", name="release_item_how_known"),
        migrations.AlterField("releaseitem", "how", models.CharField(choices=HOWS, max_length=10)),
        migrations.AddConstraint(
            model_name="releaseitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("how__in", ["majority", "consensus", "reviewer", "unresolved", "jury"])),
                name="release_item_how_known",
            ),
        ),
        migrations.RunPython(seal_tables, open_tables),
    ]
