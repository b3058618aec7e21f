from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def went_by_now(apps, schema_editor):
    """Nothing tells when nodes went that are gone already: no later than the run has come."""
    nodes, runs = apps.get_model("runs", "NodeRecord"), apps.get_model("runs", "Run")
    clock = Subquery(runs._base_manager.filter(pk=OuterRef("run")).values("clock")[:1])
    nodes._base_manager.filter(present=False).update(gone_by=clock)


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0029_thinning'),
    ]

    operations = [
        migrations.AddField(
            model_name='noderecord',
            name='gone_by',
            field=models.BigIntegerField(default=None, null=True),
        ),
        migrations.RunPython(went_by_now, migrations.RunPython.noop),
    ]
