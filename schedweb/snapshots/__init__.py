"""Snapshots: a cluster as `kubectl get -o json` gives it, imported once and never changed."""
