"""NodeResourceTopologyMatch: pods that fit into one NUMA zone, as the kubelet will demand.

Rules: docs/semantics/catalogue.md#noderesourcetopologymatch.
"""
