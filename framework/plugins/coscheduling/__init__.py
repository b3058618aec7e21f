"""Coscheduling of scheduler-plugins: pods of one PodGroup bind together or not at all.

Rules: docs/semantics/pod-groups.md#coscheduling.
"""
