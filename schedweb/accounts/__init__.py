"""Login: the one-time link, accounts with three roles, bearer tokens."""
