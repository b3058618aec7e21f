"""Runs that somebody wants kept are starred: retention leaves them alone."""
