"""Runs: a snapshot played through a configuration: journal, pods, attempts, decisions, live updates."""
