"""CapacityScheduling: namespaces lend each other what their ElasticQuotas guarantee them.

Rules: docs/semantics/catalogue.md#capacityscheduling.
"""
