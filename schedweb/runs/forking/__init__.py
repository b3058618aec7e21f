"""Runs that begin as another one did: forks, and exact runs of an estimate."""
