"""Decisions of the real kube-scheduler, and ours beside them."""
