"""LoadAwareScheduling: keeps pods off nodes that are busy already, after koordinator's plugin of this name.

Rules, and what differs: docs/koordinator.md#loadawarescheduling.
"""
