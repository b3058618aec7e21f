from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('snapshots', '0008_taken_from_a_cluster'),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='load',
            field=models.JSONField(default=dict),
        ),
    ]
