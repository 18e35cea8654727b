
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0011_pools'),
        ('scoring', '0004_method_reports_and_flags'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='prompt',
            name='examples',
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.CreateModel(
            name='Trial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('items', models.JSONField(default=list)),
                ('n_examples', models.PositiveIntegerField(default=0)),
                ('seed', models.PositiveBigIntegerField()),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='annotate.project')),
                ('prompt_new', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='scoring.prompt')),
                ('prompt_old', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trials_beside', to='scoring.prompt')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='annotate.release')),
                ('run_new', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='trial_as_new', to='scoring.run')),
                ('run_old', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='trial_as_old', to='scoring.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'number'), name='trial_number_once'), models.CheckConstraint(condition=models.Q(('prompt_old', models.F('prompt_new')), _negated=True), name='trial_of_two_versions')],
            },
        ),
    ]
