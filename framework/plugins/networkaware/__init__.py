"""Plugins that know which workloads talk to which, and what that costs between zones.

Rules: docs/semantics/catalogue.md#networkoverhead, docs/semantics/catalogue.md#topologicalsort.
"""
