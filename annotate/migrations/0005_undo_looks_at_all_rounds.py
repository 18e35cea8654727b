
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0004_events_only_added'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='assignment',
            name='assignment_last_ended',
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['annotator', 'state', 'ended_at'], name='assignment_last_of_all'),
        ),
    ]
