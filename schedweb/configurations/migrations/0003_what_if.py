"""Configurations that were made for exact runs are marked, also those that an older version made."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import Count, Q

#: How an exact run called its configuration and described it, in the language of whoever asked.
WORDS = (("What if: ", ", changed"), ("Що, якби: ", ", змінено"), ("假设：", "，已更改"))


def mark(apps: Any, schema_editor: Any) -> None:
    """One version, a name and a description that nobody has touched: somebody who edited it wants to find it."""
    named = Q()
    for beginning, end in WORDS:
        named |= Q(name__startswith=beginning, description__endswith=end)
    Configuration = apps.get_model("configurations", "Configuration")
    untouched = Configuration.objects.annotate(count=Count("versions")).filter(named, count=1, builtin=False, slug="")
    Configuration.objects.filter(pk__in=[each.pk for each in untouched]).update(what_if=True)


class Migration(migrations.Migration):

    dependencies = [
        ('configurations', '0002_names_authors_and_comments'),
    ]

    operations = [
        migrations.AddField(
            model_name='configuration',
            name='what_if',
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
