"""The run API below /api/v1/: thin views that parse, call a service or a selector, and answer."""
