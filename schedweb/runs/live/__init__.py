"""The live page's socket: who follows which run, and telling them what was stored."""
