"""PreemptionToleration: preemption that PriorityClasses can put off.

Rules: docs/semantics/catalogue.md#preemptiontoleration.
"""
