"""Coscheduling of scheduler-plugins: pods of one PodGroup bind together or not at all (spec: scheduler-plugins §1)."""
