"""Attempts: what every plugin said at every extension point, scores, preemption, where the time went."""
