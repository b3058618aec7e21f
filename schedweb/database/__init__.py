"""The database backend of the distributed mode (settings.DATABASES names this package)."""
