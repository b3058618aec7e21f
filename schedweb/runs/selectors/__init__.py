"""Reads of runs: every answer of the run API as plain data. Nothing here changes anything."""
