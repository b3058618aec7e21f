"""Older files of kube-scheduler, converted to v1."""
