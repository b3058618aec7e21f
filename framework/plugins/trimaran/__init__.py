"""The Trimaran family: scores by how busy nodes are, not by what was requested of them.

Rules: docs/semantics/catalogue.md#trimaran.
"""
