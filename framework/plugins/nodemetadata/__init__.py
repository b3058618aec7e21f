"""NodeMetadata: points by a number or a time that stands in a label or an annotation of the node.

Rules: docs/semantics/catalogue.md#nodemetadata.
"""
