import schedweb.sentence_field
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('snapshots', '0002_scheduler_events'),
    ]

    operations = [
        migrations.AlterField(
            model_name='import',
            name='error',
            field=schedweb.sentence_field.SentenceField(blank=True),
        ),
    ]
