"""Pods that wait on Permit in all runs, and the decisions about them."""
