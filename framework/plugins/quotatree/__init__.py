"""ElasticQuotaTree: teams share a cluster by a tree of ElasticQuotas, after koordinator's idea.

Rules, and what differs: docs/koordinator.md#elasticquotatree.
"""
