"""Nobody could choose a time zone before, so every stored one is the old default: their browser's takes its place."""

from django.db import migrations


def forget_default(apps, schema_editor):
    apps.get_model("annotate", "Person").objects.filter(time_zone="UTC").update(time_zone="")


class Migration(migrations.Migration):
    dependencies = [("annotate", "0002_study_people_work_tokens_sessions")]
    operations = [migrations.RunPython(forget_default, migrations.RunPython.noop)]
