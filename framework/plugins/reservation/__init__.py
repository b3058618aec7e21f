"""Reservation: holds a place on a node for the pods that may use it, after koordinator's plugin.

Rules, and what differs: docs/koordinator.md#reservation.
"""
