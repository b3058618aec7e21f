"""Pods that wait on Permit in all runs, evictions that are proposed, and the decisions about both."""
