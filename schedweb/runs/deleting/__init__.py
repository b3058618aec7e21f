"""Deleting runs, bringing them back, and removing them for good."""
