from datetime import timedelta
from importlib import import_module

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.db import migrations
from django.utils import timezone

APPEND_ONLY = """
CREATE FUNCTION accounts_auditentry_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit entries are never changed: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON accounts_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_auditentry_append_only();
ALTER TABLE accounts_auditentry ENABLE ALWAYS TRIGGER append_only;
"""
NOT_ANY_MORE = """
DROP TRIGGER append_only ON accounts_auditentry;
DROP FUNCTION accounts_auditentry_append_only();
"""


def owner_is_admin(apps, schema_editor):
    """The account of the printed link may do whatever there is. Its tokens were made when that was less: they stay what
    they were. Other editors stay editors; `manage.py account role NAME admin` makes admins of them."""
    User = apps.get_model("auth", "User")
    Group = apps.get_model("auth", "Group")
    BearerToken = apps.get_model("accounts", "BearerToken")
    owner = User.objects.filter(username="owner", groups__name="editor").first()
    if owner is not None:
        owner.groups.remove(*owner.groups.filter(name__in=("viewer", "operator", "editor")))
        owner.groups.add(Group.objects.get_or_create(name="admin")[0])
        BearerToken.objects.filter(user=owner, role="").update(role="editor")
    BearerToken.objects.filter(user__is_superuser=True, role="").update(role="editor")


def sessions_listed(apps, schema_editor):
    """Those from before the upgrade, so that their owners find them. Where from is noted when they are next seen."""
    Session = apps.get_model("sessions", "Session")
    User = apps.get_model("auth", "User")
    SessionInfo = apps.get_model("accounts", "SessionInfo")
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    users = set(User.objects.values_list("pk", flat=True))
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        try:
            user = int(store.decode(session.session_data)[SESSION_KEY])
        except (KeyError, TypeError, ValueError):
            continue
        if user in users:
            begun = session.expire_date - timedelta(seconds=settings.SESSION_COOKIE_AGE)
            SessionInfo.objects.create(session=session, user_id=user, started_at=begun, last_seen_at=begun)


def append_only(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(APPEND_ONLY, params=None)


def not_any_more(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(NOT_ANY_MORE)


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_audit_sessions_openid'),
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.RunPython(owner_is_admin, migrations.RunPython.noop),
        migrations.RunPython(sessions_listed, migrations.RunPython.noop),
        migrations.RunPython(append_only, not_any_more),
    ]
