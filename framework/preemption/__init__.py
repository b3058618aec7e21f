"""What plugins that evict pods have in common (upstream pkg/scheduler/framework/preemption): whom to evict, which node.

Rules: docs/semantics/preemption.md.
"""
