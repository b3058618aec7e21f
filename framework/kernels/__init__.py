"""Kernels: arithmetic of built-in plugins over many rows, each with its form for a single row or few where that pays.

A plugin says which kernel, of what, and how its numbers read; the rule it follows stands in the plugin. Both forms say
the same (tests/plugins/test_few_rows.py).
"""
