"""Traces: the record of every attempt, its encoding and its digest."""

from __future__ import annotations
