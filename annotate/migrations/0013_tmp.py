from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0012_subsets_and_suggestions")]
    operations = [migrations.AddField("item", "is_planned", models.BooleanField(default=True))]
