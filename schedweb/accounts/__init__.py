"""Login: the one-time link, passwords, OpenID Connect; accounts with four roles, sessions, tokens; the audit log."""
