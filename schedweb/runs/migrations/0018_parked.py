from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def park_failed(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What failed may be tried again, too. Its error has what was seen, and how it was paced is in its journal."""
    seen = {"at": None, "state": "paused", "ended": "", "lines": ""}
    apps.get_model("runs", "Run").objects.filter(state="failed").update(state="parked", parked=seen)


class Migration(migrations.Migration):
    dependencies = [("runs", "0017_numbers_without_a_lock")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="parked",
            field=models.JSONField(default=None, null=True),
        ),
        migrations.AlterField(
            model_name="run",
            name="state",
            field=models.CharField(
                choices=[
                    ("created", "Created"),
                    ("playing", "Playing"),
                    ("paused", "Paused"),
                    ("waiting_for_person", "Waiting For Person"),
                    ("finished", "Finished"),
                    ("stopped", "Stopped"),
                    ("parked", "Parked"),
                ],
                db_index=True,
                default="created",
                max_length=20,
            ),
        ),
        migrations.RunPython(park_failed, migrations.RunPython.noop),
    ]
