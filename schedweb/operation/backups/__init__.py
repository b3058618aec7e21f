"""The whole database in one file, and back: `manage.py backup` and `manage.py restore` (docs/decisions/0020)."""
