"""CrossNodePreemption: preemption that takes pods from several nodes at once.

Rules: docs/semantics/catalogue.md#crossnodepreemption.
"""
